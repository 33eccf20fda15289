#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""In the machine: our driver, and cards that are slow, wrong, mute or dead.
Requests made meanwhile end with right results.

    ours.py [Faults|Sealed|Queues|Killed]
                            which of them; a card is not used after Killed
"""

import contextlib
import ctypes
import hmac
import itertools
import os
import pathlib
import socket
import struct
import subprocess
import sys
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
TOP = HERE.parents[1]
sys.path[:0] = [str(HERE.parent / "lib"), str(HERE)]
sys.dont_write_bytecode = True

from ctl import Control  # noqa: E402
from ocf import (AES_CBC, AES_XTS, CLASS, DATA, SHA1_HMAC,  # noqa: E402
                 SOFTWARE, Device, Load, Session, crypt, open_session,
                 prefer_cards, wait_for, write)
from users import (HIGH, LOW, SIDES, loaded, namespaces,  # noqa: E402
                   protect_side, within)

SIZES = (16, 1008, 4096, 65536)
PATIENCE_S = int(os.environ.get("OCF_PATIENCE", "1000")) / 1000
SOON = 300      # s; the machine is slow
FAULTS = ("busy", "error", "wrong", "lost", "late", "double", "refuse",
          "mute", "deaf", "short")
DRIVER = pathlib.Path("/sys/bus/virtio/drivers/ocf_virtio")
VIRTIO_ID_CRYPTO = 20
IPPROTO_ESP = 50        # <linux/in.h>
WORKERS = pathlib.Path("/sys/devices/virtual/workqueue/cpumask")
TESTS = pathlib.Path("/sys/module/cryptomgr/parameters/notests")
RECHECK = pathlib.Path("/sys/module/ocf/parameters/recheck")


class Card(unittest.TestCase):
    """One card that is a process, and works at the beginning of each test."""

    @classmethod
    def setUpClass(cls):
        cls.control = Control(os.environ["OCF_CARDS"].split()[0])
        cls.device = Device("virtio0")
        with Session() as ses:
            cls.wants = {n: ses.crypt(DATA[:n]) for n in SIZES}
        prefer_cards()

    def setUp(self):
        self.assertTrue(wait_for(lambda: self.device.state() == "ready", SOON))

    def load(self) -> Load:
        return Load(self.wants)

    def find_anew(self) -> None:
        """Unbinds the card and binds it again, so that the driver finds it like
        a new card."""
        name, = (d.name for d in
                 pathlib.Path("/sys/bus/virtio/devices").iterdir()
                 if int((d / "device").read_text(), 16) == VIRTIO_ID_CRYPTO)
        if self.device.exists():
            write(DRIVER / "unbind", name)
        write(DRIVER / "bind", name)

    def own(self, which: str) -> int:
        """One of the driver's counters."""
        return int(self.device.text("device/card/" + which))

    def works(self, lost: int = 0) -> None:
        """Checks that the card works, and that all requests that were taken
        back are free again, except @lost."""
        self.assertTrue(wait_for(lambda: self.device.state() == "ready", SOON))
        before = self.control.stats()["done"]
        with self.load() as load:
            self.assertTrue(wait_for(
                lambda: self.control.stats()["done"] > before + 20, SOON))
        self.assertEqual([], load.wrong)
        self.assertTrue(wait_for(lambda: self.own("detached") == lost, SOON))


