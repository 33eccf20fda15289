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


def unpack(packages: str) -> None:
    """Copies the files of @packages over the machine's /, where some of the
    folders are symbolic links.  Changes are in its memory."""
    with subprocess.Popen(["tar", "-C", packages, "-c", "."],
                          stdout=subprocess.PIPE) as tar:
        subprocess.run(["tar", "-C", "/", "-x", "--keep-directory-symlink"],
                       stdin=tar.stdout, check=True)


@contextlib.contextmanager
def installed(*others: str):
    """Installs the project's modules and @others, which are modules of the
    kernel or folders of them.  Installs no more, because depmod reads each
    module, which is slow here."""
    with tempfile.TemporaryDirectory() as folder:
        for name in others:
            if (MODULES / "kernel" / name).is_dir():
                shutil.copytree(MODULES / "kernel" / name,
                                pathlib.Path(folder, "kernel", name))
                continue
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
