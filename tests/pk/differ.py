#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""In the test machine: CIOCKEY against OpenSSL and Python's integers.

    tests/pk/differ.py [UNITTEST...]	OCF_SEED and OCF_ROUNDS from the environment

OpenSSL is asked by python3-cryptography.  Numbers are of every size, most of
them of sizes that somebody uses; a seed is printed.
"""

import hashlib
import hmac
import math
import os
import pathlib
import random
import sys
import unittest
from errno import EBADMSG, EDOM, EINVAL, EKEYREJECTED, ENOSPC, EPERM

sys.dont_write_bytecode = True
sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent),
                str(pathlib.Path(__file__).resolve().parents[1] / "lib")]

import crk  # noqa: E402
from cryptography.hazmat.primitives import hashes, serialization  # noqa: E402
from cryptography.hazmat.primitives.asymmetric import (  # noqa: E402
    dsa, ec, padding, rsa, utils, x25519)
from der import sequence  # noqa: E402
from rounds import rounds  # noqa: E402

SEED = int(os.environ.get("OCF_SEED") or random.randrange(1 << 32))
ROUNDS = rounds(20)
CALL = crk.BSD_CIOCKEY2
CRID = int(os.environ.get("CRID") or crk.HARDWARE | crk.SOFTWARE)

HASH = {
    "sha1": hashes.SHA1(), "sha224": hashes.SHA224(),
    "sha256": hashes.SHA256(), "sha384": hashes.SHA384(),
    "sha512": hashes.SHA512(), "sha3_224": hashes.SHA3_224(),
    "sha3_256": hashes.SHA3_256(), "sha3_384": hashes.SHA3_384(),
    "sha3_512": hashes.SHA3_512(),
}
ALLOW_WEAK = pathlib.Path("/sys/module/ocf/parameters/allow_weak")
MAX_KEYS = pathlib.Path("/sys/module/ocf_cdev/parameters/max_keys")
CURVE = {"P-256": ec.SECP256R1(), "P-384": ec.SECP384R1(),
         "P-521": ec.SECP521R1()}
DER = serialization.Encoding.DER
PKCS1 = serialization.PrivateFormat.TraditionalOpenSSL


def private_der(key) -> bytes:
    return key.private_bytes(DER, PKCS1, serialization.NoEncryption())


def public_der(key) -> bytes:
    return key.public_key().public_bytes(
        DER, serialization.PublicFormat.PKCS1)


class Case(unittest.TestCase):
    def setUp(self):
        self.rnd = random.Random(f"{SEED} {self.id()}")
        self.dev = crk.device()

    def tearDown(self):
        self.dev.close()

    def numbers(self, code, *given, out=()):
        return self.dev.numbers(code, *given, out=out, call=CALL, crid=CRID)

    def octets(self, code, *given, out=()):
        return self.dev.octets(code, *given, out=out, call=CALL, crid=CRID)

    def fails(self, error: int, code, *given, out=()):
        with self.assertRaises(crk.Failed) as raised:
            self.octets(code, *given, out=out)
        self.assertEqual(error, raised.exception.errno)

    def number(self, most: int = 1024) -> int:
        """Draws a number of up to @most bits; the smallest and the largest of a
        length are more frequent."""
        rnd = self.rnd
        bits = rnd.choice([rnd.randint(0, 130), rnd.randint(0, most),
                           64 * rnd.randint(0, most // 64)])
        n = rnd.getrandbits(bits) if bits else 0
        return rnd.choice([n, n, n, n | 1, (1 << bits) - 1, 1 << bits >> 1])


class Arithmetic(Case):
    """Against Python's integers; moduli are odd or even, and may be one."""

    def each(self, code: int, count: int, answer, most: int = 1024):
        for _ in range(ROUNDS):
            given = [self.number(most) for _ in range(count)]
            m = self.number(most) or 1
            size = (m.bit_length() + 7) // 8
            more = self.rnd.choice([0, 0, 1, 9])
            with self.subTest(code=code, given=given, m=m):
                got, = self.numbers(code, *given, m,
                                    out=(min(size + more, 1024),))
                self.assertEqual(answer(*given, m), got)

    def test_add(self):
        self.each(crk.MOD_ADD, 2, lambda a, b, m: (a + b) % m)

    def test_negate(self):
        self.each(crk.MOD_ADDINV, 1, lambda a, m: -a % m)

    def test_subtract(self):
        self.each(crk.MOD_SUB, 2, lambda a, b, m: (a - b) % m)

    def test_multiply(self):
        self.each(crk.MOD_MULT, 2, lambda a, b, m: a * b % m)

    def test_reduce(self):
        self.each(crk.MOD, 1, lambda a, m: a % m, 8192)

    def test_power(self):
        self.each(crk.MOD_EXP, 2, pow)

    def test_zeros(self):
        m = self.rnd.getrandbits(512) | 1 << 511
        for code, count, answer in (
                (crk.MOD_ADD, 2, 0), (crk.MOD_SUB, 2, 0), (crk.MOD_MULT, 2, 0),
                (crk.MOD_ADDINV, 1, 0), (crk.MOD, 1, 0), (crk.MOD_EXP, 2, 1)):
            with self.subTest(code=code):
                got, = self.numbers(code, *[0] * count, m, out=(64,))
                self.assertEqual(answer, got)
        long = self.rnd.getrandbits(300) | 1 << 299
        got, = self.numbers(crk.MOD_EXP, 0, long, m, out=(64,))
        self.assertEqual(0, got)

    def test_power_of_every_size(self):
        for bits in (1, 63, 64, 65, 512, 1000, 2048, 4096, 8192):
            b, m = (self.rnd.getrandbits(bits) | 1 << bits - 1 for _ in "bm")
            e = self.rnd.getrandbits(min(bits, 80)) | 1
            with self.subTest(bits=bits):
                got, = self.numbers(crk.MOD_EXP, b, e, m,
                                    out=((bits + 7) // 8,))
                self.assertEqual(pow(b, e, m), got)

    def test_invert(self):
        for _ in range(ROUNDS):
            a, m = self.number(), self.number() or 1
            size = (m.bit_length() + 7) // 8
            with self.subTest(a=a, m=m):
                if math.gcd(a % m, m) == 1 and a % m:
                    got, = self.numbers(crk.MOD_MULTINV, a, m, out=(size,))
                    self.assertEqual(pow(a, -1, m), got)
                else:
                    self.fails(EDOM, crk.MOD_MULTINV, crk.little(a),
                               crk.little(m), out=(size,))


class Rsa(Case):
    """OpenSSL's keys, of all sizes that it makes."""

    sizes = (1024, 1031, 2048)

    def keys(self):
        for bits in self.sizes:
            key = rsa.generate_private_key(self.rnd.choice([3, 65537]), bits)
            with self.subTest(bits=bits):
                yield key, (bits + 7) // 8

    def test_power_by_crt(self):
        for key, size in self.keys():
            k = key.private_numbers()
            n = k.public_numbers.n
            for x in (self.rnd.randrange(n), 0, 1, n - 1, k.p, k.q * 2):
                got, = self.numbers(crk.MOD_EXP_CRT, k.p, k.q, x, k.dmp1,
                                    k.dmq1, k.iqmp, out=(size,))
                self.assertEqual(pow(x, k.d, n), got)

    def test_raw(self):
        for key, size in self.keys():
            k = key.private_numbers()
            n = k.public_numbers.n
            x = self.rnd.randrange(n)
            y, = self.octets(crk.RSA_ENCRYPT, crk.big(x), public_der(key),
                             out=(size,))
            self.assertEqual(pow(x, k.public_numbers.e, n),
                             int.from_bytes(y, "big"))
            for code in (crk.RSA_DECRYPT, crk.RSA_SIGN):
                z, = self.octets(code, y, private_der(key), out=(size,))
                self.assertEqual(crk.big(x, size), z)
            self.octets(crk.RSA_VERIFY, y, crk.big(x, size), public_der(key))
            self.fails(EDOM, crk.RSA_DECRYPT, crk.big(n), private_der(key),
                       out=(size,))

    def sign_and_verify(self, key, size, scheme, name, theirs):
        text = self.rnd.randbytes(self.rnd.randint(0, 99))
        digest = hashlib.new(name, text).digest()
        code = crk.op(crk.RSA_SIGN, scheme, name)
        check = crk.op(crk.RSA_VERIFY, scheme, name)
        sig, = self.octets(code, digest, private_der(key), out=(size,))
        key.public_key().verify(sig, text, theirs, HASH[name])
        self.octets(check, digest, key.sign(text, theirs, HASH[name]),
                    public_der(key))
        at = self.rnd.randrange(size)
        bad = bytearray(sig)
        bad[at] ^= 1 << self.rnd.randrange(8)
        self.fails(EBADMSG, check, digest, bytes(bad), public_der(key))
        other = hashlib.new(name, text + b".").digest()
        self.fails(EBADMSG, check, other, sig, public_der(key))
        self.fails(EBADMSG, check, digest, b"\0" + sig, public_der(key))

    def test_pkcs1_signatures(self):
        for key, size in self.keys():
            for name, h in HASH.items():
                if size >= h.digest_size + 30:
                    self.sign_and_verify(key, size, crk.PKCS1, name,
                                         padding.PKCS1v15())

    def test_pss(self):
        for key, size in self.keys():
            for name, h in HASH.items():
                if size >= 2 * h.digest_size + 3:
                    self.sign_and_verify(key, size, crk.PSS, name, padding.PSS(
                        padding.MGF1(h), h.digest_size))

    def test_pss_with_salts(self):
        key = rsa.generate_private_key(65537, 1024)
        digest = hashlib.sha256(b"text").digest()
        code = crk.op(crk.RSA_SIGN, crk.PSS, "sha256")
        check = crk.op(crk.RSA_VERIFY, crk.PSS, "sha256")
        for salt in (0, 1, 20, 94):
            sig, = self.octets(code, digest, private_der(key), bytes([salt]),
                               out=(128,))
            key.public_key().verify(sig, b"text", padding.PSS(
                padding.MGF1(hashes.SHA256()), salt), hashes.SHA256())
            self.octets(check, digest, sig, public_der(key))
            self.octets(check, digest, sig, public_der(key), bytes([salt]))
            self.fails(EBADMSG, check, digest, sig, public_der(key),
                       bytes([salt + 1]))
        self.fails(EINVAL, code, digest, private_der(key), bytes([95]),
                   out=(128,))

    def there_and_back(self, key, size, scheme, name, most, theirs, label):
        code = crk.op(crk.RSA_ENCRYPT, scheme, name)
        back = crk.op(crk.RSA_DECRYPT, scheme, name)
        for n in (0, 1, self.rnd.randint(0, most), most):
            text = self.rnd.randbytes(n)
            sent, = self.octets(code, text, public_der(key), *label,
                                out=(size,))
            self.assertEqual(text, key.decrypt(sent, theirs))
            sent = key.public_key().encrypt(text, theirs)
            self.assertEqual([text], self.octets(
                back, sent, private_der(key), *label, out=(size,)))
            if n > 1:
                self.fails(ENOSPC, back, sent, private_der(key), *label,
                           out=(n - 1,))
        self.fails(EINVAL, code, bytes(most + 1), public_der(key), *label,
                   out=(size,))
        return sent

    def test_pkcs1_encryption(self):
        for key, size in self.keys():
            self.there_and_back(key, size, crk.PKCS1, "", size - 11,
                                padding.PKCS1v15(), ())

    def test_oaep(self):
        for key, size in self.keys():
            for name, h in HASH.items():
                most = size - 2 * h.digest_size - 2
                label = self.rnd.choice([b"", b"label"])
                # python3-cryptography has no OAEP with SHA-3
                if most < 0 or name.startswith("sha3"):
                    continue
                sent = self.there_and_back(
                    key, size, crk.OAEP, name, most,
                    padding.OAEP(padding.MGF1(h), h, label or None),
                    (label,) if label else ())
                back = crk.op(crk.RSA_DECRYPT, crk.OAEP, name)
                self.fails(EBADMSG, back, sent, private_der(key), b"another",
                           out=(size,))

    def test_what_was_not_encrypted(self):
        """No padding oracle: decryption returns a made-up message, the same
        each time."""
        key = rsa.generate_private_key(65537, 1024)
        n, d = key.private_numbers().public_numbers.n, key.private_numbers().d
        back = crk.op(crk.RSA_DECRYPT, crk.PKCS1)
        for em in (b"\0\1" + bytes(126), b"\0\2" + b"\1" * 126,
                   b"\1\2" + b"\1" * 9 + bytes(117),
                   b"\0\2" + b"\1" * 7 + b"\0" + b"\1" * 118):
            x = int.from_bytes(em, "big") % n
            sent = crk.big(pow(x, 65537, n), 128)
            one, = self.octets(back, sent, private_der(key), out=(128,))
            two, = self.octets(back, sent, private_der(key), out=(128,))
            self.assertEqual(one, two)
            self.assertEqual(rejected(sent, n, d), one)

    def test_digests_of_other_lengths(self):
        key = rsa.generate_private_key(65537, 1024)
        for scheme in (crk.PKCS1, crk.PSS):
            for n in (1, 31, 33, 64):
                for code, more in ((crk.RSA_SIGN, [private_der(key)]),
                                   (crk.RSA_VERIFY, [bytes(128),
                                                     public_der(key)])):
                    self.fails(EINVAL, crk.op(code, scheme, "sha256"),
                               bytes(n), *more,
                               out=(128,) if code == crk.RSA_SIGN else ())

    def test_a_weak_hash(self):
        """Only if the administrator has allowed it."""
        key = rsa.generate_private_key(65537, 1024)
        code = crk.op(crk.RSA_SIGN, crk.PKCS1, "md5")
        digest = hashlib.md5(b"text").digest()
        self.addCleanup(ALLOW_WEAK.write_text, ALLOW_WEAK.read_text())
        ALLOW_WEAK.write_text("none")
        self.fails(EPERM, code, digest, private_der(key), out=(128,))
        ALLOW_WEAK.write_text("md5")
        signature, = self.octets(code, digest, private_der(key), out=(128,))
        key.public_key().verify(signature, b"text", padding.PKCS1v15(),
                                hashes.MD5())

    def test_a_key_that_lies(self):
        """A key whose dP is wrong: its result would give q away."""
        k = rsa.generate_private_key(65537, 1024).private_numbers()
        pub = k.public_numbers
        der = sequence(0, pub.n, pub.e, k.d, k.p, k.q, k.dmp1 ^ 2, k.dmq1,
                       k.iqmp)
        self.fails(EKEYREJECTED, crk.RSA_DECRYPT, b"\7", der, out=(128,))


def rejected(sent: bytes, n: int, d: int) -> bytes:
    """draft-irtf-cfrg-rsa-guidance, section 7.2"""
    size = len(sent)
    key = hmac.digest(hashlib.sha256(crk.big(d, size)).digest(), sent,
                      "sha256")

    def prf(label: bytes, length: int) -> bytes:
        out = b""
        for i in range((length + 31) // 32):
            out += hmac.digest(key, i.to_bytes(2, "big") + label +
                               (8 * length).to_bytes(2, "big"), "sha256")
        return out[:length]

    lengths, message = prf(b"length", 256), prf(b"message", size)
    most, length = size - 10, 0
    mask = (1 << most.bit_length()) - 1
    for i in range(0, 256, 2):
        candidate = int.from_bytes(lengths[i:i + 2], "big") & mask
        if candidate < most:
            length = candidate
    return message[size - length:]


class Quota(Case):
    def test_what_fails_is_not_under_way_any_more(self):
        self.addCleanup(MAX_KEYS.write_text, MAX_KEYS.read_text())
        MAX_KEYS.write_text("2")
        pid = os.fork()
        if not pid:
            os.setuid(65534)    # root may exceed it
            for _ in range(5):
                try:
                    self.dev.octets(crk.MOD, b"\5", b"\0", out=(1,), call=CALL,
                                    crid=CRID)
                except crk.Failed as e:
                    if e.errno != EDOM:
                        os._exit(e.errno)
            three, = self.dev.octets(crk.MOD, b"\3", b"\5", out=(1,), call=CALL,
                                     crid=CRID)
            os._exit(0 if three == b"\3" else 1)
        self.assertEqual(0, os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))


class Dsa(Case):
    def test_both_ways(self):
        for bits in (1024, 2048):
            key = dsa.generate_private_key(bits)
            k = key.private_numbers()
            y, par = k.public_numbers.y, k.public_numbers.parameter_numbers
            size = (par.q.bit_length() + 7) // 8
            for name in ("sha1", "sha256", "sha512"):
                with self.subTest(bits=bits, hash=name):
                    self.one(key, k.x, y, par, size, name)

    def one(self, key, x, y, par, size, name):
        domain = par.p, par.q, par.g
        digest = hashlib.new(name, b"text").digest()
        r, s = self.numbers(crk.DSA_SIGN, digest, *domain, x, out=(size, size))
        key.public_key().verify(utils.encode_dss_signature(r, s), digest,
                                utils.Prehashed(HASH[name]))
        again = self.numbers(crk.DSA_SIGN, digest, *domain, x,
                             out=(size, size))
        self.assertNotEqual([r, s], again)
        theirs = utils.decode_dss_signature(
            key.sign(digest, utils.Prehashed(HASH[name])))
        self.numbers(crk.DSA_VERIFY, digest, *domain, y, *theirs)
        for bad in ((r ^ 1, s), (r, s ^ 1), (0, s), (r, 0), (par.q, s),
                    (r, par.q), (r + par.q, s), (1, 1)):
            raw = [crk.little(n) for n in (*domain, y, *bad)]
            self.fails(EBADMSG, crk.DSA_VERIFY, digest, *raw)

    def test_what_is_no_group(self):
        key = dsa.generate_private_key(1024).private_numbers()
        par = key.public_numbers.parameter_numbers
        p, q, g, x = par.p, par.q, par.g, key.x
        for bad in ((p, 1, g, x), (p, q, 0, x), (p, q, 1, x), (p, q, p, x),
                    (p, q, g, 0), (p, q, g, q), (q, p, g, x), (p, 3, g, x),
                    (p, q + 1, g, x), (p + 1, q, g, x),
                    # r is zero whatever the nonce is
                    (3 * ((1 << 159) + 5), (1 << 159) + 5, (1 << 159) + 5, 1)):
            raw = [crk.little(n) for n in bad]
            self.fails(EKEYREJECTED, crk.DSA_SIGN, b"d" * 20, *raw,
                       out=(20, 20))


class Dh(Case):
    # RFC 7919, appendix A.1
    P = int(
        "FFFFFFFFFFFFFFFFADF85458A2BB4A9AAFDC5620273D3CF1"
        "D8B9C583CE2D3695A9E13641146433FBCC939DCE249B3EF9"
        "7D2FE363630C75D8F681B202AEC4617AD3DF1ED5D5FD6561"
        "2433F51F5F066ED0856365553DED1AF3B557135E7F57C935"
        "984F0C70E0E68B77E2A689DAF3EFE8721DF158A136ADE735"
        "30ACCA4F483A797ABC0AB182B324FB61D108A94BB2C8E3FB"
        "B96ADAB760D7F4681D4F42A3DE394DF4AE56EDE76372BB19"
        "0B07A7C8EE0A6D709E02FCE1CDF7E2ECC03404CD28342F61"
        "9172FE9CE98583FF8E4F1232EEF28183C3FE3B1B4C6FAD73"
        "3BB5FCBC2EC22005C58EF1837D1683B2C6F34A26C1B2EFFA"
        "886B423861285C97FFFFFFFFFFFFFFFF", 16)

    def test_two_agree(self):
        a, b = (self.rnd.randrange(2, self.P - 2) for _ in "ab")
        one, = self.numbers(crk.DH, a, pow(2, b, self.P), self.P, out=(256,))
        self.assertEqual(pow(2, a * b, self.P), one)

    def test_what_is_refused(self):
        for public in (0, 1, self.P - 1, self.P, self.P + 5):
            self.fails(EKEYREJECTED, crk.DH, crk.little(7), crk.little(public),
                       crk.little(self.P), out=(256,))
        self.fails(EDOM, crk.DH, b"\0", b"\2", crk.little(self.P), out=(256,))


class Elliptic(Case):
    def curves(self):
        for name, curve in CURVE.items():
            key = ec.generate_private_key(curve)
            size = (curve.key_size + 7) // 8
            point = key.public_key().public_bytes(
                serialization.Encoding.X962,
                serialization.PublicFormat.UncompressedPoint)
            with self.subTest(curve=name):
                yield name, key, crk.big(key.private_numbers().private_value,
                                         size), point, size

    def test_public(self):
        for name, _, secret, point, size in self.curves():
            self.assertEqual([point], self.octets(
                crk.op(crk.EC_PUBLIC, curve=name), secret,
                out=(1 + 2 * size,)))
            self.fails(ENOSPC, crk.op(crk.EC_PUBLIC, curve=name), secret,
                       out=(2 * size,))

    def test_keys_at_the_ends(self):
        """The kernel's own point multiplication is wrong for small private keys
        on P-521."""
        for name in CURVE:
            n, size = order(name), len(crk.big(prime(name)))
            g = ec.derive_private_key(1, CURVE[name]).public_key()
            edge = 2 * (2**521 - n) if name == "P-521" else n // 2
            for k in (2, 3, 12345, 2**64, 2**200, edge - 1, edge, edge + 1,
                      n - 4, n - 3):
                with self.subTest(curve=name, k=hex(k)):
                    point = ec.derive_private_key(
                        k, CURVE[name]).public_key().public_bytes(
                        serialization.Encoding.X962,
                        serialization.PublicFormat.UncompressedPoint)
                    secret = crk.big(k, size)
                    self.assertEqual([point], self.octets(
                        crk.op(crk.EC_PUBLIC, curve=name), secret,
                        out=(1 + 2 * size,)))
                    self.assertEqual([point[1:1 + size]], self.octets(
                        crk.op(crk.ECDH, curve=name), secret, g.public_bytes(
                            serialization.Encoding.X962,
                            serialization.PublicFormat.UncompressedPoint),
                        out=(size,)))

    def test_two_agree(self):
        for name, key, secret, _, size in self.curves():
            for _ in range(3):
                peer = ec.generate_private_key(CURVE[name]).public_key()
                point = peer.public_bytes(
                    serialization.Encoding.X962,
                    serialization.PublicFormat.UncompressedPoint)
                self.assertEqual([key.exchange(ec.ECDH(), peer)], self.octets(
                    crk.op(crk.ECDH, curve=name), secret, point, out=(size,)))

    def test_with_the_generator(self):
        """The generator's multiples are right, although the kernel's library
        cannot add some of these points."""
        for name, key, secret, point, size in self.curves():
            one = ec.derive_private_key(1, CURVE[name]).public_key()
            n = one.public_numbers()
            for y in (n.y, prime(name) - n.y):
                g = b"\4" + crk.big(n.x, size) + crk.big(y, size)
                self.assertEqual([point[1:1 + size]], self.octets(
                    crk.op(crk.ECDH, curve=name), secret, g, out=(size,)))
            sig = utils.decode_dss_signature(
                ec.derive_private_key(1, CURVE[name]).sign(
                    b"t" * 32, ec.ECDSA(utils.Prehashed(hashes.SHA256()))))
            self.octets(crk.op(crk.ECDSA_VERIFY, curve=name), b"t" * 32,
                        b"\4" + crk.big(n.x, size) + crk.big(n.y, size),
                        *(crk.big(i) for i in sig))

    def test_points_and_keys_that_are_none(self):
        for name, _, secret, point, size in self.curves():
            code = crk.op(crk.ECDH, curve=name)
            bad = bytearray(point)
            bad[-1] ^= 1
            p = crk.big(prime(name), size)
            for peer in (bytes(bad), b"\4" + bytes(2 * size), b"\0",
                         b"\2" + point[1:1 + size], point[:-1],
                         point + b"\0", b"\4" + p + p,
                         b"\4" + point[1:1 + size] + b"\xff" * size):
                self.fails(EKEYREJECTED, code, secret, peer, out=(size,))
            for key in (b"\0", b"\xff" * size, b"\1" + bytes(size)):
                self.fails(EKEYREJECTED, code, key, point, out=(size,))

    def test_signatures(self):
        for name, key, secret, point, size in self.curves():
            for hash_name in ("sha1", "sha256", "sha384", "sha512"):
                digest = hashlib.new(hash_name, b"text").digest()
                self.one(name, key, secret, point, size, digest,
                         ec.ECDSA(utils.Prehashed(HASH[hash_name])))

    def one(self, name, key, secret, point, size, digest, theirs):
        code = crk.op(crk.ECDSA_SIGN, curve=name)
        check = crk.op(crk.ECDSA_VERIFY, curve=name)
        r, s = self.octets(code, digest, secret, out=(size, size))
        key.public_key().verify(utils.encode_dss_signature(
            int.from_bytes(r, "big"), int.from_bytes(s, "big")), digest,
            theirs)
        self.assertNotEqual([r, s], self.octets(code, digest, secret,
                                                out=(size, size)))
        self.octets(check, digest, point, r, s)
        self.octets(check, digest, point, *(crk.big(i) for i in
                    utils.decode_dss_signature(key.sign(digest, theirs))))
        n = crk.big(order(name), size)
        zero = bytes(size)
        other = bytes([r[0], *r[1:-1], r[-1] ^ 1])
        for bad in ((other, s), (r, other), (zero, s), (r, zero), (n, s),
                    (r, n), (s, r), (b"\1" + r, s), (r, b"\1" + s)):
            self.fails(EBADMSG, check, digest, point, *bad)
        self.fails(EBADMSG, check, b"x" + digest[1:], point, r, s)


def prime(name: str) -> int:
    return {"P-256": 2**256 - 2**224 + 2**192 + 2**96 - 1,
            "P-384": 2**384 - 2**128 - 2**96 + 2**32 - 1,
            "P-521": 2**521 - 1}[name]


def order(name: str) -> int:
    """SP 800-186, section 3.2.1"""
    return {
        "P-256": 0xffffffff00000000ffffffffffffffff
        << 128 | 0xbce6faada7179e84f3b9cac2fc632551,
        "P-384": (1 << 384) - (1 << 192) +
        0xc7634d81f4372ddf581a0db248b0a77aecec196accc52973,
        "P-521": (1 << 521) - (1 << 260) +
        (0xa51868783bf2f966b7fcc0148f709a5d0 << 128 |
         0x3bb5c9b8899c47aebb6fb71e91386409),
    }[name]


class Montgomery(Case):
    def test_two_agree(self):
        for _ in range(ROUNDS):
            a, b = (x25519.X25519PrivateKey.generate() for _ in "ab")
            raw = serialization.Encoding.Raw
            secret = a.private_bytes(raw, serialization.PrivateFormat.Raw,
                                     serialization.NoEncryption())
            public = b.public_key().public_bytes(
                raw, serialization.PublicFormat.Raw)
            self.assertEqual([a.exchange(b.public_key())], self.octets(
                crk.X25519, secret, public, out=(32,)))

    def test_other_lengths(self):
        for own, peer in ((31, 32), (33, 32), (32, 31), (32, 33), (32, 64)):
            self.fails(EINVAL, crk.X25519, b"k" * own, b"\t" * peer,
                       out=(64,))

    def test_small_groups(self):
        for point in (bytes(32), b"\1" + bytes(31)):
            self.fails(EKEYREJECTED, crk.X25519, b"k" * 32, point, out=(32,))
        self.fails(EINVAL, crk.X25519, b"k" * 31, b"p" * 32, out=(32,))
        self.fails(EINVAL, crk.X25519, b"k" * 32, b"p" * 33, out=(32,))
        self.fails(ENOSPC, crk.X25519, b"k" * 32, b"p" * 32, out=(31,))


if __name__ == "__main__":
    print(f"OCF_SEED={SEED}", file=sys.stderr)
    unittest.main(verbosity=2)
