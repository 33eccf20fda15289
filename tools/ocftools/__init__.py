# SPDX-License-Identifier: BSD-2-Clause
"""What ocfctl and ocfstat have in common."""
