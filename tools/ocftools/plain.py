# SPDX-License-Identifier: BSD-2-Clause
"""OpenSSL as it is without settings, to compare with."""

import os


def without_settings() -> None:
    """For this process, before it loads OpenSSL, and for its children.  A
    user's settings may make OpenSSL use OCF's provider, with which it is to be
    compared, or look for its own providers in a wrong folder."""
    os.environ.pop("OPENSSL_MODULES", None)
    os.environ["OPENSSL_CONF"] = os.devnull
