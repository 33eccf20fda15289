# SPDX-License-Identifier: BSD-2-Clause
"""CIOCKEY of /dev/crypto, by both ABIs."""

import ctypes
import errno
import fcntl
import os
import struct

MAXPARAM = 8

(MOD_EXP, MOD_EXP_CRT, DSA_SIGN, DSA_VERIFY, DH, MOD_ADD, MOD_ADDINV, MOD_SUB,
 MOD_MULT, MOD_MULTINV, MOD) = range(11)
(RSA_SIGN, RSA_VERIFY, RSA_ENCRYPT, RSA_DECRYPT, EC_PUBLIC, ECDH, ECDSA_SIGN,
 ECDSA_VERIFY, X25519) = range(16, 25)
RAW, PKCS1, PSS, OAEP = range(4)
HASHES = ["", "md5", "sha1", "sha224", "sha256", "sha384", "sha512",
          "sha3_224", "sha3_256", "sha3_384", "sha3_512", "ripemd160"]
CURVES = {"P-256": 1, "P-384": 2, "P-521": 3}

CIOCKEY = 0xc0906369            # cryptodev-linux
CIOCASYMFEAT = 0x8004636a
BSD_CIOCKEY = 0xc0906368
BSD_CIOCKEY2 = 0xc090636b
BSD_CIOCASYMFEAT = 0x80046369
HARDWARE, SOFTWARE = 0x01000000, 0x02000000


def op(code: int, scheme: int = RAW, hash: str = "", curve: str = "") -> int:
    """CRK_OCF() of the headers."""
    what = HASHES.index(hash) if hash else CURVES.get(curve, 0)
    return code | scheme << 8 | what << 16


class Failed(OSError):
    """The call failed; crk_status says the same."""


class Result:
    """Where a result goes."""

    def __init__(self, size: int):
        self.size = size


class Device:
    """/dev/crypto."""

    def __init__(self):
        self.fd = os.open("/dev/crypto", os.O_RDWR | os.O_CLOEXEC)

    def close(self) -> None:
        os.close(self.fd)

    def features(self, call: int = CIOCASYMFEAT) -> int:
        raw = bytearray(4)
        fcntl.ioctl(self.fd, call, raw)
        return struct.unpack("I", raw)[0]

    def call(self, code: int, given: list[bytes], sizes: list[int],
             call: int = CIOCKEY, crid: int = 0) -> tuple[list[bytes], int]:
        """Parameters as they are; returns the results and the device."""
        kept = [ctypes.create_string_buffer(p, max(len(p), 1)) for p in given]
        # what is not written to must not be touched
        out = [ctypes.create_string_buffer(b"\xa5" * (n + 1), n + 1)
               for n in sizes]
        params = [(ctypes.addressof(b), 8 * len(p))
                  for b, p in zip(kept, given)]
        params += [(ctypes.addressof(b), 8 * n) for b, n in zip(out, sizes)]
        params += [(0, 0)] * (MAXPARAM - len(params))
        raw = bytearray(struct.pack("IIHHI", code, 0, len(given), len(sizes),
                                    crid))
        for pointer, bits in params:
            raw += struct.pack("QII", pointer, bits, 0)
        try:
            fcntl.ioctl(self.fd, call, raw)
        except OSError as e:
            status = struct.unpack_from("I", raw, 4)[0]
            assert status in (e.errno, 0), (status, e)
            assert all(b.raw == b"\xa5" * (n + 1)
                       for b, n in zip(out, sizes)), "a failed call has written"
            raise Failed(e.errno, errno.errorcode[e.errno]) from None
        assert struct.unpack_from("I", raw, 4)[0] == 0
        results = []
        for i, (b, n) in enumerate(zip(out, sizes)):
            bits = struct.unpack_from("I", raw, 16 + 16 * (len(given) + i) +
                                      8)[0]
            assert bits % 8 == 0 and bits <= 8 * n, (bits, n)
            assert b.raw[n] == 0xa5, "a result is longer than its buffer"
            results.append(b.raw[:bits // 8])
        return results, struct.unpack_from("i", raw, 12)[0]

    def octets(self, code: int, *given: bytes, out: tuple[int, ...] = (),
               **more) -> list[bytes]:
        """Ours: results as octet strings."""
        return self.call(code, list(given), list(out), **more)[0]

    def numbers(self, code: int, *given, out: tuple[int, ...] = (),
                **more) -> list[int]:
        """The ABI's own: numbers, least significant byte first."""
        raw = [p if isinstance(p, bytes) else little(p) for p in given]
        return [int.from_bytes(r, "little")
                for r in self.call(code, raw, list(out), **more)[0]]


def little(n: int, size: int = 0) -> bytes:
    return n.to_bytes(size or (n.bit_length() + 7) // 8 or 1, "little")


def big(n: int, size: int = 0) -> bytes:
    return n.to_bytes(size or (n.bit_length() + 7) // 8 or 1, "big")
