#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""In the test machine: records that are not TLS's, described by a descriptor.

    tests/socrypt/framed.py [UNITTEST...]	OCF_SEED, OCF_ROUNDS from the environment

On the other end is Python, which has <linux/so_crypt.h> and nothing of ours.
"""

import errno
import hmac
import pathlib
import random
import socket
import sys
import threading
import unittest
import warnings
from dataclasses import replace

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

sys.dont_write_bytecode = True
sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent),
                str(pathlib.Path(__file__).resolve().parents[1] / "lib")]

import so_crypt as so  # noqa: E402
from both import SOON  # noqa: E402
from records import CIPHERS  # noqa: E402
from rounds import rounds  # noqa: E402
from send import MACS, SEED  # noqa: E402

warnings.simplefilter("ignore")
ROUNDS = rounds(150)
KEYS = {"aes-gcm": 16, "chacha20-poly1305": 32, "aes-cbc": 32, "aes-ctr": 16,
        "des3-cbc": 24}
BLOCK = {"aes-cbc": 16, "des3-cbc": 8}


def xor(a: bytes, b: bytes) -> bytes:
    return bytes(x ^ y for x, y in zip(a, b, strict=True))


class End:
    """One end of a direction."""

    def __init__(self, crypt: so.Crypt, rng: random.Random):
        self.c, self.f, self.rng = crypt, crypt.framing, rng
        self.number, self.iv, self.rest = crypt.number, crypt.iv, b""
        self.counter = crypt.number
        self.aead = self.f.order == so.AEAD
        self.block = BLOCK.get(crypt.cipher, 1)
        self.maclen = crypt.maclen or MACS.get(crypt.mac, 16)

    # -- pieces --------------------------------------------------------------

    def length(self, n: int) -> bytes:
        return n.to_bytes(self.f.length_size, "little" if self.f.flags &
                          so.LITTLE else "big")

    def with_length(self, header: bytes, n: int) -> bytes:
        at = self.f.length_at
        return header[:at] + self.length(n) + header[at + self.f.length_size:]

    def aad(self, header: bytes, explicit: bytes, payload: int,
            data: int) -> bytes:
        out = b""
        if self.f.flags & so.AUTH_NUMBER:
            out += self.number.to_bytes(8, "big")
        if self.f.flags & so.AUTH_HEADER:
            if self.f.auth_length != so.LENGTH_SENT:
                header = self.with_length(header, {
                    so.LENGTH_PAYLOAD: payload,
                    so.LENGTH_SEALED: len(explicit) + data}[self.f.auth_length])
            out += header
        return out + (explicit if self.f.order == so.ENCRYPT_THEN_MAC else b"")

    def mac(self, data: bytes) -> bytes:
        return hmac.digest(self.c.mackey, data,
                           self.c.mac.removeprefix("hmac-"))[:self.maclen]

    def nonce(self, explicit: bytes) -> bytes:
        if self.f.nonce == so.XOR:
            return xor(self.iv, self.number.to_bytes(len(self.iv), "big"))
        if self.f.nonce == so.CHAINED:
            return self.iv
        return self.iv[:12 - len(explicit)] + explicit if self.aead else explicit

    def cipher(self, nonce: bytes) -> Cipher:
        kind = {"des3-cbc": algorithms.TripleDES}.get(self.c.cipher,
                                                      algorithms.AES)
        mode = modes.CTR if self.c.cipher == "aes-ctr" else modes.CBC
        return Cipher(kind(self.c.key), mode(nonce))

    def padding(self, n: int) -> bytes:
        if not self.f.flags & so.PADDED:
            return b""
        n = self.block - n % self.block
        return bytes([n - 1]) * n

    def unpad(self, text: bytes) -> bytes:
        if not self.f.flags & so.PADDED:
            return text
        n = text[-1] + 1
        assert text[-n:] == bytes([n - 1]) * n
        return text[:-n]

    # -- records -------------------------------------------------------------

    def seal(self, kind: int, payload: bytes) -> bytes:
        f = self.f
        explicit = self.rng.randbytes(f.explicit)
        if f.nonce == so.COUNTED:
            explicit = self.counter.to_bytes(8, "big")[8 - f.explicit:]
            self.counter += 1
        nonce, text = self.nonce(explicit), payload
        if f.flags & so.INNER_TYPE:
            text += bytes([kind]) + bytes(self.rng.choice((0, 3)))
        inside = self.maclen if f.order == so.MAC_THEN_ENCRYPT else 0
        data = len(text) + inside + len(self.padding(len(text) + inside))
        after = f.explicit + data + (0 if inside else self.maclen)
        header = f.header
        if f.type_at != so.NOWHERE:
            outer = f.data_type if f.flags & so.INNER_TYPE else kind
            header = header[:f.type_at] + bytes([outer]) + header[f.type_at + 1:]
        header = self.with_length(header, after + f.length_more)
        aad = self.aad(header, explicit, len(payload), data)
        self.number += 1
        if self.aead:
            return header + explicit + CIPHERS[self.c.cipher](
                self.c.key).encrypt(nonce, text, aad)
        if inside:
            text += self.mac(aad + text)
        sealed = self.cipher(nonce).encryptor().update(
            text + self.padding(len(text)))
        self.iv = sealed[-self.block:] if f.nonce == so.CHAINED else self.iv
        return header + explicit + sealed + (
            b"" if inside else self.mac(aad + sealed))

    def feed(self, data: bytes) -> list:
        """Types and payloads of all whole records."""
        f, out = self.f, []
        self.rest += data
        while len(self.rest) >= len(f.header):
            header = self.rest[:len(f.header)]
            n = int.from_bytes(
                header[f.length_at:f.length_at + f.length_size],
                "little" if f.flags & so.LITTLE else "big") - f.length_more
            if len(self.rest) < len(header) + n:
                break
            body = self.rest[len(header):len(header) + n]
            self.rest = self.rest[len(header) + n:]
            out.append(self.open(header, body))
        return out

    def open(self, header: bytes, body: bytes) -> tuple:
        f = self.f
        explicit, body = body[:f.explicit], body[f.explicit:]
        nonce = self.nonce(explicit)
        kind = f.data_type if f.type_at == so.NOWHERE else header[f.type_at]
        if self.aead:
            n = len(body) - self.maclen
            text = CIPHERS[self.c.cipher](self.c.key).decrypt(
                nonce, body, self.aad(header, explicit, n - bool(
                    f.flags & so.INNER_TYPE), n))
        elif f.order == so.ENCRYPT_THEN_MAC:
            body, tag = body[:-self.maclen], body[-self.maclen:]
            text = self.unpad(self.cipher(nonce).decryptor().update(body))
            aad = self.aad(header, explicit, len(text), len(body))
            assert tag == self.mac(aad + body)
        else:
            text = self.unpad(self.cipher(nonce).decryptor().update(body))
            text, tag = text[:-self.maclen], text[-self.maclen:]
            aad = self.aad(header, explicit, len(text), len(body))
            assert tag == self.mac(aad + text)
        self.iv = body[-self.block:] if f.nonce == so.CHAINED else self.iv
        self.number += 1
        if f.flags & so.INNER_TYPE:
            kind, text = text[-1], text[:-1]
        assert len(text) <= f.payload_max
        return kind, text


class Framed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.rng = random.Random(SEED)

    # -- what there may be -----------------------------------------------------

    def crypt(self, cipher: str, framing: so.Framing, mac: str = "",
              **kw) -> so.Crypt:
        iv = {so.XOR: 12, so.COUNTED: 12 - framing.explicit,
              so.CHAINED: BLOCK.get(cipher, 0)}.get(framing.nonce, 0)
        return so.Crypt(so.FRAMED, cipher, self.rng.randbytes(KEYS[cipher]), mac,
                        self.rng.randbytes(MACS.get(mac, 0)),
                        self.rng.randbytes(iv), framing=framing, **kw)

    def any_header(self) -> dict:
        rng = self.rng
        size, before, after = rng.choice((2, 3, 4)), *rng.choices(range(6), k=2)
        n = before + size + after
        free = [i for i in range(n) if not before <= i < before + size]
        return {"header": rng.randbytes(n), "length_at": before,
                "length_size": size,
                "length_more": rng.choice((0, n, -1, 7)),
                "type_at": rng.choice([so.NOWHERE, *free]),
                "data_type": rng.randrange(256)}

    def any_crypt(self) -> so.Crypt:
        """One that makes sense."""
        rng = self.rng
        cipher = rng.choice(list(KEYS))
        order = so.AEAD if cipher in CIPHERS else rng.choice(
            (so.MAC_THEN_ENCRYPT, so.ENCRYPT_THEN_MAC))
        f = so.Framing(order=order, **self.any_header(),
                       flags=rng.choice((0, so.AUTH_NUMBER)) |
                       rng.choice((0, so.AUTH_HEADER)) |
                       rng.choice((0, so.LITTLE)),
                       payload_max=rng.choice((1, 100, 4000, 16384, 65000)))
        f.sealed_max = f.payload_max + 500
        if f.length_size == 2 and f.sealed_max + f.length_more > 65535:
            f.payload_max, f.sealed_max = 16384, 18432
        if order == so.AEAD:
            f.nonce = rng.choice((so.XOR, so.COUNTED))
            f.explicit = 8 if f.nonce == so.COUNTED else 0
            if f.type_at != so.NOWHERE:
                f.flags |= rng.choice((0, so.INNER_TYPE))
                f.data_type |= bool(f.flags & so.INNER_TYPE)
            # not LENGTH_PAYLOAD: Python learns the payload's length only by
            # opening the record
            f.auth_length = rng.choice((so.LENGTH_SENT, so.LENGTH_SEALED))
        else:
            block = BLOCK.get(cipher, 1)
            f.nonce = so.RANDOM if block == 1 else rng.choice(
                (so.RANDOM, so.CHAINED))
            f.explicit = (16 if block == 1 else block) * (f.nonce == so.RANDOM)
            f.flags |= so.PADDED if block > 1 else 0
            if order == so.ENCRYPT_THEN_MAC:
                f.auth_length = rng.choice((so.LENGTH_SENT, so.LENGTH_SEALED))
        mac = "" if order == so.AEAD else rng.choice(list(MACS))
        maclen = rng.choice((0, 10)) if order == so.ENCRYPT_THEN_MAC else 0
        return self.crypt(cipher, f, mac, maclen=maclen)

    # -- both directions ---------------------------------------------------------

    def sends(self, crypt: so.Crypt, data: bytes, kind: int) -> None:
        a, b = so.pair()
        so.attach(a)
        a.setsockopt(so.SOL_OCF, so.TX, crypt.pack())
        end, got = End(crypt, self.rng), []

        def write():
            a.sendall(data)
            if crypt.framing.type_at != so.NOWHERE:
                for text in b"", b"!":
                    a.sendmsg([text], [(so.SOL_OCF, so.TYPE, bytes([kind]))])
            a.shutdown(socket.SHUT_WR)

        writer = threading.Thread(target=write)
        writer.start()
        while piece := b.recv(self.rng.choice((1, 1000, 1 << 16))):
            got += end.feed(piece)
        writer.join(SOON)
        self.assertFalse(end.rest)
        if crypt.framing.type_at != so.NOWHERE:
            self.assertEqual([(kind, b""), (kind, b"!")], got[-2:])
            del got[-2:]
        self.assertLessEqual({k for k, _ in got}, {crypt.framing.data_type})
        self.assertTrue(data == b"".join(text for _, text in got))
        a.close()
        b.close()

    def receives(self, crypt: so.Crypt, data: bytes, kind: int) -> None:
        a, b = so.pair()
        so.attach(b)
        b.setsockopt(so.SOL_OCF, so.RX, crypt.pack())
        end, f, wire, at = End(crypt, self.rng), crypt.framing, b"", 0
        while at < len(data):
            n = self.rng.randint(1, f.payload_max)
            wire += end.seal(f.data_type, data[at:at + n])
            at += n
        if f.type_at != so.NOWHERE:
            wire += end.seal(kind, b"") + end.seal(kind, b"!")
        writer = threading.Thread(target=lambda: (
            a.sendall(wire), a.shutdown(socket.SHUT_WR)))
        writer.start()
        got = b""
        while len(got) < len(data):
            piece = b.recv(self.rng.choice((1, 1000, 1 << 16)))
            self.assertTrue(piece)
            got += piece
        self.assertTrue(data == got)
        if f.type_at != so.NOWHERE:
            control = [(so.SOL_OCF, so.TYPE, bytes([kind]))]
            for text in b"", b"!":
                self.assertEqual((text, control), b.recvmsg(10, 100)[:2])
        self.assertEqual(b"", b.recv(10))
        writer.join(SOON)
        a.close()
        b.close()

    def both_ways(self, crypt: so.Crypt, size: int) -> None:
        f = crypt.framing
        size = min(size, 300 * f.payload_max)
        kind = (f.data_type + self.rng.randint(1, 254)) % 256
        if f.flags & so.INNER_TYPE:
            kind = kind or (1 if f.data_type != 1 else 2)
        self.sends(crypt, self.rng.randbytes(size), kind)
        self.receives(crypt, self.rng.randbytes(size), kind)

    def test_length_prefixed(self):
        """Two bytes of length, IV, AES-CBC, HMAC-SHA-256 over all of it."""
        f = so.Framing(header=bytes(2), order=so.ENCRYPT_THEN_MAC,
                       nonce=so.RANDOM, explicit=16,
                       flags=so.AUTH_NUMBER | so.AUTH_HEADER | so.PADDED)
        for size in (1, 15, 16, 16383, 16384, 16385, 1 << 20):
            with self.subTest(size=size):
                self.both_ways(self.crypt("aes-cbc", f, "hmac-sha256"), size)

    def test_noise(self):
        """Transport messages of the Noise protocol with AES-GCM, as section 13
        of its revision 34 has them on TCP: 16 bits of length, no more."""
        f = so.Framing(header=bytes(2), payload_max=65535 - 16,
                       sealed_max=65535)
        crypt = replace(self.crypt("aes-gcm", f), iv=bytes(12))
        self.both_ways(crypt, 1 << 20)

    def test_any(self):
        for i in range(ROUNDS):
            crypt = self.any_crypt()
            with self.subTest(i=i, crypt=crypt):
                self.both_ways(crypt, self.rng.choice((1, 1000, 100000)))

    def test_type_zero(self):
        """The inner type is the last byte that is not zero, so no type can be
        zero."""
        f = so.Framing(header=bytes(5), type_at=0, length_at=3, nonce=so.XOR,
                       data_type=23, flags=so.AUTH_HEADER | so.INNER_TYPE)
        crypt = self.crypt("aes-gcm", f)
        a, b = so.pair()
        so.attach(a)
        a.setsockopt(so.SOL_OCF, so.TX, crypt.pack())
        for kind, err in ((0, errno.EINVAL), (1, 0), (23, 0)):
            try:
                a.sendmsg([b"!"], [(so.SOL_OCF, so.TYPE, bytes([kind]))])
                said = 0
            except OSError as e:
                said = e.errno
            self.assertEqual(err, said, kind)
        f.data_type = 0
        with self.assertRaises(OSError) as raised:
            a.setsockopt(so.SOL_OCF, so.TX, crypt.pack())
        self.assertEqual(errno.EINVAL, raised.exception.errno)
        self.both_ways(replace(crypt, framing=replace(f, flags=so.AUTH_HEADER)),
                       1000)
        a.close()
        b.close()

    def test_nonsense(self):
        """Whatever bytes a descriptor has: EINVAL, or it works."""
        a, b = so.pair()
        so.attach(a)
        taken = 0
        for _ in range(20 * ROUNDS):
            packed = bytearray(self.any_crypt().pack())
            for _ in range(self.rng.randint(1, 3)):
                packed[-self.rng.randint(1, so.FRAMING.size)] = \
                    self.rng.choice((0, 1, 2, 4, 255, self.rng.randrange(256)))
            try:
                a.setsockopt(so.SOL_OCF, so.TX, packed)
                a.send(b"x" * 1000)
                b.recv(1 << 20)
                taken += 1
            except OSError as e:
                self.assertIn(e.errno, (errno.EINVAL, errno.EKEYEXPIRED))
        self.assertLess(0, taken)


if __name__ == "__main__":
    print(f"OCF_SEED={SEED}", flush=True)
    unittest.main(verbosity=2, warnings="ignore")
