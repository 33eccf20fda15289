# SPDX-License-Identifier: BSD-2-Clause
"""The kernel's crypto API: what ocf_alg offers there, and its priorities."""

import errno
import os
import pathlib
import re
import socket
import struct
import tempfile
from dataclasses import dataclass
from typing import Iterator

from .sysfs import Failure

CRYPTO = pathlib.Path("/proc/crypto")
CONFIG = pathlib.Path("/etc/modprobe.d/ocf-alg.conf")
PREFIX = "ocf-"
PRIORITY_MAX = (1 << 31) - 1

# <linux/netlink.h>, <linux/cryptouser.h>
NETLINK_CRYPTO = 21
NLMSG_ERROR, NLM_F_REQUEST, NLM_F_ACK = 2, 1, 4
NLM_F_DUMP, NLMSG_DONE = 0x300, 3
CRYPTO_MSG_UPDATEALG, CRYPTO_MSG_GETALG, CRYPTOCFGA_PRIORITY_VAL = 0x12, 0x13, 1
# <linux/crypto.h>
CRYPTO_ALG_ASYNC, CRYPTO_ALG_KERN_DRIVER_ONLY = 0x80, 0x1000
HEADER, USER_ALG = struct.Struct("=IHHII"), struct.Struct("=64s64s64sIIII")


@dataclass(frozen=True)
class Implementation:
    """@users: transforms of it that there are now"""

    name: str
    driver: str
    priority: int
    users: int

    @property
    def is_ours(self) -> bool:
        return self.driver.startswith(PREFIX)


def implementations(path: pathlib.Path = CRYPTO) -> list[Implementation]:
    """All that a user can have, ours and others'."""
    found = []
    for block in path.read_text().strip().split("\n\n"):
        fields = dict(re.split(r"\s*: ", line, maxsplit=1)
                      for line in block.splitlines() if ": " in line)
        if fields.get("internal") == "no" and fields["type"] != "larval":
            found.append(Implementation(
                fields["name"], fields["driver"], int(fields["priority"]),
                int(fields["refcnt"]) - 1))
    return found


def ours(found: list[Implementation]) -> list[Implementation]:
    mine = [i for i in found if i.is_ours]
    if not mine:
        raise Failure("ocf_alg is not loaded: modprobe ocf_alg")
    return sorted(mine, key=lambda i: i.driver)


def by_name(name: str, found: list[Implementation]) -> str:
    """The driver that a user gets who asks for @name."""
    return max((i for i in found if i.name == name),
               key=lambda i: i.priority).driver


def request(driver: str, priority: int) -> bytes:
    """The message that sets a priority."""
    body = USER_ALG.pack(b"", driver.encode(), b"", 0, 0, 0, 0) + \
        struct.pack("=HHI", 8, CRYPTOCFGA_PRIORITY_VAL, priority)
    return HEADER.pack(HEADER.size + len(body), CRYPTO_MSG_UPDATEALG,
                       NLM_F_REQUEST | NLM_F_ACK, 1, 0) + body


def opened() -> socket.socket:
    try:
        return socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_CRYPTO)
    except OSError as why:
        if why.errno != errno.EPROTONOSUPPORT:
            raise
        raise Failure("the kernel's crypto API does not answer: "
                      "modprobe crypto_user") from None


def messages(data: bytes) -> Iterator[tuple[int, bytes]]:
    """The kind and the body of each."""
    while len(data) >= HEADER.size:
        size, kind, *_ = HEADER.unpack_from(data)
        yield kind, data[HEADER.size:size]
        data = data[(size + 3) & ~3:]


def accelerated() -> list[tuple[str, str]]:
    """The implementations whose driver has marked them as an accelerator's,
    each with its module."""
    found = []
    with opened() as s:
        s.send(HEADER.pack(HEADER.size + USER_ALG.size, CRYPTO_MSG_GETALG,
                           NLM_F_REQUEST | NLM_F_DUMP, 1, 0) +
               bytes(USER_ALG.size))
        while True:
            for kind, body in messages(s.recv(1 << 16)):
                if kind == NLMSG_DONE:
                    return found
                if kind == NLMSG_ERROR:
                    err, = struct.unpack_from("=i", body)
                    raise OSError(-err, os.strerror(-err))
                _, driver, module, _, _, _, flags = USER_ALG.unpack_from(body)
                if flags & CRYPTO_ALG_KERN_DRIVER_ONLY and \
                        flags & CRYPTO_ALG_ASYNC:
                    found.append((driver.rstrip(b"\0").decode(),
                                  module.rstrip(b"\0").decode()))


def set_priorities(drivers: list[str], priority: int) -> None:
    """Sets the priority for users that ask from now on, until the module is
    loaded again."""
    with opened() as s:
        for driver in drivers:
            s.send(request(driver, priority))
            answer = s.recv(4096)
            _, kind, _, _, _ = HEADER.unpack_from(answer)
            err, = struct.unpack_from("=i", answer, HEADER.size)
            if kind != NLMSG_ERROR or err in (-errno.EPERM, -errno.EACCES):
                raise Failure(f"{driver}: only root may change it")
            if err:
                raise Failure(f"{driver}: {os.strerror(-err)}")


def keep_priority(priority: int, path: pathlib.Path = CONFIG) -> None:
    """For when the module is loaded the next time.  What else the file says
    is kept."""
    try:
        lines = path.read_text().splitlines()
    except FileNotFoundError:
        lines = ["# Written by: ocfctl alg --priority"]
    lines = [line for line in lines
             if not re.match(r"\s*options\s+ocf_alg\s+priority=\S*\s*$", line)]
    lines.append(f"options ocf_alg priority={priority}")
    fd, new = tempfile.mkstemp(dir=path.parent, prefix=path.name)
    try:
        with open(fd, "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
            os.fchmod(file.fileno(), 0o644)
            os.fsync(file.fileno())
        os.rename(new, path)
    except BaseException:
        os.unlink(new)
        raise
