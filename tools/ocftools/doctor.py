# SPDX-License-Identifier: BSD-2-Clause
"""ocfctl doctor: is a card used, and if not, why not?

Each examination looks at one part of the machine, and returns its findings.
None of them changes anything.
"""

import errno
import grp
import os
import pathlib
import pwd
import re
import shutil
import stat
import subprocess
import textwrap
from dataclasses import asdict, dataclass, field
from typing import Any, Callable, Iterator

from . import alg, text
from .sysfs import Device, Devices, Failure, Misuse

KERNEL_MIN = (6, 12)
MODULES = ("ocf", "ocf_soft", "ocf_cdev")
GROUP = "crypto"
WEAK = ("des-cbc", "md5", "hmac-md5")
RECORD = 16384                    # bytes of a full record of TLS
VIRTIO_CRYPTO = 20                # a card's number in <linux/virtio_ids.h>
# "Other encryption controller" and "co-processor" of the PCI Code and ID
# Assignment Specification, 1.11
PCI_CLASSES = ("0x1000", "0x1080", "0x0b40")
SECURE_BOOT = "SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"

# Names of ciphers and MACs: as `openssl ciphers -v` has them, and as OCF has
# them.
CIPHERS = {"AES": "aes-cbc", "3DES": "des3-cbc", "Camellia": "camellia-cbc",
           "AESGCM": "aes-gcm", "AESCCM": "aes-ccm", "AESCCM8": "aes-ccm",
           "CHACHA20/POLY1305": "chacha20-poly1305", "ARIAGCM": "aria-gcm"}
MACS = {"SHA1": "hmac-sha1", "SHA256": "hmac-sha256", "SHA384": "hmac-sha384"}
EXCHANGES = {"RSA": ["rsa-decrypt"], "DH": ["dh"], "ECDH": ["ecdh", "x25519"],
             "any": ["ecdh", "x25519"]}
SIGNATURES = {"RSA": ["rsa-sign"], "ECDSA": ["ecdsa-sign"], "DSS": ["dsa-sign"],
              "any": ["rsa-sign", "ecdsa-sign"]}
KEY_OPERATIONS = {name for table in (EXCHANGES, SIGNATURES)
                  for names in table.values() for name in names}
WIDTH = 79
MODULUS = 256                     # bytes: RSA and DH of 2,048 bits


@dataclass(frozen=True)
class Finding:
    """@state: "ok"; "note", which is worth knowing; "problem"
    @cure: a command, or nothing
    """

    state: str
    about: str
    text: str
    cure: str = ""


@dataclass(frozen=True)
class Verdict:
    """Whether @device gets requests, and why not.

    @ns: how long it should take when nothing else is to be done; None if that
        is not known
    """

    device: str
    text: str
    ns: int | None = None
    cure: str = ""


@dataclass(frozen=True)
class Served:
    """The verdicts on @what, one for each device."""

    what: str
    bytes: int
    devices: list[Verdict] = field(default_factory=list)


class Machine:
    """The files that are looked at, and the commands that are run.

    @root, @sysfs: where / and /sys are; tests have others
    @user: whose access is looked at
    """

    def __init__(self, sysfs: str = "/sys", root: str = "/",
                 user: str | None = None):
        self.root = pathlib.Path(root)
        self.sysfs = pathlib.Path(sysfs)
        self.devices = Devices(sysfs)
        self.release = os.uname().release
        self.user: pwd.struct_passwd | None = None
        if user is not None:
            try:
                self.user = pwd.getpwnam(user)
            except KeyError:
                raise Misuse(f"{user}: there is no such user") from None
            if os.geteuid() not in (0, self.user.pw_uid):
                raise Failure("only root may examine the programs of another "
                              f"user ({user})")

    @property
    def who(self) -> str:
        return self.user.pw_name if self.user else \
            pwd.getpwuid(os.geteuid()).pw_name

    @property
    def is_root(self) -> bool:
        return (self.user.pw_uid if self.user else os.geteuid()) == 0

    def read(self, path: pathlib.Path) -> str | None:
        try:
            return path.read_text(errors="replace").strip()
        except OSError:
            return None

    def has(self, module: str) -> bool:
        return (self.sysfs / "module" / module).exists()

    def listed(self) -> list[Device]:
        """The devices; none without the module ocf."""
        try:
            return self.devices.all()
        except Failure:
            return []

    def become_user(self) -> None:
        """For a child of this process."""
        if self.user and os.geteuid() == 0:
            os.setgroups(os.getgrouplist(self.user.pw_name, self.user.pw_gid))
            os.setgid(self.user.pw_gid)
            os.setuid(self.user.pw_uid)

    def as_user(self, *words: str) -> subprocess.CompletedProcess:
        """Runs a program that only looks."""
        return subprocess.run(words, text=True, capture_output=True,
                              timeout=60, stdin=subprocess.DEVNULL,
                              check=False, cwd="/",
                              preexec_fn=self.become_user)


