# SPDX-License-Identifier: BSD-2-Clause
"""Card processes in the machine: tests/vm/run --card-process."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import time

import pytest

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import ctl  # noqa: E402

PATIENCE_S = 600
CRASHED = 98
# Linux's driver of these cards, at its own self-test of RSA
ALLOW = ("--allow", "virtio_crypto|alg: akcipher")


def command(*args: str) -> list[str]:
    return [str(TOP / "tests" / "vm" / "run"), "--no-modules", *ALLOW, *args]


def vm(*args: str) -> subprocess.CompletedProcess:
    """Under emulation the kernel sometimes dies while it patches itself.  None
    of our modules is in that kernel, so the machine is started again.
    """
    for _ in range(3):
        got = subprocess.run(command(*args), capture_output=True, cwd=TOP,
                             text=True, timeout=PATIENCE_S, check=False)
        if "vm: the machine died" not in got.stderr:
            break
    return got


def guest(what: str, *options: str) -> tuple[dict, str]:
    """What guest.py saw, and what the machine said."""
    got = vm(*options, "--", "python3", "tests/card/guest.py", what)
    assert got.returncode == 0, got.stderr
    return json.loads(got.stdout), got.stderr


def test_cards_in_the_machine(tmp_path):
    """One of the emulator's own, and two that are processes."""
    seen, says = guest("works", "--cards", "1", "--card-dir", str(tmp_path),
                       "--card-process", "op_ns=1000,byte_ps=30",
                       "--card-process")
    assert seen["pci"] == 3
    assert seen["names"] == ["card1", "card2"]
    want = subprocess.run(
        ["openssl", "enc", "-aes-128-cbc", "-nopad", "-K", b"k".hex() * 16,
         "-iv", "00" * 16], input=bytes(4096), capture_output=True,
        check=True).stdout
    assert seen["data"] == want.hex()
    assert [c["op_ns"] for c in seen["cards"]] == [1000, 0]
    assert [c["byte_ps"] for c in seen["cards"]] == [30, 0]
    for name in seen["names"]:
        pid = (tmp_path / f"{name}.pid").read_text().strip()
        assert f"{name}: process {pid}, control {tmp_path}/{name}.control" \
            in says
        assert "queue 0 begins at 0" in (tmp_path / f"{name}.log").read_text()
        assert not pathlib.Path("/proc", pid).exists()


def test_linux_uses_a_card(tmp_path):
    seen, _ = guest("works", "--card-dir", str(tmp_path), "--card-process")
    card = seen["cards"][0]
    assert card["done"] > 10        # the kernel's self-test and our request
    assert card["bytes"] > 4096 and card["failed"] == 0


def test_a_card_is_killed_in_the_middle():
    seen, _ = guest("killed", "--card-process")
    assert not seen["answered"]
    assert seen["session"] == 22    # EINVAL, and at once
    assert seen["took"] < 1
    assert seen["gap"] < 1          # the machine goes on


def test_a_card_stands_still():
    seen, _ = guest("stopped", "--card-process")
    assert not seen["early"]
    assert seen["late"]
    assert seen["gap"] < 0.4        # requests and ends of sessions do not wait
    assert seen["session_gap"] > 0.5    # a new session does, with all of QEMU


def test_an_answer_comes_twice():
    seen, _ = guest("doubled", "--card-process")
    assert seen["first"] == 4096
    assert seen["second"] == 5      # EIO, for all that comes after it
    assert "is not a head!" in seen["log"]


def test_control_from_outside(tmp_path):
    """The control socket, SIGSTOP, SIGKILL, and the end of all."""
    with subprocess.Popen(
            command("--card-dir", str(tmp_path), "--card-process",
                    "--card-process", "--", "sh", "-c", "echo up; sleep 999"),
            cwd=TOP, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env={**os.environ, "TMPDIR": str(tmp_path)}) as run:
        assert run.stdout.readline() == b"up\n"
        pids = [int((tmp_path / f"card{i}.pid").read_text()) for i in (0, 1)]
        control = ctl.Control(str(tmp_path / "card0.control"))
        control("fault wrong 1/100")
        assert control.stats()["done"] == 0
        os.kill(pids[0], signal.SIGSTOP)
        os.kill(pids[1], signal.SIGKILL)
        time.sleep(1)
        assert run.poll() is None
        run.kill()
        run.wait(PATIENCE_S)
        for _ in range(600):
            if not any(map(alive, pids)):
                return
            time.sleep(0.1)
        pytest.fail("cards are left behind")


def alive(pid: int) -> bool:
    try:
        text = pathlib.Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return text.rpartition(")")[2].split()[0] != "Z"


@pytest.mark.parametrize("options, code, says", [
    (["--card-process", "speed=9"], CRASHED, "set speed=9: no such key"),
    (["--icount", "--card-process"], 2, "--icount takes no cards"),
])
def test_what_is_refused(options, code, says):
    got = vm(*options, "--", "true")
    assert got.returncode == code
    assert says in got.stderr


if __name__ == "__main__":
    sys.exit(pytest.main([__file__, *sys.argv[1:]]))
