# SPDX-License-Identifier: BSD-2-Clause
"""One run of the machine: start QEMU, pass output through, judge the end."""

import ctypes
import os
import pathlib
import re
import selectors
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

from . import cpio, kmsg
from .cards import Card
from .kernel import BUILD, PATH, Kernel, Missing

# Exit statuses that are the machine's own and not COMMAND's.
DIRTY_LOG = 97      # the kernel log holds a report
CRASHED = 98        # the machine ended without saying how COMMAND ended
HUNG = 99           # no sign of life, or over --timeout

# Debian's own.  The caller's may lead to programs that Debian does not have.
GUEST_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

BOOTS = 3           # how often it is tried
BOOT_S = 900        # s; a busy host takes as long for the debug kernel, and
                    # is not stuck
KVM_PROBE_S = 10
PR_SET_PDEATHSIG = 1    # <linux/prctl.h>

QEMU = ["qemu-system-x86_64", "-nodefaults", "-no-user-config",
        "-display", "none", "-no-reboot", "-machine", "pc"]

BASE_ARGS = (
    "console=ttyS0 panic=-1 oops=panic softlockup_panic=1 reboot=t "
    # a host may stand still for longer than the kernel expects of a processor
    "watchdog_thresh=30 rcupdate.rcu_cpu_stall_timeout=120 "
    "sysctl.kernel.hung_task_panic=1 sysctl.kernel.hung_task_timeout_secs=300 "
    "mitigations=off random.trust_cpu=on tsc=reliable no_timer_check "
    "systemd.show_status=0 cryptomgr.panic_on_fail=0 "
    # otherwise the first traced event makes the kernel patch the scheduler's
    # code while the other emulated processor runs it
    "trace_options=norecord-cmd "
)

# Without ERMS: a processor that has it copies and clears by "rep movsb" and
# "rep stosb", which emulation does byte by byte.
CPU = "max,-erms"

# Virtual time is the number of instructions (QEMU docs, tcg-icount): the
# processor without instructions whose cost or result is not the guest's own.
ICOUNT_CPU = f"{CPU},-rdrand,-rdseed"
ICOUNT_QEMU = ["-icount", "shift=0,sleep=off",
               "-rtc", "base=2024-01-01T00:00:00,clock=vm", "-seed", "1"]
ICOUNT_ARGS = "nokaslr norandmaps "

# Take the interrupt routing from the BIOS's table.  The debug kernel checks
# every load, and would take half a minute to interpret QEMU's AML instead.
DEBUG_ARGS = "acpi=noirq cryptomgr.notests=1 "


def clock_of_host() -> str:
    """An emulated processor has the host's time stamp counter.  This parameter
    tells the guest's kernel the frequency, because a measurement is wrong on a
    busy host."""
    khz = subprocess.run([BUILD / "vm" / "tsc"], check=True, text=True,
                         capture_output=True).stdout.strip()
    return f"tsc_early_khz={khz} "


def qemu_of(run: subprocess.Popen) -> int:
    """The process of QEMU that @run, a tests/vm/run, has started"""
    children = pathlib.Path(f"/proc/{run.pid}/task/{run.pid}/children")
    child, = children.read_text().split()
    assert "qemu" in pathlib.Path(f"/proc/{child}/comm").read_text()
    return int(child)


def disk_args(number: int, file: pathlib.Path) -> list[str]:
    """A virtio disk for QEMU"""
    return ["-drive", f"file={file},format=raw,if=none,id=disk{number}",
            "-device", f"virtio-blk-pci,drive=disk{number}"]


def check_tools() -> None:
    for tool in ("qemu-system-x86_64", "modprobe"):
        if not shutil.which(tool, path=PATH):
            raise Missing(f"{tool} is not installed: run 'make deps'")


