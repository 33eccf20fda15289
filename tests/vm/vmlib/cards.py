# SPDX-License-Identifier: BSD-2-Clause
"""Virtio-crypto cards that are processes of their own (tests/card)."""

import pathlib
import selectors
import subprocess
import sys

from .kernel import BUILD, Missing

PROGRAM = BUILD / "card" / "card"
READY_S = 120


class Card:
    """One card; it ends with the machine.

    @spec has the speeds it begins with, "KEY=VALUE,...", as its control
    socket's "set" takes them, and "queues=N" of data.
    """

    def __init__(self, name: str, spec: str, where: pathlib.Path, before):
        self.name = name
        self.socket = where / f"{name}.vhost"
        self.control = where / f"{name}.control"
        self.log = where / f"{name}.log"
        speeds = dict(w.partition("=")[::2] for w in spec.split(",") if w)
        self.queues = speeds.pop("queues", 1)
        lines = ["set " + " ".join(f"{k}={v}" for k, v in speeds.items())] \
            if speeds else []
        if not PROGRAM.exists():
            raise Missing("the card is not built: run 'make card'")
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                [PROGRAM, self.socket, self.control, *lines],
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log,
                preexec_fn=before)
        (where / f"{name}.pid").write_text(f"{self.process.pid}\n")

    def wait(self) -> None:
        """Until its sockets are there."""
        with selectors.DefaultSelector() as sel:
            sel.register(self.process.stdout, selectors.EVENT_READ)
            if sel.select(READY_S) and \
               self.process.stdout.readline() == b"ready\n":
                print(f"vm: {self.name}: process {self.process.pid}, "
                      f"control {self.control}", file=sys.stderr, flush=True)
                return
        raise Missing(f"{self.name} does not start:\n"
                      f"{self.log.read_text(errors='replace')}")

    def end(self) -> None:
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    def qemu(self) -> list[str]:
        """Its device, and its control socket as a port in the guest."""
        return ["-chardev", f"socket,id=vhost-{self.name},path={self.socket}",
                "-object", f"cryptodev-vhost-user,id=backend-{self.name},"
                f"chardev=vhost-{self.name},queues={self.queues}",
                # what the guest says of event indices does not reach the card
                "-device", f"virtio-crypto-pci,id={self.name},event_idx=off,vectors=0,"
                f"cryptodev=backend-{self.name}",
                "-chardev", f"socket,id=control-{self.name},"
                f"path={self.control}",
                "-device", f"virtserialport,chardev=control-{self.name},"
                f"name=ocf.{self.name}"]
