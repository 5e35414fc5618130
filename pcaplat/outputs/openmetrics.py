"""OpenMetrics: a latency histogram of each segment and direction, for Prometheus and Grafana."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, TextIO

from pcaplat.tables.columns import Row
from pcaplat.text import printable

if TYPE_CHECKING:
    from pcaplat.model.blocks import Blocks
    from pcaplat.run.result import Result

LIMITS_NS = [digit * 10**power for power in range(2, 10) for digit in (1, 2, 5)]
"""Upper ends of the buckets, 100 ns to 5 s."""
NS_PER_S = 10**9
LATENCY = "pcaplat_segment_latency_seconds"
COUNTERS = {
    "lost": ("n_lost", "packets captured before a segment and at no point behind it"),
    "duplicated": ("n_duplicated", "packets that came out more than once"),
    "reordered": ("n_reordered", "packets that came out after a later one"),
}


def show_merge(result: "Result", stream: TextIO) -> None:
    """Write what a result measured of whole packets (OpenMetrics 1.0)."""
    rows = [row for row in result.document["segments"] if row["class"] == "packet"]
    blocks = {
        at: found
        for at, row in enumerate(rows)
        if row["p50_ns"] is not None
        and (found := result.blocks.get((row["near"], row["far"], row["direction"])))
    }
    stream.writelines(f"{line}\n" for line in _lines(rows, blocks))


def _lines(rows: list[Row], blocks: "Mapping[int, Blocks]") -> Iterator[str]:
    yield f"# TYPE {LATENCY} histogram"
    yield f"# UNIT {LATENCY} seconds"
    yield f"# HELP {LATENCY} One-way latency of a segment; buckets to 1 part in 2,048."
    for at, found in blocks.items():
        yield from _histogram(_labels(rows[at]), found)
    for name, (column, meaning) in COUNTERS.items():
        family = f"pcaplat_segment_{name}_packets"
        yield f"# TYPE {family} counter"
        yield f"# HELP {family} {meaning.capitalize()}."
        yield from (f"{family}_total{{{_labels(row)}}} {row[column]}" for row in rows)
    yield "# EOF"


def _histogram(labels: str, blocks: "Blocks") -> Iterator[str]:
    values, counts = blocks.bins.values, blocks.bins.in_all
    for limit_ns in LIMITS_NS:
        n = int(counts[values <= limit_ns].sum())
        yield f'{LATENCY}_bucket{{{labels},le="{limit_ns / NS_PER_S!r}"}} {n}'
    yield f'{LATENCY}_bucket{{{labels},le="+Inf"}} {blocks.n_all}'
    yield f"{LATENCY}_count{{{labels}}} {blocks.n_all}"
    yield f"{LATENCY}_sum{{{labels}}} {int(blocks.sum_ns.sum()) / NS_PER_S!r}"


def _labels(row: Row) -> str:
    return ",".join(f'{name}="{_escaped(row[name])}"' for name in ("near", "far", "direction"))


def _escaped(text: str) -> str:
    """Write a label's value as OpenMetrics §3.2 does."""
    return printable(text).replace("\\", "\\\\").replace('"', '\\"')