def kvm_works(kernel: Kernel) -> bool:
    """Whether /dev/kvm can run this kernel: a boot of ten seconds tells.

    The answer is kept until the host boots again.
    """
    if not os.access("/dev/kvm", os.R_OK | os.W_OK):
        return False
    boot_id = pathlib.Path("/proc/sys/kernel/random/boot_id").read_text()
    cache = BUILD / "vm" / f"kvm-{kernel.release}-{boot_id.strip()}"
    if not cache.exists():
        with tempfile.TemporaryDirectory(prefix="ocf-vm-") as tmp:
            vm = Machine(kernel, Options(timeout=KVM_PROBE_S, probe=True,
                                         accel="kvm"), pathlib.Path(tmp))
            works = vm.run() == 0
        cache.write_text("yes" if works else "no")
    return cache.read_text() == "yes"


class Options:
    """What a run is to be; the command line's options by their names."""

    command: list[str] = []
    cards = 0
    card_properties = ""
    card_process: list[str] = []
    card_dir = None
    rng: list[str] = []
    disk: list[str] = []
    cpus = 2
    memory = "1G"
    icount = False
    qmp = None
    gdb = None
    port: dict[str, int] = {}
    modules = True
    module_args: dict[str, str] = {}
    append = ""
    allow: list[str] = []
    env: list[str] = []
    timeout = 3600
    heartbeat = 90      # s; the guest beats every 2 s, emulation may be slow
    log = None
    accel = "tcg"
    one_thread = False
    probe = False

    def __init__(self, **kw):
        for key, value in kw.items():
            if not hasattr(self, key):
                raise AttributeError(key)
            setattr(self, key, value)


