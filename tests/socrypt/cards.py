#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""In the test machine: sockets on cards that are slow, fail, and go.

    tests/socrypt/cards.py [UNITTEST...]		OCF_SEED from the environment
"""

import errno
import os
import pathlib
import random
import socket
import sys
import tempfile
import threading
import unittest
from dataclasses import replace

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(TOP / "tests" / "lib"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import so_crypt as so  # noqa: E402
from both import SOON, joined  # noqa: E402
from ocf import Device, wait_for, write  # noqa: E402
from records import seal  # noqa: E402
from send import SEED, Peer, crypt_of  # noqa: E402

SIM = pathlib.Path("/sys/bus/platform/drivers/ocf_sim")
SIZE = 6 << 20


def has_ended(pid: int) -> bool:
    """Whether a child has ended, which is left to be waited for."""
    return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG |
                     os.WNOWAIT) is not None


class Cards(unittest.TestCase):
    options = "algs=real latency_ns=300000 patience=3000"

    @classmethod
    def setUpClass(cls):
        cls.rng = random.Random(SEED)
        write("/sys/module/ocf/parameters/recheck", 0)

    def setUp(self):
        self.names = ["sim0", "sim1"]
        for _ in self.names:
            write(SIM / "add", self.options)
        self.data = self.rng.randbytes(SIZE)
        self.file = tempfile.TemporaryFile()
        self.file.write(self.data)
        self.file.flush()

    def tearDown(self):
        self.file.close()
        for name in self.names:
            if Device(name).exists():
                write(SIM / "remove", name)

    def crypt(self, flags: int = so.HARDWARE) -> so.Crypt:
        return crypt_of(self.rng, so.TLS_1_2, "aes-gcm", 128, flags=flags)

    def operations(self) -> int:
        return sum(Device(n).counter("operations") for n in self.names
                   if Device(n).exists())

    def transfer(self, crypt: so.Crypt, meanwhile=None, lowat=0) -> None:
        """Sends a file from one socket with keys to another.  @meanwhile is
        called after each read."""
        a, b = joined(crypt)
        a.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, lowat)
        writer = threading.Thread(target=lambda: (
            a.sendfile(self.file, 0), a.shutdown(socket.SHUT_WR)))
        got = bytearray()
        writer.start()
        while piece := b.recv(1 << 18):
            got += piece
            if meanwhile:
                meanwhile(len(got))
        writer.join(SOON)
        self.assertEqual(len(self.data), len(got))
        self.assertTrue(self.data == got)
        a.close()
        b.close()

    def test_all_of_it_is_done_by_cards(self):
        before = self.operations()
        self.transfer(self.crypt())
        self.assertLessEqual(before + 2 * SIZE // 16384, self.operations())

    def test_little_that_is_not_sent(self):
        """Records inside the cards count as not sent (TCP_NOTSENT_LOWAT), and
        still all of them go."""
        for lowat in (1, 40000):
            self.transfer(self.crypt(), lowat=lowat)

    def test_many_in_flight(self):
        """Over both cards at once, and in order."""
        self.assertTrue(any(self.most_in_flight() > 4 for _ in range(10)))
        for name in self.names:
            self.assertLess(20, Device(name).counter("operations"))

    def most_in_flight(self) -> int:
        a, b = so.pair()
        so.attach(a)
        crypt = self.crypt()
        a.setsockopt(so.SOL_OCF, so.TX, crypt.pack())
        a.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
        peer = Peer(b, crypt)
        most = [0]
        stop = []

        def look():
            while not stop:
                most[0] = max(most[0], so.info(a)["in_flight"])
        looker = threading.Thread(target=look)
        looker.start()
        a.sendfile(self.file, 0)
        stop.append(1)
        looker.join()
        a.close()
        self.assertTrue(self.data == peer.all())
        return most[0]

    def test_nobody_waits_for_new_keys(self):
        """Records that are in cards, or wait for cards, keep the old keys."""
        for args in ((so.TLS_1_3, "aes-gcm", 128),
                     (so.TLS_1_0, "aes-cbc", 128, "hmac-sha1", so.ETM)):
            old, new, newer = (crypt_of(self.rng, *args[:4],
                                        flags=sum(args[4:], so.HARDWARE))
                               for _ in range(3))
            with self.subTest(args=args):
                a, b = joined(old)
                a.setblocking(False)
                for name in self.names:
                    write(Device(name).path / "device" / "hold", 1)
                for i, keys in enumerate((new, newer, None)):
                    self.assertEqual(40000, a.send(
                        self.data[i * 40000:][:40000]))
                    self.assertLess(2 * i, so.info(a, so.TX)["in_flight"])
                    if keys:
                        a.setsockopt(so.SOL_OCF, so.TX, keys.pack())
                for name in self.names:
                    write(Device(name).path / "device" / "hold", 0)
                for i, keys in enumerate((None, new, newer)):
                    if keys:
                        b.setsockopt(so.SOL_OCF, so.RX, keys.pack())
                    got = b.recv(40000, socket.MSG_WAITALL)
                    self.assertTrue(self.data[i * 40000:][:40000] == got)
                a.close()
                b.close()

    def test_nobody_waits_for_a_slow_card(self):
        """While a card makes the session of new keys, others send."""
        for name in self.names:
            write(Device(name).path / "device/context_ns", 1_000_000_000)
        a, b = joined(self.crypt(so.SOFTWARE))
        self.assertTrue(any(self.sends_meanwhile(a, b) for _ in range(5)))
        a.close()
        b.close()

    def sends_meanwhile(self, a, b) -> bool:
        """Whether a record was sent before the new keys were there."""
        crypt = self.crypt()
        # a process: Python's own lock is held by setsockopt()
        pid = os.fork()
        if not pid:
            try:
                a.setsockopt(so.SOL_OCF, so.TX, crypt.pack())
            finally:
                os._exit(0)
        stack = pathlib.Path(f"/proc/{pid}/stack")
        wait_for(lambda: has_ended(pid) or "ocf_keys_make_context" in
                 stack.read_text(), SOON)
        a.send(b"meanwhile", socket.MSG_DONTWAIT)
        first = not has_ended(pid)
        self.assertEqual((pid, 0), os.waitpid(pid, 0))
        if not first:
            b.setsockopt(so.SOL_OCF, so.RX, crypt.pack())
        self.assertEqual(b"meanwhile", b.recv(100))
        if first:
            b.setsockopt(so.SOL_OCF, so.RX, crypt.pack())
        return first

    def test_unplugged(self):
        """A card goes in the middle, and the other one, and comes back."""
        marks = [SIZE // 8 * i for i in range(1, 8)]

        def pull(done: int) -> None:
            if marks and done > marks[0]:
                name = self.names[len(marks) % 2]
                marks.pop(0)
                write(SIM / "remove", name)
                write(SIM / "add", self.options)
        for flags in (0, so.HARDWARE):
            marks[:] = [SIZE // 8 * i for i in range(1, 8)]
            self.transfer(self.crypt(flags), pull)
            self.assertEqual([], marks)

    def test_faults(self):
        for fault in ("busy 9", "error 3", "lost 2", "late 2 0 5000",
                      "double 3"):
            with self.subTest(fault=fault):
                write(Device("sim0").path / "device/fault", fault)
                self.transfer(self.crypt(0))
                write(Device("sim0").path / "device/fault", "none")
                self.assertTrue(wait_for(
                    lambda: Device("sim0").state() == "ready", SOON))

    def test_no_card_is_left(self):
        """Nothing is sent in the clear, and the peer notices that data are
        missing."""
        a, b = so.pair()
        so.attach(a)
        crypt = self.crypt()
        a.setsockopt(so.SOL_OCF, so.TX, crypt.pack())
        peer = Peer(b, crypt)
        a.sendall(b"text")
        self.assertTrue(wait_for(lambda: not so.info(a)["in_flight"], SOON))
        for name in self.names:
            write(SIM / "remove", name)
        with self.assertRaises(OSError) as e:
            for _ in range(1000):
                a.sendall(self.data[:100000])
        self.assertIn(e.exception.errno, (errno.ENODEV, errno.EPIPE))
        for how in (socket.SHUT_WR, socket.SHUT_RDWR):
            with self.assertRaises(OSError) as e:
                a.shutdown(how)
            self.assertEqual(errno.ENODEV, e.exception.errno)
        a.close()
        with self.assertRaises(ConnectionResetError):
            peer.all()
        self.assertEqual(b"text", peer.records[0][1])

    def test_shutdown_beside_who_writes(self):
        """Bytes that send() accepted arrive, even if they are still inside a
        card at shutdown()."""
        for name in self.names:
            write(Device(name).path / "device/latency_ns", 300_000_000)
        a, b = joined(self.crypt())
        a.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 65536)
        taken = [0]

        def send():
            try:
                while True:
                    at = taken[0]
                    taken[0] += a.send(self.data[at:at + 1000])
            except BrokenPipeError:
                pass
        writer = threading.Thread(target=send)
        writer.start()
        self.assertTrue(wait_for(lambda: taken[0] > 20000, SOON))
        a.shutdown(socket.SHUT_WR)
        writer.join(SOON)
        got = bytearray()
        while piece := b.recv(1 << 16):
            got += piece
        self.assertLess(0, taken[0])
        self.assertEqual(taken[0], len(got))
        self.assertTrue(self.data[:taken[0]] == got)
        a.close()
        b.close()

    def opened_by_cards(self) -> tuple:
        """A socket that sends, and one that has cards open the records."""
        crypt = self.crypt()
        a, b = so.pair()
        for s, which, flags in ((a, so.TX, so.SOFTWARE),
                                (b, so.RX, so.HARDWARE)):
            so.attach(s)
            s.setsockopt(so.SOL_OCF, which,
                         replace(crypt, flags=flags).pack())
        return a, b

    def reset_while_opened(self) -> bool:
        """Returns whether a reader's timeout ends while the card still opens a
        record."""
        a, b = self.opened_by_cards()
        so.limit(b, 0.1)
        a.sendall(b"a record")
        so.reset(a)
        try:
            b.recv(100)
        except BlockingIOError:
            so.limit(b, SOON)
            self.assertEqual(b"a record", b.recv(100))
            self.assertRaises(ConnectionResetError, b.recv, 100)
            return True
        finally:
            b.close()
        return False

    def test_reset_while_a_record_is_opened(self):
        """After a reset, a reader sleeps while the card opens its record, which
        takes a second.  A busy machine may be slower, so the test tries five
        times."""
        for name in self.names:
            write(Device(name).path / "device/latency_ns", 1_000_000_000)
        self.assertTrue(any(self.reset_while_opened() for _ in range(5)))

    def test_keys_with_too_few_numbers(self):
        """Records for which the new keys have no number left wait for the next
        keys."""
        old, new, newer = (crypt_of(self.rng, so.TLS_1_3, "aes-gcm", 128,
                                    flags=so.HARDWARE) for _ in range(3))
        new = replace(new, number=2**64 - 2)
        a, b = so.pair()
        so.attach(b)
        so.limit(b, SOON)
        b.setsockopt(so.SOL_OCF, so.RX, old.pack())
        for name in self.names:
            write(Device(name).path / "device/hold", 1)
        a.sendall(seal(old, b"\x18\0\0\1\0\x16") + seal(new, b"one\x17") +
                  seal(newer, b"two\x17") +
                  seal(replace(newer, number=1), b"three\x17"))
        self.assertTrue(wait_for(
            lambda: so.info(b, so.RX)["in_flight"] == 4, SOON))
        for name in self.names:
            write(Device(name).path / "device/hold", 0)
        self.assertEqual(b"\x18\0\0\1\0", b.recvmsg(100, 100)[0])
        b.setsockopt(so.SOL_OCF, so.RX, new.pack())
        self.assertEqual(b"one", b.recv(100))
        with self.assertRaises(OSError) as e:
            b.recv(100)
        self.assertEqual(errno.EKEYEXPIRED, e.exception.errno)
        b.setsockopt(so.SOL_OCF, so.RX, newer.pack())
        self.assertEqual(b"twothree", b.recv(8, socket.MSG_WAITALL))
        a.close()
        b.close()

    def test_killed_while_it_sets_keys(self):
        """New keys wait for the records that cards open with the old ones."""
        for name in self.names:
            write(SIM / "remove", name)
            write(SIM / "add", "algs=real patience=60000")
            write(Device(name).path / "device/hold", 1)
        a, b = self.opened_by_cards()
        a.sendall(b"a record")
        self.assertTrue(wait_for(
            lambda: so.info(b, so.RX)["in_flight"] == 1, SOON))
        pid = os.fork()
        if not pid:
            try:
                b.setsockopt(so.SOL_OCF, so.RX, self.crypt().pack())
            finally:
                os._exit(1)
        stat = pathlib.Path(f"/proc/{pid}/stat")
        self.assertTrue(wait_for(
            lambda: stat.read_text().rsplit(")", 1)[1].split()[0] == "D",
            SOON))
        os.kill(pid, 9)
        self.assertEqual((pid, 9), os.waitpid(pid, 0))
        # the card has it still
        self.assertRaises(BlockingIOError, b.recv, 100, socket.MSG_DONTWAIT)
        for name in self.names:
            write(Device(name).path / "device/hold", 0)
        self.assertEqual(b"a record", b.recv(100))
        a.close()
        b.close()

    def test_closed_with_records_in_flight(self):
        """What was written is sent, close() or not."""
        for _ in range(20):
            a, b = so.pair()
            so.attach(a)
            crypt = self.crypt()
            a.setsockopt(so.SOL_OCF, so.TX, crypt.pack())
            peer = Peer(b, crypt)
            a.setblocking(False)
            n = a.send(self.data[:200000])
            a.close()
            self.assertTrue(self.data[:n] == peer.all())

    def test_killed_with_records_in_flight(self):
        for _ in range(20):
            a, b = joined(self.crypt())
            pid = os.fork()
            if not pid:
                try:
                    b.close()
                    while True:
                        a.sendfile(self.file, 0)
                finally:
                    os._exit(0)
            a.close()
            b.recv(self.rng.randrange(1, 300000))
            os.kill(pid, 9)
            if self.rng.randrange(2):
                b.close()
            self.assertEqual(pid, os.waitpid(pid, 0)[0])
            b.close()


if __name__ == "__main__":
    print(f"OCF_SEED={SEED}", flush=True)
    unittest.main(verbosity=2, warnings="ignore")
