# SPDX-License-Identifier: BSD-2-Clause
"""What happened between two looks at the devices."""

from typing import Any

from .sysfs import Sample

# Counted up; the others are as of now.
RISING = ("operations", "bytes", "errors", "blocks", "spurious", "replays",
          "evictions", "pk_operations", "pk_errors", "pk_replays")


def between(new: dict[int, int], old: dict[int, int]) -> dict[int, int]:
    """The latencies of what ended between two histograms.

    A count that is lower than before belongs to another device of the same
    name, plugged in after the counters were read: it is left out.
    """
    found = {start: n - old.get(start, 0) for start, n in new.items()}
    return {start: n for start, n in found.items() if n > 0}


def percentile(latency: dict[int, int], share: float) -> float | None:
    """The latency in ns that @share of the requests do not exceed.

    The bucket is exact, and spans a factor of two.  Inside it latencies are
    taken to be spread evenly on a logarithmic scale, as buckets are.
    """
    before, wanted = 0, share * sum(latency.values())
    for start, n in sorted(latency.items()):
        if before + n >= wanted:
            return start * 2 ** ((wanted - before) / n)
        before += n
    return None


def restarted(new: Sample, old: Sample) -> bool:
    """It is another device of the same name: counters never fall."""
    return any(new.count(k) < old.count(k) for k in RISING)


def rate(new: Sample, old: Sample | None, seconds: float) -> dict[str, Any]:
    """Of a device; zeros if it was not there before."""
    if old is None or restarted(new, old):
        old = new
    did = {k: new.count(k) - old.count(k) for k in RISING}
    took = between(new.latency, old.latency)
    pk_took = between(new.pk_latency, old.pk_latency)
    return {
        "state": new.state,
        "operations": did["operations"], "bytes": did["bytes"],
        "errors": did["errors"], "replays": did["replays"],
        "operations_per_s": did["operations"] / seconds,
        "bytes_per_s": did["bytes"] / seconds,
        "errors_per_s": did["errors"] / seconds,
        "inflight": new.count("inflight"), "waiting": new.count("waiting"),
        "pk_operations": did["pk_operations"], "pk_errors": did["pk_errors"],
        "pk_replays": did["pk_replays"],
        "pk_operations_per_s": did["pk_operations"] / seconds,
        "pk_errors_per_s": did["pk_errors"] / seconds,
        "pk_inflight": new.count("pk_inflight"),
        "pk_waiting": new.count("pk_waiting"),
        "p50_ns": percentile(took, 0.50), "p99_ns": percentile(took, 0.99),
        "pk_p50_ns": percentile(pk_took, 0.50),
        "pk_p99_ns": percentile(pk_took, 0.99),
    }


def rates(new: dict[str, Sample], old: dict[str, Sample],
          seconds: float) -> dict[str, dict[str, Any]]:
    """Of each device, with its share of all bytes; None if there were none."""
    found = {name: rate(sample, old.get(name), seconds)
             for name, sample in new.items()}
    total = sum(r["bytes"] for r in found.values())
    for r in found.values():
        r["share"] = r["bytes"] / total if total else None
    return found
