# SPDX-License-Identifier: BSD-2-Clause
"""How fast this host emulates now: seconds for a fixed piece of work."""

import pathlib
import subprocess
import time

from .table import TOP

HERE = pathlib.Path(__file__).resolve().parent
PROGRAM = TOP / "build" / "yardstick"
LIMIT_S = 120
DONE = 1        # isa-debug-exit: what was written, times two, plus one


def _build() -> None:
    source = HERE / "yardstick.S"
    if PROGRAM.exists() and PROGRAM.stat().st_mtime > source.stat().st_mtime:
        return
    subprocess.run(["gcc", "-m32", "-nostdlib", "-static", "-Wl,-N",
                    "-Wl,--build-id=none", "-Wl,--no-warn-rwx-segments",
                    "-Wl,-Ttext=0x101000",
                    "-Wl,--section-start=.multiboot=0x100000",
                    "-o", PROGRAM, source], check=True)


def measure() -> float:
    _build()
    begun = time.monotonic()
    done = subprocess.run(
        ["qemu-system-x86_64", "-nodefaults", "-no-user-config", "-display",
         "none", "-accel", "tcg", "-kernel", PROGRAM, "-device",
         "isa-debug-exit,iobase=0xf4"], stdin=subprocess.DEVNULL,
        capture_output=True, timeout=LIMIT_S, check=False)
    if done.returncode != DONE:
        raise RuntimeError(f"the yardstick failed: {done.stderr.decode()}")
    return time.monotonic() - begun
