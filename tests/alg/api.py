#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""In the test machine: ocf_alg's implementations, as the crypto API and AF_ALG have them.

    tests/alg/api.py [UNITTEST...]
"""

import contextlib
import errno
import hashlib
import hmac
import json
import os
import pathlib
import random
import socket
import struct
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True

from case import (  # noqa: E402
    SOON, Case, Device, driver_name, implementations, ours, write)
from ocf import rmmod, unload  # noqa: E402
from users import HIGH, LOW, MODULE, load_alg, run  # noqa: E402

OCFCTL = str(pathlib.Path(__file__).resolve().parents[2] / "tools/ocfctl")
HMACS = ("sha1", "sha256", "sha384", "sha512")
DIGESTS = ("sha1", "sha224", "sha256", "sha384", "sha512", "sha3-224",
           "sha3-256", "sha3-384", "sha3-512", "rmd160")
OFFERED = {
    *(f"{mode}(aes)" for mode in ("cbc", "ctr", "ecb", "xts", "gcm", "ccm")),
    *(f"cbc({c})" for c in ("des3_ede", "camellia", "blowfish", "cast5")),
    "rfc7539(chacha20,poly1305)", "rfc4106(gcm(aes))", "rfc4309(ccm(aes))",
    "rfc7539esp(chacha20,poly1305)", "cmac(aes)",
    *DIGESTS, *(f"hmac({h})" for h in DIGESTS),
    *(f"{kind}(hmac({h}),{c})" for kind in ("authenc", "authencesn")
      for h in HMACS for c in
      ("cbc(aes)", "cbc(des3_ede)", "rfc3686(ctr(aes))")),
}


class Tested(Case):
    tested = True

    def test_the_kernel_finds_nothing_wrong_over_cards(self):
        """With cards, the core also gets the requests that a fallback would do
        without cards."""
        self.assertTrue(unload("ocf_alg", SOON))
        with self.cards(), self.is_used(100000):
            load_alg(LOW)
        self.test_the_kernel_finds_nothing_wrong()

    def test_the_kernel_finds_nothing_wrong(self):
        """The kernel tests each implementation when it is registered."""
        self.assertEqual({"passed"}, {i["selftest"] for i in ours()})
        self.assertNotIn("alg: ", "".join(
            line for line in run("dmesg").splitlines(True)
            if "ocf-" in line and "No test for" not in line))


class Names(Case):
    def test_what_there_is(self):
        self.assertEqual(OFFERED, {i["name"] for i in ours()})
        for i in ours():
            self.assertEqual(driver_name(i["name"]), i["driver"])
            self.assertEqual(str(LOW), i["priority"])

    def test_ocfctl(self):
        """ocfctl shows the implementations and their users, and stores a new
        priority in its configuration file."""
        config = pathlib.Path(self.enterContext(
            tempfile.TemporaryDirectory())) / "ocf-alg.conf"

        def row() -> dict:
            return next(r for r in json.loads(run(OCFCTL, "alg", "--json"))
                        if r["name"] == "cbc(aes)")

        with socket.socket(socket.AF_ALG, socket.SOCK_SEQPACKET) as s:
            s.bind(("skcipher", "ocf-cbc-aes"))
            self.assertEqual((LOW, 1), (row()["priority"], row()["users"]))
        self.assertNotEqual("ocf-cbc-aes", row()["by_name"])
        run(OCFCTL, "alg", "--priority", str(HIGH), "--config", str(config))
        self.addCleanup(run, "modprobe", "-r", "crypto_user")
        self.assertEqual({str(HIGH)}, {i["priority"] for i in ours()})
        self.assertEqual("ocf-cbc-aes", row()["by_name"])
        self.assertIn(f"options ocf_alg priority={HIGH}\n", config.read_text())
        with socket.socket(socket.AF_ALG, socket.SOCK_SEQPACKET) as s:
            s.bind(("skcipher", "cbc(aes)"))
            self.assertEqual(1, row()["users"])
        denied = subprocess.run(
            ["setpriv", "--reuid=65534", "--clear-groups", OCFCTL, "alg",
             "--priority", "1", "--config", str(config)],
            capture_output=True, text=True, check=False)
        self.assertEqual((1, "ocfctl: ocf-authenc-hmac-sha1-cbc-aes: only root "
                          "may change it\n"),
                         (denied.returncode, denied.stderr))

    def test_nobody_gets_them_unasked(self):
        with socket.socket(socket.AF_ALG, socket.SOCK_SEQPACKET) as s:
            s.bind(("skcipher", "cbc(aes)"))
            self.assertEqual({"1"}, {i["refcnt"] for i in ours()})

    def test_stays_while_it_is_used(self):
        with socket.socket(socket.AF_ALG, socket.SOCK_SEQPACKET) as s:
            s.bind(("skcipher", "ocf-cbc-aes"))
            self.assertIn("in use", rmmod("ocf_alg"))

    def test_there_has_to_be_software(self):
        self.assertTrue(unload("ocf_alg", SOON))
        soft = Device("cryptosoft0")
        write(soft.path / "state", "drain")
        try:
            got = subprocess.run(["insmod", str(MODULE)], capture_output=True,
                                 text=True, check=False)
            self.assertIn("No such device", got.stderr)
        finally:
            write(soft.path / "state", "resume")
        load_alg(LOW)

    def test_a_fallback_keeps_the_order(self):
        """pcrypt() does not keep the order.  Once somebody has asked for it, it
        stands for gcm(aes), but ours must not use it as a fallback."""
        def held() -> list[str]:
            return [i["refcnt"] for i in implementations()
                    if i["driver"].startswith("pcrypt(")]

        with socket.socket(socket.AF_ALG, socket.SOCK_SEQPACKET) as s:
            s.bind(("aead", "gcm(aes)"))
        best = max((i for i in implementations() if i["name"] == "gcm(aes)"),
                   key=lambda i: int(i["priority"]))
        self.addCleanup(run, "modprobe", "-r", "pcrypt")
        for driver in (f"pcrypt({best['driver']})", "ocf-gcm-aes"):
            with socket.socket(socket.AF_ALG, socket.SOCK_SEQPACKET) as s:
                s.bind(("aead", driver))
                s.setsockopt(socket.SOL_ALG, socket.ALG_SET_KEY, bytes(16))
                self.assertEqual("ocf" not in driver, held() != ["1"], driver)

    def test_none_is_built_on_another(self):
        """XTS has a fallback, which must not be ours, even if ours has the
        highest priority."""
        self.assertTrue(unload("ocf_alg", SOON))
        load_alg(HIGH)
        with socket.socket(socket.AF_ALG, socket.SOCK_SEQPACKET) as s:
            s.bind(("skcipher", "xts(aes)"))
            used = [i["driver"] for i in ours() if i["refcnt"] != "1"]
            self.assertEqual(["ocf-xts-aes"], used)


class Sockets(Case):
    """AF_ALG: the same as another implementation has it.

    Up to 16 KiB a fallback does it, unless there are cards for it.
    """

    def crypt(self, kind: str, driver: str, key: bytes, op: int, data: bytes,
              tag: int = 0, **ancillary) -> bytes:
        # with a larger buffer the kernel would wait for more data; with an
        # empty one it would do nothing
        size = len(data) + (tag if op == socket.ALG_OP_ENCRYPT else -tag) or 16
        with socket.socket(socket.AF_ALG, socket.SOCK_SEQPACKET) as s:
            s.bind((kind, driver))
            s.setsockopt(socket.SOL_ALG, socket.ALG_SET_KEY, key)
            if tag:
                s.setsockopt(socket.SOL_ALG, socket.ALG_SET_AEAD_AUTHSIZE,
                             None, tag)
            with s.accept()[0] as op_s:
                op_s.sendmsg_afalg([data], op=op, **ancillary)
                return op_s.recv(size)

    def test_ciphers(self):
        rng = random.Random(int(os.environ.get("OCF_SEED") or 1))
        for name in ("cbc(aes)", "ctr(aes)", "ecb(aes)", "xts(aes)",
                     "cbc(des3_ede)"):
            for _ in range(20):
                key = rng.randbytes(24 if "des3" in name else
                                    rng.choice((16, 32)) *
                                    (2 if "xts" in name else 1))
                size = 0 if "ecb" in name else 8 if "des3" in name else 16
                more = {"iv": rng.randbytes(size)} if size else {}
                data = rng.randbytes(16 * rng.randrange(1, 2000))
                got = [self.crypt("skcipher", d, key, op, data, **more)
                       for d in (driver_name(name), name)
                       for op in (socket.ALG_OP_ENCRYPT,
                                  socket.ALG_OP_DECRYPT)]
                self.assertEqual(got[:2], got[2:], name)

    def test_no_data(self):
        for name, size in (("cbc(aes)", 16), ("ctr(aes)", 16),
                           ("ecb(aes)", 0)):
            more = {"iv": bytes(size)} if size else {}
            for driver in (driver_name(name), name):
                self.assertEqual(b"", self.crypt(
                    "skcipher", driver, bytes(16), socket.ALG_OP_ENCRYPT, b"",
                    **more), driver)

    def test_aeads(self):
        rng = random.Random(int(os.environ.get("OCF_SEED") or 1))
        for name in ("gcm(aes)", "rfc7539(chacha20,poly1305)"):
            for _ in range(20):
                key = rng.randbytes(32)
                tag = 16 if "rfc" in name else rng.choice((4, 8, 12, 16))
                aad = rng.randrange(0, 40)
                data = rng.randbytes(aad + rng.randrange(1, 30000))
                more = {"iv": rng.randbytes(12), "assoclen": aad, "tag": tag}
                sealed = [self.crypt("aead", d, key, socket.ALG_OP_ENCRYPT,
                                     data, **more)
                          for d in (driver_name(name), name)]
                self.assertEqual(*sealed)
                opened = self.crypt("aead", driver_name(name), key,
                                    socket.ALG_OP_DECRYPT, sealed[0], **more)
                self.assertEqual(data[aad:], opened[aad:])
                wrong = bytearray(sealed[0])
                wrong[-1] ^= 1
                with self.assertRaises(OSError):
                    self.crypt("aead", driver_name(name), key,
                               socket.ALG_OP_DECRYPT, bytes(wrong), **more)

    def test_authenc(self):
        """The key blob is an attribute (<linux/rtnetlink.h>), the MAC key and
        the cipher's key."""
        rng = random.Random(int(os.environ.get("OCF_SEED") or 1))
        for _ in range(60):
            hash_ = rng.choice(HMACS)
            name = f"{rng.choice(('authenc', 'authencesn'))}(hmac({hash_})," \
                "cbc(aes))"
            mackey, key = rng.randbytes(20), rng.randbytes(16)
            blob = struct.pack("=HH", 8, 1) + struct.pack(">I", len(key)) + \
                mackey + key
            # SPI, sequence number, IV
            aad = rng.choice((24, 28))
            data = rng.randbytes(aad + 16 * rng.randrange(1, 2000))
            more = {"iv": rng.randbytes(16), "assoclen": aad,
                    "tag": rng.choice((12, 16, 20))}
            sealed = [self.crypt("aead", d, blob, socket.ALG_OP_ENCRYPT,
                                 data, **more)
                      for d in (driver_name(name), name)]
            self.assertEqual(sealed[0][aad:], sealed[1][aad:], name)
            opened = self.crypt("aead", driver_name(name), blob,
                                socket.ALG_OP_DECRYPT, sealed[1], **more)
            self.assertEqual(data[aad:], opened[aad:])

    def digest(self, driver: str, key: bytes | None, parts: list[bytes]
               ) -> bytes:
        """As a whole if there is one part; else the state is copied between
        the parts, by accept(2)."""
        with contextlib.ExitStack() as stack:
            s = stack.enter_context(socket.socket(
                socket.AF_ALG, socket.SOCK_SEQPACKET))
            s.bind(("hash", driver))
            if key is not None:
                s.setsockopt(socket.SOL_ALG, socket.ALG_SET_KEY, key)
            op = stack.enter_context(s.accept()[0])
            for part in parts[:-1]:
                op.sendall(part, socket.MSG_MORE)
                op = stack.enter_context(op.accept()[0])
            op.sendall(parts[-1])
            return op.recv(64)

    def test_hashes(self):
        """Python's and the kernel's own say the same; also for a key that is
        longer than a session's may be."""
        rng = random.Random(int(os.environ.get("OCF_SEED") or 1))
        for name in (*DIGESTS, *(f"hmac({h})" for h in HMACS), "cmac(aes)"):
            for n in range(12):
                key = None
                if "cmac" in name:
                    key = rng.randbytes(rng.choice((16, 24, 32)))
                elif "hmac" in name:
                    key = rng.randbytes(2000 if n == 0 else
                                        rng.randrange(14, 200))
                data = rng.randbytes(rng.randrange(30000) if n else 0)
                cut = sorted(rng.randrange(len(data) + 1) for _ in range(3))
                parts = [data[a:b] for a, b in
                         zip([0, *cut], [*cut, len(data)], strict=True)]
                got = {self.digest(d, key, p)
                       for d in (driver_name(name), name)
                       for p in ([data], parts)}
                self.assertEqual(1, len(got), (name, len(data), cut))
                if "hmac" in name:
                    self.assertEqual(hmac.digest(
                        key, data, name[5:-1]), *got)
                elif name.startswith("sha"):
                    self.assertEqual(hashlib.new(
                        name.replace("sha3-", "sha3_"), data).digest(), *got)

    def test_all_is_counted(self):
        """Each request counts as an operation of the CPU's device, and a failed
        one also as an error."""
        soft, gcm = Device("cryptosoft0"), ("aead", "ocf-gcm-aes", bytes(16))
        more = {"iv": bytes(12), "assoclen": 16, "tag": 16}
        for size in (64, 20000):
            before = soft.counters()
            sealed = self.crypt(*gcm, socket.ALG_OP_ENCRYPT, bytes(16 + size),
                                **more)
            with self.assertRaises(OSError) as caught:
                self.crypt(*gcm, socket.ALG_OP_DECRYPT,
                           sealed[:-1] + bytes([sealed[-1] ^ 1]), **more)
            self.assertEqual(errno.EBADMSG, caught.exception.errno)
            after = soft.counters()
            self.assertEqual((2, 1), tuple(after[k] - before[k]
                                           for k in ("operations", "errors")))
            self.assertAlmostEqual(size, after["bytes"] - before["bytes"],
                                   delta=32)

    def test_software_may_be_forbidden(self):
        """Then no fallback does the CPU's work either."""
        soft = Device("cryptosoft0")
        with socket.socket(socket.AF_ALG, socket.SOCK_SEQPACKET) as s:
            s.bind(("skcipher", "ocf-cbc-aes"))
            s.setsockopt(socket.SOL_ALG, socket.ALG_SET_KEY, bytes(16))
            with s.accept()[0] as op_s:
                write(soft.path / "state", "drain")
                self.addCleanup(write, soft.path / "state", "resume")
                op_s.sendmsg_afalg([bytes(64)], op=socket.ALG_OP_ENCRYPT,
                                   iv=bytes(16))
                with self.assertRaises(OSError) as caught:
                    op_s.recv(64)
                self.assertEqual(errno.ENODEV, caught.exception.errno)

    def test_software_may_be_forbidden_for_parts(self):
        soft = Device("cryptosoft0")
        write(soft.path / "state", "drain")
        self.addCleanup(write, soft.path / "state", "resume")
        for parts in ([bytes(64)], [bytes(64), bytes(64)]):
            with self.assertRaises(OSError) as caught:
                self.digest("ocf-sha256", None, parts)
            self.assertEqual(errno.ENODEV, caught.exception.errno)

    def test_a_users_keys_are_limited(self):
        """As sessions of /dev/crypto are."""
        limit = pathlib.Path("/sys/module/ocf/parameters/max_session_bytes")
        was = limit.read_text()
        self.addCleanup(write, limit, was)
        write(limit, 65536)
        pid = os.fork()
        if not pid:
            os.setuid(65534)
            held = []
            try:
                while len(held) < 500:
                    held.append(socket.socket(socket.AF_ALG,
                                              socket.SOCK_SEQPACKET))
                    held[-1].bind(("skcipher", "ocf-cbc-aes"))
                    held[-1].setsockopt(socket.SOL_ALG, socket.ALG_SET_KEY,
                                        bytes(16))
            except OSError as e:
                os._exit(0 if e.errno == errno.EDQUOT and len(held) > 5 else 2)
            os._exit(1)
        self.assertEqual(0, os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))


