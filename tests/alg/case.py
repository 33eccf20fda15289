# SPDX-License-Identifier: BSD-2-Clause
"""What the tests of ocf_alg share: the module, its cards, what is counted."""

import contextlib
import errno
import os
import pathlib
import re
import socket
import sys
import threading
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))

from ocf import Device, prefer_cards, unload, wait_for, write  # noqa: E402
from users import LOW, MODULE, load_alg, run  # noqa: E402

MANAGER = pathlib.Path("/sys/module/cryptomgr/parameters")
SIM = pathlib.Path("/sys/bus/platform/drivers/ocf_sim")
CARD = "overhead_ns=500 latency_ns=1000 patience=60000 algs=real"
# s; the machine is slow
SOON = 1200 if os.environ.get("OCF_DEBUG_KERNEL") else 300
MIB = 1 << 20


def implementations() -> list[dict[str, str]]:
    """/proc/crypto."""
    blocks = pathlib.Path("/proc/crypto").read_text().strip().split("\n\n")
    return [dict(re.split(r"\s*: ", line, maxsplit=1)
                 for line in b.splitlines()) for b in blocks]


def ours() -> list[dict[str, str]]:
    return [i for i in implementations() if i["driver"].startswith("ocf-")]


def is_in_use(driver: str) -> bool:
    return any(i["driver"] == driver and i["refcnt"] != "1"
               for i in implementations())


def test_generics() -> None:
    """Has the kernel test its generic C implementations one after the other.
    The debug kernel compares ours with them.  If it tested all at once, a
    comparison would wait 60 s for one of them and fail."""
    run("insmod", MODULE)
    wanted = {(i["type"].replace("ahash", "hash"),
               re.sub(r"([\w-]+)(?=[),]|$)", r"\1-generic", i["name"]))
              for i in ours()}
    run("rmmod", "ocf_alg")
    write(MANAGER / "notests", "N")
    for kind, name in sorted(wanted):
        with socket.socket(socket.AF_ALG, socket.SOCK_SEQPACKET) as s:
            wait_for(lambda s=s, at=(kind, name): is_bound(s, at), SOON)


def is_bound(s: socket.socket, at: tuple[str, str]) -> bool:
    """Returns False only if the bind timed out; True also if the kernel has no
    such algorithm."""
    try:
        s.bind(at)
    except OSError as e:
        return e.errno != errno.ETIMEDOUT
    return True


@contextlib.contextmanager
def tests_of_kernel(wanted: bool):
    """Whether the kernel tests what is registered: on the debug kernel also
    with random inputs, four of each kind, and without vector registers.  That
    takes ten times as long as the rest of loading."""
    notests = MANAGER / "notests"
    before = notests.read_text()
    if wanted and (MANAGER / "fuzz_iterations").exists():
        write(MANAGER / "fuzz_iterations", 4)
        if before == "Y\n":
            test_generics()
    write(notests, "N" if wanted else "Y")
    try:
        yield
    finally:
        write(notests, before)


def driver_name(name: str) -> str:
    return "ocf-" + re.sub(r"[(,]", "-", name).replace(")", "")


def bytes_done() -> int:
    """By all devices."""
    return sum(Device(p.name).counter("bytes")
               for p in pathlib.Path("/sys/class/ocf").iterdir())


class Case(unittest.TestCase):
    """@priority: the module's priority; @tested: whether the kernel tests the
    module when it is loaded; @pulls: how often a card was removed"""

    priority = LOW
    tested = False
    pulls = 0

    def setUp(self):
        self.enterContext(tests_of_kernel(self.tested))
        load_alg(self.priority)
        self.addCleanup(lambda: self.assertTrue(unload("ocf_alg", SOON)))

    @contextlib.contextmanager
    def cards(self, cards: tuple[str, str] = (CARD, CARD)):
        """Adds two cards that do all work.  Start the thread to have them
        removed and added again in turn."""
        for card in cards:
            write(SIM / "add", card)
        prefer_cards()
        end = threading.Event()

        def pull():
            i = 0
            while not end.wait(0.2):
                write(SIM / "remove", f"sim{i}")
                write(SIM / "add", cards[i])
                i = 1 - i
                self.pulls += 1

        puller = threading.Thread(target=pull)
        try:
            yield puller
        finally:
            end.set()
            if puller.ident:
                puller.join()
            for i in range(2):
                write(SIM / "remove", f"sim{i}")

    def is_used(self, size: int):
        """Checks that devices do at least @size bytes meanwhile.  No device may
        be removed meanwhile."""
        @contextlib.contextmanager
        def check():
            before = bytes_done()
            yield
            self.assertLessEqual(size, bytes_done() - before)
        return check()
