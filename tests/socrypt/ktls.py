#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""In the test machine: kTLS's interface, on the kernel's engine and on ours.

    tests/socrypt/ktls.py [UNITTEST...]		OCF_SEED from the environment

The kernel's own (tls.ko) is what ours is compared with, call by call.
"""

import errno
import itertools
import os
import pathlib
import random
import socket
import struct
import subprocess
import sys
import threading
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import so_crypt as so  # noqa: E402
from both import FIONREAD, SOON, count  # noqa: E402
from ocf import wait_for  # noqa: E402
from send import SEED, SIZES  # noqa: E402

SOL_TLS, TX, RX, ZEROCOPY, NO_PAD, PAYLOAD_MAX = 282, 1, 2, 3, 4, 5
SET_TYPE, GET_TYPE = 1, 2
V12, V13 = 0x303, 0x304
# iv, key, salt: bytes
SUITES = {51: (8, 16, 4), 52: (8, 32, 4), 53: (8, 16, 4), 54: (12, 32, 0)}
ARIA = 57, 58   # no suites of TLS 1.3
# of kernels that have SM4 and ARIA; Debian's have not
if "sm4-generic" in pathlib.Path("/proc/crypto").read_text():
    SUITES |= {55: (8, 16, 4), 56: (8, 16, 4), 57: (8, 16, 4), 58: (8, 32, 4)}
ENGINES = (b"tls", b"ocf")
NETLINK_SOCK_DIAG, SOCK_DIAG_BY_FAMILY = 4, 20
INET_DIAG_INFO, INET_DIAG_ULP_INFO = 2, 19
INET_ULP_INFO_TLS, TLS_INFO_TX_MAX_PAYLOAD_LEN = 2, 7


def attach(sock: socket.socket, engine: bytes) -> None:
    sock.setsockopt(socket.IPPROTO_TCP, so.TCP_ULP, engine)


class Keys:
    """An option's bytes."""

    def __init__(self, rng, version: int, suite: int, number: int = 0):
        iv, key, salt = SUITES[suite]
        self.version, self.suite, self.number = version, suite, number
        self.iv, self.key = rng.randbytes(iv), rng.randbytes(key)
        self.salt = rng.randbytes(salt)

    def pack(self) -> bytes:
        return struct.pack("=HH", self.version, self.suite) + self.iv + \
            self.key + self.salt + struct.pack(">Q", self.number)


def join(a: socket.socket, b: socket.socket, sends: bytes, receives: bytes,
         keys: Keys) -> None:
    """One sends, the other receives, each by its engine."""
    attach(a, sends)
    attach(b, receives)
    a.setsockopt(SOL_TLS, TX, keys.pack())
    b.setsockopt(SOL_TLS, RX, keys.pack())


def outcome(call, *args):
    """What it returns, or its errno."""
    try:
        return call(*args)
    except OSError as e:
        return errno.errorcode[e.errno]


def type_of(control: list) -> int:
    (level, name, data), = control
    assert (level, name) == (SOL_TLS, GET_TYPE), control
    return data[0]


