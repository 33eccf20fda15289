#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""In the test machine: cryptsetup's own test scripts, on the kernel's
implementations and then on ours.

    tests/alg/cryptsetup.py SOURCES [SCRIPT...]
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True

from case import bytes_done  # noqa: E402
from users import HIGH, loaded, run  # noqa: E402

# Those that open disks in all modes and formats.  Most of the others are about
# arguments and headers.
SCRIPTS = "mode-test", "compat-test", "compat-test2", "luks1-compat-test"
MODULES = "loop", "dm_crypt", "dm_integrity", "sd_mod"


def result(tests: pathlib.Path, script: str) -> tuple[int, str]:
    """The exit status of @script, and what it says."""
    done = subprocess.run(
        ["bash", script], cwd=tests, text=True, errors="replace",
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
        env=dict(os.environ, CRYPTSETUP_PATH="/usr/sbin", DM_DISABLE_UDEV="1"))
    return done.returncode, done.stdout


def main() -> int:
    sources, *scripts = sys.argv[1:]
    failed = []
    for module in MODULES:
        run("modprobe", module)
    with tempfile.TemporaryDirectory() as tmp:
        tests = pathlib.Path(tmp, "tests")
        shutil.copytree(pathlib.Path(sources, "tests"), tests)
        for script in scripts or SCRIPTS:
            begun = time.monotonic()
            stock = result(tests, script)
            with loaded(HIGH):
                before = bytes_done()
                ours = result(tests, script)
                work = bytes_done() - before
            print(f"{script}: stock {stock[0]}, ours {ours[0]}, "
                  f"{work >> 10} KiB, {time.monotonic() - begun:.0f} s for "
                  "both", flush=True)
            # 77: it cannot run here, and says why
            if stock[0] or ours[0] or not work:
                failed.append(script)
                print("# stock", stock[1], "# ours", ours[1], sep="\n",
                      flush=True)
    print(f"failed, or without work for ours: {failed}" if failed else
          "all pass")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
