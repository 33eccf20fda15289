#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""In the test machine: programs that know kTLS, unmodified, on our engine.

    tests/socrypt/clients.py [UNITTEST...]

From the environment NGINX: its path; GNUTLS: a folder with a libgnutls that
knows kTLS, which Debian's is built without.  ocf_socrypt is loaded with tls=1.
The data of each transfer are compared.  The byte counter of the CPU's device
shows that our engine made the records.
"""

import contextlib
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

import tap  # noqa: E402
from ocf import SOFTWARE, Device  # noqa: E402
from web import SOON, free_port, make_certificate, nginx, sha, start  # noqa: E402

NGINX = os.environ["NGINX"]
GNUTLS = os.environ["GNUTLS"]
SIZES = (0, 1, 15, 16383, 16384, 16385, 1 << 20, 10 << 20)

# OpenSSL's name; GnuTLS's cipher
SUITES_12 = {
    "ECDHE-ECDSA-AES128-GCM-SHA256": "AES-128-GCM",
    "ECDHE-ECDSA-AES256-GCM-SHA384": "AES-256-GCM",
    "ECDHE-ECDSA-AES128-CCM": "AES-128-CCM",
    "ECDHE-ECDSA-CHACHA20-POLY1305": "CHACHA20-POLY1305",
}
SUITES_13 = {
    "TLS_AES_128_GCM_SHA256": "AES-128-GCM",
    "TLS_AES_256_GCM_SHA384": "AES-256-GCM",
    "TLS_AES_128_CCM_SHA256": "AES-128-CCM",
    "TLS_CHACHA20_POLY1305_SHA256": "CHACHA20-POLY1305",
}
NOT_BY_OPENSSL = {"TLS_AES_128_CCM_SHA256"}     # its ktls.h: 3.0 to 3.4
SUITES = [("1.2", *s) for s in SUITES_12.items()] + [
    ("1.3", *s) for s in SUITES_13.items()]
# GnuTLS 3.7 gives the kernel only these; with kTLS enabled, others fail
BY_GNUTLS = [s for s in SUITES if "GCM" in s[1]]

OPENSSL_CONF = """openssl_conf = all
[all]
ssl_conf = ssl
[ssl]
system_default = default
[default]
Options = KTLS
Ciphersuites = %s
""" % ":".join(SUITES_13)


def sizes_of(suite: str) -> tuple:
    """Returns all sizes for one suite of each TLS version, and two sizes for
    the others."""
    return SIZES if suite in (SUITES[0][1], SUITES[-1][1]) else (
        16385, 1 << 20)


def taken() -> int:
    """Bytes the CPU's device was given."""
    return Device(SOFTWARE).counter("bytes")


