#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""In a test machine that was started with fips=1: what consumers in the kernel do.

    tests/alg/fips.py [UNITTEST...]
"""

import errno
import os
import pathlib
import random
import socket
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TOP / "tests/socrypt"), str(TOP / "tests/lib")]

import so_crypt as so  # noqa: E402
from send import crypt_of  # noqa: E402
from users import MODULE, run  # noqa: E402

SOCRYPT = os.environ["OCF_MODULES"] + \
    "/src/kernel/consumers/socrypt/ocf_socrypt.ko"


def log_with(text: str) -> list[str]:
    return [line for line in run("dmesg").splitlines() if text in line]


class Fips(unittest.TestCase):
    def test_an_implementation_that_is_not_signed(self):
        """In FIPS mode the kernel panics if an unsigned module registers an
        algorithm, so ocf_alg refuses to load."""
        done = subprocess.run(["insmod", str(MODULE)], capture_output=True,
                              text=True, check=False)
        self.assertIn("Key was rejected by service", done.stderr)
        self.assertEqual(1, len(log_with("ocf_alg: with fips=1")))
        with socket.socket(socket.AF_ALG, socket.SOCK_SEQPACKET) as s:
            with self.assertRaises(FileNotFoundError):
                s.bind(("skcipher", "ocf-cbc-aes"))

    def test_the_log_says_once_what_is_left_out(self):
        said = log_with("ocf: FIPS mode")
        self.assertEqual(1, len(said), said)
        self.assertIn("chacha20-poly1305", said[0])

    def test_sockets(self):
        run("insmod", SOCRYPT)
        self.addCleanup(run, "rmmod", "ocf_socrypt")
        rng = random.Random(1)
        a, b = so.pair()
        for s in (a, b):
            self.addCleanup(s.close)
            so.attach(s)
        bad = crypt_of(rng, so.TLS_1_3, "chacha20-poly1305", 256)
        for s, which in ((a, so.TX), (b, so.RX)):
            with self.assertRaises(OSError) as e:
                s.setsockopt(so.SOL_OCF, which, bad.pack())
            self.assertEqual(errno.EOPNOTSUPP, e.exception.errno)
        good = crypt_of(rng, so.TLS_1_3, "aes-gcm", 128)
        a.setsockopt(so.SOL_OCF, so.TX, good.pack())
        b.setsockopt(so.SOL_OCF, so.RX, good.pack())
        a.sendall(b"text")
        self.assertEqual(b"text", b.recv(100))


if __name__ == "__main__":
    unittest.main(verbosity=2, warnings="ignore")
