# SPDX-License-Identifier: BSD-2-Clause
"""A virtio entropy device whose bytes are ours to choose."""

import os
import pathlib
import subprocess
import threading

import pytest

TOP = pathlib.Path(__file__).resolve().parents[2]
RUN = TOP / "tests" / "vm" / "run"
GOOD = 20000    # bytes


class Feeder(threading.Thread):
    """Writes @good bytes of good quality into a FIFO, and then zeros."""

    def __init__(self, fifo: pathlib.Path, good: int, zeros: bool):
        super().__init__(daemon=True)
        self.fifo, self.good, self.zeros = fifo, good, zeros
        os.mkfifo(fifo)
        # open both ends, because opening one end waits for the other
        self.fd = os.open(fifo, os.O_RDWR)

    def run(self) -> None:
        os.write(self.fd, os.urandom(self.good))
        while self.zeros:
            os.write(self.fd, bytes(4096))


@pytest.mark.parametrize("case, good, zeros", [("Bad", GOOD, True),
                                               ("Silent", 500, False)])
def test_from_a_fifo(tmp_path, case, good, zeros):
    feeder = Feeder(tmp_path / "fifo", good, zeros)
    feeder.start()
    subprocess.run([RUN, "--rng", feeder.fifo, "--",
                    "tests/random/guest.py", case], cwd=TOP, check=True)
