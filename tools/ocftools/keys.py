# SPDX-License-Identifier: BSD-2-Clause
"""Public-key operations, by chance, against OpenSSL and Python's integers."""

import functools
import hashlib
import math
import random
from dataclasses import dataclass
from errno import EBADMSG, EDOM, EOPNOTSUPP
from typing import Callable, Sequence

import ocf
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import (
    dsa, ec, padding, rsa, utils, x25519)
from ocf import Code, Curve, Scheme

from .trials import Wrong

HASHES = {"sha1": hashes.SHA1(), "sha224": hashes.SHA224(),
          "sha256": hashes.SHA256(), "sha384": hashes.SHA384(),
          "sha512": hashes.SHA512()}
CURVES = {Curve.P256: ec.SECP256R1(), Curve.P384: ec.SECP384R1(),
          Curve.P521: ec.SECP521R1()}
RSA_BITS = (1024, 2048)
DSA_BITS = 1024, 160              # of p and q (FIPS 186-4, 4.2)
NUMBER_BITS = 1024
SIEVE = [n for n in range(3, 2000, 2)
         if all(n % d for d in range(3, math.isqrt(n) + 1, 2))]


@dataclass
class Bench:
    """Where operations are tried, and what they have come to."""

    dev: ocf.Device
    device: str
    seed: int                     # of keys
    rnd: random.Random
    operations: int = 0
    bytes: int = 0

    def ask(self, code: Code, *operands: bytes, out: Sequence[int] = (),
            **more) -> list[bytes]:
        found = self.dev.public(code, *operands, out=out, device=self.device,
                                **more)
        self.operations += 1
        self.bytes += sum(map(len, operands))
        return found

    def refuses(self, err: int, code: Code, *operands: bytes,
                out: Sequence[int] = (), **more) -> None:
        try:
            self.ask(code, *operands, out=out, **more)
        except ocf.Error as why:
            if why.errno == EOPNOTSUPP:
                raise
            if why.errno != err:
                raise Wrong(f"{code.name}: {why.strerror}") from None
            self.operations += 1
            return
        raise Wrong(f"{code.name}: wrong input was accepted")

    def number(self, most: int = NUMBER_BITS) -> int:
        """A random number.  It is often odd, the largest or smallest of its
        length, or fills whole 64-bit words."""
        rnd = self.rnd
        bits = rnd.choice([rnd.randint(1, 130), rnd.randint(1, most),
                           64 * rnd.randint(1, most // 64)])
        n = rnd.getrandbits(bits)
        return rnd.choice([n, n, n, n | 1, (1 << bits) - 1, 1 << bits - 1])

    def digest(self) -> tuple[str, bytes]:
        name = self.rnd.choice(list(HASHES))
        return name, hashlib.new(name, self.rnd.randbytes(9)).digest()

    def spoil(self, data: bytes) -> bytes:
        at = self.rnd.randrange(len(data))
        return data[:at] + bytes([data[at] ^ 1]) + data[at + 1:]


def big(number: int, size: int = 0) -> bytes:
    return number.to_bytes(size or max((number.bit_length() + 7) // 8, 1),
                           "big")


def same(what: str, want: bytes, got: bytes) -> None:
    if want != got:
        raise Wrong(f"{what}: {got.hex()}, and not {want.hex()}")


# Keys, the same for the same seed ------------------------------------------


def is_prime(n: int, rnd: random.Random) -> bool:
    """Miller and Rabin's; of numbers drawn at random."""
    if any(n % d == 0 for d in SIEVE):
        return False
    s = (n - 1 & 1 - n).bit_length() - 1
    for _ in range(8):
        x = pow(rnd.randrange(2, n - 1), n - 1 >> s, n)
        if x in (1, n - 1):
            continue
        for _ in range(s - 1):
            x = x * x % n
            if x == n - 1:
                break
        else:
            return False
    return True


def prime(bits: int, rnd: random.Random) -> int:
    while True:
        n = rnd.getrandbits(bits) | 3 << bits - 2 | 1
        if math.gcd(n - 1, 65537) == 1 and is_prime(n, rnd):
            return n


@functools.lru_cache
def rsa_key(seed: int, bits: int) -> rsa.RSAPrivateKey:
    rnd = random.Random(f"{seed} rsa {bits}")
    p, q = (prime(bits // 2, rnd) for _ in "pq")
    d = pow(65537, -1, (p - 1) * (q - 1))
    return rsa.RSAPrivateNumbers(
        p, q, d, d % (p - 1), d % (q - 1), pow(q, -1, p),
        rsa.RSAPublicNumbers(65537, p * q)).private_key()


@functools.lru_cache
def dsa_key(seed: int) -> dsa.DSAPrivateKey:
    rnd = random.Random(f"{seed} dsa")
    pbits, qbits = DSA_BITS
    q = prime(qbits, rnd)
    while True:
        p = (rnd.getrandbits(pbits) | 1 << pbits - 1) // (2 * q) * 2 * q + 1
        if p.bit_length() == pbits and is_prime(p, rnd):
            break
    g = pow(2, (p - 1) // q, p)
    x = rnd.randrange(2, q - 1)
    return dsa.DSAPrivateNumbers(x, dsa.DSAPublicNumbers(
        pow(g, x, p), dsa.DSAParameterNumbers(p, q, g))).private_key()


def private_der(key: rsa.RSAPrivateKey) -> bytes:
    return key.private_bytes(serialization.Encoding.DER,
                             serialization.PrivateFormat.TraditionalOpenSSL,
                             serialization.NoEncryption())


def public_der(key: rsa.RSAPrivateKey) -> bytes:
    return key.public_key().public_bytes(serialization.Encoding.DER,
                                         serialization.PublicFormat.PKCS1)


def point(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.public_key().public_bytes(
        serialization.Encoding.X962,
        serialization.PublicFormat.UncompressedPoint)


# Arithmetic ----------------------------------------------------------------


def arithmetic(b: Bench, code: Code) -> None:
    answer, count = ARITHMETIC[code]
    m = b.number() or 1
    # Montgomery's way, which cards take, has odd moduli only
    if code == Code.MOD_EXP:
        m |= 1
    given = [b.number() for _ in range(count)]
    size = len(big(m))
    got, = b.ask(code, *map(big, given), big(m), out=[size])
    same(f"{code.name} of {given} modulo {m}", big(answer(*given, m), size),
         got)


def inverse(b: Bench, code: Code) -> None:
    a, m = b.number(), b.number() or 1
    if math.gcd(a % m, m) == 1 and a % m:
        got, = b.ask(code, big(a), big(m), out=[len(big(m))])
        same(f"{a} inverted modulo {m}", big(pow(a, -1, m), len(big(m))), got)
    else:
        b.refuses(EDOM, code, big(a), big(m), out=[len(big(m))])


ARITHMETIC: dict[Code, tuple[Callable[..., int], int]] = {
    Code.MOD_EXP: (pow, 2),
    Code.MOD_ADD: (lambda x, y, m: (x + y) % m, 2),
    Code.MOD_NEG: (lambda x, m: -x % m, 1),
    Code.MOD_SUB: (lambda x, y, m: (x - y) % m, 2),
    Code.MOD_MUL: (lambda x, y, m: x * y % m, 2),
    Code.MOD: (lambda x, m: x % m, 1),
}


def power_by_crt(b: Bench, code: Code) -> None:
    k = rsa_key(b.seed, b.rnd.choice(RSA_BITS)).private_numbers()
    n = k.public_numbers.n
    x = b.rnd.choice([b.rnd.randrange(n), 0, 1, n - 1, k.p])
    got, = b.ask(code, *map(big, (k.p, k.q, x, k.dmp1, k.dmq1, k.iqmp)),
                 out=[len(big(n))])
    same(f"{x} by an RSA key of {n.bit_length()} bits",
         big(pow(x, k.d, n), len(big(n))), got)


# RSA -----------------------------------------------------------------------


def signature_scheme(b: Bench, size: int) -> tuple[Scheme, str, bytes, object]:
    name, digest = b.digest()
    scheme = b.rnd.choice([Scheme.PKCS1, Scheme.PSS])
    if scheme == Scheme.PSS and size < 2 * len(digest) + 3:
        scheme = Scheme.PKCS1
    return scheme, name, digest, padding.PKCS1v15() \
        if scheme == Scheme.PKCS1 else padding.PSS(
            padding.MGF1(HASHES[name]), len(digest))


def rsa_sign(b: Bench, code: Code) -> None:
    key = rsa_key(b.seed, b.rnd.choice(RSA_BITS))
    size = key.key_size // 8
    scheme, name, digest, theirs = signature_scheme(b, size)
    got, = b.ask(code, digest, private_der(key), out=[size], scheme=scheme,
                 hash=name, salt=len(digest) if scheme == Scheme.PSS else 0)
    try:
        key.public_key().verify(got, digest, theirs,
                                utils.Prehashed(HASHES[name]))
    except InvalidSignature:
        raise Wrong(f"a signature of {key.key_size} bits, {scheme.name}, "
                    f"{name}") from None


def rsa_verify(b: Bench, code: Code) -> None:
    key = rsa_key(b.seed, b.rnd.choice(RSA_BITS))
    scheme, name, digest, theirs = signature_scheme(b, key.key_size // 8)
    signature = key.sign(digest, theirs, utils.Prehashed(HASHES[name]))
    more = {"scheme": scheme, "hash": name, "salt": ocf.abi.PK_SALT_ANY
            if scheme == Scheme.PSS else 0}
    b.ask(code, digest, signature, public_der(key), **more)
    b.refuses(EBADMSG, code, digest, b.spoil(signature), public_der(key),
              **more)
    b.refuses(EBADMSG, code, b.spoil(digest), signature, public_der(key),
              **more)


def encryption_scheme(b: Bench, size: int) -> tuple:
    name, digest = b.digest()
    scheme = b.rnd.choice([Scheme.PKCS1, Scheme.OAEP])
    most = size - 2 * len(digest) - 2
    if scheme == Scheme.PKCS1 or most < 0:
        return Scheme.PKCS1, "", b"", size - 11, padding.PKCS1v15()
    label = b.rnd.choice([b"", b"label"])
    return scheme, name, label, most, padding.OAEP(
        padding.MGF1(HASHES[name]), HASHES[name], label or None)


def rsa_encrypt(b: Bench, code: Code) -> None:
    key = rsa_key(b.seed, b.rnd.choice(RSA_BITS))
    size = key.key_size // 8
    scheme, name, label, most, theirs = encryption_scheme(b, size)
    data = b.rnd.randbytes(b.rnd.randint(0, most))
    sent, = b.ask(code, data, public_der(key), label, out=[size],
                  scheme=scheme, hash=name)
    same(f"{scheme.name}, {name}", data, key.decrypt(sent, theirs))


def rsa_decrypt(b: Bench, code: Code) -> None:
    key = rsa_key(b.seed, b.rnd.choice(RSA_BITS))
    size = key.key_size // 8
    scheme, name, label, most, theirs = encryption_scheme(b, size)
    data = b.rnd.randbytes(b.rnd.randint(0, most))
    sent = key.public_key().encrypt(data, theirs)
    more = {"out": [size], "scheme": scheme, "hash": name}
    got, = b.ask(code, sent, private_der(key), label, **more)
    same(f"{scheme.name}, {name}", data, got)
    if scheme == Scheme.OAEP:
        b.refuses(EBADMSG, code, sent, private_der(key), label + b".", **more)


# Discrete logarithms -------------------------------------------------------


def dsa_facts(b: Bench) -> tuple:
    key = dsa_key(b.seed)
    k = key.private_numbers()
    par = k.public_numbers.parameter_numbers
    return (key, [big(n) for n in (par.p, par.q, par.g)], k,
            hashlib.sha1(b.rnd.randbytes(9)).digest())


def dsa_sign(b: Bench, code: Code) -> None:
    key, domain, k, digest = dsa_facts(b)
    r, s = b.ask(code, digest, *domain, big(k.x), out=[DSA_BITS[1] // 8] * 2)
    check_pair(key, r, s, digest, utils.Prehashed(HASHES["sha1"]))


def check_pair(key, r: bytes, s: bytes, digest: bytes, how) -> None:
    try:
        key.public_key().verify(utils.encode_dss_signature(
            int.from_bytes(r, "big"), int.from_bytes(s, "big")), digest, how)
    except InvalidSignature:
        raise Wrong(f"a signature: r {r.hex()}, s {s.hex()}") from None


def dsa_verify(b: Bench, code: Code) -> None:
    key, domain, k, digest = dsa_facts(b)
    pair = [big(n) for n in utils.decode_dss_signature(
        key.sign(digest, utils.Prehashed(HASHES["sha1"])))]
    y = big(k.public_numbers.y)
    b.ask(code, digest, *domain, y, *pair)
    b.refuses(EBADMSG, code, b.spoil(digest), *domain, y, *pair)


def dh(b: Bench, code: Code) -> None:
    # a group of DSA's parameters is as good as any
    par = dsa_key(b.seed).private_numbers().public_numbers.parameter_numbers
    x, y = (b.rnd.randrange(2, par.q) for _ in "xy")
    got, = b.ask(code, big(x), big(pow(par.g, y, par.p)), big(par.p),
                 out=[len(big(par.p))])
    same("a secret of two", big(pow(par.g, x * y, par.p), len(got)), got)


# Curves --------------------------------------------------------------------


def curve_key(b: Bench) -> tuple:
    curve = b.rnd.choice(list(CURVES))
    size = (CURVES[curve].key_size + 7) // 8
    secret = b.rnd.randrange(2, 1 << CURVES[curve].key_size - 1)
    return curve, size, big(secret, size), ec.derive_private_key(
        secret, CURVES[curve])


def ec_public(b: Bench, code: Code) -> None:
    curve, size, secret, key = curve_key(b)
    got, = b.ask(code, secret, out=[1 + 2 * size], curve=curve)
    same(f"a point of {curve.name}", point(key), got)


def ecdh(b: Bench, code: Code) -> None:
    curve, size, secret, key = curve_key(b)
    peer = ec.derive_private_key(b.rnd.randrange(2, 1 << 255), CURVES[curve])
    got, = b.ask(code, secret, point(peer), out=[size], curve=curve)
    same(f"a secret of {curve.name}",
         key.exchange(ec.ECDH(), peer.public_key()), got)


def ecdsa_sign(b: Bench, code: Code) -> None:
    curve, size, secret, key = curve_key(b)
    name, digest = b.digest()
    r, s = b.ask(code, digest, secret, out=[size, size], curve=curve)
    check_pair(key, r, s, digest, ec.ECDSA(utils.Prehashed(HASHES[name])))


def ecdsa_verify(b: Bench, code: Code) -> None:
    curve, size, _, key = curve_key(b)
    name, digest = b.digest()
    pair = [big(n, size) for n in utils.decode_dss_signature(
        key.sign(digest, ec.ECDSA(utils.Prehashed(HASHES[name]))))]
    b.ask(code, digest, point(key), *pair, curve=curve)
    # ECDSA ignores the end of a digest that is longer than the order, so
    # change the first byte
    bad = bytes([digest[0] ^ 1]) + digest[1:]
    b.refuses(EBADMSG, code, bad, point(key), *pair, curve=curve)
    b.refuses(EBADMSG, code, digest, point(key), *pair[::-1], curve=curve)


def x25519_secret(b: Bench, code: Code) -> None:
    raw = serialization.Encoding.Raw, serialization.PublicFormat.Raw
    own, peer = (b.rnd.randbytes(32) for _ in "ab")
    public = x25519.X25519PrivateKey.from_private_bytes(peer).public_key()
    got, = b.ask(code, own, public.public_bytes(*raw), out=[32])
    same("a secret of X25519", x25519.X25519PrivateKey.from_private_bytes(
        own).exchange(public), got)


OPERATIONS: dict[str, tuple[Callable[[Bench, Code], None], Code]] = {
    "mod-exp": (arithmetic, Code.MOD_EXP),
    "mod-exp-crt": (power_by_crt, Code.MOD_EXP_CRT),
    "mod-add": (arithmetic, Code.MOD_ADD),
    "mod-neg": (arithmetic, Code.MOD_NEG),
    "mod-sub": (arithmetic, Code.MOD_SUB),
    "mod-mul": (arithmetic, Code.MOD_MUL),
    "mod-inv": (inverse, Code.MOD_INV),
    "mod": (arithmetic, Code.MOD),
    "dsa-sign": (dsa_sign, Code.DSA_SIGN),
    "dsa-verify": (dsa_verify, Code.DSA_VERIFY),
    "dh": (dh, Code.DH),
    "rsa-sign": (rsa_sign, Code.RSA_SIGN),
    "rsa-verify": (rsa_verify, Code.RSA_VERIFY),
    "rsa-encrypt": (rsa_encrypt, Code.RSA_ENCRYPT),
    "rsa-decrypt": (rsa_decrypt, Code.RSA_DECRYPT),
    "ec-public": (ec_public, Code.EC_PUBLIC),
    "ecdh": (ecdh, Code.ECDH),
    "ecdsa-sign": (ecdsa_sign, Code.ECDSA_SIGN),
    "ecdsa-verify": (ecdsa_verify, Code.ECDSA_VERIFY),
    "x25519": (x25519_secret, Code.X25519),
}
