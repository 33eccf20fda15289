# SPDX-License-Identifier: BSD-2-Clause
"""What people read."""

import os
import signal
import sys
from typing import Callable, Iterable

from .sysfs import PRIVATE, Failure

NOTHING = "-"
MIB = 1 << 20


def table(head: Iterable[str], rows: Iterable[Iterable[object]],
          left: int = 1) -> list[str]:
    """Lines; the first @left columns begin on the left, the others end on the
    right."""
    cells = [[str(c) for c in row] for row in (head, *rows)]
    widths = [max(len(c) for c in column) for column in zip(*cells)]
    return ["  ".join(c.ljust(w) if n < left else c.rjust(w)
                      for n, (c, w) in enumerate(zip(row, widths))).rstrip()
            for row in cells]


def us(ns: float | None) -> str:
    return NOTHING if ns is None else f"{ns / 1000:.1f}"


def duration(ns: int) -> str:
    return f"{ns / 1e6:.0f} ms" if ns >= 10_000_000 else f"{us(ns)} us"


def mib(count: float | None) -> str:
    """Bytes, in MiB"""
    return NOTHING if count is None else f"{count / MIB:.1f}"


def per_cent(share: float | None) -> str:
    return NOTHING if share is None else f"{share * 100:.1f}"


def size(count: int) -> str:
    """Bytes, to three digits."""
    number, unit = float(count), ""
    for unit in ("", "k", "M", "G", "T", "P"):
        if number < 999.5:
            break
        number /= 1000
    return f"{number:.0f}{unit}" if not unit or number >= 100 \
        else f"{number:.3g}{unit}"


def run(name: str, work: Callable[[], int]) -> int:
    """Does @work; its failures are messages, and statuses."""
    try:
        status = work()
        sys.stdout.flush()
        return status
    except Failure as why:
        print(f"{name}: {why}", file=sys.stderr)
        return why.status
    except OSError as why:
        if isinstance(why, BrokenPipeError):
            # the reader has closed it
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 128 + signal.SIGPIPE
        hint = f": {PRIVATE}" if isinstance(why, PermissionError) and \
            str(why.filename).startswith("/sys/") else ""
        print(f"{name}: {why.filename or 'error'}: {why.strerror}{hint}",
              file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
