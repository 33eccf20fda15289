#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""In the test machine: every call and state of a TCP socket, on plain TCP, on
the kernel's kTLS, and on ours by either interface.

    tests/socrypt/calls.py [--table] [WORD...]

The answers are those of the table in docs/socrypt.md, which names each row
here.  --table prints the table as it is; WORD: only rows with it.
"""

import contextlib
import ctypes
import errno
import fcntl
import os
import pathlib
import random
import select
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import so_crypt as so  # noqa: E402
from both import FIONREAD, SIOCOUTQ, count  # noqa: E402
from ktls import RX, SET_TYPE, SOL_TLS, TX, V13, Keys, attach, outcome  # noqa: E402
from ocf import wait_for  # noqa: E402
from records import seal  # noqa: E402

DOCUMENT = pathlib.Path(__file__).resolve().parents[2] / "docs/socrypt.md"
KINDS = ("TCP", "kTLS", "SO_CRYPT", "SOL_TLS")
DATA, ALERT, HANDSHAKE = 23, 21, 22
TCP_CORK, TCP_NOTSENT_LOWAT, TCP_ZEROCOPY_RECEIVE, TCP_INQ = 3, 25, 35, 36
SO_TIMESTAMPING, SO_PEEK_OFF, SO_BUSY_POLL, SO_ZEROCOPY = 37, 42, 46, 60
SIOCATMARK, SIOCOUTQNSD = 0x8905, 0x894B
MSG_ZEROCOPY = 0x4000000
RX_SOFTWARE = 1 << 3 | 1 << 4           # SOF_TIMESTAMPING_*
IPPROTO_MPTCP = 262
BPF = 321                   # the system call's number
SOON = 60
A_MOMENT = 0.3      # seconds in which nothing is to happen
ROWS = {}
libc = ctypes.CDLL(None, use_errno=True)


def row(name: str, **how):
    """A row of the table: what a connection of each kind, made like @how,
    answers."""
    def add(script):
        assert name not in ROWS, name
        ROWS[name] = how, script
        return script
    return add


class Pair:
    """A connection of one kind, with keys in both directions.  With @by_hand
    the peer is a plain socket, and its records are sealed here."""

    def __init__(self, kind: str, by_hand: bool = False, early=None):
        rng = random.Random(kind)
        self.kind, self.by_hand = kind, by_hand
        self.a, self.b = so.pair()
        if early:
            early(self.b)
        self.keys = Keys(rng, V13, 51)
        back = Keys(rng, V13, 51)
        if not by_hand:
            self.set(self.a, TX, self.keys)
            self.set(self.a, RX, back)
        self.set(self.b, RX, self.keys)
        self.set(self.b, TX, back)
        self.crypt = crypt_of(self.keys)
        for s in (self.a, self.b):
            so.limit(s, SOON)

    def set(self, sock: socket.socket, which: int, keys: Keys) -> None:
        if self.kind == "TCP":
            return
        with contextlib.suppress(FileExistsError):
            attach(sock, b"tls" if self.kind == "kTLS" else b"ocf")
        if self.kind == "SO_CRYPT":
            sock.setsockopt(so.SOL_OCF, which, crypt_of(keys).pack())
        else:
            sock.setsockopt(SOL_TLS, which, keys.pack())

    def control(self, kind: int) -> list:
        return [(so.SOL_OCF, so.TYPE, bytes([kind]))
                if self.kind == "SO_CRYPT" else
                (SOL_TLS, SET_TYPE, bytes([kind]))]

    def record(self, text: bytes, kind: int = DATA) -> bytes:
        """As the peer would make it."""
        if self.kind == "TCP":
            return text
        sealed = seal(self.crypt, text + bytes([kind]))
        self.crypt.number += 1
        return sealed

    def send(self, text: bytes, kind: int = DATA) -> None:
        """A record from the peer, which has arrived."""
        if self.by_hand:
            self.a.sendall(self.record(text, kind))
        elif kind == DATA:
            self.a.sendall(text)
        else:
            self.a.sendmsg([text], self.control(kind))
        self.arrive()

    def arrive(self) -> None:
        """TCP's receiver has acknowledged all that it was sent."""
        assert wait_for(lambda: not count(self.a, SIOCOUTQ), SOON)

    def close(self) -> None:
        self.a.close()
        self.b.close()


def set_lowat(sock: socket.socket) -> None:
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, 20)


def crypt_of(keys: Keys) -> so.Crypt:
    return so.Crypt(so.TLS_1_3, "aes-gcm", keys.key, iv=keys.salt + keys.iv,
                    number=keys.number)


