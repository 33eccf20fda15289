# SPDX-License-Identifier: BSD-2-Clause
"""Runs tests from tables: in shared machines, two at a time, no work twice."""
