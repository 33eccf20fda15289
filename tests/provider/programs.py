#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""In the test machine: programs with OpenSSL's provider, unmodified.

    tests/provider/programs.py [UNITTEST...]

From the environment OPENSSL_MODULES: where ocf.so is; NGINX: its path.  That
the kernel has worked is seen by what its devices count.
"""

import contextlib
import functools
import hashlib
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))

from ocf import CLASS, SOFTWARE, Device, write  # noqa: E402
from rounds import rounds  # noqa: E402
from web import (SOON, free_port, make_certificate, nginx,  # noqa: E402
                 provider_conf, sha, start)

NGINX = os.environ["NGINX"]
SIM = pathlib.Path("/sys/bus/platform/drivers/ocf_sim")
RECHECK = pathlib.Path("/sys/module/ocf/parameters/recheck")
IOCTL = pathlib.Path("/sys/kernel/tracing/events/syscalls/sys_enter_ioctl")
KEY, IV = "00112233445566778899aabbccddeeff", "ffeeddccbbaa99887766554433221100"

SUITES = {
    "-tls1_3": ["TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384",
                "TLS_CHACHA20_POLY1305_SHA256", "TLS_AES_128_CCM_SHA256"],
    "-tls1_2": ["ECDHE-ECDSA-AES128-GCM-SHA256",
                "ECDHE-ECDSA-CHACHA20-POLY1305", "ECDHE-ECDSA-AES128-CCM",
                "ECDHE-ECDSA-AES128-SHA", "ECDHE-ECDSA-AES256-SHA384"],
}


def worked() -> int:
    """Operations of all kinds that the CPU's device was asked for."""
    dev = Device(SOFTWARE)
    return dev.counter("operations") + dev.counter("pk_operations")


def requests() -> int:
    """Operations of all kinds that any device was asked for."""
    return sum(n for d in CLASS.iterdir()
               for what, n in Device(d.name).counters().items()
               if what in ("operations", "pk_operations"))


@contextlib.contextmanager
def counting_ioctls():
    """Yields a function that returns how many ioctl() calls all processes have
    made since the start."""
    histogram = "hist:keys=common_pid"
    write(IOCTL / "trigger", histogram)
    try:
        yield lambda: int(re.search(
            r"Hits: (\d+)", (IOCTL / "hist").read_text())[1])
    finally:
        write(IOCTL / "trigger", "!" + histogram)


@contextlib.contextmanager
def written(values: dict):
    """Files that have other values meanwhile."""
    before = {path: path.read_text() for path in values}
    try:
        for path, value in values.items():
            write(path, value)
        yield
    finally:
        for path, text in before.items():
            write(path, text.strip())


