# SPDX-License-Identifier: BSD-2-Clause
"""A checkout builds and runs wherever it is, for anybody."""

import os
import pathlib
import shutil
import subprocess

import pytest

TOP = pathlib.Path(__file__).resolve().parents[2]
NOBODY = [shutil.which("setpriv") or "setpriv", "--reuid", "65534", "--regid",
          "65534", "--clear-groups"]
root = pytest.mark.skipif(os.getuid() != 0, reason="becomes nobody")


def let_in(folder: pathlib.Path) -> None:
    """Lets anybody into @folder, a temporary folder, and into its parents."""
    for path in (folder, *folder.parents):
        if path.stat().st_mode & 0o005 != 0o005:
            path.chmod(0o755)


def copy(to: pathlib.Path, *built: str) -> None:
    names = subprocess.run(["git", "ls-files", "-z", "-co", "--exclude-standard"],
                           cwd=TOP, check=True, capture_output=True).stdout
    to.mkdir(mode=0o755)
    subprocess.run(["cpio", "--quiet", "-0pdm", to], cwd=TOP, input=names,
                   check=True)
    for name in built:
        shutil.copytree(TOP / "build" / name, to / "build" / name, symlinks=True)


def test_a_moved_checkout_works(tmp_path):
    there = tmp_path / "moved"
    copy(there, "stock", "vm")
    (there / "build" / "kernel").symlink_to(
        os.readlink(TOP / "build" / "kernel"))
    done = subprocess.run(
        ["tests/vm/run", "--", "cat", "/sys/class/ocf/cryptosoft0/state"],
        cwd=there, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "ready\n"), done.stderr


@root
def test_modules_for_a_kernel_need_no_root_and_no_network(tmp_path):
    let_in(tmp_path)
    there = tmp_path / "theirs"
    copy(there)
    subprocess.run(["chown", "-R", "65534:65534", there], check=True)
    release = (TOP / "build" / "stock" / "release").read_text().strip()
    module = there / "build/stock/src/kernel/core/ocf.ko"

    def build() -> int:
        done = subprocess.run(
            ["unshare", "-n", *NOBODY, "make", "-s", "modules", "DEPS=",
             f"KDIR=/lib/modules/{release}/build"],
            cwd=there, capture_output=True, text=True, check=False,
            env={"PATH": "/usr/bin:/bin", "HOME": "/nonexistent"})
        assert done.returncode == 0, done.stdout + done.stderr
        return module.stat().st_mtime_ns

    first = build()
    assert first == build()
    # what a header says is in the modules, too
    header = there / "include/linux/ocf_random.h"
    header.write_text(header.read_text() + "static int a_change;\n")
    assert first != build()


@root
def test_a_package_that_cannot_be_installed(tmp_path):
    """One line names it and what would install it."""
    done = subprocess.run(
        [*NOBODY, TOP / "scripts" / "deps", "no-such-package"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
        env={"PATH": no_sudo(tmp_path)})
    assert done.returncode == 1
    assert (done.stdout + done.stderr).splitlines() == [
        "deps: cannot install what is missing; as root: apt-get install "
        "no-such-package"]


def no_sudo(folder: pathlib.Path) -> str:
    """A PATH with what scripts/deps calls, and without sudo."""
    let_in(folder)
    for name in ("bash", "dirname", "id", "dpkg-query", "grep", "mktemp",
                 "tail", "rm", "env", "sed", "sort"):
        (folder / name).symlink_to(shutil.which(name))
    return str(folder)


def test_nothing_is_installed_when_nothing_is_missing():
    done = subprocess.run([TOP / "scripts" / "deps"], capture_output=True,
                          text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