def polled(sock: socket.socket, milliseconds: int = 0) -> str:
    """What poll() says of it."""
    names = ("IN", "OUT", "PRI", "ERR", "HUP", "RDHUP")
    poll = select.poll()
    poll.register(sock, sum(getattr(select, "POLL" + n) for n in names))
    mask = dict(poll.poll(milliseconds)).get(sock.fileno(), 0)
    return " ".join(n for n in names if mask & getattr(select, "POLL" + n)) \
        or "nothing"


def read(sock: socket.socket, n: int = 100, flags: int = 0):
    """How many bytes, or why none."""
    said = outcome(sock.recv, n, flags)
    return len(said) if isinstance(said, bytes) else said


def now(sock: socket.socket, n: int = 100, flags: int = 0):
    return read(sock, n, flags | socket.MSG_DONTWAIT)


def has_stamp(sock: socket.socket) -> bool:
    """Whether the next message is told with the time when it arrived."""
    names = [c[:2] for c in sock.recvmsg(10, 200)[1]]
    return (socket.SOL_SOCKET, SO_TIMESTAMPING) in names


def messages(p: Pair, n: int) -> str:
    """Reads @n times without waiting, with room for record types.  Returns what
    each read gave."""
    said = [outcome(p.b.recvmsg, 100, 100, socket.MSG_DONTWAIT)
            for _ in range(n)]
    return words(*(len(s[0]) if isinstance(s, tuple) else s for s in said))


def error_of(sock: socket.socket) -> str:
    number = sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
    return errno.errorcode[number] if number else "0"


def words(*said) -> str:
    return ", ".join(str(s) for s in said).replace("ENOTSUP", "EOPNOTSUPP")


# -- how much there is -------------------------------------------------------

@row("`FIONREAD`: records of 10 and 20 bytes wait")
def _(p):
    p.send(b"x" * 10)
    p.send(b"x" * 20)
    return count(p.b, FIONREAD)


@row("`FIONREAD`: 4 of 10 bytes were read")
def _(p):
    p.send(b"x" * 10)
    p.b.recv(4)
    return count(p.b, FIONREAD)


@row("`SIOCOUTQ`: 100 bytes with `MSG_MORE`, nothing else")
def _(p):
    p.b.send(b"x" * 100, socket.MSG_MORE)
    return count(p.b, SIOCOUTQ)


@row("`SIOCOUTQNSD`: the same")
def _(p):
    p.b.send(b"x" * 100, socket.MSG_MORE)
    return count(p.b, SIOCOUTQNSD)


@row("`SIOCOUTQ`: all is acknowledged")
def _(p):
    p.send(b"x" * 10)
    return count(p.a, SIOCOUTQ)


@row("`SIOCATMARK`: nothing is urgent")
def _(p):
    p.send(b"x")
    return count(p.b, SIOCATMARK)


@row("`TCP_INQ`: read 4 of 10 bytes; the control message says")
def _(p):
    p.b.setsockopt(socket.IPPROTO_TCP, TCP_INQ, 1)
    p.send(b"x" * 10)
    for level, name, data in p.b.recvmsg(4, 100)[1]:
        if (level, name) == (socket.IPPROTO_TCP, TCP_INQ):
            return struct.unpack("i", data)[0]
    return "there is none"


# -- reading -----------------------------------------------------------------

@row("read 100 bytes; records of 10 and 20 wait")
def _(p):
    p.send(b"x" * 10)
    p.send(b"x" * 20)
    return now(p.b)


@row("`MSG_PEEK` 100; records of 10 and 20 wait; then read")
def _(p):
    p.send(b"x" * 10)
    p.send(b"x" * 20)
    return words(now(p.b, 100, socket.MSG_PEEK), now(p.b))


def read_while(p: Pair, n: int, flags: int, more: int):
    """Reads @n bytes, of which 10 are there; @more come in a moment."""
    p.send(b"x" * 10)
    later = threading.Timer(A_MOMENT, p.a.sendall, (b"x" * more,))
    later.start()
    said = read(p.b, n, flags)
    later.join()
    return said


@row("`MSG_PEEK` with `MSG_WAITALL` for 15 bytes; the last 5 come later")
def _(p):
    return read_while(p, 15, socket.MSG_PEEK | socket.MSG_WAITALL, 5)


@row("`MSG_WAITALL` for 15 bytes; the last 5 come later")
def _(p):
    return read_while(p, 15, socket.MSG_WAITALL, 5)


