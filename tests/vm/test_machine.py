# SPDX-License-Identifier: BSD-2-Clause
"""The machine notices every fault, and adds nothing of its own.

Each test boots it, most without the project's modules, which is quicker.
"""

import hashlib
import json
import os
import pathlib
import random
import signal
import socket
import subprocess
import sys
import time

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from vmlib.kernel import Kernel  # noqa: E402
from vmlib.machine import kvm_works, qemu_of  # noqa: E402

TOP = pathlib.Path(__file__).resolve().parents[2]
RUN = TOP / "tests" / "vm" / "run"
DIRTY, CRASHED, HUNG = 97, 98, 99
# Bounds are for a machine that is busy with other things.
PATIENCE_S = 600

FAULT = "insmod $OCF_MODULES/src/tests/kernel/ocf_fault.ko what="
WATCHFUL = ("kfence.sample_interval=1 kfence.skip_covered_thresh=100 "
            "slab_debug=FZPU")


def command(*args: str, modules: bool = False) -> list[str]:
    """tests/vm/run with options before "--" and the command after it."""
    bare = [] if modules else ["--no-modules", "--cpus", "1"]
    return [str(RUN), *bare, *args]


def vm(*args: str, **kw) -> subprocess.CompletedProcess:
    return subprocess.run(command(*args, **kw), capture_output=True, cwd=TOP,
                          timeout=PATIENCE_S, check=False)


def sh(script: str, *options: str) -> subprocess.CompletedProcess:
    return vm(*options, "--", "sh", "-c", script)


# Faults -------------------------------------------------------------------


@pytest.mark.parametrize("what, limit, says", [
    ("panic", "", b"Kernel panic - not syncing: ocf_fault"),
    ("oops", "", b"NULL pointer dereference"),
    ("bug", "", b"kernel BUG at"),
    ("hang", "sysctl -q kernel.hung_task_timeout_secs=1;",
     b"blocked for more than"),
    ("spin", "sysctl -q kernel.watchdog_thresh=1;", b"soft lockup"),
])
def test_a_dead_kernel(what, limit, says):
    got = sh(f"echo up; {limit} {FAULT}{what}; echo after")
    assert got.returncode == CRASHED
    assert got.stdout == b"up\n"
    assert says in got.stderr
    assert b"once more" not in got.stderr


def test_a_kernel_that_does_not_boot():
    """The boot is tried three times, because a failed boot is no fault of the
    project."""
    got = vm("--append", "rdinit=/none root=none", "--", "true")
    assert got.returncode == CRASHED
    assert got.stderr.count(b"the kernel did not boot, once more") == 2
    assert b"Unable to mount root fs" in got.stderr


def test_a_kernel_that_is_deaf():
    for limit in 20, 80, 320:
        got = sh(f"echo up; {FAULT}lockup", "--heartbeat", str(limit))
        assert got.returncode == HUNG
        assert f"no sign of life for {limit} s".encode() in got.stderr
        # it may not have been up by then
        if got.stdout:
            break
    assert got.stdout == b"up\n"


def test_a_command_that_hangs():
    for limit in 20, 80, 320:
        got = sh("echo up; sleep 1000", "--timeout", str(limit))
        assert got.returncode == HUNG
        assert f"no end after {limit} s".encode() in got.stderr
        # it may not have been up by then
        if got.stdout:
            break
    assert got.stdout == b"up\n"


@pytest.mark.parametrize("allowed, code", [
    ("no such thing", DIRTY), ("ocf_fault: a warning", 5),
])
def test_a_warning(allowed, code):
    got = sh(f"{FAULT}warn; exit 5", "--allow", allowed)
    assert got.returncode == code
    assert (b"ocf_fault: a warning" in got.stderr) == (code == DIRTY)


SAMPLE = "/sys/module/kfence/parameters/sample_interval"


def test_stray_reads_and_writes():
    # KFENCE is off at boot, or a slow host would have used up its objects by
    # now.  It is off again for the overrun, whose object must not be KFENCE's:
    # that report would be a different one.
    got = sh(f"echo 1 > {SAMPLE}; {FAULT}kfence; echo 0 > {SAMPLE}; "
             f"{FAULT}overrun; true",
             "--append", WATCHFUL.replace("interval=1", "interval=0"))
    assert got.returncode == DIRTY
    assert b"BUG: KFENCE: use-after-free read in fault_kfence" in got.stderr
    assert b"BUG kmalloc-64" in got.stderr
    assert b"fault_overrun" in got.stderr


