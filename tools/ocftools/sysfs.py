# SPDX-License-Identifier: BSD-2-Clause
"""/sys/class/ocf: a directory a device, a value a file; the tables of a device
are in debugfs (docs/admin.md)."""

import errno
import os
import pathlib
import time
from dataclasses import dataclass, field
from typing import Any

SYSFS = "/sys"
OPERATIONS = ("encrypt", "decrypt")
COST_UNKNOWN = (100000, 100000)   # base, slope of what was never measured
WEIGHT_MAX = 10000                # per cent
# A device that does RSA on numbers can also be asked for signatures: the core
# does the padding.
IMPLIED = {"rsa-decrypt": "rsa-sign", "rsa-encrypt": "rsa-verify"}

NAMELESS = '""'                   # how an empty word is shown

# What others have done is not everybody's to read.
PRIVATE = ("only root and the group adm may read what devices have done; "
           "as root: usermod -aG adm USER")

PRIVATE_TABLES = ("costs and latencies: only root may read them, in debugfs; if "
                  "it is not mounted: mount -t debugfs none /sys/kernel/debug")

# Counters, in the order in which they are shown.  Those of public-key
# operations have the prefix pk_.
COUNTERS = ("operations", "bytes", "errors", "replays", "inflight", "waiting",
            "backlog", "blocks", "spurious", "evictions", "full")

# The errors of reading or writing a file of a device that has just gone.
GONE = (errno.ENOENT, errno.ENODEV, errno.ENXIO)


class Failure(Exception):
    """Ends the program with a message and a status."""

    status = 1


class Misuse(Failure):
    """What was asked for makes no sense."""

    status = 2


@dataclass(frozen=True)
class Cost:
    """What a request is expected to take."""

    base_ns: int
    ns_per_kib: int

    @property
    def known(self) -> bool:
        return (self.base_ns, self.ns_per_kib) != COST_UNKNOWN

    @property
    def bytes_per_s(self) -> float | None:
        """Of a request so large that the base does not count."""
        return 1024e9 / self.ns_per_kib if self.ns_per_kib else None


@dataclass(frozen=True)
class Sample:
    """What changes while a device works."""

    state: str
    counters: dict[str, int]
    latency: dict[int, int]       # ns from which: how many
    pk_latency: dict[int, int] = field(default_factory=dict)

    def count(self, name: str) -> int:
        """0 if there is no such counter: a device without public-key operations
        does not have their counters."""
        return self.counters.get(name, 0)