class Faults(Card):
    def tearDown(self):
        for name in FAULTS:
            self.control(f"fault {name} 0")
        self.control("set latency_ns=0 depth=1024")
        self.control("go")
        # the card never answers lost requests; only a reset takes them back
        self.find_anew()

    def hits(self, name: str) -> int:
        return self.control.stats()[name]

    def survives(self, name: str, count: int, arg: str = "",
                 lost: int = 0) -> None:
        """Checks that a fault of the card does not change any result that users
        get."""
        before = self.hits(name)
        with self.load() as load:
            self.assertTrue(load.goes_on())
            self.control(f"fault {name} {count} {arg}")
            self.assertTrue(wait_for(
                lambda: self.hits(name) == before + count, SOON))
            self.assertTrue(load.goes_on())
        self.assertEqual([], load.wrong)
        self.works(lost)

    def test_says_it_is_busy(self):
        self.survives("busy", 10)

    def test_fails(self):
        for count in (1, 10):
            self.survives("error", count)

    def test_fails_and_writes_less(self):
        """The card reports that a request failed.  That is no reason to give up
        the card."""
        wrong = self.own("wrong")
        for length in (0, 1):
            for status in ("", "255"):      # ERR, and what the driver left
                before = self.hits("short")
                # nothing is under way, so both faults hit the same three
                # requests
                self.control(f"fault error 3 {status}")
                self.control(f"fault short 3 {length}")
                with self.load() as load:
                    self.assertTrue(wait_for(
                        lambda b=before: self.hits("short") == b + 3, SOON))
                self.assertEqual([], load.wrong)
                self.works()
        self.assertEqual(wrong, self.own("wrong"))

    def test_says_it_has_written_less(self):
        wrong = self.own("wrong")
        self.survives("short", 1)
        self.assertEqual(wrong + 1, self.own("wrong"))

    def test_says_what_is_no_status(self):
        self.survives("error", 2, "77")

    def test_is_late(self):
        self.survives("late", 5, "300")

    def test_is_late_beyond_patience(self):
        replays = self.device.counter("replays")
        self.survives("late", 3, str(int(PATIENCE_S * 3000)))
        self.assertLess(replays, self.device.counter("replays"))

    def test_never_answers(self):
        replays = self.device.counter("replays")
        self.survives("lost", 3, lost=3)
        self.assertLessEqual(replays + 3, self.device.counter("replays"))

    def test_is_not_heard_or_does_not_hear(self):
        """A lost interrupt or doorbell is no reason to give a card up.

        The driver checks once for a lost interrupt or doorbell.  If the host
        stands still then, the card is late, so five attempts are made.
        """
        for name in ("mute", "deaf"):
            self.assertTrue(any(self.is_kept(name) for _ in range(5)))

    def is_kept(self, name: str) -> bool:
        before, replays = self.hits(name), self.device.counter("replays")
        with self.load() as load:
            self.control(f"fault {name} always")
            self.assertTrue(wait_for(lambda: self.hits(name) > before, SOON))
            self.control(f"fault {name} 0")
            self.assertTrue(load.goes_on())
        self.assertEqual([], load.wrong)
        self.assertTrue(wait_for(
            lambda: self.device.state() == "ready", SOON))
        return self.device.counter("replays") == replays

    def test_never_answers_again(self):
        """A card that does not answer again is reset, and holds no requests
        after the reset."""
        self.control("fault lost always")
        with self.load() as load:
            self.assertTrue(wait_for(lambda: self.own("detached") > 4, SOON))
            self.assertTrue(wait_for(lambda: self.own("detached") < 2, SOON))
            self.control("fault lost 0")
            self.assertTrue(load.goes_on())
        self.assertEqual([], load.wrong)
        self.works()

    def test_answers_twice(self):
        """Linux's ring code gives up the queue then: only a reset helps."""
        self.survives("double", 1)

    def test_makes_no_sessions(self):
        """The driver makes a session again only when it needs one, so perhaps
        no request for a session is refused."""
        self.control("fault refuse 4")
        with self.load() as load:
            self.assertTrue(load.goes_on())
            self.control("forget")
            self.assertTrue(wait_for(
                lambda: not self.control.stats()["refuse"] % 4, SOON))
            self.assertTrue(load.goes_on())
        self.assertEqual([], load.wrong)
        self.works()

    def test_refuses_keys(self):
        """The card refuses the keys themselves.  It is not full, so no context
        of another session is evicted."""
        evictions = self.device.counter("evictions")
        with contextlib.ExitStack() as stack:
            write(CLASS / SOFTWARE / "state", "drain")
            stack.callback(write, CLASS / SOFTWARE / "state", "resume")
            others = [stack.enter_context(Session(AES_CBC, DATA[i:i + 32]))
                      for i in range(50)]
            wants = [ses.crypt(DATA[:64]) for ses in others]
            self.control("fault refuse always 24")
            for cipher, key in ((AES_XTS, 2 * DATA[:32]), (AES_CBC, DATA[:24])):
                with self.assertRaises(OSError), Session(cipher, key) as ses:
                    ses.crypt(DATA[:64])
            self.assertEqual(wants, [ses.crypt(DATA[:64]) for ses in others])
        self.assertEqual(evictions, self.device.counter("evictions"))
        self.works()

    def test_forgets_its_sessions(self):
        with self.load() as load:
            for _ in range(3):
                self.assertTrue(load.goes_on())
                self.control("forget")
            self.assertTrue(load.goes_on())
        self.assertEqual([], load.wrong)
        self.works()

    def test_takes_no_more(self):
        """Its ring fills, and the CPU goes on."""
        self.control("set depth=0")
        with self.load() as load:
            self.assertTrue(wait_for(
                lambda: self.device.state() == "suspect", SOON))
            self.assertTrue(load.goes_on())
            self.control("set depth=1024")
        self.assertEqual([], load.wrong)
        self.works()

    def test_stalls(self):
        with self.load() as load:
            self.assertTrue(load.goes_on())
            self.control("stall")
            self.assertTrue(wait_for(
                lambda: self.device.state() == "suspect", SOON))
            self.assertTrue(load.goes_on())
            self.control("go")
        self.assertEqual([], load.wrong)
        self.works()

    def test_stops(self):
        """The process, for less and for more than anybody's patience."""
        for seconds in (PATIENCE_S / 2, PATIENCE_S * 3):
            with self.load() as load:
                self.assertTrue(load.goes_on())
                self.control.send(f"stop {int(seconds * 1000)}")
                time.sleep(seconds / 2)
                self.assertTrue(load.goes_on())
                # the answer that the control socket owes
                self.control.file.readline()
            self.assertEqual([], load.wrong)
            self.works()

    def test_lies(self):
        """Wrong results are not noticed until a self-test.  There one wrong
        answer is enough.  Then the card is not used until somebody writes
        "resume"."""
        write(RECHECK, 1)
        try:
            self.control("fault wrong always")
            with Session() as ses:
                self.assertTrue(wait_for(lambda: self.caught(ses), SOON))
                self.control("fault wrong 0")
                time.sleep(2)
                self.assertEqual("suspect", self.device.state())
                for n, want in self.wants.items():
                    self.assertEqual(want, ses.crypt(DATA[:n]))
        finally:
            write(RECHECK, 0)
        write(self.device.path / "state", "resume")
        self.works()

    def caught(self, ses: Session) -> bool:
        """Runs a request, because the core tests only cards that are in use.
        Returns whether a self-test has found the card."""
        ses.crypt(DATA[:4096])
        return self.device.state() == "suspect"


