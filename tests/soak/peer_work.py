# SPDX-License-Identifier: BSD-2-Clause
"""In the machine: processes that use a card through Linux's own driver and
AF_ALG.  Says each second what they have done, until it is ended."""

import mmap
import os
import socket
import struct
import subprocess
import sys
import time

PROCESSES = 8
SIZE = 16384


def work(done: mmap.mmap, number: int) -> None:
    while True:
        try:
            with socket.socket(socket.AF_ALG, socket.SOCK_SEQPACKET) as alg:
                alg.bind(("skcipher", "virtio_crypto_aes_cbc"))
                alg.setsockopt(socket.SOL_ALG, socket.ALG_SET_KEY, b"k" * 16)
                ses = alg.accept()[0]
                while True:
                    ses.sendmsg_afalg([bytes(SIZE)], op=socket.ALG_OP_ENCRYPT,
                                      iv=bytes(16))
                    ses.recv(SIZE)
                    add(done, number)
        except OSError:
            add(done, PROCESSES + number)
            time.sleep(0.01)


def add(done: mmap.mmap, place: int) -> None:
    count = struct.unpack_from("Q", done, place * 8)[0]
    struct.pack_into("Q", done, place * 8, count + 1)


def main() -> int:
    subprocess.run(["modprobe", "-a", "virtio_crypto", "algif_skcipher"],
                   check=True)
    done = mmap.mmap(-1, 4096)
    for i in range(PROCESSES):
        if not os.fork():
            work(done, i)
    last = [0] * 2 * PROCESSES
    while True:
        time.sleep(1)
        counts = struct.unpack_from(f"{2 * PROCESSES}Q", done)
        did = [n - m for n, m in zip(counts, last)]
        print(f"{sum(did[:PROCESSES])} done, {sum(did[PROCESSES:])} failed, "
              f"{did[:PROCESSES].count(0)} of {PROCESSES} did nothing",
              flush=True)
        last = counts


if __name__ == "__main__":
    sys.exit(main())