# The kernel and its modules --------------------------------------------------


def secure_boot(machine: Machine) -> bool:
    path = machine.sysfs / "firmware/efi/efivars" / SECURE_BOOT
    try:
        # four bytes of attributes, then the value (UEFI 2.10, 3.3)
        return path.read_bytes()[4:5] == b"\1"
    except OSError:
        return False


def kernel(machine: Machine) -> Iterator[Finding]:
    version = tuple(map(int, re.findall(r"\d+", machine.release)[:2]))
    if version < KERNEL_MIN:
        yield Finding("problem", "kernel", f"{machine.release}: OCF needs "
                      f"Linux {'.'.join(map(str, KERNEL_MIN))} or newer",
                      "apt-get install -t bookworm-backports "
                      "linux-image-amd64 linux-headers-amd64")
        return
    fips = machine.read(machine.root / "proc/sys/crypto/fips_enabled") == "1"
    yield Finding("ok", "kernel", f"{machine.release}; FIPS mode is "
                  f"{'on' if fips else 'off'}; Secure Boot is "
                  f"{'on' if secure_boot(machine) else 'off'}")
    if fips:
        yield Finding("note", "FIPS", "no device offers an algorithm that "
                      "FIPS 140 forbids, even if it can do it")


def installed(machine: Machine, module: str) -> bool:
    return subprocess.run(["modinfo", "-k", machine.release, "-n", module],
                          capture_output=True, check=False).returncode == 0


def modules(machine: Machine) -> Iterator[Finding]:
    missing = [m for m in MODULES if not machine.has(m)]
    lacking = [m for m in missing if not installed(machine, m)]
    if lacking:
        yield Finding("problem", "modules", f"{', '.join(lacking)}: not "
                      f"installed for {machine.release}",
                      "dkms autoinstall" if shutil.which("dkms")
                      else "make install")
    for module in missing:
        if module in lacking:
            continue
        why = {"ocf": "not loaded", "ocf_cdev": "not loaded: there is no "
               "/dev/crypto", "ocf_soft": "not loaded: an operation fails "
               "when no card can do it"}[module]
        cure = f"modprobe {module}"
        if secure_boot(machine):
            why += "; Secure Boot is on, so the kernel loads only a signed " \
                   "module"
            cure = f"mokutil --import /var/lib/dkms/mok.pub, boot, {cure}"
        yield Finding("problem", "modules", f"{module}: {why}", cure)
    if not missing:
        yield Finding("ok", "modules", " ".join(sorted(
            p.name for p in (machine.sysfs / "module").glob("ocf*"))))


def policy(machine: Machine) -> Iterator[Finding]:
    weak = machine.read(machine.sysfs / "module/ocf/parameters/allow_weak")
    if weak == "none":
        yield Finding("ok", "policy", "no weak algorithm is allowed: des-cbc, "
                      "md5 and hmac-md5 fail with EPERM")
    elif weak:
        yield Finding("note", "policy", f"weak algorithms are allowed: {weak}",
                      "echo none > /sys/module/ocf/parameters/allow_weak")


# /dev/crypto and its user ----------------------------------------------------


def can_open(machine: Machine) -> OSError | None:
    """What the kernel answers a program of the user that opens the node."""
    pid = os.fork()
    if not pid:
        try:
            machine.become_user()
            os.open(machine.root / "dev/crypto", os.O_RDWR)
            os._exit(0)
        except OSError as why:
            os._exit(why.errno)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    return OSError(code, os.strerror(code)) if code else None


