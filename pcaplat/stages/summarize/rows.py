"""The rows of the summary's lists."""

from collections.abc import Mapping, Sequence
from math import sqrt

import numpy as np

from pcaplat import _native
from pcaplat.model.clocks import MOST_DRIFT_PPM, Clocks, Relation
from pcaplat.model.latencies.segments import Segment
from pcaplat.model.matched import Matched, MissedCounts
from pcaplat.model.matches.false_matches import FalseMatches
from pcaplat.model.matches.reasons import reason_rows
from pcaplat.model.path import Findings
from pcaplat.model.points import Pair, Point
from pcaplat.tables.columns import Row

Z_95 = 1.96
"""Half-width of a 95 % interval in standard errors."""

QUANTILES = {"p50_ns": 0.5, "p90_ns": 0.9, "p99_ns": 0.99, "p999_ns": 0.999}

PAIRED = ("p50", "p90", "p95", "p99")
"""Quantiles of round trips, over requests that were paired with their responses."""

NO_PAIRS: Row = {"n_paired": 0} | dict.fromkeys(
    (
        *(f"{name}_ns" for name in ("paired_mean", *PAIRED)),
        *(f"{name}_{end}_ns" for name in ("paired_mean", *PAIRED) for end in ("lo", "hi")),
        "paired_interval_reason",
        "paired_interval_note",
    )
)

PDV = {"pdv_p50_ns": 0.5, "pdv_p99_ns": 0.99, "pdv_p999_ns": 0.999}
"""Latency less the least latency (RFC 5481 §4.2)."""

IPDV = {"ipdv_p50_ns": 0.5, "ipdv_p99_ns": 0.99}
"""Size of the difference from the packet before in the same flow (RFC 3393, RFC 5481)."""


def path_evidence(findings: Findings) -> list[Row]:
    """One row per edge: what says that its near end is before its far end, and how sure that is."""
    return [
        {
            "near": findings.name(one.near),
            "far": findings.name(one.far),
            "rests_on": one.rests_on,
            "n": one.n,
            "n_agreeing": one.n_agreeing,
            "distance_ns": one.distance_ns,
        }
        for one in findings.order_evidence
    ]


def segment_rows(
    findings: Findings, segments: Sequence[Segment], refuted_ns: Mapping[Pair, float] | None = None
) -> list[Row]:
    """One row per segment and direction, as in summary.json.

    Latencies are null where the clocks cannot be related; their variation (RFC 5481 §4.2) stands.

    Args:
        findings: What the survey found.
        segments: What was measured.
        refuted_ns: Of segments whose clocks were declared to be one, and are not: how far these are
            apart at least.
    """
    return [
        _ends(findings, one)
        | _counts(one)
        | _latencies(one)
        | {"clock_apart_ns": (refuted_ns or {}).get((one.near, one.far), one.relation.apart_ns)}
        | _undecided(one)
        | _bytes(one)
        | _shares(one)
        | _variation(one)
        | {"n_waited": one.n_waited}
        for one in segments
    ]


def _ends(findings: Findings, one: Segment) -> Row:
    return {
        "near": findings.name(one.near),
        "far": findings.name(one.far),
        "direction": direction_of(one),
        "class": one.kind,
    }


def direction_of(one: Segment) -> str:
    """Say which way packets went."""
    return "reverse" if one.is_reverse else "forward"


def _counts(one: Segment) -> Row:
    n_all = one.n + one.n_lost
    return {
        "n": one.n,
        "n_lost": one.n_lost,
        "lost_frac": one.n_lost / n_all if n_all else None,
        "n_late": one.n_late,
        "loss_threshold_ns": one.loss_threshold_ns,
        "lost_spread": one.lost_spread,
        "n_lost_divided": one.n_lost_divided,
        "n_duplicated": one.n_duplicated,
        "n_reordered": one.n_reordered,
    }


def _undecided(one: Segment) -> Row:
    """What identical packets could make of the mean that were not told apart."""
    is_whole = one.kind == "packet"
    row: Row = {
        "n_undecided": one.undecided.n if is_whole else None,
        "n_maybe_lost": one.undecided.n_maybe_lost if is_whole else None,
        "n_maybe_late": one.undecided.n_maybe_late if is_whole else None,
    }
    names = ("mean_least_ns", "mean_most_ns", "undecided_min_ns", "undecided_max_ns")
    row |= dict.fromkeys(names)
    measured = one.distribution
    if measured is None or not one.is_absolute or not is_whole:
        return row
    less_ns, more_ns = one.undecided.mean_ns
    row |= {
        "mean_least_ns": measured.mean_ns - less_ns,
        "mean_most_ns": measured.mean_ns + more_ns,
    }
    if one.undecided.n:
        below_ns, above_ns = one.undecided.single_ns
        row["undecided_min_ns"] = measured.mean_ns - below_ns
        row["undecided_max_ns"] = measured.mean_ns + above_ns
    return row


