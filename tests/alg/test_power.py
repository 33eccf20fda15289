# SPDX-License-Identifier: BSD-2-Clause
"""A machine that dies while it writes to an encrypted disk.  The host keeps
every write that the disk received, so this test does not notice missing
flushes."""

import os
import pathlib
import signal
import subprocess
import sys

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests" / "vm"))
from vmlib.machine import qemu_of  # noqa: E402

RUN = TOP / "tests" / "vm" / "run"
FILES = int(os.environ.get("OCF_FILES", "60"))
SIZE = 64 << 20
PATIENCE_S = 1800


def start(disk: pathlib.Path, *words: str) -> subprocess.Popen:
    return subprocess.Popen(
        [str(RUN), "--memory", "2G", "--disk", str(disk), "--",
         "tests/alg/power.py", *words],
        cwd=TOP, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def test_what_is_written_is_there(tmp_path):
    disk = tmp_path / "disk"
    with open(disk, "wb") as file:
        file.truncate(SIZE)
    with start(disk, "write") as run:
        for number in range(FILES):
            line = run.stdout.readline()
            if line != b"%d\n" % number:
                run.kill()
                raise AssertionError(line, run.communicate())
        os.kill(qemu_of(run), signal.SIGKILL)
        # it may have written more by then
        more, errors = run.communicate(timeout=PATIENCE_S)
    assert b"in the kernel log" not in errors, errors
    count = FILES + sum(m.isdigit() for m in more.splitlines())
    with start(disk, "read", str(count)) as run:
        said, errors = run.communicate(timeout=PATIENCE_S)
    sys.stdout.write((said + errors).decode())
    assert run.returncode == 0
