"""Attribute: raw differences and clocks become latency per segment and direction.

    matches + clocks → segments

Between points that share a clock the latency is the difference itself. Between clocks it is the
difference less the value of the clocks' relation, and the interval of that relation is its error.
Where the clocks cannot be related there is no latency, only its variation (RFC 5481).
See docs/method/attribute.md.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import ceil
from pathlib import Path

import numpy as np

from pcaplat import _native
from pcaplat.model.band import Band
from pcaplat.model.blocks import Blocks, BlockTimes, CountedBlocks
from pcaplat.model.centre import Centre
from pcaplat.model.clocks import Clocks, Relation
from pcaplat.model.latencies.exchanges import Share, Trips, Wait
from pcaplat.model.latencies.segments import LEAST_WAIT, Distribution, Segment, Undecided
from pcaplat.model.matched import (
    EndCounts,
    FramePlace,
    LateCounts,
    Latencies,
    LinkCounts,
    TripCounts,
    UndecidedCounts,
)
from pcaplat.model.path import Findings
from pcaplat.model.points import Pair
from pcaplat.records import dataclass

CUT = ("first-byte", "last-byte")
"""Classes of what was cut and joined on the way: the byte that is timed."""


def attribute(
    findings: Findings,
    clocks: Clocks,
    links: Sequence[Pair],
    measured: Sequence[Sequence[LinkCounts]],
    times: BlockTimes,
) -> list[Segment]:
    """Take the clocks' share out of what was measured.

    Args:
        findings: What the survey found.
        clocks: How the clocks relate.
        links: The segments (near, far).
        measured: For each of them, forward and reverse, what the core counted.
        times: The blocks of time that latencies are kept by.

    Returns:
        One segment per link, direction and class that any packet or loss was seen in, or may be.
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

    def of(self, counts: LinkCounts) -> Iterator[Segment]:
        """Give one segment for each class that was seen, or lost."""
        if counts.n or counts.n_lost or counts.undecided.n:
            distribution, found = self._latencies(counts)
            is_exact = distribution is not None and distribution.has_exact_sums
            blocks = self.times.blocks(found, counts.lost_blocks) if found and is_exact else None
            # blocks are of the time of the first group of points
            if blocks and self.ends[0] in self.findings.components[0]:
                blocks = blocks.waited_until(self._waited_until_ns(counts))
            variation = counts.variation if counts.variation.n else None
            whole = self._one("packet", counts, distribution, counts)
            n_unwaited = blocks.n_all - int(blocks.n_judged.sum()) if blocks else 0
            whole = replace(whole, blocks=blocks, variation=variation, n_unwaited=n_unwaited)
            whole = replace(whole, undecided=self._undecided(counts))
            yield self._with_late(whole, counts.late)
        for kind, own in zip(CUT, counts.ends, strict=True):
            if own.n or own.n_lost:
                distribution, _ = self._latencies(own)
                yield self._one(kind, own, distribution, counts)

    def _waited_until_ns(self, counts: LinkCounts) -> int:
        """When the last packets set out that the core would have called lost."""
        end_ns = min(self.findings.point_cover(point)[1] for point in self.ends)
        return end_ns - counts.loss_threshold_ns

    def _with_late(self, whole: Segment, late: LateCounts) -> Segment:
        """Add what was late; where latencies are known, by the usual one of all of them."""
        whole = replace(whole, n_too_late=late.n_too_late)
        found = whole.distribution
        if found is None or not whole.is_absolute:
            return replace(whole, n_late=late.n, late_sum_ns=late.sum_ns)
        band = self._band()
        usual_ns = found.quantile_ns(0.5)
        edge_ns = max(LEAST_WAIT * usual_ns, usual_ns + (band.hi_ns if band else 0))
        n, sum_ns = found.above(edge_ns)
        return replace(whole, n_late=n, late_sum_ns=sum_ns)

    def _undecided(self, counts: LinkCounts) -> Undecided:
        """Bound what packets that could not be told apart do to the mean of all."""
        found, n = counts.undecided, counts.n
        n_maybe_lost = self._n_maybe_lost(counts.undecided)
        if not found.n or not n:
            return Undecided(found.n, n_maybe_lost, found.n_maybe_late)
        is_exact = self.relation.kind.is_shared
        sum_ns = counts.histogram.sum_ns if is_exact else counts.took_sum_ns
        mean_ns, least_ns, most_ns = (
            (sum_ns + more_ns) / (n + n_more)
            for more_ns, n_more in (
                (0, 0),
                (found.least_sum_ns, found.least_n),
                (found.most_sum_ns, found.most_n),
            )
        )
        return Undecided(
            found.n,
            n_maybe_lost,
            found.n_maybe_late,
            (max(mean_ns - least_ns, 0.0), max(most_ns - mean_ns, 0.0)),
            (mean_ns - found.least_ns, found.most_ns - mean_ns),
        )

    def _band(self) -> Band | None:
        near, far = self.ends
        way = (far, near) if self.is_reverse else (near, far)
        return self.findings.bands[self.is_reverse].get(way)

    def _n_maybe_lost(self, found: UndecidedCounts) -> int:
        """Of what seems to continue an end, a share was not captured before: so many were lost."""
        band = self._band()
        missed_frac = band.phantom_frac if band else 0.0
        return found.n_maybe_lost + ceil(missed_frac * found.n)

    def _one(
        self,
        kind: str,
        own: LinkCounts | EndCounts,
        distribution: Distribution | None,
        counts: LinkCounts,
    ) -> Segment:
        return Segment(
            *self.ends,
            self.is_reverse,
            own.n,
            own.n_lost,
            own.n_duplicated,
            own.n_reordered,
            self.relation,
            distribution,
            kind,
            counts.matched_bytes,
            counts.lost_bytes,
            counts.undecided.maybe_lost_bytes,
            lost_spread=counts.lost_spread,
            n_lost_divided=counts.n_lost_divided,
            loss_threshold_ns=counts.loss_threshold_ns,
        )

    def _latencies(
        self, own: LinkCounts | EndCounts
    ) -> tuple[Distribution | None, CountedBlocks | None]:
        """All latencies; of whole packets block by block too, between clocks anew."""
        if not own.n:
            return None, None
        if self.relation.kind.is_shared:
            return own.histogram, own.blocks if isinstance(own, LinkCounts) else None
        near, far = self.ends
        found = _native.attribute(
            own.spills,
            self.is_reverse,
            clock_between(self.findings, self.relation, near, far),
            self.findings.centres[0][far if self.is_reverse else near],
            self.times,
        )
        return found.histogram, found.blocks


