#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""In the test machine: programs that need more memory than there is, with swap
on an encrypted /dev/vda, on the kernel's implementation and then on ours.

    tests/alg/swap.py [SECONDS]         of each
"""

import os
import pathlib
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True

from case import SOON, Case, is_in_use  # noqa: E402
from disk import swapped_out  # noqa: E402
from users import mapped, run  # noqa: E402

DISK = "/dev/vda"
KEY = bytes(range(64)).hex()


def count(name: str, file: str = "/proc/vmstat") -> int:
    for line in pathlib.Path(file).read_text().splitlines():
        words = line.split()
        if words[0].rstrip(":") == name:
            return int(words[1])
    raise AssertionError(f"{file} has no {name}")


class Swap(Case):
    """Two programs together use one and a half times the machine's memory.
    They change each page in turn, and check what it was before."""

    seconds = 600

    def pressed(self, cipher: str) -> tuple[int, int]:
        """Bytes that went out, and how many programs the kernel killed"""
        out, killed = swapped_out(), count("oom_kill")
        sectors = int(pathlib.Path("/sys/block/vda/size").read_text())
        kib = count("MemTotal", "/proc/meminfo")
        with mapped(cipher, KEY, sectors << 9, disk=DISK) as disk:
            run("mkswap", str(disk))
            run("swapon", str(disk))
            self.assertEqual("ocf" in cipher, is_in_use("ocf-xts-aes"))
            try:
                done = subprocess.run(
                    ["stress-ng", "--vm", "2", "--vm-bytes", f"{kib * 3 // 2}k",
                     "--vm-keep", "--vm-method", "incdec", "--verify",
                     "--oomable", "--timeout", str(self.seconds)],
                    capture_output=True, text=True, check=False,
                    timeout=self.seconds + SOON)
            finally:
                run("swapoff", str(disk))
        self.assertEqual(0, done.returncode, done.stderr)
        return swapped_out() - out, count("oom_kill") - killed

    def runTest(self):
        run("modprobe", "virtio_blk")
        run("modprobe", "dm_crypt")
        self.addCleanup(run, "rmmod", "virtio_blk")
        stock, killed = self.pressed("aes-xts-plain64")
        with self.cards() as puller:
            puller.start()
            ours, also_killed = self.pressed("capi:ocf-xts-aes-plain64")
        print(f"{stock >> 20} MiB out and {killed} killed on stock, "
              f"{ours >> 20} MiB and {also_killed} on ours", flush=True)
        self.assertLessEqual(also_killed, killed)
        self.assertLess(64 << 20, ours)
        self.assertLess(0, self.pulls)


if __name__ == "__main__":
    os.environ["DM_DISABLE_UDEV"] = "1"
    Swap.seconds = int(*sys.argv[1:] or [Swap.seconds])
    result = unittest.TextTestRunner(verbosity=2).run(
        unittest.TestSuite([Swap()]))
    sys.exit(not result.wasSuccessful())
