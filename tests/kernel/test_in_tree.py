# SPDX-License-Identifier: BSD-2-Clause
"""The modules in the sources of a kernel: scripts/in-tree.

The kernel is that of linux-source-6.12, in build/in-tree/linux.  It is built
with our modules as modules, and with them built in; then it boots.
"""

import os
import pathlib
import re
import shutil
import subprocess

import pytest

TOP = pathlib.Path(__file__).resolve().parents[2]
BUILD = TOP / "build" / "in-tree"
LINUX = BUILD / "linux"
SOURCE = "/usr/src/linux-source-6.12.tar.xz"
SCRIPT = str(TOP / "scripts" / "in-tree")
OURS = "drivers/ocf"
MODULES = (TOP / "kernel" / "modules").read_text().splitlines()
SYMBOLS = re.findall(r"^(?:menu)?config (\w+)$",
                     (TOP / "kernel" / "Kconfig").read_text(), re.M)


def make(*args: str) -> str:
    done = subprocess.run(["make", "-s", f"-j{os.cpu_count()}", *args],
                          cwd=LINUX, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False)
    assert done.returncode == 0, done.stdout[-4000:]
    return done.stdout


def configure(value: str) -> None:
    """Sets our modules to @value, "m" or "y".  Sets no option that they need,
    because Kconfig selects those."""
    fragment = BUILD / "config"
    machine = (TOP / "tests/vm/debug.config").read_text()
    lines = machine.split("CONFIG_DEBUG_KERNEL=y")[0].splitlines()
    fragment.write_text("\n".join(
        [line for line in lines if not line.startswith("CONFIG_CRYPTO_")]
        # the machine needs them
        + ["CONFIG_FTRACE=y", "CONFIG_ENABLE_DEFAULT_TRACERS=y",
           "CONFIG_TMPFS_XATTR=y"]
        + [f"CONFIG_{s}={value}" for s in SYMBOLS]) + "\n")
    make("tinyconfig")
    subprocess.run(["scripts/kconfig/merge_config.sh", "-m", ".config",
                    str(fragment)], cwd=LINUX, check=True,
                   stdout=subprocess.DEVNULL)
    make("olddefconfig")
    config = (LINUX / ".config").read_text().splitlines()
    assert [s for s in SYMBOLS if f"CONFIG_{s}={value}" not in config] == []


@pytest.fixture(scope="module", autouse=True)
def sources():
    if not (BUILD / "unpacked").exists():
        shutil.rmtree(LINUX, ignore_errors=True)
        LINUX.mkdir(parents=True)
        subprocess.run(["tar", "-xf", SOURCE, "--strip-components=1", "-C",
                        str(LINUX)], check=True)
        (BUILD / "unpacked").touch()
    subprocess.run([SCRIPT, str(LINUX)], check=True)


def test_what_is_no_kernel(tmp_path):
    for args in [], ["none"], [str(tmp_path)], [str(LINUX), "y"]:
        done = subprocess.run([SCRIPT, *args], text=True, check=False,
                              cwd=tmp_path, stderr=subprocess.PIPE)
        assert done.returncode == 2
        assert "in-tree: " in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_second_time():
    """It replaces what it has copied, and changes nothing else again.  The
    folder's path may be relative to the current directory."""
    files = "drivers/Makefile", "drivers/Kconfig", "MAINTAINERS"
    before = [(LINUX / f).read_text() for f in files]
    (LINUX / OURS / "gone.c").touch()
    subprocess.run([SCRIPT, "linux"], cwd=BUILD, check=True)
    assert [(LINUX / f).read_text() for f in files] == before
    assert not (LINUX / OURS / "gone.c").exists()
    assert (LINUX / "Documentation/ABI/testing/sysfs-class-ocf").exists()
    assert before[0].count("ocf/") == before[1].count("drivers/ocf") == 1


def test_maintainers():
    said = subprocess.run(
        ["scripts/get_maintainer.pl", "--no-git-fallback", "-f",
         f"{OURS}/core/main.c"], cwd=LINUX, text=True, check=True,
        stdout=subprocess.PIPE).stdout
    assert "OCF for Linux" in said
    # also that the list of maintainers is in order
    wrong = subprocess.run(
        ["scripts/parse-maintainers.pl", "--input=MAINTAINERS",
         f"--output={BUILD}/MAINTAINERS"], cwd=LINUX, text=True, check=False,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert wrong.returncode == 0, wrong.stdout
    assert (BUILD / "MAINTAINERS").read_text().count("OCF (OPENBSD") == 1


def test_as_modules():
    configure("m")
    assert make("W=1", "C=1", "modules_prepare", f"{OURS}/") == ""
    make("vmlinux", "modules")
    built = {str(f.relative_to(LINUX / OURS))[:-3]
             for f in (LINUX / OURS).rglob("*.ko")}
    assert built == set(MODULES)


def test_built_in():
    configure("y")
    assert make("W=1", f"{OURS}/") == ""
    make("vmlinux")
    names = (LINUX / "System.map").read_text()
    for name in "ocf_submit", "cdev_op_charge", "soft_mod", "so_take_over_reading":
        assert f" {name}\n" in names
    (BUILD / "release").write_text(make("kernelrelease"))
    (BUILD / "modules.order.ocf").touch()
    done = subprocess.run(
        ["tests/vm/run", "--in-tree", "--", "sh", "-c",
         "cat /sys/class/ocf/cryptosoft0/state && build/selftests/native_session"
         " && build/selftests/bsd_crypt"],
        cwd=TOP, text=True, check=False, stdout=subprocess.PIPE)
    assert done.returncode == 0, done.stdout[-4000:]
    assert "ready" in done.stdout and "not ok" not in done.stdout