def _shares(one: Segment) -> Row:
    """Duplication (RFC 5560) and reordering (RFC 4737) as shares of what came out."""
    return {
        "duplicated_frac": one.n_duplicated / one.n if one.n else None,
        "reordered_frac": one.n_reordered / one.n if one.n else None,
    }


def _variation(one: Segment) -> Row:
    """Delay variation, which needs no common clock: above the least, and from packet to packet."""
    row: Row = dict.fromkeys((*PDV, *IPDV))
    if (all_of := one.distribution) is not None:
        row |= {name: all_of.quantile_ns(share) - all_of.min_ns for name, share in PDV.items()}
    if (of_neighbours := one.variation) is not None:
        row |= {name: of_neighbours.quantile_ns(share) for name, share in IPDV.items()}
    return row


def _bytes(one: Segment) -> Row:
    return {
        "matched_bytes": one.matched_bytes,
        "lost_bytes": one.lost_bytes,
        "maybe_lost_bytes": one.maybe_lost_bytes,
    }


def _latencies(one: Segment) -> Row:
    names = ("min_ns", "mean_ns", *QUANTILES, "max_ns", "mean_without_late_ns")
    row: Row = dict.fromkeys(names) | {"clock_half_width_ns": one.clock_half_width_ns}
    measured = one.distribution
    if measured is None:
        return row
    if not one.is_absolute:
        return row
    row |= {name: measured.quantile_ns(share) for name, share in QUANTILES.items()}
    extremes = {"min_ns": measured.min_ns, "mean_ns": measured.mean_ns, "max_ns": measured.max_ns}
    return row | extremes | {"mean_without_late_ns": one.mean_without_late_ns}


def round_trip_rows(findings: Findings, segments: Sequence[Segment]) -> list[Row]:
    """One row per segment that packets crossed both ways: its share of the round trip.

    The half-width is the statistical one, 95 %, as if packets were independent. Quantiles need
    requests paired with responses and are null until they are added (`add_round_trips`).
    """
    rows = []
    packets = [one for one in segments if one.kind == "packet" and one.has_round_trip]
    forward = {(one.near, one.far): one for one in packets if not one.is_reverse}
    for back in packets:
        to = forward.get((back.near, back.far))
        if not back.is_reverse or to is None or not to.distribution or not back.distribution:
            continue
        sides = (to.distribution, back.distribution)
        error = sqrt(sum(side.variance / side.n for side in sides))
        row: Row = {"near": findings.name(back.near), "far": findings.name(back.far)}
        row |= {"n": min(to.n, back.n), "mean_ns": sum(side.mean_ns for side in sides)}
        rows.append(row | {"mean_half_width_ns": Z_95 * error} | NO_PAIRS)
    return rows


def clock_rows(findings: Findings, clocks: Clocks, reference: int) -> list[Row]:
    """One row per point: its clock against the reference, in the middle of their common time."""
    points = [*findings.along, *findings.alone]
    return [_clock_row(findings, clocks, point, reference) for point in points]


def _clock_row(findings: Findings, clocks: Clocks, point: int, reference: int) -> Row:
    relation = clocks.relation(reference, point)
    middle = relation.middle
    first = clocks.relation(findings.along[0], reference)
    shift_ns = int(first.offset_ns[middle]) if first.is_known else 0
    is_known = relation.is_known
    drift_off_ppm = relation.drift_half_width_ppm
    is_bounded = drift_off_ppm is not None and drift_off_ppm < MOST_DRIFT_PPM
    return {
        "point": findings.name(point),
        "domain": str(clocks.domain[point]),
        "reference": findings.name(reference),
        "at_ns": int(clocks.knots_ns[middle]) + shift_ns if is_known else None,
        "offset_ns": float(relation.base_ns + relation.value_ns[middle]) if is_known else None,
        "half_width_ns": _half_width_ns(relation, middle) if is_known else None,
        "drift_ppm": relation.drift_ppm if is_bounded else None,
        "drift_half_width_ppm": drift_off_ppm if is_bounded else None,
        "n_support": relation.n_support,
        "quality": relation.kind.value,
        "steps": [
            {"t_ns": _on_reference(first, one.t_ns), "step_ns": one.size_ns}
            for one in relation.steps
        ],
    }


