#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""In the test machine: the example's server of files, and curl.

    tests/socrypt/https.py PROGRAM [UNITTEST...]
"""

import os
import pathlib
import random
import select
import shutil
import socket
import ssl
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))

from rounds import rounds  # noqa: E402
from so_crypt import reset  # noqa: E402
from web import SOON, free_port, make_certificate, sha, start  # noqa: E402

PROGRAM = sys.argv[1]
LARGE = rounds(100) << 20
SIZES = (0, 1, 15, 16383, 16384, 16385, 1 << 20, LARGE)
MANY = rounds(1000)


class Https(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.dir = tempfile.mkdtemp()
        cls.addClassCleanup(shutil.rmtree, cls.dir)
        cls.www = pathlib.Path(cls.dir) / "www"
        (cls.www / "sub").mkdir(parents=True)
        rng = random.Random(6)
        cls.sums = {}
        for size in SIZES:
            data = rng.randbytes(size)
            (cls.www / str(size)).write_bytes(data)
            cls.sums[size] = sha(data)
        (cls.www / "sub" / "index.html").write_text("<p>sub")
        (cls.www / "a b%.txt").write_text("named")
        (cls.www / "out").symlink_to("/etc/passwd")
        make_certificate(cls.dir)
        cls.port = free_port()
        cls.server = start(
            [PROGRAM, "-p", str(cls.port), "-t", "3000", cls.www,
             f"{cls.dir}/cert.pem", f"{cls.dir}/key.pem"], cls.port)
        cls.addClassCleanup(cls.server.kill)

    def tearDown(self):
        self.assertIsNone(self.server.poll())

    def curl(self, *args: str) -> bytes:
        done = subprocess.run(
            ["curl", "-sS", "--cacert", f"{self.dir}/cert.pem", *args],
            capture_output=True, timeout=SOON)
        self.assertEqual(0, done.returncode, (args, done.stderr))
        return done.stdout

    def url(self, name) -> str:
        return f"https://127.0.0.1:{self.port}/{name}"

    def connect(self, version=ssl.TLSVersion.TLSv1_3) -> ssl.SSLSocket:
        ctx = ssl.create_default_context(cafile=f"{self.dir}/cert.pem")
        ctx.minimum_version = ctx.maximum_version = version
        return ctx.wrap_socket(
            socket.create_connection(("127.0.0.1", self.port), SOON),
            server_hostname="127.0.0.1")

    def ask(self, request: bytes, s=None) -> tuple:
        """Status, fields and body, as it came until the end."""
        with s or self.connect() as s:
            s.sendall(request)
            said = bytearray()
            while piece := s.recv(1 << 16):
                said += piece
        head, _, body = bytes(said).partition(b"\r\n\r\n")
        lines = head.decode().split("\r\n")
        fields = {k.lower(): v for k, v in
                  (line.split(": ", 1) for line in lines[1:])}
        return int(lines[0].split()[1]), fields, body

    def get(self, target: str, *fields: str, method: str = "GET") -> tuple:
        lines = [f"{method} {target} HTTP/1.1", "Host: me",
                 "Connection: close", *fields, "", ""]
        return self.ask("\r\n".join(lines).encode())

    # -- files ---------------------------------------------------------------

    def test_each_size(self):
        for size in SIZES:
            # the large one once
            for version in ("1.2", "1.3") if size < LARGE else ("1.3",):
                with self.subTest(size=size, version=version):
                    got = self.curl("--tls-max", version, self.url(size))
                    self.assertEqual(self.sums[size], sha(got))

    def test_ranges(self):
        data = (self.www / "16385").read_bytes()
        for text, status, want in (
                ("bytes=0-0", 206, data[:1]), ("bytes=5-16", 206, data[5:17]),
                ("bytes=16000-", 206, data[16000:]),
                ("bytes=-7", 206, data[-7:]), ("bytes=-99999", 206, data),
                ("bytes=10-99999", 206, data[10:]),
                ("bytes=16385-", 416, b""), ("bytes=-0", 416, b""),
                ("bytes=9-5", 200, data), ("bytes=1-2,4-5", 200, data),
                ("lines=1-2", 200, data), ("bytes=x", 200, data)):
            with self.subTest(text=text):
                got, fields, body = self.get("/16385", f"Range: {text}")
                self.assertEqual((status, want), (got, body))
                if status == 206:
                    self.assertRegex(fields["content-range"],
                                     r"^bytes \d+-\d+/16385$")
                if status == 416:
                    self.assertEqual("bytes */16385", fields["content-range"])

    def test_names(self):
        for target, status, body in (
                ("/a%20b%25.txt", 200, b"named"), ("/sub", 200, b"<p>sub"),
                ("/sub/?x=/..", 200, b"<p>sub"), ("/sub/../15", 200, None),
                ("/", 404, b""), ("/none", 404, b""), ("/out", 404, b""),
                ("/../../etc/passwd", 404, b""),
                ("/%2e%2e/%2e%2e/etc/passwd", 404, b""),
                ("//etc/passwd", 404, b""), ("/a%00b", 400, b""),
                ("/%zz", 400, b""), ("/%", 400, b""), ("15", 400, b"")):
            with self.subTest(target=target):
                got = self.get(target)
                self.assertEqual(status, got[0])
                if body is not None:
                    self.assertEqual(body, got[2])

    def test_requests(self):
        self.assertEqual(405, self.get("/15", method="POST")[0])
        status, fields, body = self.get("/16385", method="HEAD")
        self.assertEqual((200, "16385", b""),
                         (status, fields["content-length"], body))
        for request in (b"\r\n\r\n", b"GET\r\n\r\n", b"GET /15\r\n\r\n",
                        b"GET /15 HTTP/2.0\r\n\r\n", b"x" * 100 + b"\r\n\r\n",
                        b"GET /15 HTTP/1.1\r\nnone\r\n\r\n",
                        b"GET /15 HTTP/1.1\r\n: x\r\n\r\n",
                        b"GET /15 HTTP/1.1\r\nContent-Length : 5\r\n\r\n",
                        b"GET /15 HTTP/1.1\r\nA: b\r\n Range: x\r\n\r\n",
                        b"GET /15 HTTP/1.1\r\nA: b\nRange: x\r\n\r\n"):
            with self.subTest(request=request):
                self.assertEqual(400, self.ask(request)[0])
        self.assertEqual(431, self.ask(b"GET /" + b"a" * 9000)[0])

    def test_bodies_are_no_requests(self):
        """A request with a body ends the connection, whatever later fields
        say."""
        for fields in (b"Transfer-Encoding: chunked\r\nContent-Length: 0",
                       b"Content-Length: 5\r\nContent-Length: 0",
                       b"Connection: close\r\nConnection: keep-alive"):
            status, _, body = self.ask(
                b"GET /15 HTTP/1.1\r\n" + fields + b"\r\n\r\n"
                b"GET /15 HTTP/1.1\r\nConnection: close\r\n\r\n")
            self.assertEqual((200, 15), (status, len(body)))

    def test_keep_alive(self):
        """Many requests on one connection, also before the answers."""
        urls = [self.url(n) for n in (15, 0, 16385, 1)] * 10
        got = self.curl(*urls)
        want = b"".join((self.www / str(n)).read_bytes()
                        for n in (15, 0, 16385, 1)) * 10
        self.assertEqual(sha(want), sha(got))
        one = b"GET /15 HTTP/1.1\r\n\r\n"
        status, _, body = self.ask(
            one * 50 + b"GET /15 HTTP/1.1\r\nConnection: close\r\n\r\n")
        self.assertEqual((200, 50), (status, body.count(b"HTTP/1.1 200 OK")))

    # -- many, slow and rude ones --------------------------------------------

    def test_many_connections(self):
        """All of them open at a time; each is answered."""
        import resource
        resource.setrlimit(resource.RLIMIT_NOFILE, (4096, 4096))
        ctx = ssl.create_default_context(cafile=f"{self.dir}/cert.pem")
        open_ones = []
        session = None
        for _ in range(MANY):
            s = ctx.wrap_socket(
                socket.create_connection(("127.0.0.1", self.port), SOON),
                server_hostname="127.0.0.1", session=session)
            open_ones.append(s)
        data = (self.www / "16385").read_bytes()
        for s in open_ones:
            s.sendall(b"GET /16385 HTTP/1.0\r\n\r\n")
        for s in open_ones:
            said = b""
            while piece := s.recv(1 << 16):
                said += piece
            self.assertTrue(said.endswith(data))
            s.close()

    def test_64_at_a_time(self):
        self.curl("--parallel", "--parallel-max", "64",
                  "--parallel-immediate",
                  *[w for i in range(64) for w in (
                      self.url(1 << 20), "-o", f"{self.dir}/many{i}")])
        for i in range(64):
            path = pathlib.Path(f"{self.dir}/many{i}")
            self.assertEqual(self.sums[1 << 20], sha(path.read_bytes()))
            path.unlink()

    def test_slow_reader(self):
        got = self.curl("--limit-rate", "500k", self.url(1 << 20))
        self.assertEqual(self.sums[1 << 20], sha(got))

    def test_who_goes(self):
        """In a handshake, in a request, in an answer, with a reset."""
        for how in range(40):
            s = socket.create_connection(("127.0.0.1", self.port), SOON)
            if how % 4 == 0:
                s.sendall(os.urandom(how))
            else:
                s.close()
                s = self.connect()
                request = b"GET /104857600 HTTP/1.0\r\n\r\n"
                s.sendall(request[:how % 20] if how % 4 == 1 else request)
                if how % 4 == 3:
                    s.recv(1)
            reset(s)
        self.assertEqual(200, self.get("/15")[0])

    def test_end_is_said(self):
        """close_notify, so that nobody can cut a file short."""
        with self.connect() as s:
            s.sendall(b"GET /15 HTTP/1.0\r\n\r\n")
            while s.recv(100):
                pass
            self.assertEqual(b"", s.recv(1))    # else SSLEOFError
            self.assertTrue(select.select([s], [], [], SOON)[0])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:], verbosity=2,
                  warnings="ignore")
