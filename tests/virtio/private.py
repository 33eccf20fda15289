#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""In the test machine: files that any user may read do not change when others
use the devices.

    tests/virtio/private.py

Each device is put to work: virtio's cards, a simulated one, a bridge and the CPU; and
the sources of random numbers are read.  Somebody without rights reads all files of OCF
in sysfs before and after.
"""

import ctypes
import os
import pathlib
import pickle
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
TOP = pathlib.Path(__file__).resolve().parents[2]
ctypes.CDLL(str(TOP / "build/lib/libocf.so.0"))
sys.path[:0] = [str(TOP / "python"), str(TOP / "tests/lib")]

import ocf  # noqa: E402

NOBODY = 65534
SYS = pathlib.Path("/sys")
SIM = SYS / "bus/platform/drivers/ocf_sim"
BRIDGE = SYS / "bus/platform/drivers/ocf_bridge"
MODULES = os.environ["OCF_MODULES"] + "/src/kernel/"
# the kernel's own, of any device and any module
KERNELS = ("power", "refcnt", "uevent", "subsystem", "of_node")


def write(path: pathlib.Path, text: str) -> None:
    path.write_text(text)


def all_files() -> set[pathlib.Path]:
    tops = {p.resolve() for pattern in (
        "class/ocf/*", "class/ocf_random/*", "module/ocf*", "bus/*/drivers/ocf*")
            for p in SYS.glob(pattern)}
    tops |= {(top / "device").resolve() for top in tops
             if (top / "device").exists()}
    found = set()
    for top in tops:
        for at, inside, names in os.walk(top):
            inside[:] = [name for name in inside if name not in KERNELS]
            found |= {pathlib.Path(at) / name for name in names
                      if name not in KERNELS}
    return found


def read_by_nobody() -> dict[str, bytes]:
    """Returns the contents of all files that the user nobody can read, by
    path."""
    come, go = os.pipe()
    pid = os.fork()
    if not pid:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)
        found = {}
        for file in sorted(all_files()):
            try:
                found[str(file)] = file.read_bytes()
            except OSError:
                continue
        with open(go, "wb") as out:
            pickle.dump(found, out)
        os._exit(0)
    os.close(go)
    with open(come, "rb") as answer:
        found = pickle.load(answer)
    os.waitpid(pid, 0)
    return found


def operations(device: str) -> int:
    return int((SYS / "class/ocf" / device / "counters/operations").read_text())


class Private(unittest.TestCase):
    def setUp(self):
        for module in ("drivers/sim/ocf_sim", "drivers/bridge/ocf_bridge",
                       "drivers/virtio_rng/ocf_virtio_rng"):
            name = module.rsplit("/", 1)[1]
            if not (SYS / "module" / name).exists():
                subprocess.run(["insmod", MODULES + module + ".ko"],
                               check=True)
                self.addCleanup(subprocess.run, ["rmmod", name])
        write(SIM / "add", "algs=real")
        self.addCleanup(write, SIM / "remove", "sim0")
        write(BRIDGE / "add", "cryptd(cbc(aes-generic))")
        self.addCleanup(write, BRIDGE / "remove", "bridge0")

    def test_nothing_changes(self):
        names = {p.name for p in SYS.glob("class/ocf/*")} - {"null0"}
        for kind in ("virtio", "sim", "bridge", "cryptosoft"):
            self.assertTrue(any(n.startswith(kind) for n in names), kind)
        before = read_by_nobody()
        counters = {n: operations(n) for n in names}
        with ocf.Device() as dev:
            for name in sorted(names):
                with dev.session(ocf.Mode.CIPHER, "aes-cbc", key=bytes(16),
                                 device=name) as ses:
                    for _ in range(20):
                        ses.encrypt(bytes(4096), bytes(16))
        with open("/dev/hwrng", "rb", buffering=0) as source:
            source.read(64)
        for name, was in counters.items():
            self.assertLess(was, operations(name), name)
        after = read_by_nobody()
        self.assertLess(100, len(before))
        changed = [p for p in before if before[p] != after.get(p)]
        self.assertEqual([], changed)
        self.assertEqual(before.keys(), after.keys())


if __name__ == "__main__":
    unittest.main(verbosity=2, warnings="ignore")
