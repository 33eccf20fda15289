#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""In the test machine: Linux's own selftest of kTLS, on the kernel's engine and
on ours.  Ours has to pass all that the kernel's passes, and new keys, which the
kernel knows from 6.14 on.

    tests/socrypt/linux.py PROGRAM [OPTION...]		its options
"""

import os
import pathlib
import re
import resource
import subprocess
import sys

MODULE = os.environ["OCF_MODULES"] + \
    "/src/kernel/consumers/socrypt/ocf_socrypt.ko"
UNLOAD = "tests/lib/unload"
LACKING = {"sm4", "aria"}
# This test expects getsockopt() to return keys that are not zero.  Ours never
# returns keys.
GIVES_BACK = re.compile(r"tls\.13_\w+\.rekey_getsockopt")
# This test expects that the socket becomes full.  That happens only if the
# peer reads more slowly than the test sends.  both.py tests that with a peer
# that does not read.
MAY_FAIL = re.compile(r"tls\.\w+\.nonblocking")
RESULT = re.compile(r"^(ok|not ok) \d+ (\S+)(?: # (SKIP|XFAIL))?", re.M)


def results(program: str, options: list, name: str) -> tuple:
    """The tests that pass, all of them, and the output."""
    log = subprocess.run([program, *options], capture_output=True, text=True,
                         errors="replace").stdout
    pathlib.Path(f"{program}-{name}.log").write_text(log)
    all_of_them, passed = set(), set()
    for said, test, how in RESULT.findall(log):
        all_of_them.add(test)
        if said == "ok" and not how:
            passed.add(test)
    print(f"{name}: {len(passed)} of {len(all_of_them)}", flush=True)
    return passed, all_of_them, log


def is_new(test: str) -> bool:
    """The kernel's own has it from 6.14 on, and waits for ever before."""
    return "rekey" in test


def main() -> int:
    program, *options = sys.argv[1:]
    resource.setrlimit(resource.RLIMIT_NOFILE, (4096, 4096))
    subprocess.run(["modprobe", "tls"], check=True)
    names = {line.split()[-1] for line in subprocess.run(
        [program, "-l"], capture_output=True, text=True).stderr.splitlines()}
    without = [w for n in names if is_new(n) for w in ("-T", n)]
    stock, *_ = results(program, without + options, "tls.ko")
    subprocess.run([UNLOAD, "tls"], check=True)
    subprocess.run(["insmod", MODULE, "tls=1"], check=True)
    try:
        ours, tests, log = results(program, options, "ocf_socrypt")
    finally:
        subprocess.run([UNLOAD, "ocf_socrypt"], check=True)
    # SM4 and ARIA are what both lack
    wanted = stock | {t for t in tests if is_new(t) and not LACKING & set(
        t.partition(".")[2].split("_"))}
    wrong = sorted((wanted - ours) ^ set(filter(GIVES_BACK.match, wanted)))
    wrong = [t for t in wrong if not MAY_FAIL.fullmatch(t)]
    for test in wrong:
        print(f"not as it should be: {test}")
        print(*(line for line in log.splitlines()
                if f":{test.rpartition('.')[2]}:" in line), sep="\n")
    return 1 if wrong or len(stock) < 50 else 0


if __name__ == "__main__":
    sys.exit(main())