@row("`MSG_WAITALL` for 15 bytes; there are 10, and the end")
def _(p):
    p.send(b"x" * 10)
    p.a.shutdown(socket.SHUT_WR)
    return words(read(p.b, 15, socket.MSG_WAITALL), read(p.b))


@row("`MSG_TRUNC`, 4 of 10 bytes; is the buffer written?; what is left")
def _(p):
    p.send(b"x" * 10)
    room = bytearray(10)
    n = p.b.recv_into(room, 4, socket.MSG_TRUNC)
    return words(n, "no" if room == bytes(10) else "yes", now(p.b))


@row("`MSG_OOB` to read; data wait")
def _(p):
    p.send(b"x" * 10)
    return now(p.b, 1, socket.MSG_OOB)


@row("`MSG_OOB` to send")
def _(p):
    return outcome(p.b.send, b"x", socket.MSG_OOB)


@row("read 0 bytes; nothing waits, does not block")
def _(p):
    return now(p.b, 0)


@row("read, does not block; nothing waits")
def _(p):
    return now(p.b)


@row("`SO_RCVTIMEO`: it is over")
def _(p):
    so.limit(p.b, 0.1, socket.SO_RCVTIMEO)
    return read(p.b)


@row("a signal interrupts a read")
def _(p):
    was = signal.signal(signal.SIGALRM, lambda *_: None)
    signal.setitimer(signal.ITIMER_REAL, A_MOMENT)
    n = libc.recv(p.b.fileno(), ctypes.create_string_buffer(9), 9, 0)
    said = errno.errorcode[ctypes.get_errno()] if n < 0 else n
    signal.signal(signal.SIGALRM, was)
    return said


@row("`MSG_ERRQUEUE` with nothing in it")
def _(p):
    return now(p.b, 10, socket.MSG_ERRQUEUE)


@row("`SO_PEEK_OFF` 5, and `MSG_PEEK` of 10 bytes")
def _(p):
    said = outcome(p.b.setsockopt, socket.SOL_SOCKET, SO_PEEK_OFF, 5)
    p.send(bytes(range(10)))
    first = p.b.recv(10, socket.MSG_PEEK)[0]
    return words(said or "taken", f"from {first} on")


@row("`MSG_CMSG_CLOEXEC`, as programs set it everywhere")
def _(p):
    p.send(b"x" * 10)
    return now(p.b, 10, socket.MSG_CMSG_CLOEXEC)


@row("`TCP_ZEROCOPY_RECEIVE` with a buffer to copy to; data wait")
def _(p):
    p.send(b"x" * 10)
    room = ctypes.create_string_buffer(100)
    option = ctypes.create_string_buffer(struct.pack(
        "=QIIIiQiIQQII", 0, 0, 0, 0, 0, ctypes.addressof(room), len(room), 0,
        0, 0, 0, 0), 64)
    size = ctypes.c_int(len(option))
    if libc.getsockopt(p.b.fileno(), socket.IPPROTO_TCP, TCP_ZEROCOPY_RECEIVE,
                       option, ctypes.byref(size)) < 0:
        return errno.errorcode[ctypes.get_errno()]
    return struct.unpack_from("=QIIIiQi", option.raw)[-1]


# -- types -------------------------------------------------------------------

@row("an alert after 5 bytes: read both with room for its type")
def _(p):
    p.send(b"x" * 5)
    p.send(b"\1\0", ALERT)
    return messages(p, 2)


@row("an alert, without room for its type")
def _(p):
    p.send(b"\1\0", ALERT)
    return words(now(p.b), now(p.b))


@row("`splice()` of an alert")
def _(p):
    p.send(b"\1\0", ALERT)
    return spliced(p)


@row("`splice()`, does not block: nothing waits; a record of no bytes; of 5",
     by_hand=True)
def _(p):
    p.b.setblocking(False)
    said = [spliced(p)]
    for text in b"", b"x" * 5:
        p.send(text)
        said.append(spliced(p))
    return words(*said)


def spliced(p: Pair):
    r, w = os.pipe()
    # kTLS ignores O_NONBLOCK, so it needs SPLICE_F_NONBLOCK; TCP looks only at
    # O_NONBLOCK
    said = outcome(os.splice, p.b.fileno(), w, 100, None, None,
                   os.SPLICE_F_NONBLOCK)
    os.close(r)
    os.close(w)
    return said


