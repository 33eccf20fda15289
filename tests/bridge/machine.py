# SPDX-License-Identifier: BSD-2-Clause
"""In the test machine: devices of ocf_bridge."""

import os
import pathlib
import sys

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS / "lib"))

from ocf import Device, wait_for  # noqa: E402

DRIVER = pathlib.Path("/sys/bus/platform/drivers/ocf_bridge")
ACCEL = pathlib.Path("/sys/module/ocf_accel/parameters")
TREE = pathlib.Path(os.environ["OCF_MODULES"]) / "src"
BRIDGE_KO = TREE / "kernel/drivers/bridge/ocf_bridge.ko"
ACCEL_KO = TREE / "tests/kernel/ocf_accel.ko"


def exists(name: str = "bridge0") -> bool:
    return Device(name).exists()


def text(file: str, name: str = "bridge0") -> str:
    # the driver's own come after the device's
    wait_for((Device(name).path / file).exists)
    return Device(name).text(file)


def state(name: str = "bridge0") -> str:
    try:
        return Device(name).state()
    except OSError:     # it went while it was asked
        return "gone"


def counter(which: str, name: str = "bridge0") -> int:
    """One of the driver's own, or else one of the core's."""
    device = Device(name)
    own = device.path / "device"
    # the driver's come after the core's, all of them together
    wait_for((own / "out").exists)
    if (own / which).exists():
        return int((own / which).read_text())
    return device.counter(which)
