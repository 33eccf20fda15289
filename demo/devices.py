# SPDX-License-Identifier: BSD-2-Clause
"""What each device has done, while one of them may come and go."""

import contextlib
import pathlib
import sys

TOP = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TOP / "tests" / "lib"))

from ocf import CLASS, Device  # noqa: E402


def shares(done: dict[str, int]) -> dict[str, int]:
    """Of each device in whole per cent, 100 together.  Those below 1 are left
    out."""
    total = sum(done.values())
    if not total:
        return {}
    share = {n: 100 * d // total for n, d in done.items()}
    # what is left over goes to those that lost most by rounding down
    lost = sorted(done, key=lambda n: -(100 * done[n] % total))
    for name in lost[:100 - sum(share.values())]:
        share[name] += 1
    return {n: s for n, s in sorted(share.items()) if s}


def listed(done: dict[str, int]) -> str:
    """On one line"""
    return ", ".join(f"{n} {s} %" for n, s in shares(done).items())


class Work:
    """What devices have done since this was made.  look() must be called from
    time to time: the counter of a device goes with the device."""

    def __init__(self, counter: str = "bytes"):
        self.counter = counter
        self.seen: dict[str, int] = {}
        self.gone: dict[str, int] = {}
        self.look()
        self.before = dict(self.seen)

    def look(self) -> None:
        for d in CLASS.iterdir():
            # it may go meanwhile
            with contextlib.suppress(OSError, ValueError):
                now = Device(d.name).counter(self.counter)
                # a device that is back begins again
                if now < self.seen.get(d.name, 0):
                    self.gone[d.name] = (self.gone.get(d.name, 0) +
                                         self.seen[d.name])
                self.seen[d.name] = now

    def done(self) -> dict[str, int]:
        self.look()
        return {n: self.gone.get(n, 0) + now - self.before.get(n, 0)
                for n, now in self.seen.items()}
