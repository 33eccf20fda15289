# SPDX-License-Identifier: BSD-2-Clause
"""QEMU's and the guest's side of a card, without either.

A vhost-user front end with a page or two of "guest memory" and one ring, laid
out as OASIS Virtio 1.2 has it (2.7, split virtqueues).
"""

import array
import mmap
import os
import select
import socket
import struct

# Messages of vhost-user (QEMU's docs/interop/vhost-user.rst).
GET_FEATURES, SET_FEATURES, SET_OWNER, SET_MEM_TABLE = 1, 2, 3, 5
SET_VRING_NUM, SET_VRING_ADDR, SET_VRING_BASE, GET_VRING_BASE = 8, 9, 10, 11
SET_VRING_KICK, SET_VRING_CALL = 12, 13
GET_PROTOCOL_FEATURES, SET_PROTOCOL_FEATURES = 15, 16
CREATE_SESSION, CLOSE_SESSION = 26, 27
SESSION = struct.Struct("<q6I4B4xQQ64s512s")

MEMORY = 8 << 20
QUEUES = 4      # as card.h has them
NUM = 256                           # descriptors
DESC, AVAIL, USED, DATA = 0, 0x1000, 0x2000, 0x4000
QVA = 0x7f0000000000                # where the ring would be in QEMU
NEXT, WRITE = 1, 2                  # a descriptor's flags

CIPHER, CHAIN = 1, 2                # VIRTIO_CRYPTO_SYM_OP_*
ENCRYPT, DECRYPT = 1, 2             # VIRTIO_CRYPTO_OP_*
PLAIN, AUTH = 1, 2                  # VIRTIO_CRYPTO_SYM_HASH_MODE_*
HASH_FIRST, CIPHER_FIRST = 1, 2     # VIRTIO_CRYPTO_SYM_ALG_CHAIN_ORDER_*
OK, ERR, NOTSUPP, INVSESS, NOSPC = 0, 1, 3, 4, 5


def header(session: int, opcode: int, op_type: int, *words: int) -> bytes:
    """struct virtio_crypto_op_data_req"""
    head = struct.pack("<IIQII", opcode, 0, session, 0, 0)
    body = struct.pack(f"<{len(words)}I", *words).ljust(40, b"\0")
    return head + body + struct.pack("<II", op_type, 0)


