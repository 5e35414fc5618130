"""A scenario: one or more runs of the same set-up, and what each of them measured."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from pcaplat.instruments import CrossCheck, UsageSamples
from pcaplat.metrics.contents import Contents
from pcaplat.metrics.traffic_blocks import Rates
from pcaplat.model.blocks import Blocks, Key
from pcaplat.records import dataclass

LEAST_RUNS = 3
"""From so many runs on, the run is the unit of replication."""

WARM_UP_NS = 1_000_000_000
WARM_UP_SHARE = 0.02
MOST_WARM_UP_SHARE = 0.05
"""What is left out at either end of a run is the longer of `WARM_UP_NS` and `WARM_UP_SHARE`, but no
more than this share."""

UNNAMED = "captures"
"""Name of the scenario of captures that are given by themselves."""

WHOLE = "1/1"
"""The sample of a run of which every packet was taken."""

SIDES = {"forward": "reverse", "reverse": "forward"}


@dataclass(frozen=True)
class MeasuredRun:
    """One run: its summary, and its latencies block by block, warm-up left out; likewise rates.

    `contents` and `packet_filter` are None where nobody kept them. `sampled` are the rates of a
    sample: of its sizes and transactions they tell, not of how many there were. `choices` are the
    options that it was measured with.
    """

    name: str
    document: Mapping[str, Any]
    blocks: Mapping[Key, Blocks]
    rates: Rates | None = None
    cross_checks: Sequence[CrossCheck] = ()
    samples: UsageSamples | None = None
    memory: UsageSamples | None = None
    contents: Contents | None = None
    packet_filter: str | None = None
    sampled: Rates | None = None
    choices: Mapping[str, Any] | None = None

    def says(self, text: str) -> str:
        """Begin what is said of this run by its name, if it has one."""
        return f"{self.name}: {text}" if self.name else text

    @property
    def is_sample(self) -> bool:
        """Whether only one in so many packets was taken (--sample)."""
        return bool((self.choices or {}).get("sample", WHOLE) != WHOLE)

    @property
    def path(self) -> list[str]:
        """Points in forward order."""
        return list(self.document["path"])

    @cached_property
    def ends(self) -> tuple[str, str]:
        """First and last point of the path, as far as its points share packets."""
        path, reached = self.path, {self.path[0]}
        # neighbours stand in path order
        for edge in self.document["edges"]:
            if {edge["near"], edge["far"]} & reached:
                reached |= {edge["near"], edge["far"]}
        return path[0], [point for point in path if point in reached][-1]

    @cached_property
    def start_ns(self) -> int:
        """When it began."""
        return min((blocks.start_ns for blocks in self.blocks.values()), default=0)

    @cached_property
    def end_ns(self) -> int:
        """When it ended."""
        ends = (some.start_ns + len(some.n) * some.length_ns for some in self.blocks.values())
        return max(ends, default=0)

    @cached_property
    def answers(self) -> dict[object, object]:
        """Keep what was read from the run: claims, tables and warnings read the same figures."""
        return {}

    @cached_property
    def segments(self) -> dict[Key, Mapping[str, Any]]:
        """Rows of the summary's segments, whole packets only."""
        rows = self.document["segments"]
        return {
            (row["near"], row["far"], row["direction"]): row
            for row in rows
            if row["class"] == "packet"
        }

    def resolution_ns(self, point: str) -> float:
        """Resolution of a point's stamps; 0 where they show every nanosecond."""
        known = [
            row["resolution_ns"]
            for row in self.document["captures"]
            if row["point"] == point and row["resolution_ns"]
        ]
        resolution_ns = max(known, default=0.0)
        return resolution_ns if resolution_ns > 1 else 0.0

    def late_ns(self, name: str, points: Sequence[str]) -> float:
        """How much too late stamps of points may be in sum, by a column of the summary's captures.

        0 where nothing was seen, or an earlier version wrote the summary.
        """
        rows = self.document["captures"]
        late = [[row.get(name) or 0 for row in rows if row["point"] == point] for point in points]
        return float(sum(max(some, default=0) for some in late))


@dataclass(frozen=True)
class Scenario:
    """Runs of one set-up, by the name that claims know it by."""

    name: str
    runs: Sequence[MeasuredRun]

    @property
    def n_runs(self) -> int:
        """Number of runs."""
        return len(self.runs)

    @property
    def ends(self) -> tuple[str, str]:
        """First and last point of the path, as the first run has it."""
        return self.runs[0].ends


def trimmed(run: MeasuredRun, warm_up_ns: int | None) -> MeasuredRun:
    """Leave out both ends of a run, in whole blocks.

    Args:
        run: All of it.
        warm_up_ns: How much at either end; the usual if not given, nothing if 0.
    """
    blocks = next(iter(run.blocks.values()), None)
    if blocks is None:
        return run
    n_blocks, n_out = len(blocks.n), warm_up_blocks(blocks, warm_up_ns)
    kept = {key: some.part(n_out, n_blocks - n_out) for key, some in run.blocks.items()}
    rates = None if run.rates is None else run.rates.part(n_out, n_blocks - n_out)
    return replace(run, blocks={key: some for key, some in kept.items() if some.n_all}, rates=rates)


def warm_up_blocks(blocks: Blocks, warm_up_ns: int | None = None) -> int:
    """How many blocks are left out at either end of a run: the usual, unless it is given."""
    n_blocks, span_ns = len(blocks.n), len(blocks.n) * blocks.length_ns
    usual_ns = min(max(WARM_UP_NS, WARM_UP_SHARE * span_ns), MOST_WARM_UP_SHARE * span_ns)
    out_ns = usual_ns if warm_up_ns is None else warm_up_ns
    return min(int(np.ceil(out_ns / blocks.length_ns)), n_blocks // 2)


def oriented(run: MeasuredRun, like: MeasuredRun) -> MeasuredRun:
    """Turn a run whose path was found the other way round.

    Which end opens most flows may change from run to run; what is forward may not.
    """
    if run.ends == like.ends or run.ends[::-1] != like.ends:
        return run
    blocks = {(far, near, SIDES[way]): some for (near, far, way), some in run.blocks.items()}
    document = dict(run.document) | {"path": run.path[::-1]}
    for name in ("edges", "segments", "round_trips"):
        document[name] = [_turned(row) for row in run.document[name][::-1]]
    rates, sampled = (None if one is None else one.turned() for one in (run.rates, run.sampled))
    return replace(run, document=document, blocks=blocks, rates=rates, sampled=sampled)


def _turned(row: Mapping[str, Any]) -> dict[str, Any]:
    turned = dict(row) | {"near": row["far"], "far": row["near"]}
    return turned | ({"direction": SIDES[row["direction"]]} if "direction" in row else {})
