# SPDX-License-Identifier: BSD-2-Clause
"""Hashes all that a test reads, and keeps the test's result under that hash."""

import functools
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import time

from .table import TOP, Test

sys.path.insert(0, str(TOP / "tests" / "vm"))
from vmlib.kernel import cache  # noqa: E402

# What every test reads, and what those in a machine read besides.
ALWAYS = ("include", "scripts", "Makefile", "VERSION", "tests/lib",
          "tests/runner", "tests/run")
MACHINE = ("kernel", "tests/vm", "tests/kernel", "bench/copies", "bench/core",
           "bench/floor", "bench/sched", "examples/consumer",
           "examples/driver")
COMMENT_OR_STRING = re.compile(
    rb"""//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'""", re.DOTALL)


@functools.cache
def files() -> list[str]:
    """The checkout's files: those that git tracks, and new ones that it does
    not ignore."""
    names = subprocess.run(
        ["git", "ls-files", "-z", "-co", "--exclude-standard"], cwd=TOP,
        capture_output=True, text=True, check=True).stdout.split("\0")
    return sorted({n for n in names if n})


def code(source: bytes) -> bytes:
    """Of a C file, without comments and empty lines."""
    bare = COMMENT_OR_STRING.sub(
        lambda m: b" " if m[0].startswith(b"/") else m[0], source)
    return b"\n".join(line.rstrip() for line in bare.splitlines()
                      if line.strip())


@functools.cache
def _hash_file(name: str, comments: bool) -> str:
    path = TOP / name
    if path.is_symlink():
        return "link " + os.readlink(path)
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return "gone"
    if not comments and path.suffix in (".c", ".h"):
        data = code(data)
    return f"{path.stat().st_mode & 0o111:o} {hashlib.sha256(data).hexdigest()}"


@functools.cache
def _hash_below(name: str, comments: bool) -> str:
    """Of a file, or of all files in a folder."""
    found = [f for f in files()
             if name in (".", f) or f.startswith(name + "/")]
    if not found:
        raise FileNotFoundError(f"{name}: a test reads it, it is not there")
    lines = [f"{f} {_hash_file(f, comments)}" for f in found]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


@functools.cache
def _host() -> str:
    """Every package on this host, with its version."""
    said = subprocess.run(["dpkg-query", "-W"], capture_output=True,
                          check=True).stdout
    return hashlib.sha256(said).hexdigest()


def fingerprint(test: Test) -> str:
    """Returns a hash of all that @test reads.  Comments of C files count only
    for tests on the host, because some of these check comments."""
    machine = test.machine
    parts = [test.name, test.run, *test.build, _host(),
             *(machine.options if machine else ["host"])]
    parts += [f"{n} {_hash_below(n, not machine)}" for n in sorted(
        {*ALWAYS, *test.reads, *(MACHINE if machine else ())})]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def _path(key: str) -> pathlib.Path:
    return cache() / "results" / key[:2] / key


def known(key: str) -> dict | None:
    """When the test of this fingerprint passed, and how long it took."""
    try:
        return json.loads(_path(key).read_text())
    except (FileNotFoundError, ValueError):
        return None


def remember(key: str, seconds: float, seed: int) -> None:
    path = _path(key)
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_suffix(f".{os.getpid()}")
    new.write_text(json.dumps({"seconds": round(seconds, 2), "seed": seed,
                               "when": time.strftime("%Y-%m-%d %H:%M:%S")}))
    new.rename(path)


class Durations:
    """How long each test took the last time.  The scheduler needs this to begin
    with the longest."""

    def __init__(self):
        self.path = cache() / "durations.json"
        try:
            self.known = json.loads(self.path.read_text())
        except (FileNotFoundError, ValueError):
            self.known = {}

    def of(self, test: Test) -> float:
        return self.known.get(self._key(test), 20.0)

    def learn(self, test: Test, seconds: float) -> None:
        self.known[self._key(test)] = round(seconds, 1)

    def save(self) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        new = self.path.with_suffix(f".{os.getpid()}")
        new.write_text(json.dumps(self.known, indent=0, sort_keys=True))
        new.rename(self.path)

    @staticmethod
    def _key(test: Test) -> str:
        return f"{test.name} {test.machine.name if test.machine else 'host'}"