def clock_band_rows(findings: Findings, clocks: Clocks, reference: int) -> list[Row]:
    """Rows of pcaplat.tables.CLOCK_BANDS: what is known of each clock over time, steps left out."""
    rows = []
    for point in findings.along:
        relation = clocks.relation(reference, point)
        if not relation.is_known:
            continue
        value, lo, hi = relation.step_free
        columns = (relation.t_ns, relation.step_free_ns, value - lo, hi - value)
        rows += [
            {
                "point": findings.name(point),
                "t_ns": t,
                "offset_ns": at,
                "below_ns": lo,
                "above_ns": hi,
            }
            for t, at, lo, hi in zip(*(column.tolist() for column in columns), strict=True)
        ]
    return rows


def _on_reference(first: Relation, t_ns: int) -> int:
    """A time of the path's first clock on the reference's, which `first` is about."""
    if not first.is_known:
        return t_ns
    at = np.clip(np.searchsorted(first.t_ns, t_ns) - 1, 0, len(first.t_ns) - 1)
    return t_ns + int(first.offset_ns[at])


def _half_width_ns(relation: Relation, at: int) -> float:
    value = relation.value_ns[at]
    return float(max(relation.hi_ns[at] - value, value - relation.lo_ns[at]))


def matching_row(n_by_status: Mapping[str, int], false: FalseMatches | None = None) -> Row:
    """Frames by status, over all points; those that were not asked for do not count."""
    asked = {status: n for status, n in n_by_status.items() if status != "excluded"}
    row: Row = {"n_frames": sum(asked.values())}
    row |= {f"n_{status}": n for status, n in asked.items()}
    return row | {
        "false_match_frac": false.frac if false else None,
        "false_match_upper_frac": false.upper_frac if false else None,
    }


def tiers(matched: Matched) -> Row:
    """Say what it took to match: nothing but looking up, a comparison, the whole capture.

    Frames of packets that each point saw once within the time of one packet; other frames; pairs
    that were joined over the whole capture.
    """
    frames = (n for point in matched.counts for n in point)
    statuses = (status for _ in matched.counts for status in _native.STATUSES)
    n_decided = sum(
        n
        for n, status in zip(frames, statuses, strict=True)
        if status not in {"undecoded", "excluded"}
    )
    return {
        "n_plain": matched.n_plain,
        "n_compared": n_decided - matched.n_plain,
        "n_pairs_over_capture": matched.late.n,
    }


def point_rows(findings: Findings, matched: Matched) -> list[Row]:
    """Frames by status of each point, in path order; those that were not asked for do not count.

    `matched` is what the core counted.
    """
    rows = []
    for point in (*findings.along, *findings.alone):
        row = matching_row(dict(zip(_native.STATUSES, matched.counts[point], strict=True)))
        asked = {name: n for name, n in row.items() if name.startswith("n_")}
        asked |= _missed_row(matched.missed[point])
        asked |= _mirror_row(findings.points[point])
        asked["reasons"] = reason_rows(matched.n_by_reason[point])
        rows.append({"point": findings.name(point)} | asked)
    return rows


def _missed_row(missed: Sequence[MissedCounts]) -> Row:
    """What a point missed; no share where most of it may have gone another way."""
    n_missed, n_maybe, n_paused = (
        sum(of_way.n_missed for of_way in missed),
        sum(of_way.n_maybe_missed for of_way in missed),
        sum(of_way.n_paused for of_way in missed),
    )
    n = sum(of_way.n_seen for of_way in missed) + n_missed
    return {
        "n_missed": round(n_missed) if n else None,
        "n_maybe_missed": round(n_maybe) if n else None,
        "n_paused": round(n_paused) if n else None,
        "missed_frac": n_missed / n if n and n_maybe <= n_missed else None,
    }


def _mirror_row(point: Point) -> Row:
    """What a mirror lost by its own numbers; null where it has none."""
    n = point.n_mirrored + point.n_unmirrored
    is_numbered = point.mirror_gaps is not None and n > 0
    return {
        "n_unmirrored": point.n_unmirrored if is_numbered else None,
        "unmirrored_frac": point.n_unmirrored / n if is_numbered else None,
    }
