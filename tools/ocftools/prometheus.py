# SPDX-License-Identifier: BSD-2-Clause
"""What devices have done in Prometheus' text format, for the textfile collector
of its node exporter."""

import itertools
from typing import Any, Iterator

LAST_NS = 1 << 32                 # the kernel's last bucket has no end
STATES = ("testing", "ready", "suspect", "drained", "draining", "dead")

# The metric, its type, the kernel's counter, what it means: docs/admin.md.
COUNTERS = (
    ("operations_total", "counter", "operations",
     "Requests that have ended, with or without error."),
    ("bytes_total", "counter", "bytes",
     "Bytes of the requests that have ended without error."),
    ("errors_total", "counter", "errors",
     "Requests that have ended with an error."),
    ("replays_total", "counter", "replays",
     "Requests that another device did in the end."),
    ("inflight", "gauge", "inflight", "Requests in the device."),
    ("waiting", "gauge", "waiting", "Requests that wait for the device."),
    ("blocks_total", "counter", "blocks",
     "Times that the driver has said that the device is full."),
    ("spurious_total", "counter", "spurious",
     "Completions of requests that were complete."),
    ("evictions_total", "counter", "evictions",
     "Sessions that lost their place in the device's full memory to others."),
    ("public_key_operations_total", "counter", "pk_operations",
     "Public-key operations that have ended, with or without error."),
    ("public_key_errors_total", "counter", "pk_errors",
     "Public-key operations that have ended with an error."),
    ("public_key_replays_total", "counter", "pk_replays",
     "Public-key operations that another device did in the end."),
    ("public_key_inflight", "gauge", "pk_inflight",
     "Public-key operations in the device."),
    ("public_key_waiting", "gauge", "pk_waiting",
     "Public-key operations that wait for the device."),
)


def head(name: str, kind: str, meaning: str) -> list[str]:
    return [f"# HELP ocf_{name} {meaning}", f"# TYPE ocf_{name} {kind}"]


def line(name: str, fact: dict[str, Any], value: object, **labels: str) -> str:
    named = {"device": fact["name"], "kind": fact["kind"], **labels}
    inside = ",".join(f'{k}="{v}"' for k, v in named.items())
    return f"ocf_{name}{{{inside}}} {value}"


def states(facts: list[dict[str, Any]]) -> list[str]:
    return head("state", "gauge", "1 for the state that the device is in.") + [
        line("state", f, int(f["state"] == state), state=state)
        for f in facts for state in STATES]


def latencies(facts: list[dict[str, Any]], name: str, kind: str,
              meaning: str) -> Iterator[str]:
    """Of a @kind of requests, in buckets of powers of two."""
    yield from head(name, "histogram", meaning)
    for f in facts:
        counts = {2 * b["from_ns"]: b["count"] for b in f[kind]}
        sums = list(itertools.accumulate(counts.values()))
        for end, so_far in zip(counts, sums):
            # the last one has all that is longer
            if end < LAST_NS:
                yield line(f"{name}_bucket", f, so_far, le=f"{end / 1e9:.9g}")
        total = sums[-1] if sums else 0
        yield line(f"{name}_bucket", f, total, le="+Inf")
        yield line(f"{name}_count", f, total)


def page(facts: list[dict[str, Any]]) -> str:
    """Of devices with their counters; ends with a newline."""
    lines = states(facts)
    for name, kind, counter, meaning in COUNTERS:
        lines += head(name, kind, meaning)
        lines += [line(name, f, f["counters"][counter]) for f in facts
                  if counter in f["counters"]]
    # of the CPU's symmetric requests one in 16 is timed
    lines += latencies(facts, "latency_seconds", "latency",
                       "Time of requests in the device, in powers of two.")
    lines += latencies([f for f in facts if "pk_operations" in f["counters"]],
                       "public_key_latency_seconds", "public_key_latency",
                       "Time of public-key operations in the device, in powers "
                       "of two.")
    return "\n".join([*lines, ""])