class Ktls(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.rng = random.Random(SEED)
        # the debug kernel has it built in
        if "tls" not in pathlib.Path(
                "/proc/sys/net/ipv4/tcp_available_ulp").read_text().split():
            subprocess.run(["modprobe", "tls"], check=True)

    def joined(self, sends: bytes, receives: bytes, keys: Keys) -> tuple:
        a, b = so.pair()
        join(a, b, sends, receives, keys)
        self.addCleanup(a.close)
        self.addCleanup(b.close)
        return a, b

    def all_keys(self):
        for version in (V12, V13):
            for suite in SUITES:
                if version == V13 and suite in ARIA:
                    continue
                yield Keys(self.rng, version, suite,
                           self.rng.choice((0, 1, 2**40)))

    def pass_on(self, a, b, data: bytes) -> None:
        """By writes and reads of any size."""
        def write():
            at = 0
            while at < len(data):
                n = self.rng.randrange(1, 40000)
                a.sendall(data[at:at + n],
                          self.rng.choice((0, socket.MSG_MORE)))
                at += n
            a.sendmsg([b"\1\0"], [(SOL_TLS, SET_TYPE, b"\x15")])

        writer = threading.Thread(target=write)
        writer.start()
        got = bytearray()
        while True:
            piece, control = b.recvmsg(self.rng.choice((1, 100, 50000)),
                                       64)[:2]
            if type_of(control) != 23:
                break
            got += piece
        writer.join()
        self.assertEqual(b"\1\0", piece + (b.recvmsg(9, 64)[0]
                                           if len(piece) < 2 else b""))
        self.assertTrue(data == got)

    # -- one engine understands the other ------------------------------------

    def test_each_suite(self):
        for keys in self.all_keys():
            for sends, receives in (b"ocf", b"tls"), (b"tls", b"ocf"), \
                    (b"ocf", b"ocf"):
                for size in SIZES:
                    size = min(size, 70000)
                    with self.subTest(version=keys.version, suite=keys.suite,
                                      sends=sends, size=size):
                        a, b = self.joined(sends, receives, keys)
                        self.pass_on(a, b, self.rng.randbytes(size))

    def test_sendfile(self):
        path = "/tmp/file"
        data = self.rng.randbytes(1 << 20)
        pathlib.Path(path).write_bytes(data)
        self.addCleanup(os.unlink, path)
        for keys in self.all_keys():
            for stable in (0, 1):
                with self.subTest(version=keys.version, suite=keys.suite,
                                  stable=stable):
                    a, b = self.joined(b"ocf", b"tls", keys)
                    a.setsockopt(SOL_TLS, ZEROCOPY, stable)
                    self.assertEqual(stable, a.getsockopt(SOL_TLS, ZEROCOPY))

                    def send(sock):
                        with open(path, "rb") as f:
                            at = 0
                            while at < len(data):
                                at += os.sendfile(sock.fileno(), f.fileno(),
                                                  at, len(data) - at)
                        sock.shutdown(socket.SHUT_WR)

                    writer = threading.Thread(target=send, args=(a,))
                    writer.start()
                    got = bytearray()
                    while piece := b.recv(1 << 16):
                        got += piece
                    writer.join()
                    self.assertTrue(data == got)

    # -- the same answers ----------------------------------------------------

    def compare(self, script) -> list:
        """What both engines answer to the same calls."""
        state = self.rng.getstate()
        said = []
        for engine in ENGINES:
            self.rng.setstate(state)
            a, b = so.pair()
            for s in (a, b):
                so.limit(s, 60)
            try:
                said.append(script(engine, a, b))
            finally:
                a.close()
                b.close()
        self.assertEqual(*said)
        return said[0]

    def test_options(self):
        """As they are set: right, wrong, too long, again, in another order."""
        good = {v: Keys(self.rng, v, 51).pack() for v in (V12, V13)}
        other = Keys(self.rng, V13, 52).pack()
        options = [b"", b"\0", b"\0" * 4, good[V12][:4], good[V12][:-1],
                   good[V12] + b"\0", good[V12], good[V13], other,
                   b"\1\3" + good[V12][2:], b"\5\3" + good[V12][2:],
                   good[V12][:2] + b"\x63\0" + good[V12][4:],
                   good[V12][:2] + b"\x32\0" + good[V12][4:],
                   Keys(self.rng, V12, 54).pack() + b"\0" * 100]

        def script(engine, a, _):
            attach(a, engine)
            out = [outcome(a.getsockopt, SOL_TLS, which, room)
                   for which in (0, TX, RX, ZEROCOPY, NO_PAD, 99)
                   for room in (1, 3, 4, 5, 43)]
            for which, value in order:
                # from 6.14 on, setting keys a second time gives another answer
                if which in (TX, RX) and outcome(
                        a.getsockopt, SOL_TLS, which, 4) != "EBUSY":
                    continue
                out.append(outcome(a.setsockopt, SOL_TLS, which, value))
                out += [outcome(a.getsockopt, SOL_TLS, which, room)
                        for room in (1, 3, 4, 5, 8, 43)]
            return out

        for _ in range(100):
            order = []
            for _ in range(8):
                which = self.rng.choice((TX, TX, RX, RX, ZEROCOPY, NO_PAD, 7))
                value = self.rng.choice(options) if which in (TX, RX) else \
                    self.rng.choice((b"", b"\0", b"\0" * 4, b"\1\0\0\0",
                                     b"\2\0\0\0", b"\0" * 8,
                                     b"\1" + bytes(40), bytes(9) + b"\1"))
                order.append((which, value))
            self.compare(script)

    def set_both(self, option: bytes) -> list:
        """What an engine answers to it for each direction; both the same."""
        def script(engine, a, _):
            attach(a, engine)
            return [outcome(a.setsockopt, SOL_TLS, which, option)
                    for which in (TX, RX)]
        return self.compare(script)

    def test_a_cipher_that_nobody_has(self):
        if 55 in SUITES:
            self.skipTest("this kernel has all")
        for suite, key in (55, 16), (56, 16), (57, 16), (58, 32):
            self.assertEqual(["ENOENT"] * 2, self.set_both(
                struct.pack("=HH", V12, suite) + bytes(8 + key + 4 + 8)))

    def test_aria_is_of_1_2(self):
        self.assertEqual(["EINVAL"] * 2, self.set_both(
            struct.pack("=HH", V13, ARIA[0]) + bytes(8 + 16 + 4 + 8)))

    def test_1_2_has_keys_once(self):
        keys = Keys(self.rng, V12, 51)

        def script(engine, a, _):
            attach(a, engine)
            out = []
            for which in TX, RX, TX, RX:
                out.append(outcome(a.setsockopt, SOL_TLS, which, keys.pack()))
            return out
        self.assertEqual([None, None, "EBUSY", "EBUSY"], self.compare(script))

    def test_what_it_has(self):
        """Ours returns the option without key and salt.  Everything else is as
        the kernel's."""
        for keys in self.all_keys():
            def script(engine, a, _):
                attach(a, engine)
                size = len(keys.pack())
                out = []
                for which in (TX, RX):
                    a.setsockopt(SOL_TLS, which, keys.pack())
                    for n in (0, 1, 3, 4, 5, size - 1, size, size + 1):
                        said = outcome(a.getsockopt, SOL_TLS, which, n)
                        if n == size:
                            at = 4 + len(keys.iv)
                            said = said[:4], said[-8:], len(said[:at])
                        out.append((n, said))
                return out
            self.compare(script)

    def test_who_is_no_tls_socket(self):
        def script(engine, a, b):
            out = [outcome(a.setsockopt, SOL_TLS, TX, b"\0" * 40)]
            attach(a, engine)
            out.append(outcome(attach, a, engine))
            out.append(outcome(attach, b, b"none such"))
            with socket.socket() as s:
                out.append(outcome(attach, s, engine))
                s.bind(("127.0.0.1", 0))
                s.listen()
                out.append(outcome(attach, s, engine))
            with socket.socket(type=socket.SOCK_DGRAM) as s:
                out.append(outcome(attach, s, engine))
            # without keys it is a plain one
            a.sendall(b"plain")
            out.append(b.recv(100))
            b.sendall(b"text")
            out.append(a.recv(100))
            return out
        self.compare(script)

    def test_types_and_ends(self):
        """Records of several types, read with and without room for them."""
        keys = Keys(self.rng, V13, 51)

        def script(engine, a, b):
            join(a, b, engine, engine, keys)
            out = []
            a.sendall(b"one")
            a.sendall(b"two")
            a.sendmsg([b"\1\0"], [(SOL_TLS, SET_TYPE, b"\x15")])
            a.sendall(b"three")
            out.append(outcome(a.sendmsg, [b"x"],
                               [(SOL_TLS, SET_TYPE, b"\x15")],
                               socket.MSG_MORE))
            out.append(outcome(a.sendmsg, [b"x"], [(SOL_TLS, 9, b"\x15")]))
            out.append(outcome(a.sendmsg, [b"x"],
                               [(SOL_TLS, SET_TYPE, b"\x15\0")]))
            out.append(outcome(a.sendmsg, [b"x"],
                               [(SOL_TLS, SET_TYPE, b"\x17")],
                               socket.MSG_MORE))
            a.shutdown(socket.SHUT_WR)
            for n, room, flags in ((2, 64, 0), (100, 64, 0), (100, 0, 0),
                                   (1, 64, 0), (100, 64, 0),
                                   (100, 64, socket.MSG_PEEK), (100, 64, 0),
                                   (100, 64, 0)):
                out.append(outcome(b.recvmsg, n, room, flags))
            return out
        said = self.compare(script)
        self.assertEqual(["EINVAL", "EINVAL", 1, "EINVAL"], said[:4])

    def test_an_error_is_told_once(self):
        """After the error, reads get EAGAIN as long as the peer does not
        close."""
        keys = Keys(self.rng, V13, 51)

        def script(engine, a, b):
            attach(b, engine)
            b.setsockopt(SOL_TLS, RX, keys.pack())
            a.sendall(b"\x55" * 64)
            said = [outcome(b.recv, 100)]
            b.setblocking(False)
            return said + [outcome(b.recv, 100) for _ in range(2)]
        self.assertEqual(["EMSGSIZE", "EAGAIN", "EAGAIN"],
                         self.compare(script))

    def test_number_of_the_next(self):
        """The option tells the number of the next record to be read, however
        many have arrived.  In TLS 1.2 it tells the IV, too."""
        for version in (V12, V13):
            with self.subTest(version=hex(version)):
                self.number_of_the_next(Keys(self.rng, version, 51, 7),
                                        version == V12)

    def number_of_the_next(self, keys, with_iv):
        def told(sock, which):
            option = sock.getsockopt(SOL_TLS, which, 40)
            return option[4:12] * with_iv + option[-8:]

        def script(engine, a, b):
            join(a, b, engine, engine, keys)
            for i in range(3):
                a.sendall(b"text")
            self.assertTrue(wait_for(lambda: count(b, FIONREAD) >= 12, SOON))
            said = []
            for n in 4, 2, 2, 4:
                said.append(told(b, RX))
                b.recv(n)
            return said + [told(b, RX), told(a, TX)]
        self.compare(script)

    def test_ends_within_others(self):
        """OpenSSL 4.0 takes a read without MSG_EOR for a record that is too
        long."""
        keys = Keys(self.rng, V13, 51)

        def script(engine, a, b):
            join(a, b, engine, engine, keys)
            for text in (b"one" * 1000, b"two" * 1000, b"three" * 1000):
                a.sendall(text)
            # wait until all is there; the kernel's engine counts bytes on the
            # wire
            self.assertTrue(wait_for(lambda: count(b, FIONREAD) >= 11000, SOON))
            return [outcome(b.recvmsg, n, 64, flags)
                    for n, flags in ((4000, socket.MSG_PEEK), (4000, 0),
                                     (500, 0), (1500, 0), (3000, 0), (100, 0),
                                     (100, socket.MSG_OOB),
                                     (100, socket.MSG_TRUNC), (5000, 0))]
        said = self.compare(script)
        self.assertTrue(said[1][2] & socket.MSG_EOR)

    def test_wrong_records(self):
        """The first error that a reader sees is the same on both engines."""
        for keys in self.all_keys():
            a, b = so.pair()
            attach(a, b"ocf")
            a.setsockopt(SOL_TLS, TX, keys.pack())
            a.sendall(b"right" * 10)
            good = b.recv(1000)
            a.close()
            b.close()
            explicit = len(good) - 5
            wrong = [
                b"\x17\3\1" + good[3:], b"\x17\2\3" + good[3:],
                good[:3] + b"\xff\xff" + good[5:],
                good[:3] + b"\0\0" + good[5:], good[:3] + b"\0\1" + good[5:],
                good[:-1] + bytes([good[-1] ^ 1]),
                good[:5] + bytes([good[5] ^ 1]) + good[6:],
                good[:3] + (explicit - 1).to_bytes(2, "big") + good[5:-1],
                good[:20], good[:3], b"", b"\x55" * 64,
                # too long for one suite or all
                *(good[:3] + (16384 + n).to_bytes(2, "big") + bytes(20000)
                  for n in (17, 18, 24, 25, 256, 257)),
                # too short, and no header either
                b"\x17\3\1\0\7" + bytes(30),
                # another type in the header, where TLS 1.3 has only
                # application data
                b"\x15" + good[1:], b"\x16\3\3\0\x64" + bytes(100)]
            for i, bad in enumerate(wrong):
                def script(engine, a, b):
                    attach(b, engine)
                    b.setsockopt(SOL_TLS, RX, keys.pack())
                    a.sendall(bad)
                    a.shutdown(socket.SHUT_WR)
                    return [outcome(b.recv, 100) for _ in range(3)]
                with self.subTest(version=keys.version, suite=keys.suite,
                                  which=i):
                    self.compare(script)

    # -- ours alone ----------------------------------------------------------

    def test_key_update(self):
        """As in the kernel from 6.14 on: only in TLS 1.3, and with the same
        suite."""
        keys = Keys(self.rng, V13, 54)
        a, b = self.joined(b"ocf", b"ocf", keys)
        for _ in range(3):
            a.sendmsg([b"\x18\0\0\1\0"], [(SOL_TLS, SET_TYPE, b"\x16")])
            new = Keys(self.rng, V13, 54)
            for bad in Keys(self.rng, V13, 52), Keys(self.rng, V12, 54):
                self.assertEqual("EINVAL", outcome(
                    a.setsockopt, SOL_TLS, TX, bad.pack()))
            a.setsockopt(SOL_TLS, TX, new.pack())
            a.sendall(b"after" * 10000)
            self.assertEqual(b"\x18\0\0\1\0", b.recvmsg(100, 100)[0])
            self.assertEqual("EKEYEXPIRED", outcome(b.recv, 100))
            b.setsockopt(SOL_TLS, RX, new.pack())
            self.assertEqual(b"after" * 10000,
                             b.recv(50000, socket.MSG_WAITALL))

    def test_an_error_after_the_last_number(self):
        """EKEYEXPIRED for the old keys does not hide an error with the new
        ones."""
        keys = Keys(self.rng, V13, 51, 2**64 - 2)
        new, other = (Keys(self.rng, V13, 51) for _ in range(2))
        a, b = self.joined(b"ocf", b"ocf", keys)
        a.sendall(b"last")
        self.assertEqual(b"last", b.recv(100))
        a.setsockopt(SOL_TLS, TX, new.pack())
        a.sendall(b"first")
        self.assertEqual("EKEYEXPIRED", outcome(b.recv, 100))
        b.setsockopt(SOL_TLS, RX, new.pack())
        self.assertEqual(b"first", b.recv(100))
        a.setsockopt(SOL_TLS, TX, other.pack())
        a.sendall(b"what nobody can open")
        a.shutdown(socket.SHUT_WR)
        self.assertEqual("EBADMSG", outcome(b.recv, 100))

    def test_one_interface_for_a_direction(self):
        crypt = so.Crypt(so.TLS_1_3, "aes-gcm", bytes(16), iv=bytes(12))
        a, _ = self.joined(b"ocf", b"ocf", Keys(self.rng, V13, 51))
        self.assertEqual("EBUSY", outcome(
            a.setsockopt, so.SOL_OCF, so.TX, crypt.pack()))
        a.setsockopt(so.SOL_OCF, so.RX, crypt.pack())
        self.assertEqual("EBUSY", outcome(
            a.setsockopt, SOL_TLS, RX, Keys(self.rng, V13, 51).pack()))
        self.assertEqual("EBUSY", outcome(a.getsockopt, SOL_TLS, RX, 4))
        self.assertEqual("aes-gcm", so.info(a)["cipher"])

    def test_payload_max(self):
        """TLS_TX_MAX_PAYLOAD_LEN, which the machine's own kTLS does not have:
        as Linux 6.19 has it."""
        def limit(sock: socket.socket, value: int | bytes):
            return outcome(sock.setsockopt, SOL_TLS, PAYLOAD_MAX,
                           struct.pack("=H", value) if isinstance(value, int)
                           else value)

        def told(sock: socket.socket, size: int = 2):
            return outcome(sock.getsockopt, SOL_TLS, PAYLOAD_MAX, size)
        for version, least in (V12, 64), (V13, 63):
            a, b = so.pair()
            keys = Keys(self.rng, version, 51)
            attach(a, b"ocf")
            for size in 2, 4:
                self.assertEqual(struct.pack("=H", 16384), told(a, size))
            self.assertEqual("EINVAL", told(a, 1))
            # without keys the version is not known, so 63 is refused
            for wrong in b"", b"\0", b"\0\1\0\0", 0, 63, 16385, 65535:
                self.assertEqual("EINVAL", limit(a, wrong))
            self.assertEqual(None, limit(a, 64))
            a.setsockopt(SOL_TLS, TX, keys.pack())
            self.assertEqual("EINVAL", limit(a, least - 1))
            self.assertEqual(None, limit(a, least))
            self.assertEqual(struct.pack("=H", least), told(a))
            # a limit can be set before the keys, and new keys do not change it
            if version == V13:
                a.setsockopt(SOL_TLS, TX, Keys(self.rng, V13, 51).pack())
            a.sendall(bytes(1000))
            lengths, left = [], 1000
            added = 5 + 16 + (1 if version == V13 else 8)
            while left:
                head = b.recv(5, socket.MSG_WAITALL)
                size = int.from_bytes(head[3:], "big")
                self.assertEqual(size, len(b.recv(size, socket.MSG_WAITALL)))
                lengths.append(5 + size - added)
                left -= lengths[-1]
            self.assertEqual([least] * (1000 // least) + [1000 % least],
                             lengths)
            a.send(b"more", socket.MSG_MORE)
            self.assertEqual("EBUSY", limit(a, 128))
            a.send(b".")
            self.assertEqual(None, limit(a, 16384))
            a.close()
            b.close()

    def test_payload_max_is_of_one_interface(self):
        """Records of SO_CRYPT are as long as their descriptor says."""
        a, b = so.pair()
        attach(a, b"ocf")
        a.setsockopt(SOL_TLS, PAYLOAD_MAX, struct.pack("=H", 64))
        a.setsockopt(so.SOL_OCF, so.TX, so.Crypt(
            so.TLS_1_3, "aes-gcm", bytes(16), iv=bytes(12)).pack())
        a.setsockopt(SOL_TLS, PAYLOAD_MAX, struct.pack("=H", 64))
        a.sendall(bytes(1000))
        self.assertEqual(1000 + 17, int.from_bytes(
            b.recv(5, socket.MSG_WAITALL)[3:], "big"))
        a.close()
        b.close()

    def test_diag(self):
        """What `ss -i` shows."""
        a, b = self.joined(b"ocf", b"ocf", Keys(self.rng, V13, 51))
        port = a.getsockname()[1]
        b.setsockopt(SOL_TLS, NO_PAD, 1)
        said = subprocess.run(
            ["ss", "-Htni", f"sport = :{port}"], capture_output=True,
            text=True, check=True).stdout
        for word in ("tcp-ulp-ocf", "version: 1.3", "cipher: aes-gcm-128",
                     "rxconf: none", "txconf: sw"):
            self.assertIn(word, said)

    def test_fields_of_diag(self):
        """Each field is as in the kernel's own.  Only later kernels have the
        field for the payload limit."""
        for version, no_pad in itertools.product((V12, V13), (False, True)):
            told = []
            for ulp in ENGINES:
                pair = self.joined(ulp, ulp, Keys(self.rng, version, 51))
                if no_pad and version == V13:
                    pair[1].setsockopt(SOL_TLS, NO_PAD, 1)
                told.append([ulp_info(s) for s in pair])
                for s in pair:
                    s.close()
            for linux, ours in zip(*told):
                self.assertEqual(struct.pack("=H", 16384),
                                 ours.pop(TLS_INFO_TX_MAX_PAYLOAD_LEN))
                linux.pop(TLS_INFO_TX_MAX_PAYLOAD_LEN, None)
                self.assertEqual(linux, ours)
        a, b = self.joined(b"ocf", b"ocf", Keys(self.rng, V13, 51))
        a.setsockopt(SOL_TLS, PAYLOAD_MAX, struct.pack("=H", 1000))
        self.assertEqual(struct.pack("=H", 1000),
                         ulp_info(a)[TLS_INFO_TX_MAX_PAYLOAD_LEN])


def ulp_info(sock: socket.socket) -> dict:
    """The fields that sock_diag(7) has of a socket's ULP."""
    (host, port), (peer_host, peer_port) = sock.getsockname(), sock.getpeername()
    request = struct.pack("=BBBxI", socket.AF_INET, socket.IPPROTO_TCP,
                          1 << INET_DIAG_INFO - 1, 0xfff)
    request += struct.pack("!HH4s12x4s12x", port, peer_port,
                           socket.inet_aton(host), socket.inet_aton(peer_host))
    request += struct.pack("=IQ", 0, 0xffffffffffffffff)
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW,
                       NETLINK_SOCK_DIAG) as diag:
        diag.send(struct.pack("=IHHII", 16 + len(request), SOCK_DIAG_BY_FAMILY,
                              1, 1, 0) + request)
        answer = diag.recv(1 << 16)
    head = 16 + 72                      # nlmsghdr, inet_diag_msg
    return attributes(attributes(attributes(answer[head:])
                                 [INET_DIAG_ULP_INFO])[INET_ULP_INFO_TLS])


def attributes(data: bytes) -> dict:
    """Netlink's: the type and what it holds."""
    out = {}
    while data:
        size, kind = struct.unpack_from("=HH", data)
        out[kind & 0x3fff] = data[4:size]
        data = data[(size + 3) & ~3:]
    return out


if __name__ == "__main__":
    print(f"OCF_SEED={SEED}", flush=True)
    unittest.main(verbosity=2, warnings="ignore")
