# SPDX-License-Identifier: BSD-2-Clause
"""In the test machine, under --icount: four cards, and two namespaces."""

import contextlib
import json
import pathlib
import sys

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path[:0] = [str(TOP / "bench" / "sched"), str(TOP / "tests" / "lib")]

from cards import Card, Device, write  # noqa: E402
from users import namespaces  # noqa: E402

# The cards of either kind can do the same number of requests a second
# together.
KINDS = {"equal": (1, 1, 1, 1), "unequal": (0.5, 1, 2, 2)}
ENDS = "10.99.0.1", "10.99.0.2"


def settle() -> None:
    """Switches off the self-tests of devices and algorithms, which would
    disturb the measurement."""
    write("/sys/module/ocf/parameters/recheck", 0)
    write("/sys/module/cryptomgr/parameters/notests", "Y")


def say(figure: str, **row: object) -> None:
    print(json.dumps({"figure": figure, **row}), flush=True)


class Cards(list):
    """Simulated cards.  Each takes the given time for a request, multiplied by
    its own factor."""

    def __init__(self, factors: tuple, overhead_ns: int, ps_per_byte: int = 0):
        super().__init__()
        self.factors = factors
        self.times = {"overhead_ns": overhead_ns, "ps_per_byte": ps_per_byte}

    def __enter__(self) -> "Cards":
        for f in self.factors:
            card = Card(slow=int(100 * f), algs="real", patience=60000,
                        **self.times)
            card.set("compute", 0)
            self.append(card)
        return self

    def __exit__(self, *_) -> None:
        for card in self:
            card.remove()

    def peak(self, size: int) -> float:
        """Requests of @size a second."""
        return sum(c.peak(size) for c in self)

    def done(self) -> list[int]:
        return [c.get("completed") for c in self]


@contextlib.contextmanager
def cards_only():
    """Drains the software device, so that only the cards do work."""
    software = Device("cryptosoft0").path
    write(software / "state", "drain")
    yield
    write(software / "state", "resume")


def joined():
    """The two namespaces, with ENDS."""
    return namespaces(tuple(f"{e}/24" for e in ENDS))