def attribute_trips(
    findings: Findings,
    clocks: Clocks,
    links: Sequence[Pair],
    counted: TripCounts,
    times: BlockTimes,
) -> Trips:
    """Take the clocks' drift out of the round trips of requests and their responses.

    Args:
        findings: What the survey found.
        clocks: How the clocks relate.
        links: The segments (near, far).
        counted: What the core paired.
        times: The blocks of time that latencies are kept by.

    Returns:
        Shares and waits of all kinds that were seen.
    """
    kinds, shares = _native.TRIP_KINDS, list[Share]()
    for ends, spills, exact in zip(links, counted.spills, counted.links, strict=True):
        relation = clocks.relation(*ends)
        found = exact
        if relation.is_known and not relation.kind.is_shared:
            clock = clock_between(findings, relation, *ends)
            usual = findings.centres[0][ends[0]]
            files = list(zip(*spills, strict=True))
            found = _native.attribute_round_trips(files, clock, usual, times)
        drift_ppm = relation.drift_half_width_ppm or 0.0
        known = [(kind, one) for kind, one in zip(kinds, found, strict=True) if one.histogram.n]
        shares += [Share(*ends, kind, drift_ppm, *_timed(one, times)) for kind, one in known]
    n_left_out = dict(zip(kinds, counted.n_left_out, strict=True))
    return Trips(shares, list(_waits(findings, counted, times)), n_left_out, counted.one_in)


def _waits(findings: Findings, counted: TripCounts, times: BlockTimes) -> Iterator[Wait]:
    path = findings.components[0]
    for kind, ways in zip(_native.TRIP_KINDS, counted.seen, strict=True):
        for is_reverse, both in zip((False, True), ways, strict=True):
            for point, one in zip((path[0], path[-1]), both, strict=True):
                if one.histogram.n:
                    yield Wait(point, kind, is_reverse, *_timed(one, times))


def _timed(counted: Latencies, times: BlockTimes) -> tuple[Distribution, Blocks | None]:
    return counted.histogram, times.blocks(counted.blocks)


def with_early(
    segments: Sequence[Segment],
    early: Mapping[Pair, Sequence[FramePlace]],
    names: Sequence[str],
) -> Iterator[Segment]:
    """Tell segments which packet arrived earliest before it left, by the names of its files."""
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
