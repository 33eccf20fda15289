#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""In the test machine: RSA on a virtio-crypto card, which is QEMU's.

    tests/pk/virtio.py DIRECTORY [UNITTEST...]

DIRECTORY has keys, rsaBITS.pem.
"""

import hashlib
import math
import pathlib
import sys
import unittest
from errno import EBADMSG, EINVAL, EIO, EKEYREJECTED, ENODEV

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(TOP / "tests" / "lib"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import crk  # noqa: E402
from cryptography.hazmat.primitives import hashes  # noqa: E402
from cryptography.hazmat.primitives.asymmetric import padding  # noqa: E402
from load import (  # noqa: E402
    SIGNERS, SOON, Key, Load, read_key)
from ocf import Device, wait_for, write  # noqa: E402

KEYS = pathlib.Path(sys.argv[1])
# what QEMU 7.2 has of the hashes of the interface
HAS = {"sha1": hashes.SHA1, "sha256": hashes.SHA256, "sha512": hashes.SHA512}
HAS_NOT = {"sha224": hashes.SHA224, "sha384": hashes.SHA384}
KEPT = 16       # keys a card keeps
SIZES = (1024, 2048, 3072, 4096, 8192)
NUMBERS = ("version", "n", "e", "d", "p", "q", "dp", "dq", "qinv")
# Errors for a key with one number that is zero, wrong, or too long.  It is
# refused by the parser (EINVAL), by the core, or by the driver (ENODEV: no
# other device may do it), or its result is wrong (EIO). 0: no error, the card
# does not use d.
BAD = {"n": (EINVAL, ENODEV, EKEYREJECTED),
       "e": (EKEYREJECTED, EIO, EKEYREJECTED), "d": (ENODEV, 0, EINVAL),
       "p": (ENODEV, ENODEV, ENODEV), "q": (ENODEV, ENODEV, ENODEV),
       "dp": (ENODEV, EIO, ENODEV), "dq": (ENODEV, EIO, ENODEV),
       "qinv": (ENODEV, EIO, ENODEV)}


def key_of(bits: int) -> Key:
    return read_key(KEYS / f"rsa{bits}.pem")


class Virtio(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.dev = crk.Device()
        cls.cards = [Device("virtio0"), Device("virtio1")]
        cls.number = int(cls.cards[0].text("number"))
        cls.key = key_of(2048)

    def setUp(self):
        self.operations = self.cards[0].counter("pk_operations")

    def tearDown(self):
        for card in self.cards:
            self.assertEqual("ready", card.state())
            # it may be asked for known answers just now
            self.assertTrue(wait_for(
                lambda c=card: not c.counter("pk_inflight"), SOON))

    def on_card(self) -> int:
        return self.cards[0].counter("pk_operations") - self.operations

    def kept(self) -> int:
        return int(self.cards[0].text("device/card/keys"))

    def sign(self, key: Key, digest: bytes, hash: str, crid: int = -1) -> bytes:
        """Signs on the first card, unless @crid is given."""
        (sig,), used = self.dev.call(
            crk.op(crk.RSA_SIGN, crk.PKCS1, hash), [digest, key.der],
            [key.size], crk.BSD_CIOCKEY2, self.number if crid < 0 else crid)
        if crid < 0:
            self.assertEqual(self.number, used)
        return sig

    def verify(self, key: Key, digest: bytes, sig: bytes, hash: str) -> None:
        self.dev.call(crk.op(crk.RSA_VERIFY, crk.PKCS1, hash),
                      [digest, sig, key.public_der], [], crk.BSD_CIOCKEY2,
                      self.number)

    def refused(self, err: int, what, *args, **more) -> None:
        with self.assertRaises(OSError) as seen:
            what(*args, **more)
        self.assertEqual(err, seen.exception.errno)

    def refusal(self, bad: Key, crid: int = -1) -> int:
        """What a key is refused with.  About one of the card's answers in 200
        is too short to be checked (ENODEV).  Then another digest is tried.
        """
        for i in range(4):
            digest = hashlib.sha256(b"%d" % i).digest()
            with self.assertRaises(OSError) as seen:
                self.sign(bad, digest, "sha256", crid)
            if seen.exception.errno != ENODEV:
                break
        return seen.exception.errno

    def signature(self, key: Key, text: bytes,
                  hash: str) -> tuple[bytes, bytes]:
        """QEMU's card loses the one signature in 256 that begins with a zero
        byte.  Then another text is signed."""
        for i in range(8):
            text += b"."
            try:
                return text, self.sign(key, hashlib.new(hash, text).digest(),
                                       hash)
            except OSError:
                if i == 7:
                    raise

    def test_what_it_has(self):
        """QEMU's card refuses RSA without padding, so it has only two of the
        four RSA operations."""
        for card in self.cards:
            names = {row[0] for row in card.table("public_key_cost")}
            self.assertLessEqual({"rsa-sign", "rsa-verify"}, names)
            self.assertFalse({"rsa-encrypt", "rsa-decrypt"} & names)

    def test_signatures(self):
        for bits in SIZES:
            key = key_of(bits)
            for hash, theirs in HAS.items():
                with self.subTest(bits=bits, hash=hash):
                    text, sig = self.signature(key, b"text", hash)
                    key.public.verify(sig, text, padding.PKCS1v15(), theirs())
                    self.verify(key, hashlib.new(hash, text).digest(), sig,
                                hash)
        self.assertLessEqual(2 * len(HAS) * len(SIZES), self.on_card())

    def test_wrong_ones_are_refused(self):
        text, sig = self.signature(self.key, b"text", "sha256")
        digest = hashlib.sha256(text).digest()
        for i in (0, 100, 255):
            bad = bytearray(sig)
            bad[i] ^= 1
            self.refused(EBADMSG, self.verify, self.key, digest, bytes(bad),
                         "sha256")
        self.refused(EBADMSG, self.verify, self.key, bytes(32), sig, "sha256")
        self.refused(EBADMSG, self.verify, key_of(1024), digest, sig, "sha256")

    def test_one_that_begins_with_zero(self):
        """QEMU drops the last byte of a signature that begins with zero.  That
        is no reason to give up a card, however often somebody asks for it.
        """
        key = key_of(1024)
        for i in range(4096):
            digest = hashlib.sha256(b"%d" % i).digest()
            want = self.sign(key, digest, "sha256", crk.SOFTWARE)
            if not want[0]:
                break
        for _ in range(6):
            self.refused(ENODEV, self.sign, key, digest, "sha256")
            self.assertEqual(want, self.sign(key, digest, "sha256",
                                             crk.HARDWARE | crk.SOFTWARE))

    def test_hashes_it_has_not(self):
        for hash, theirs in HAS_NOT.items():
            digest = hashlib.new(hash, b"text").digest()
            self.refused(ENODEV, self.sign, self.key, digest, hash)
            sig = self.sign(self.key, digest, hash, crk.HARDWARE |
                            crk.SOFTWARE)
            self.key.public.verify(sig, b"text", padding.PKCS1v15(),
                                         theirs())

    def test_paddings_it_is_not_asked_for(self):
        """Nor is it asked to remove a padding: its answer would be a padding
        oracle."""
        size = [256]
        for code, what in (
                (crk.op(crk.RSA_SIGN), [b"\1", self.key.der]),
                (crk.op(crk.RSA_SIGN, crk.PSS, "sha256"),
                 [bytes(32), self.key.der]),
                (crk.op(crk.RSA_DECRYPT, crk.PKCS1), [bytes(256),
                                                      self.key.der]),
                (crk.op(crk.RSA_DECRYPT), [b"\1", self.key.der]),
                (crk.op(crk.RSA_ENCRYPT), [b"\1", self.key.public_der]),
                (crk.MOD_EXP, [b"\3", b"\5", b"\7"])):
            with self.subTest(code=hex(code)):
                self.refused(ENODEV, self.dev.call, code, what, size,
                             crk.BSD_CIOCKEY2, self.number)

    def test_more_keys_than_it_keeps(self):
        """Each key signs correctly, although not all of them can be kept.
        Later the driver forgets keys that are not used."""
        n, p, q = self.key.n, *self.key.numbers[4:6]
        most, keys = 0, []
        for e in range(3, 999, 2):
            if math.gcd(e, (p - 1) * (q - 1)) == 1:
                d = pow(e, -1, (p - 1) * (q - 1))
                keys.append(Key(0, n, e, d, p, q, d % (p - 1), d % (q - 1),
                                pow(q, -1, p)))
        keys = keys[:2 * KEPT + 3]
        before = (b"\0\1" + b"\xff" * 202 + b"\0" + bytes.fromhex(
            "3031300d060960864801650304020105000420"))
        for key in keys + keys[::-1]:
            text, sig = self.signature(key, b"text", "sha256")
            em = before + hashlib.sha256(text).digest()
            self.assertEqual(int.from_bytes(em, "big"),
                             pow(int.from_bytes(sig, "big"), key.e, n))
            most = max(most, self.kept())
        # those of long ago are forgotten, if it is slow
        self.assertLessEqual(KEPT // 2, most)
        self.assertLessEqual(most, KEPT)
        self.assertTrue(wait_for(lambda: not self.kept(), SOON))

    def test_keys_that_a_card_must_not_have(self):
        """Keys with a number that is zero, wrong or too long."""
        good = self.key.numbers
        for at, name in enumerate(NUMBERS):
            # d may be some bytes shorter than the modulus, though seldom
            values = (0, good[at] + 2, good[at] << 64)
            for value, want in zip(values, BAD.get(name, ())):
                bad = list(good)
                bad[at] = value
                with self.subTest(name=name, value=hex(value)[:12]):
                    if want:
                        self.assertEqual(want, self.refusal(Key(*bad)))
                    else:
                        self.signature(Key(*bad), b"text", "sha256")

    def test_nobody_is_blamed_for_a_bad_key(self):
        """The card's result with a bad key is wrong.  No user gets it, and the
        card stays in use."""
        k = list(self.key.numbers)
        # dp: only one number below p is right, so this one is wrong
        k[6] ^= 2
        for crid in (self.number, crk.HARDWARE, crk.HARDWARE | crk.SOFTWARE):
            for _ in range(6):
                self.assertIn(self.refusal(Key(*k), crid),
                              (EIO, EKEYREJECTED))
        for card in self.cards:
            self.assertEqual("ready", card.state())
        self.assertLess(0, self.on_card())

    def test_many_sign(self):
        before = [c.counter("pk_operations") for c in self.cards]
        with Load(self.key, crk.HARDWARE | crk.SOFTWARE) as load:
            self.assertTrue(load.goes_on(8 * SIGNERS))
        self.assertEqual(([], []), (load.wrong, load.failed))
        for card, was in zip(self.cards, before):
            self.assertLess(was, card.counter("pk_operations"))

    def test_drained_and_back(self):
        """Its keys go with its sessions."""
        with Load(self.key, crk.HARDWARE | crk.SOFTWARE) as load:
            for _ in range(4):
                self.assertTrue(load.goes_on(8))
                write(self.cards[0].path / "state", "drain")
                self.assertTrue(wait_for(lambda: not self.cards[0].counter(
                    "pk_inflight"), SOON))
                self.assertTrue(load.goes_on(8))
                write(self.cards[0].path / "state", "resume")
        self.assertEqual(([], []), (load.wrong, load.failed))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:], verbosity=2)
