#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Checks that the libraries export exactly the calls that the headers declare,
with the right version, and that the manual pages name exactly these calls."""

import pathlib
import re
import subprocess
import sys

TOP = pathlib.Path(__file__).resolve().parents[2]
HEADERS = TOP / "lib/include/ocf"
LIBRARIES = {
    "libocf": ("crypt.h", "public.h", "queue.h", "socket.h"),
    "libocf-openssl": ("tls.h",),
    "libocf-gnutls": ("gnutls.h",),
}


def declared(library: str) -> set[str]:
    """The calls of a library."""
    text = "".join((HEADERS / f).read_text() for f in LIBRARIES[library])
    return set(re.findall(r"\b(ocf_\w+)\(", re.sub(r"/\*.*?\*/", "", text,
                                                   flags=re.S)))


def version() -> str:
    name, = re.findall(r"^(\w+) {$", (TOP / "lib/libocf.map").read_text(),
                       re.M)
    return name


def exported(library: str) -> set[str]:
    """Returns NAME@@VERSION of each exported symbol, except the symbols that
    define the versions themselves."""
    said = subprocess.run(
        ["readelf", "--dyn-syms", "-W", TOP / f"build/lib/{library}.so.0"],
        check=True, capture_output=True, text=True).stdout
    rows = [line.split() for line in said.splitlines()]
    return {row[7] for row in rows if len(row) > 7 and row[0] != "Num:" and
            row[4] != "LOCAL" and row[6] not in ("UND", "ABS")}


def in_pages() -> set[str]:
    return {name for page in (TOP / "docs/man").glob("*.3")
            for name in re.findall(r"^\.Nm (\w+)", page.read_text(), re.M)}


def differences(where: str, found: set[str], want: set[str]) -> list[str]:
    return [f"{where}: lacks {n}" for n in sorted(want - found)] + \
        [f"{where}: {n} is not declared" for n in sorted(found - want)]


def main() -> int:
    headers = {f for of in LIBRARIES.values() for f in of}
    bad = differences("a library", headers,
                      {f.name for f in HEADERS.glob("*.h")})
    every = set()
    for library in LIBRARIES:
        calls = declared(library)
        every |= calls
        bad += differences(library, exported(library),
                           {f"{c}@@{version()}" for c in calls})
    bad += differences("docs/man", in_pages(), every)
    print(*[f"calls: {b}" for b in bad] or [
        f"calls: {len(every)} as the headers have them"], sep="\n")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
