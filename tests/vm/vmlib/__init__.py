# SPDX-License-Identifier: BSD-2-Clause
"""The test machine: a stock or a debug kernel in QEMU, on the host's tree."""
