# SPDX-License-Identifier: BSD-2-Clause
"""<linux/so_crypt.h> for the tests."""

import socket
import struct
from dataclasses import dataclass, field

TCP_ULP = 31
SO_MEMINFO = 55
SOL_OCF, TX, RX, TYPE = 0x4f43, 1, 2, 3
FRAMED, TLS_1_0, TLS_1_1, TLS_1_2, TLS_1_3 = range(5)
HARDWARE, SOFTWARE, ETM, SESSION, STABLE = (1 << i for i in range(5))
AEAD, MAC_THEN_ENCRYPT, ENCRYPT_THEN_MAC = range(3)
NONE, COUNTED, XOR, RANDOM, CHAINED = range(5)
LENGTH_SENT, LENGTH_PAYLOAD, LENGTH_SEALED = range(3)
AUTH_NUMBER, AUTH_HEADER, PADDED, INNER_TYPE, LITTLE = (
    1 << i for i in range(5))
NOWHERE = 0xff

MAIN = struct.Struct("=3I32s32s64s64s16s4HiIIQ")
FRAMING = struct.Struct("=16s4Bb5B2x3IQ")
INFO = struct.Struct("=4I32s32s3Q2I")
SIZE = MAIN.size + FRAMING.size


@dataclass
class Framing:
    header: bytes = b""
    type_at: int = NOWHERE
    length_at: int = 0
    length_size: int = 2
    length_more: int = 0
    order: int = AEAD
    nonce: int = XOR
    explicit: int = 0
    auth_length: int = LENGTH_SENT
    data_type: int = 0
    flags: int = 0
    payload_max: int = 16384
    sealed_max: int = 18432
    number_max: int = 2**64 - 2

    def pack(self) -> bytes:
        return FRAMING.pack(
            self.header, len(self.header), self.type_at, self.length_at,
            self.length_size, self.length_more, self.order, self.nonce,
            self.explicit, self.auth_length, self.data_type, self.flags,
            self.payload_max, self.sealed_max, self.number_max)


@dataclass
class Crypt:
    protocol: int
    cipher: str
    key: bytes
    mac: str = ""
    mackey: bytes = b""
    iv: bytes = b""
    flags: int = 0
    maclen: int = 0
    number: int = 0
    framing: Framing = field(default=None)
    fd: int = -1
    ses: int = 0

    def pack(self) -> bytes:
        return MAIN.pack(
            SIZE, self.flags, self.protocol, self.cipher.encode(),
            self.mac.encode(), self.key, self.mackey, self.iv, len(self.key),
            len(self.mackey), len(self.iv), self.maclen, self.fd,
            self.ses, 0, self.number) + (
                self.framing.pack() if self.framing else bytes(FRAMING.size))


def attach(sock: socket.socket) -> None:
    sock.setsockopt(socket.IPPROTO_TCP, TCP_ULP, b"ocf")


def info(sock: socket.socket, which: int = TX) -> dict:
    names = ("size", "flags", "protocol", "maclen", "cipher", "mac", "number",
             "records", "bytes", "in_flight", "keys")
    out = dict(zip(names, INFO.unpack(
        sock.getsockopt(SOL_OCF, which, INFO.size))))
    for name in ("cipher", "mac"):
        out[name] = out[name].rstrip(b"\0").decode()
    return out


def limit(sock: socket.socket, seconds: float, *which: int) -> None:
    """Time limits of a socket that blocks.  settimeout() would make the socket
    non-blocking, so MSG_WAITALL would not wait."""
    for option in which or (socket.SO_RCVTIMEO, socket.SO_SNDTIMEO):
        sock.setsockopt(socket.SOL_SOCKET, option, struct.pack(
            "ll", int(seconds), int(seconds % 1 * 1e6)))


def meminfo(sock: socket.socket) -> tuple:
    """SO_MEMINFO: what TCP has counted, received bytes first."""
    return struct.unpack("=9I", sock.getsockopt(socket.SOL_SOCKET, SO_MEMINFO, 36))


def pair(family: int = socket.AF_INET) -> tuple:
    """A connection."""
    with socket.socket(family) as s:
        s.bind(("::1" if family == socket.AF_INET6 else "127.0.0.1", 0))
        s.listen()
        a = socket.create_connection(s.getsockname()[:2])
        return a, s.accept()[0]


def reset(sock: socket.socket) -> None:
    """Closes it by a reset, an ABORT of RFC 9293 (3.10.5)."""
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                    struct.pack("ii", 1, 0))
    sock.close()
