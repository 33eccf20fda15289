# SPDX-License-Identifier: BSD-2-Clause
"""OCF for Linux: sessions and operations of /dev/crypto, by libocf.

    with ocf.Device() as dev:
        session = dev.session(ocf.Mode.AEAD, "aes-gcm", key=key)
        text, tag = session.seal(data, iv=nonce, aad=header)

Arguments are bytes or any object that has a buffer; results are bytes.  A
failed call raises Error, an OSError whose message explains the failure.
ocf.socket has sockets that encrypt.
"""

from __future__ import annotations

import ctypes
import enum
import fcntl
import itertools
import weakref
from typing import Any, Iterator, NamedTuple, Optional, Sequence, Union

from . import abi

__all__ = ["Algorithm", "Code", "Command", "Curve", "Device", "Error", "Flag",
           "Mode", "Policy", "Queue", "Scheme", "Session", "random"]

Buffer = Union[bytes, bytearray, memoryview]
Memory = ctypes.Array[ctypes.c_char]


class Mode(enum.IntEnum):
    """How a session puts its algorithms together."""

    CIPHER = 1
    DIGEST = 2
    AEAD = 3
    ETA = 4
    MTE = 5
    CHAIN = 6
    COMPRESS = 7


class Policy(enum.IntEnum):
    LATENCY = 0
    CPU = 1


class Flag(enum.IntFlag):
    """Flags of a session.  HARDWARE and SOFTWARE are also flags of public-key
    operations."""

    ORDERED = 1
    HARDWARE = 2
    SOFTWARE = 4
    MTE_LENGTH = 8


class Code(enum.IntEnum):
    """The public-key operations; enum ocf_pk_code says what they take."""

    MOD_EXP = 0
    MOD_EXP_CRT = 1
    DSA_SIGN = 2
    DSA_VERIFY = 3
    DH = 4
    MOD_ADD = 5
    MOD_NEG = 6
    MOD_SUB = 7
    MOD_MUL = 8
    MOD_INV = 9
    MOD = 10
    RSA_SIGN = 11
    RSA_VERIFY = 12
    RSA_ENCRYPT = 13
    RSA_DECRYPT = 14
    EC_PUBLIC = 15
    ECDH = 16
    ECDSA_SIGN = 17
    ECDSA_VERIFY = 18
    X25519 = 19


class Scheme(enum.IntEnum):
    RAW = 0
    PKCS1 = 1
    PSS = 2
    OAEP = 3


class Curve(enum.IntEnum):
    NONE = 0
    P256 = 1
    P384 = 2
    P521 = 3


class Algorithm(NamedTuple):
    """What the kernel knows of an algorithm; lengths are bytes."""

    name: str
    type: int
    weak: bool
    has_rounds: bool
    key_min: int
    key_max: int
    key_step: int
    block: int
    iv: int
    digest: int


_lib = abi.load()


class Error(OSError):
    """A call of libocf's has failed."""

    def __init__(self, err: int):
        super().__init__(abs(err), _lib.ocf_strerror(err).decode())


def _check(res: int) -> int:
    if res < 0:
        raise Error(res)
    return res


def random(size: int) -> bytes:
    """Random bytes."""
    data = ctypes.create_string_buffer(size)
    _check(_lib.ocf_random(data, size))
    return data.raw


class Command:
    """An operation, and the memory it works in; made by a Session, or by
    Device.prepare_public()."""

    def __init__(self, command: abi.Command, out: Memory,
                 tag: Optional[Memory], *kept: object,
                 secret: Sequence[Memory] = ()):
        self.command = command
        self._out = out
        self._tag = tag
        self._kept = (*kept, *secret)
        # wipe the secrets only at the end of the object: until then the
        # command may be under way
        weakref.finalize(self, _wipe, *secret)

    def output(self, res: int) -> bytes:
        """@res bytes of the result."""
        return self._out.raw[:res]

    @property
    def tag(self) -> bytes:
        return self._tag.raw if self._tag else b""


def _octets(data: Buffer) -> bytes:
    """All bytes of @data. len() of a buffer counts its items, which may have
    several bytes.  A number or None raises TypeError; bytes(n) would be n
    zeros."""
    return memoryview(data).tobytes()


def _memory(data: bytes, room: int = 0) -> Memory:
    return ctypes.create_string_buffer(data, max(len(data), room, 1))


def _wipe(*kept: Optional[Memory]) -> None:
    for memory in kept:
        if memory is not None:
            ctypes.memset(memory, 0, ctypes.sizeof(memory))


