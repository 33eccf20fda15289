#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""In the test machine: makes an encrypted root disk of /dev/vda, and Debian's
initramfs that opens it with ocf_alg.

    tests/alg/root.py PACKAGES INITRAMFS

PACKAGES: where the packages that do this are unpacked.  The root file system has
busybox, a file with its sum, and an init that looks at both and at the disk.
"""

import hashlib
import os
import pathlib
import random
import sys
import unittest

sys.dont_write_bytecode = True

from disk import Luks  # noqa: E402
from modules import installed, unpack  # noqa: E402
from users import HIGH, run  # noqa: E402

KEY = pathlib.Path("/etc/keys/root.key")
KEPT = ("arch", "crypto", "drivers/block", "drivers/md", "drivers/virtio",
        "fs/ext4", "fs/jbd2", "mbcache", "lib")
FILES = {
    "/etc/crypttab": f"ocf_luks /dev/vda {KEY} luks,initramfs\n",
    "/etc/fstab": "/dev/mapper/ocf_luks / ext4 defaults 0 1\n",
    "/etc/cryptsetup-initramfs/conf-hook": 'KEYFILE_PATTERN="/etc/keys/*"\n',
    # what docs/kernel-users.md says
    "/etc/initramfs-tools/modules": "ocf_alg\nvirtio_pci\nvirtio_blk\next4\n",
    # not all that a machine may have
    "/etc/initramfs-tools/conf.d/list": "MODULES=list\nCOMPRESS=gzip\n",
    "/etc/modprobe.d/ocf-alg.conf": f"options ocf_alg priority={HIGH}\n",
}
INIT = """#!/bin/busybox sh
export PATH=/bin
/bin/busybox --install -s /bin
mount -t proc none /proc
mount -t sysfs none /sys
# nothing of the file is in memory yet
sha256sum -c /data.sum && echo ROOT: the file is right
awk '$1 == "driver" { driver = $3 }
	$1 == "refcnt" && driver == "ocf-xts-aes" && $3 > 1 {
		print "ROOT: ocf-xts-aes is in use" }' /proc/crypto
mount -o remount,rw / && date > /written && sync && echo ROOT: it is writable
mount -o remount,ro /
echo ROOT: end
poweroff -f
"""


class Root(Luks):
    device = "/dev/vda"

    @classmethod
    def provide_disk(cls) -> None:
        run("modprobe", "virtio_blk")

    def runTest(self):
        packages, initramfs = sys.argv[1:]
        unpack(packages)
        self.enterContext(installed(*KEPT))
        for name, text in FILES.items():
            path = pathlib.Path(name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        KEY.parent.mkdir(exist_ok=True)
        # what opened() gives to cryptsetup
        KEY.write_text("secret")
        self.format("--cipher=aes-xts-plain64", "--key-size=512")
        with self.opened() as disk:
            run("mkfs.ext4", "-q", disk)
            with self.mounted(disk):
                self.fill(pathlib.Path(packages))
            # as on a host that runs from this disk
            run("mkinitramfs", "-o", initramfs, os.uname().release)

    def fill(self, packages: pathlib.Path) -> None:
        for name in "bin", "sbin", "proc", "sys", "dev", "run":
            (self.point / name).mkdir()
        run("cp", str(packages / "bin/busybox"), str(self.point / "bin"))
        (self.point / "sbin/init").write_text(INIT)
        (self.point / "sbin/init").chmod(0o755)
        data = random.Random(7).randbytes(8 << 20)
        (self.point / "data").write_bytes(data)
        (self.point / "data.sum").write_text(
            f"{hashlib.sha256(data).hexdigest()}  /data\n")


if __name__ == "__main__":
    result = unittest.TextTestRunner(verbosity=2).run(
        unittest.TestSuite([Root()]))
    sys.exit(not result.wasSuccessful())
