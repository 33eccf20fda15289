# SPDX-License-Identifier: BSD-2-Clause
"""The kernel's harness for selftests, as scripts/linux-tools changes it."""

import pathlib
import subprocess

HARNESS = pathlib.Path(__file__).resolve().parents[2] / \
    "build/linux-tools/tools/testing/selftests"
PROGRAM = """
#include <kselftest_harness.h>
FIXTURE(thing) { int n; };
FIXTURE_SETUP(thing) {}
FIXTURE_TEARDOWN(thing) { puts("torn down"); fflush(stdout); }
TEST_F(thing, ends) { ASSERT_EQ(1, getppid()); }
TEST_HARNESS_MAIN
"""


def test_a_failed_assertion_tears_down(tmp_path):
    """Or the next test would find what this one has set up."""
    program = tmp_path / "program"
    subprocess.run(["cc", "-O2", "-D_GNU_SOURCE", f"-I{HARNESS}", "-xc", "-",
                    "-o", program], input=PROGRAM, text=True, check=True)
    said = subprocess.run([program], capture_output=True, text=True).stdout
    assert "not ok 1" in said
    assert "torn down" in said