@row("an alert, by `MSG_WAITALL` for 15 bytes, after 10 of data")
def _(p):
    p.send(b"x" * 10)
    p.send(b"\1\0", ALERT)
    return now(p.b, 15, socket.MSG_WAITALL)


@row("a record of no data arrives, and 5 bytes after it",
     by_hand=True)
def _(p):
    p.a.sendall(p.record(b"") + p.record(b"x" * 5))
    p.arrive()
    return now(p.b)


@row("an alert of no bytes arrives, and 5 bytes of data after it",
     by_hand=True)
def _(p):
    p.a.sendall(p.record(b"", ALERT) + p.record(b"x" * 5))
    p.arrive()
    return messages(p, 2)


@row("send nothing: records that the peer gets", by_hand=True)
def _(p):
    said = outcome(p.b.send, b"")
    return words(said, records(p))


@row("send an alert of nothing: records that the peer gets", by_hand=True)
def _(p):
    said = outcome(p.b.sendmsg, [b""], p.control(ALERT))
    return words(said, records(p))


def records(p) -> int:
    """Counts the record headers that arrive at the peer, a plain TCP socket."""
    p.b.shutdown(socket.SHUT_WR)
    data = b"".join(iter(lambda: p.a.recv(1 << 16), b""))
    n = 0
    while len(data) >= 5:
        n += 1
        data = data[5 + int.from_bytes(data[3:5], "big"):]
    return n


@row("send an alert with `MSG_MORE`")
def _(p):
    return outcome(p.b.sendmsg, [b"\1\0"], p.control(ALERT), socket.MSG_MORE)


@row("send with `MSG_MORE` and `MSG_EOR`: has it gone?")
def _(p):
    said = outcome(p.b.send, b"x", socket.MSG_MORE | socket.MSG_EOR)
    if isinstance(said, str):
        return said
    return "yes" if polled(p.a, A_MOMENT * 1000) == "IN OUT" else "no"


@row("send with another flag (`MSG_DONTROUTE`)")
def _(p):
    return outcome(p.b.send, b"x", socket.MSG_DONTROUTE)


@row("send with `MSG_WAITALL`, as io_uring does")
def _(p):
    return outcome(p.b.send, b"x", socket.MSG_WAITALL)


@row("`MSG_ZEROCOPY`, with `SO_ZEROCOPY` set")
def _(p):
    said = outcome(p.b.setsockopt, socket.SOL_SOCKET, SO_ZEROCOPY, 1)
    return words(said or "taken", outcome(p.b.send, b"x", MSG_ZEROCOPY))


@row("`MSG_FASTOPEN` on a connection")
def _(p):
    return outcome(p.b.sendto, b"x", socket.MSG_FASTOPEN, p.a.getsockname())


@row("`sendto()` with an address")
def _(p):
    return outcome(p.b.sendto, b"x", 0, ("127.0.0.1", 9))


@row("`sendfile()` of 100 bytes, where the file has 60")
def _(p):
    with tempfile.TemporaryFile() as f:
        f.write(b"x" * 60)
        f.flush()
        said = outcome(os.sendfile, p.b.fileno(), f.fileno(), 0, 100)
    return words(said, read(p.a, 100, socket.MSG_WAITALL
                            if not isinstance(said, int) else 0))


@row("`splice()` of 100 bytes from a pipe; the peer reads")
def _(p):
    r, w = os.pipe()
    os.write(w, b"x" * 100)
    said = outcome(os.splice, r, p.b.fileno(), 100)
    os.close(r)
    os.close(w)
    return words(said, read(p.a))


@row("`TCP_CORK`: 10 bytes; has the peer something?; and without the cork")
def _(p):
    p.b.setsockopt(socket.IPPROTO_TCP, TCP_CORK, 1)
    p.b.send(b"x" * 10)
    # TCP sends it by itself after 200 ms
    said = polled(p.a, 50)
    p.b.setsockopt(socket.IPPROTO_TCP, TCP_CORK, 0)
    return words("yes" if "IN" in said else "no", read(p.a))


# -- poll() ------------------------------------------------------------------

@row("`poll()`: nothing was sent")
def _(p):
    return polled(p.b)


@row("`poll()`: a record waits; a part of it was read; all was read")
def _(p):
    p.send(b"x" * 10)
    said = [polled(p.b, SOON * 1000)]
    for n in 4, 6:
        p.b.recv(n)
        said.append(polled(p.b))
    return "; ".join(said)


@row("`poll()`: half a record has come", by_hand=True)
def _(p):
    p.a.sendall(p.record(b"x" * 10)[:15])
    p.arrive()
    return polled(p.b)


