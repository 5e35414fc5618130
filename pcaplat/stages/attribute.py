"""Attribute: raw differences and clocks become latency per segment and direction.

    matches + clocks → segments

Between points that share a clock the latency is the difference itself. Between clocks it is the
difference less the value of the clocks' relation, and the interval of that relation is its error.
Where the clocks cannot be related there is no latency, only its variation (RFC 5481).
See docs/stages/attribute.md.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from pcaplat import _native
from pcaplat.model.blocks import Blocks, BlockTimes
from pcaplat.model.centre import Centre
from pcaplat.model.clocks import Clocks, Relation
from pcaplat.model.latencies.exchanges import Share, Trips, Wait
from pcaplat.model.latencies.segments import Distribution, Segment
from pcaplat.model.path import Findings
from pcaplat.model.points import Pair

CUT = ("first-byte", "last-byte")
"""Classes of what was cut and joined on the way: the byte that is timed."""


def attribute(
    findings: Findings,
    clocks: Clocks,
    links: Sequence[Pair],
    measured: Sequence[Sequence[Mapping[str, Any]]],
    times: BlockTimes,
) -> list[Segment]:
    """Take the clocks' share out of what was measured.

    Args:
        findings: What the survey found.
        clocks: How the clocks relate.
        links: The segments (near, far).
        measured: For each of them, forward and reverse, the core's counts: `n`, `histogram`,
            `spills` and so on; the same under the name of each class of what was cut.
        times: The blocks of time that latencies are kept by.

    Returns:
        One segment per link, direction and class that any packet or loss was seen in.
    """
    found: list[Segment] = []
    for (near, far), both in zip(links, measured, strict=True):
        for is_reverse, counts in zip((False, True), both, strict=True):
            of_link = Segments(findings, clocks.relation(near, far), (near, far), is_reverse, times)
            found += of_link.of(counts)
    return found


@dataclass(frozen=True)
class Segments:
    """What was measured of one link and direction: packets, and what was cut and joined."""

    findings: Findings
    relation: Relation
    ends: Pair
    is_reverse: bool
    times: BlockTimes

    def of(self, counts: Mapping[str, Any]) -> Iterator[Segment]:
        """Give one segment for each class that was seen, or lost."""
        yield from self._one("packet", counts, counts)
        for kind in CUT:
            yield from self._one(kind, counts[kind], counts)

    def _one(
        self, kind: str, own: Mapping[str, Any], counts: Mapping[str, Any]
    ) -> Iterator[Segment]:
        if not (own["n"] or own["n_lost"]):
            return
        distribution, blocks = self._latencies(own)
        variation = own.get("variation")
        yield Segment(
            *self.ends,
            self.is_reverse,
            own["n"],
            own["n_lost"],
            own["n_duplicated"],
            own.get("n_reordered", 0),
            self.relation,
            distribution,
            kind,
            counts["matched_bytes"],
            counts["lost_bytes"],
            blocks,
            Distribution(**variation) if variation and variation["n"] else None,
            counts["lost_spread"],
        )

    def _latencies(self, own: Mapping[str, Any]) -> tuple[Distribution | None, Blocks | None]:
        if not own["n"]:
            return None, None
        histogram, blocks = own["histogram"], own.get("blocks")
        if not self.relation.kind.is_shared:
            near, far = self.ends
            histogram = _native.attribute(
                own["spills"],
                self.is_reverse,
                clock_between(self.findings, self.relation, near, far),
                self.findings.centres[0][far if self.is_reverse else near],
                self.times,
            )
            found = histogram.pop("blocks")
            blocks = found if blocks is not None else None
        lost = own.get("lost_blocks", ())
        of_time = self.times.blocks(blocks, lost) if blocks is not None else None
        return Distribution(**histogram), of_time


def attribute_trips(
    findings: Findings,
    clocks: Clocks,
    links: Sequence[Pair],
    counted: Mapping[str, Any],
    times: BlockTimes,
) -> Trips:
    """Take the clocks' drift out of the round trips of requests and their responses.

    Args:
        findings: What the survey found.
        clocks: How the clocks relate.
        links: The segments (near, far).
        counted: What the core paired: `kinds`, and by kind `links`, `spills`, `seen`, `n_left_out`.
        times: The blocks of time that latencies are kept by.

    Returns:
        Shares and waits of all kinds that were seen.
    """
    kinds, shares = counted["kinds"], []
    for ends, spills, exact in zip(links, counted["spills"], counted["links"], strict=True):
        relation = clocks.relation(*ends)
        found = exact
        if relation.is_known and not relation.kind.is_shared:
            clock = clock_between(findings, relation, *ends)
            usual = findings.centres[0][ends[0]]
            files = list(zip(*spills, strict=True))
            found = _native.attribute_round_trips(files, clock, usual, times)
        drift_ppm = relation.drift_half_width_ppm or 0.0
        known = [(kind, one) for kind, one in zip(kinds, found, strict=True) if one["n"]]
        shares += [Share(*ends, kind, drift_ppm, *_timed(one, times)) for kind, one in known]
    n_left_out = dict(zip(kinds, counted["n_left_out"], strict=True))
    return Trips(shares, list(_waits(findings, counted, times)), n_left_out, counted["one_in"])


def _waits(findings: Findings, counted: Mapping[str, Any], times: BlockTimes) -> Iterator[Wait]:
    path = findings.components[0]
    for kind, ways in zip(counted["kinds"], counted["seen"], strict=True):
        for is_reverse, both in zip((False, True), ways, strict=True):
            for point, one in zip((path[0], path[-1]), both, strict=True):
                if one["n"]:
                    yield Wait(point, kind, is_reverse, *_timed(one, times))


def _timed(counted: Mapping[str, Any], times: BlockTimes) -> tuple[Distribution, Blocks | None]:
    known = {name: value for name, value in counted.items() if name != "blocks"}
    return Distribution(**known), times.blocks(counted["blocks"])


def with_early(
    segments: Sequence[Segment], matched: Mapping[str, Any], names: Sequence[str]
) -> Iterator[Segment]:
    """Tell segments which packet arrived earliest before it left, by the names of its files."""
    early = dict(matched["early"])
    for one in segments:
        frames = early.get((one.far, one.near) if one.is_reverse else (one.near, one.far), ())
        places = [f"{Path(names[file]).name} frame {number}" for file, number in frames]
        yield replace(one, early=f": {', '.join(places)}") if places else one


def clock_between(findings: Findings, relation: Relation, near: int, far: int) -> Centre:
    """Offset of the far clock against the near one, steps left out, over the near point's raw time.

    Where it is not known, the survey's centre stands in: constant but for drift, so that only
    variation is left in what it is subtracted from.
    """
    if relation.is_known:
        raw_ns = findings.centres[0][near].raw(relation.t_ns)
        return Centre(raw_ns, relation.step_free_ns, (relation.drift_ppm or 0.0) * 1e-6)
    return usual_difference(findings, relation, near, far)


def usual_difference(findings: Findings, relation: Relation, near: int, far: int) -> Centre:
    """A straight line through the middle of the survey's difference, with the bounded drift."""
    start_ns = findings.points[near].first_t_ns
    t_ns = np.array([start_ns])
    step = findings.centres[0][far].at(t_ns) - findings.centres[0][near].at(t_ns)
    return Centre(t_ns, step, (relation.drift_ppm or 0.0) * 1e-6)
