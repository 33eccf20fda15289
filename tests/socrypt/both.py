#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""In the test machine: two sockets that both have keys.

    tests/socrypt/both.py [UNITTEST...]		OCF_SEED from the environment
"""

import errno
import fcntl
import os
import pathlib
import random
import select
import socket
import struct
import sys
import threading
import time
import unittest

sys.dont_write_bytecode = True
sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[i] / folder)
                for i, folder in ((0, ""), (1, "lib"))]

import so_crypt as so  # noqa: E402
from ocf import wait_for  # noqa: E402
from send import SEED, crypt_of, rows  # noqa: E402

SOON = 300
FIONREAD, SIOCOUTQ = 0x541b, 0x5411
TCP_CLOSE = 7
SO_TIMESTAMPING = 37
TX_SOFTWARE = 1 << 1 | 1 << 4 | 1 << 11     # SOF_TIMESTAMPING_*, no data


def joined(crypt: so.Crypt, family: int = socket.AF_INET) -> tuple:
    """One sends, the other receives."""
    a, b = so.pair(family)
    for s, which in ((a, so.TX), (b, so.RX)):
        so.attach(s)
        s.setsockopt(so.SOL_OCF, which, crypt.pack())
    return a, b


def count(s: socket.socket, what: int) -> int:
    raw = bytearray(4)
    fcntl.ioctl(s, what, raw)
    return struct.unpack("i", raw)[0]


def tcp_state(s: socket.socket) -> int:
    return s.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1)[0]


class Both(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.rng = random.Random(SEED)

    def crypt(self) -> so.Crypt:
        return crypt_of(self.rng, so.TLS_1_3, "aes-gcm", 128)

    def pass_on(self, a, b, data: bytes) -> None:
        """All that @a sends arrives at @b."""
        writer = threading.Thread(target=lambda: (
            a.sendall(data), a.shutdown(socket.SHUT_WR)))
        writer.start()
        got = bytearray()
        while piece := b.recv(self.rng.choice((1, 100, 20000, 1 << 20))):
            got += piece
        writer.join(SOON)
        self.assertEqual(len(data), len(got))
        self.assertTrue(data == got)
        a.close()
        b.close()

    def test_every_row(self):
        for args, kw in rows():
            for size in (0, 1, 16384, 100000):
                with self.subTest(row=args, **kw, size=size):
                    a, b = joined(crypt_of(self.rng, *args, **kw))
                    self.pass_on(a, b, self.rng.randbytes(size))

    def test_a_lot(self):
        a, b = joined(self.crypt())
        self.pass_on(a, b, self.rng.randbytes(8 << 20))

    def test_no_memory(self):
        """TCP has no memory for a while, several times: data that send()
        accepted arrive afterwards, on every connection."""
        memory = pathlib.Path("/proc/sys/net/ipv4/tcp_mem")
        self.addCleanup(memory.write_text, memory.read_text())
        pairs = [joined(self.crypt()) for _ in range(10)]
        data = self.rng.randbytes(3 << 20)
        right = []

        def read(sock: socket.socket) -> None:
            got = bytearray()
            while piece := sock.recv(1 << 16):
                got += piece
            right.append(got == data)

        def write(sock: socket.socket) -> None:
            sock.sendall(data)
            sock.shutdown(socket.SHUT_WR)

        threads = [threading.Thread(target=f, args=(s,), daemon=True)
                   for a, b in pairs for f, s in ((write, a), (read, b))]
        for t in threads:
            t.start()
        plenty = memory.read_text()
        for _ in range(3):
            time.sleep(0.3)
            memory.write_text("8 12 16")
            time.sleep(1.5)
            memory.write_text(plenty)
        end = time.monotonic() + SOON
        for t in threads:
            t.join(max(0, end - time.monotonic()))
        self.assertEqual([True] * len(pairs), right)
        for s in (s for pair in pairs for s in pair):
            s.close()

    def test_peer_that_is_done_before(self):
        """The peer has sent everything and shut down before the keys are
        set."""
        a, b = so.pair()
        crypt = self.crypt()
        so.attach(a)
        a.setsockopt(so.SOL_OCF, so.TX, crypt.pack())
        a.sendall(b"all")
        a.shutdown(socket.SHUT_WR)
        self.assertEqual(b"\x17", b.recv(1, socket.MSG_PEEK))
        so.attach(b)
        b.setsockopt(so.SOL_OCF, so.RX, crypt.pack())
        self.assertEqual(b"all", b.recv(100))
        self.assertEqual(b"", b.recv(100))
        b.setsockopt(so.SOL_OCF, so.TX, crypt.pack())
        b.sendall(b"answer")
        self.assertEqual(b"\x17", a.recv(1))

    def test_more_is_not_waited_for(self):
        """A full record is sent at once, even with MSG_MORE."""
        a, b = joined(self.crypt())
        data = self.rng.randbytes(16384)
        a.send(data, socket.MSG_MORE)
        so.limit(b, SOON)
        self.assertEqual(data, b.recv(16384, socket.MSG_WAITALL))
        a.send(b"open", socket.MSG_MORE)
        so.limit(b, 1)
        self.assertRaises(BlockingIOError, b.recv, 10)
        a.send(b" no more")
        so.limit(b, SOON)
        self.assertEqual(b"open no more", b.recv(100))

    def stuck(self) -> tuple:
        """Returns a sender that can send no more, its peer, which does not
        read, and the data sent so far."""
        a, b = joined(self.crypt())
        for s, option in ((a, socket.SO_SNDBUF), (b, socket.SO_RCVBUF)):
            s.setsockopt(socket.SOL_SOCKET, option, 8192)
        data = self.rng.randbytes(8 << 20)
        a.setblocking(False)
        sent = 0
        room = select.poll()
        room.register(a, select.POLLOUT)
        # what is acknowledged late makes room once more
        while room.poll(1000):
            try:
                sent += a.send(data[sent:sent + 100000])
            except BlockingIOError:
                pass
        return a, b, data[:sent]

    def test_close_waits_for_no_peer(self):
        """What was written arrives, although the peer reads nothing before the
        call returns."""
        for end in (lambda a: a.close(),
                    lambda a: a.shutdown(socket.SHUT_WR)):
            a, b, data = self.stuck()
            end(a)
            got = bytearray()
            while piece := b.recv(1 << 16):
                got += piece
            self.assertTrue(data == got)
            b.close()

    def test_shutdown_stops_who_writes(self):
        a, b, _ = self.stuck()
        a.setblocking(True)
        ended = []

        def write():
            try:
                a.sendall(bytes(8 << 20))
            except OSError as e:
                ended.append(e.errno)
        writer = threading.Thread(target=write)
        writer.start()
        time.sleep(0.3)
        a.shutdown(socket.SHUT_RDWR)
        writer.join(SOON)
        self.assertEqual([errno.EPIPE], ended)
        b.close()

    def test_shutdown_of_nothing(self):
        """It is refused, and changes nothing."""
        a, b, _ = self.stuck()
        room = a.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF)
        for how in (3, -1, 1 << 30):
            with self.assertRaises(OSError) as e:
                a.shutdown(how)
            self.assertEqual(errno.EINVAL, e.exception.errno)
        self.assertEqual(room, a.getsockopt(socket.SOL_SOCKET,
                                            socket.SO_SNDBUF))
        self.assertRaises(BlockingIOError, a.send, b"x")
        b.close()

    def test_reset_after_data(self):
        """The reader gets the data from before the reset first, and then the
        error."""
        for size in (10, 3 * 16384, 100000):
            a, b = joined(self.crypt())
            data = self.rng.randbytes(size)
            a.sendall(data)
            self.assertTrue(wait_for(lambda a=a: not count(a, SIOCOUTQ), SOON))
            so.reset(a)
            self.assertTrue(wait_for(lambda b=b: tcp_state(b) == TCP_CLOSE,
                                     SOON))
            got = b.recv(1 << 20)
            self.assertEqual(data[:len(got)], got)
            self.assertTrue(got)
            with self.assertRaises(ConnectionResetError):
                while piece := b.recv(1 << 20):
                    got += piece
            b.close()

    def test_poll_beside_the_error_queue(self):
        a, b = joined(self.crypt())
        ready = select.poll()
        ready.register(b, select.POLLIN)
        # a time stamp, by the kernel, when what is sent goes
        b.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPING, TX_SOFTWARE)
        b.send(b"in the clear")
        self.assertEqual([(b.fileno(), select.POLLERR)], ready.poll(SOON * 1000))
        a.sendall(b"a record")
        end = time.monotonic() + 10
        while time.monotonic() < end:
            if ready.poll(1000)[0][1] & select.POLLIN:
                break
        self.assertEqual([(b.fileno(), select.POLLERR | select.POLLIN)],
                         ready.poll(0))
        self.assertEqual(b"a record", b.recv(100))
        a.close()
        b.close()

    def test_little_that_is_not_sent(self):
        """TCP_NOTSENT_LOWAT also counts records that TCP does not have yet.
        All records are still sent."""
        for most in (1, 1000, 20000, 100000):
            with self.subTest(most=most):
                a, b = joined(self.crypt())
                a.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, most)
                self.pass_on(a, b, self.rng.randbytes(1 << 20))

    def test_low_water_mark(self):
        """SO_RCVLOWAT works as on TCP, but counts bytes of payload.  It can be
        set before or after the keys."""
        for early in (True, False):
            with self.subTest(early=early):
                a, b = so.pair()
                if early:
                    b.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, 5000)
                crypt = self.crypt()
                for s, which in ((a, so.TX), (b, so.RX)):
                    so.attach(s)
                    s.setsockopt(so.SOL_OCF, which, crypt.pack())
                if not early:
                    b.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, 5000)
                poll = select.poll()
                poll.register(b, select.POLLIN)
                a.sendall(b"x" * 3000)
                self.assertTrue(wait_for(lambda: count(b, FIONREAD) == 3000,
                                         SOON))
                self.assertEqual([], poll.poll(0))
                a.sendall(b"y" * 2000)
                self.assertEqual([(b.fileno(), select.POLLIN)],
                                 poll.poll(SOON * 1000))
                self.assertEqual(b"x" * 3000 + b"y" * 2000, b.recv(6000))
                a.sendall(b"few")
                self.assertTrue(wait_for(lambda: count(b, FIONREAD) == 3, SOON))
                self.assertEqual([], poll.poll(0))
                self.assertEqual(b"few", b.recv(100, socket.MSG_DONTWAIT))
                # a record of another type makes the socket readable below the
                # mark, and so does the end
                a.sendall(b"few")
                a.sendmsg([b"\1\0"], [(so.SOL_OCF, so.TYPE, bytes([21]))])
                for want in b"few", b"\1\0":
                    self.assertTrue(poll.poll(SOON * 1000))
                    self.assertEqual(want, b.recvmsg(100, 100)[0])
                # a lower mark wakes a task that polls
                a.sendall(b"few")
                self.assertTrue(wait_for(lambda: count(b, FIONREAD) == 3, SOON))
                lower = threading.Timer(0.3, b.setsockopt, (
                    socket.SOL_SOCKET, socket.SO_RCVLOWAT, 3))
                lower.start()
                self.assertTrue(poll.poll(SOON * 1000))
                lower.join()
                self.assertEqual(b"few", b.recv(100))
                a.shutdown(socket.SHUT_WR)
                self.assertTrue(poll.poll(SOON * 1000))
                self.assertEqual(b"", b.recv(100))

    def test_splice(self):
        a, b = joined(self.crypt())
        data = self.rng.randbytes(300000)
        writer = threading.Thread(target=lambda: (
            a.sendall(data), a.shutdown(socket.SHUT_WR)))
        writer.start()
        got = b""
        r, w = os.pipe()
        while n := os.splice(b.fileno(), w, self.rng.choice((1, 5000, 65536))):
            got += os.read(r, n)
        writer.join(SOON)
        self.assertTrue(data == got)

    def test_poll(self):
        """A part of a record is nothing to read."""
        raw, b = so.pair()
        so.attach(b)
        crypt = self.crypt()
        c, d = so.pair()
        so.attach(c)
        c.setsockopt(so.SOL_OCF, so.TX, crypt.pack())
        c.sendall(b"some text")
        record = d.recv(1000)
        b.setsockopt(so.SOL_OCF, so.RX, crypt.pack())
        b.setblocking(False)
        poll = select.poll()
        poll.register(b, select.POLLIN)
        for byte in record:
            self.assertEqual([], poll.poll(0))
            with self.assertRaises(BlockingIOError):
                b.recv(100)
            raw.sendall(bytes([byte]))
        self.assertEqual([(b.fileno(), select.POLLIN)], poll.poll(SOON * 1000))
        self.assertEqual(b"some", b.recv(4))
        self.assertEqual([(b.fileno(), select.POLLIN)], poll.poll(0))
        self.assertEqual(b" text", b.recv(400))
        self.assertEqual([], poll.poll(0))

    def test_how_much_there_is(self):
        """FIONREAD counts the bytes of opened records of one type.  SIOCOUTQ
        also counts data that TCP does not have yet."""
        a, b = joined(self.crypt())
        self.assertEqual((0, 0), (count(b, FIONREAD), count(a, SIOCOUTQ)))
        data = self.rng.randbytes(40000)
        a.sendall(data)
        self.assertTrue(wait_for(lambda: count(b, FIONREAD) == 40000, SOON))
        self.assertEqual(data[:100], b.recv(100))
        self.assertEqual(39900, count(b, FIONREAD))
        self.assertEqual(data[100:30100], b.recv(30000, socket.MSG_PEEK))
        self.assertEqual(39900, len(b.recv(50000, socket.MSG_PEEK)))
        more = threading.Timer(0.3, a.sendall, (data[:5000],))
        more.start()
        self.assertEqual(data[100:] + data[:5000], b.recv(
            44900, socket.MSG_PEEK | socket.MSG_WAITALL))
        more.join()
        data += data[:5000]
        a.sendmsg([b"\1\0"], [(so.SOL_OCF, so.TYPE, bytes([21]))])
        a.sendall(b"more")
        time.sleep(0.2)
        self.assertEqual(44900, count(b, FIONREAD))
        self.assertEqual(data[100:], b.recv(50000))
        a.sendmsg([b"\1\0"], [(so.SOL_OCF, so.TYPE, bytes([21]))])
        for what in socket.MSG_PEEK, 0:
            self.assertEqual(2, count(b, FIONREAD))
            self.assertEqual(b"\1\0", b.recvmsg(9, 100, what)[0])
        self.assertEqual(b"more", b.recv(100))
        self.assertTrue(wait_for(lambda: not count(a, SIOCOUTQ), SOON))
        a.send(data[:1000], socket.MSG_MORE)
        self.assertEqual(1000, count(a, SIOCOUTQ))

    def test_what_is_thrown_away(self):
        a, b = joined(self.crypt())
        data = self.rng.randbytes(30000)
        a.sendall(data)
        room = bytearray(20000)
        self.assertEqual(20000, b.recv_into(
            room, 20000, socket.MSG_TRUNC | socket.MSG_WAITALL))
        self.assertEqual(bytes(20000), room)
        self.assertEqual(data[20000:], b.recv(10000, socket.MSG_WAITALL))
        with self.assertRaises(OSError) as e:
            b.recv(1, socket.MSG_OOB)
        self.assertEqual(errno.EINVAL, e.exception.errno)

    def test_who_does_not_wait_waits_for_nobody(self):
        """While one thread waits for room, a send with MSG_DONTWAIT fails at
        once with EAGAIN.  All data that were accepted arrive, and records are
        not mixed up."""
        a, b = joined(self.crypt())
        a.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 100000)
        b.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 100000)
        data = self.rng.randbytes(4 << 20).replace(b"x", b"").replace(b"y", b"")
        writers = [threading.Thread(target=a.sendall, args=(what,))
                   for what in (data, b"y" * 100000)]
        writers[0].start()
        self.assertTrue(wait_for(lambda: not select.select(
            [], [a], [], 0.2)[1], SOON))
        sent = 0
        # select() says that there is no room a little before send() does
        with self.assertRaises(BlockingIOError):
            while sent < 1 << 20:
                sent += a.send(b"x" * 1000, socket.MSG_DONTWAIT)
        writers[1].start()
        got = bytearray()
        while len(got) < len(data) + 100000 + sent:
            got += b.recv(1 << 20)
        for w in writers:
            w.join()
        self.assertEqual((sent, 100000), (got.count(b"x"), got.count(b"y")))
        self.assertTrue(
            data == got.replace(b"x", b"").replace(b"y", b""))

    def test_types(self):
        """One read never returns data together with a record of another
        type."""
        a, b = joined(self.crypt())
        a.sendall(b"first")
        a.sendmsg([b"\1\0"], [(so.SOL_OCF, so.TYPE, bytes([21]))])
        a.sendall(b"second", socket.MSG_MORE)
        a.sendmsg([b"xyz"], [(so.SOL_OCF, so.TYPE, bytes([22]))])
        a.sendall(b"third")
        self.assertEqual(b"first", b.recv(5, socket.MSG_PEEK))
        self.assertEqual((b"first", []), b.recvmsg(100, 100)[:2])
        with self.assertRaises(OSError) as e:
            b.recv(100)
        self.assertEqual(errno.EIO, e.exception.errno)
        alert = [(so.SOL_OCF, so.TYPE, bytes([21]))]
        self.assertEqual((b"\1", alert), b.recvmsg(1, 100)[:2])
        self.assertEqual((b"\0", alert), b.recvmsg(100, 100)[:2])
        self.assertEqual(b"second", b.recv(100))
        self.assertEqual((b"xyz", [(so.SOL_OCF, so.TYPE, bytes([22]))]),
                         b.recvmsg(100, 100)[:2])
        self.assertEqual(b"third", b.recv(100))

    def test_key_update(self):
        a, b = joined(self.crypt())
        for i in range(3):
            a.sendmsg([b"\x18\0\0\1\0"], [(so.SOL_OCF, so.TYPE, bytes([22]))])
            new = self.crypt()
            a.setsockopt(so.SOL_OCF, so.TX, new.pack())
            a.sendall(b"after" * 10000)
            self.assertEqual(b"\x18\0\0\1\0", b.recvmsg(100, 100)[0])
            with self.assertRaises(OSError) as e:
                b.recv(100)
            self.assertEqual(errno.EKEYEXPIRED, e.exception.errno)
            # a task that polls sleeps until the new keys are set
            poll = select.poll()
            poll.register(b, select.POLLIN)
            self.assertEqual([], poll.poll(100))
            b.setsockopt(so.SOL_OCF, so.RX, new.pack())
            self.assertTrue(poll.poll(SOON * 1000))
            self.assertEqual(b"after" * 10000,
                             b.recv(50000, socket.MSG_WAITALL))
            self.assertEqual(i + 2, so.info(b, so.RX)["keys"])

    def test_messages(self):
        """A KeyUpdate is recognised even in parts or behind other messages.  No
        other message is taken for one."""
        ticket = b"\4\0\1\0" + b"\x18" * 256
        update = b"\x18\0\0\1\0"
        for parts, ends in (
                ([ticket], False), ([ticket[:5], ticket[5:]], False),
                ([ticket[:2], ticket[2:90], ticket[90:]], False),
                ([b"\4\0\0\0", ticket], False), ([ticket + update], True),
                ([ticket[:20], ticket[20:] + update], True),
                ([update[:1], update[1:]], True),
                ([update[:4], update[4:]], True)):
            with self.subTest(parts=[len(p) for p in parts]):
                a, b = joined(self.crypt())
                for part in parts:
                    a.sendmsg([part], [(so.SOL_OCF, so.TYPE, bytes([22]))])
                    self.assertEqual(part, b.recvmsg(1000, 100)[0])
                new = self.crypt()
                if ends:
                    a.setsockopt(so.SOL_OCF, so.TX, new.pack())
                a.sendall(b"after")
                if ends:
                    with self.assertRaises(OSError) as e:
                        b.recv(100)
                    self.assertEqual(errno.EKEYEXPIRED, e.exception.errno)
                    b.setsockopt(so.SOL_OCF, so.RX, new.pack())
                self.assertEqual(b"after", b.recv(100))


if __name__ == "__main__":
    print(f"OCF_SEED={SEED}", flush=True)
    unittest.main(verbosity=2, warnings="ignore")
