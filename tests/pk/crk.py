# SPDX-License-Identifier: BSD-2-Clause
"""CIOCKEY of /dev/crypto, by both ABIs."""

import ctypes
import errno
import fcntl
import os
import select
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


# <linux/ocf.h>
OCF_RUN, OCF_SUBMIT, OCF_REAP = 0x401863b6, 0x401863b7, 0x401063b8
OP_PUBLIC_KEY = 16
CODES = {MOD_EXP: 0, MOD_EXP_CRT: 1, DSA_SIGN: 2, DSA_VERIFY: 3, DH: 4,
         MOD_ADD: 5, MOD_ADDINV: 6, MOD_SUB: 7, MOD_MULT: 8, MOD_MULTINV: 9,
         MOD: 10, RSA_SIGN: 11, RSA_VERIFY: 12, RSA_ENCRYPT: 13,
         RSA_DECRYPT: 14, EC_PUBLIC: 15, ECDH: 16, ECDSA_SIGN: 17,
         ECDSA_VERIFY: 18, X25519: 19}


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
        # the pattern shows whether a failed call writes, or a result exceeds
        # its buffer
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


class Native(Device):
    """The same by <linux/ocf.h>, by OCF_RUN and by OCF_SUBMIT in turn."""

    turn = 0

    def command(self, code: int, given: list[bytes], sizes: list[int],
                crid: int) -> tuple[bytes, list]:
        """The command, and the memory it is about."""
        low, scheme, what = code & 0xff, code >> 8 & 0xff, code >> 16
        salt, given = 0, list(given)
        if low in (RSA_SIGN, RSA_VERIFY) and scheme == PSS:
            count = 2 if low == RSA_SIGN else 3
            salt = (int.from_bytes(given.pop(), "big") if len(given) > count
                    else 0xffffffff if low == RSA_VERIFY else len(given[0]))
        if low in (RSA_ENCRYPT, RSA_DECRYPT) and len(given) == 2:
            given.append(b"")
        rsa = RSA_SIGN <= low <= RSA_DECRYPT
        name = HASHES[what].replace("_", "-") if rsa else ""
        kept = [ctypes.create_string_buffer(p, max(len(p), 1)) for p in given]
        out = [ctypes.create_string_buffer(b"\xa5" * (n + 1), n + 1)
               for n in sizes]
        values = ctypes.create_string_buffer(b"".join(
            struct.pack("QII", ctypes.addressof(b), n, 0)
            for b, n in zip(kept + out, [*map(len, given), *sizes])))
        flags = (crid >> 23 & 6) if crid & (HARDWARE | SOFTWARE) else 0
        return struct.pack(
            "QIBBBBHBBII12sQ32s", id(self), 0, OP_PUBLIC_KEY, scheme,
            0 if rsa else what, 0, CODES[low], len(given), len(sizes), flags,
            salt, name.encode(), ctypes.addressof(values), b""), [
                kept, out, values]

    def run(self, command: bytes) -> int:
        there = ctypes.create_string_buffer(command)
        result = ctypes.create_string_buffer(16)
        Native.turn += 1
        by_run = Native.turn % 2
        vector = bytearray(struct.pack(
            "QQII", ctypes.addressof(there),
            ctypes.addressof(result) if by_run else 0, 1, 0))
        if by_run:
            fcntl.ioctl(self.fd, OCF_RUN, vector)
        else:
            try:
                fcntl.ioctl(self.fd, OCF_SUBMIT, vector)
            except OSError as e:
                return -e.errno
            reap = bytearray(struct.pack("QII", ctypes.addressof(result), 1,
                                         0))
            while not fcntl.ioctl(self.fd, OCF_REAP, reap):
                select.select([self.fd], [], [])
        cookie, res, wrong = struct.unpack("QiI", result.raw)
        assert cookie == id(self)
        # a wrong signature or padding does not tell what was wrong
        assert not wrong or res < 0 and res != -errno.EBADMSG
        return res

    def call(self, code: int, given: list[bytes], sizes: list[int],
             call: int = CIOCKEY, crid: int = 0) -> tuple[list[bytes], int]:
        old = code < 16
        octets = code in (DSA_SIGN, DSA_VERIFY)
        if old:
            given = [p if octets and not i else p[::-1]
                     for i, p in enumerate(given)]
        command, memory = self.command(code, given, sizes, crid)
        out = memory[1]
        res = self.run(command)
        if res < 0:
            assert all(b.raw == b"\xa5" * (n + 1)
                       for b, n in zip(out, sizes)), "a failed call has written"
            # the old interfaces return ENODEV for both errors
            err = errno.ENODEV if res == -errno.EOPNOTSUPP else -res
            raise Failed(err, errno.errorcode[err])
        assert all(b.raw[n] == 0xa5 for b, n in zip(out, sizes))
        lens = [res, *sizes[1:]] if sizes else []
        assert sizes or not res
        results = [b.raw[:n] for b, n in zip(out, lens)]
        return [r[::-1] for r in results] if old else results, 0


def device() -> Device:
    """By the interface that WAY in the environment says."""
    return Native() if os.environ.get("WAY") == "native" else Device()


def little(n: int, size: int = 0) -> bytes:
    return n.to_bytes(size or (n.bit_length() + 7) // 8 or 1, "little")


def big(n: int, size: int = 0) -> bytes:
    return n.to_bytes(size or (n.bit_length() + 7) // 8 or 1, "big")