class Sealed(Card):
    """Encrypt, then authenticate, against OpenSSL: random requests, with
    algorithms that the card has.  The CPU does what is too long for it."""

    def test_against_openssl(self):
        self.assertIn("eta", self.device.text("modes").split())
        algs = [alg for alg in self.device.text("algorithms").split()
                if alg.startswith("hmac-")] + ["aes-cbc"]
        before = self.device.counter("operations")
        subprocess.run([TOP / "build/selftests/bsd_differ", "-t",
                        "encrypt_then_mac"], check=True, stdout=sys.stderr,
                       env=os.environ | {"OCF_ALGS": " ".join(algs)})
        self.assertLess(before + 100, self.device.counter("operations"))
        self.assertEqual(0, self.own("wrong"))

    def test_a_wrong_mac(self):
        """The card computes a wrong MAC for a chain that is right: the CPU does
        the chain again."""
        size = 4096
        text, mac = (ctypes.create_string_buffer(n) for n in (size, 20))
        text.raw = DATA[:size]
        iv = ctypes.create_string_buffer(DATA[9:25], 16)
        fd = os.open("/dev/crypto", os.O_RDWR)
        self.addCleanup(os.close, fd)
        ses = open_session(fd, AES_CBC, DATA[100:116], SHA1_HMAC, DATA[:20])
        crypt(fd, ses, 0, size, text, text, mac, iv)
        sealed = text.raw
        self.addCleanup(self.control, "fault wrong 0")

        def spoiled() -> bool:
            before = self.control.stats()["wrong"]
            # the MAC is behind the data
            self.control(f"fault wrong 1 {size}")
            text.raw = sealed
            crypt(fd, ses, 1, size, text, text, mac, iv)
            self.assertEqual(DATA[:size], text.raw)
            return self.control.stats()["wrong"] > before
        self.assertTrue(wait_for(spoiled, SOON))

    def alg(self, priority: int) -> None:
        """Loads ocf_alg until the test ends."""
        write(TESTS, "Y")
        self.addCleanup(write, TESTS, "N")
        self.enterContext(loaded(priority))

    def test_a_wrong_mac_of_the_kernels_own(self):
        """The same through the crypto API.  With AF_ALG the result goes into
        another buffer."""
        self.alg(LOW)
        size, iv = 4096, DATA[9:25]
        with socket.socket(socket.AF_ALG, socket.SOCK_SEQPACKET) as s:
            s.bind(("aead", "ocf-authenc-hmac-sha1-cbc-aes"))
            # <crypto/authenc.h>
            s.setsockopt(socket.SOL_ALG, socket.ALG_SET_KEY, struct.pack(
                "=HH", 8, 1) + struct.pack(">I", 16) + DATA[:20] +
                DATA[100:116])
            s.setsockopt(socket.SOL_ALG, socket.ALG_SET_AEAD_AUTHSIZE, None, 20)
            op, _ = s.accept()
        with op:
            def done(which: int, text: bytes, length: int) -> bytes:
                op.sendmsg_afalg([text], op=which, iv=iv, assoclen=0)
                return op.recv(length)
            sealed = done(socket.ALG_OP_ENCRYPT, DATA[:size], size + 20)
            self.addCleanup(self.control, "fault wrong 0")

            def spoiled() -> bool:
                before = self.control.stats()["wrong"]
                self.control(f"fault wrong 1 {size}")
                self.assertEqual(DATA[:size], done(
                    socket.ALG_OP_DECRYPT, sealed, size))
                return self.control.stats()["wrong"] > before
            self.assertTrue(wait_for(spoiled, SOON))

    def test_a_wrong_mac_of_a_packet(self):
        """ESP decrypts in place.  If the card finds a wrong MAC, the CPU must
        still find the ciphertext."""
        ends, size = ("10.77.0.1", "10.77.0.2"), 1014
        mackey = DATA[:20]
        self.alg(HIGH)
        self.enterContext(namespaces(tuple(f"{e}/24" for e in ends)))
        # the other side is this test
        protect_side(1, ("auth-trunc", "hmac(sha1)", f"0x{mackey.hex()}", "96",
                         "enc", "cbc(aes)", f"0x{DATA[100:116].hex()}"), ends)
        with within(SIDES[0]):
            sender = self.enterContext(socket.socket(
                socket.AF_INET, socket.SOCK_RAW, IPPROTO_ESP))
        with within(SIDES[1]):
            receiver = self.enterContext(
                socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        receiver.bind((ends[1], 7777))
        receiver.settimeout(SOON)
        # a datagram, no padding but its length, and what comes next (RFC 4303)
        clear = struct.pack("!HHHH", 7777, 7777, 8 + size, 0) + DATA[:size] + \
            bytes([0, socket.IPPROTO_UDP])
        with Session() as ses:
            sealed = ses.crypt(clear)
        numbers = itertools.count(1)
        self.addCleanup(self.control, "fault wrong 0")

        def spoiled() -> bool:
            before = self.control.stats()["wrong"]
            packet = struct.pack("!II", 101, next(numbers)) + DATA[9:25] + \
                sealed
            # the MAC is behind all of it
            self.control(f"fault wrong 1 {len(packet)}")
            packet += hmac.digest(mackey, packet, "sha1")[:12]
            sender.sendto(packet, (ends[1], 0))
            self.assertEqual(DATA[:size], receiver.recv(65536))
            return self.control.stats()["wrong"] > before
        self.assertTrue(wait_for(spoiled, SOON))


class Queues(Card):
    """A card with two data queues, one for each CPU.  QEMU 7.2 hands only the
    first queue to the card's process.  It fails all requests on the second
    itself."""

    def setUp(self):
        """Self-tests run on the first CPU: in the task that binds the driver,
        and in the worker that recovers a failed card."""
        cpus = os.sched_getaffinity(0)
        os.sched_setaffinity(0, {0})
        self.find_anew()
        os.sched_setaffinity(0, cpus)
        self.addCleanup(write, WORKERS, WORKERS.read_text().strip())
        write(WORKERS, "1")

    def test_one_is_broken(self):
        before = self.failed()
        with self.load() as load:
            for _ in range(3):
                self.assertTrue(wait_for(
                    lambda: self.device.state() == "ready", SOON))
                self.assertTrue(load.goes_on())
            self.assertTrue(wait_for(lambda: self.failed() > before, SOON))
        self.assertEqual([], load.wrong)
        self.assertLess(0, self.control.stats()["done0"])

    def failed(self) -> int:
        return self.device.counter("errors")


class Killed(Card):
    def test_in_the_middle(self):
        """The driver notices that the process was killed only because no answer
        comes."""
        self.control("set latency_ns=300000000")
        with self.load() as load:
            self.assertTrue(wait_for(
                lambda: self.control.stats()["inside"] > 1, SOON))
            replays = self.device.counter("replays")
            self.control.send("die")
            self.assertTrue(wait_for(
                lambda: self.device.state() == "suspect", SOON))
            self.assertTrue(load.goes_on())
            self.assertTrue(wait_for(
                lambda: self.device.counter("replays") > replays, SOON))
            time.sleep(3 * PATIENCE_S)
            self.assertEqual("suspect", self.device.state())
            self.assertTrue(load.goes_on())
        self.assertEqual([], load.wrong)


if __name__ == "__main__":
    unittest.main(verbosity=2)
