#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""In the test machine: tls.ko on ocf_alg's implementations.

    tests/alg/ktls.py [UNITTEST...]

From the environment NGINX: its path.
"""

import os
import pathlib
import random
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import unittest

sys.dont_write_bytecode = True

from case import MIB, SOON, Case  # noqa: E402
from ocf import unload  # noqa: E402
from users import HIGH, run  # noqa: E402
from web import free_port, make_certificate, nginx, start  # noqa: E402

TCP_ULP, SOL_TLS, TLS_TX, TLS_RX = 31, 282, 1, 2    # <linux/tls.h>
AES_GCM_128 = 51


class Ktls(Case):
    """tls.ko on our AES-GCM."""

    priority = HIGH

    def setUp(self):
        super().setUp()
        run("modprobe", "tls")
        self.addCleanup(lambda: self.assertTrue(unload("tls", SOON)))

    def pair(self):
        with socket.create_server(("127.0.0.1", 0)) as s:
            a = socket.create_connection(s.getsockname())
            b = s.accept()[0]
        rng = random.Random(5)
        info = struct.pack("=HH", 0x303, AES_GCM_128) + rng.randbytes(36)
        for s, which in (a, TLS_TX), (b, TLS_RX):
            s.setsockopt(socket.IPPROTO_TCP, TCP_ULP, b"tls")
            s.setsockopt(SOL_TLS, which, info)
        return a, b

    def carries(self, size: int) -> None:
        data = random.Random(size).randbytes(size)
        a, b = self.pair()
        with a, b:
            sender = threading.Thread(target=a.sendall, args=(data,))
            sender.start()
            got = b""
            while len(got) < size:
                got += b.recv(size - len(got))
            sender.join()
        self.assertTrue(data == got)

    def test_both_ways(self):
        with self.is_used(4 * MIB):
            self.carries(2 * MIB)

    def test_cards_come_and_go(self):
        with self.cards() as puller:
            puller.start()
            for _ in range(3):
                self.carries(MIB)

    def test_nginx(self):
        """sendfile(), by a program that knows nothing of ocf_alg"""
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        folder.chmod(0o755)
        (folder / "www").mkdir()
        data = random.Random(6).randbytes(MIB + 4321)
        (folder / "www" / "data").write_bytes(data)
        make_certificate(folder)
        port = free_port()
        server = start(nginx(os.environ.pop("NGINX"), folder, port, "KTLS"), port)
        self.addCleanup(server.wait)
        self.addCleanup(server.terminate)
        for suite in ("TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384",
                      "TLS_CHACHA20_POLY1305_SHA256"):
            with self.subTest(suite=suite), self.is_used(len(data)):
                got = subprocess.run(
                    ["curl", "-sS", "--cacert", folder / "cert.pem",
                     "--tls13-ciphers", suite,
                     f"https://127.0.0.1:{port}/data"], check=True,
                    capture_output=True, timeout=SOON).stdout
                self.assertTrue(data == got)


if __name__ == "__main__":
    unittest.main(verbosity=2)
