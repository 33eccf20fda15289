#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""In the test machine: Linux's own tests of IPsec, and of the crypto API's
speed, on the kernel's implementations and then on ours.

    tests/alg/linux.py IPSEC [UNITTEST...]      IPSEC: Linux's net/ipsec
"""

import os
import re
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True

from case import driver_name, ours  # noqa: E402
from users import HIGH, LOW, loaded, run  # noqa: E402

RESULT = re.compile(r"^(ok|not ok) \d+ (.*?)(?: # (SKIP|XFAIL).*)?$", re.M)
# of what ipsec prints, the test's protocol and algorithms; its processes print at
# the same time, and a line may lose its beginning
CASE = re.compile(r"\[\d+, .*")
NETWORKS = 4        # as many pairs of networks at the same time
ALGORITHM = re.compile(r"testing speed of .*?\b(?:async |multibuffer )?"
                       r"(\S+) \((\S+)\) (?:en|de)cryption")
HASH = re.compile(r"testing speed of async (\S+) \((\S+)\)$", re.M)
WRONG = re.compile(r"^.*(?:fail|error|wrong).*$", re.M | re.I)
# 500 to 519: ciphers; 600 to 610: eight at a time; 211 to 213 and 215 to 217: AEAD;
# 403 to 421: hashes
MODES = [*range(500, 520), *range(600, 611), 211, 212, 213, 215, 216, 217,
         *range(403, 407), 413, 415, *range(418, 422)]


def ipsec() -> tuple[set[str], set[str], str]:
    """The tests of net/ipsec that pass, all that there are, and its output."""
    log = subprocess.run([sys.argv[1], str(NETWORKS)],
                         capture_output=True, text=True, check=False).stdout
    found = [(how, CASE.search(name)[0], skip)
             for how, name, skip in RESULT.findall(log) if CASE.search(name)]
    return ({name for how, name, skip in found if how == "ok" and not skip},
            {name for _, name, _ in found}, log)


def speeds(mode: int) -> str:
    """What tcrypt writes into the kernel's log in that mode."""
    run("dmesg", "--clear")
    # it never stays loaded
    subprocess.run(["modprobe", "tcrypt", f"mode={mode}", "sec=0"],
                   capture_output=True, check=False)
    return re.sub(r"^\[[^]]*\] (?:tcrypt: )?", "", run("dmesg"), flags=re.M)


class Linux(unittest.TestCase):
    def test_ipsec(self):
        """Each pair of a cipher and a MAC, in each mode, with packets that go
        through; what passes on the kernel's passes on ours."""
        stock, names, _ = ipsec()
        with loaded(HIGH):
            now, _, log = ipsec()
        print(f"# stock {len(stock)} of {len(names)}, ours {len(now)}",
              file=sys.stderr)
        self.assertEqual([], sorted(stock - now), log)
        self.assertGreater(len(stock), 90)

    def test_speed(self):
        """No mode fails, and the algorithms that we have are ours."""
        seen, used = {}, set()
        for priority in LOW, HIGH:
            with loaded(priority):
                have = {i["name"]: i["driver"] for i in ours()}
                for mode in MODES:
                    log = speeds(mode)
                    seen.setdefault(mode, []).append(WRONG.findall(log))
                    if priority == HIGH:
                        used |= set(ALGORITHM.findall(log) + HASH.findall(log))
        for mode, (stock, now) in seen.items():
            with self.subTest(mode=mode):
                self.assertEqual(stock, now)
        for name, driver in sorted(used):
            if name in have:
                with self.subTest(name=name):
                    self.assertEqual(driver_name(name), driver)
        print(f"# {len(used & set(have.items()))} of ours", file=sys.stderr)
        self.assertGreater(len(used & set(have.items())), 20)


if __name__ == "__main__":
    os.environ["LC_ALL"] = "C"
    unittest.main(argv=sys.argv[:1] + sys.argv[2:], verbosity=2)
