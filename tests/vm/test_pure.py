# SPDX-License-Identifier: BSD-2-Clause
"""The machine's parts that need no machine: archives and kernel logs."""

import pathlib
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from vmlib import cpio, kmsg  # noqa: E402

CLEAN = """\
[    0.000000] Linux version 6.12.117 (gcc)
[    0.100000] Warning: this processor is old
[    0.200000] PCI: bugs are worked around
[    1.000000] ocf: cryptosoft0: 40 algorithms
[    2.000000] virtio_crypto: BUGgy name of nothing
"""

WARN = """\
[    3.000000] ------------[ cut here ]------------
[    3.000001] WARNING: CPU: 0 PID: 1 at kernel/foo.c:12 foo+0x1/0x2 [ocf]
[    3.000002] Call Trace:
[    3.000003] ---[ end trace 0000000000000000 ]---
"""


@pytest.mark.parametrize("line", [
    "------------[ cut here ]------------",
    "WARNING: possible circular locking dependency detected",
    "BUG: KASAN: slab-use-after-free in ocf_submit+0x10/0x20 [ocf]",
    "BUG: KFENCE: out-of-bounds read in memcpy+0x1/0x2",
    "BUG: unable to handle page fault for address: ffff",
    "BUG: sleeping function called from invalid context at mm.c:1",
    "BUG: scheduling while atomic: test/12/0x00000100",
    "BUG: soft lockup - CPU#1 stuck for 26s! [test:12]",
    "watchdog: BUG: soft lockup - CPU#0 stuck for 22s!",
    "kernel BUG at mm/slub.c:100!",
    "Oops: 0000 [#1] PREEMPT SMP",
    "Oops: general protection fault, probably for address 0xdead: 0000",
    "Kernel panic - not syncing: Fatal exception",
    "UBSAN: array-index-out-of-bounds in foo.c:1:2",
    "INFO: task cat:123 blocked for more than 60 seconds.",
    "rcu: INFO: rcu_preempt self-detected stall on CPU",
    "rcu: INFO: rcu_sched detected expedited stalls on CPUs/tasks: { 1-... }",
    "kmemleak: 3 new suspected memory leaks (see /sys/kernel/debug/kmemleak)",
    "BUG kmalloc-64 (Tainted: G    B      ): Poison overwritten",
    "BUG kmalloc-64 (Not tainted): Right Redzone overwritten",
    "BUG kmalloc-8 (Not tainted): Object already free",
    "list_add corruption. prev->next should be next",
    "list_del corruption, ffff->next is LIST_POISON1",
    "DEBUG_LOCKS_WARN_ON(lock->magic != lock)",
    "BUG: Bad page state in process test  pfn:12345",
    "general protection fault: 0000 [#1] SMP",
])
def test_a_report_is_found(line):
    log = CLEAN + f"[    3.000000] {line}\n" + CLEAN
    assert len(kmsg.reports(log, [])) == 1
    log = CLEAN + f"[    3.000000][  T123] {line}\n"
    assert len(kmsg.reports(log, [])) == 1


def test_what_only_looks_like_one_is_not():
    assert kmsg.reports(CLEAN, []) == []


def test_two_reports_are_two():
    assert len(kmsg.reports(CLEAN + WARN + CLEAN + WARN, [])) == 2


def test_a_report_is_whole():
    text, = kmsg.reports(CLEAN + WARN + CLEAN, [])
    assert "foo+0x1" in text and "end trace" in text
    assert "40 algorithms" not in text


def test_allowed_is_only_what_matches():
    assert kmsg.reports(WARN, ["foo\\+0x1"]) == []
    assert len(kmsg.reports(WARN, ["bar\\+0x1"])) == 1
    other = WARN.replace("foo+", "baz+")
    assert len(kmsg.reports(WARN + other, ["foo\\+0x1"])) == 1


def test_a_report_without_an_end_hides_no_other():
    begun = WARN.splitlines()[0]
    filler = "[    4.000000] filler\n" * 100
    assert len(kmsg.reports(f"{begun}\n{filler}{WARN}", [])) == 2


def test_an_archive_unpacks(tmp_path):
    files = {"init": (0o755, b"#!/bin/sh\n"), "a/b/c": (0o644, b"x" * 5000),
             "empty": (0o600, b"")}
    subprocess.run(["cpio", "-i", "--quiet"], input=cpio.archive(files),
                   check=True, cwd=tmp_path)
    for name, (mode, data) in files.items():
        assert (tmp_path / name).read_bytes() == data
        assert (tmp_path / name).stat().st_mode & 0o777 == mode
