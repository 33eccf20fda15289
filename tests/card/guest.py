# SPDX-License-Identifier: BSD-2-Clause
"""In the machine: requests to cards through Linux's own driver (AF_ALG).

    guest.py WHAT       prints what it saw as JSON
"""

import json
import os
import pathlib
import select
import socket
import subprocess
import sys
import threading
import time

import ctl

SIZE = 4096


def session() -> socket.socket:
    alg = socket.socket(socket.AF_ALG, socket.SOCK_SEQPACKET)
    alg.bind(("skcipher", "virtio_crypto_aes_cbc"))
    alg.setsockopt(socket.SOL_ALG, socket.ALG_SET_KEY, b"k" * 16)
    return alg.accept()[0]


def request(sess: socket.socket, size: int = SIZE) -> bytes:
    sess.sendmsg_afalg([bytes(size)], op=socket.ALG_OP_ENCRYPT, iv=bytes(16))
    return sess.recv(size)


class Child:
    """Requests in a process of their own, because they may never end."""

    def __init__(self, *sessions: socket.socket):
        self.read, write = os.pipe()
        if os.fork() == 0:
            for sess in sessions or (session(),):
                request(sess)
            os.write(write, b"x")
            os._exit(0)
        os.close(write)

    def ended(self, seconds: float) -> bool:
        return bool(select.select([self.read], [], [], seconds)[0]) and \
            os.read(self.read, 1) == b"x"


class Gaps(threading.Thread):
    """The longest time for which the whole machine stood still."""

    def __init__(self):
        super().__init__(daemon=True)
        self.longest = 0.0
        self.start()

    def run(self):
        last = time.monotonic()
        while True:
            time.sleep(0.01)
            now = time.monotonic()
            self.longest = max(self.longest, now - last)
            last = now

    def take(self) -> float:
        time.sleep(0.1)
        longest, self.longest = self.longest, 0.0
        return longest


def works(cards, _gaps):
    sess = session()
    data = request(sess)
    return {"data": data.hex(), "cards": [c.stats() for c in cards],
            "names": os.environ["OCF_CARDS"].split(),
            "pci": sum((d / "device").read_text() == "0x1054\n" for d in
                       pathlib.Path("/sys/bus/pci/devices").iterdir())}


def until(good, what, times: int = 20) -> dict:
    """Calls @what() until the result is @good, and returns the last result.
    The host may stop the machine or the card for any time, but not every
    time."""
    for _ in range(times):
        seen = what()
        if good(seen):
            break
    return seen


def killed(cards, gaps):
    sess = session()
    # a minute: the request is still inside when the card is killed
    cards[0]("set latency_ns=60000000000")
    child = Child(sess)
    while not cards[0].stats()["inside"]:
        time.sleep(0.01)
    cards[0].send("die")
    answered = child.ended(2)

    def another():
        gaps.take()
        begun = time.monotonic()
        try:
            session()
            made = "made"
        except OSError as why:
            made = why.errno
        return {"session": made, "took": time.monotonic() - begun,
                "gap": gaps.take()}
    return {"answered": answered,
            **until(lambda s: max(s["took"], s["gap"]) < 1, another)}


def stopped(cards, gaps):
    def ask():
        sess, other = session(), session()
        cards[0].send("stop 2000")
        time.sleep(0.3)
        gaps.take()
        child = Child(sess)
        seen = {"early": child.ended(0.5)}
        other.close()
        return {**seen, "gap": gaps.take(), "late": child.ended(60)}

    def make():
        cards[0].send("stop 1500")
        time.sleep(0.3)
        gaps.take()
        session()
        return {"session_gap": gaps.take()}
    return {**until(lambda s: not s["early"] and s["gap"] < 0.4, ask),
            **until(lambda s: s["session_gap"] > 0.5, make)}


def doubled(cards, _gaps):
    sess = session()
    cards[0]("fault double 1")
    seen = {"first": len(request(sess))}
    try:
        request(sess)
    except OSError as why:
        seen["second"] = why.errno
    seen["log"] = subprocess.run(["dmesg"], capture_output=True, text=True,
                                 check=True).stdout
    return seen


def main() -> int:
    subprocess.run(["modprobe", "-a", "virtio_crypto", "algif_skcipher"],
                   check=True)
    cards = [ctl.Control(name) for name in os.environ["OCF_CARDS"].split()]
    seen = globals()[sys.argv[1]](cards, Gaps())
    print(json.dumps(seen), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
