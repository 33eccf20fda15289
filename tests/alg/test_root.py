# SPDX-License-Identifier: BSD-2-Clause
"""A machine whose root disk is encrypted, and opened by Debian's initramfs."""

import pathlib
import shutil
import subprocess
import sys

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests" / "vm"))
from vmlib.kernel import Kernel  # noqa: E402
from vmlib.machine import (  # noqa: E402
    BASE_ARGS, CPU, QEMU, clock_of_host, die_with_parent, disk_args)

SIZE = 64 << 20
PATIENCE_S = 3600
SAYS = ["ROOT: the file is right", "ROOT: ocf-xts-aes is in use",
        "ROOT: it is writable", "ROOT: end"]


def make(folder: pathlib.Path) -> None:
    """The disk and the initramfs"""
    with open(folder / "disk", "wb") as file:
        file.truncate(SIZE)
    (folder / "initrd").touch()
    subprocess.run(
        [TOP / "tests/vm/run", "--memory", "2G", "--disk", folder / "disk",
         "--", "tests/alg/root.py", TOP / "build/initramfs",
         folder / "initrd"], cwd=TOP, check=True, timeout=PATIENCE_S)


def boot(folder: pathlib.Path) -> str:
    """Boots a machine with only this disk and this initramfs.  Returns what it
    says."""
    log = folder / "console"
    subprocess.run(
        [*QEMU, "-accel", "tcg", "-cpu", CPU, "-m", "1G", "-kernel", Kernel("stock").image,
         "-initrd", folder / "initrd", "-serial", f"file:{log}",
         *disk_args(0, folder / "disk"),
         "-append", BASE_ARGS + clock_of_host() +
         "root=/dev/mapper/ocf_luks rw"],
        check=True, timeout=PATIENCE_S, preexec_fn=die_with_parent)
    return log.read_text(errors="replace").replace("\r", "")


def test_the_initramfs_opens_the_root_disk():
    # the checkout is all that a machine can write to
    folder = TOP / "build" / "alg" / "root"
    folder.mkdir(parents=True, exist_ok=True)
    try:
        make(folder)
        log = boot(folder)
    finally:
        if (folder / "console").exists():
            print((folder / "console").read_text(errors="replace")[-5000:])
        shutil.rmtree(folder)
    said = [line for line in log.splitlines() if line.startswith("ROOT")]
    assert said == SAYS
    assert "Kernel panic" not in log and "Call Trace" not in log
