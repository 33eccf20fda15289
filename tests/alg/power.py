#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""In the test machine: files on an encrypted /dev/vda, while cards come and go.

    tests/alg/power.py write		until the machine dies
    tests/alg/power.py read COUNT	in another machine: so many were written

The first prints each file's number as soon as fsync() has returned.
"""

import itertools
import os
import random
import sys
import unittest

sys.dont_write_bytecode = True

from disk import Luks  # noqa: E402
from users import run  # noqa: E402


NAMES = 20          # files replace each other, so blocks are used again


def content(number: int) -> bytes:
    """It begins with the number."""
    rng = random.Random(number)
    return number.to_bytes(4, "big") + rng.randbytes(rng.randrange(300000))


class Power(Luks):
    """LUKS2 and ext4 on a disk that outlives the machine"""

    device = "/dev/vda"

    @classmethod
    def provide_disk(cls) -> None:
        run("modprobe", "virtio_blk")
        cls.addClassCleanup(run, "rmmod", "virtio_blk")


class Write(Power):
    def runTest(self):
        self.format("--cipher=aes-xts-plain64", "--key-size=512")
        with self.cards() as puller, self.opened() as disk:
            run("mkfs.ext4", "-q", disk)
            puller.start()
            with self.mounted(disk):
                folder = os.open(self.point, os.O_RDONLY)
                for number in itertools.count():
                    self.add(folder, number)
                    print(number, flush=True)

    def add(self, folder: int, number: int) -> None:
        """Replaces a file.  After a crash either the whole new file or the one
        before it is there."""
        path = self.point / str(number % NAMES)
        with open(self.point / "new", "wb") as file:
            file.write(content(number))
            file.flush()
            os.fsync(file.fileno())
        os.rename(self.point / "new", path)
        os.fsync(folder)


class Read(Power):
    count = 0

    def runTest(self):
        """Each name has the last file that was reported, or a newer one for
        which fsync() had not returned."""
        last = {number % NAMES: number for number in range(self.count)}
        with self.cards() as puller, self.opened() as disk:
            puller.start()
            with self.mounted(disk):
                for name, number in last.items():
                    got = (self.point / str(name)).read_bytes()
                    found = int.from_bytes(got[:4], "big")
                    self.assertIn(found, (number, number + NAMES))
                    self.assertTrue(content(found) == got, name)
            run("e2fsck", "-fn", disk)


if __name__ == "__main__":
    if sys.argv[1] == "read":
        Read.count = int(sys.argv[2])
    suite = unittest.TestSuite([Read() if sys.argv[1] == "read" else Write()])
    result = unittest.TextTestRunner(verbosity=2).run(suite)
    sys.exit(not result.wasSuccessful())