class Programs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.dir = pathlib.Path(tempfile.mkdtemp())
        cls.addClassCleanup(shutil.rmtree, cls.dir)
        cls.data = random.Random(7).randbytes(300001)
        (cls.dir / "data").write_bytes(cls.data)
        for least in (0, -1):
            (cls.dir / f"{least}.cnf").write_text(provider_conf(least))
        make_certificate(cls.dir)

    def run_(self, *command: str, least: int = 0, data: bytes = b"",
             env: dict = {}) -> bytes:
        done = subprocess.run(
            command, input=data, capture_output=True, cwd=self.dir,
            timeout=SOON, env=os.environ | {
                "OPENSSL_CONF": str(self.dir / f"{least}.cnf")} | env)
        self.assertEqual(0, done.returncode, done.stderr.decode())
        return done.stdout

    def plain(self, *command: str, data: bytes = b"") -> bytes:
        return subprocess.run(command, input=data, capture_output=True,
                              cwd=self.dir, check=True).stdout

    def test_enc(self):
        for cipher in ("aes-128-cbc", "aes-128-ctr", "aes-128-ecb",
                       "des-ede3-cbc"):
            keys = ["-K", KEY if cipher[0] == "a" else KEY + KEY[:16]]
            keys += ["-iv", IV[:16 if cipher[0] == "d" else 32]]
            before = worked()
            out = self.run_("openssl", "enc", "-" + cipher, *keys,
                            data=self.data)
            self.assertLess(before, worked(), cipher)
            self.assertEqual(self.plain("openssl", "enc", "-" + cipher, *keys,
                                        data=self.data), out)
            self.assertEqual(self.data, self.run_(
                "openssl", "enc", "-d", "-" + cipher, *keys, data=out))

    def test_dgst(self):
        for digest in ("sha1", "sha256", "sha512", "sha3-256"):
            before = worked()
            out = self.run_("openssl", "dgst", "-" + digest, "-r", "data")
            self.assertLess(before, worked(), digest)
            self.assertEqual(hashlib.new(digest.replace("-", "_"),
                                         self.data).hexdigest(),
                             out.split()[0].decode())
        out = self.run_("openssl", "mac", "-digest", "SHA256", "-macopt",
                        "key:secret", "-in", "data", "HMAC")
        self.assertEqual(self.plain("openssl", "mac", "-digest", "SHA256",
                                    "-macopt", "key:secret", "-in", "data",
                                    "HMAC"), out)

    def test_certificates(self):
        for i, key in enumerate((["rsa:2048"],
                                 ["ec", "-pkeyopt",
                                  "ec_paramgen_curve:P-384"])):
            before = worked()
            self.run_("openssl", "req", "-x509", "-newkey", *key, "-nodes",
                      "-subj", f"/CN=ca{i}", "-keyout", "ca.key", "-out",
                      "ca.pem")
            self.assertLess(before, worked())
            self.run_("openssl", "req", "-new", "-newkey", *key, "-nodes",
                      "-subj", "/CN=it", "-keyout", "it.key", "-out",
                      "it.csr")
            self.run_("openssl", "x509", "-req", "-in", "it.csr", "-CA",
                      "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-out",
                      "it.pem")
            self.run_("openssl", "verify", "-CAfile", "ca.pem", "it.pem")
            self.plain("openssl", "verify", "-CAfile", "ca.pem", "it.pem")

    def test_pkeyutl(self):
        self.plain("openssl", "genrsa", "-out", "rsa.key", "2048")
        for mode in ("pkcs1", "oaep"):
            opts = ["-inkey", "rsa.key", "-pkeyopt", "rsa_padding_mode:" +
                    mode]
            before = worked()
            sealed = self.run_("openssl", "pkeyutl", "-encrypt", *opts,
                               data=b"secret")
            self.assertLess(before, worked())
            self.assertEqual(b"secret", self.plain(
                "openssl", "pkeyutl", "-decrypt", *opts, data=sealed))
            self.assertEqual(b"secret", self.run_(
                "openssl", "pkeyutl", "-decrypt", *opts, data=sealed))
        for curve in ("X25519", "EC", "DH"):
            opts = {"EC": ["-pkeyopt", "ec_paramgen_curve:P-256"],
                    "DH": ["-pkeyopt", "group:ffdhe2048"]}.get(curve, [])
            for who in "ab":
                self.run_("openssl", "genpkey", "-algorithm", curve, *opts,
                          "-out", who)
                self.run_("openssl", "pkey", "-in", who, "-pubout", "-out",
                          who + ".pub")
            secrets = {run("openssl", "pkeyutl", "-derive", "-inkey", a,
                           "-peerkey", b + ".pub")
                       for run in (self.run_, self.plain)
                       for a, b in ("ab", "ba")}
            self.assertEqual(1, len(secrets))

    def test_pss(self):
        """Every way to give the salt length.  The kernel does each
        operation."""
        dev = Device(SOFTWARE)
        self.plain("openssl", "genrsa", "-out", "pss.key", "2048")
        self.plain("openssl", "pkey", "-in", "pss.key", "-pubout", "-out",
                   "pss.pub")
        check = ["-verify", "pss.pub", "-signature", "sig", "data"]
        for said, asked in (("digest", "digest"), ("max", "max"), ("20", "20"),
                            ("digest", "auto"), ("max", "auto")):
            opts = ["openssl", "dgst", "-sha256", "-sigopt",
                    "rsa_padding_mode:pss", "-sigopt"]
            before = dev.counter("pk_operations")
            self.run_(*opts, "rsa_pss_saltlen:" + said, "-sign", "pss.key",
                      "-out", "sig", "data")
            self.assertLess(before, dev.counter("pk_operations"), said)
            self.plain(*opts, "rsa_pss_saltlen:" + asked, *check)
            before = dev.counter("pk_operations")
            self.run_(*opts, "rsa_pss_saltlen:" + asked, *check)
            self.assertLess(before, dev.counter("pk_operations"), asked)

    def test_rand(self):
        a, b = (self.run_("openssl", "rand", "32") for _ in range(2))
        self.assertEqual((32, 32), (len(a), len(b)))
        self.assertNotEqual(a, b)

    def test_random_numbers_of_openssl(self):
        """As docs/provider.md has it: no card sees what it draws."""
        conf = self.dir / "random.cnf"
        conf.write_text(provider_conf(0, "properties = provider=default"))
        before = worked()
        out = self.run_("openssl", "rand", "65536",
                        env={"OPENSSL_CONF": str(conf)})
        self.assertEqual(65536, len(out))
        self.assertEqual(before, worked())

    # ---- TLS ----

    @contextlib.contextmanager
    def serving(self, command: list, port: int, ours: bool):
        env = {"OPENSSL_CONF": str(self.dir / "0.cnf")} if ours else {}
        server = start(command, port, cwd=self.dir, env=os.environ | env,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            yield port
        finally:
            server.terminate()
            server.wait(SOON)

    def server(self, ours: bool):
        """openssl s_server, which gives files out."""
        port = free_port()
        return self.serving(
            ["openssl", "s_server", "-accept", str(port), "-WWW", "-cert",
             "cert.pem", "-key", "key.pem", "-quiet", "-cipher",
             "ALL:@SECLEVEL=0", "-ciphersuites", ":".join(SUITES["-tls1_3"])],
            port, ours)

    def fetch(self, run, port: int, version: str, suite: str) -> bytes:
        opt = "-ciphersuites" if version == "-tls1_3" else "-cipher"
        out = run("openssl", "s_client", "-connect", f"127.0.0.1:{port}",
                  "-quiet", "-ign_eof", version, opt, suite,
                  data=b"GET /data HTTP/1.0\r\n\r\n")
        return out.split(b"\r\n\r\n", 1)[1]

    def test_tls(self):
        """Both ends, with OpenSSL alone on the other."""
        for ours in (True, False):
            with self.server(ours) as port:
                for version, suites in SUITES.items():
                    for suite in suites:
                        before = worked()
                        got = self.fetch(self.plain if ours else self.run_,
                                         port, version, suite)
                        with self.subTest(ours=ours, suite=suite):
                            self.assertEqual(sha(self.data), sha(got))
                            # not its handshake alone
                            self.assertLess(before + len(self.data) // 16384,
                                            worked())

    def test_nginx(self):
        """20 rounds of 500 requests over persistent connections.  OCF_ROUNDS
        changes the number of rounds."""
        times = rounds(20)
        www = self.dir / "www"
        www.mkdir()
        body = self.data[:2000]
        (www / "x").write_bytes(body)
        port = free_port()
        command = nginx(NGINX, self.dir, port, "-KTLS")
        with self.serving(command, port, True):
            before = worked()
            url = f"https://127.0.0.1:{port}/x"
            config = "".join(f'url = "{url}"\noutput = "/dev/null"\n'
                             for _ in range(500))
            (self.dir / "urls").write_text(config)
            for _ in range(times):
                out = self.plain("curl", "-s", "-S", "--cacert", "cert.pem",
                                 "-K", "urls", "-w", "%{http_code} "
                                 "%{size_download}\n")
                self.assertEqual([b"200 2000"] * 500, out.splitlines())
            self.assertLess(before + 500 * times, worked())
            got = self.plain("curl", "-s", "--cacert", "cert.pem", url)
        self.assertEqual(sha(body), sha(got))

    # ---- jobs, and cards ----

    def speed(self, *more: str, least: int = 0) -> float:
        # if the machine stands still for a second, no operation is done in
        # that time
        for _ in range(3):
            out = self.run_("openssl", "speed", "-elapsed", "-seconds", "1",
                            "-mr", *more, least=least).decode()
            found = re.findall(r"^\+F:.*:([\d.]+)$", out, re.M)
            if found:
                return float(found[-1])
        self.fail(out)

    def test_jobs(self):
        for jobs in (1, 8, 64):
            for alg in (["-evp", "aes-128-cbc"], ["-evp", "sha256"]):
                before = worked()
                self.speed("-async_jobs", str(jobs), "-bytes", "4096", *alg)
                self.assertLess(before, worked(), (jobs, alg))
        before = worked()
        self.run_("openssl", "speed", "-seconds", "1", "-async_jobs", "8",
                  "rsa2048")
        self.assertLess(before, worked())

    def test_multi(self):
        before = worked()
        self.run_("openssl", "speed", "-seconds", "1", "-multi", "3", "-bytes",
                  "4096", "-evp", "aes-128-cbc")
        self.assertLess(before, worked())

    def test_what_stays_without_a_card(self):
        """With the framework's own choice and without a card, OpenSSL does
        everything itself, whatever the size."""
        before = worked()
        self.speed("-evp", "aes-128-cbc", "-bytes", "16384", least=-1)
        self.assertEqual(before, worked())

    @contextlib.contextmanager
    def card(self):
        """A card that does all AES-CBC requests that the kernel gets."""
        write(SIM / "add", "algs=real public_key=1 patience=60000")
        try:
            with written({CLASS / SOFTWARE / "forbid": "aes-cbc", RECHECK: 0}):
                yield Device("sim0")
        finally:
            write(SIM / "remove", "sim0")

    def test_what_is_small_stays(self):
        """Even with a card, OpenSSL does small operations itself.  No request
        goes to the kernel."""
        speed = functools.partial(self.speed, "-evp", "aes-128-cbc", "-bytes",
                                  least=-1)
        with self.card() as card, counting_ioctls() as ioctls:
            before = requests()
            rate = speed("16")
            # ioctls only open a session, and once a second ask which sizes are
            # worth it
            self.assertLess(ioctls() * 100, rate / 16)
            self.assertEqual(before, requests())
            # it is the size alone
            before = card.counter("operations")
            speed("65536")
            self.assertLess(before, card.counter("operations"))

    def test_what_is_large_goes(self):
        command = ["openssl", "enc", "-aes-128-cbc", "-K", KEY, "-iv", IV]
        data = self.data * 30
        with self.card() as card:
            before = card.counter("bytes")
            out = self.run_(*command, least=-1, data=data)
            # but for a part of the last block, which is padded
            self.assertLessEqual(before + len(data) // 16 * 16,
                                 card.counter("bytes"))
        self.assertEqual(self.plain(*command, data=data), out)

    def debugged(self, *command: str, data: bytes = b"") -> list[str]:
        """What is said to be left to OpenSSL's own code.  The numbers of
        operations, which come last, are in self.counts."""
        done = subprocess.run(
            command, input=data, capture_output=True, cwd=self.dir,
            env=os.environ | {"OPENSSL_CONF": str(self.dir / "-1.cnf"),
                              "OCF_DEBUG": "1"})
        self.assertEqual(0, done.returncode, done.stderr)
        *lines, last = re.findall(r"^ocf\[\d+\]: (.*)$",
                                  done.stderr.decode(), re.M)
        found = re.fullmatch(r"operations: (\d+) by the kernel, (\d+) left to "
                             "OpenSSL's own code", last)
        self.assertTrue(found, last)
        self.counts = tuple(map(int, found.groups()))
        return lines

    def test_debug(self):
        """It says why a card is not used, and nothing where one is."""
        enc = ["openssl", "enc", "-aes-128-cbc", "-K", KEY, "-iv", IV]
        sign = ["openssl", "dgst", "-sha256", "-sign", "rsa.pem", "data"]
        self.plain("openssl", "genrsa", "-out", "rsa.pem", "2048")
        large = self.data * 30

        def own(name: str, why: str) -> str:
            return f"{name}: OpenSSL's own code: {why}"
        none = "no card can do it"
        self.assertEqual([own("aes-cbc", none)], self.debugged(*enc, data=large))
        self.assertEqual(0, self.counts[0])
        self.assertLess(0, self.counts[1])
        self.assertIn(own("rsa-sign", none), self.debugged(*sign))
        with self.card() as card:
            for line in self.debugged(*sign) + self.debugged(*enc, data=large):
                # the size from which on the card is worth it, if there is one
                self.assertRegex(line, r"^(?!rsa)[a-z0-9-]+: OpenSSL's own "
                                 r"code: (up to \d+ bytes, in jobs up to \d+: |"
                                 r"at every size, but in jobs up to \d+ bytes only: )?"
                                 r"the CPU is faster( at every size)?$")
            before = card.counter("operations")
            self.debugged(*enc, data=large)
            self.assertLess(0, self.counts[0])
            self.assertLessEqual(self.counts[0],
                                 card.counter("operations") - before)
        os.rename("/dev/crypto", "/dev/away")
        try:
            hidden = ("this process cannot see /dev/crypto: chroot or "
                      "PrivateDevices=")
            self.assertEqual([own("aes-cbc", hidden)],
                             self.debugged(*enc, data=large))
            gone = "/dev/crypto is not there: modprobe ocf_cdev"
            self.assertEqual([own("aes-cbc", gone)], self.debugged(
                "unshare", "-m", "sh", "-ec", "mount -nt tmpfs none /sys; "
                'exec "$@"', "sh", *enc, data=large))
        finally:
            os.rename("/dev/away", "/dev/crypto")

    def test_without_the_device(self):
        """There is none: OpenSSL's own does it all."""
        os.rename("/dev/crypto", "/dev/away")
        try:
            out = self.run_("openssl", "enc", "-aes-128-cbc", "-K", KEY,
                            "-iv", IV, data=self.data)
            self.run_("openssl", "dgst", "-sha256", "data")
        finally:
            os.rename("/dev/away", "/dev/crypto")
        self.assertEqual(self.plain("openssl", "enc", "-aes-128-cbc", "-K",
                                    KEY, "-iv", IV, data=self.data), out)


if __name__ == "__main__":
    unittest.main(verbosity=2)
