# SPDX-License-Identifier: BSD-2-Clause
"""Records of TLS, opened as the RFCs say, without anything of ours."""

import hmac
import struct
import warnings

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.ciphers.aead import (
    AESCCM, AESGCM, ChaCha20Poly1305)
from so_crypt import ETM, TLS_1_0, TLS_1_2, TLS_1_3, Crypt

warnings.simplefilter("ignore")
VERSION = {1: b"\3\1", 2: b"\3\2", 3: b"\3\3", 4: b"\3\3"}
CIPHERS = {"aes-gcm": AESGCM, "chacha20-poly1305": ChaCha20Poly1305,
           "aes-ccm": AESCCM}
BLOCKS = {"aes-cbc": algorithms.AES, "des3-cbc": algorithms.TripleDES}


def seal(crypt: Crypt, text: bytes, kind: int = 23) -> bytes:
    """A record of AES-GCM with that type in its header.  A hostile peer with
    the keys can make it."""
    number = struct.pack(">Q", crypt.number)
    if crypt.protocol == TLS_1_3:
        nonce = bytes(x ^ y for x, y in zip(crypt.iv, bytes(4) + number))
        header = bytes([kind, 3, 3]) + struct.pack(">H", len(text) + 16)
        return header + AESGCM(crypt.key).encrypt(nonce, text, header)
    start = bytes([kind, 3, 3])
    aad = number + start + struct.pack(">H", len(text))
    body = number + AESGCM(crypt.key).encrypt(crypt.iv[:4] + number, text,
                                              aad)
    return start + struct.pack(">H", len(body)) + body


class Opener:
    """Of what one side sends, from its first record on."""

    def __init__(self, c: Crypt):
        self.c, self.number, self.iv = c, c.number, c.iv
        self.rest = b""

    def feed(self, data: bytes) -> list:
        """The types and payloads of all whole records."""
        self.rest += data
        out = []
        while len(self.rest) >= 5:
            length = int.from_bytes(self.rest[3:5], "big")
            if len(self.rest) < 5 + length:
                break
            out.append(self.open(self.rest[:5], self.rest[5:5 + length]))
            self.rest = self.rest[5 + length:]
        return out

    def open(self, header: bytes, body: bytes) -> tuple:
        assert header[1:3] == VERSION[self.c.protocol], header
        assert len(body) <= 16384 + (
            256 if self.c.protocol == TLS_1_3 else 2048)
        number = struct.pack(">Q", self.number)
        self.number += 1
        if self.c.cipher in CIPHERS:
            kind, payload = self.aead(header, number, body)
        elif self.c.flags & ETM:
            kind, payload = header[0], self.etm(header, number, body)
        else:
            kind, payload = header[0], self.mte(header, number, body)
        assert len(payload) <= 16384
        return kind, payload

    def aead(self, header: bytes, number: bytes, body: bytes) -> tuple:
        xor = bytes(a ^ b for a, b in zip(self.c.iv, bytes(4) + number))
        if self.c.protocol == TLS_1_3:
            assert header[0] == 23
            nonce, aad = xor, header
        else:
            if self.c.cipher == "chacha20-poly1305":
                nonce = xor
            else:
                nonce, body = self.c.iv[:4] + body[:8], body[8:]
            aad = number + header[:3] + struct.pack(">H", len(body) - (
                self.c.maclen or 16))
        if self.c.cipher == "aes-ccm":
            aead = AESCCM(self.c.key, self.c.maclen or 16)
        else:
            aead = CIPHERS[self.c.cipher](self.c.key)
        text = aead.decrypt(nonce, body, aad)
        if self.c.protocol != TLS_1_3:
            return header[0], text
        text = text.rstrip(b"\0")
        return text[-1], text[:-1]

    def decrypt(self, body: bytes) -> bytes:
        algorithm = BLOCKS[self.c.cipher](self.c.key)
        n = algorithm.block_size // 8
        if self.c.protocol == TLS_1_0:
            iv, self.iv = self.iv, body[-n:]
        else:
            iv, body = body[:n], body[n:]
        return Cipher(algorithm, modes.CBC(iv)).decryptor().update(body)

    @staticmethod
    def unpad(text: bytes) -> bytes:
        n = text[-1] + 1
        assert text[-n:] == bytes([n - 1]) * n
        return text[:-n]

    def mac(self, header: bytes, number: bytes, text: bytes) -> bytes:
        return hmac.digest(self.c.mackey, number + header[:3] + struct.pack(
            ">H", len(text)) + text, self.c.mac.removeprefix("hmac-"))

    def mte(self, header: bytes, number: bytes, body: bytes) -> bytes:
        text = self.unpad(self.decrypt(body))
        n = len(self.mac(header, number, b""))
        assert text[-n:] == self.mac(header, number, text[:-n])
        return text[:-n]

    def etm(self, header: bytes, number: bytes, body: bytes) -> bytes:
        n = len(self.mac(header, number, b""))
        assert body[-n:] == self.mac(header, number, body[:-n])
        return self.unpad(self.decrypt(body[:-n]))


assert TLS_1_2 == 3
