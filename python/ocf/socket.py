# SPDX-License-Identifier: BSD-2-Clause
"""Sockets whose records the kernel encrypts: SO_CRYPT, by libocf.

    ocf.socket.attach(sock)
    ocf.socket.set_keys(sock, Direction.TX, Protocol.TLS_1_3, "aes-gcm", key,
                        iv=iv)
    sock.sendall(data)

Data is sent and received with a socket's usual calls.  Use send_record() and
receive() for records of other types.
"""

from __future__ import annotations

import ctypes
import enum
import socket as sockets
from typing import NamedTuple, Optional

from . import Buffer, abi, _check, _lib, _memory, _octets, _wipe

__all__ = ["Direction", "Flag", "Info", "Protocol", "attach", "info",
           "receive", "send_record", "set_keys"]


class Direction(enum.IntEnum):
    TX = 1
    RX = 2


class Protocol(enum.IntEnum):
    """The protocol that the records belong to; for FRAMED, a framing describes
    them."""

    FRAMED = 0
    TLS_1_0 = 1
    TLS_1_1 = 2
    TLS_1_2 = 3
    TLS_1_3 = 4


class Flag(enum.IntFlag):
    HARDWARE = 1
    SOFTWARE = 2
    ETM = 4
    STABLE = 16


class Info(NamedTuple):
    """The state and the counters of one direction of a socket.  Keys cannot be
    read back."""

    protocol: Protocol
    flags: Flag
    cipher: str
    mac: str
    maclen: int
    number: int
    records: int
    bytes: int
    in_flight: int
    keys: int


def attach(sock: sockets.socket) -> None:
    """Makes a connected TCP socket one that can have keys."""
    _check(_lib.ocf_socket_attach(sock.fileno()))


def _put(room: ctypes.Array[ctypes.c_uint8], data: Buffer, what: str) -> int:
    octets = _octets(data)
    if len(octets) > len(room):
        raise ValueError(f"{what}: {len(room)} bytes at most")
    ctypes.memmove(room, octets, len(octets))
    return len(octets)


def set_keys(sock: sockets.socket, direction: Direction, protocol: Protocol,
             cipher: str, key: Buffer, *, iv: Buffer = b"", mac: str = "",
             mackey: Buffer = b"", maclen: int = 0, number: int = 0,
             flags: Flag = Flag(0),
             framing: Optional[abi.SoCryptFraming] = None) -> None:
    """Sets the first or new keys of a direction.  They hold from the next
    record on."""
    c = abi.SoCrypt(size=ctypes.sizeof(abi.SoCrypt), flags=flags,
                    protocol=protocol, cipher=cipher.encode(),
                    mac=mac.encode(), maclen=maclen, fd=-1, number=number)
    if framing is not None:
        c.framing = framing
    try:
        c.keylen = _put(c.key, key, "the key")
        c.mackeylen = _put(c.mackey, mackey, "the MAC's key")
        c.ivlen = _put(c.iv, iv, "the IV")
        _check(_lib.ocf_socket_set(sock.fileno(), direction, c))
    finally:
        ctypes.memset(ctypes.byref(c), 0, ctypes.sizeof(c))


def info(sock: sockets.socket, direction: Direction) -> Info:
    i = abi.SoCryptInfo(size=ctypes.sizeof(abi.SoCryptInfo))
    _check(_lib.ocf_socket_get(sock.fileno(), direction, i))
    return Info(Protocol(i.protocol), Flag(i.flags), i.cipher.decode(),
                i.mac.decode(), i.maclen, i.number, i.records, i.bytes,
                i.in_flight, i.keys)


def send_record(sock: sockets.socket, kind: int, data: Buffer,
                flags: int = 0) -> int:
    """Sends @data in records of the type @kind.  Returns how many bytes of it
    were sent."""
    octets = _octets(data)
    kept = _memory(octets)
    try:
        return _check(_lib.ocf_socket_send(sock.fileno(), kind, kept,
                                           len(octets), flags))
    finally:
        _wipe(kept)


def receive(sock: sockets.socket, size: int, kind: int = 23,
            flags: int = 0) -> tuple[int, bytes, bool]:
    """Receives bytes of one type.  Returns the type, the bytes, and whether the
    end of a record was read.  @kind is the type of data."""
    got, ended = ctypes.c_uint8(kind), ctypes.c_bool()
    room = ctypes.create_string_buffer(max(size, 1))
    n = _check(_lib.ocf_socket_recv(sock.fileno(), ctypes.byref(got), room,
                                    size, flags, ctypes.byref(ended)))
    return got.value, room.raw[:n], ended.value