class Machine:
    """A machine that boots once."""

    def __init__(self, kernel: Kernel, opt: Options, tmp: pathlib.Path):
        self.kernel, self.opt, self.tmp = kernel, opt, tmp
        self.log = pathlib.Path(opt.log) if opt.log else tmp / "console.log"
        self.processes: list[Card] = []
        self.up = False     # the kernel has booted, our modules come next

    # What the guest is told ------------------------------------------------

    def _conf(self) -> bytes:
        opt, rec = self.opt, []
        if opt.probe:
            return b"probe=1\0"
        rec += [("early", f"/early/{i}-{pathlib.Path(p).name}")
                for i, p in enumerate(self.kernel.early())]
        rec += [("share", str(path)) for path, _ in self.kernel.shares()]
        if self.kernel.bind():
            rec.append(("bind", " ".join(self.kernel.bind())))
        loads = []
        if opt.modules:
            for path in self.kernel.project():
                args = opt.module_args.get(pathlib.Path(path).stem, "")
                loads.append(f"{path} {args}".rstrip())
        rec += [("insmod", line) for line in loads]
        env = {"HOME": "/root", "LANG": "C.UTF-8", "OCF_VM": "1",
               "PATH": GUEST_PATH,
               "PYTHONDONTWRITEBYTECODE": "1",
               "OCF_MODULES": str(self.kernel.tree),
               # what of it is loaded, in order, with parameters
               "OCF_LOADED": "\n".join(x for x in loads if str(BUILD) in x),
               "OCF_DEBUG_KERNEL": "1" if self.kernel.debug else ""}
        if self.processes:
            env["OCF_CARDS"] = " ".join(c.name for c in self.processes)
        env.update(e.partition("=")[::2] for e in opt.env)
        rec += [("env", f"{k}={v}") for k, v in env.items()]
        rec += [("arg", a) for a in opt.command]
        rec.append(("cwd", os.getcwd()))
        if opt.icount:
            rec.append(("nobeat", "1"))
        return b"".join(f"{k}={v}".encode() + b"\0" for k, v in rec)

    def _initrd(self) -> pathlib.Path:
        files = {"init": (0o755, (BUILD / "vm" / "init").read_bytes()),
                 "run.conf": (0o600, self._conf())}
        if not self.opt.probe:
            for i, path in enumerate(self.kernel.early()):
                files[f"early/{i}-{pathlib.Path(path).name}"] = (
                    0o644, pathlib.Path(path).read_bytes())
        initrd = self.tmp / "initrd"
        initrd.write_bytes(cpio.archive(files))
        return initrd

    def _disk(self, number: int, what: str) -> pathlib.Path:
        """Its file: @what, or a new one of that size."""
        size = re.fullmatch(r"(\d+)([KMG])", what)
        if not size:
            return pathlib.Path(what)
        path = self.tmp / f"disk{number}"
        with open(path, "wb") as file:
            file.truncate(int(size[1]) << {"K": 10, "M": 20, "G": 30}[size[2]])
        return path

    # QEMU ------------------------------------------------------------------

    def _qemu(self, ports: dict[str, int]) -> list[str]:
        opt, icount = self.opt, self.opt.icount
        cmd = [*QEMU, "-m", opt.memory, "-kernel", str(self.kernel.image),
               "-initrd", str(self._initrd()),
               "-serial", f"file:{self.log}"]
        args = BASE_ARGS
        if icount:
            cmd += ["-accel", "tcg", "-smp", "1", "-cpu", ICOUNT_CPU]
            cmd += ICOUNT_QEMU
            args += ICOUNT_ARGS
        elif opt.accel == "kvm":
            cmd += ["-accel", "kvm", "-smp", str(opt.cpus), "-cpu", "host"]
        else:
            threads = "single" if opt.one_thread else "multi"
            cmd += ["-accel", f"tcg,thread={threads}", "-smp", str(opt.cpus),
                    "-cpu", CPU]
            args += clock_of_host()
        if self.kernel.debug:
            args += DEBUG_ARGS
        shares = [("host", "/", ",readonly=on")] + [
            (f"share{i}", path, extra)
            for i, (path, extra) in enumerate(self.kernel.shares())]
        for tag, path, extra in shares:
            cmd += ["-fsdev", f"local,id={tag},path={path},"
                    f"security_model=none,multidevs=remap{extra}",
                    "-device", f"virtio-9p-pci,fsdev={tag},mount_tag={tag}"]
        cmd += ["-device", "virtio-serial-pci"]
        for name, fd in ports.items():
            cmd += ["-chardev", f"socket,id={name},fd={fd}",
                    "-device", f"virtserialport,chardev={name},name=ocf.{name}"]
        for i in range(opt.cards):
            cmd += ["-object", f"cryptodev-backend-builtin,id=backend{i}",
                    "-device", f"virtio-crypto-pci,id=card{i},"
                    f"cryptodev=backend{i},{opt.card_properties}".rstrip(",")]
        if self.processes:
            # they look into the guest's memory
            cmd += ["-object", f"memory-backend-memfd,id=ram,share=on,"
                    f"size={opt.memory}", "-machine", "memory-backend=ram"]
        for card in self.processes:
            cmd += card.qemu()
        for i, file in enumerate(opt.rng):
            cmd += ["-object", f"rng-random,id=rng{i},filename={file}",
                    "-device", f"virtio-rng-pci,rng=rng{i}"]
        for i, what in enumerate(opt.disk):
            cmd += disk_args(i, self._disk(i, what))
        if opt.gdb:
            cmd += ["-gdb", f"unix:{opt.gdb},server=on,wait=off"]
        if opt.qmp:
            cmd += ["-qmp", f"unix:{opt.qmp},server=on,wait=off"]
        return cmd + ["-append", args + opt.append]

    # The run ---------------------------------------------------------------

    def run(self) -> int:
        where = pathlib.Path(self.opt.card_dir or self.tmp)
        try:
            for i, spec in enumerate(self.opt.card_process, self.opt.cards):
                self.processes.append(Card(f"card{i}", spec, where,
                                           die_with_parent))
            for card in self.processes:
                card.wait()
            for left in reversed(range(BOOTS)):
                code = self._run()
                if code != CRASHED or self.up or self.opt.probe or not left:
                    break
                # Once in a thousand boots an emulated processor runs code that
                # another is just patching, for example a static key's jump.
                # On a busy host an interrupt of the debug kernel finds no
                # per-CPU data yet, once in ten boots.
                print("vm: the kernel did not boot, once more",
                      file=sys.stderr, flush=True)
            return code
        finally:
            for card in self.processes:
                card.end()

    def _run(self) -> int:
        pairs = {n: socket.socketpair() for n in ("stdout", "stderr", "status")}
        fds = {n: p[1].fileno() for n, p in pairs.items()} | self.opt.port
        with open(self.tmp / "qemu.err", "wb") as err:
            qemu = subprocess.Popen(self._qemu(fds), pass_fds=fds.values(),
                                    stdin=subprocess.DEVNULL, stdout=err,
                                    stderr=err, preexec_fn=die_with_parent)
        try:
            for _, theirs in pairs.values():
                theirs.close()
            word, why = self._watch({n: p[0] for n, p in pairs.items()})
            # it has closed its ports, so it is on its way out
            if not why:
                qemu.wait(10)
        except subprocess.TimeoutExpired:
            pass
        finally:
            qemu.kill()
            qemu.wait()
        return self._judge(word, why)

    def _watch(self, ports: dict[str, socket.socket]) -> tuple[str | None, str]:
        """Passes output on until the guest is gone.  Returns its last status
        line, and why we stopped if it was not gone."""
        sel, status, word = selectors.DefaultSelector(), b"", None
        for name, sock in ports.items():
            sock.setblocking(False)
            sel.register(sock, selectors.EVENT_READ, name)
        begun = life = time.monotonic()
        beating = False
        while sel.get_map():
            now = time.monotonic()
            if now - begun > self.opt.timeout:
                return word, f"no end after {self.opt.timeout} s"
            if beating and now - life > self.opt.heartbeat:
                return word, f"no sign of life for {self.opt.heartbeat} s"
            if not beating and not self.opt.icount and now - begun > BOOT_S:
                return word, f"not up after {BOOT_S} s"
            for key, _ in sel.select(1):
                try:
                    data = key.fileobj.recv(65536)
                except ConnectionResetError:
                    data = b""
                if not data:
                    sel.unregister(key.fileobj)
                elif key.data == "status":
                    life = time.monotonic()
                    status += data
                    *lines, status = status.split(b"\n")
                    for line in lines:
                        text = line.decode(errors="replace")
                        if text == "up":
                            self.up = True
                        elif text in ("start", "beat"):
                            beating = not self.opt.icount
                        else:
                            word = text
                else:
                    out = sys.stdout if key.data == "stdout" else sys.stderr
                    out.buffer.write(data)
                    out.buffer.flush()
        return word, ""

    def _judge(self, word: str | None, why: str) -> int:
        text = self.log.read_text(errors="replace") if self.log.exists() else ""
        text = text.replace("\r", "")
        if self.opt.probe:
            return 0 if word == "exit 0" else CRASHED
        dirty = kmsg.reports(text, self.opt.allow)
        for report in dirty:
            print(f"vm: in the kernel log:\n{report}", file=sys.stderr)
        if word and word.startswith("exit "):
            code = int(word.split()[1])
            if dirty:
                print(f"vm: the command returned {code}, but the kernel log "
                      "is not clean", file=sys.stderr)
                return DIRTY_LOG
            return code
        tail = "\n".join(text.splitlines()[-25:])
        qemu_said = (self.tmp / "qemu.err").read_text(errors="replace")
        print(f"vm: {word or why or 'the machine died'}\n{qemu_said}"
              f"vm: the end of the console:\n{tail}", file=sys.stderr)
        return HUNG if why else CRASHED


def die_with_parent(number: int = signal.SIGKILL) -> None:
    """In a child: whatever ends this program ends QEMU and the cards too."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, number)
