#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""In the test machine: sockets that take sessions of /dev/crypto.

    tests/socrypt/session.py [UNITTEST...]		OCF_SEED from the environment
"""

import ctypes
import errno
import fcntl
import os
import pathlib
import random
import socket
import struct
import sys
import threading
import unittest
from dataclasses import replace

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(TOP / "tests" / "lib"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import ocf  # noqa: E402
import so_crypt as so  # noqa: E402
from both import SOON  # noqa: E402
from ocf import open_session  # noqa: E402
from send import SEED, Peer, crypt_of, rows  # noqa: E402

# <crypto/cryptodev.h>
NUMBERS = {"": 0, "des3-cbc": 2, "aes-cbc": 11, "aes-gcm": 50, "aes-ccm": 51,
           "chacha20-poly1305": 201, "hmac-sha1": 7, "hmac-sha256": 18,
           "hmac-sha384": 19}
# <bsd/crypto/cryptodev.h>
CIOCGSESSION2 = 0xc040636a
CCM_16 = 40
ANY_DEVICE = 0x03000000
OURS = so.HARDWARE | so.SOFTWARE


class Session(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.rng = random.Random(SEED)

    def setUp(self):
        self.fd = os.open("/dev/crypto", os.O_RDWR)
        self.addCleanup(os.close, self.fd)

    def session(self, crypt: so.Crypt) -> int:
        """With these keys."""
        return open_session(self.fd, NUMBERS[crypt.cipher], crypt.key,
                            NUMBERS[crypt.mac], crypt.mackey)

    def named(self, crypt: so.Crypt, ses: int, fd: int = -1) -> so.Crypt:
        """The same, with a session for the keys."""
        return replace(crypt, cipher="", mac="", key=b"", mackey=b"",
                       fd=self.fd if fd < 0 else fd, ses=ses,
                       flags=crypt.flags & ~OURS | so.SESSION)

    def works(self, ses: int) -> bool:
        """Whether the descriptor still has it."""
        buf = ctypes.create_string_buffer(64)
        try:
            ocf.crypt(self.fd, ses, 0, 64, buf, buf, buf, buf)
        except OSError as e:
            self.assertEqual(errno.EINVAL, e.errno)
            return False
        return True

    def refused(self, want: int, crypt: so.Crypt, which: int = so.TX) -> None:
        a, b = so.pair()
        so.attach(a)
        with self.assertRaises(OSError) as caught:
            a.setsockopt(so.SOL_OCF, which, crypt.pack())
        self.assertEqual(want, caught.exception.errno)
        a.close()
        b.close()

    def test_every_row(self):
        """Each is opened as the RFCs say, and by a socket like it."""
        data = self.rng.randbytes(50000)
        for args, kw in rows():
            for kernel in False, True:
                with self.subTest(row=args, **kw, kernel=kernel):
                    self.transfer(crypt_of(self.rng, *args, **kw), data, kernel)

    def transfer(self, crypt: so.Crypt, data: bytes, kernel: bool) -> None:
        a, b = so.pair()
        so.attach(a)
        ses = self.session(crypt)
        a.setsockopt(so.SOL_OCF, so.TX, self.named(crypt, ses).pack())
        self.assertFalse(self.works(ses))
        self.assertEqual((crypt.cipher, crypt.mac), (
            so.info(a)["cipher"], so.info(a)["mac"]))
        if not kernel:
            peer = Peer(b, crypt)
        else:
            so.attach(b)
            ses = self.session(crypt)
            b.setsockopt(so.SOL_OCF, so.RX, self.named(crypt, ses).pack())
        writer = threading.Thread(target=lambda: (
            a.sendall(data), a.shutdown(socket.SHUT_WR)))
        writer.start()
        got = peer.all() if not kernel else b"".join(
            iter(lambda: b.recv(1 << 20), b""))
        writer.join(SOON)
        self.assertTrue(data == got)
        a.close()
        b.close()

    def test_what_is_refused_stays(self):
        cbc = crypt_of(self.rng, so.TLS_1_2, "aes-cbc", 128, "hmac-sha1")
        gcm = crypt_of(self.rng, so.TLS_1_3, "aes-gcm", 128)
        ses = self.session(cbc)
        good = self.named(cbc, ses)
        for want, bad in (
                (errno.EINVAL, replace(good, protocol=so.TLS_1_3, iv=gcm.iv)),
                (errno.EINVAL, replace(good, iv=b"x")),
                (errno.EINVAL, replace(good, maclen=21)),
                (errno.EINVAL, replace(good, cipher="aes-cbc")),
                (errno.EINVAL, replace(good, mac="hmac-sha1")),
                (errno.EINVAL, replace(good, key=cbc.key)),
                (errno.EINVAL, replace(good, mackey=cbc.mackey)),
                (errno.EINVAL, replace(good, flags=so.SESSION | so.HARDWARE)),
                (errno.EINVAL, replace(good, flags=so.SESSION | so.SOFTWARE)),
                (errno.EINVAL, replace(good, ses=ses + 1)),
                (errno.EINVAL, replace(good, ses=ses ^ 1 << 16)),
                (errno.EINVAL, replace(good, ses=0)),
                (errno.EBADF, replace(good, fd=1000)),
                (errno.EBADF, replace(good, fd=-2))):
            for which in so.TX, so.RX:
                with self.subTest(bad=bad, which=which):
                    self.refused(want, bad, which)
        self.assertTrue(self.works(ses))

    def test_other_nonces(self):
        """CCM has them of 7 to 13 bytes; records have 12."""
        crypt = crypt_of(self.rng, so.TLS_1_3, "aes-ccm", 128)
        key = ctypes.create_string_buffer(crypt.key, 16)
        for n in (7, 11, 12, 13):
            sop = bytearray(struct.pack(
                "IIIxxxxPixxxxPIIiixxxxxxxx", CCM_16, 0, 16,
                ctypes.addressof(key), 0, 0, 0, ANY_DEVICE, n, 0))
            fcntl.ioctl(self.fd, CIOCGSESSION2, sop)
            ses, = struct.unpack_from("I", sop, 40)
            with self.subTest(nonce=n):
                for option in (
                        self.named(crypt, ses),
                        replace(self.named(crypt, ses), protocol=so.FRAMED,
                                iv=bytes(n), framing=so.Framing(
                                    bytes(3), length_size=3, explicit=4,
                                    nonce=so.COUNTED, number_max=1000))):
                    if n != 12:
                        self.refused(errno.EINVAL, option)
                if n == 12:
                    a, b = so.pair()
                    so.attach(a)
                    a.setsockopt(so.SOL_OCF, so.TX,
                                 self.named(crypt, ses).pack())
                    a.close()
                    b.close()

    def test_other_descriptors(self):
        crypt = crypt_of(self.rng, so.TLS_1_3, "aes-gcm", 128)
        ses = self.session(crypt)
        a, b = so.pair()
        null = os.open("/dev/null", os.O_RDWR)
        other = os.open("/dev/crypto", os.O_RDWR)
        for fd in (null, other, a.fileno()):
            self.refused(errno.EINVAL, self.named(crypt, ses, fd))
        os.close(null)
        os.close(other)
        so.attach(a)
        a.setsockopt(so.SOL_OCF, so.TX, self.named(crypt, ses).pack())
        # a number that was used
        self.refused(errno.EINVAL, self.named(crypt, ses))

    def test_other_keys_later(self):
        old, new = (crypt_of(self.rng, so.TLS_1_3, "aes-gcm", 128)
                    for _ in range(2))
        a, b = so.pair()
        for s, which in ((a, so.TX), (b, so.RX)):
            so.attach(s)
            s.setsockopt(so.SOL_OCF, which,
                         self.named(old, self.session(old)).pack())
        for crypt in old, new:
            if crypt is new:
                for s, which in ((a, so.TX), (b, so.RX)):
                    s.setsockopt(so.SOL_OCF, which,
                                 self.named(new, self.session(new)).pack())
            a.sendall(b"under these")
            self.assertEqual(b"under these", b.recv(100))

    def test_one_takes_it(self):
        """Two sockets try to take the same session at the same time.  Only one
        of them gets it."""
        for _ in range(200):
            crypt = crypt_of(self.rng, so.TLS_1_3, "aes-gcm", 128)
            option = self.named(crypt, self.session(crypt)).pack()
            said, ends = [], []

            def take(sock, option=option, said=said):
                try:
                    sock.setsockopt(so.SOL_OCF, so.TX, option)
                    said.append(0)
                except OSError as e:
                    said.append(e.errno)

            threads = []
            for _ in range(2):
                a, b = so.pair()
                so.attach(a)
                ends += a, b
                threads.append(threading.Thread(target=take, args=(a,)))
            for t in threads:
                t.start()
            for t in threads:
                t.join()
            self.assertEqual([0, errno.EINVAL], sorted(said))
            for s in ends:
                s.close()

    def test_taken_under_way(self):
        """A thread that uses the session finds it gone, and nothing else
        happens."""
        crypt = crypt_of(self.rng, so.TLS_1_2, "aes-cbc", 128, "hmac-sha1")
        for _ in range(20):
            ses = self.session(crypt)
            worked = []

            def work(ses=ses, worked=worked):
                while self.works(ses):
                    worked.append(1)

            workers = [threading.Thread(target=work) for _ in range(3)]
            for w in workers:
                w.start()
            a, b = so.pair()
            so.attach(a)
            a.setsockopt(so.SOL_OCF, so.TX, self.named(crypt, ses).pack())
            for w in workers:
                w.join(SOON)
                self.assertFalse(w.is_alive())
            a.sendall(b"goes on")
            self.assertEqual(b"\x17", b.recv(1))
            a.close()
            b.close()


if __name__ == "__main__":
    print(f"OCF_SEED={SEED}", flush=True)
    unittest.main(verbosity=2, warnings="ignore")
