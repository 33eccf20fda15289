# SPDX-License-Identifier: BSD-2-Clause
"""What a test may change in the machine.

After each test the runner restores the project's modules and the settings of
modules and devices.  A test that does not undo its other changes fails.
"""

import os
import pathlib
import subprocess

# A device's attributes that are settings.
SETTINGS = ("weight", "forbid")


def _read(path: pathlib.Path) -> str:
    try:
        return path.read_text(errors="replace").strip()
    except OSError:
        return "?"


def _modules() -> dict[str, str]:
    """The project's modules, which are out of the kernel's tree (flag O), and
    tls."""
    out = {}
    for line in pathlib.Path("/proc/modules").read_text().splitlines():
        name, _, count, *_ = line.split()
        if "(O" in line or name == "tls":
            out[f"module {name}, references"] = count
    return out


def _parameters() -> dict[str, str]:
    return {f"setting {p}": _read(p)
            for p in pathlib.Path("/sys/module").glob("ocf*/parameters/*")
            if p.stat().st_mode & 0o444}


def _devices() -> dict[str, str]:
    out = {}
    for d in pathlib.Path("/sys/class/ocf").glob("*"):
        if (d / "state").exists():
            out[f"{d.name}, state"] = _read(d / "state")
            out |= {f"setting {d / name}": _read(d / name) for name in SETTINGS}
    return out


def _processes() -> dict[str, str]:
    """All but the kernel's threads, our ancestors and ourselves."""
    ours, pid = set(), os.getpid()
    while pid:
        ours.add(pid)
        stat = _read(pathlib.Path(f"/proc/{pid}/stat"))
        pid = int(stat.rpartition(")")[2].split()[1])
    out = {}
    for p in pathlib.Path("/proc").iterdir():
        if p.name.isdigit() and int(p.name) not in ours:
            command = _read(p / "cmdline").replace("\0", " ")
            if command not in ("", "?"):
                out[f"process {p.name}"] = command[:80]
    return out


def _mounts() -> dict[str, str]:
    return {f"mount {line.split()[1]}": line.split()[2] for line in
            pathlib.Path("/proc/mounts").read_text().splitlines()}


def _files() -> dict[str, str]:
    """Temporary files, and the mode and owner of the device."""
    out = {f"file {d}/{name}": "there" for d in ("/tmp", "/dev/shm", "/run")
           for name in os.listdir(d)}
    node = pathlib.Path("/dev/crypto")
    if node.exists():
        st = node.stat()
        out[f"file {node}"] = f"{st.st_mode:o} {st.st_uid}:{st.st_gid}"
    return out


def _network() -> dict[str, str]:
    return {f"link {p.name}": _read(p / "operstate")
            for p in pathlib.Path("/sys/class/net").iterdir()}


def _kernel() -> dict[str, str]:
    tracing = pathlib.Path("/sys/kernel/tracing")
    out = {f"file {p}": _read(p) for p in (
        pathlib.Path("/sys/devices/virtual/workqueue/cpumask"),
        pathlib.Path("/sys/devices/system/cpu/online"),
        pathlib.Path("/proc/sys/kernel/modprobe"),
        tracing / "current_tracer", tracing / "set_event",
        tracing / "tracing_on")}
    for d in "net/ipv4", "net/core":
        for p in pathlib.Path("/proc/sys", d).iterdir():
            if p.is_file() and p.stat().st_mode & 0o200:
                out[f"file {p}"] = _read(p)
    return out


def take() -> dict[str, str]:
    out: dict[str, str] = {}
    for part in (_modules, _parameters, _devices, _processes, _mounts, _files,
                 _network, _kernel):
        out |= part()
    return out


def _restore_modules() -> None:
    """Unloads the modules that a test loaded, and loads those of the machine
    again."""
    lines = [x.split() for x in os.environ["OCF_LOADED"].splitlines()]
    ours = {pathlib.Path(path).stem for path, *_ in lines}
    for key in _modules():
        name = key.split()[1].rstrip(",")
        if name not in ours and name != "tls":
            subprocess.run(["rmmod", name], check=False)
    for path, *parameters in lines:
        if not pathlib.Path("/sys/module", pathlib.Path(path).stem).exists():
            subprocess.run(["insmod", path, *parameters], check=False)


def restore(before: dict[str, str]) -> None:
    """Restores modules and settings as in @before, and resumes devices that
    were ready."""
    _restore_modules()
    now = take()
    for key, value in before.items():
        if now.get(key, value) == value:
            continue
        if key.startswith("setting "):
            path, text = key.split(" ", 1)[1], value or "\n"
        elif key.endswith(", state") and value == "ready":
            path = f"/sys/class/ocf/{key.split(',')[0]}/state"
            text = "resume"
        else:
            continue
        try:
            fd = os.open(path, os.O_WRONLY)
        except OSError:
            continue
        try:
            os.write(fd, text.encode())
        except OSError:
            pass        # differences() says what is not as it was
        finally:
            os.close(fd)


def differences(before: dict[str, str], now: dict[str, str]) -> list[str]:
    out = []
    for key in sorted(before.keys() | now.keys()):
        was, is_ = before.get(key), now.get(key)
        if was == is_:
            continue
        if was is None:
            out.append(f"{key}: {is_}, new")
        elif is_ is None:
            out.append(f"{key}: {was}, gone")
        else:
            out.append(f"{key}: {is_}, was {was}")
    return out
