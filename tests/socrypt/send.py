#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""In the test machine: what a socket sends, opened as the RFCs say.

    tests/socrypt/send.py [UNITTEST...]		OCF_SEED from the environment
"""

import contextlib
import itertools
import mmap
import os
import pathlib
import random
import socket
import sys
import tempfile
import threading
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import so_crypt as so  # noqa: E402
from records import Opener  # noqa: E402

SEED = int(os.environ.get("OCF_SEED") or random.randrange(2**31))
MACS = {"hmac-sha1": 20, "hmac-sha256": 32, "hmac-sha384": 48}
SIZES = (0, 1, 15, 16, 511, 512, 513, 16383, 16384, 16385, 65536, 1 << 20)


def crypt_of(rng: random.Random, protocol: int, cipher: str, bits: int,
             mac: str = "", **kw) -> so.Crypt:
    """With random keys."""
    iv = 0
    if cipher in ("des3-cbc", "aes-cbc"):
        iv = {"des3-cbc": 8, "aes-cbc": 16}[cipher]
        iv = iv if protocol == so.TLS_1_0 else 0
    elif protocol == so.TLS_1_3 or cipher == "chacha20-poly1305":
        iv = 12
    else:
        iv = 4
    return so.Crypt(protocol, cipher, rng.randbytes(bits // 8), mac,
                    rng.randbytes(MACS.get(mac, 0)), rng.randbytes(iv), **kw)


def rows() -> list:
    """All that there is: arguments of crypt_of()."""
    out = []
    for protocol in (so.TLS_1_0, so.TLS_1_1, so.TLS_1_2):
        for cipher, bits in (("aes-cbc", 128), ("aes-cbc", 256),
                             ("des3-cbc", 192)):
            for mac in MACS:
                for flags in (0, so.ETM):
                    out.append(((protocol, cipher, bits, mac),
                                {"flags": flags}))
    for protocol in (so.TLS_1_2, so.TLS_1_3):
        for cipher, bits in (("aes-gcm", 128), ("aes-gcm", 256),
                             ("aes-ccm", 128), ("aes-ccm", 256),
                             ("chacha20-poly1305", 256)):
            out.append(((protocol, cipher, bits), {}))
        out.append(((protocol, "aes-ccm", 128), {"maclen": 8}))
    return out


class Peer(threading.Thread):
    """Reads to the end, and opens what it gets."""

    def __init__(self, sock: socket.socket, crypt: so.Crypt, slow: float = 0):
        super().__init__()
        self.sock, self.opener, self.slow = sock, Opener(crypt), slow
        self.records, self.error = [], None
        self.start()

    def run(self) -> None:
        try:
            while data := self.sock.recv(random.choice((1, 1000, 1 << 16))):
                self.records += self.opener.feed(data)
            assert not self.opener.rest
        except Exception as e:      # the writer must not wait for us
            self.error = e
            with contextlib.suppress(OSError):
                self.sock.shutdown(socket.SHUT_RDWR)

    def all(self) -> bytes:
        """All data, after the end."""
        self.join(600)
        assert not self.is_alive()
        self.sock.close()
        if self.error:
            raise self.error
        assert all(kind == 23 for kind, _ in self.records)
        return b"".join(text for _, text in self.records)


class Send(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.rng = random.Random(SEED)
        cls.files = {}

    def begin(self, crypt: so.Crypt, family: int = socket.AF_INET) -> tuple:
        a, b = so.pair(family)
        so.attach(a)
        a.setsockopt(so.SOL_OCF, so.TX, crypt.pack())
        return a, Peer(b, crypt)

    def file_of(self, data: bytes):
        f = tempfile.TemporaryFile()
        f.write(data)
        f.flush()
        return f

    def send_somehow(self, sock: socket.socket, data: bytes) -> None:
        """In pieces, by all the calls there are."""
        at = 0
        f = self.file_of(data)
        while at < len(data):
            n = min(self.rng.choice((1, 20, 700, 5000, 16384, 70000, 300000)),
                    len(data) - at)
            how = self.rng.randrange(5)
            piece = data[at:at + n]
            if how == 0:
                sock.sendall(piece)
            elif how == 1:
                sock.sendall(piece, socket.MSG_MORE)
            elif how == 2:
                cut = self.rng.randrange(n + 1)
                n = sock.sendmsg([piece[:cut], piece[cut:]])
            elif how == 3:
                n = os.sendfile(sock.fileno(), f.fileno(), at, n)
            else:
                r, w = os.pipe()
                n = os.splice(f.fileno(), w, n, offset_src=at)
                left = n
                while left:
                    left -= os.splice(r, sock.fileno(), left, flags=self.
                                      rng.choice((0, os.SPLICE_F_MORE)))
                os.close(r)
                os.close(w)
            at += n
        f.close()

    def test_every_row(self):
        for args, kw in rows():
            for size in (0, 1, 20000, 100000):
                with self.subTest(row=args, **kw, size=size):
                    data = self.rng.randbytes(size)
                    sock, peer = self.begin(crypt_of(self.rng, *args, **kw))
                    self.send_somehow(sock, data)
                    sock.close()
                    self.assertTrue(data == peer.all())

    def test_sizes(self):
        for call in ("sendall", "sendfile"):
            for size in SIZES:
                with self.subTest(call=call, size=size):
                    data = self.rng.randbytes(size)
                    crypt = crypt_of(self.rng, so.TLS_1_2, "aes-gcm", 128)
                    sock, peer = self.begin(crypt)
                    if call == "sendall":
                        sock.sendall(data)
                    else:
                        with self.file_of(data) as f:
                            self.assertEqual(size, sock.sendfile(f, 0))
                    told = so.info(sock)
                    sock.close()
                    self.assertTrue(data == peer.all())
                    # as few records as there can be
                    if call == "sendall":
                        self.assertEqual(-(-size // 16384), len(peer.records))
                    self.assertEqual(crypt.cipher, told["cipher"])

    def test_a_file_that_changes(self):
        """The file changes while it is sent.  Each record can still be
        opened."""
        size = 1 << 20
        for args, kw in rows():
            if args[0] != so.TLS_1_2 or args[2] != 128 or kw.get("flags"):
                continue
            with self.subTest(row=args, **kw), self.file_of(bytes(size)) as f:
                stop = threading.Event()
                area = mmap.mmap(f.fileno(), size)

                def change():
                    while not stop.is_set():
                        for at in range(100, size, 4096):
                            area[at] ^= 1

                thread = threading.Thread(target=change)
                thread.start()
                sock, peer = self.begin(crypt_of(self.rng, *args, **kw))
                try:
                    self.assertEqual(size, sock.sendfile(f, 0))
                    sock.close()
                    # it opens each record, and says when one is not right
                    self.assertEqual(size, len(peer.all()))
                finally:
                    stop.set()
                    thread.join()

    def test_no_record_of_two_calls_in_tls_1_0(self):
        """At the second call the start of an open record would already be on
        the wire.  So even with MSG_MORE or SPLICE_F_MORE no record has data of
        two calls, and the first byte of each call has a record of its own."""
        size = 3000
        for args, kw in rows():
            if args[0] != so.TLS_1_0 or args[3] != "hmac-sha1":
                continue
            with self.subTest(row=args, **kw):
                data = self.rng.randbytes(5 * size)
                sock, peer = self.begin(crypt_of(self.rng, *args, **kw))
                f = self.file_of(data)
                r, w = os.pipe()
                for at in range(0, 5 * size, size):
                    if at < 2 * size:
                        sock.sendall(data[at:at + size], socket.MSG_MORE)
                    elif at < 4 * size:
                        os.splice(f.fileno(), w, size, offset_src=at)
                        self.assertEqual(size, os.splice(
                            r, sock.fileno(), size, flags=os.SPLICE_F_MORE))
                    else:
                        os.sendfile(sock.fileno(), f.fileno(), at, size)
                for fd in r, w:
                    os.close(fd)
                f.close()
                sock.close()
                self.assertEqual(data, peer.all())
                ends = list(itertools.accumulate(
                    len(text) for _, text in peer.records))
                for at in range(0, 5 * size, size):
                    self.assertIn(at + 1, ends)
                    self.assertIn(at + size, ends)

    def test_ipv6(self):
        sock, peer = self.begin(crypt_of(self.rng, so.TLS_1_3, "aes-gcm", 256),
                                socket.AF_INET6)
        data = self.rng.randbytes(300000)
        self.send_somehow(sock, data)
        sock.close()
        self.assertTrue(data == peer.all())


if __name__ == "__main__":
    print(f"OCF_SEED={SEED}", flush=True)
    unittest.main(verbosity=2, warnings="ignore")