def access_cure(machine: Machine, group: str, mode: int) -> str:
    if group == "root" or mode & 0o060 != 0o060:
        return f"getent group {GROUP} || groupadd -r {GROUP}; " \
               "udevadm trigger --name-match=crypto"
    return f"usermod -aG {group} {machine.who}"


def node(machine: Machine) -> Iterator[Finding]:
    path = machine.root / "dev/crypto"
    try:
        found = path.stat()
    except FileNotFoundError:
        if machine.has("ocf_cdev"):
            yield Finding("problem", "node", "/dev/crypto does not exist, "
                          "though ocf_cdev is loaded", "udevadm trigger")
        return
    if not machine.has("ocf_cdev"):
        yield Finding("problem", "node", "/dev/crypto belongs to another "
                      "module than ocf_cdev", "rmmod cryptodev")
        return
    group = gid_name(found.st_gid)
    mode = stat.S_IMODE(found.st_mode)
    about = f"/dev/crypto, of the group {group}, mode {mode:04o}"
    refused = can_open(machine)
    if refused:
        cure = access_cure(machine, group, mode) \
            if refused.errno in (errno.EACCES, errno.EPERM) else ""
        yield Finding("problem", "node", f"{about}: {machine.who} cannot open "
                      f"it: {refused.strerror}", cure)
        return
    if mode & 0o006:
        yield Finding("note", "node", f"{about}: every user may open it")
    else:
        yield Finding("ok", "node", f"{about}: {machine.who} can open it")
    yield from running(machine, found.st_gid, mode)


def gid_name(gid: int) -> str:
    try:
        return grp.getgrgid(gid).gr_name
    except KeyError:
        return str(gid)


def processes(machine: Machine) -> Iterator[tuple[int, str, set[int]]]:
    """The number, the program and the groups of each process of the user."""
    assert machine.user
    for path in (machine.root / "proc").glob("[0-9]*/status"):
        fields = dict(line.split(":\t", 1) for line in
                      (machine.read(path) or "").splitlines() if ":\t" in line)
        if fields.get("Uid", "-1").split()[0] == str(machine.user.pw_uid):
            yield int(path.parent.name), fields["Name"], {
                int(gid) for gid in
                (fields["Gid"] + " " + fields.get("Groups", "")).split()}


def running(machine: Machine, gid: int, mode: int) -> Iterator[Finding]:
    """The user may open the node; can the programs that run already?"""
    if machine.user is None or machine.is_root:
        return
    for pid, name, groups in sorted(processes(machine)):
        try:
            seen = (machine.root / f"proc/{pid}/root/dev/crypto").exists()
        except OSError:
            continue              # it has ended, or is not ours to look at
        if not seen:
            yield Finding("problem", "process", f"{name}, process {pid}, "
                          "cannot see /dev/crypto: it runs in a chroot() or "
                          "with PrivateDevices=",
                          "systemctl edit SERVICE: BindPaths=/dev/crypto and "
                          "DeviceAllow=/dev/crypto rw")
        elif gid not in groups and not mode & 0o006:
            yield Finding("problem", "process", f"{name}, process {pid}, "
                          "began before its user was in the group "
                          f"{gid_name(gid)}", "start it again")


# Devices ---------------------------------------------------------------------


STATES = {"suspect": "has failed; the kernel log says how",
          "drained": "is drained: it gets no requests",
          "testing": "is being tested", "draining": "is being removed",
          "dead": "is being removed"}


def state_of(device: Device) -> Finding:
    state, kind = device.state, device.text("kind")
    about = f"{device.name}, {kind}"
    if state == "ready":
        limits = []
        names = device.forbidden()
        if names:
            limits.append(f"forbidden: {', '.join(names)}")
        if device.number("weight") != 100:
            limits.append(f"weight {device.number('weight')} %")
        return Finding("note" if limits else "ok", "device",
                       "; ".join([f"{about}: ready", *limits]))
    wants = state in ("suspect", "drained")
    return Finding("problem" if wants else "note", "device",
                   f"{about}: {STATES.get(state, state)}",
                   f"ocfctl resume {device.name}" if wants else "")


