#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""In the test machine: libocf on one end, OpenSSL or GnuTLS on the other.

    tests/socrypt/peers.py FOLDER [UNITTEST...]

FOLDER has peer-openssl and peer-gnutls (peer.h).  In each suite the kernel
makes the records of one side, server or client.  The other side works in user
space.  From the environment: OCF_SEED, and ALL=1 for every role in every suite
instead of one.
"""

import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))

from web import SOON, free_port, make_certificate  # noqa: E402

SEED = int(os.environ.get("OCF_SEED") or random.randrange(2**31))
FOLDER = pathlib.Path(sys.argv[1])
SIZES = (0, 1, 15, 16383, 16384, 16385, 300000)

# of GnuTLS: cipher, MAC
AEADS = {"AES128-GCM-SHA256": "AES-128-GCM", "AES256-GCM-SHA384": "AES-256-GCM",
         "AES128-CCM": "AES-128-CCM", "AES256-CCM": "AES-256-CCM",
         "AES128-CCM8": "AES-128-CCM-8", "AES256-CCM8": "AES-256-CCM-8",
         "CHACHA20-POLY1305": "CHACHA20-POLY1305"}
SUITES_13 = {"TLS_AES_128_GCM_SHA256": "AES-128-GCM",
             "TLS_AES_256_GCM_SHA384": "AES-256-GCM",
             "TLS_AES_128_CCM_SHA256": "AES-128-CCM",
             "TLS_AES_128_CCM_8_SHA256": "AES-128-CCM-8",
             "TLS_CHACHA20_POLY1305_SHA256": "CHACHA20-POLY1305"}


def suites() -> list:
    """Version, suite of OpenSSL's or "" (it has none), cipher, MAC, no ETM."""
    out = []
    for version in ("1.0", "1.1", "1.2"):
        for etm in (False, True):
            for bits in ("128", "256"):
                out.append((version, f"ECDHE-ECDSA-AES{bits}-SHA",
                            f"AES-{bits}-CBC", "SHA1", not etm))
            out.append((version, "", "3DES-CBC", "SHA1", not etm))
            if version == "1.2":
                out.append((version, "ECDHE-ECDSA-AES128-SHA256",
                            "AES-128-CBC", "SHA256", not etm))
                out.append((version, "ECDHE-ECDSA-AES256-SHA384",
                            "AES-256-CBC", "SHA384", not etm))
    for suite, cipher in AEADS.items():
        out.append(("1.2", "ECDHE-ECDSA-" + suite, cipher, "AEAD", False))
    for suite, cipher in SUITES_13.items():
        out.append(("1.3", suite, cipher, "AEAD", False))
    return out


class Peers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.rng = random.Random(SEED)
        cls.dir = tempfile.mkdtemp()
        cls.addClassCleanup(shutil.rmtree, cls.dir)
        make_certificate(cls.dir)
        cls.data = cls.rng.randbytes(max(SIZES))

    def command(self, library: str, role: str, port: int, suite: tuple,
                *more: str) -> list:
        version, openssl, cipher, mac, no_etm = suite
        names = openssl
        if library == "gnutls":
            names = (f"NONE:+VERS-TLS{version}:+ECDHE-ECDSA:+{cipher}:+{mac}:"
                     "+SIGN-ALL:+GROUP-ALL:+COMP-NULL:+CTYPE-X509"
                     + (":%NO_ETM" if no_etm else ""))
        return [FOLDER / f"peer-{library}", *(["-n"] if no_etm else []), *more,
                role, str(port), version, names, f"{self.dir}/cert.pem",
                f"{self.dir}/key.pem"]

    def talk(self, suite: tuple, server: tuple, client: tuple, size: int,
             *more: str) -> None:
        """@server, @client: its library, and whether it is in the kernel."""
        port = free_port()
        flags = [[] if kernel else ["-u"] for _, kernel in (server, client)]
        with subprocess.Popen(
                self.command(server[0], "server", port, suite, *flags[0]),
                stdout=subprocess.PIPE, stderr=subprocess.PIPE) as s:
            s.stdout.read(1)    # it listens
            done = subprocess.run(
                self.command(client[0], "client", port, suite, *flags[1],
                             *more),
                input=self.data[:size], capture_output=True, timeout=SOON)
            said = s.communicate(timeout=SOON)[1]
        self.assertEqual((0, 0), (done.returncode, s.returncode),
                         (done.stderr, said))
        self.assertTrue(self.data[:size][::-1] == done.stdout)

    def pairs(self, suite: tuple):
        """Server and client, the one and the other or both in the kernel."""
        version, openssl = suite[:2]
        libraries = ["openssl"] * bool(openssl) + ["gnutls"]
        kernels = [x for x in libraries if x == "openssl" or version != "1.0"]
        roles = [(1, 0), (0, 1), (1, 1)] if kernels else []
        if not os.environ.get("ALL"):
            roles = roles[:1] and [self.rng.choice(roles)]
        for kernels_of in roles:
            yield tuple((self.rng.choice(kernels if k else libraries),
                         bool(k)) for k in kernels_of)

    def test_each_suite(self):
        for suite in suites():
            for server, client in self.pairs(suite):
                size = self.rng.choice(SIZES)
                with self.subTest(suite=suite, server=server, client=client,
                                  size=size):
                    self.talk(suite, server, client, size)

    def test_each_size(self):
        for version, suite in ("1.0", "ECDHE-ECDSA-AES128-SHA"), \
                ("1.2", "ECDHE-ECDSA-AES128-GCM-SHA256"), \
                ("1.3", "TLS_AES_256_GCM_SHA384"):
            suite = next(s for s in suites() if s[:2] == (version, suite))
            for size in SIZES if os.environ.get("ALL") else SIZES[::3]:
                for server, client in (1, 0), (0, 1):
                    with self.subTest(version=version, size=size,
                                      server=server):
                        self.talk(suite, ("openssl", server),
                                  ("openssl", client), size)

    def test_who_is_taken(self):
        done = subprocess.run(
            [FOLDER / "attach", f"{self.dir}/cert.pem", f"{self.dir}/key.pem"],
            capture_output=True, text=True, timeout=SOON)
        self.assertEqual(0, done.returncode, done.stdout + done.stderr)

    def test_new_keys(self):
        """The client changes keys in the middle of the data, and may ask the
        server for new keys, too."""
        suite = next(s for s in suites() if s[0] == "1.3")
        for server, client in (
                (("openssl", True), ("openssl", True)),
                (("openssl", False), ("openssl", True)),
                (("gnutls", False), ("openssl", True)),
                (("openssl", True), ("openssl", False)),
                (("openssl", True), ("gnutls", False))):
            with self.subTest(server=server, client=client):
                self.talk(suite, server, client, max(SIZES), "-k", "5")


if __name__ == "__main__":
    print(f"OCF_SEED={SEED}", flush=True)
    unittest.main(argv=sys.argv[:1] + sys.argv[2:], verbosity=2,
                  warnings="ignore")
