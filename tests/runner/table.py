# SPDX-License-Identifier: BSD-2-Clause
"""The tables of tests: tests/machines.toml and every tests.toml below the top.

tests/README.md describes their keys.  A mistake in a table is an error here and
not a test that never runs.
"""

import dataclasses
import fnmatch
import pathlib
import re
import subprocess
import sys
import tomllib

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests" / "vm"))
from vmlib.kernel import KINDS  # noqa: E402

HOST = "host"
# Kernel parameters with which the stock kernel finds stray reads and writes.
WATCHFUL = ("kfence.sample_interval=1 kfence.skip_covered_thresh=100 "
            "slab_debug=FZP")
TIERS = ("quick", "test", "debug", "all")

# A test's keys in a table, with what holds where a key is missing.
KEYS = {
    "names": None,          # one row for each; below, {} stands for it and
                            # {tail} for what follows its first "_"
    "run": "build/{}",      # for sh -e, from the top of the checkout
    "build": [],            # make's targets
    "reads": [],            # folders and files beside those that all tests read
    "machine": "watchful",  # a row of machines.toml, or "host"
    "timeout": 1200,        # s; more on a slow host, and four times as many on
                            # the debug kernel
    "allow": [],            # reports in the kernel's log that are not ours
    "smp": [],              # tiers beside "all" in which it has two processors,
                            # because it is about what happens at the same time
    "dirty": "",            # why the machine is of no use to others afterwards
    # Whether the tier has the test: true, false, a part of its random rounds
    # (OCF_ROUNDS) such as "5%", or another command to run.
    "quick": False,
    "test": True,
    "debug": False,
    "all": None,            # as "test" has it
}


class Bad(Exception):
    """A table is wrong; the text names the file and the key."""


@dataclasses.dataclass(frozen=True)
class Machine:
    """What tests that share a machine need of it, as tests/vm/run's options."""

    name: str
    options: tuple[str, ...] = ()

    @property
    def allow(self) -> list[str]:
        return [o.partition("=")[2] for o in self.options
                if o.startswith("--allow=")]

    @property
    def debug(self) -> bool:
        return "--debug" in self.options

    @property
    def modules(self) -> str:
        """Make's target of the modules for its kernel."""
        kind = next((k for k in KINDS if f"--{k}" in self.options), "stock")
        return KINDS[kind][0]


@dataclasses.dataclass(frozen=True)
class Test:
    """One row, as one tier runs it."""

    name: str
    run: str
    build: tuple[str, ...]
    reads: tuple[str, ...]
    machine: Machine | None     # None: the host
    timeout: int
    allow: tuple[str, ...]
    dirty: str


def _options(name: str, row: dict) -> tuple[str, ...]:
    out: list[str] = []
    for key, value in row.items():
        for one in value if isinstance(value, list) else [value]:
            if one is True:
                out.append(f"--{key}")
            elif isinstance(one, (str, int)) and one is not False:
                # in one word, because a value may begin with a dash
                out.append(f"--{key}={one}")
            else:
                raise Bad(f"machines.toml: {name}.{key}: {one!r}")
    return tuple(out)


def read_machines() -> dict[str, Machine]:
    path = TOP / "tests" / "machines.toml"
    out = {}
    for name, row in tomllib.loads(path.read_text()).items():
        if row.pop("watchful", False):
            row["append"] = WATCHFUL
        out[name] = Machine(name, _options(name, row))
    return out


def debug_machine(stock: Machine) -> Machine:
    """Returns a machine with the same cards and memory, with the debug kernel
    and without --icount.  That kernel finds stray reads by itself and stops at
    the first report."""
    keep = [o for o in stock.options
            if not o.startswith("--append=") and o not in ("--rt", "--icount")]
    return Machine(f"{stock.name}-debug", tuple(keep) + (
        "--debug", "--append=panic_on_warn=1"))


