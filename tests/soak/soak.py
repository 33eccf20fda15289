# SPDX-License-Identifier: BSD-2-Clause
"""A machine whose processes work through cards, while something happens."""

import argparse
import pathlib
import re
import subprocess
import sys
import time

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path[:0] = [str(TOP / "tests" / d) for d in ("virtio", "vm", "card")]

from ctl import Control  # noqa: E402
from vmlib.cards import Card  # noqa: E402
from vmlib.machine import die_with_parent  # noqa: E402

PROCESSES = 8
READY_S = 300       # for the last of what is under way, at most


def options(about: str, cycles: int, share: int,
            replays: int) -> argparse.ArgumentParser:
    ap = argparse.ArgumentParser(description=about.splitlines()[0])
    ap.add_argument("--cycles", type=int, default=cycles)
    ap.add_argument("--seed", type=int, default=int(time.time()))
    ap.add_argument("--share", type=int, default=share, metavar="PERCENT",
                    help="the share of the bytes that each card must carry")
    ap.add_argument("--replays", type=int, default=replays)
    return ap


class Inside:
    """Where a card of QEMU's own is plugged in."""

    def __init__(self, number: int):
        self.number = number

    def unplug(self, qmp) -> None:
        qmp.ask("device_del", id=f"card{self.number}")
        qmp.wait_deleted(f"card{self.number}")

    def plug(self, qmp) -> None:
        qmp.add(driver="virtio-crypto-pci", id=f"card{self.number}",
                cryptodev=f"backend{self.number}")


class Process:
    """A slot for cards that are processes.  Each plug() starts a new one."""

    def __init__(self, number: int, speed: str, where: pathlib.Path):
        self.number = number
        self.speed = speed
        self.where = where
        self.changes = 0
        self.card = None
        self.pid = int((where / f"{self.name}.pid").read_text())

    @property
    def name(self) -> str:
        more = f"-{self.changes}" if self.changes else ""
        return f"card{self.number}{more}"

    @property
    def control(self) -> Control:
        return Control(str(self.where / f"{self.name}.control"))

    def unplug(self, qmp) -> None:
        qmp.ask("device_del", id=self.name)
        qmp.wait_deleted(self.name)
        qmp.ask("object-del", id=f"backend-{self.name}")
        qmp.ask("chardev-remove", id=f"vhost-{self.name}")
        if self.card:
            self.card.end()

    def plug(self, qmp) -> None:
        self.changes += 1
        self.card = Card(self.name, self.speed, self.where,
                         die_with_parent)
        self.card.wait()
        self.pid = self.card.process.pid
        qmp.ask("chardev-add", id=f"vhost-{self.name}", backend={
            "type": "socket", "data": {"server": False, "addr": {
                "type": "unix", "data": {"path": str(self.card.socket)}}}})
        qmp.ask("object-add", **{
            "qom-type": "cryptodev-vhost-user", "id": f"backend-{self.name}",
            "chardev": f"vhost-{self.name}"})
        qmp.add(driver="virtio-crypto-pci", id=self.name,
                event_idx="off", vectors=0, cryptodev=f"backend-{self.name}")


class Machine:
    """Runs soak_work in a machine with cards, and judges its results."""

    def __init__(self, opt: argparse.Namespace, late: float, *args: str):
        """@late: s that an operation may take."""
        self.opt = opt
        self.stop = TOP / "build" / "soak" / "stop"
        self.stop.unlink(missing_ok=True)
        self.begun = time.monotonic()
        self.said = ""
        self.vm = subprocess.Popen(
            [TOP / "tests/vm/run", *args, "--timeout",
             str(600 + opt.cycles * 30), "--env", f"OCF_SEED={opt.seed}",
             "--", "build/soak/soak_work", str(PROCESSES), self.stop,
             str(late)],
            cwd=TOP, stdout=subprocess.PIPE, text=True,
            preexec_fn=die_with_parent)
        while "ready" not in self.said:
            line = self.vm.stdout.readline()
            if not line:
                sys.exit(self.vm.wait() or 1)
            self.said += line

    def runs(self) -> bool:
        return self.vm.poll() is None

    def tell(self, i: int) -> None:
        """How far it is, now and then."""
        if not (i + 1) % 20:
            each = (time.monotonic() - self.begun) / (i + 1)
            print(f"{pathlib.Path(sys.argv[0]).name}: {i + 1} of "
                  f"{self.opt.cycles}, {each:.1f} s each", flush=True)

    def end(self, cards: list[str]) -> int:
        """Returns 0 if all requests came back and the cards did their part."""
        self.stop.touch()
        said, _ = self.vm.communicate(timeout=READY_S)
        print(said, end="")
        shares = dict(re.findall(r"^(\w+): (\d+) %", said, re.M))
        replays = sum(map(int, re.findall(r"(\d+) replayed$", said, re.M)))
        short = [c for c in cards if int(shares.get(c, 0)) < self.opt.share]
        if short:
            print(f"less than {self.opt.share} %: {', '.join(short)}")
        if replays < self.opt.replays:
            print(f"{replays} requests were replayed, "
                  f"less than {self.opt.replays}")
        return self.vm.returncode or bool(
            short or replays < self.opt.replays)