def devices(machine: Machine) -> Iterator[Finding]:
    found = machine.devices.each(state_of).values() \
        if machine.devices.path.exists() else []
    yield from found
    if machine.has("ocf") and not any(
            d.text("kind") == "hardware" for d in machine.listed()):
        yield Finding("note", "device", "there is no card: the CPU does "
                      "everything")


def driver_of(path: pathlib.Path) -> str | None:
    link = path / "driver"
    return link.resolve().name if link.exists() else None


def virtio_cards(machine: Machine) -> Iterator[Finding]:
    for path in sorted((machine.sysfs / "bus/virtio/devices").glob("*")):
        number = machine.read(path / "device")
        if number is None or int(number, 16) != VIRTIO_CRYPTO:
            continue
        driver = driver_of(path)
        if driver == "ocf_virtio":
            continue
        if machine.has("ocf_virtio") and driver:
            yield Finding("problem", "card", f"virtio-crypto card {path.name}: "
                          f"{driver} keeps it, because something uses its "
                          "algorithms or ocf_virtio.takeover is N",
                          "modprobe -r virtio_crypto")
        else:
            yield Finding("problem", "card", f"virtio-crypto card {path.name}: "
                          + (f"{driver} has it" if driver
                             else "it has no driver"), "modprobe ocf_virtio")


def pci_cards(machine: Machine) -> Iterator[Finding]:
    for path in sorted((machine.sysfs / "bus/pci/devices").glob("*")):
        kind = machine.read(path / "class") or ""
        if kind[:6] not in PCI_CLASSES or driver_of(path):
            continue
        alias = machine.read(path / "modalias") or ""
        done = subprocess.run(["modprobe", "-R", alias], text=True,
                              capture_output=True, check=False)
        names = [n for n in done.stdout.split() if n != "virtio_pci"]
        ids = [(machine.read(path / n) or "")[2:] for n in ("vendor", "device")]
        yield Finding("problem" if names else "note", "card",
                      f"PCI device {path.name}, {':'.join(ids)}: it may be an "
                      "accelerator, and has no driver",
                      f"modprobe {names[0]}" if names else "")


def bridged(machine: Machine) -> set[str]:
    """The implementations that ocf_bridge uses."""
    found: set[str] = set()
    for path in machine.devices.path.glob("*/device/implementations"):
        found.update((machine.read(path) or "").split()[1::2])
    return found


def accelerators(machine: Machine) -> Iterator[Finding]:
    """Those that Linux's crypto API has, and OCF does not use."""
    if machine.sysfs != pathlib.Path("/sys"):
        return
    used = bridged(machine)
    marked: dict[str, list[str]] = {}
    try:
        for driver, module in alg.accelerated():
            marked.setdefault(module, []).append(driver)
    except (Failure, OSError):
        yield Finding("note", "card", "the kernel does not say which "
                      "accelerators Linux's crypto API has",
                      "modprobe crypto_user")
    for module, drivers in marked.items():
        if module == "virtio_crypto":
            continue              # the card itself is the finding
        if not machine.has("ocf_bridge"):
            yield Finding("problem", "card", f"accelerator of {module}: OCF "
                          "does not use it", "modprobe ocf_bridge")
        elif not used.intersection(drivers):
            yield Finding("note", "card", f"accelerator of {module}: "
                          f"ocf_bridge does not use {', '.join(drivers)}",
                          "echo > /sys/bus/platform/drivers/ocf_bridge/scan")


# Users -----------------------------------------------------------------------


def openssl_says(machine: Machine, *words: str) -> str | None:
    try:
        done = machine.as_user("openssl", *words)
    except FileNotFoundError:
        return None
    return done.stdout if done.returncode == 0 else None


def quoted(what: str, answer: str) -> str:
    """A path in the answer of `openssl version`."""
    found = re.search(f'{what}: "(.*)"', answer)
    return found[1] if found else ""