class Session:
    """A session of a Device.  The text of each call names the modes that it is
    for."""

    def __init__(self, device: Device, params: abi.SessionOpen):
        self._device = device
        _check(_lib.ocf_session_create(device.handle, params))
        self.id: int = params.session
        self.mode = Mode(params.mode)
        info = self.info()
        self.ivlen: int = info.ivlen
        self.maclen: int = info.maclen
        self.block: int = info.block

    def info(self) -> abi.SessionQuery:
        info = abi.SessionQuery()
        _check(_lib.ocf_session_info(self._device.handle, self.id, info))
        return info

    @property
    def device(self) -> str:
        """The device that is preferred now, or nothing."""
        return str(self.info().device.decode())

    def close(self) -> None:
        _check(_lib.ocf_session_destroy(self._device.handle, self.id))

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def rekey(self, key: Optional[Buffer] = None,
              mackey: Optional[Buffer] = None) -> None:
        """Changes the session's keys for all later operations."""
        given = [_octets(k) if k is not None else b"" for k in (key, mackey)]
        both = [_memory(g) if k is not None else None
                for k, g in zip((key, mackey), given)]
        try:
            _check(_lib.ocf_session_change(
                self._device.handle, self.id, both[0], len(given[0]),
                both[1], len(given[1])))
        finally:
            _wipe(*both)

    def prepare(self, data: Buffer, *, decrypt: bool = False,
                iv: Buffer = b"", aad: Buffer = b"",
                tag: Optional[Buffer] = None, room: int = 0, flags: int = 0,
                inplace: bool = False) -> Command:
        """A command, for run() or for a Queue; @room is its dst_len."""
        data, iv, aad = _octets(data), _octets(iv), _octets(aad)
        src, around = _memory(data, room), _memory(aad)
        out = src if inplace else ctypes.create_string_buffer(
            max(len(data), room, 1))
        given = None
        if self.maclen and self.mode not in (Mode.CIPHER, Mode.MTE,
                                             Mode.COMPRESS):
            if tag is not None and len(_octets(tag)) != self.maclen:
                raise ValueError(f"the tag must have {self.maclen} bytes")
            given = _memory(_octets(tag) if tag is not None else b"",
                            self.maclen)
            given = given if not flags & FLAG_MORE else None
        c = abi.Command(session=self.id, op=int(decrypt),
                        flags=flags, src=ctypes.addressof(src), len=len(data),
                        dst_len=room)
        if len(iv) != self.ivlen:
            # the bytes missing from a short IV would always be zero.  CCM
            # allows several lengths, which the kernel checks
            if self.mode != Mode.AEAD or not 0 < len(iv) <= 16:
                raise ValueError(f"the IV has {self.ivlen} bytes")
            c.ivlen = len(iv)
        c.iv[:len(iv)] = iv
        if self.mode != Mode.DIGEST:
            c.dst = ctypes.addressof(out)
        if self.mode in (Mode.AEAD, Mode.ETA, Mode.MTE):
            c.aad, c.auth_len = ctypes.addressof(around), len(aad)
        if given:
            c.tag = ctypes.addressof(given)
        return Command(c, out, given, src, around)

    def run(self, command: Command) -> int:
        """Runs @command, and returns the number of bytes of its result."""
        return _check(_lib.ocf_run(self._device.handle, command.command))

    def _crypt(self, data: Buffer, **more: Any) -> bytes:
        c = self.prepare(data, **more)
        return c.output(self.run(c))

    def encrypt(self, data: Buffer, iv: Buffer = b"") -> bytes:
        """CIPHER."""
        return self._crypt(data, iv=iv)

    def decrypt(self, data: Buffer, iv: Buffer = b"") -> bytes:
        """CIPHER."""
        return self._crypt(data, iv=iv, decrypt=True)

    def digest(self, data: Buffer, iv: Buffer = b"") -> bytes:
        """DIGEST."""
        c = self.prepare(data, iv=iv)
        res = self.run(c)
        return c.tag[:res]

    def digest_parts(self, parts: Sequence[Buffer]) -> bytes:
        """DIGEST of all parts together; there must be at least one."""
        last = len(parts) - 1
        for i, part in enumerate(parts):
            c = self.prepare(part, flags=(FLAG_CONTINUE if i else 0) |
                             (FLAG_MORE if i < last else 0))
            res = self.run(c)
        return c.tag[:res]

    def verify(self, data: Buffer, tag: Buffer, iv: Buffer = b"") -> bool:
        """DIGEST: returns whether the digest or MAC of @data is @tag."""
        try:
            self.run(self.prepare(data, iv=iv, tag=tag, decrypt=True))
        except Error as e:
            if e.errno == EBADMSG:
                return False
            raise
        return True

    def seal(self, data: Buffer, iv: Buffer = b"",
             aad: Buffer = b"") -> tuple[bytes, bytes]:
        """AEAD, ETA: ciphertext and tag."""
        c = self.prepare(data, iv=iv, aad=aad)
        res = self.run(c)
        return c.output(res), c.tag

    def unseal(self, data: Buffer, tag: Buffer, iv: Buffer = b"",
               aad: Buffer = b"") -> bytes:
        """AEAD, ETA: returns the plaintext; raises EBADMSG if the tag is
        wrong."""
        return self._crypt(data, iv=iv, aad=aad, tag=tag, decrypt=True)

    def record(self, data: Buffer, size: int, iv: Buffer = b"",
               aad: Buffer = b"") -> bytes:
        """MTE: a record of @size bytes."""
        return self._crypt(data, iv=iv, aad=aad, room=size)

    def unrecord(self, data: Buffer, iv: Buffer = b"",
                 aad: Buffer = b"") -> bytes:
        """MTE: returns the payload of a record; raises EBADMSG if @data is not
        a valid record."""
        return self._crypt(data, iv=iv, aad=aad, decrypt=True)

    def compress(self, data: Buffer, room: int) -> bytes:
        """COMPRESS, to @room bytes at most."""
        return self._crypt(data, room=room)

    def expand(self, data: Buffer, room: int) -> bytes:
        """COMPRESS: decompresses @data, to @room bytes at most."""
        return self._crypt(data, room=room, decrypt=True)


