#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""In the test machine: sources of random numbers, good ones and bad ones.

    tests/random/guest.py Simulated | Real | Bad | Silent
"""

import errno
import os
import pathlib
import sys
import threading
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(TOP / "tests" / "lib"))

from ocf import Device, wait_for, write  # noqa: E402

CLASS = pathlib.Path("/sys/class/ocf_random")
FILES = pathlib.Path("/sys/kernel/debug/ocf_random")
SIM = pathlib.Path("/sys/bus/platform/drivers/ocf_sim")
DRIVER = pathlib.Path("/sys/bus/virtio/drivers/ocf_virtio_rng")
HWRNG = pathlib.Path("/sys/class/misc/hw_random")
WINDOW = 512
CHUNK = 64      # bytes that are read, and thrown away, at a time
SOON = 300      # s; the machine is slow


class Source(Device):
    where = CLASS

    def __init__(self, name: str):
        super().__init__(name)
        self.name = name

    def becomes(self, state: str) -> bool:
        return wait_for(lambda: self.state() == state, SOON)

    def read(self, size: int) -> bytes:
        """Reads up to @size bytes; fewer if the source is cut off before."""
        got = b""
        with open(FILES / self.name, "rb", buffering=0) as file:
            while len(got) < size:
                try:
                    got += file.read(min(size - len(got), 1 << 16)) or b""
                except OSError as e:
                    if e.errno != errno.EIO:
                        raise
                    break
        return got


def cutoffs(source: Source) -> tuple[str, str]:
    return source.text("repetition_cutoff"), source.text("proportion_cutoff")


def names() -> set[str]:
    return set(os.listdir(CLASS))


class Simulated(unittest.TestCase):
    def setUp(self):
        self.sources = []

    def tearDown(self):
        for source in self.sources:
            write(SIM / "remove_source", source.name)
        self.assertEqual(set(), names())

    def source(self, entropy: int = 1024) -> Source:
        before = names()
        write(SIM / "add_source", entropy)
        name, = names() - before
        self.sources.append(Source(name))
        self.assertTrue(self.sources[-1].becomes("healthy"))
        return self.sources[-1]

    def break_it(self, source: Source, fault: str) -> None:
        write(source.path / "fault", fault)

    def refuses(self, error: int, path: pathlib.Path, text: object) -> None:
        with self.assertRaises(OSError) as caught:
            write(path, text)
        self.assertEqual(error, caught.exception.errno)

    def passes(self, source: Source, size: int = 1 << 18) -> None:
        self.assertEqual(size, len(source.read(size)))
        self.assertEqual(("healthy", ""),
                         (source.state(), source.text("reason")))

    def is_cut_off(self, source: Source, reason: str, within: int) -> bytes:
        """Checks that a broken source gives at most @within more bytes, which
        are returned, and none after that."""
        failures = source.counter("failures")
        got = source.read(1 << 20)
        self.assertGreaterEqual(within, len(got))
        self.assertEqual(("failed", reason),
                         (source.state(), source.text("reason")))
        self.assertEqual(failures + 1, source.counter("failures"))
        self.assertEqual(b"", source.read(1))
        return got

    # -- good ones -----------------------------------------------------------

    def test_a_good_one(self):
        source = self.source()
        self.passes(source)
        got = source.read(1 << 16)
        self.assertEqual(256, len(set(got)))
        self.assertEqual(("6", "19"), cutoffs(source))
        self.assertEqual("1024", source.text("entropy"))
        # the first 1024 bytes are for the start-up test, and are not counted
        self.assertEqual((1 << 18) + (1 << 16), source.counter("bytes"))
        self.assertEqual(0, source.counter("failures"))

    def test_the_kernel_gets_nothing_of_it(self):
        source = self.source()
        self.passes(source, 4096)
        self.assertEqual("0", source.text("feeds"))
        if HWRNG.exists():
            self.assertNotIn(source.name,
                             (HWRNG / "rng_available").read_text().split())

    # -- bad ones ------------------------------------------------------------

    def test_one_value(self):
        for value in (0, 77, 255):
            source = self.source()
            self.passes(source, 1000)
            self.break_it(source, f"stuck {value}")
            # the sixth equal byte in a row fails the test, and nobody gets the
            # piece that it is in
            got = self.is_cut_off(source, "repeats", CHUNK)
            self.assertNotIn(bytes([value] * 6), got)

    def test_dead_bits(self):
        source = self.source()
        self.break_it(source, "bits 0xf0")
        self.is_cut_off(source, "biased", 2 * WINDOW + CHUNK)
        source = self.source()
        self.break_it(source, "bits 255")
        self.is_cut_off(source, "repeats", CHUNK)

    def test_one_value_too_often(self):
        for bias in (128, 64, 32):
            source = self.source()
            self.break_it(source, f"bias {bias}")
            # the source fails in the first window that begins with the biased
            # value
            self.assertGreater(60 * 256 // bias * WINDOW,
                               len(source.read(1 << 20)))
            self.assertIn(source.text("reason"), ("biased", "repeats"))
            self.assertEqual("failed", source.state())

    def test_short_periods(self):
        for period, reason in ((1, "repeats"), (2, "biased"), (8, "biased"),
                               (24, "biased")):
            source = self.source()
            self.break_it(source, f"period {period}")
            self.is_cut_off(source, reason, 2 * WINDOW + CHUNK)

    def test_what_is_not_seen(self):
        """The tests of SP 800-90B only count equal bytes, in a row or in a
        window of 512.  They miss these faults."""
        for fault in ("bits 1", "period 256", "period 4096", "bias 4"):
            source = self.source()
            self.break_it(source, fault)
            self.passes(source)

    def test_less_is_claimed(self):
        """A bias that fails a source which claims full entropy is fine for one
        that claims less."""
        source = self.source(128)
        self.assertEqual(("41", "336"), cutoffs(source))
        self.break_it(source, "bias 64")
        self.passes(source)
        self.break_it(source, "bias 250")
        self.assertGreater(1 << 20, len(source.read(1 << 20)))
        self.assertEqual("failed", source.state())

    def test_an_error(self):
        source = self.source()
        self.break_it(source, "error")
        self.is_cut_off(source, "error", 0)

    def test_silence(self):
        """Given up, tried again, and back by itself."""
        source = self.source()
        self.break_it(source, "stall")
        with open(FILES / source.name, "rb", buffering=0) as file:
            for _ in range(3):
                # EAGAIN
                self.assertIsNone(file.read(1))
        self.assertTrue(source.becomes("stalled"))
        self.assertEqual("stalled", source.text("reason"))
        self.break_it(source, "none")
        self.assertTrue(source.becomes("healthy"))
        self.passes(source)

    # -- the administrator ---------------------------------------------------

    def test_restart(self):
        source = self.source()
        self.break_it(source, "stuck 1")
        self.is_cut_off(source, "repeats", CHUNK)
        write(source.path / "state", "restart")
        self.assertTrue(wait_for(lambda: source.counter("failures") == 2,
                                 SOON))
        self.assertEqual("failed", source.state())
        self.break_it(source, "none")
        write(source.path / "state", "restart")
        self.assertTrue(source.becomes("healthy"))
        self.passes(source)

    def test_nonsense_is_refused(self):
        for claim in ("15", "1025", "0", "-1", "x", "1024 2"):
            self.refuses(errno.EINVAL, SIM / "add_source", claim)
        source = self.source()
        for fault in ("stuck 256", "stuck x", "none 1", "period 0",
                      "period 4097", "bits 0", "bias 257", "bias", " ",
                      "colour", "stall 1", "stuck 1 2", "bits " + "1" * 40):
            self.refuses(errno.EINVAL, source.path / "fault", fault)
        self.assertEqual("none 0", source.text("fault"))
        self.refuses(errno.EINVAL, source.path / "state", "healthy")
        self.refuses(errno.ENODEV, SIM / "remove_source", "sim99")

    def test_many(self):
        sources = [self.source() for _ in range(16)]
        self.refuses(errno.ENOSPC, SIM / "add_source", 1024)
        for source in sources:
            self.passes(source, 4096)

    def test_goes_while_it_is_read(self):
        for fault in ("none", "stall"):
            source = self.source()
            self.break_it(source, fault)
            seen = []

            def read(file):
                with file:
                    while True:
                        try:
                            file.read(4096)
                        except OSError as e:
                            if e.errno != errno.EAGAIN:
                                seen.append(e.errno)
                                return

            # open the file here, because the source may be removed before the
            # thread begins
            thread = threading.Thread(target=read, args=[
                open(FILES / source.name, "rb", buffering=0)])
            thread.start()
            self.assertTrue(wait_for(lambda: fault == "stall" or
                                     source.counter("bytes") > 8192, SOON))
            self.sources.remove(source)
            write(SIM / "remove_source", source.name)
            thread.join(SOON)
            self.assertEqual(1, len(seen))
            self.assertEqual("gone", source.state())


class Virtio(unittest.TestCase):
    """A source of virtio, which OCF gives to the kernel once it is healthy."""

    def setUp(self):
        name, = names()
        self.source = Source(name)

    def available(self) -> bool:
        return self.source.name in (
            HWRNG / "rng_available").read_text().split()

    def becomes_fed(self, feeds: bool) -> bool:
        """Waits until the kernel has the source, or no longer has it.  The
        source's own file "feeds" changes last."""
        return wait_for(lambda: self.available() == feeds and
                        self.source.text("feeds") == str(int(feeds)), SOON)

    def bus_name(self) -> str:
        return (self.source.path / "device").resolve().name


