#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""In the test machine: public-key operations of the crypto API as devices: the
kernel's own implementations, and an asynchronous one that misbehaves.

    tests/bridge/test_pk.py DIRECTORY [UNITTEST...]

DIRECTORY has keys, rsaBITS.pem.
"""

import pathlib
import re
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS / "lib"))
sys.path.insert(0, str(TESTS / "pk"))
sys.path.insert(0, str(TESTS / "bridge"))

import crk  # noqa: E402
import load  # noqa: E402
import machine  # noqa: E402
from machine import ACCEL, counter, state  # noqa: E402
from ocf import Device, prefer_cards, rmmod, unload, wait_for, write  # noqa: E402
from test_faults import HASTE, SOON, Base, fault, held, left  # noqa: E402


def curve25519() -> str:
    """What this machine has of it."""
    return re.findall(r"driver\s*: (curve25519-\S+)",
                      pathlib.Path("/proc/crypto").read_text())[0]


class Kernel(unittest.TestCase):
    """The kernel's own implementations, which run on the CPU, are registered as
    if they were cards."""

    @classmethod
    def setUpClass(cls):
        prefer_cards()
        subprocess.run(["modprobe", "ecdh_generic"], check=True)
        names = {"rsa-generic": "rsa", "dh-generic": "dh",
                 "ecdh-nist-p256-generic": "ecdh-p256",
                 "ecdh-nist-p384-generic": "ecdh-p384",
                 curve25519(): "x25519"}
        write(machine.DRIVER / "add", ",".join(names))
        cls.cards = [Device(p.name) for p in
                     pathlib.Path("/sys/class/ocf").glob("bridge*")]
        cls.names = names

    def test_what_there_is(self):
        lines = "\n".join(c.text("device/implementations")
                          for c in self.cards).splitlines()
        self.assertEqual(sorted(f"{what} {name}" for name, what in
                                self.names.items()), sorted(lines))
        shown = {row[0] for c in self.cards
                 for row in c.table("public_key_cost")}
        self.assertEqual({"rsa-encrypt", "rsa-decrypt", "dh", "ec-public",
                          "ecdh", "x25519"}, shown)

    def test_differ(self):
        before = {c: c.counter("pk_operations") for c in self.cards}
        subprocess.run([TESTS / "pk" / "differ.py"], check=True)
        for c, was in before.items():
            self.assertEqual("ready", c.state())
            self.assertEqual("0", c.text("device/out"))
            print("#", c.text("device/implementations").split("\n")[0],
                  c.counter("pk_operations") - was, flush=True)
            self.assertLess(was, c.counter("pk_operations"))


class Load(load.Load):
    """What fails is as bad as what is wrong."""

    def __exit__(self, *args):
        super().__exit__(*args)
        self.wrong += self.failed


class Signing(Base):
    """An asynchronous implementation of RSA without padding; the core adds the
    padding."""

    accel = ("rsa=1",)

    @classmethod
    def setUpClass(cls):
        prefer_cards()
        rmmod("ocf_bridge")
        cls.key = load.read_key(pathlib.Path(sys.argv[1]) / "rsa1024.pem")

    def load(self) -> Load:
        return Load(self.key, crk.HARDWARE | crk.SOFTWARE)


class Rsa(Signing):
    def survives(self, name: str, count: int = 20) -> None:
        """Nobody sees anything of it."""
        before = counter("pk_operations")
        with self.load() as load_:
            self.assertTrue(load_.goes_on())
            fault(name, count)
            self.assertTrue(wait_for(lambda: not left(), load.SOON))
            self.assertTrue(load_.goes_on())
            self.assertTrue(wait_for(lambda: state() == "ready", load.SOON))
        self.assertEqual([], load_.wrong)
        self.assertLess(before + 20, counter("pk_operations"))
        self.idle()

    def test_found_by_its_marks(self):
        self.assertEqual("aes-cbc cbc-aes-accel\nrsa rsa-accel",
                         machine.text("device/implementations"))
        self.assertEqual({"rsa-encrypt", "rsa-decrypt"}, {
            row[0] for row in Device("bridge0").table("public_key_cost")})

    def test_works(self):
        self.survives("works")

    def test_done_at_once(self):
        self.survives("at_once")

    def test_calls_back_before_it_returns(self):
        self.survives("inside")

    def test_calls_back_in_a_hard_interrupt(self):
        self.survives("hardirq")

    def test_calls_back_twice(self):
        self.survives("twice", 3)

    def test_fails(self):
        # more failures would make the self-tests fail for minutes
        self.survives("fails", 5)

    def test_refuses(self):
        self.survives("refuses", 5)

    def test_is_full(self):
        self.survives("busy")

    def test_goes_under_load(self):
        with self.load() as load_:
            for _ in range(5):
                self.assertTrue(load_.goes_on(8))
                write(machine.DRIVER / "remove", "bridge0")
                self.assertTrue(load_.goes_on(8))
                write(machine.DRIVER / "scan", 1)
                self.assertEqual("ready", state())
        self.assertEqual([], load_.wrong)


class Silent(Signing):
    """A missing callback is noticed by a timeout."""

    patience = HASTE

    def test_calls_back_late(self):
        with self.load() as load_:
            self.assertTrue(load_.goes_on())
            fault("never", 3)
            self.assertTrue(wait_for(
                lambda: (counter("detached"), held()) == (3, 3), SOON))
            self.assertTrue(load_.goes_on())
            late = counter("late")
            write(ACCEL / "held", 1)
            self.assertTrue(wait_for(lambda: state() == "ready", SOON))
            self.assertTrue(load_.goes_on())
        self.assertEqual([], load_.wrong)
        self.idle()
        self.assertLessEqual(late + 3, counter("late"))

    def test_goes_meanwhile(self):
        """Its transforms and slots are there until the last is back."""
        with self.load() as load_:
            self.assertTrue(load_.goes_on())
            fault("never", 5)
            self.assertTrue(wait_for(lambda: not left(), SOON))
            write(machine.DRIVER / "remove", "bridge0")
            self.assertEqual(5, held())
            self.assertTrue(load_.goes_on())
        self.assertEqual([], load_.wrong)
        self.assertIn("in use", rmmod("ocf_bridge"))
        self.assertIn("in use", rmmod("ocf_accel"))
        write(ACCEL / "held", 1)
        self.assertTrue(unload("ocf_bridge"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:], verbosity=2)
