# SPDX-License-Identifier: BSD-2-Clause
"""In the test machine: modules where modprobe looks."""

import contextlib
import os
import pathlib
import shutil
import subprocess
import tempfile

TOP = pathlib.Path(__file__).resolve().parents[2]
MODULES = pathlib.Path("/usr/lib/modules") / os.uname().release


@contextlib.contextmanager
def installed(*others: str):
    """Those of the project, and @others of the kernel's, and no more."""
    with tempfile.TemporaryDirectory() as folder:
        for name in others:
            file, = MODULES.glob(f"kernel/**/{name}.ko*")
            shutil.copy(file, folder)
        for file in (TOP / "build/stock/src/kernel").rglob("*.ko"):
            shutil.copy(file, folder)
        for file in MODULES.glob("modules.*"):
            if file.name.startswith(("modules.order", "modules.builtin")):
                shutil.copy(file, folder)
        subprocess.run(["mount", "--bind", folder, MODULES], check=True)
        try:
            subprocess.run(["/sbin/depmod"], check=True)
            yield
        finally:
            subprocess.run(["umount", MODULES], check=True)
