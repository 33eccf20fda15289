# SPDX-License-Identifier: BSD-2-Clause
"""What is said of a run: a line for each test, times, budgets."""

import json
import os
import pathlib
import re
import threading
import time

from .reads import Durations
from .slots import Result
from .table import TOP

BUDGETS = TOP / "tests" / "budgets.json"
LINES = 40          # of the kernel's log, and twice as many of the test's
BRIEFLY = 12        # of a failed test's lines, once more at the very end
SLOWEST = 20


def budgets() -> dict:
    """Returns how long each tier may take if the yardstick takes as long as
    when the budgets were set."""
    return json.loads(BUDGETS.read_text())


def busy_s(stat: str, cpus: set[int]) -> float:
    """For how long @cpus have worked for any program, as /proc/stat says."""
    ticks = 0
    for line in stat.splitlines():
        name, *fields = line.split()
        if name.startswith("cpu") and name[3:].isdigit() and \
           int(name[3:]) in cpus:
            user, nice, system, _, _, irq, softirq, steal = map(int, fields[:8])
            ticks += user + nice + system + irq + softirq + steal
    return ticks / os.sysconf("SC_CLK_TCK")


def others_s() -> float:
    """Returns the seconds that other programs have used of each of our
    processors, on average.  The time of our own programs is subtracted only
    after they have ended."""
    cpus = os.sched_getaffinity(0)
    busy = busy_s(pathlib.Path("/proc/stat").read_text(), cpus)
    return (busy - sum(os.times()[:4])) / len(cpus)


def end(text: str, lines: int) -> str:
    """The last lines of a text, set in."""
    return "\n".join("    " + x for x in text.splitlines()[-lines:])


class Report:
    """Collects results and says what they are."""

    def __init__(self, tier: str, seed: int, folder: pathlib.Path,
                 durations: Durations):
        self.tier, self.seed, self.folder = tier, seed, folder
        self.durations = durations
        self.results: list[Result] = []
        self.entries: list[dict] = []
        self.begun, self.others = time.monotonic(), others_s()
        self.lock = threading.Lock()
        self.left: list[str] = []       # on the host, at the end

    def time(self, what: str, name: str, seconds: float) -> None:
        with self.lock:
            self.entries.append({"what": what, "name": name,
                                 "seconds": round(seconds, 2)})

    def tell(self, got: Result) -> None:
        """Reports the result of one test, when it can no longer change."""
        with self.lock:
            self.results.append(got)
        if got.reused:
            return
        where = f" [{got.test.machine.name}]" if got.test.machine else ""
        got.rest = self.folder / got.test.name.replace("/", "_")
        got.rest.write_text(f"{got.output}\nthe kernel's log:\n{got.kernel}")
        self.time("test", got.test.name, got.seconds)
        if not got.why:
            self.durations.learn(got.test, got.seconds)
            passed = re.findall(r"^# PASSED: (.*)|^(Ran \d+ tests?)|^(\d+ passed)",
                                got.output, re.M)
            said = " + ".join("".join(p) for p in passed[:3])
            print(f"ok   {got.seconds:7.1f} s  {got.test.name:24}{where}  {said}"
                  .rstrip(), flush=True)
        else:
            print(self._failure(got, where), flush=True)

    def _failure(self, got: Result, where: str) -> str:
        out = [f"FAIL {got.seconds:7.1f} s  {got.test.name:24}{where}  {got.why}",
               end(got.output, 2 * LINES)]
        if got.kernel:
            out += ["  the kernel's log, its end:", end(got.kernel, LINES)]
        tier = "" if self.tier == "test" else f" TIER={self.tier}"
        out += [f"  all of it: {got.rest.relative_to(TOP)}",
                f"  again:     make t T={got.test.name}{tier} SEED={self.seed}"]
        return "\n".join(out)

    def end(self, yardstick_s: float | None) -> int:
        """Prints the summary and writes build/times.json.  Returns the exit
        status."""
        took = time.monotonic() - self.begun
        lost = max(0.0, others_s() - self.others)
        failed = [r for r in self.results if r.why]
        reused = [r for r in self.results if r.reused]
        slow = sorted(self.entries, key=lambda e: -e["seconds"])[:SLOWEST]
        if len(self.results) > 1:
            print(f"\nThe {len(slow)} slowest of {len(self.entries)}, "
                  f"in seconds:")
            for e in slow:
                print(f"  {e['seconds']:7.1f}  {e['what']:5}  {e['name']}")
        doc = {"tier": self.tier, "seconds": round(took, 1),
               "yardstick_s": yardstick_s, "entries": self.entries}
        (TOP / "build" / "times.json").write_text(json.dumps(doc, indent=1))
        self.durations.save()
        over = self._over(took - lost, yardstick_s)
        if over:
            print(over)
        for what in self.left:
            print(f"FAIL the run has left behind: {what}")
        for r in failed:
            print(f"FAIL {r.test.name}: {r.why}, its last lines:\n"
                  + end(r.output, BRIEFLY))
        if reused:
            print(f"{len(reused)} passed before on the same inputs and were "
                  f"not run again")
        print(f"{took:.0f} s"
              + (f", {lost:.0f} s of it for other programs"
                 if lost > took / 20 else "")
              + (f", yardstick {yardstick_s:.2f} s" if yardstick_s else ""))
        print(f"{len(self.results) - len(failed)} passed, "
              f"{len(failed)} failed", flush=True)
        return 1 if failed or over or self.left else 0

    def _over(self, took: float, yardstick_s: float | None) -> str:
        """Returns a complaint if the run took more than 1.5 times its budget,
        or "".  The time of other programs does not count.  On a slow host the
        yardstick scales the budget up."""
        known = budgets()
        if self.tier not in known["seconds"] or not yardstick_s:
            return ""
        speed = max(1.0, yardstick_s / known["yardstick_s"])
        most = known["seconds"][self.tier] * 1.5 * speed
        if took <= most:
            return ""
        return (f"FAIL the whole took {took:.0f} s; its budget is "
                f"{most / 1.5:.0f} s on this host, and half of that more "
                "is too much")
