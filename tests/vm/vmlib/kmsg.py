# SPDX-License-Identifier: BSD-2-Clause
"""What in a kernel log makes a run fail, whatever its command returned."""

import re

# One line of these starts a report.
REPORT = re.compile(
    r"------------\[ cut here \]"
    r"|\bWARNING: "
    r"|\bBUG: "
    r"|\bkernel BUG at "
    r"|\bOops: "
    r"|Kernel panic"
    r"|Unable to handle kernel"
    r"|general protection fault"
    r"|UBSAN: "
    r"|\bINFO: task .* blocked for more than"
    r"|\bINFO: rcu.* (detected|self-detected) (expedited )?stalls?"
    r"|rcu: .*(detected|self-detected) (expedited )?stalls?"
    r"|\[ INFO: .*(unsafe|possible)"
    r"|possible (recursive|circular) locking"
    r"|inconsistent lock state"
    r"|suspicious RCU usage"
    r"|list_(add|del) corruption"
    r"|kmemleak: \d+ new suspected memory leaks"
    r"|DEBUG_LOCKS_WARN_ON"
    r"|Bad page state"
    r"|\bBUG \S+ \((Not tainted|Tainted)"
    r"|Objects remaining in .* on __kmem_cache_shutdown"
    r"|unregister_netdevice: waiting for"
)

# One line of these ends it, a report without one ends after LINES lines.
END = re.compile(r"---\[ end trace|---\[ end Kernel panic|^\[[^]]*\] =+$")
LINES = 60
STAMP = re.compile(r"^\[ *\d+\.\d+\](\[ *[TC]\d+\])? ?")


def reports(log: str, allowed: list[str]) -> list[str]:
    """The reports in @log that match none of the @allowed expressions."""
    passes = [re.compile(a) for a in allowed]
    found, lines, i = [], log.splitlines(), 0
    while i < len(lines):
        if not REPORT.search(lines[i]):
            i += 1
            continue
        block = [lines[i]]
        i += 1
        while i < len(lines) and len(block) < LINES:
            block.append(lines[i])
            i += 1
            if END.search(block[-1]):
                break
        text = "\n".join(block)
        if not any(p.search(text) for p in passes):
            found.append(text)
    return found
