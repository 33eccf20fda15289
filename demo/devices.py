# SPDX-License-Identifier: BSD-2-Clause
"""What each device has done, while one of them may come and go."""

import contextlib
import pathlib
import sys
from collections import Counter

TOP = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TOP / "tests" / "lib"))

from ocf import CLASS, Device, wait_for  # noqa: E402

PULLED = "virtio0"      # the card that demo/run pulls out
PATIENCE_S = 600


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
    time to time: the counters of a device go with the device."""

    def __init__(self) -> None:
        self.seen: dict[str, Counter[str]] = {}
        self.gone: dict[str, Counter[str]] = {}
        self.look()
        self.before = dict(self.seen)

    def look(self) -> None:
        for d in CLASS.iterdir():
            # it may go meanwhile
            with contextlib.suppress(OSError, ValueError):
                now = Counter(Device(d.name).counters())
                seen = self.seen.get(d.name, Counter())
                # a device that is back begins again
                if now["bytes"] < seen["bytes"]:
                    self.gone.setdefault(d.name, Counter()).update(seen)
                self.seen[d.name] = now

    def done(self, counter: str = "bytes") -> dict[str, int]:
        self.look()
        none: Counter[str] = Counter()
        return {n: self.gone.get(n, none)[counter] + now[counter] -
                self.before.get(n, none)[counter]
                for n, now in self.seen.items()}


def plug_in(request: pathlib.Path) -> None:
    """Has demo/run plug PULLED in again, and waits until it is ready."""
    request.with_suffix(".plug").touch()
    if not wait_for(lambda: Device(PULLED).state() == "ready", PATIENCE_S):
        sys.exit(f"{PULLED} is not back in {PATIENCE_S} s")
