# SPDX-License-Identifier: BSD-2-Clause
"""What the tests of ocf_alg share: the module, its cards, what is counted."""

import contextlib
import os
import pathlib
import re
import subprocess
import sys
import threading
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))

from ocf import Device, prefer_cards, wait_for, write  # noqa: E402

MODULE = pathlib.Path(os.environ["OCF_MODULES"],
                      "src/kernel/consumers/alg/ocf_alg.ko")
MANAGER = pathlib.Path("/sys/module/cryptomgr/parameters")
SIM = pathlib.Path("/sys/bus/platform/drivers/ocf_sim")
CARD = "overhead_ns=500 latency_ns=1000 patience=60000 algs=real"
LOW, HIGH = 10, 5000        # others of the kernel have 100 to 4300
# s; the machine is slow
SOON = 1200 if os.environ.get("OCF_DEBUG_KERNEL") else 300
MIB = 1 << 20


def run(*words: str, text: str = "") -> str:
    done = subprocess.run(words, input=text, text=True, capture_output=True,
                          check=False)
    if done.returncode:
        raise AssertionError(f"{words}: {done.stderr}")
    return done.stdout


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


def load(priority: int = LOW, rounds: int = 4) -> None:
    """And until the kernel has tested what there is: on the debug kernel also
    with random inputs, @rounds of each kind, and without vector registers."""
    write(MANAGER / "notests", "N")
    if (MANAGER / "fuzz_iterations").exists():
        write(MANAGER / "fuzz_iterations", rounds)
    run("insmod", str(MODULE), f"priority={priority}")
    wait_for(lambda: all(i["selftest"] != "unknown" for i in ours()), SOON)


def is_unloaded() -> bool:
    """Now: what was freed may be freed by a worker."""
    return not subprocess.run(["rmmod", "ocf_alg"], capture_output=True,
                              check=False).returncode


def driver_name(name: str) -> str:
    return "ocf-" + re.sub(r"[(,]", "-", name).replace(")", "")


def bytes_done() -> int:
    """By all devices."""
    return sum(Device(p.name).counter("bytes")
               for p in pathlib.Path("/sys/class/ocf").iterdir())


class Case(unittest.TestCase):
    """@priority: with what the module is loaded; @pulls: how often a card went"""

    priority = LOW
    pulls = 0

    def setUp(self):
        load(self.priority)
        self.addCleanup(lambda: self.assertTrue(wait_for(is_unloaded, SOON)))

    @contextlib.contextmanager
    def cards(self, cards: tuple[str, str] = (CARD, CARD)):
        """Two that do it all, and one after the other go and come."""
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
        """That so many bytes are done by devices, none of which goes"""
        @contextlib.contextmanager
        def check():
            before = bytes_done()
            yield
            self.assertLessEqual(size, bytes_done() - before)
        return check()