FLAG_MAC_FIRST, FLAG_VERIFY = 1, 2
FLAG_MORE, FLAG_CONTINUE = 16, 32
EBADMSG = 74


def _public(operands: Sequence[Buffer], out: Sequence[int], *, hash: str,
            device: str, **fields: int) -> tuple[abi.Public, list[Memory],
                                                 list[Memory]]:
    """An operation, what it is given, and room for its results."""
    if len(operands) > 8 or len(out) > 2:
        raise ValueError("8 operands and 2 results at most")
    op = abi.Public(hash=hash.encode(), device=device.encode(), **fields)
    operands = [_octets(o) for o in operands]
    given = [_memory(o) for o in operands]
    results = [ctypes.create_string_buffer(max(n, 1)) for n in out]
    for place, mem, n in zip(op.in_, given, map(len, operands)):
        place.base, place.len = ctypes.addressof(mem), n
    for place, mem, n in zip(op.out, results, out):
        place.base, place.len = ctypes.addressof(mem), n
    return op, given, results


class Device:
    """/dev/crypto."""

    def __init__(self) -> None:
        handle = ctypes.c_void_p()
        _check(_lib.ocf_open(ctypes.byref(handle)))
        self._handle: Optional[ctypes.c_void_p] = handle
        self._queues: weakref.WeakSet[Queue] = weakref.WeakSet()
        # cancel() takes a command's number, which must be unique among all
        # queues of the device
        self._numbers = itertools.count()

    @property
    def handle(self) -> ctypes.c_void_p:
        if self._handle is None:
            raise ValueError("the device is closed")
        return self._handle

    def close(self) -> None:
        """Closes the device and its queues.  The kernel then frees its
        sessions."""
        if self._handle is None:
            return
        for queue in list(self._queues):
            queue.close()
        _lib.ocf_close(self._handle)
        self._handle = None

    def __enter__(self) -> Device:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def fileno(self) -> int:
        return int(_lib.ocf_fd(self.handle))

    @property
    def features(self) -> abi.Features:
        features = _lib.ocf_features(self.handle).contents
        # a copy, because close() frees the original
        return abi.Features.from_buffer_copy(features)

    def algorithms(self) -> Iterator[Algorithm]:
        """All the kernel knows, whether there is a device for them or not."""
        for i in range(self.features.algorithms):
            a = abi.Algorithm(size=ctypes.sizeof(abi.Algorithm), index=i)
            fcntl.ioctl(self.fileno(), abi.ALGORITHM, a)
            yield Algorithm(a.name.decode(), a.type, bool(a.flags & 1),
                            bool(a.flags & 2), a.key_min, a.key_max,
                            a.key_step, a.block, a.iv, a.digest)

    def session(self, mode: Mode, cipher: str = "", mac: str = "", *,
                key: Buffer = b"", mackey: Buffer = b"", device: str = "",
                policy: Policy = Policy.LATENCY, flags: Flag = Flag(0),
                ivlen: int = 0, maclen: int = 0, rounds: int = 0) -> Session:
        """A session; lengths of 0 are the algorithms' own."""
        key, mackey = _octets(key), _octets(mackey)
        kept = _memory(key), _memory(mackey)
        try:
            return Session(self, abi.SessionOpen(
                mode=mode, cipher=cipher.encode(), mac=mac.encode(),
                device=device.encode(), policy=policy, flags=flags,
                key=ctypes.addressof(kept[0]) if key else 0,
                mackey=ctypes.addressof(kept[1]) if mackey else 0,
                keylen=len(key), mackeylen=len(mackey), ivlen=ivlen,
                maclen=maclen, rounds=rounds))
        finally:
            _wipe(*kept)

    def public(self, code: Code, *operands: Buffer,
               out: Sequence[int] = (), scheme: Scheme = Scheme.RAW,
               curve: Curve = Curve.NONE, hash: str = "", salt: int = 0,
               policy: Policy = Policy.LATENCY, flags: Flag = Flag(0),
               device: str = "") -> list[bytes]:
        """A public-key operation; @out is the room for each result."""
        op, given, results = _public(
            operands, out, code=code, scheme=scheme, curve=curve,
            policy=policy, hash=hash, salt=salt, flags=flags, device=device)
        try:
            res = _check(_lib.ocf_public_run(self.handle, op))
        finally:
            _wipe(*given)
        lens = [res, *out[1:]] if out else []
        return [r.raw[:n] for r, n in zip(results, lens)]

    def prepare_public(self, code: Code, *operands: Buffer, out: int = 0,
                       scheme: Scheme = Scheme.RAW,
                       curve: Curve = Curve.NONE, hash: str = "",
                       salt: int = 0, policy: Policy = Policy.LATENCY,
                       flags: Flag = Flag(0), device: str = "") -> Command:
        """The same for a queue, or for run_many(); @out is the room for the
        result, which is the command's output."""
        op, given, results = _public(
            operands, [out] if out else [], code=code, scheme=scheme,
            curve=curve, policy=policy, hash=hash, salt=salt, flags=flags,
            device=device)
        values = (abi.PkValue * 10)()
        command = abi.Command()
        _check(_lib.ocf_public_command(
            op, 0, values, ctypes.cast(ctypes.byref(command),
                                       ctypes.POINTER(abi.PkCommand))))
        return Command(command, results[0] if results else _memory(b""), None,
                       values, secret=given)

    def run_many(self, commands: Sequence[Command]) -> list[int]:
        """Runs all @commands in one system call, or in a few.  Returns for each
        the number of bytes, or a negative errno."""
        given = (abi.Command * len(commands))(*(c.command for c in commands))
        results = (abi.Result * len(commands))()
        _check(_lib.ocf_run_many(self.handle, given, results, len(commands)))
        return [r.res for r in results]