# Bytes of 0xff are no valid instructions, so PID 1 dies.
KILL_INIT = """
import re
begin, end = next(re.findall(r"^(\\w+)-(\\w+) r-x", line)[0]
                  for line in open("/proc/1/maps") if " r-x" in line)
with open("/proc/1/mem", "r+b", buffering=0) as mem:
    mem.seek(int(begin, 16))
    mem.write(b"\\xff" * (int(end, 16) - int(begin, 16)))
"""


@pytest.mark.parametrize("how, says", [
    (["sh", "-c", "echo o > /proc/sysrq-trigger; sleep 1000"], b""),
    (["sh", "-c", f"python3 -c '{KILL_INIT}'; sleep 1000"],
     b"Attempted to kill init"),
], ids=["off", "init"])
def test_an_early_end(how, says):
    got = vm("--", *how)
    assert got.returncode == CRASHED
    assert says in got.stderr


# What passes through ------------------------------------------------------


@pytest.mark.parametrize("argv, code", [     # 0, 1, 5 and 77 are elsewhere
    (["sh", "-c", "kill -KILL $$"], 128 + signal.SIGKILL),
    (["/etc/passwd"], 126),
    (["/no/such/program"], 127),
])
def test_exit_statuses(argv, code):
    assert vm("--", *argv).returncode == code


def noise(seed: int) -> bytes:
    return random.Random(seed).randbytes(10 << 20)


def test_output_is_unchanged():
    program = ("import random, sys, threading\n"
               "def put(f, seed):\n"
               "    f.buffer.write(random.Random(seed).randbytes(10 << 20))\n"
               "threading.Thread(target=put, args=(sys.stdout, 1)).start()\n"
               "threading.Thread(target=put, args=(sys.stderr, 2)).start()\n")
    got = vm("--", "python3", "-c", program)
    assert got.returncode == 0
    for data, seed in (got.stdout, 1), (got.stderr, 2):
        assert len(data) == 10 << 20
        assert hashlib.sha256(data).digest() == \
            hashlib.sha256(noise(seed)).digest()


@pytest.mark.parametrize("daemon, code", [("sleep 1000", 1), ("yes", 77)])
def test_a_daemon_stays_behind(daemon, code):
    got = sh(f"{daemon} & echo done; exit {code}")
    # the machine has ended within PATIENCE_S, without waiting for the daemon
    assert got.returncode == code
    assert b"done\n" in got.stdout
    assert len(got.stdout) < 64 << 20


def test_a_reader_that_leaves():
    with subprocess.Popen(command("--", "yes"), cwd=TOP,
                          stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE) as run:
        assert run.stdout.readline() == b"y\n"
        run.stdout.close()
        assert run.wait(PATIENCE_S) == 128 + signal.SIGPIPE
        assert run.stderr.read() == b""


# Options ------------------------------------------------------------------

LOOK = r"""
import glob, json, os, sys
mark = sys.argv[1]
open("/etc/" + mark, "w").write("x")
open("build/" + mark, "w").write("written in the machine")
cards = sum(open(d + "/vendor").read() == "0x1af4\n" and
            open(d + "/device").read() == "0x1054\n"
            for d in glob.glob("/sys/bus/pci/devices/*"))
print(json.dumps({
    "cpus": os.cpu_count(), "cards": cards, "cwd": os.getcwd(),
    "memory": os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") >> 20,
    "env": {k: os.environ.get(k) for k in ("A", "B", "C")},
    "argv": len(sys.argv), "path": os.environ["PATH"],
    "hooks": glob.glob("/usr/lib/python3/dist-packages/*.pth"),
    "crypto": os.path.exists("/dev/crypto"),
    "uid": os.getuid(), "stdin": os.readlink("/proc/self/fd/0")}))
"""
ARGS = 1000


@pytest.fixture(scope="module", name="seen")
def look():
    """What one run with every option saw."""
    mark = f"ocf-machine-{os.getpid()}"
    got = subprocess.run(
        command("--cpus", "3", "--memory", "700M", "--cards", "3",
                # Linux's driver of these cards, at its own self-test
                "--allow", "virtio_crypto|alg: akcipher",
                "--env", "A=1", "--env", "B=two words = 2", "--env", "C=",
                "--", "python3", "-c", LOOK, mark, *["x"] * ARGS),
        capture_output=True, cwd=TOP, timeout=PATIENCE_S, check=False)
    assert got.returncode == 0, got.stderr.decode()
    seen = json.loads(got.stdout)
    seen["mark"] = mark
    yield seen
    (TOP / "build" / mark).unlink(missing_ok=True)


