#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""In the test machine: an accelerator that misbehaves in each way there is.
Requests made meanwhile end with right results, and nothing stays behind.
"""

import errno
import pathlib
import subprocess
import sys
import threading
import time
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import machine  # noqa: E402
from machine import ACCEL, counter, state  # noqa: E402
from ocf import (CLASS, DATA, SOFTWARE, Load, Session,  # noqa: E402
                 prefer_cards, rmmod, unload, wait_for, write)

SIZES = (16, 1008, 4096, 65536)
DEPTH = 8
SOON = 300       # s: the debug kernel is slow
# ms of patience: HASTE in tests of a silent accelerator, PATIENCE in all
# others.  There only the emulated machine on a busy host can be late.
HASTE, PATIENCE = 3000, 60000


def insmod(module: pathlib.Path, *args: str) -> None:
    subprocess.run(["insmod", module, *args], check=True,
                   stderr=subprocess.PIPE)


def fault(name: str, count: int = 1000000) -> None:
    write(ACCEL / "count", 0)
    write(ACCEL / "fault", name)
    write(ACCEL / "count", count)


def left() -> int:
    return int((ACCEL / "count").read_text())


def held() -> int:
    return int((ACCEL / "held").read_text())


class Base(unittest.TestCase):
    depth, patience = DEPTH, PATIENCE
    accel: tuple[str, ...] = ()

    @classmethod
    def setUpClass(cls):
        with Session() as ses:
            cls.wants = {n: ses.crypt(DATA[:n]) for n in SIZES}

    def setUp(self):
        self.insert_bridge()
        insmod(machine.ACCEL_KO, *self.accel)
        self.assertTrue(wait_for(lambda: state() == "ready", SOON))

    def tearDown(self):
        if ACCEL.exists():
            fault("works", 0)
            write(ACCEL / "held", 1)
        for name in ("ocf_bridge", "ocf_accel"):
            if pathlib.Path("/sys/module", name).exists():
                self.assertTrue(unload(name))

    def insert_bridge(self) -> None:
        insmod(machine.BRIDGE_KO, f"depth={self.depth}",
               f"patience={self.patience}")

    def load(self) -> Load:
        return Load(self.wants)

    def idle(self) -> None:
        self.assertTrue(wait_for(lambda: not counter("out"), SOON))
        self.assertEqual((0, 0), (counter("detached"), held()))


class Accel(Base):
    # -- what works ----------------------------------------------------------

    def test_found_by_its_marks(self):
        self.assertEqual("aes-cbc cbc-aes-accel",
                         machine.text("device/implementations"))
        self.assertEqual("ocf_accel", machine.text("device/module"))
        self.assertEqual("aes-cbc", machine.text("algorithms"))

    def test_works(self):
        before = counter("operations")
        with self.load() as load:
            self.assertTrue(load.goes_on())
            self.assertTrue(wait_for(
                lambda: counter("operations") > before + 50, SOON))
        self.assertEqual([], load.wrong)
        # a callback on another processor may come before the call returns, but
        # not always
        self.assertLess(counter("at_once"), counter("operations"))
        self.idle()

    def harmless(self, name: str, counts: str | None, want: int) -> None:
        """Checks that the device keeps working despite this behaviour of the
        accelerator."""
        before = counter(counts) if counts else 0
        with self.load() as load:
            self.assertTrue(load.goes_on())
            fault(name, 50)
            self.assertTrue(wait_for(lambda: not left(), SOON))
            self.assertTrue(load.goes_on())
        self.assertEqual([], load.wrong)
        self.assertEqual("ready", state())
        if counts:
            # callbacks on another processor may also come before the call
            # returns
            self.assertLessEqual(want, counter(counts) - before)
        self.assertEqual((0, 0), (counter("late"), counter("spurious")))
        self.idle()

    def test_done_at_once(self):
        self.harmless("at_once", "at_once", 50)

    def test_calls_back_before_it_returns(self):
        self.harmless("inside", "at_once", 50)

    def test_calls_back_in_a_hard_interrupt(self):
        self.harmless("hardirq", None, 0)

    def test_full(self):
        self.harmless("busy", "refused", 50)

    # -- what fails ----------------------------------------------------------

    def fails(self, name: str, count: int) -> None:
        with self.load() as load:
            self.assertTrue(load.goes_on())
            fault(name, count)
            self.assertTrue(wait_for(lambda: not left(), SOON))
            self.assertTrue(wait_for(lambda: state() == "ready", SOON))
            self.assertTrue(load.goes_on())
        self.assertEqual([], load.wrong)
        self.idle()

    def test_fails(self):
        self.fails("fails", 2)
        self.fails("fails", DEPTH)

    def test_refuses(self):
        self.fails("refuses", 2)
        self.fails("refuses", DEPTH)

    def test_keys_that_it_does_not_take(self):
        """The CPU has these sessions, and the card all others.  Without the
        CPU they are refused."""
        key = DATA[:24]
        forbid = CLASS / SOFTWARE / "forbid"
        with Session(key=key) as ses:
            want = ses.crypt(DATA[:65536])
        write(ACCEL / "bad_key", len(key))
        before = counter("operations")
        with Session(key=key) as ses:
            for _ in range(10):
                self.assertEqual(want, ses.crypt(DATA[:65536]))
        self.assertEqual(before, counter("operations"))
        write(forbid, "aes-cbc")
        try:
            with self.assertRaises(OSError) as e:
                Session(key=key)
            self.assertEqual(errno.ENODEV, e.exception.errno)
            with Session() as ses:
                self.assertEqual(self.wants[65536], ses.crypt(DATA[:65536]))
        finally:
            write(forbid, "\n")
        self.assertLess(before, counter("operations"))
        self.assertEqual("ready", state())
        self.idle()

    def test_calls_back_twice(self):
        before = counter("spurious")
        with Session() as ses:
            fault("twice", 3)
            for _ in range(3):
                self.assertEqual(self.wants[4096],
                                 ses.crypt(DATA[:4096]))
                self.assertTrue(wait_for(lambda: state() == "ready", SOON))
        # the second may be on its way still
        self.assertTrue(wait_for(
            lambda: counter("spurious") + left() == before + 3, SOON))
        self.idle()

    # -- coming and going ----------------------------------------------------

    def test_goes_under_load(self):
        with self.load() as load:
            for _ in range(5):
                self.assertTrue(load.goes_on())
                write(machine.DRIVER / "remove", "bridge0")
                self.assertEqual("gone", state())
                write(machine.DRIVER / "scan", 1)
                self.assertEqual("ready", state())
                self.assertTrue(unload("ocf_bridge"))
                self.insert_bridge()
                self.assertEqual("ready", state())
        self.assertEqual([], load.wrong)

    def test_removed_stays_removed(self):
        write(machine.DRIVER / "remove", "bridge0")
        self.assertTrue(unload("ocf_accel"))
        insmod(machine.ACCEL_KO)
        time.sleep(3)
        self.assertEqual("gone", state())
        write(machine.DRIVER / "add", "cbc-aes-accel")
        self.assertEqual("ready", state())

    def test_module_goes_while_it_is_silent(self):
        """The requests were not yet given up when rmmod began, so rmmod waits
        for their callbacks."""
        with self.load() as load:
            self.assertTrue(load.goes_on())
            fault("never", 2)
            self.assertTrue(wait_for(lambda: not left(), SOON))
            said = []
            thread = threading.Thread(
                target=lambda: said.append(rmmod("ocf_bridge")))
            thread.start()
            self.assertTrue(load.goes_on())
            self.assertTrue(wait_for(lambda: state() == "gone", SOON))
            thread.join(2)
            self.assertTrue(thread.is_alive())
            write(ACCEL / "held", 1)
            thread.join(SOON)
        self.assertEqual([""], said)
        self.assertEqual([], load.wrong)

    def test_its_driver_goes_and_comes_back(self):
        with Session() as ses:
            # the CPU is tried, too: one request may not have come to it
            before = counter("operations")
            while counter("operations") == before:
                self.assertEqual(self.wants[16], ses.crypt(DATA[:16]))
            self.assertIn("in use", rmmod("ocf_accel"))
        self.assertTrue(unload("ocf_accel"))
        with self.load() as load:
            self.assertTrue(load.goes_on())
            self.assertTrue(wait_for(lambda: state() == "suspect", SOON))
            insmod(machine.ACCEL_KO)
            self.assertTrue(wait_for(lambda: state() == "ready", SOON))
            self.assertTrue(load.goes_on())
        self.assertEqual([], load.wrong)


class Silent(Base):
    """A missing callback is noticed by a timeout.  Then all other requests
    inside are taken back, too.  Their callbacks come late, but they come."""

    depth, patience = 4, HASTE

    def loses(self, count: int) -> bool:
        """Returns whether in the end exactly @count requests are given up, all
        of them held by the accelerator."""
        return wait_for(lambda: (counter("detached"), held()) ==
                        (count, count), SOON)

    def test_calls_back_late(self):
        with self.load() as load:
            self.assertTrue(load.goes_on())
            fault("never", 3)
            self.assertTrue(self.loses(3))
            self.assertTrue(load.goes_on())
            self.assertIn("in use", rmmod("ocf_bridge"))
            late = counter("late")
            write(ACCEL / "held", 1)
            self.assertTrue(wait_for(lambda: state() == "ready", SOON))
            self.assertTrue(load.goes_on())
        self.assertEqual([], load.wrong)
        self.idle()
        self.assertLessEqual(late + 3, counter("late"))

    def test_never_calls_back(self):
        """With all slots lost it is of use again after a reset."""
        with self.load() as load:
            fault("never")
            self.assertTrue(wait_for(lambda: state() == "suspect", SOON))
            self.assertTrue(load.goes_on())
            # self-tests now and then use up the remaining slots
            self.assertTrue(wait_for(lambda: held() >= self.depth, 5 * SOON))
            fault("works", 0)
            lost = held()
            self.assertTrue(wait_for(lambda: state() == "ready", 3 * SOON))
            self.assertTrue(load.goes_on())
            self.assertTrue(self.loses(lost))
        self.assertEqual([], load.wrong)
        self.assertTrue(self.loses(lost))
        late = counter("late")
        write(ACCEL / "held", 1)
        self.assertTrue(wait_for(lambda: counter("late") == late + lost, SOON))
        self.idle()

    def test_goes_meanwhile(self):
        with self.load() as load:
            self.assertTrue(load.goes_on())
            fault("never", 3)
            self.assertTrue(wait_for(lambda: not left(), SOON))
            # which does not wait for what never comes
            write(machine.DRIVER / "remove", "bridge0")
            self.assertEqual(3, held())
            self.assertTrue(load.goes_on())
        self.assertEqual([], load.wrong)
        # its transforms and slots are there, and so are the modules
        self.assertIn("in use", rmmod("ocf_bridge"))
        self.assertIn("in use", rmmod("ocf_accel"))
        write(ACCEL / "held", 1)
        self.assertTrue(unload("ocf_bridge"))
        self.assertTrue(unload("ocf_accel"))


MODPROBE = pathlib.Path("/proc/sys/kernel/modprobe")


class Names(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        # for each module that is missing, the kernel starts modprobe again and
        # again
        subprocess.run(["modprobe", "-a", "cryptd", "sha256_generic",
                        "crc32c_generic"], check=True)
        cls.addClassCleanup(write, MODPROBE, MODPROBE.read_text())
        write(MODPROBE, "\n")

    def setUp(self):
        insmod(machine.BRIDGE_KO)

    def tearDown(self):
        for name in ("ocf_bridge", "ocf_accel"):
            if pathlib.Path("/sys/module", name).exists():
                self.assertTrue(unload(name))

    def refused(self, name: str) -> int:
        with self.assertRaises(OSError) as caught:
            write(machine.DRIVER / "add", name)
        self.assertFalse(machine.exists())
        return caught.exception.errno

    def test_ours_are_refused(self):
        for name in ("ocf-cbc-aes", "cryptd(ocf-cbc-aes)",
                     "gcm_base(ctr(ocf-aes),ghash-generic)"):
            self.assertEqual(errno.ELOOP, self.refused(name))

    def test_ours_are_refused_by_any_name(self):
        insmod(machine.ACCEL_KO, "marked=0", "loop=1")
        self.assertEqual(errno.ELOOP, self.refused("cbc(aes)"))
        write(machine.DRIVER / "scan", 1)
        self.assertFalse(machine.exists())

    def test_nonsense_is_refused(self):
        for name, why in (("nonsense", errno.ENOENT), (",", errno.ENOENT),
                          ("aes-generic", errno.ENOENT),
                          ("sha256-generic", errno.EINVAL),
                          ("cbc(aes-generic)", errno.EINVAL),
                          ("cryptd(sha256-generic),nonsense", errno.ENOENT),
                          ("cryptd(cbc(aes))", errno.EEXIST),
                          ("crc32c-generic", errno.EOPNOTSUPP)):
            with self.subTest(name):
                self.assertEqual(why, self.refused(name))
        for name in ("bridge", "bridge0x", "virtio0"):
            with self.assertRaises(OSError) as caught:
                write(machine.DRIVER / "remove", name)
            self.assertEqual(errno.EINVAL, caught.exception.errno)
        with self.assertRaises(OSError) as caught:
            write(machine.DRIVER / "remove", "bridge0")
        self.assertEqual(errno.ENODEV, caught.exception.errno)

    def test_unmarked_is_not_found_but_named(self):
        insmod(machine.ACCEL_KO, "marked=0")
        write(machine.DRIVER / "scan", 1)
        time.sleep(2)
        self.assertFalse(machine.exists())
        self.assertTrue(unload("ocf_bridge"))
        insmod(machine.BRIDGE_KO, "implementations=cbc-aes-accel")
        self.assertEqual("ready", state())

    def test_one_device_for_one_module(self):
        insmod(machine.ACCEL_KO, "marked=0")
        write(machine.DRIVER / "add",
              "cryptd(sha256-generic),cbc-aes-accel,cryptd(sha1-generic)")
        self.assertEqual("sha1 cryptd(sha1-generic)\n"
                         "sha256 cryptd(sha256-generic)",
                         machine.text("device/implementations"))
        self.assertEqual("aes-cbc", machine.text("algorithms", "bridge1"))
        write(machine.DRIVER / "add", "cryptd(hmac(sha256-generic))")
        self.assertEqual(["sha1", "sha256", "hmac-sha256"],
                         machine.text("algorithms").split())
        self.assertFalse(machine.exists("bridge2"))

    def test_parameters_that_make_no_sense(self):
        self.assertTrue(unload("ocf_bridge"))
        for args in ("depth=0", "depth=1025", "buffer=2048", "buffer=65535",
                     "buffer=4194304", "patience=99", "patience=60001",
                     "implementations=nonsense"):
            with self.assertRaises(subprocess.CalledProcessError):
                insmod(machine.BRIDGE_KO, args)

    def test_the_largest_buffer(self):
        self.assertTrue(unload("ocf_bridge"))
        insmod(machine.ACCEL_KO)
        insmod(machine.BRIDGE_KO, "buffer=2097152 depth=4 "
               "implementations=cbc-aes-accel")
        self.assertEqual("ready", state())


if __name__ == "__main__":
    rmmod("ocf_bridge")
    for other in ("ocf_virtio", "ocf_sim", "ocf_null"):
        rmmod(other)
    prefer_cards()
    unittest.main(verbosity=2)
