# SPDX-License-Identifier: BSD-2-Clause
"""The results that OpenSSL computes, to compare with: ciphers by
python3-cryptography, digests by hashlib.  Algorithms go by the framework's
names."""

import hashlib
import hmac
import warnings

from .sysfs import Failure

try:
    from cryptography.hazmat.primitives import cmac as cmacs
    from cryptography.hazmat.primitives.ciphers import (
        Cipher, aead, algorithms, modes)
except ImportError:
    raise Failure("ocfcheck needs python3-cryptography") from None

with warnings.catch_warnings():
    # that some are old is known
    warnings.simplefilter("ignore")
    BLOCK_CIPHERS = {
        "aes": algorithms.AES, "des3": algorithms.TripleDES,
        "des": algorithms.TripleDES, "camellia": algorithms.Camellia,
        "blowfish": algorithms.Blowfish, "cast5": algorithms.CAST5,
    }
MODES = {"cbc": modes.CBC, "ctr": modes.CTR, "xts": modes.XTS}
AEADS = {"aes-gcm": aead.AESGCM, "aes-ccm": aead.AESCCM,
         "chacha20-poly1305": aead.ChaCha20Poly1305}
XTS_POLYNOMIAL = 0x87             # IEEE 1619, 5.2


def _crypt(cipher: Cipher, data: bytes, encrypt: bool) -> bytes:
    way = cipher.encryptor() if encrypt else cipher.decryptor()
    return way.update(data) + way.finalize()


def _ecb(key: bytes, data: bytes, encrypt: bool) -> bytes:
    return _crypt(Cipher(algorithms.AES(key), modes.ECB()), data, encrypt)


def _xts_192(key: bytes, iv: bytes, data: bytes, encrypt: bool) -> bytes:
    """XTS with AES-192.  OpenSSL's XTS takes only AES-128 and AES-256; the mode
    itself works with any."""
    tweak = int.from_bytes(_ecb(key[24:], iv, True), "little")
    masks = []
    for _ in range(0, len(data), 16):
        masks.append(tweak.to_bytes(16, "little"))
        tweak <<= 1
        if tweak >> 128:
            tweak = (tweak & (1 << 128) - 1) ^ XTS_POLYNOMIAL
    mask = int.from_bytes(b"".join(masks), "big")
    inner = (int.from_bytes(data, "big") ^ mask).to_bytes(len(data), "big")
    outer = int.from_bytes(_ecb(key[:24], inner, encrypt), "big")
    return (outer ^ mask).to_bytes(len(data), "big")


def cipher(name: str, key: bytes, iv: bytes, data: bytes,
           encrypt: bool) -> bytes:
    """All of @data, without padding."""
    if name == "null":
        return data
    if name == "chacha20":
        return _crypt(Cipher(algorithms.ChaCha20(key, iv), None), data, True)
    base, mode = name.split("-")
    if mode == "ecb":
        return _ecb(key, data, encrypt)
    if mode == "xts" and len(key) == 48:
        return _xts_192(key, iv, data, encrypt)
    return _crypt(Cipher(BLOCK_CIPHERS[base](key), MODES[mode](iv)), data,
                  encrypt)


def digest(name: str, key: bytes, iv: bytes, data: bytes) -> bytes:
    """A digest, or a MAC where it has a key."""
    if name == "null-mac":
        return bytes(16)
    if name == "aes-gmac":
        return aead.AESGCM(key).encrypt(iv, b"", data)
    if name == "aes-cmac":
        mac = cmacs.CMAC(algorithms.AES(key))
        mac.update(data)
        return mac.finalize()
    if name.startswith("hmac-"):
        return hmac.digest(key, data, _hash(name[len("hmac-"):]))
    if key:
        return getattr(hashlib, name)(data, key=key).digest()
    return hashlib.new(_hash(name), data).digest()


def _hash(name: str) -> str:
    return name.replace("-", "_")


def seal(name: str, key: bytes, iv: bytes, aad: bytes, data: bytes,
         taglen: int) -> tuple[bytes, bytes]:
    """Ciphertext and tag."""
    more = {"tag_length": taglen} if name == "aes-ccm" else {}
    # for other AEADs OpenSSL's Python binding computes only tags of full
    # length
    sealed = AEADS[name](key, **more).encrypt(iv, data, aad)
    return sealed[:len(data)], sealed[len(data):][:taglen]