@row("`poll()`: an alert waits")
def _(p):
    p.send(b"\1\0", ALERT)
    return polled(p.b, SOON * 1000)


@row("`poll()`: the peer has shut down; and what is read")
def _(p):
    p.a.shutdown(socket.SHUT_WR)
    wait_for(lambda: "RDHUP" in polled(p.b), SOON)
    return words(polled(p.b), now(p.b))


@row("`poll()`: data wait, and the peer has shut down")
def _(p):
    p.send(b"x")
    p.a.shutdown(socket.SHUT_WR)
    wait_for(lambda: "RDHUP" in polled(p.b), SOON)
    return words(polled(p.b), now(p.b), now(p.b))


@row("`poll()`: half a record, and the peer has shut down; and what is read",
     by_hand=True)
def _(p):
    p.a.sendall(p.record(b"x" * 10)[:15])
    p.a.shutdown(socket.SHUT_WR)
    wait_for(lambda: "RDHUP" in polled(p.b), SOON)
    return words(polled(p.b), now(p.b), now(p.b))


@row("`poll()`: both have shut down")
def _(p):
    p.a.shutdown(socket.SHUT_WR)
    p.b.shutdown(socket.SHUT_WR)
    wait_for(lambda: "HUP" in polled(p.b).split(), SOON)
    return polled(p.b)


@row("`poll()`: this side has shut down for reading; and what is read")
def _(p):
    p.b.shutdown(socket.SHUT_RD)
    return words(polled(p.b), now(p.b))


@row("`poll()`: shut down for reading, and then a record comes")
def _(p):
    p.b.shutdown(socket.SHUT_RD)
    p.send(b"x")
    return words(polled(p.b), now(p.b), now(p.b))


@row("`poll()`: reset between records; `SO_ERROR`; and what is read")
def _(p):
    so.reset(p.a)
    wait_for(lambda: "HUP" in polled(p.b).split(), SOON)
    return words(polled(p.b), error_of(p.b), now(p.b))


@row("reset between records: what is read, twice")
def _(p):
    so.reset(p.a)
    wait_for(lambda: "HUP" in polled(p.b).split(), SOON)
    return words(now(p.b), now(p.b))


@row("data, and then a reset: what is read, three times")
def _(p):
    p.send(b"x" * 10)
    so.reset(p.a)
    wait_for(lambda: "HUP" in polled(p.b).split(), SOON)
    return words(*(now(p.b) for _ in range(3)))


@row("reset within a record: what is read, twice", by_hand=True)
def _(p):
    p.a.sendall(p.record(b"x" * 10)[:15])
    p.arrive()
    so.reset(p.a)
    wait_for(lambda: "HUP" in polled(p.b).split(), SOON)
    return words(now(p.b), now(p.b))


@row("write after a reset, twice")
def _(p):
    so.reset(p.a)
    wait_for(lambda: "HUP" in polled(p.b).split(), SOON)
    return words(*(outcome(p.b.send, b"x") for _ in range(2)))


def send_wrong(p: Pair) -> None:
    """A record whose tag is wrong"""
    bad = bytearray(p.record(b"x" * 10))
    bad[-1] ^= 1
    p.a.sendall(bad)
    p.arrive()


@row("a wrong record: `poll()`, `SO_ERROR`, and what is read, twice",
     by_hand=True)
def _(p):
    send_wrong(p)
    return words(polled(p.b), error_of(p.b), now(p.b), now(p.b))


@row("a wrong record: what is read, twice; and what is written", by_hand=True)
def _(p):
    send_wrong(p)
    return words(now(p.b), now(p.b), outcome(p.b.send, b"x"))


@row("a wrong record was read: `poll()`, `SO_ERROR`, and what is read",
     by_hand=True)
def _(p):
    send_wrong(p)
    now(p.b)
    return words(polled(p.b), error_of(p.b), now(p.b))


@row("a wrong header arrives: `poll()`, `SO_ERROR`, and what is read, twice",
     by_hand=True)
def _(p):
    p.a.sendall(b"\x17\7\7\0\x20" + bytes(32))
    p.arrive()
    return words(polled(p.b), error_of(p.b), now(p.b), now(p.b))


@row("a KeyUpdate was read, and the peer has shut down: `poll()`, and what is "
     "read")
def _(p):
    p.send(b"\x18\0\0\1\0", HANDSHAKE)
    p.b.recvmsg(100, 100)
    p.a.shutdown(socket.SHUT_WR)
    wait_for(lambda: "RDHUP" in polled(p.b).split(), SOON)
    return words(polled(p.b), now(p.b))


