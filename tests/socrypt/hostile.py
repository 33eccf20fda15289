#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""In the test machine: peers and callers that mean no good.

    tests/socrypt/hostile.py [UNITTEST...]	OCF_SEED, OCF_ROUNDS from the environment
"""

import contextlib
import ctypes
import errno
import fcntl
import mmap
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
from dataclasses import replace

sys.dont_write_bytecode = True
sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent),
                str(pathlib.Path(__file__).resolve().parents[1] / "lib")]

import so_crypt as so  # noqa: E402
from ocf import wait_for  # noqa: E402
from rounds import rounds  # noqa: E402
from both import joined  # noqa: E402
from records import seal  # noqa: E402
from send import SEED, crypt_of, rows  # noqa: E402

ROUNDS = rounds(400)
# <linux/userfaultfd.h>, and its call on x86-64
USERFAULTFD, UFFDIO_API, UFFDIO_REGISTER = 323, 0xc018aa3f, 0xc020aa00
WRONG = (errno.EBADMSG, errno.EPROTO, errno.EMSGSIZE, errno.ECONNABORTED)


def sessions() -> int:
    """How many there are, of anybody."""
    return pathlib.Path("/sys/kernel/debug/ocf/sessions").read_text().count(
        "\n")


class Hostile(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.rng = random.Random(SEED)

    def records(self, crypt: so.Crypt, texts: list) -> list:
        """What is sent for each of them."""
        a, b = so.pair()
        so.attach(a)
        a.setsockopt(so.SOL_OCF, so.TX, crypt.pack())
        out = []
        for text in texts:
            a.sendall(text)
            data = b.recv(5, socket.MSG_WAITALL)
            out.append(data + b.recv(int.from_bytes(data[3:], "big"),
                                     socket.MSG_WAITALL))
        a.close()
        b.close()
        return out

    def receive(self, crypt: so.Crypt, data: bytes) -> tuple:
        """Returns what can be read of @data before an error, and the error."""
        a, b = so.pair()
        so.attach(b)
        b.setsockopt(so.SOL_OCF, so.RX, crypt.pack())
        a.sendall(data)
        a.shutdown(socket.SHUT_WR)
        got, error = b"", 0
        try:
            while piece := b.recvmsg(50000, 100)[0]:
                got += piece
        except OSError as e:
            error = e.errno
            if error != errno.ECONNABORTED:     # it stays
                with self.assertRaises(OSError) as again:
                    b.recv(100)
                self.assertEqual(error, again.exception.errno)
        a.close()
        b.close()
        return got, error

    def mutate(self, data: bytes) -> bytes:
        """Returns a damaged copy of @data, or random bytes of the same
        length."""
        how, at = self.rng.randrange(6), self.rng.randrange(len(data))
        if how == 0:
            return data[:at] + bytes([data[at] ^ 1 << self.rng.randrange(
                8)]) + data[at + 1:]
        if how == 1:
            return data[:at]
        if how == 2:
            return data[:at] + data[at + 1:]
        if how == 3:
            return data[:at] + self.rng.randbytes(1) + data[at:]
        if how == 4:
            return data[:3] + self.rng.randbytes(2) + data[5:]
        return self.rng.randbytes(len(data))

    def test_mutated_records(self):
        every = rows()
        for i in range(ROUNDS):
            args, kw = every[i % len(every)]
            crypt = crypt_of(self.rng, *args, **kw)
            texts = [b"x" * self.rng.choice((1, 2, 15, 16, 17, 1000))
                     for _ in range(3)]
            if crypt.protocol == so.TLS_1_0:
                texts = [b"x"] * 3      # longer ones are two records
            good = self.records(crypt, texts)
            which = self.rng.randrange(3)
            bad = self.mutate(good[which])
            data = b"".join(good[:which]) + bad + b"".join(good[which + 1:])
            if data.startswith(b"".join(good[:which + 1])):
                continue
            with self.subTest(row=args, **kw, which=which):
                got, error = self.receive(crypt, data)
                self.assertEqual(b"".join(texts[:which]), got)
                if bad:
                    self.assertIn(error, WRONG)

    def test_order(self):
        for args, kw in rows():
            crypt = crypt_of(self.rng, *args, **kw)
            one, two, three = self.records(crypt, [b"a", b"b", b"c"])
            for data, want in ((two + one, b""), (one + one, b"a"),
                               (one + three, b"a"), (three, b"")):
                with self.subTest(row=args, **kw):
                    got, error = self.receive(crypt, data)
                    self.assertEqual((want, errno.EBADMSG), (got, error))

    def test_lengths(self):
        crypt = crypt_of(self.rng, so.TLS_1_2, "aes-gcm", 128)
        for length, want in ((0, errno.EBADMSG), (23, errno.EBADMSG),
                             (24, errno.EBADMSG), (18432, errno.EBADMSG),
                             (18433, errno.EMSGSIZE), (65535, errno.EMSGSIZE)):
            data = b"\x17\3\3" + struct.pack(">H", length) + bytes(length)
            self.assertEqual((b"", want), self.receive(crypt, data))
        # an impossible length is reported before other faults
        for header in (b"\x17\3\2", b"\x17\2\3", b"\0\0\0"):
            for length, want in ((100, errno.EPROTO), (0, errno.EBADMSG)):
                data = header + struct.pack(">H", length) + bytes(100)
                self.assertEqual((b"", want), self.receive(crypt, data))

    def test_another_type_outside(self):
        """Of TLS 1.3 it is always application_data (RFC 8446 5.2)."""
        crypt = crypt_of(self.rng, so.TLS_1_3, "aes-gcm", 128)
        for kind in range(20, 25):
            data = seal(crypt, b"text\x17", kind)
            want = (b"text", 0) if kind == 23 else (b"", errno.EPROTO)
            with self.subTest(kind):
                self.assertEqual(want, self.receive(crypt, data))

    def test_payloads_that_are_too_long(self):
        for protocol, end in ((so.TLS_1_2, b""), (so.TLS_1_3, b"\x17")):
            crypt = crypt_of(self.rng, protocol, "aes-gcm", 128)
            for length in (16383, 16384, 16385, 16386):
                text = self.rng.randbytes(length)
                want = (text, 0) if length <= 16384 else (b"", errno.EMSGSIZE)
                with self.subTest(protocol=protocol, length=length):
                    self.assertEqual(want, self.receive(
                        crypt, seal(crypt, text + end)))

    def test_a_key_update_before_another_message(self):
        """It counts wherever it is in a record of handshake messages."""
        crypt = crypt_of(self.rng, so.TLS_1_3, "aes-gcm", 128)
        update, ticket = b"\x18\0\0\1\0", b"\4\0\0\3abc"
        for messages in (update, ticket + update, update + ticket,
                         ticket + update + ticket):
            data = seal(crypt, messages + b"\x16")
            with self.subTest(messages):
                self.assertEqual((messages, errno.EKEYEXPIRED),
                                 self.receive(crypt, data))

    def refused(self, want: int, crypt: so.Crypt, which: int = so.TX,
                data: bytes = None) -> None:
        a, b = so.pair()
        so.attach(a)
        with self.assertRaises(OSError) as e:
            a.setsockopt(so.SOL_OCF, which, crypt.pack() if data is None
                         else data)
        self.assertEqual(want, e.exception.errno)
        a.sendall(b"as before")
        self.assertEqual(b"as before", b.recv(100))
        a.close()
        b.close()

    def test_bad_options(self):
        good = crypt_of(self.rng, so.TLS_1_2, "aes-gcm", 128)
        before = sessions()
        for changes in ({"cipher": "aes"}, {"cipher": ""}, {"mac": "hmac-sha1"},
                        {"key": bytes(15)}, {"key": b""}, {"iv": b""},
                        {"iv": bytes(5)}, {"protocol": 99}, {"flags": so.ETM},
                        {"flags": 1 << 31}, {"protocol": so.TLS_1_1},
                        {"cipher": "aes-cbc"}, {"maclen": 17},
                        {"framing": so.Framing(b"\0\0")}):
            with self.subTest(changes):
                for which in (so.TX, so.RX):
                    self.refused(errno.EINVAL, replace(good, **changes), which)
        # what was made before the refusal is gone; the core has some of its own
        # now and then
        self.assertTrue(wait_for(lambda: sessions() <= before))
        data = good.pack()
        for size in (0, 1, 4, 100, len(data) - 1, len(data) + 8):
            short = (data + bytes(8))[:size]
            self.refused(errno.EINVAL, good, data=short)
        # what a later kernel may know has to be zero
        more = struct.pack("=I", len(data) + 8) + data[4:]
        self.refused(errno.E2BIG, good, data=more + b"\1" * 8)
        a, _b = so.pair()
        so.attach(a)
        a.setsockopt(so.SOL_OCF, so.TX, more + bytes(8))
        self.refused(errno.ENOPROTOOPT, good, 77)

    def test_memory_of_sessions_is_limited(self):
        limit = pathlib.Path("/sys/module/ocf/parameters/max_session_bytes")
        usual = limit.read_text()
        data = crypt_of(self.rng, so.TLS_1_2, "aes-gcm", 128).pack()
        taken = []
        limit.write_text("65536")
        os.seteuid(12345)
        try:
            with self.assertRaises(OSError) as caught:
                for _ in range(100):
                    taken.append(so.pair())
                    so.attach(taken[-1][0])
                    taken[-1][0].setsockopt(so.SOL_OCF, so.TX, data)
            self.assertEqual(caught.exception.errno, errno.EDQUOT)
            self.assertGreater(len(taken), 4)
            # the one that was refused goes on when another has ended
            taken.pop(0)

            def goes() -> bool:
                with contextlib.suppress(OSError):
                    taken[-1][0].setsockopt(so.SOL_OCF, so.TX, data)
                    return True
                return False
            self.assertTrue(wait_for(goes))
        finally:
            os.seteuid(0)
            limit.write_text(usual)

    def test_the_same_key_again(self):
        crypt = crypt_of(self.rng, so.TLS_1_2, "aes-gcm", 128)
        a, _b = so.pair()
        so.attach(a)
        a.setsockopt(so.SOL_OCF, so.TX, crypt.pack())
        a.sendall(b"one")
        with self.assertRaises(OSError) as e:
            a.setsockopt(so.SOL_OCF, so.TX, crypt.pack())
        self.assertEqual(errno.EINVAL, e.exception.errno)
        self.assertEqual(1, so.info(a)["number"])

    def test_the_last_number(self):
        crypt = crypt_of(self.rng, so.TLS_1_2, "aes-gcm", 128,
                         number=2**64 - 3)
        a, b = so.pair()
        for s, which in ((a, so.TX), (b, so.RX)):
            so.attach(s)
            s.setsockopt(so.SOL_OCF, which, crypt.pack())
        for _ in range(2):
            a.sendall(b"text")
            self.assertEqual(b"text", b.recv(100))
        with self.assertRaises(OSError) as e:
            a.sendall(b"text")
        self.assertEqual(errno.EKEYEXPIRED, e.exception.errno)

    def test_no_number_comes_twice(self):
        """No record number is used twice, even for records that arrived before
        the new keys were set."""
        old, new = (crypt_of(self.rng, so.TLS_1_3, "aes-gcm", 128)
                    for _ in range(2))
        a, b = so.pair()
        so.attach(b)
        b.setsockopt(so.SOL_OCF, so.RX, old.pack())
        so.limit(b, 300)
        last = 2**64 - 2
        a.sendall(seal(old, b"\x18\0\0\1\0\x16") + b"".join(
            seal(replace(new, number=n), b"text\x17")
            for n in (last, last + 1, 0)))
        self.assertEqual(b"\x18\0\0\1\0", b.recvmsg(100, 100)[0])
        b.setsockopt(so.SOL_OCF, so.RX, replace(new, number=last).pack())
        self.assertEqual(b"text", b.recv(100))
        with self.assertRaises(OSError) as e:
            b.recv(100)
        self.assertEqual(errno.EKEYEXPIRED, e.exception.errno)

    def test_sockets_that_cannot(self):
        with socket.socket() as s:
            with self.assertRaises(OSError) as e:
                so.attach(s)
            self.assertEqual(errno.ENOTCONN, e.exception.errno)
        a, _b = so.pair()
        so.attach(a)
        with self.assertRaises(OSError) as e:
            so.attach(a)
        self.assertEqual(errno.EEXIST, e.exception.errno)
        with self.assertRaises(OSError) as e:
            so.info(a)
        self.assertEqual(errno.ENOENT, e.exception.errno)
        a.shutdown(socket.SHUT_WR)
        crypt = crypt_of(self.rng, so.TLS_1_2, "aes-gcm", 128)
        with self.assertRaises(OSError) as e:
            a.setsockopt(so.SOL_OCF, so.TX, crypt.pack())
        self.assertEqual(errno.ENOTCONN, e.exception.errno)

    def test_memory_that_is_not_there(self):
        """send() from memory that ends too early sends exactly the bytes that
        it reports."""
        libc = ctypes.CDLL(None, use_errno=True)
        area = mmap.mmap(-1, 16 * mmap.PAGESIZE)
        start = ctypes.addressof(ctypes.c_char.from_buffer(area))
        self.assertEqual(0, libc.mprotect(
            ctypes.c_void_p(start + 8 * mmap.PAGESIZE),
            ctypes.c_size_t(8 * mmap.PAGESIZE), 0))
        for there in (0, 1, 16383, 16384, 16385, 32767, 32768):
            crypt = crypt_of(self.rng, so.TLS_1_3, "aes-gcm", 128)
            a, b = joined(crypt)
            data = self.rng.randbytes(there)
            area[8 * mmap.PAGESIZE - there:8 * mmap.PAGESIZE] = data
            sent = libc.send(a.fileno(), ctypes.c_void_p(
                start + 8 * mmap.PAGESIZE - there), ctypes.c_size_t(50000), 0)
            if not there:
                self.assertEqual((-1, errno.EFAULT), (sent, ctypes.get_errno()))
            # it is looked at in pieces
            self.assertLessEqual(sent, there)
            a.shutdown(socket.SHUT_WR)
            got = b"".join(iter(lambda: b.recv(1 << 20), b""))
            self.assertEqual(max(sent, 0), len(got))
            self.assertTrue(got == data[:len(got)])
            a.close()
            b.close()

    def test_bad_messages(self):
        a, b = so.pair()
        so.attach(a)
        crypt = crypt_of(self.rng, so.TLS_1_2, "aes-gcm", 128)
        a.setsockopt(so.SOL_OCF, so.TX, crypt.pack())
        kind = (so.SOL_OCF, so.TYPE, bytes([21]))
        for cmsg, flags, want in (
                ([(so.SOL_OCF, 9, b"\0")], 0, errno.EINVAL),
                ([(so.SOL_OCF, so.TYPE, b"\0\0")], 0, errno.EINVAL),
                ([kind, kind], 0, errno.EINVAL),
                ([kind], socket.MSG_MORE, errno.EINVAL),
                ([], socket.MSG_OOB, errno.EOPNOTSUPP)):
            with self.assertRaises(OSError) as e:
                a.sendmsg([b"text"], cmsg, flags)
            self.assertEqual(want, e.exception.errno)
        a.close()
        self.assertEqual(b"", b.recv(100))


class Again(unittest.TestCase):
    """Keys that are set again, by somebody who knows what hurts."""

    def setUp(self):
        self.rng = random.Random(SEED)
        self.a, self.b = so.pair()
        so.attach(self.b)
        self.addCleanup(self.a.close)
        self.addCleanup(self.b.close)
        self.tls = crypt_of(self.rng, so.TLS_1_3, "aes-gcm", 128)

    def set(self, crypt: so.Crypt) -> None:
        self.b.setsockopt(so.SOL_OCF, so.RX, crypt.pack())

    def refused(self, crypt: so.Crypt) -> None:
        with self.assertRaises(OSError) as e:
            self.set(crypt)
        self.assertEqual(errno.EBUSY, e.exception.errno)

    def wait_for(self, n: int) -> None:
        self.assertTrue(wait_for(
            lambda: so.info(self.b, so.RX)["in_flight"] >= n))

    def test_longer_header_before(self):
        """More header bytes were read than the header has with the next
        keys."""
        framing = so.Framing(header=bytes(16), length_at=14,
                             flags=so.AUTH_HEADER, payload_max=1000)
        self.a.sendall(bytes(10))
        self.b.recv(10, socket.MSG_PEEK | socket.MSG_WAITALL)
        self.set(so.Crypt(so.FRAMED, "aes-gcm", bytes(16), iv=bytes(12),
                          framing=framing))
        self.refused(self.tls)
        self.a.sendall(self.rng.randbytes(5000))
        with self.assertRaises(OSError):
            self.b.recv(100)

    def test_other_sizes(self):
        """A record was already split into its parts.  Keys of another suite
        would split it differently, so they are refused."""
        self.set(self.tls)
        self.a.sendall(b"\x17\3\3\0\x11" + bytes(17))
        self.wait_for(1)
        for args, kw in rows():
            if args[0] != so.TLS_1_3:
                self.refused(crypt_of(self.rng, *args, **kw))
        # another key of the same suite is accepted, and the record is opened
        # with it
        self.set(crypt_of(self.rng, so.TLS_1_3, "aes-gcm", 128))
        with self.assertRaises(OSError) as e:
            self.b.recv(100)
        self.assertEqual(errno.EBADMSG, e.exception.errno)

    def test_half_read(self):
        so.attach(self.a)
        self.a.setsockopt(so.SOL_OCF, so.TX, self.tls.pack())
        self.set(self.tls)
        self.a.sendall(b"x" * 1000)
        self.assertEqual(b"x" * 10, self.b.recv(10))
        other = crypt_of(self.rng, so.TLS_1_3, "aes-gcm", 128)
        self.set(other)
        self.assertEqual(b"x" * 990, self.b.recv(2000))
        self.a.setsockopt(so.SOL_OCF, so.TX, other.pack())
        self.a.sendall(b"y")
        self.assertEqual(b"y", self.b.recv(10))


class Memory(unittest.TestCase):
    def test_small_records_count(self):
        """A socket keeps only as many records as its buffer allows, even if
        they are as small as possible."""
        rng = random.Random(SEED)
        a, b = so.pair()
        so.attach(b)
        b.setsockopt(so.SOL_OCF, so.RX, crypt_of(
            rng, so.TLS_1_3, "aes-gcm", 128).pack())
        a.setblocking(False)
        record = b"\x17\3\3\0\x11" + bytes(17)
        with contextlib.suppress(BlockingIOError):
            for _ in range(20000):
                a.send(record * 100)
        time.sleep(0.5)
        room = max(b.getsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF),
                   256 * 1024)
        kept = so.info(b, so.RX)["in_flight"]
        self.assertLess(0, kept)
        self.assertLess(kept, room // 1000)
        a.close()
        b.close()

    def test_nothing_is_kept_behind_a_wrong_record(self):
        a, b = so.pair()
        so.attach(b)
        b.setsockopt(so.SOL_OCF, so.RX, crypt_of(
            random.Random(SEED), so.TLS_1_3, "aes-gcm", 128).pack())
        record = b"\x17\3\3\0\x11" + bytes(17)
        a.send(record)
        self.assertTrue(readable(b))
        self.fill(a, record * 100)
        self.assertEqual(1, so.info(b, so.RX)["in_flight"])
        with self.assertRaises(OSError) as e:
            b.recv(100)
        self.assertEqual(errno.EBADMSG, e.exception.errno)
        a.close()
        b.close()

    def test_nothing_is_kept_behind_new_keys(self):
        """Data behind a KeyUpdate stay with TCP until the new keys are set, and
        none is lost."""
        old, new = (crypt_of(random.Random(SEED + i), so.TLS_1_3, "aes-gcm",
                             128) for i in range(2))
        a, b = joined(old)
        a.sendmsg([b"\x18\0\0\1\0"],
                  [(so.SOL_OCF, so.TYPE, b"\x16")])
        self.assertTrue(readable(b))
        a.setsockopt(so.SOL_OCF, so.TX, new.pack())
        sent = self.fill(a, b"x")
        self.assertLess(100, sent)
        self.assertEqual(1, so.info(b, so.RX)["in_flight"])
        self.assertEqual(b"\x18\0\0\1\0", b.recvmsg(100, 100)[0])
        with self.assertRaises(OSError) as e:
            b.recv(1)
        self.assertEqual(errno.EKEYEXPIRED, e.exception.errno)
        self.assertEqual(0, so.info(b, so.RX)["in_flight"])
        b.setsockopt(so.SOL_OCF, so.RX, new.pack())
        self.assertEqual(b"x" * sent, b.recv(sent, socket.MSG_WAITALL))
        a.close()
        b.close()

    def fill(self, sock, data: bytes) -> int:
        """Sends until nothing more is taken.  Returns the bytes taken."""
        sent = 0
        sock.setblocking(False)
        with contextlib.suppress(BlockingIOError):
            while sent < 4 << 20:
                sent += sock.send(data)
        sock.setblocking(True)
        return sent

    def test_memory_that_does_not_come(self):
        """A sender that waits for a page holds the socket's lock.  No kernel
        worker waits for that lock."""
        libc = ctypes.CDLL(None, use_errno=True)
        area = mmap.mmap(-1, mmap.PAGESIZE)
        start = ctypes.addressof(ctypes.c_char.from_buffer(area))
        faults = libc.syscall(USERFAULTFD, 0)
        if faults < 0 and ctypes.get_errno() == errno.ENOSYS:
            self.skipTest("the debug kernel has no userfaultfd()")
        self.assertLessEqual(0, faults)
        fcntl.ioctl(faults, UFFDIO_API, struct.pack("QQQ", 0xaa, 0, 0))
        fcntl.ioctl(faults, UFFDIO_REGISTER, struct.pack(
            "QQQQ", start, mmap.PAGESIZE, 1, 0))
        a, b = joined(crypt_of(random.Random(SEED), so.TLS_1_3, "aes-gcm",
                               128))
        a.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
        # a record is done, and waits some milliseconds for the next
        writer = threading.Thread(target=lambda: (
            a.send(bytes(20000), socket.MSG_MORE),
            libc.send(a.fileno(), ctypes.c_void_p(start),
                      ctypes.c_size_t(100), 0)))
        writer.start()
        seen = []
        for _ in range(20):
            time.sleep(0.05)
            seen += [s for s in map(stack_of, kernel_workers())
                     if "lock_sock" in s]
        os.close(faults)
        writer.join()
        self.assertEqual([], seen)
        self.assertEqual(bytes(20100), b.recv(20100, socket.MSG_WAITALL))
        a.close()
        b.close()


def readable(sock) -> bool:
    return bool(select.select([sock], [], [], 300)[0])


def kernel_workers() -> list:
    return [p for p in pathlib.Path("/proc").glob("[0-9]*")
            if read(p / "comm").startswith("kworker")]


def stack_of(process: pathlib.Path) -> str:
    return read(process / "stack")


def read(path: pathlib.Path) -> str:
    """What is there, if it is."""
    try:
        return path.read_text()
    except OSError:
        return ""


if __name__ == "__main__":
    print(f"OCF_SEED={SEED}", flush=True)
    unittest.main(verbosity=2, warnings="ignore")