def sample() -> pathlib.Path:
    """An openssl.cnf: beside the tools that are installed, or the checkout's"""
    top = pathlib.Path(__file__).resolve().parents[2]
    installed_one = top.parent / "share/ocf/openssl.cnf"
    return installed_one if installed_one.exists() else \
        top / "provider/openssl.cnf"


SETTINGS = {"activate", "debug", "identity", "legacy", "least", "module", "off",
            "off_for", "soft_load"}


def settings(conf: str) -> dict[str, str]:
    """What the section of the provider says in a file; not what the file
    includes."""
    sections: dict[str, dict[str, str]] = {}
    section: dict[str, str] = {}
    try:
        lines_of = pathlib.Path(conf).read_text(errors="replace").splitlines()
    except OSError:
        return {}
    for line in lines_of:
        line = line.split("#")[0].strip()
        if head := re.fullmatch(r"\[\s*(\S+)\s*\]", line):
            section = sections.setdefault(head[1], {})
        elif "=" in line:
            key, value = (word.strip() for word in line.split("=", 1))
            section[key] = value
    names = [s["ocf"] for s in sections.values() if "ocf" in s]
    return sections.get(names[0], {}) if names else {}


def wrong_with(machine: Machine, conf: str) -> str:
    """OpenSSL does not say why openssl.cnf failed to load a provider.  So load
    the provider by name with the same settings, and read its error message."""
    given = settings(conf)
    if unknown := sorted(set(given) - SETTINGS):
        return f"{unknown[0]} is not a setting"
    # the provider's only setting that no variable of the environment gives
    if given.get("legacy", "0") not in ("0", "1"):
        return f"legacy = {given['legacy']} is not 0 or 1"
    done = machine.as_user("env", *(f"OCF_{name.upper()}={given[name]}"
                                    for name in ("debug", "least", "off")
                                    if name in given),
                           "openssl", "list", "-providers", "-provider", "ocf")
    found = re.search(r":(\w+ = .* is not .*)", done.stderr)
    return found[1] if found else ""


def provider(machine: Machine) -> Iterator[Finding]:
    said = openssl_says(machine, "version", "-v", "-d", "-m")
    if said is None:
        yield Finding("note", "OpenSSL", "the program openssl is not installed, "
                      "or is older than 3.0")
        return
    version = " ".join(said.split()[:2])
    file = pathlib.Path(os.environ.get("OPENSSL_MODULES") or
                        quoted("MODULESDIR", said)) / "ocf.so"
    conf = os.environ.get("OPENSSL_CONF") or \
        quoted("OPENSSLDIR", said) + "/openssl.cnf"
    listed = openssl_says(machine, "list", "-providers", "-verbose")
    if not file.exists():
        yield Finding("note", "OpenSSL", f"{version}: the provider is not "
                      f"installed: {file} does not exist",
                      "apt-get install ocf-provider")
    elif listed is None:
        yield Finding("problem", "OpenSSL", f"{version} cannot load a provider "
                      f"that {conf} names", "openssl list -providers")
    elif wrong := wrong_with(machine, conf):
        yield Finding("problem", "OpenSSL", f"{version}: {conf}: {wrong}",
                      f"editor {conf}")
    elif "OCF for Linux" not in listed:
        yield Finding("note", "OpenSSL", f"{version} does not use OCF: {conf} "
                      "does not activate the provider",
                      f"OPENSSL_CONF={sample()}, in a program's environment")
    else:
        yield provider_state(version, conf, listed)


# By what the provider says of itself: device_state() in provider/device.c
STATE_CURES = {
    "off": "editor {conf}",
    "/dev/crypto is not there": "modprobe ocf_cdev",
    "/dev/crypto is another module's": "rmmod cryptodev",
    "no permission": "the cure of \"node\", above",
}


def provider_state(version: str, conf: str, listed: str) -> Finding:
    block = listed[listed.index("OCF for Linux"):]
    found = re.search("build info: (.*)", block)
    state = found[1] if found else "active"
    cure = next((cure for begin, cure in STATE_CURES.items()
                 if state.startswith(begin)), "")
    if state.startswith("/dev/crypto is open"):
        return Finding("ok", "OpenSSL", f"{version} uses OCF, as {conf} says: "
                       f"{state}")
    return Finding("problem", "OpenSSL", f"{version} loads the provider, as "
                   f"{conf} says, but does not use OCF: {state}",
                   cure.format(conf=conf))


