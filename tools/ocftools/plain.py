# SPDX-License-Identifier: BSD-2-Clause
"""OpenSSL as it is without settings, to compare with."""

import os


def without_settings() -> None:
    """For this process, before it loads OpenSSL, and for its children.  With a
    user's settings OpenSSL may use OCF's provider, which is to be compared with
    it, or look for its own providers where they are not."""
    os.environ.pop("OPENSSL_MODULES", None)
    os.environ["OPENSSL_CONF"] = os.devnull
