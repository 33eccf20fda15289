#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""In the test machine: dm-crypt on ocf_alg's implementations.

    tests/alg/disk.py [UNITTEST...]
"""

import contextlib
import errno
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True

from case import (  # noqa: E402
    CARD, MIB, SIM, SOON, Case, Device, is_in_use, wait_for, write)
from ocf import traced  # noqa: E402
from users import HIGH, mapped, memory_disk, run  # noqa: E402


def tearDownModule():
    """What mount and cryptsetup leave there"""
    for name in "mount", "cryptsetup":
        shutil.rmtree(f"/run/{name}", ignore_errors=True)


def put(disk: pathlib.Path, data: bytes) -> None:
    with open(disk, "r+b", buffering=0) as file:
        assert file.write(data) == len(data)
        os.fsync(file)


def get(disk: pathlib.Path, size: int) -> bytes:
    """From the disk, and not from the page cache"""
    with open(disk, "rb", buffering=0) as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        got = b""
        while len(got) < size:
            got += file.read(size - len(got))
    return got


def swapped_out() -> int:
    """Bytes"""
    for line in pathlib.Path("/proc/vmstat").read_text().splitlines():
        if line.startswith("pswpout "):
            return int(line.split()[1]) * os.sysconf("SC_PAGE_SIZE")
    raise AssertionError("the kernel counts no pages that go out")


class Disk(Case):
    """dm-crypt."""

    size = 4 * MIB
    memory = 16 * MIB

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.enterClassContext(memory_disk(cls.memory))
        cls.key = random.Random(3).randbytes(64).hex()

    def disk(self, cipher: str, *options: str):
        """@options: those of dm-crypt"""
        return mapped(cipher, self.key, self.size, *options)

    def keeps(self, disk: pathlib.Path, seed: int) -> None:
        data = random.Random(seed).randbytes(self.size)
        put(disk, data)
        self.assertTrue(data == get(disk, self.size))

    def test_by_name(self):
        data = random.Random(4).randbytes(self.size)
        with self.is_used(self.size), \
                self.disk("capi:ocf-xts-aes-plain64") as disk:
            put(disk, data)
        with self.disk("aes-xts-plain64") as disk:
            self.assertTrue(data == get(disk, self.size))
        with self.is_used(self.size), \
                self.disk("capi:ocf-xts-aes-plain64") as disk:
            self.assertTrue(data == get(disk, self.size))

    def test_a_card_that_is_full(self):
        """The only device is a card that is often full: requests that find it
        full wait."""
        write(SIM / "add", CARD.replace("=1000", "=1000000") + " depth=4")
        soft = Device("cryptosoft0")
        self.addCleanup(write, SIM / "remove", "sim0")
        self.addCleanup(write, soft.path / "state", "resume")
        with self.disk("capi:ocf-xts-aes-plain64") as disk, \
                traced("ocf_request_refuse") as found:
            write(soft.path / "state", "drain")
            self.keeps(disk, 4)
        self.assertRegex(found.read_text(), "err=-16")

    def test_fio(self):
        """Writes at random, 32 at a time, and looks at each block again."""
        with self.cards() as puller, \
                self.disk("capi:ocf-xts-aes-plain64") as disk:
            puller.start()
            for verify in ("crc32c", "sha512", "meta"):
                run("fio", "--name=ocf", f"--filename={disk}", "--direct=1",
                    "--ioengine=libaio", "--iodepth=32", "--rw=randwrite",
                    "--bsrange=4k-64k", f"--size={self.size}",
                    f"--verify={verify}", "--verify_fatal=1",
                    "--verify_state_save=0")

    def test_cards_come_and_go(self):
        """With dm-crypt's work queues, and without the one for reads
        (no_read_workqueue).

        Not with no_write_workqueue: dm-crypt then submits the write in the
        card's callback.  There submit_bio() uses the list of bios of the
        interrupted task, and a write is lost.
        """
        for options in ((), ("no_read_workqueue",),
                        ("same_cpu_crypt", "submit_from_crypt_cpus")):
            with self.subTest(options=options), self.cards() as puller, \
                    self.disk("capi:ocf-xts-aes-plain64", *options) as disk:
                puller.start()
                for i in range(3):
                    self.keeps(disk, i)


class DiskByPriority(Disk):
    priority = HIGH
    test_a_card_that_is_full = test_cards_come_and_go = test_fio = None

    def test_by_name(self):
        with self.is_used(2 * self.size), \
                self.disk("aes-xts-plain64") as disk:
            self.keeps(disk, 4)


class Swap(Disk):
    """Pages beyond a control group's memory limit are swapped out through
    dm-crypt."""

    size = memory = 128 * MIB
    test_by_name = test_a_card_that_is_full = test_fio = None

    @contextlib.contextmanager
    def group(self, limit: int):
        """A control group with so much memory"""
        root = pathlib.Path(tempfile.mkdtemp())
        run("mount", "-t", "cgroup2", "none", str(root))
        try:
            write(root / "cgroup.subtree_control", "+memory")
            (root / "ocf").mkdir()
            write(root / "ocf" / "memory.max", limit)
            yield root / "ocf"
            # those that have ended are still in it for a moment
            self.assertTrue(wait_for(lambda: "populated 0" in (
                root / "ocf" / "cgroup.events").read_text(), SOON))
            (root / "ocf").rmdir()
        finally:
            run("umount", str(root))
            root.rmdir()

    @contextlib.contextmanager
    def swap(self):
        with self.disk("capi:ocf-xts-aes-plain64") as disk:
            run("mkswap", str(disk))
            run("swapon", str(disk))
            try:
                yield
            finally:
                run("swapoff", str(disk))

    def test_cards_come_and_go(self):
        """Swapped pages come back unchanged, and no process is killed for lack
        of memory."""
        before = swapped_out()
        with self.cards() as puller, self.swap(), \
                self.group(24 * MIB) as group:
            puller.start()
            user = subprocess.run(
                [sys.executable, "-c", FILL, str(group), "40"],
                capture_output=True, text=True, check=False, timeout=SOON)
            self.assertEqual((0, ""), (user.returncode, user.stderr))
        self.assertLessEqual((40 - 24) * MIB, swapped_out() - before)


# Joins a group, fills so many MiB, and looks at each page again.
FILL = """
import sys
open(sys.argv[1] + "/cgroup.procs", "w").write("0")
def page(i): return i.to_bytes(4, "big") * 1024
n = int(sys.argv[2]) * 256
held = bytearray(n * 4096)
for i in range(n): held[i * 4096:(i + 1) * 4096] = page(i)
for i in range(n):
    if held[i * 4096:(i + 1) * 4096] != page(i): sys.exit(2)
