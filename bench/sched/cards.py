# SPDX-License-Identifier: BSD-2-Clause
"""In the test machine: cards in software (docs/sim.md), and load for them."""

import json
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] /
                       "tests" / "lib"))

from ocf import CLASS, Device, write  # noqa: E402

DRIVER = pathlib.Path("/sys/bus/platform/drivers/ocf_sim")
LOAD = pathlib.Path("/sys/kernel/debug/bench_sched")

# The fixed parameters: nobody picks them to suit an answer.
FIXED = {"engines": 1, "overhead_ns": 2000, "ps_per_byte": 1000,
         "latency_ns": 10000, "depth": 64, "algs": "null"}


class Card(Device):
    """A card, made here; its files are attributes."""

    def __init__(self, **options: object):
        faults = options.pop("faults", ())
        words = [f"{k}={v}" for k, v in {**FIXED, **options}.items()]
        words += [f"fault={f}" for f in faults]
        before = set(os.listdir(CLASS))
        write(DRIVER / "add", " ".join(words))
        self.name, = set(os.listdir(CLASS)) - before
        super().__init__(self.name)
        self.number = self.get("number")

    def file(self, name: str) -> pathlib.Path:
        own = self.path / "device" / name
        return own if own.exists() else self.path / name

    def get(self, name: str) -> int:
        return int(self.file(name).read_text())

    def text(self, name: str) -> str:
        return self.file(name).read_text().strip()

    def set(self, name: str, value: object) -> None:
        write(self.file(name), value)

    def remove(self) -> None:
        write(DRIVER / "remove", self.name)

    def service(self, size: int) -> float:
        """ns an engine takes."""
        return (self.get("overhead_ns") + size * self.get("ps_per_byte") // 1000
                ) * self.get("slow") / 100

    def peak(self, size: int) -> float:
        """Requests a second, all engines busy."""
        return self.get("engines") * 1e9 / self.service(size)


def prepare(*others: str) -> None:
    """Loads the module that generates load, and unloads the modules @others,
    which removes their devices."""
    for name in others:
        subprocess.run(["rmmod", name], check=True)
    subprocess.run(["insmod", os.environ["OCF_MODULES"] +
                    "/src/bench/sched/bench_sched.ko"], check=True)


class Load:
    """Users at work; leaving waits for their end."""

    def __init__(self, *users: dict[str, object]):
        self.users = users

    def __enter__(self) -> "Load":
        for user in self.users:
            write(LOAD / "control",
                  "user " + " ".join(f"{k}={v}" for k, v in user.items()))
        return self

    def __exit__(self, *_) -> None:
        write(LOAD / "control", "reset")

    def start(self, us: int, warm_us: int = 0) -> None:
        write(LOAD / "control", f"run {warm_us} {us}")

    def result(self) -> dict:
        """What came of it; waits for the end."""
        return json.loads((LOAD / "result").read_text())


def load(us: int, *users: dict[str, object], warm_us: int = 0) -> dict:
    """Has @users work for @us."""
    with Load(*users) as run:
        run.start(us, warm_us)
        return run.result()