class Base(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.dir = tempfile.mkdtemp()
        cls.addClassCleanup(shutil.rmtree, cls.dir)
        rng = random.Random(5)
        cls.files = {str(n): rng.randbytes(n) for n in SIZES}
        www = pathlib.Path(cls.dir) / "www"
        www.mkdir()
        os.chmod(cls.dir, 0o755)
        for name, data in cls.files.items():
            (www / name).write_bytes(data)
        make_certificate(cls.dir)
        (pathlib.Path(cls.dir) / "openssl.cnf").write_text(OPENSSL_CONF)
        (pathlib.Path(cls.dir) / "gnutls.conf").write_text(
            "[global]\nktls = true\n")
        cls.ktls = {**os.environ, "OPENSSL_CONF": f"{cls.dir}/openssl.cnf",
                    "GNUTLS_SYSTEM_PRIORITY_FILE": f"{cls.dir}/gnutls.conf"}
        cls.gnutls = {**cls.ktls, "LD_LIBRARY_PATH": GNUTLS}

    # -- servers -------------------------------------------------------------

    @contextlib.contextmanager
    def server(self, command: list, port: int, env=None, cwd=None):
        process = start(command, port, env=env, cwd=cwd,
                        stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                        stderr=subprocess.DEVNULL)
        try:
            yield port
        finally:
            process.terminate()
            process.wait(SOON)

    def nginx(self, options: str = "KTLS"):
        port = free_port()
        return self.server(nginx(
            NGINX, self.dir, port, options,
            more="ssl_conf_command Ciphersuites " + ":".join(SUITES_13) + ";"),
            port)

    def s_server(self):
        port = free_port()
        return self.server(
            ["openssl", "s_server", "-accept", f"127.0.0.1:{port}", "-cert",
             f"{self.dir}/cert.pem", "-key", f"{self.dir}/key.pem", "-WWW",
             "-sendfile", "-cipher", "ALL", "-ciphersuites",
             ":".join(SUITES_13)], port, env=self.ktls,
            cwd=f"{self.dir}/www")

    def gnutls_serv(self, env=None):
        """What it gets it sends back.  @env: with which library."""
        port = free_port()
        return self.server(
            ["gnutls-serv", "--echo", "-p", str(port), "--x509certfile",
             f"{self.dir}/cert.pem", "--x509keyfile", f"{self.dir}/key.pem",
             "--priority", "NORMAL:+AES-128-CCM"], port, env=env)

    # -- clients -------------------------------------------------------------

    def run_client(self, command: list, env=None, data: bytes = b"") -> bytes:
        done = subprocess.run(command, env=env or os.environ, input=data,
                              capture_output=True, timeout=SOON)
        self.assertEqual(0, done.returncode, (command, done.stderr[-2000:]))
        return done.stdout

    def curl(self, port, name, version, suite, *more, env=None) -> bytes:
        which = ["--tls13-ciphers", suite] if version == "1.3" else [
            "--ciphers", suite, "--tls-max", "1.2"]
        return self.run_client(
            ["curl", "-sS", "--cacert", f"{self.dir}/cert.pem", *which, *more,
             f"https://127.0.0.1:{port}/{name}"], env)

    def wget(self, port, name, version, cipher, env=None) -> bytes:
        return self.run_client(
            ["wget", "-qO-", f"--ca-certificate={self.dir}/cert.pem",
             "--ciphers=" + self.priority(version, cipher),
             f"https://127.0.0.1:{port}/{name}"], env)

    # curl 7.88 gives OpenSSL its own BIO instead of a socket; s_client gives
    # it a socket
    def s_client(self, port: int, version: str, suite: str) -> list:
        which = ["-tls1_3", "-ciphersuites", suite] if version == "1.3" else [
            "-tls1_2", "-cipher", suite]
        return ["openssl", "s_client", "-quiet", "-CAfile",
                f"{self.dir}/cert.pem", "-verify_return_error", *which,
                "-connect", f"127.0.0.1:{port}"]

    @staticmethod
    def priority(version: str, cipher: str) -> str:
        return (f"NONE:+VERS-TLS{version}:+ECDHE-ECDSA:+{cipher}:+AEAD:"
                "+SIGN-ALL:+GROUP-ALL:+COMP-NULL:+CTYPE-ALL:+CTYPE-X509")

    def taken(self, before: int, suite: str, size: int, ways: int = 1) -> None:
        """Checks that our engine did at least @ways times @size bytes, unless
        OpenSSL does not give this suite to the kernel."""
        if suite in NOT_BY_OPENSSL:
            return
        self.assertGreaterEqual(taken() - before, ways * size)


class Clients(Base):
    """OpenSSL's, and wget, whose GnuTLS has no kTLS."""

    # -- servers on our engine -----------------------------------------------

    def test_nginx_curl(self):
        """Each suite, each size, sendfile."""
        with self.nginx() as port:
            for version, suite, _ in SUITES:
                for name in map(str, sizes_of(suite)):
                    data = self.files[name]
                    with self.subTest(suite=suite, size=name):
                        before = taken()
                        got = self.curl(port, name, version, suite)
                        self.assertEqual(sha(data), sha(got))
                        self.taken(before, suite, len(data))

    def test_nginx_wget(self):
        with self.nginx() as port:
            for version, suite, cipher in SUITES:
                with self.subTest(suite=suite):
                    before = taken()
                    got = self.wget(port, str(1 << 20), version, cipher)
                    self.assertEqual(sha(self.files[str(1 << 20)]), sha(got))
                    self.taken(before, suite, 1 << 20)

    def test_nginx_without(self):
        """Proves that taken() is a real check: without kTLS the device does
        less than the file's size."""
        with self.nginx("-KTLS") as port:
            before = taken()
            self.curl(port, str(1 << 20), "1.3", "TLS_AES_128_GCM_SHA256")
            self.assertLess(taken() - before, 1 << 20)

    def test_nginx_many(self):
        """64 at a time, ranges, one connection for many files."""
        name = str(1 << 20)
        with self.nginx() as port:
            url = f"https://127.0.0.1:{port}/{name}"
            got = self.run_client(
                ["curl", "-sS", "--cacert", f"{self.dir}/cert.pem",
                 "--parallel", "--parallel-max", "64", "--parallel-immediate",
                 *[w for i in range(64)
                   for w in (url, "-o", f"{self.dir}/many{i}")]])
            for i in range(64):
                data = pathlib.Path(f"{self.dir}/many{i}").read_bytes()
                self.assertEqual(sha(self.files[name]), sha(data))
            got = self.run_client(
                ["curl", "-sS", "--cacert", f"{self.dir}/cert.pem",
                 *[f"https://127.0.0.1:{port}/{n}" for n in SIZES] * 3])
            self.assertEqual(sha(b"".join(self.files.values()) * 3), sha(got))
            got = self.run_client(
                ["curl", "-sS", "--cacert", f"{self.dir}/cert.pem",
                 "-r", "1000-900000", url])
            self.assertEqual(sha(self.files[name][1000:900001]), sha(got))

    def test_nginx_slow_reader(self):
        with self.nginx() as port:
            got = self.curl(port, str(1 << 20), "1.3",
                            "TLS_AES_256_GCM_SHA384", "--limit-rate", "300k")
            self.assertEqual(sha(self.files[str(1 << 20)]), sha(got))

    def test_s_server(self):
        """SSL_sendfile()."""
        with self.s_server() as port:
            for version, suite, cipher in SUITES[::3]:
                for n in (0, 16385):
                    with self.subTest(suite=suite, size=n):
                        before = taken()
                        got = self.curl(port, str(n), version, suite,
                                        "--http1.0", "--output", "-")
                        self.assertEqual(sha(self.files[str(n)]), sha(got))
                        self.taken(before, suite, n)
                with self.subTest(suite=suite, client="wget"):
                    got = self.wget(port, str(1 << 20), version, cipher)
                    self.assertEqual(sha(self.files[str(1 << 20)]), sha(got))

    def test_captured(self):
        """tshark opens what nginx sends, with the keys that curl has noted."""
        folder = pathlib.Path(tempfile.mkdtemp(dir=self.dir))
        keys, wire, found = (folder / n for n in ("keys", "wire", "found"))
        with self.nginx() as behind, tap.Tap(behind) as port:
            for version, suite, _ in SUITES:
                self.curl(port.number, "16385", version, suite, "--output", "-",
                          env={**os.environ, "SSLKEYLOGFILE": str(keys)})
        port.save(wire)
        subprocess.run(
            ["tshark", "-q", "-r", wire, "-o", f"tls.keylog_file:{keys}",
             "-d", f"tcp.port=={tap.SERVER},tls",
             "-d", f"tls.port=={tap.SERVER},http",
             "--export-objects", f"http,{found}"],
            check=True, capture_output=True, timeout=SOON)
        self.assertEqual([sha(self.files["16385"])] * len(SUITES),
                         [sha(f.read_bytes()) for f in found.iterdir()])

    # -- clients on our engine -----------------------------------------------

    def ask(self, port, version, suite, request: bytes) -> bytes:
        """The body of the answer."""
        said = self.run_client(self.s_client(port, version, suite), self.ktls,
                               request)
        return said.partition(b"\r\n\r\n")[2]

    def each(self, do) -> None:
        """@do(ask, data) with each suite; @ask(request) gives what follows the
        answer's head.  OpenSSL 3.0 uses kTLS to write, and in TLS 1.2 also to read."""
        with self.nginx() as port:
            for version, suite, _ in SUITES:
                for size in 0, 16385, 1 << 20:
                    with self.subTest(suite=suite, size=size):
                        before = taken()
                        do(lambda request: self.ask(port, version, suite,
                                                    request),
                           self.files[str(size)])
                        self.taken(before, suite, size,
                                   2 if version == "1.2" else 1)

    def test_both_ends(self):
        self.each(lambda ask, data: self.assertEqual(
            sha(data), sha(ask(b"GET /%d HTTP/1.0\r\n\r\n" % len(data)))))

    def test_upload(self):
        put = pathlib.Path(self.dir) / "www" / "put"

        def upload(ask, data):
            ask(b"PUT /put HTTP/1.0\r\nContent-Length: %d\r\n\r\n%s" %
                (len(data), data))
            self.assertEqual(sha(data), sha(put.read_bytes()))
            put.unlink()

        self.each(upload)


class Gnutls(Base):
    """With a GnuTLS that knows kTLS."""

    def echo(self, port: int, client: list, env: dict, data: bytes) -> bytes:
        """What comes back of @data, which may not fit in between."""
        with subprocess.Popen(client, env=env, stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL) as process:
            process.stdin.write(data)
            process.stdin.flush()
            got = process.stdout.read(len(data))
            process.kill()
        return got

    def test_gnutls_serv(self):
        """As Debian has it, and with kTLS."""
        data = self.files[str(1 << 20)].hex().encode()[:300000] + b"\n"
        for env, suites, ways in ((os.environ, SUITES, 0),
                                  (self.gnutls, BY_GNUTLS, 2)):
            with self.gnutls_serv(env) as port:
                for version, suite, _ in suites:
                    with self.subTest(suite=suite, ways=ways):
                        before = taken()
                        got = self.echo(port, self.s_client(
                            port, version, suite), self.ktls, data)
                        self.assertEqual(sha(data), sha(got))
                        self.taken(before, suite, len(data), ways + (
                            2 if version == "1.2" else 1))

    def test_gnutls_cli(self):
        data = self.files[str(1 << 20)].hex().encode()[:300000] + b"\n"
        with self.gnutls_serv() as port:
            for version, suite, cipher in BY_GNUTLS:
                with self.subTest(suite=suite):
                    before = taken()
                    got = self.echo(port, [
                        "gnutls-cli", "--logfile=/dev/null", "-p", str(port),
                        f"--x509cafile={self.dir}/cert.pem", "--priority",
                        self.priority(version, cipher), "127.0.0.1"],
                        self.gnutls, data)
                    self.assertEqual(sha(data), sha(got))
                    self.assertGreaterEqual(taken() - before, 2 * len(data))

    def test_gnutls_wget(self):
        """Both ends are ours.

        With TLS 1.3 GnuTLS takes a session ticket for the end of the data.  It
        does so over tls.ko, too.
        """
        name = str(1 << 20)
        with self.nginx() as port:
            for version, suite, cipher in BY_GNUTLS:
                if version == "1.3":
                    continue
                with self.subTest(suite=suite):
                    before = taken()
                    got = self.wget(port, name, version, cipher, self.gnutls)
                    self.assertEqual(sha(self.files[name]), sha(got))
                    self.taken(before, suite, 1 << 20, 2)


if __name__ == "__main__":
    unittest.main(verbosity=2, warnings="ignore")
