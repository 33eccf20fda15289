# SPDX-License-Identifier: BSD-2-Clause
"""In the test machine: devices as sysfs shows them, and work for them."""

import contextlib
import ctypes
import fcntl
import os
import pathlib
import struct
import subprocess
import threading
import time

CLASS = pathlib.Path("/sys/class/ocf")
TABLES = pathlib.Path("/sys/kernel/debug/ocf/devices")
TRACING = pathlib.Path("/sys/kernel/tracing")
SOFTWARE = "cryptosoft0"

# <crypto/cryptodev.h>
CIOCGSESSION = 0xc0306366
CIOCCRYPT = 0xc0306368
SHA1_HMAC = 7
AES_CBC = 11
AES_XTS = 22

DATA = bytes((i * 167 + (i >> 8) * 31 + 7) & 255 for i in range(70000))


def write(path: pathlib.Path, text: object) -> None:
    """In one write(), whose error is raised."""
    fd = os.open(path, os.O_WRONLY)
    try:
        os.write(fd, str(text).encode())
    finally:
        os.close(fd)


def wait_for(what, seconds: float = 300) -> bool:
    """Whether @what() comes true in time."""
    end = time.monotonic() + seconds
    while not what():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def rmmod(name: str) -> str:
    """Unloads the module @name.  Returns "", or rmmod's error message."""
    return subprocess.run(["rmmod", name], check=False, text=True,
                          stderr=subprocess.PIPE).stderr


def unload(name: str, seconds: float = 300) -> bool:
    """Unloads the module @name, and returns whether that succeeded in time.
    What a user has closed may be freed later, by a worker or when the last
    answer is back."""
    return wait_for(lambda: not rmmod(name), seconds)


@contextlib.contextmanager
def traced(event: str):
    """Has the kernel trace OCF's @event inside the "with" block, and yields the
    file of the trace."""
    enable = TRACING / "events/ocf" / event / "enable"
    if not os.path.ismount(TRACING):
        subprocess.run(["mount", "-t", "tracefs", "none", TRACING], check=True)
    write(TRACING / "trace", "\n")
    write(enable, 1)
    try:
        yield TRACING / "trace"
    finally:
        write(enable, 0)


class Device:
    """One of /sys/class/ocf, which need not be there."""

    where = CLASS

    def __init__(self, name: str):
        self.path = self.where / name

    def exists(self) -> bool:
        return (self.path / "state").exists()

    def text(self, file: str) -> str:
        return (self.path / file).read_text().strip()

    def state(self) -> str:
        return self.text("state") if self.exists() else "gone"

    def counters(self) -> dict[str, int]:
        """What the core has counted; names of public-key counters begin with
        pk_."""
        return {prefix + file.name: int(file.read_text())
                for folder, prefix in (("counters", ""),
                                       ("public_key_counters", "pk_"))
                for file in sorted((self.path / folder).glob("*"))}

    def table(self, name: str) -> list[list[str]]:
        """The rows of one of its tables, in debugfs."""
        text = (TABLES / self.path.name / name).read_text()
        return [line.split() for line in text.splitlines()]

    def counter(self, which: str) -> int:
        return self.counters()[which]


def prefer_cards() -> None:
    """Gives cards every request that they can do, whatever that costs, and no
    more self-tests."""
    write(pathlib.Path("/sys/module/ocf/parameters/recheck"), 0)
    write(CLASS / SOFTWARE / "weight", 10000)


def open_session(fd: int, cipher: int, key: bytes, mac: int = 0,
                 mackey: bytes = b"") -> int:
    """CIOCGSESSION: the session's number."""
    keys = [ctypes.create_string_buffer(k) for k in (key, mackey)]
    sop = bytearray(struct.pack(
        "IIIxxxxPIxxxxPIxxxx", cipher, mac, len(key),
        ctypes.addressof(keys[0]), len(mackey), ctypes.addressof(keys[1]), 0))
    fcntl.ioctl(fd, CIOCGSESSION, sop)
    return struct.unpack_from("I", sop, 40)[0]


def crypt(fd: int, ses: int, op: int, size: int, *buffers) -> None:
    """CIOCCRYPT; @buffers: source, destination, MAC, IV, each may be None."""
    fcntl.ioctl(fd, CIOCCRYPT, struct.pack(
        "IHHIxxxxPPPP", ses, op, 0, size,
        *(ctypes.addressof(b) if b is not None else 0 for b in buffers)))


class Session:
    """A cipher of /dev/crypto, AES-128-CBC if no other is said."""

    def __init__(self, cipher: int = AES_CBC, key: bytes = DATA[100:116]):
        self.fd = os.open("/dev/crypto", os.O_RDWR)
        self.ses = open_session(self.fd, cipher, key)

    def __enter__(self) -> "Session":
        return self

    def __exit__(self, *_) -> None:
        os.close(self.fd)

    def crypt(self, data: bytes, decrypt: bool = False,
              place: bool = False) -> bytes:
        src = ctypes.create_string_buffer(data, len(data))
        dst = src if place else ctypes.create_string_buffer(len(data))
        iv = ctypes.create_string_buffer(DATA[9:25], 16)
        crypt(self.fd, self.ses, decrypt, len(data), src, dst, None, iv)
        return dst.raw


class Load:
    """Threads that encrypt and decrypt; every result is looked at.

    @wants: for each length, the CPU's ciphertext of that many bytes of DATA."""

    def __init__(self, wants: dict, threads: int = 4):
        self.wants = wants
        self.stop = False
        self.done = 0
        self.wrong = []
        self.threads = [threading.Thread(target=self._work, args=(i,))
                        for i in range(threads)]

    def _work(self, number: int) -> None:
        try:
            with Session() as ses:
                while not self.stop:
                    for size, want in self.wants.items():
                        place = bool(number & 1)
                        if ses.crypt(DATA[:size], False, place) != want or \
                           ses.crypt(want, True, place) != DATA[:size]:
                            self.wrong.append(size)
                        self.done += 1
        except OSError as why:
            self.wrong.append(why)

    def __enter__(self) -> "Load":
        for t in self.threads:
            t.start()
        return self

    def __exit__(self, *_) -> None:
        self.stop = True
        for t in self.threads:
            t.join()

    def goes_on(self, seconds: float = 300) -> bool:
        before = self.done
        return wait_for(lambda: self.done > before + len(self.threads),
                        seconds)