class Programs(Case):
    """AF_ALG's, over cards"""

    def setUp(self):
        super().setUp()
        self.enterContext(self.cards())

    def test_kcapi(self):
        """libkcapi's tools get from ours what they get from the kernel's own."""
        data = random.Random(1).randbytes(300000)
        with tempfile.TemporaryDirectory() as folder:
            plain, out, back = (pathlib.Path(folder) / n for n in "pob")
            plain.write_bytes(data)

            def tool(name: str, *words: object) -> None:
                read, write_ = os.pipe()
                os.write(write_, bytes(range(16)))
                os.close(write_)
                subprocess.run([name, "-q", "--keyfd", str(read),
                                *map(str, words)], check=True,
                               pass_fds=(read,))
                os.close(read)

            for name in ("cbc(aes)", "ctr(aes)"):
                iv = "--iv", bytes(range(16)).hex()
                got = []
                for driver in (driver_name(name), name):
                    tool("kcapi-enc", "-e", "-c", driver, *iv, "-i", plain,
                         "-o", out)
                    tool("kcapi-enc", "-d", "-c", driver, *iv, "-i", out,
                         "-o", back)
                    self.assertTrue(data == back.read_bytes(), driver)
                    got.append(out.read_bytes())
                self.assertTrue(got[0] == got[1], name)
            for name in ("hmac(sha256)", "cmac(aes)"):
                got = []
                for driver in (driver_name(name), name):
                    tool("kcapi-dgst", "-c", driver, "-i", plain, "-o", out)
                    got.append(out.read_bytes())
                self.assertEqual(*got)

    def test_stress_ng(self):
        """Every algorithm that /proc/crypto has, ours among them"""
        said = run("stress-ng", "--af-alg", "2", "--af-alg-ops", "400",
                   "--verify")
        self.assertNotIn("fail", said)


class SocketsOverCards(Sockets):
    def setUp(self):
        super().setUp()
        self.enterContext(self.cards())

    test_all_is_counted = test_software_may_be_forbidden = None
    test_software_may_be_forbidden_for_parts = None


if __name__ == "__main__":
    unittest.main(verbosity=2)
