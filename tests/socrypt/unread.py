#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""In the test machine: the memory that many sockets take when nobody reads from
them, or when they are idle.

    tests/socrypt/unread.py [UNITTEST...]	OCF_SEED, OCF_ROUNDS from the environment
"""

import errno
import gc
import pathlib
import random
import re
import resource
import select
import socket
import sys
import threading
import unittest
from dataclasses import replace

sys.dont_write_bytecode = True
sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[i] / folder)
                for i, folder in ((0, ""), (1, "lib"))]

import so_crypt as so  # noqa: E402
from ocf import wait_for  # noqa: E402
from records import seal  # noqa: E402
from rounds import rounds  # noqa: E402
from send import SEED, crypt_of  # noqa: E402

SOON = 600
MANY = rounds(10000)
RECORDS = 100
A_LOT = 20 * 16384    # bytes: more records than are kept


def available() -> int:
    """Bytes that the machine has left.  They include the page cache, and the
    processors' lists of free pages, which MemFree does not count and which grow
    to tens of MiB."""
    pathlib.Path("/proc/sys/vm/drop_caches").write_text("3")
    lines = pathlib.Path("/proc/meminfo").read_text().splitlines()
    kib = {k: int(v.split()[0]) for k, v in (ln.split(":") for ln in lines)}
    listed = sum(map(int, re.findall(
        r"^ +count: +(\d+)", pathlib.Path("/proc/zoneinfo").read_text(), re.M)))
    return 1024 * (kib["MemFree"] + kib["Cached"] + kib["Buffers"]) + \
        listed * resource.getpagesize()


def slab(name: str) -> int:
    """Bytes in a cache of the kernel's for objects of one kind."""
    for line in pathlib.Path("/proc/slabinfo").read_text().splitlines():
        word = line.split()
        if word[0] == name:
            return int(word[1]) * int(word[3])
    raise KeyError(name)


def sealed(crypt: so.Crypt, records: int) -> bytes:
    """Records with a byte each, as they are on the wire."""
    a, b = so.pair()
    with a, b:
        so.attach(a)
        a.setsockopt(so.SOL_OCF, so.TX, crypt.pack())
        for _ in range(records):
            a.sendall(b"x")
        a.shutdown(socket.SHUT_WR)
        return b"".join(iter(lambda: b.recv(1 << 16), b""))


class Unread(unittest.TestCase):
    def setUp(self):
        limit = 2 * MANY + 1000
        resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
        self.crypt = crypt_of(random.Random(SEED), so.TLS_1_3, "aes-gcm", 128)

    def connections(self, number: int, which: int) -> list:
        """Makes @number connections.  The first end of each is a plain TCP
        socket."""
        out = []
        for _ in range(number):
            plain, ours = so.pair()
            self.addCleanup(plain.close)
            self.addCleanup(ours.close)
            so.attach(ours)
            ours.setsockopt(so.SOL_OCF, which, self.crypt.pack())
            out.append((plain, ours))
        return out

    def test_records_that_nobody_reads(self):
        """They take at most four times what was sent."""
        wire = sealed(self.crypt, RECORDS)
        pairs = self.connections(MANY, so.RX)
        gc.collect()
        before = available()
        for plain, _ in pairs:
            plain.sendall(wire)
        last = pairs[-1][1]
        self.assertTrue(wait_for(
            lambda: so.info(last, so.RX)["in_flight"] == RECORDS, SOON))
        took = before - available()
        sent = MANY * len(wire)
        print(f"{took >> 10} KiB for {sent >> 10} KiB of {MANY * RECORDS} "
              f"records, {took / sent:.1f} times as many", flush=True)
        self.assertLess(took, 4 * sent)
        for _, ours in pairs[::100]:
            self.assertEqual(b"x" * RECORDS, ours.recv(2 * RECORDS))

    def test_empty_records(self):
        """Empty records have nothing to read, and more of them arrive than a
        socket keeps."""
        plain, ours = self.connections(1, so.RX)[0]
        wire = b"".join(
            seal(replace(self.crypt, number=n), text + b"\x17")
            for n, text in enumerate([b""] * 1000 + [b"x"]))
        sender = threading.Thread(target=plain.sendall, args=(wire,))
        sender.start()
        self.assertEqual(b"x", ours.recv(10))
        sender.join()

    def test_more_at_once_than_it_opens(self):
        """An opened record takes less room, so the remaining records are taken,
        too."""
        wire = sealed(self.crypt, 1000)
        plain, ours = self.connections(1, so.RX)[0]
        ours.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, 900)
        poll = select.poll()
        poll.register(ours, select.POLLIN)
        plain.sendall(wire)
        self.assertEqual([(ours.fileno(), select.POLLIN)],
                         poll.poll(SOON * 1000))
        self.assertEqual(b"x" * 900, ours.recv(
            900, socket.MSG_PEEK | socket.MSG_WAITALL))
        self.assertEqual(b"x" * 1000, ours.recv(1000, socket.MSG_WAITALL))

    def test_header_where_it_is_full(self):
        """The socket gets a record's header, and then becomes full.  The rest
        of the record comes when there is no room, and is taken later."""
        wire = sealed(self.crypt, 200)
        size = len(wire) // 200
        # the socket is full after one of these numbers
        for n in range(100, 150):
            plain, ours = self.connections(1, so.RX)[0]
            plain.sendall(wire[:n * size + 5])
            self.assertTrue(wait_for(
                lambda o=ours, n=n: so.info(o, so.RX)["in_flight"] >= n, SOON))
            ours.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
            plain.sendall(wire[n * size + 5:(n + 1) * size])
            self.assertEqual(b"x" * (n + 1), ours.recv(
                n + 1, socket.MSG_WAITALL))

    def test_many_that_are_wrong(self):
        """After the wrong record was reported, epoll reports nothing more."""
        wire = bytearray(sealed(self.crypt, 1000))
        wire[10] ^= 1
        plain, ours = self.connections(1, so.RX)[0]
        plain.sendall(wire)
        with self.assertRaises(OSError) as e:
            ours.recv(10)
        self.assertEqual(errno.EBADMSG, e.exception.errno)
        edges = select.epoll()
        edges.register(ours, select.EPOLLIN | select.EPOLLET)
        edges.poll(0)
        self.assertEqual([], edges.poll(1))

    def test_what_tcp_is_told(self):
        """TCP counts the records that are kept as its memory, which "ss -m"
        shows."""
        plain, ours = self.connections(1, so.RX)[0]
        plain.sendall(sealed(self.crypt, RECORDS))
        self.assertTrue(wait_for(
            lambda: so.info(ours, so.RX)["in_flight"] == RECORDS, SOON))
        seen = so.meminfo(ours)[0]
        self.assertLessEqual(RECORDS * 64, seen)
        ours.recv(2 * RECORDS)
        self.assertEqual(0, so.meminfo(ours)[0])

    def test_idle(self):
        """A socket that sent a lot keeps less than 6 KiB for its next
        records."""
        pairs = self.connections(300, so.TX)
        before = slab("so_record")
        for plain, ours in pairs:
            ours.sendall(bytes(A_LOT))
            left = A_LOT
            while left > 0:
                left -= len(plain.recv(1 << 20))
        kept = (slab("so_record") - before) / len(pairs)
        print(f"{kept / 1024:.1f} KiB for each", flush=True)
        self.assertLess(kept, 6 * 1024)


if __name__ == "__main__":
    print(f"OCF_SEED={SEED}", flush=True)
    unittest.main(verbosity=2, warnings="ignore")
