# SPDX-License-Identifier: BSD-2-Clause
"""Runs tests: on the host, or in machines that several of them share.

A slot is a thread that runs one thing at a time; there are two of them.  Tests
that need the same machine are one group.  A slot boots the machine and takes
the group's tests one by one.  So two slots can work on one long group.  A test
that fails, hangs or leaves something behind ends its machine: the next test
gets a new one.
"""

import contextlib
import dataclasses
import itertools
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import tempfile
import threading
import time
from concurrent import futures

from . import reads
from .table import TOP, Machine, Test

# reads has put the machine's library into the path
from vmlib import kmsg  # noqa: E402

BOOT_S = 3000           # a boot is tried three times, on a busy host
LEAVE_S = 60            # for processes of a test on the host to be gone
DAY_S = 86400           # each test has a limit of its own
GRACE_S = 30            # between a test's time limit and the machine's end
JOIN_S = 45             # work that is left in a group for which a second
                        # machine is worth its boot
TIMED_OUT = 124


class Children:
    """The processes that run now, to end them all when we are told to end."""

    def __init__(self):
        self.lock, self.running = threading.Lock(), set()

    @contextlib.contextmanager
    def has(self, child: subprocess.Popen):
        with self.lock:
            self.running.add(child)
        try:
            yield child
        finally:
            with self.lock:
                self.running.discard(child)

    def end(self) -> None:
        with self.lock:
            for child in self.running:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(child.pid, signal.SIGTERM)


CHILDREN = Children()


@dataclasses.dataclass
class Result:
    """How a test ended; @why is empty if it passed."""

    test: Test
    seconds: float = 0
    why: str = ""
    output: str = ""
    kernel: str = ""
    reused: str = ""        # when it passed, if it was not run now
    rest: pathlib.Path | None = None


class Guest:
    """A machine that is up, and runs tests for us."""

    def __init__(self, machine: Machine, log: pathlib.Path):
        self.log, self.console = log, log.with_name(log.name + ".console")
        ours, theirs = socket.socketpair()
        ours.settimeout(BOOT_S)
        begun = time.monotonic()
        with open(log, "wb") as out:
            self.process = subprocess.Popen(
                ["tests/vm/run", "--with-parent", *machine.options,
                 f"--port=work={theirs.fileno()}", f"--log={self.console}",
                 f"--timeout={DAY_S}", "--", "tests/runner/guest"],
                cwd=TOP, stdin=subprocess.DEVNULL, stdout=out, stderr=out,
                pass_fds=[theirs.fileno()], start_new_session=True)
        theirs.close()
        self.sock, self.lines = ours, ours.makefile("rb")
        self.begun, self.boot_s = begun, 0.0

    def is_up(self) -> bool:
        """Waits for it."""
        up = "ready" in self.hears()
        self.boot_s = time.monotonic() - self.begun
        return up

    def hears(self) -> dict:
        """The next line; {} when the machine is gone, or silent too long."""
        try:
            line = self.lines.readline()
        except (TimeoutError, OSError):
            line = b""
        if not line.endswith(b"\n"):
            return {}
        return json.loads(line)

    def run(self, test: Test, env: dict[str, str]) -> Result:
        got = Result(test)
        # wait as long as the test may take, because a silent test sends
        # nothing
        self.sock.settimeout(test.timeout + GRACE_S)
        self.sock.sendall(json.dumps({
            "name": test.name, "run": test.run, "env": env,
            "timeout": test.timeout,
            "dirty": bool(test.dirty)}).encode() + b"\n")
        begun = time.monotonic()
        while said := self.hears():
            got.output += said.get("out", "")
            got.kernel += said.get("kernel", "")
            if "status" in said:
                got.seconds = said["seconds"]
                got.why = judge(got, said["status"], said["left"])
                return got
        got.seconds = time.monotonic() - begun
        self.end()
        got.why = "the machine died, or was silent for too long"
        got.kernel = self.console.read_text(errors="replace") \
            if self.console.exists() else ""
        got.output += self.log.read_text(errors="replace")
        return got

    def end(self) -> int:
        """Ends the machine and returns its exit status: see tests/vm/run."""
        with contextlib.suppress(OSError):
            self.sock.shutdown(socket.SHUT_RDWR)
        self.lines.close()
        self.sock.close()
        try:
            return self.process.wait(GRACE_S * 4)
        except subprocess.TimeoutExpired:
            self.process.terminate()
            return self.process.wait()


# What kselftest's harness and Python's unittest say, and call a success.
NOTHING_RAN = re.compile(r"^(# PASSED: 0 / 0 |Ran 0 tests)", re.M)


def judge(got: Result, status: int, left: list[str]) -> str:
    """Returns why a test has failed, or "" if it has passed."""
    if status == TIMED_OUT:
        return f"not done after {got.test.timeout} s"
    if status:
        return f"status {status}" if status > 0 else f"signal {-status}"
    if any(x.startswith("not ok") for x in got.output.splitlines()):
        return "a line says \"not ok\""
    if NOTHING_RAN.search(got.output):
        return "no test ran"
    machine = got.test.machine
    allow = [*got.test.allow, *(machine.allow if machine else ())]
    if kmsg.reports(got.kernel, allow):
        return "a report in the kernel's log"
    if left:
        got.output += "\nit leaves behind:\n" + "\n".join(
            f"  {x}" for x in left) + "\n"
        return "it leaves something behind"
    return ""