def sockets(machine: Machine) -> Iterator[Finding]:
    ulps = (machine.read(machine.root / "proc/sys/net/ipv4/"
                         "tcp_available_ulp") or "").split()
    if machine.has("ocf_socrypt"):
        tls = machine.read(machine.sysfs / "module/ocf_socrypt/parameters/tls")
        if tls in ("Y", "1"):
            yield Finding("ok", "sockets", "ocf_socrypt is there; programs "
                          "that use kTLS use it, too")
        elif "tls" in ulps:
            yield Finding("note", "sockets", "ocf_socrypt is there; programs "
                          "that use kTLS use Linux's own instead",
                          "modprobe -r tls ocf_socrypt; "
                          "modprobe ocf_socrypt tls=1")
        else:
            yield Finding("note", "sockets", "ocf_socrypt is there; programs "
                          "that use kTLS do not use it",
                          "modprobe -r ocf_socrypt; "
                          "modprobe ocf_socrypt tls=1")
    else:
        yield Finding("note", "sockets", "ocf_socrypt is not loaded: OCF "
                      "encrypts no socket", "modprobe ocf_socrypt tls=1")


def kernel_users(machine: Machine) -> Iterator[Finding]:
    found = alg.implementations(machine.root / "proc/crypto")
    mine = [i for i in found if i.is_ours]
    if not mine:
        yield Finding("note", "kernel API", "ocf_alg is not loaded: disks, "
                      "IPsec and Linux's own kTLS do not use OCF",
                      "modprobe ocf_alg")
        return
    chosen = sum(alg.by_name(i.name, found) == i.driver for i in mine)
    users = sum(i.users for i in mine)
    if chosen:
        yield Finding("ok", "kernel API", "new disks, tunnels and kTLS sockets "
                      f"use OCF for {chosen} of {len(mine)} algorithms; "
                      f"{users} transforms use it now")
    else:
        yield Finding("note", "kernel API", "disks, tunnels and kTLS sockets "
                      "use OCF only if they ask for it by name, because other "
                      f"implementations have a higher priority; {users} "
                      "transforms use it now",
                      "ocfctl alg --priority 5000")


Examination = Callable[[Machine], Iterator[Finding]]

FIRST: list[Examination] = [kernel, modules]
# Without the core there is nothing more to say.
WITH_CORE: list[Examination] = [policy, node, devices, virtio_cards, pci_cards,
                                accelerators, provider, sockets, kernel_users]


def examine(machine: Machine) -> list[Finding]:
    looks = FIRST + (WITH_CORE if machine.has("ocf") else [])
    return [finding for look in looks for finding in look(machine)]


# What a request gets ---------------------------------------------------------


def algorithms_of(name: str) -> list[str]:
    """The algorithms that OCF is asked for: those of a TLS suite that OpenSSL
    knows, or the algorithm @name itself."""
    if re.fullmatch(r"[a-z0-9-]+", name):
        return [name]
    try:
        done = subprocess.run(["openssl", "ciphers", "-v", "-s",
                               *(["-tls1_3", "-ciphersuites"]
                                 if name.startswith("TLS_") else []),
                               name + ("" if name.startswith("TLS_")
                                       else ":@SECLEVEL=0")],
                              text=True, capture_output=True, check=False)
    except FileNotFoundError:
        raise Failure("the program openssl, which knows the TLS suites, is not "
                      "installed") \
            from None
    rows = [line.split() for line in done.stdout.splitlines()]
    row = next((r for r in rows if r[0] == name), None)
    if row is None:
        raise Misuse(f"{name} is neither an algorithm nor a TLS suite of OpenSSL")
    has = dict(word.split("=", 1) for word in row[2:])
    cipher = CIPHERS.get(has["Enc"].split("(")[0])
    if cipher is None:
        raise Misuse(f"{name}: OCF does not know {has['Enc']}")
    return [cipher, *([MACS[has["Mac"]]] if has["Mac"] in MACS else []),
            *EXCHANGES.get(has["Kx"], []),
            # with RSA key exchange the server decrypts with its key, and does
            # not sign
            *([] if has["Kx"] == "RSA" else SIGNATURES.get(has["Au"], []))]


