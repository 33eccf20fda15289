# SPDX-License-Identifier: BSD-2-Clause
"""Cards pulled out of the machine and plugged in again, while they work."""

import json
import os
import pathlib
import socket
import subprocess

import pytest

TOP = pathlib.Path(__file__).resolve().parents[2]
RUN = TOP / "tests" / "vm" / "run"
TIMES = int(os.environ.get("OCF_PLUGS", "12"))
PATIENCE_S = 600


class Qmp:
    """QEMU's monitor, kept open."""

    def __init__(self, path: pathlib.Path):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(PATIENCE_S)
        self.sock.connect(str(path))
        self.lines = self.sock.makefile("rw")
        self.events: list[dict] = []
        assert "QMP" in json.loads(self.lines.readline())
        self.ask("qmp_capabilities")

    def _read(self) -> dict:
        got = json.loads(self.lines.readline())
        if "event" in got:
            self.events.append(got)
        return got

    def ask(self, command: str, **arguments):
        self.lines.write(json.dumps({"execute": command,
                                     "arguments": arguments}))
        self.lines.flush()
        while True:
            got = self._read()
            if "event" not in got:
                return got["return"]

    def add(self, **device) -> None:
        """While no processor runs: see --one-thread of tests/vm/run."""
        self.ask("stop")
        self.ask("device_add", **device)
        self.ask("cont")

    def wait_deleted(self, device: str) -> None:
        def deleted() -> bool:
            return any(e["event"] == "DEVICE_DELETED" and
                       e["data"].get("device") == device for e in self.events)
        while not deleted():
            self._read()
        self.events.clear()


def expect(run: subprocess.Popen, line: bytes) -> None:
    """Checks that the machine's next line is @line.  If not, the error shows
    all its output."""
    got = run.stdout.readline()
    if got != line:
        run.kill()
        raise AssertionError(got + run.stdout.read() + run.stderr.read())


@pytest.mark.parametrize("load", [
    ["build/virtio/virtio_plug", str(TIMES)],
    ["tests/pk/plug.py", "build/pk/rsa2048.pem", str(TIMES)],
], ids=["ciphers", "signatures"])
def test_pulled_out_and_plugged_in_under_load(tmp_path, load):
    path = tmp_path / "qmp"
    command = [str(RUN), "--cards", "2", "--one-thread", "--qmp", str(path),
               "--timeout", "3600", "--module-args", "ocf_virtio:patience=5000", "--", *load]
    with subprocess.Popen(command, cwd=TOP, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE) as run:
        expect(run, b"cards 2\n")
        qmp = Qmp(path)
        for i in range(TIMES):
            card = f"card{i % 2}"
            qmp.ask("device_del", id=card)
            expect(run, b"cards 1\n")
            qmp.wait_deleted(card)
            qmp.add(driver="virtio-crypto-pci", id=card,
                    cryptodev=f"backend{i % 2}")
            expect(run, b"cards 2\n")
        said, errors = run.communicate(timeout=PATIENCE_S)
        assert run.returncode == 0, said + errors
        assert b" right, 0 without a card, error 0" in said