def leftovers(mark: str) -> dict[int, str]:
    """Processes with @mark in their environment, and what they are."""
    out = {}
    for p in pathlib.Path("/proc").iterdir():
        if not p.name.isdigit() or int(p.name) == os.getpid():
            continue
        with contextlib.suppress(OSError):
            if mark.encode() in (p / "environ").read_bytes():
                line = (p / "cmdline").read_bytes().replace(b"\0", b" ")
                if line:
                    out[int(p.name)] = f"process {line[:100].decode()}"
    return out


def run_on_host(test: Test, env: dict[str, str]) -> Result:
    got = Result(test)
    begun = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="ocf-t-") as tmp:
        mark = f"OCF_TEST={tmp}"
        with open(pathlib.Path(tmp) / "output", "w+b") as out:
            (pathlib.Path(tmp) / "tmp").mkdir()
            child = subprocess.Popen(
                ["sh", "-ec", test.run], cwd=TOP, start_new_session=True,
                stdin=subprocess.DEVNULL, stdout=out, stderr=out,
                env={**os.environ, **env, "OCF_TEST": tmp,
                     "TMPDIR": f"{tmp}/tmp"})
            with CHILDREN.has(child):
                try:
                    status = child.wait(test.timeout)
                except subprocess.TimeoutExpired:
                    status = TIMED_OUT
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGTERM)
                child.wait(GRACE_S)
            out.seek(0)
            got.output = out.read().decode(errors="replace")
        for _ in range(LEAVE_S * 10):
            running = leftovers(mark)
            if not running:
                break
            time.sleep(0.1)
        for pid in running:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        left = list(running.values())
        # pytest keeps its last three folders
        left += [f"file {p.name} in TMPDIR"
                 for p in (pathlib.Path(tmp) / "tmp").iterdir()
                 if not p.name.startswith("pytest-of-")]
    got.seconds = time.monotonic() - begun
    got.why = judge(got, status, left)
    return got


class Schedule:
    """Which slot does what next."""

    def __init__(self, tests: list[Test], durations: reads.Durations,
                 first: list[str]):
        self.lock = threading.Lock()
        self.of = durations.of
        self.first = [t.machine.name if t.machine else f"host {t.name}"
                      for name in first for t in tests if t.name == name]
        groups: dict[str, list[Test]] = {}
        for t in tests:
            key = t.machine.name if t.machine else f"host {t.name}"
            groups.setdefault(key, []).append(t)
        for group in groups.values():
            group.sort(key=lambda t: (t.name not in first, -self.of(t)))
        self.groups = groups
        self.taken: set[str] = set()

    def _left(self, key: str) -> float:
        return sum(map(self.of, self.groups[key]))

    def group(self) -> str | None:
        """The next group: the longest that no slot has begun, else one that is
        worth a second machine.  A slot goes on with its group until that is
        empty."""
        with self.lock:
            open_ = [k for k, g in self.groups.items() if g]
            fresh = [k for k in open_ if k not in self.taken]
            rest = [k for k in open_ if self._left(k) > JOIN_S]
            for some in fresh, rest:
                if some:
                    key = max(some, key=lambda k: (k in self.first,
                                                   self._left(k)))
                    self.taken.add(key)
                    return key
            return None

    def test(self, key: str) -> Test | None:
        with self.lock:
            group = self.groups[key]
            if not group:
                return None
            return group.pop(0)

    def stop(self) -> None:
        """Nothing new is begun."""
        with self.lock:
            for group in self.groups.values():
                group.clear()

    def is_empty(self, key: str) -> bool:
        with self.lock:
            return not self.groups[key]


class Runner:
    """Runs @tests in @jobs slots and hands each result to @tell."""

    def __init__(self, tests, jobs, env, folder, tell, durations, first):
        self.schedule = Schedule(tests, durations, first)
        self.jobs, self.env, self.folder, self.tell = jobs, env, folder, tell
        self.numbers = itertools.count(1)
        self.boots: list[tuple[str, float]] = []

    def run(self) -> None:
        """An exception in a slot ends the run, because a test may then have no
        result."""
        with futures.ThreadPoolExecutor(self.jobs) as pool:
            slots = [pool.submit(self._slot) for _ in range(self.jobs)]
            for slot in futures.as_completed(slots):
                if slot.exception():
                    self.schedule.stop()
                    CHILDREN.end()
        for slot in slots:
            slot.result()

    def _slot(self) -> None:
        while key := self.schedule.group():
            # a machine may be lost before all of its tests were run
            while not self.schedule.is_empty(key):
                self._some(key)

    def _some(self, key: str) -> None:
        test = self.schedule.test(key)
        if test is None:
            return
        if test.machine is None:
            self.tell(run_on_host(test, self.env))
            return
        log = self.folder / f"machine-{next(self.numbers)}-{test.machine.name}"
        guest = Guest(test.machine, log)
        with CHILDREN.has(guest.process):
            self._in_machine(key, test, guest)

    def _in_machine(self, key: str, test: Test, guest: Guest) -> None:
        log = guest.log
        up = guest.is_up()
        self.boots.append((test.machine.name, guest.boot_s))
        if not up:
            guest.end()
            self.tell(Result(test, guest.boot_s, "the machine did not boot",
                             log.read_text(errors="replace")))
            return
        while True:
            got = guest.run(test, self.env)
            over = got.why or test.dirty
            test = None if over else self.schedule.test(key)
            if test is None:
                break
            self.tell(got)
        # the machine's exit status may also show a fault of the last test
        status = guest.end()
        if status and not got.why:
            got.why = f"the machine ended with status {status} after it"
            got.output += log.read_text(errors="replace")
        self.tell(got)
