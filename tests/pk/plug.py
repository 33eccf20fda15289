#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The machine's side of test_hotplug.py: 32 threads sign all the time.  The
program prints the number of cards when it changes, and ends after a card has
come back TIMES times.

    tests/pk/plug.py KEY TIMES
"""

import pathlib
import sys
import time

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(TOP / "tests" / "lib"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import crk  # noqa: E402
from load import Load, read_key  # noqa: E402
from ocf import Device  # noqa: E402

CARDS = [Device("virtio0"), Device("virtio1")]


def ready(card: Device) -> bool:
    try:
        return card.state() == "ready"
    except OSError:     # it went while it was asked
        return False


def main() -> int:
    key = read_key(pathlib.Path(sys.argv[1]))
    times, was = int(sys.argv[2]), 0
    with Load(key, crk.HARDWARE | crk.SOFTWARE) as load:
        while not load.wrong:
            now = sum(ready(card) for card in CARDS)
            if now != was:
                # waits until some signatures were made with the present cards
                load.goes_on(8)
                print(f"cards {now}", flush=True)
                if now == len(CARDS):
                    times -= 1
                    if times < 0:
                        break
                was = now
            time.sleep(0.002)
    print(f"{load.done} right, {len(load.failed)} without a card, "
          f"error {len(load.wrong)}")
    return bool(load.wrong or load.failed or not load.done)


sys.exit(main())