@row("the peer reads nothing, and as much was sent as goes: `poll()`, send, and "
     "`SO_ERROR`")
def _(p):
    while outcome(p.b.send, bytes(16384), socket.MSG_DONTWAIT) != "EAGAIN":
        pass
    return words(polled(p.b), outcome(p.b.send, b"x", socket.MSG_DONTWAIT),
                 error_of(p.b))


@row("the peer reads nothing, and `SO_SNDTIMEO` is set: what sends say at last")
def _(p):
    so.limit(p.b, 0.2, socket.SO_SNDTIMEO)
    while isinstance(said := outcome(p.b.send, bytes(16384)), int):
        pass
    return said


@row("`SIGPIPE`: write after a reset, twice, without `MSG_NOSIGNAL`")
def _(p):
    got = []
    was = signal.signal(signal.SIGPIPE, lambda *_: got.append(1))
    try:
        so.reset(p.a)
        wait_for(lambda: "HUP" in polled(p.b).split(), SOON)
        for _ in range(2):
            outcome(p.b.send, b"x")
    finally:
        signal.signal(signal.SIGPIPE, was)
    return "a signal" if got else "none"


@row("a KeyUpdate was read: `poll()`, and what is read")
def _(p):
    p.send(b"\x18\0\0\1\0", HANDSHAKE)
    p.b.recvmsg(100, 100)
    p.send(b"x")
    return words(polled(p.b), now(p.b))


@row("`SO_RCVLOWAT` 20 set before the keys: `poll()` with 10 bytes, with 20",
     early=set_lowat)
def polled_twice(p):
    said = []
    for _ in range(2):
        p.send(b"x" * 10)
        said.append(polled(p.b))
    return "; ".join(said)


@row("`SO_RCVLOWAT` 20 set after the keys: the same")
def _(p):
    set_lowat(p.b)
    return polled_twice(p)


@row("`SO_RCVLOWAT` 20: is a read told of 10 bytes?")
def _(p):
    set_lowat(p.b)
    # TCP has read the first 10 bytes already; the other 10 are below the mark,
    # and do not wake it
    so.limit(p.b, 3, socket.SO_RCVTIMEO)
    said = read_while(p, 100, 0, 10)
    return "at once" if said == 10 else f"waits for {said}"


@row("`getsockopt(SO_RCVLOWAT)` after 20 was set")
def _(p):
    set_lowat(p.b)
    return p.b.getsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT)


@row("`O_ASYNC`: a record comes, a signal comes")
def _(p):
    came = []
    was = signal.signal(signal.SIGIO, lambda *_: came.append(1))
    fcntl.fcntl(p.b, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(p.b, fcntl.F_SETFL, os.O_ASYNC | os.O_NONBLOCK)
    p.send(b"x")
    said = wait_for(lambda: came, A_MOMENT)
    p.close()
    signal.signal(signal.SIGIO, was)
    return "yes" if said else "no"


# -- ends --------------------------------------------------------------------

@row("the peer has shut down: write to it, and it reads")
def _(p):
    p.a.shutdown(socket.SHUT_WR)
    wait_for(lambda: "RDHUP" in polled(p.b), SOON)
    return words(outcome(p.b.send, b"x" * 10), read(p.a))


@row("this side has shut down for writing: write; read what still comes")
def _(p):
    p.b.shutdown(socket.SHUT_WR)
    p.send(b"x" * 10)
    return words(outcome(p.b.send, b"x"), now(p.b))


@row("`connect()` to no address (`AF_UNSPEC`)")
def _(p):
    if libc.connect(p.b.fileno(), bytes(16), 16) < 0:
        return errno.errorcode[ctypes.get_errno()]
    return "0"


@row("`close()`, and data were not read: what the peer reads")
def _(p):
    p.send(b"x" * 10)
    p.b.close()
    return read(p.a)


@row("`close()`, and half a record was not read: what the peer reads",
     by_hand=True)
def _(p):
    p.a.sendall(p.record(b"x" * 10)[:15])
    p.arrive()
    p.b.close()
    return read(p.a)


@row("`close()`, and an alert was not read: what the peer reads")
def _(p):
    p.send(b"\1\0", ALERT)
    p.b.close()
    return read(p.a)


@row("`close()`, and all was read: what the peer reads")
def _(p):
    p.send(b"x" * 10)
    p.b.recv(10)
    p.b.close()
    return read(p.a)


# -- options -----------------------------------------------------------------

@row("`TCP_NOTSENT_LOWAT` 1, and all was sent: `poll()`")
def _(p):
    p.b.setsockopt(socket.IPPROTO_TCP, TCP_NOTSENT_LOWAT, 1)
    p.b.send(b"x" * 10)
    assert wait_for(lambda: not count(p.b, SIOCOUTQNSD), SOON)
    return polled(p.b)


@row("`TCP_NOTSENT_LOWAT` 1000, and 600 bytes with `MSG_MORE`: `poll()`")
def _(p):
    p.b.setsockopt(socket.IPPROTO_TCP, TCP_NOTSENT_LOWAT, 1000)
    p.b.send(b"x" * 600, socket.MSG_MORE)
    return polled(p.b)


@row("`SO_TIMESTAMPING` of what arrives: is there a control message?")
def _(p):
    p.b.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPING, RX_SOFTWARE)
    with socket.socket(type=socket.SOCK_DGRAM) as other:
        other.bind(("127.0.0.1", 0))
        other.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPING, RX_SOFTWARE)
        # stamping starts only a little after the option was set, so packets
        # may still arrive without a stamp
        assert wait_for(lambda: other.sendto(b"x", other.getsockname()) and
                        has_stamp(other), SOON)
    p.send(b"x")
    return "yes" if has_stamp(p.b) else "no"