@pytest.mark.parametrize("key, value", [
    ("cpus", 3), ("cards", 3), ("cwd", str(TOP)), ("argv", ARGS + 2),
    ("env", {"A": "1", "B": "two words = 2", "C": ""}),
    ("uid", 0), ("stdin", "/dev/null"), ("crypto", False), ("hooks", []),
    ("path", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"),
])
def test_options(seen, key, value):
    assert seen[key] == value


def test_memory(seen):
    assert 600 < seen["memory"] <= 700


def test_only_the_checkout_is_written(seen):
    assert not pathlib.Path("/etc", seen["mark"]).exists()
    assert (TOP / "build" / seen["mark"]).read_text() == \
        "written in the machine"


def test_instructions_are_counted():
    got = [vm("--icount", "--", "build/vm/count") for _ in range(2)]
    assert [g.returncode for g in got] == [0, 0]
    assert got[0].stdout == got[1].stdout
    # a call into the kernel takes more than the loop around it
    assert int(got[0].stdout) > 100 * 50


def test_modules_are_loaded_soon(capsys):
    """From the start to the command, warm: 10 s are the aim, where the host has
    nothing else to do.  The number of instructions is the same on any host:
    4.2e9 when this was written."""
    begun = time.monotonic()
    with subprocess.Popen(command("--", "ls", "/dev/crypto", modules=True),
                          cwd=TOP, stdout=subprocess.PIPE) as run:
        assert run.stdout.readline() == b"/dev/crypto\n"
        took = time.monotonic() - begun
        assert run.wait(PATIENCE_S) == 0
    with capsys.disabled():
        print(f"[{took:.1f} s to the command]", end="")
    # of /proc/stat without idle and iowait, which the host's load adds to
    got = vm("--icount", "--", "head", "-1", "/proc/stat", modules=True)
    user, nice, system, _, _, irq, softirq = map(
        int, got.stdout.split()[1:8])
    assert (user + nice + system + irq + softirq) / 100 < 8


# Its own death ------------------------------------------------------------


def ends(pid: int) -> bool:
    """Whether it is gone, or waits for its parent, before long."""
    stat = pathlib.Path(f"/proc/{pid}/stat")
    for _ in range(600):
        try:
            if stat.read_text().rpartition(")")[2].split()[0] == "Z":
                return True
        except (FileNotFoundError, ProcessLookupError):
            return True
        time.sleep(0.1)
    return False


def start(tmp_path, *options: str) -> subprocess.Popen:
    """A run whose command has begun and does not end."""
    run = subprocess.Popen(
        command(*options, "--", "sh", "-c", "echo up; sleep 1000"),
        cwd=TOP, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env={**os.environ, "TMPDIR": str(tmp_path)})
    assert run.stdout.readline() == b"up\n"
    return run


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM,
                                    signal.SIGKILL])
def test_nothing_is_left_behind(number, tmp_path):
    with start(tmp_path) as run:
        qemu = qemu_of(run)
        run.send_signal(number)
        code = run.wait(PATIENCE_S)
        if number != signal.SIGKILL:
            assert code == 128 + number
            assert run.stderr.read() == b""
            assert not list(tmp_path.iterdir())
    assert ends(qemu)


@pytest.mark.skipif(kvm_works(Kernel("stock")), reason="KVM tells the time")
@pytest.mark.parametrize("append, right", [
    ("", True),
    # a wrong frequency, which a kernel once measured on a busy host
    ("tsc_early_khz=113340 nosoftlockup", False),
])
def test_its_clock_is_not_faster_than_the_hosts(append, right):
    begun = time.monotonic()
    got = sh("cat /proc/uptime /proc/cmdline", "--append", append)
    took = time.monotonic() - begun
    assert (float(got.stdout.split()[0]) < took) == right
    assert b" tsc_early_khz=" in got.stdout


def qmp(path: pathlib.Path, request: str) -> dict:
    with socket.socket(socket.AF_UNIX) as sock:
        sock.settimeout(60)
        sock.connect(str(path))
        lines = sock.makefile("rw")
        assert "QMP" in json.loads(lines.readline())
        for ask in ("qmp_capabilities", request):
            lines.write(json.dumps({"execute": ask}))
            lines.flush()
            answer = json.loads(lines.readline())
    return answer["return"]


def test_qmp_and_a_killed_qemu(tmp_path):
    path = tmp_path / "qmp"
    with start(tmp_path, "--qmp", str(path)) as run:
        assert qmp(path, "query-status")["status"] == "running"
        os.kill(qemu_of(run), signal.SIGKILL)
        assert run.wait(PATIENCE_S) == CRASHED
        assert b"the machine died" in run.stderr.read()


if __name__ == "__main__":
    sys.exit(pytest.main([__file__, *sys.argv[1:]]))