def cost_of(device: Device, name: str, size: int) -> int | None:
    """ns, with the weight of the device; None if that is not known.

    @size: bytes of data, or of the modulus of a public-key operation
    """
    if name in device.public_keys():
        ns = device.public_key_costs().get(name, {}).get(size)
    else:
        cost = device.costs().get(name, {}).get("encrypt")
        ns = cost.base_ns + cost.ns_per_kib * size // 1024 \
            if cost and cost.known else None
    return ns and ns * device.number("weight") // 100


def is_public(name: str) -> bool:
    return name in KEY_OPERATIONS


def verdict(device: Device, name: str, size: int) -> Verdict:
    """On a device by itself."""
    if name not in device.words("algorithms") + device.public_keys():
        return Verdict(device.name, "cannot do it")
    if device.state != "ready":
        finding = state_of(device)
        return Verdict(device.name, finding.text.split(": ", 1)[1], None,
                       finding.cure)
    if name in device.forbidden():
        return Verdict(device.name, "is forbidden to do it", None,
                       f"ocfctl forbid --remove {device.name} {name}")
    if size > (device.number("max_len") or size) and not is_public(name):
        return Verdict(device.name, f"takes {device.number('max_len')} bytes "
                       "at most")
    return Verdict(device.name, "can do it", cost_of(device, name, size))


def compared(found: list[Verdict]) -> list[Verdict]:
    """The fastest first; the others are slower."""
    known = sorted((v for v in found if v.ns is not None),
                   key=lambda v: v.ns or 0)
    rest = [v for v in found if v.ns is None]
    return [Verdict(v.device, "is the fastest when idle" if v is known[0]
                    else "is slower, and helps when others are busy", v.ns)
            for v in known] + rest


def serve(machine: Machine, name: str, size: int) -> list[Served]:
    found = []
    for each in algorithms_of(name):
        n = MODULUS if is_public(each) else size
        verdicts = machine.devices.each(
            lambda device, each=each, n=n: verdict(device, each, n)).values()
        found.append(Served(each, n, compared(list(verdicts))))
    return found


def unserved(machine: Machine, served: list[Served]) -> list[Finding]:
    weak = machine.read(machine.sysfs / "module/ocf/parameters/allow_weak")
    allowed = {"all": list(WEAK), "none": []}.get(weak or "none",
                                                  (weak or "").split(","))
    found = [Finding("problem", "request", f"{s.what}: no device can do it now")
             for s in served if not any(
                 v.ns is not None or v.text == "can do it" for v in s.devices)]
    return found + [
        Finding("problem", "request",
                f"{s.what} is weak and not allowed: programs get EPERM",
                f"echo {','.join([*allowed, s.what])} > "
                "/sys/module/ocf/parameters/allow_weak")
        for s in served if s.what in WEAK and s.what not in allowed]


# Showing ---------------------------------------------------------------------


def as_json(findings: list[Finding], served: list[Served]) -> dict[str, Any]:
    return {"findings": [asdict(f) for f in findings],
            "served": [asdict(s) for s in served]}


def lines(findings: list[Finding], served: list[Served]) -> Iterator[str]:
    for f in findings:
        head = f"{f.state:<8} {f.about:<11} "
        yield textwrap.fill(head + f.text, WIDTH, break_on_hyphens=False,
                            subsequent_indent=" " * len(head))
        if f.cure:
            yield f"{'':<{len(head)}}cure: {f.cure}"
    for s in served:
        yield ""
        yield f"{s.what}, {8 * s.bytes} bits" if is_public(s.what) else \
            f"{s.what}, {s.bytes} bytes"
        width = max((len(v.device) for v in s.devices), default=0)
        for v in s.devices:
            took = f": {text.duration(v.ns)}" if v.ns is not None else ""
            cure = f": {v.cure}" if v.cure else ""
            yield f"  {v.device:<{width}}  {v.text}{took}{cure}"


def status(findings: list[Finding]) -> int:
    return int(any(f.state == "problem" for f in findings))