def _drain(queue: ctypes.c_void_p, commands: dict[int, Command],
           device: Device) -> None:
    """Waits for the commands under way.  Until then @commands keeps their
    memory, and @device keeps the device open."""
    _lib.ocf_queue_close(queue)
    commands.clear()


class Queue:
    """Many commands under way at a time; for one thread at a time."""

    ONE_THREAD, NO_URING, URING = 1, 2, 4

    def __init__(self, device: Device, depth: int = 64, flags: int = 0):
        handle = ctypes.c_void_p()
        _check(_lib.ocf_queue_open(device.handle, depth, flags,
                                   ctypes.byref(handle)))
        self._open: Optional[ctypes.c_void_p] = handle
        self._device = device
        self._commands: dict[int, Command] = {}
        # runs even if nobody closes the queue: the kernel may still write to
        # the memory of its commands
        self._end = weakref.finalize(self, _drain, handle, self._commands,
                                     device)
        device._queues.add(self)

    @property
    def _handle(self) -> ctypes.c_void_p:
        if self._open is None:
            raise ValueError("the queue is closed")
        return self._open

    def close(self) -> None:
        """Waits for what is under way."""
        self._open = None
        self._end()

    def __enter__(self) -> Queue:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __len__(self) -> int:
        return int(_lib.ocf_queue_count(self._handle))

    def fileno(self) -> int:
        return _check(_lib.ocf_queue_fd(self._handle))

    @property
    def is_uring(self) -> bool:
        return bool(_lib.ocf_queue_is_uring(self._handle))

    def put(self, command: Command) -> int:
        """Puts a command into the queue, which keeps it until its result is
        there.  Returns a number for cancel()."""
        handle = self._handle
        number = next(self._device._numbers)
        command.command.cookie = number
        # keep the command before the kernel has it: an exception in between
        # must not free its memory
        self._commands[number] = command
        try:
            _check(_lib.ocf_queue_put(handle, command.command))
        except Error:
            del self._commands[number]
            raise
        return number

    def submit(self) -> None:
        _check(_lib.ocf_queue_submit(self._handle))

    def get(self, count: int = 64,
            timeout: int = -1) -> list[tuple[Command, int]]:
        """Commands that are done, with bytes or a negative errno of each;
        @timeout is ms."""
        results = (abi.Result * count)()
        n = _check(_lib.ocf_queue_get(self._handle, results, count, timeout))
        return [(self._commands.pop(r.cookie), r.res) for r in results[:n]]

    def cancel(self, number: int) -> int:
        return _check(_lib.ocf_queue_cancel(self._handle, number))
