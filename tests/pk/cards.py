#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""In the test machine: cards that sign, fail, and go, and nobody notices.

    tests/pk/cards.py DIRECTORY [UNITTEST...]

DIRECTORY has keys, rsaBITS.pem.  PATIENCE is ms, for a machine so slow that a
card is late without a fault; OCF_ROUNDS is how often cards come and go.
"""

import os
import pathlib
import re
import sys
import time
import unittest
from errno import EDQUOT, ENODEV

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(TOP / "tests" / "lib"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import crk  # noqa: E402
from load import SOON, Load, read_key  # noqa: E402
from ocf import SOFTWARE, Device, traced, wait_for, write  # noqa: E402
from rounds import rounds  # noqa: E402

SIM = pathlib.Path("/sys/bus/platform/drivers/ocf_sim")
ROUNDS = rounds(10)
MAX_KEYS = pathlib.Path("/sys/module/ocf_cdev/parameters/max_keys")


class Card(Device):
    def write(self, file: str, text: str) -> None:
        write(self.path / file, text)

    def fault(self, text: str) -> None:
        self.write("device/fault", text)

    def own(self, file: str) -> int:
        return int(self.text("device/" + file))


class Cards(unittest.TestCase):
    options = ("public_key=1 algs=null public_ns=200000 patience=" +
               os.environ.get("PATIENCE", "4000"))
    crid = crk.HARDWARE | crk.SOFTWARE
    after_patience = "detached"     # such a card is stopped at once

    @classmethod
    def setUpClass(cls):
        cls.key = read_key(pathlib.Path(sys.argv[1]) / "rsa1024.pem")
        write("/sys/module/ocf/parameters/recheck", 0)

    cards = [Card("sim0"), Card("sim1")]

    def setUp(self):
        for card in self.cards:
            if not card.exists():
                write(SIM / "add", self.options)

    def tearDown(self):
        for card in self.cards:
            if card.exists():
                card.fault("none")
                self.assertTrue(wait_for(lambda: card.state() == "ready",
                                         SOON))

    @classmethod
    def tearDownClass(cls):
        for card in cls.cards:
            if card.exists():
                write(SIM / "remove", card.path.name)

    def load(self, crid: int = 0) -> Load:
        return Load(self.key, crid or self.crid)

    def on_cards(self) -> int:
        return sum(c.counter("pk_operations") for c in self.cards)

    def is_idle(self, card: Card) -> bool:
        """An operation is counted only after its result was checked, so the
        counters must have stopped, too."""
        was = card.counters()
        time.sleep(0.5)
        return (not was["pk_inflight"] and not was["pk_waiting"] and
                was == card.counters())

    def timed(self, card: Card) -> int:
        """Operations whose latency was counted."""
        return sum(int(n) for _, n in card.table("public_key_latency"))

    def check(self, load: Load) -> None:
        self.assertEqual([], load.wrong)
        self.assertEqual([], load.failed)
        for card in self.cards:     # what they are believed to take
            for row in card.table("public_key_cost"):
                self.assertLess(int(row[2]), SOON * 10**9, row)

    def survives(self, fault: str, counter: str = "") -> None:
        """Checks that users do not notice a fault of the cards."""
        card = self.cards[0]
        before = card.own(counter) if counter else 0
        with self.load() as load:
            self.assertTrue(load.goes_on())
            for c in self.cards:
                c.fault(fault)
            self.assertTrue(wait_for(lambda: all(
                c.text("device/fault") == "none" or "death" in fault
                for c in self.cards) or not load.goes_on(8), SOON))
            self.assertTrue(load.goes_on())
            if counter:
                self.assertTrue(wait_for(
                    lambda: sum(c.own(counter) for c in self.cards) > before,
                    SOON))
            for c in self.cards:
                c.fault("none")
            for c in self.cards:
                self.assertTrue(wait_for(lambda: c.state() == "ready", SOON))
            self.assertTrue(load.goes_on())
        self.check(load)

    def test_both_work(self):
        before = [c.counter("pk_operations") for c in self.cards]
        timed = [self.timed(c) for c in self.cards]
        with traced("ocf_pk_start") as found, self.load(crk.HARDWARE) as load:
            self.assertTrue(load.goes_on())
            for card, was in zip(self.cards, before):
                self.assertTrue(wait_for(
                    lambda: card.counter("pk_operations") > was, SOON))
        self.check(load)
        # a simulated card has the CPU do what it has not done before
        cpu = Device(SOFTWARE).text("number")
        self.assertEqual(
            {c.text("number") for c in self.cards} | {cpu},
            set(re.findall(r": ocf_pk_start: .* device=(\S+)",
                           found.read_text())) | {cpu})
        for card, was, old in zip(self.cards, before, timed):
            self.assertTrue(wait_for(lambda: self.is_idle(card), SOON))
            self.assertEqual(card.counter("pk_operations") - was,
                             self.timed(card) - old)

    def test_busy(self):
        self.survives("busy 20")

    def test_error(self):
        self.survives("error 2")

    def test_errors_one_after_the_other(self):
        self.survives("error 6")

    def test_lost(self):
        self.survives("lost 3", "detached")

    def test_late(self):
        self.survives("late 3 0 12000", self.after_patience)

    def test_double(self):
        self.survives("double 3", "spurious")

    def test_stall(self):
        self.survives("stall 1 0 12000", "detached")

    def test_a_wrong_signature_is_seen_by_nobody(self):
        self.survives("wrong 1")

    def test_who_lies_all_the_time_is_found_out(self):
        """The self-test finds the card that lies, and the core does not use it
        any more."""
        with self.load() as load:
            self.assertTrue(load.goes_on())
            self.cards[0].fault("wrong 1000000")
            self.assertTrue(wait_for(
                lambda: self.cards[0].state() == "suspect", SOON))
            self.assertTrue(load.goes_on())
            self.cards[0].fault("none")
            self.cards[0].write("state", "resume")
            self.assertTrue(wait_for(
                lambda: self.cards[0].state() == "ready", SOON))
        self.check(load)

    def test_death(self):
        for card in self.cards:
            with self.load(crk.HARDWARE) as load:
                self.assertTrue(load.goes_on())
                card.fault("death 1")
                self.assertTrue(wait_for(
                    lambda: card.state() == "suspect", SOON))
                card.fault("none")
                self.assertTrue(wait_for(
                    lambda: card.state() == "ready", SOON))
                self.assertTrue(load.goes_on())
            self.check(load)
            self.assertLess(0, card.counter("pk_replays"))

    def test_unplugged(self):
        """In the middle of many signatures, again and again."""
        with self.load() as load:
            for i in range(ROUNDS):
                name = f"sim{i % 2}"
                self.assertTrue(load.goes_on(8))
                write(SIM / "remove", name)
                self.assertTrue(load.goes_on(8))
                write(SIM / "add", self.options)
                self.assertTrue(wait_for(
                    lambda: Device(name).state() == "ready", SOON))
        self.check(load)

    def test_no_card_and_no_cpu(self):
        with self.load(crk.HARDWARE) as load:
            self.assertTrue(load.goes_on())
            write(SIM / "remove", "sim0")
            self.assertTrue(load.goes_on())
            self.assertEqual([], load.failed)
            write(SIM / "remove", "sim1")
            self.assertTrue(wait_for(lambda: load.failed, SOON))
            for _ in range(2):
                write(SIM / "add", self.options)
            self.assertTrue(load.goes_on())
        self.assertEqual({ENODEV}, set(load.failed))
        self.assertEqual([], load.wrong)

    def test_drained(self):
        with self.load() as load:
            self.assertTrue(load.goes_on())
            self.cards[0].write("state", "drain")
            self.assertTrue(wait_for(
                lambda: self.is_idle(self.cards[0]), SOON))
            before = self.cards[0].counter("pk_operations")
            self.assertTrue(load.goes_on())
            self.assertEqual(before, self.cards[0].counter("pk_operations"))
            self.cards[0].write("state", "resume")
            self.assertTrue(wait_for(lambda: self.cards[0].counter(
                "pk_operations") > before, SOON))
        self.check(load)

    def test_a_liar_is_kept_out(self):
        with self.assertRaises(OSError):
            write(SIM / "add", self.options + " fault=wrong:1")
        self.assertFalse(Device("sim2").exists())

    def test_killed(self):
        """A process that waits for a silent card can be killed."""
        for card in self.cards:
            card.fault("lost 1000")
        pid = os.fork()
        if not pid:
            try:
                crk.Device().call(crk.MOD_EXP, [b"\3", b"\5", b"\7"], [1],
                                  crk.BSD_CIOCKEY2, crk.HARDWARE)
            finally:
                os._exit(1)
        self.assertTrue(wait_for(
            lambda: sum(c.counter("pk_inflight") for c in self.cards), SOON))
        os.kill(pid, 9)
        begun = time.monotonic()
        self.assertEqual(9, os.waitpid(pid, 0)[1])
        self.assertLess(time.monotonic() - begun, SOON)
        for card in self.cards:
            card.fault("none")
        self.assertTrue(wait_for(lambda: not sum(
            c.counter("pk_inflight") for c in self.cards), SOON))

    def test_too_many(self):
        """A user may have only so many operations under way.  Root is not
        limited."""
        for card in self.cards:
            card.fault("lost 1000")
        was = MAX_KEYS.read_text()
        self.addCleanup(write, MAX_KEYS, was)
        write(MAX_KEYS, "0")
        dev = crk.Device()
        pid = os.fork()
        if not pid:
            os.setuid(65534)
            try:
                dev.call(crk.MOD_EXP, [b"\3", b"\5", b"\7"], [1])
            except OSError as e:
                os._exit(e.errno)
            os._exit(0)
        self.assertEqual(EDQUOT, os.waitstatus_to_exitcode(
            os.waitpid(pid, 0)[1]))
        dev.numbers(crk.MOD_EXP, 3, 5, 7, out=(1,), call=crk.BSD_CIOCKEY2,
                    crid=crk.SOFTWARE)


class Bouncing(Cards):
    """Cards that may go on when they should have stopped."""

    options = Cards.options + " bounce=1"
    after_patience = "answered_late"


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:], verbosity=2)