class Real(Virtio):
    def test_the_kernel_has_it(self):
        self.assertTrue(self.source.becomes("healthy"))
        self.assertTrue(self.becomes_fed(True))
        write(HWRNG / "rng_current", self.source.name)
        # the kernel is told the entropy that the source claims, not full
        # entropy
        self.assertEqual("512", (HWRNG / "rng_quality").read_text().strip())
        before = self.source.counter("bytes")
        with open("/dev/hwrng", "rb", buffering=0) as file:
            got = b""
            while len(got) < 20000:
                got += file.read(1000)
        self.assertEqual(256, len(set(got)))
        self.assertLessEqual(before + 20000, self.source.counter("bytes"))
        self.assertEqual(0, self.source.counter("failures"))

    def test_comes_and_goes(self):
        for _ in range(10):
            self.assertTrue(self.source.becomes("healthy"))
            self.assertTrue(wait_for(self.available, SOON))
            stop = []

            def read():
                with open("/dev/hwrng", "rb", buffering=0) as file:
                    while not stop:
                        try:
                            file.read(64)
                        except OSError:
                            pass

            thread = threading.Thread(target=read)
            thread.start()
            where = self.bus_name()
            write(DRIVER / "unbind", where)
            self.assertFalse(self.available())
            self.assertEqual(set(), names())
            stop.append(True)
            write(DRIVER / "bind", where)
            thread.join(SOON)
            self.assertFalse(thread.is_alive())
            self.setUp()


class Bad(Virtio):
    def test_good_and_then_zeros(self):
        self.assertTrue(self.source.becomes("healthy"))
        got = self.source.read(1 << 20)
        self.assertEqual("failed", self.source.state())
        self.assertEqual("repeats", self.source.text("reason"))
        # an entropy of 512 / 1024 is 4 bits per byte: eleven equal bytes in a
        # row are too many
        self.assertEqual("11", cutoffs(self.source)[0])
        self.assertNotIn(bytes(11), got)
        # and the kernel is rid of it
        self.assertTrue(self.becomes_fed(False))


class Silent(Virtio):
    def test_nothing_comes(self):
        self.assertTrue(self.source.becomes("stalled"))
        self.assertFalse(self.available())
        # a stalled source can still be removed
        where = self.bus_name()
        write(DRIVER / "unbind", where)
        self.assertEqual(set(), names())


if __name__ == "__main__":
    unittest.main(verbosity=2)