class Device:
    """A device; its directory may go at any time, which is an OSError."""

    def __init__(self, path: pathlib.Path):
        self.path = path
        self.name = path.name
        self.tables = path.parents[2] / "kernel/debug/ocf/devices" / path.name

    def text(self, name: str) -> str:
        return (self.path / name).read_text().strip()

    def number(self, name: str) -> int:
        return int(self.text(name))

    def words(self, name: str) -> list[str]:
        return self.text(name).split()

    def table(self, name: str) -> list[list[str]]:
        """The rows of a table, none if it may not be read."""
        try:
            text = (self.tables / name).read_text()
        except (FileNotFoundError, PermissionError):
            return []
        return [line.split() for line in text.splitlines()]

    def has_tables(self) -> bool:
        """Whether the tables may be read."""
        return os.access(self.tables / "latency", os.R_OK)

    @property
    def state(self) -> str:
        return self.text("state")

    def counters(self) -> dict[str, int]:
        found = {name: self.number(f"counters/{name}") for name in COUNTERS}
        of_keys = self.path / "public_key_counters"
        return found | {f"pk_{name}": self.number(f"{of_keys.name}/{name}")
                        for name in COUNTERS if (of_keys / name).exists()}

    def latency(self, table: str = "latency") -> dict[int, int]:
        return {int(start): int(n) for start, n in self.table(table)}

    def sample(self) -> Sample:
        return Sample(self.state, self.counters(), self.latency(),
                      self.latency("public_key_latency"))

    def forbidden(self) -> list[str]:
        names = self.text("forbid")
        return [] if names == "none" else names.split(",")

    def public_key_costs(self) -> dict[str, dict[int, int]]:
        """By operation, then by bytes of the numbers: ns."""
        found: dict[str, dict[int, int]] = {}
        for name, size, ns in self.table("public_key_cost"):
            found.setdefault(name, {})[int(size)] = int(ns)
        return found

    def public_keys(self) -> list[str]:
        """Operations it can be asked for."""
        try:
            names = self.words("public_key_operations")
        except FileNotFoundError:
            return []
        implied = [IMPLIED[n] for n in names if n in IMPLIED]
        return list(dict.fromkeys([*names, *implied]))

    def costs(self) -> dict[str, dict[str, Cost]]:
        """By algorithm, then by direction."""
        found: dict[str, dict[str, Cost]] = {}
        for name, op, base, slope in self.table("cost"):
            found.setdefault(name, {})[op] = Cost(int(base), int(slope))
        return found

    def done(self) -> dict[str, Any]:
        """What it has done, for all users together; nothing if that may not be
        read."""
        try:
            return {"lag_ns": self.number("lag"), "counters": self.counters()}
        except PermissionError:
            return {}

    def measured(self) -> dict[str, Any]:
        """Its tables; nothing if they may not be read."""
        if not self.has_tables():
            return {}
        costs = {name: {op: {"base_ns": c.base_ns, "ns_per_kib": c.ns_per_kib}
                        if c.known else None for op, c in ops.items()}
                 for name, ops in self.costs().items()}

        def buckets(table: str) -> list[dict[str, int]]:
            return [{"from_ns": start, "count": n}
                    for start, n in self.latency(table).items()]
        return {
            "cost": costs, "public_key": self.public_key_costs(),
            "latency": buckets("latency"),
            "public_key_latency": buckets("public_key_latency"),
        }

    def facts(self) -> dict[str, Any]:
        """All of it, as --json has it."""
        return {
            "name": self.name, "number": self.number("number"),
            "kind": self.text("kind"), "state": self.state,
            "weight": self.number("weight"), "forbid": self.forbidden(),
            "modes": self.words("modes"),
            "algorithms": self.words("algorithms"),
            "depth": self.number("depth"), "max_len": self.number("max_len"),
        } | self.done() | self.measured()

    def write(self, name: str, value: str) -> None:
        """In one write(), as sysfs wants it."""
        fd = os.open(self.path / name, os.O_WRONLY | os.O_TRUNC)
        try:
            os.write(fd, value.encode() + b"\n")
        finally:
            os.close(fd)


def goes(path: pathlib.Path) -> bool:
    """Whether it goes soon: the kernel removes a directory's files first."""
    until = time.monotonic() + 1
    while path.exists():
        if time.monotonic() >= until:
            return False
        time.sleep(0.01)
    return True


class Devices:
    """The class."""

    def __init__(self, sysfs: str = SYSFS):
        self.real = os.path.realpath(sysfs) == SYSFS
        self.path = pathlib.Path(sysfs) / "class" / "ocf"

    def names(self) -> list[str]:
        try:
            return os.listdir(self.path)
        except FileNotFoundError:
            raise Failure(f"{self.path} is not there: "
                          "is the module ocf loaded?") from None

    def each(self, get) -> dict[str, Any]:
        """What @get returns for each device, by name, in the order of the
        devices' numbers.  Devices that go meanwhile are left out."""
        found = []
        for name in self.names():
            device = Device(self.path / name)
            try:
                found.append((device.number("number"), name, get(device)))
            except OSError as why:
                if why.errno not in GONE or not goes(device.path):
                    raise
        return {name: got for _, name, got in
                sorted(found, key=lambda row: row[:2])}

    def all(self) -> list[Device]:
        return list(self.each(lambda device: device).values())

    def states(self) -> dict[str, str]:
        return self.each(lambda device: device.state)

    def find(self, name: str) -> Device:
        have = [d.name for d in self.all()]
        if name not in have:
            raise Misuse(f"{name or NAMELESS}: there is no such device; there "
                         f"{'is' if len(have) == 1 else 'are'} "
                         f"{', '.join(have) or 'none'}")
        return Device(self.path / name)