def on_one_processor(machine: Machine, machines: dict[str, Machine]) -> Machine:
    """Returns the same machine with one processor: the row of @machines that
    has these options, or a new machine if there is none."""
    if any(o.startswith("--cpus=") for o in machine.options):
        return machine
    one = Machine(f"{machine.name}-one", (*machine.options, "--cpus=1"))
    return next((m for m in machines.values()
                 if set(m.options) == set(one.options)), one)


def _place(path: pathlib.Path) -> str:
    return str(path.parent.relative_to(TOP))


def _rows(path: pathlib.Path) -> list[dict]:
    where = f"{_place(path)}/{path.name}"
    doc = tomllib.loads(path.read_text())
    defaults = doc.pop("defaults", {})
    tests = doc.pop("test", [])
    if doc:
        raise Bad(f"{where}: unknown table {', '.join(doc)}")
    out = []
    for row in tests:
        row = {**KEYS, "reads": [], **defaults, **row}
        if unknown := set(row) - set(KEYS):
            raise Bad(f"{where}: unknown key {', '.join(sorted(unknown))}")
        if not row["names"]:
            raise Bad(f"{where}: a test without names")
        if unknown := set(row["smp"]) - set(TIERS):
            raise Bad(f"{where}: unknown tier {', '.join(sorted(unknown))}")
        row["reads"] = [_place(path), *row["reads"]]
        out += [{**row, "name": n} for n in row["names"]]
    return out


def _tables() -> list[pathlib.Path]:
    done = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "*tests.toml"],
        cwd=TOP, capture_output=True, text=True, check=True)
    return [TOP / name for name in sorted(set(done.stdout.split()))]


def _make(row: dict, run: str, machines: dict[str, Machine],
          tier: str) -> Test:
    name = row["name"]
    machine = None

    def fill(text: str) -> str:
        return text.replace("{}", name).replace("{tail}",
                                                name.partition("_")[2])

    if row["machine"] != HOST:
        if row["machine"] not in machines:
            raise Bad(f"{name}: no machine {row['machine']} in machines.toml")
        machine = machines[row["machine"]]
        if tier not in (*row["smp"], "all"):
            machine = on_one_processor(machine, machines)
        if tier == "debug":
            machine = debug_machine(machine)
    return Test(name, fill(run), tuple(map(fill, row["build"])),
                tuple(map(fill, row["reads"])), machine,
                row["timeout"] * (4 if tier == "debug" else 1), tuple(row["allow"]),
                row["dirty"])


def _command(run: str, how: str | bool) -> str:
    """Returns the command that a tier runs for a row: @run is the row's
    command, @how the row's value for the tier."""
    if how is True:
        return run
    if re.fullmatch(r"\d+%", how):
        return f"export OCF_ROUNDS={how}; {run}"
    return how


def read(tier: str) -> list[Test]:
    """The tests of @tier.  "every" has each test once, as it runs in the first
    of the tiers test, all, debug and quick that includes it."""
    machines, out, seen = read_machines(), [], set()
    for path in _tables():
        for row in _rows(path):
            if row["name"] in seen:
                raise Bad(f"{_place(path)}: {row['name']} is there twice")
            seen.add(row["name"])
            if row["all"] is None:
                row["all"] = row["test"]
            which = next((t for t in ("test", "all", "debug", "quick") if row[t]),
                         None) if tier == "every" else tier
            if which is None:
                raise Bad(f"{row['name']} is in no tier")
            if row[which]:
                out.append(_make(row, _command(row["run"], row[which]),
                                 machines, which))
    return out


def choose(tests: list[Test], patterns: list[str]) -> list[Test]:
    """Those whose name is one of @patterns or matches it."""
    out = []
    for pattern in patterns:
        found = [t for t in tests if fnmatch.fnmatchcase(t.name, pattern)]
        if not found:
            near = [t.name for t in tests if pattern in t.name]
            raise Bad(f"no test {pattern}" +
                      (f"; there is {', '.join(near)}" if near else
                       ": tests/run --list shows them"))
        out += [t for t in found if t not in out]
    return out
