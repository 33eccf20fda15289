# SPDX-License-Identifier: BSD-2-Clause
"""How many random rounds a test runs, as random.h does it in C."""

import os


def rounds(usual: int) -> int:
    """@usual, or as $OCF_ROUNDS says: a number, or a percentage of @usual."""
    given = os.environ.get("OCF_ROUNDS", "")
    if given.endswith("%"):
        return max(1, usual * int(given[:-1]) // 100)
    return int(given or usual)