"""


class Luks(Case):
    """LUKS2, as cryptsetup makes it, with file systems that check themselves.

    The ext4 test names our implementation.  The other tests get it because of
    its priority.
    """

    priority = HIGH
    size = 64 * MIB
    device = "/dev/ram0"
    point = pathlib.Path("/mnt")
    # OpenSSL's own work is not what is tested
    quick_key = ("--pbkdf", "pbkdf2", "--pbkdf-force-iterations", "1000")

    @classmethod
    def setUpClass(cls):
        os.environ["DM_DISABLE_UDEV"] = "1"
        for module in "dm_integrity", "ext4", "btrfs":
            run("modprobe", module)
        cls.provide_disk()

    @classmethod
    def provide_disk(cls) -> None:
        cls.enterClassContext(memory_disk(cls.size))

    @contextlib.contextmanager
    def opened(self):
        run("cryptsetup", "open", "--key-file=-", self.device, "ocf_luks",
            text="secret")
        try:
            yield "/dev/mapper/ocf_luks"
        finally:
            run("cryptsetup", "close", "ocf_luks")

    def format(self, *options: str) -> None:
        run("cryptsetup", "luksFormat", "--batch-mode", "--type=luks2",
            "--luks2-metadata-size=16k", "--luks2-keyslots-size=1m",
            "--key-file=-", *self.quick_key, *options, self.device,
            text="secret")

    @contextlib.contextmanager
    def mounted(self, disk: str):
        run("mount", disk, str(self.point))
        try:
            yield
        finally:
            run("umount", str(self.point))

    def is_kept(self, make: list[str], check: list[str], size: int,
                scrub: tuple[str, ...] = ()) -> None:
        """Checks that files are intact after the file system and the disk were
        closed and opened again."""
        files = {f"file{i}": random.Random(i).randbytes(size // 8)
                 for i in range(8)}
        with self.opened() as disk:
            self.assertTrue(is_in_use("ocf-xts-aes"))
            run(*make, disk)
            with self.mounted(disk):
                for name, data in files.items():
                    (self.point / name).write_bytes(data)
        with self.opened() as disk:
            run(*check, disk)
            with self.mounted(disk):
                if scrub:
                    run(*scrub, str(self.point))
                for name, data in files.items():
                    self.assertTrue(data == (self.point / name).read_bytes())

    def test_ext4_while_cards_come_and_go(self):
        self.format("--cipher=capi:ocf-xts-aes-plain64", "--key-size=512",
                    "--keyslot-cipher=aes-xts-plain64",
                    "--keyslot-key-size=512")
        with self.cards() as puller:
            puller.start()
            self.is_kept(["mkfs.ext4", "-q"], ["e2fsck", "-fn"], 24 * MIB)

    def test_btrfs_while_cards_come_and_go(self):
        """Each block has a checksum, and all are looked at."""
        self.format("--cipher=aes-xts-plain64", "--key-size=512")
        with self.cards() as puller:
            puller.start()
            self.is_kept(["mkfs.btrfs", "-q", "--mixed"],
                         ["btrfs", "check", "--readonly"], 24 * MIB,
                         ("btrfs", "scrub", "start", "-B"))

    def test_integrity(self):
        """Each sector has a tag.  Reading fails if the disk below was
        changed."""
        for options in (("--cipher=aes-gcm-random", "--key-size=256",
                         "--integrity=aead"),
                        ("--cipher=chacha20-random", "--key-size=256",
                         "--integrity=poly1305"),
                        ("--cipher=aes-xts-plain64", "--key-size=512",
                         "--integrity=hmac-sha256")):
            with self.subTest(options=options), self.cards(), \
                    self.is_used(16 * MIB):
                self.format(*options, "--integrity-no-wipe")
                data = random.Random(1).randbytes(16 * MIB)
                with self.opened() as disk:
                    put(pathlib.Path(disk), data)
                    self.assertTrue(data == get(pathlib.Path(disk), len(data)))
                with open(self.device, "r+b", buffering=0) as file:
                    file.seek(12 * MIB)
                    was = file.read(4096)
                    file.seek(12 * MIB)
                    file.write(bytes(x ^ 1 for x in was))
                with self.opened() as disk:
                    with self.assertRaises(OSError) as caught:
                        get(pathlib.Path(disk), len(data))
                    self.assertEqual(errno.EIO, caught.exception.errno)


if __name__ == "__main__":
    unittest.main(verbosity=2)