@row("`SO_BUSY_POLL`: set, and a record is read")
def _(p):
    p.b.setsockopt(socket.SOL_SOCKET, SO_BUSY_POLL, 50)
    p.send(b"x")
    return now(p.b)


@row("`SO_RCVBUF` 4608, nothing is read: does the sender wait in the end?")
def _(p):
    p.b.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2304)
    p.a.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 8192)
    p.a.setblocking(False)
    sent = 0
    with contextlib.suppress(BlockingIOError):
        while sent < 4 << 20:
            sent += p.a.send(bytes(1000))
    return "yes" if sent < 4 << 20 else "no"


@row("a second time `TCP_ULP`")
def _(p):
    return outcome(attach, p.b, b"tls" if p.kind == "kTLS" else b"ocf") or 0


@row("keys after the peer has shut down")
def _(p):
    a, b = so.pair()
    with a, b:
        a.shutdown(socket.SHUT_WR)
        assert wait_for(lambda: "RDHUP" in polled(b), SOON)
        return outcome(p.set, b, RX, p.keys) or 0


@row("keys for what an MPTCP socket accepted from a TCP client")
def _(p):
    with socket.socket(proto=IPPROTO_MPTCP) as s:
        s.bind(("127.0.0.1", 0))
        s.listen()
        with socket.create_connection(s.getsockname()):
            with s.accept()[0] as b:
                return outcome(p.set, b, RX, p.keys) or 0


@row("into a sockmap")
def _(p):
    said = outcome(into_sockmap, p.b)
    if isinstance(said, int):
        os.close(said)
        said = 0
    return said


@row("keys for a socket that is in a sockmap")
def _(p):
    a, b = so.pair()
    with a, b:
        fd = into_sockmap(b)
        said = outcome(p.set, b, RX, p.keys) or 0
        os.close(fd)
    return said


# -- io_uring ----------------------------------------------------------------

class Sqe(ctypes.Structure):
    """struct io_uring_sqe, as far as it is used here."""
    _fields_ = [("opcode", ctypes.c_uint8), ("flags", ctypes.c_uint8),
                ("ioprio", ctypes.c_uint16), ("fd", ctypes.c_int32),
                ("off", ctypes.c_uint64), ("addr", ctypes.c_uint64),
                ("len", ctypes.c_uint32), ("op_flags", ctypes.c_uint32),
                ("rest", ctypes.c_uint64 * 4)]


class Cqe(ctypes.Structure):
    _fields_ = [("user_data", ctypes.c_uint64), ("res", ctypes.c_int32),
                ("flags", ctypes.c_uint32)]


POLL_ADD, SEND, RECV, SHUTDOWN, SEND_ZC = 6, 26, 27, 34, 47


