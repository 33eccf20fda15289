#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Sends lines to a card's control socket and prints the answers.

    tests/card/ctl.py CARD LINE...

CARD is a socket's path, or in the machine a card's name.
"""

import os
import pathlib
import socket
import sys

PORTS = pathlib.Path("/sys/class/virtio-ports")


class Control:
    """A connection to a card; call it with a line, it returns the answer."""

    def __init__(self, card: str):
        if "/" in card:
            self.sock = socket.socket(socket.AF_UNIX)
            self.sock.settimeout(120)
            self.sock.connect(card)
            self.file = self.sock.makefile("rwb", buffering=0)
        else:
            port = [p.name for p in PORTS.iterdir()
                    if (p / "name").read_text().strip() == f"ocf.{card}"]
            fd = os.open(f"/dev/{port[0]}", os.O_RDWR)
            self.file = os.fdopen(fd, "r+b", buffering=0)

    def send(self, line: str) -> None:
        self.file.write(line.encode() + b"\n")

    def __call__(self, line: str) -> str:
        self.send(line)
        answer = self.file.readline().decode().rstrip("\n")
        if not answer.startswith("ok"):
            raise ValueError(answer or "no answer")
        return answer

    def stats(self) -> dict[str, int]:
        words = self("stats").split()[1:]
        return {k: int(v) for k, v in (w.split("=") for w in words)}


def main() -> int:
    control = Control(sys.argv[1])
    for line in sys.argv[2:]:
        print(control(line))
    return 0


if __name__ == "__main__":
    sys.exit(main())