class FrontEnd:
    """A connection to a card, with the ring of @queue running."""

    def __init__(self, path, queue: int = 0):
        self.queue = queue
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(120)
        self.sock.connect(str(path))
        memfd = os.memfd_create("guest")
        os.ftruncate(memfd, MEMORY)
        self.mem = mmap.mmap(memfd, MEMORY)
        # struct writes byte by byte, and the card looks at any time
        self.words = memoryview(self.mem).cast("H")
        self.kick, self.call = os.eventfd(0), os.eventfd(0)
        self.ask(GET_FEATURES)
        self.send(SET_FEATURES, struct.pack("<Q", 1 << 30))
        self.ask(GET_PROTOCOL_FEATURES)
        self.send(SET_PROTOCOL_FEATURES, struct.pack("<Q", 1 << 7))
        self.send(SET_OWNER)
        self.send(SET_MEM_TABLE,
                  struct.pack("<IIQQQQ", 1, 0, 0, MEMORY, QVA, 0), memfd)
        os.close(memfd)
        self.reset()

    def close(self):
        self.sock.close()
        self.words.release()
        self.mem.close()
        os.close(self.kick)
        os.close(self.call)

    # Messages --------------------------------------------------------------

    def send(self, request: int, payload: bytes = b"", *fds: int) -> None:
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS,
                   array.array("i", fds))] if fds else []
        head = struct.pack("<III", request, 1, len(payload))
        self.sock.sendmsg([head + payload], rights)

    def ask(self, request: int, payload: bytes = b"") -> bytes:
        self.send(request, payload)
        got, _, size = struct.unpack("<III", self._exactly(12))
        assert got == request
        return self._exactly(size)

    def _exactly(self, size: int) -> bytes:
        data = self.sock.recv(size, socket.MSG_WAITALL) if size else b""
        if len(data) != size:
            raise ConnectionError("the card has hung up")
        return data

    def session(self, alg: int, key: bytes, direction: int = ENCRYPT, *,
                op_type: int = CIPHER, hash_alg: int = 0, hash_len: int = 0,
                auth_key: bytes = b"", mode: int = 0, order: int = 0,
                key_len: int | None = None) -> int:
        """A new session's id, or -1."""
        msg = SESSION.pack(0, alg, len(key) if key_len is None else key_len,
                           hash_alg, hash_len, len(auth_key), 0, op_type,
                           direction, mode, order, 0, 0, key, auth_key)
        return SESSION.unpack(self.ask(CREATE_SESSION, msg))[0]

    def close_session(self, session: int) -> None:
        self.send(CLOSE_SESSION, struct.pack("<Q", session))

    # The ring --------------------------------------------------------------

    def stop(self) -> int:
        """Stops the ring.  Returns the index at which the card would go on."""
        return struct.unpack("<II", self.ask(GET_VRING_BASE,
                                             struct.pack("<II", self.queue,
                                                         0)))[1]

    def start(self, base: int, tell: bool = True) -> None:
        """@tell: whether the card is told at once whom to interrupt."""
        addr = struct.pack("<IIQQQQ", self.queue, 0, QVA + DESC, QVA + USED,
                           QVA + AVAIL, 0)
        self.send(SET_VRING_NUM, struct.pack("<II", self.queue, NUM))
        self.send(SET_VRING_BASE, struct.pack("<II", self.queue, base))
        self.send(SET_VRING_ADDR, addr)
        if tell:
            self.tell()
        self.send(SET_VRING_KICK, struct.pack("<Q", self.queue), self.kick)

    def tell(self) -> None:
        """Whom the card is to interrupt."""
        self.send(SET_VRING_CALL, struct.pack("<Q", self.queue), self.call)

    def reset(self) -> None:
        self.mem[:DATA] = bytes(DATA)
        self.avail = self.used = self.desc = 0
        self.free = DATA
        self.start(0)

    def room(self, size: int) -> int:
        """The address of @size bytes; memory is reused after a round."""
        if self.free + size > MEMORY:
            self.free = DATA
        self.free += size
        return self.free - size

    def chain(self, descs: list[tuple[int, int, int, int]]) -> None:
        """Raw descriptors: address, length, flags and next's distance."""
        head = self.desc
        for i, (addr, length, flags, step) in enumerate(descs):
            at = (head + i) % NUM
            struct.pack_into("<QIHH", self.mem, DESC + 16 * at, addr, length,
                             flags, (at + step) % NUM)
        self.desc = (head + len(descs)) % NUM
        self.words[AVAIL // 2 + 2 + self.avail % NUM] = head
        self.avail += 1
        self.words[AVAIL // 2 + 1] = self.avail & 0xffff
        os.eventfd_write(self.kick, 1)

    def submit(self, out: list[bytes], room: list[int]) -> list[tuple]:
        """Puts a request of these pieces into the ring.  Returns the places
        that the card will write to."""
        descs, places = [], []
        for piece in out:
            at = self.room(len(piece))
            self.mem[at:at + len(piece)] = piece
            descs.append([at, len(piece), NEXT, 1])
        for size in room:
            at = self.room(size)
            self.mem[at:at + size] = b"\xee" * size
            places.append((at, size))
            descs.append([at, size, NEXT | WRITE, 1])
        descs[-1][2] &= ~NEXT
        self.chain(descs)
        return places

    def answers(self) -> int:
        """How many have come that were not taken."""
        return (self.words[USED // 2 + 1] - self.used) & 0xffff

    def wait(self, count: int = 1, timeout: float = 120) -> list[tuple]:
        """The next @count answers: head and length."""
        while self.answers() < count:
            if not select.select([self.call], [], [], timeout)[0]:
                raise TimeoutError(f"{self.answers()} of {count} answers")
            os.eventfd_read(self.call)
        got = [struct.unpack_from("<II", self.mem,
                                  USED + 4 + 8 * ((self.used + i) % NUM))
               for i in range(count)]
        self.used += count
        return got

    def result(self, places: list[tuple]) -> tuple[bytes, int]:
        """What was written into @places: data, and the status at the end."""
        data = b"".join(self.mem[at:at + size] for at, size in places)
        return data[:-1], data[-1]

    def request(self, out: list[bytes], room: list[int]) -> tuple[bytes, int]:
        places = self.submit(out, room)
        self.wait()
        return self.result(places)

    def cipher(self, session: int, iv: bytes, data: bytes,
               direction: int = ENCRYPT) -> tuple[bytes, int]:
        head = header(session, direction - 1, CIPHER, len(iv), len(data),
                      len(data))
        return self.request([p for p in (head, iv, data) if p],
                            [len(data), 1] if data else [1])
