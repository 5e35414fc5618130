"""Error budget: what every mean of a summary is uncertain by, term by term, and what to do.

Terms as in RFC 7679: how far clocks may be off (Esynch), how coarse stamps are (Rsource, Rdest).
What is not known (how long a mirror kept a frame, say) is null, not 0.
"""

import itertools
from collections.abc import Iterator, Mapping
from typing import Any

from pcaplat.diagnostics.catalogue import diagnose
from pcaplat.metrics.bias import convention, drift_ns
from pcaplat.metrics.means import Measurement
from pcaplat.metrics.metric import MetricQuery
from pcaplat.metrics.registry import read
from pcaplat.metrics.runs import MeasuredRun
from pcaplat.metrics.undecided import of_mean_ns
from pcaplat.model.diagnostic import Diagnostic
from pcaplat.statistics.intervals import CONFIDENCE
from pcaplat.tables.columns import Row
from pcaplat.units import format_in, unit_for

MOST_APART = 0.01
"""Of the whole path's share: farther apart, the sums are not of the same packets."""

REMEDIES = {
    "statistical": "capture for longer, or one kind of traffic (--filter)",
    "resolution": "capture nanoseconds (tcpdump --time-stamp-precision=nano), no interrupts held "
    "back (ethtool -C INTERFACE rx-usecs 0)",
    "clock": "declare points that share a clock (--same-clock), or how far it may be off "
    "(--clock-accuracy); in the round-trip contribution clocks cancel",
    "drift": "capture on one clock, or synchronise the clocks (PTP)",
    "mirror_queue": "mirror each direction to a port of its own, or to a faster port, or use a "
    "tap; latency to the mirrored point is too long by up to this, latency from it too short",
    "stamp_convention": "declare what timestamps mark (--stamped-at POINT=first-bit, last-bit or "
    "host) and how fast the link is (--link-rate POINT=10Gbit/s)",
    "ambiguity": "capture more bytes of each packet, or leave out what repeats (--filter)",
}
"""What to do about each term; also the terms, and of equal ones the first counts."""


def error_budget(run: MeasuredRun) -> list[Row]:
    """Give one row for the mean of every segment and direction, and of every round trip.

    Args:
        run: The summary, with its captures, and latencies block by block of time.

    Returns:
        Rows as `pcaplat.tables.ERROR_BUDGET` has them; `direction` null: the two-way contribution.
    """
    return [_budget(row) for row in _rows(run)]


def _rows(run: MeasuredRun) -> Iterator[Row]:
    for key, row in run.segments.items():
        if row["mean_ns"] is None or key not in run.blocks:
            continue
        near, far, way = key
        answer = read(run, MetricQuery("one-way-latency", "mean", (near, far), way))
        queue_ns = run.late_ns("mirror_wait_ns", (near, far))
        yield (
            _ends(near, far, way)
            | _terms(answer, (row["clock_half_width_ns"], 0.0), queue_ns, of_mean_ns(row))
            | _convention(run, (near, far), is_two_way=False)
        )
    for row in run.document["round_trips"]:
        near, far = row["near"], row["far"]
        answer = read(run, MetricQuery("two-way-contribution", ends=(near, far)))
        queue_ns = run.late_ns("mirror_wait_ns", (near, far))
        sides = [run.blocks.get((near, far, way)) for way in ("forward", "reverse")]
        known = [side for side in sides if side is not None]
        drift = drift_ns(run, (near, far), known) if len(known) == len(sides) else 0.0
        rows = [run.segments.get((near, far, way)) for way in ("forward", "reverse")]
        both_ns = sum(of_mean_ns(row) for row in rows if row)
        yield (
            _ends(near, far, None)
            | _terms(answer, (0.0, drift), queue_ns, both_ns)
            | _convention(run, (near, far), is_two_way=True)
        )


def _ends(near: str, far: str, way: str | None) -> Row:
    return {"near": near, "far": far, "direction": way}


def _terms(answer: object, clock: tuple[float, float], queue_ns: float, ambiguity_ns: float) -> Row:
    """Take a mean's interval apart; `clock` is how far clocks may be off, and what drift leaves."""
    # where no queue was seen there may be one all the same
    known = {"clock_ns": clock[0], "drift_ns": clock[1], "mirror_queue_ns": queue_ns or None}
    known["ambiguity_ns"] = ambiguity_ns
    if not isinstance(answer, Measurement):
        return {"statistical_ns": None, "resolution_ns": None} | known
    half_ns = None if answer.within is None else answer.within.half_width(CONFIDENCE) - answer.bias
    resolution_ns = max(answer.bias - sum(clock) - queue_ns - ambiguity_ns, 0.0)
    return {"statistical_ns": half_ns, "resolution_ns": resolution_ns} | known


def _convention(run: MeasuredRun, ends: tuple[str, str], *, is_two_way: bool) -> Row:
    found = convention(run, ends, is_two_way=is_two_way)
    return {"stamp_convention_ns": found.ns, "stamp_convention": found.text}


def _budget(row: Row) -> Row:
    known = {name: row[f"{name}_ns"] or 0.0 for name in REMEDIES}
    largest = max(known, key=lambda name: known[name])
    if row["statistical_ns"] is None:
        largest = "statistical"
    return row | {"largest": largest, "remedy": REMEDIES[largest]}


def sum_check(document: Mapping[str, Any]) -> Row | None:
    """Compare the segments' shares of the round trip with that of the whole path.

    Means add up over packets that every point saw; what is between the two comes of packets that
    points missed, and of clocks that were taken differently.

    Returns:
        None where the path forks, or is one segment, or a share is missing.
    """
    shares = {(row["near"], row["far"]): row["mean_ns"] for row in document["round_trips"]}
    path, edges = document["path"], [(row["near"], row["far"]) for row in document["edges"]]
    is_chain = edges == list(itertools.pairwise(path))
    ends = (path[0], path[-1])
    if not is_chain or len(edges) < 2 or not {*edges, ends} <= set(shares):  # noqa: PLR2004 - one is the whole
        return None
    sum_ns = sum(shares[edge] for edge in edges)
    return {
        "near": ends[0],
        "far": ends[1],
        "sum_ns": sum_ns,
        "whole_ns": shares[ends],
        "difference_ns": sum_ns - shares[ends],
        "agrees": abs(sum_ns - shares[ends]) <= MOST_APART * abs(shares[ends]),
    }


def check_sum(check: Row | None) -> list[Diagnostic]:
    """Say that the segments' shares are not of the packets that the whole path's is of."""
    if check is None or check["agrees"]:
        return []
    unit = unit_for([check["sum_ns"], check["whole_ns"]])
    parts, whole = (format_in(check[name], unit) for name in ("sum_ns", "whole_ns"))
    text = (
        f"the round-trip contributions of the segments add up to {parts} {unit}, and that of the "
        f"whole path is {whole} {unit}"
    )
    return [diagnose("sums-disagree", None, text)]
