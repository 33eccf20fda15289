# SPDX-License-Identifier: BSD-2-Clause
"""Devices' changes of state, from the kernel's events.

The "state" files are also read each time, because events may be lost, and some
changes send none (from "testing" to "ready").  They are the only source if the
tree is not the kernel's own, or the socket cannot be opened.
"""

import errno
import os
import select
import socket
import time
from dataclasses import dataclass

from .sysfs import GONE, Device, Devices, Failure

NETLINK_KOBJECT_UEVENT = 15
GROUP_KERNEL = 1                  # events as the kernel sends them
EVENT_MAX = 1 << 16               # bytes
LOOK_S = 0.2                      # how often, if there are no events
ABSENT = "absent"


@dataclass(frozen=True)
class Change:
    """@old and @new are what the file "state" says, or "absent"."""

    time: float                   # s, as time.time()
    device: str
    old: str
    new: str

    def json(self) -> dict[str, object]:
        return {"time": round(self.time, 3), "device": self.device,
                "from": self.old, "to": self.new}

    def __str__(self) -> str:
        return f"{clock(self.time)} {self.device}: {self.old} -> {self.new}"


def clock(when: float) -> str:
    return time.strftime("%H:%M:%S", time.localtime(when))


def parse(event: bytes) -> tuple[str, str, str | None] | None:
    """The action, the device and its state, of an event that is ours."""
    words = event.decode(errors="replace").split("\0")
    env = dict(word.split("=", 1) for word in words if "=" in word)
    action = env.get("ACTION", "")
    if env.get("SUBSYSTEM") != "ocf" or \
       action not in ("add", "remove", "change"):
        return None
    return action, os.path.basename(env["DEVPATH"]), env.get("OCF_STATE")


def listen() -> socket.socket | None:
    """The kernel's events, or None if we may not have them."""
    try:
        sock = socket.socket(socket.AF_NETLINK,
                             socket.SOCK_DGRAM | socket.SOCK_CLOEXEC,
                             NETLINK_KOBJECT_UEVENT)
        sock.bind((0, GROUP_KERNEL))
    except OSError:
        return None
    sock.setblocking(False)
    return sock


class Watch:
    """Remembers states, and tells how they change."""

    def __init__(self, devices: Devices):
        self.devices = devices
        self.events = listen() if devices.real else None
        self.known = self.look()

    def look(self) -> dict[str, str]:
        return self.devices.states()

    def wait(self, seconds: float) -> list[Change]:
        """Waits @seconds, or less if there are changes before, and returns the
        changes."""
        end = time.monotonic() + seconds
        while True:
            found = self.changes()
            left = end - time.monotonic()
            if found or left <= 0:
                return found
            if self.events:
                select.select([self.events], [], [], min(left, 1))
            else:
                time.sleep(min(left, LOOK_S))

    def changes(self) -> list[Change]:
        """Those since the last time."""
        found: list[Change] = []
        # looked at before: what an event says is as new or newer
        try:
            now = self.look()
        except Failure:
            now = {}              # ocf is unloaded, and may come back
        told = set()
        for action, name, state in self._drain():
            told.add(name)
            self._note(found, name, ABSENT if action == "remove"
                       else state or self._state(name))
        for name in sorted((self.known.keys() | now.keys()) - told):
            self._note(found, name, now.get(name, ABSENT))
        return found

    def _state(self, name: str) -> str:
        try:
            return Device(self.devices.path / name).state
        except OSError as why:
            if why.errno not in GONE:
                raise
            return ABSENT

    def _note(self, found: list[Change], name: str, new: str) -> None:
        old = self.known.get(name, ABSENT)
        if new == old:
            return
        found.append(Change(time.time(), name, old, new))
        self.known[name] = new
        if new == ABSENT:
            del self.known[name]

    def _drain(self) -> list[tuple[str, str, str | None]]:
        found = []
        while self.events:
            try:
                data, (sender, _) = self.events.recvfrom(EVENT_MAX)
            except BlockingIOError:
                break
            except OSError as why:
                if why.errno == errno.ENOBUFS:
                    continue
                raise
            # 0 is the kernel
            event = parse(data) if sender == 0 else None
            if event:
                found.append(event)
        return found