def ring_one(meanwhile=None, **fields):
    """An operation of io_uring's: its result.  @meanwhile runs once it is
    handed in."""
    uring = ctypes.CDLL("liburing.so.2", use_errno=True)
    ring = ctypes.create_string_buffer(1024)
    uring.io_uring_get_sqe.restype = ctypes.POINTER(Sqe)
    if err := uring.io_uring_queue_init(4, ring, 0):
        return errno.errorcode[-err]
    uring.io_uring_get_sqe(ring)[0] = Sqe(**fields)
    uring.io_uring_submit(ring)
    if meanwhile:
        meanwhile()
    uring.io_uring_submit_and_wait(ring, 1)
    cqe = ctypes.POINTER(Cqe)()
    assert uring.io_uring_peek_batch_cqe(ring, ctypes.byref(cqe), 1) == 1
    said = cqe.contents.res
    uring.io_uring_queue_exit(ring)
    return errno.errorcode[-said] if said < 0 else said


def room(n: int) -> tuple:
    buffer = ctypes.create_string_buffer(n)
    return buffer, {"addr": ctypes.addressof(buffer), "len": n}


@row("io_uring: send; what the peer reads")
def _(p):
    buffer, where = room(10)
    said = ring_one(opcode=SEND, fd=p.b.fileno(), **where)
    del buffer
    return words(said, read(p.a))


@row("io_uring: a receive that waits for a record")
def _(p):
    buffer, where = room(100)
    said = ring_one(lambda: p.a.send(b"x" * 10), opcode=RECV,
                    fd=p.b.fileno(), **where)
    return words(said, buffer.raw.count(b"x"))


@row("io_uring: a poll that waits for a record")
def _(p):
    said = ring_one(lambda: p.a.send(b"x"), opcode=POLL_ADD, fd=p.b.fileno(),
                    op_flags=select.POLLIN)
    return said if isinstance(said, str) else said & select.POLLIN


@row("io_uring: send without a copy")
def _(p):
    buffer, where = room(10)
    said = ring_one(opcode=SEND_ZC, fd=p.b.fileno(), **where)
    del buffer
    return said


@row("io_uring: shut down; what the peer reads")
def _(p):
    return words(ring_one(opcode=SHUTDOWN, fd=p.b.fileno(),
                          len=socket.SHUT_WR), read(p.a))


# -- sockmaps ----------------------------------------------------------------

def bpf(command: int, attributes: bytes) -> int:
    said = libc.syscall(BPF, command, attributes, len(attributes))
    if said < 0:
        raise OSError(ctypes.get_errno(), "bpf")
    return said


def into_sockmap(sock: socket.socket) -> int:
    """The descriptor of a map that has it."""
    number = bpf(0, struct.pack("=5I", 15, 4, 4, 1, 0) + bytes(100))
    key, value = struct.pack("=I", 0), struct.pack("=I", sock.fileno())
    k, v = (ctypes.create_string_buffer(x, 4) for x in (key, value))
    try:
        bpf(2, struct.pack("=IIQQQ", number, 0, ctypes.addressof(k),
                           ctypes.addressof(v), 0) + bytes(100))
    except OSError:
        os.close(number)
        raise
    return number


# -- the table ---------------------------------------------------------------

def answers(name: str) -> list:
    """Of each kind."""
    how, script = ROWS[name]
    said = []
    for kind in KINDS:
        p = Pair(kind, **how)
        try:
            said.append(words(script(p)))
        finally:
            p.close()
    return said


def expected() -> dict:
    """The rows that the document has."""
    out = {}
    for line in DOCUMENT.read_text().splitlines():
        cells = [c.strip() for c in line.strip("|").split(" | ")]
        if line.startswith("| ") and len(cells) == 1 + len(KINDS):
            out[cells[0]] = cells[1:]
    return out


def main() -> int:
    subprocess.run(["modprobe", "tls"], check=True)
    table, rest = "--table" in sys.argv, [
        w for w in sys.argv[1:] if w != "--table"]
    wanted = [n for n in ROWS if all(w in n for w in rest)]
    documented = expected()
    bad = [] if rest else [f"{n}: the document has no such row"
                           for n in ROWS if n not in documented]
    bad += [f"{n}: only the document has it" for n in documented
            if n not in ROWS and n != "call or state"]
    for name in wanted:
        begun = time.monotonic()
        said = answers(name)
        if table:
            print("| " + " | ".join([name, *said]) + " |", flush=True)
            continue
        right = said == documented.get(name)
        print(f"{'ok    ' if right else 'not ok'} "
              f"{time.monotonic() - begun:4.1f} s  {name}", flush=True)
        if not right and name in documented:
            bad.append(f"{name}: {words(*said)}; "
                       f"documented: {words(*documented[name])}")
    if not table:
        print(*bad, sep="\n", file=sys.stderr)
    return 1 if bad and not table else 0


if __name__ == "__main__":
    sys.exit(main())
