"""What may shift the mean of every packet of a segment alike, so that more packets do not help."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from pcaplat.metrics.runs import MeasuredRun
from pcaplat.model.blocks import Blocks
from pcaplat.model.files.stamping import is_first_bit, takes_ns
from pcaplat.records import dataclass
from pcaplat.units import format_amount, format_count, format_ns

CONVENTION = "stamp_convention"

RATES_BPS = (1e9, 10e9, 100e9)
"""Rates of links that are tried for what a frame takes, where nobody says its link's rate."""

LEAST_BYTES = 60
"""The shortest frame (IEEE 802.3), without its check sequence."""

BETWEEN_SCENARIOS = (
    ("statistical", "stays", "runs and packets scatter in both"),
    ("resolution", "stays", "traffic may be in phase with the timestamps in only one scenario"),
    ("clock", "cancels", "in round-trip contributions; in one-way latencies it stays"),
    ("drift", "stays", "clocks may drift differently in the other scenario"),
    ("mirror_queue", "stays", "queueing changes with the load"),
    (CONVENTION, "cancels", "at the same points and frame sizes"),
    ("ambiguity", "stays", "other packets are identical in the other scenario"),
)
"""Each term of the error budget, what becomes of it in the difference of two scenarios, and why."""


def between_scenarios(runs: Sequence[MeasuredRun] = ()) -> list[dict[str, Any]]:
    """Give one row for each term of the error budget: whether it cancels in a difference.

    Args:
        runs: Those of both scenarios: where stamps of a point stand for something else in one of
            them, that stays.

    Example:
        >>> [row["term"] for row in between_scenarios() if row["between"] == "cancels"]
        ['clock', 'stamp_convention']
    """
    rows = [
        {"term": term, "between": between, "why": why} for term, between, why in BETWEEN_SCENARIOS
    ]
    changed = _points_stamped_otherwise(runs)
    if changed:
        why = f"timestamps of {', '.join(changed)} do not mark the same moment in all runs"
        of_stamps = next(row for row in rows if row["term"] == CONVENTION)
        of_stamps |= {"between": "stays", "why": why}
    return rows


def _points_stamped_otherwise(runs: Sequence[MeasuredRun]) -> list[str]:
    said: dict[str, set[object]] = {}
    for run in runs:
        for row in run.document.get("captures", ()):
            moment = "first-bit" if is_first_bit(row) else row.get("stamped_at")
            said.setdefault(row["point"], set()).add(moment)
    return [point for point, moments in said.items() if len(moments) > 1]


@dataclass(frozen=True)
class StampConvention:
    """What stamps that stand for other bits of a frame may do to a mean; None: not known."""

    ns: float | None
    text: str


def convention(run: MeasuredRun, ends: tuple[str, str], *, is_two_way: bool) -> StampConvention:
    """Tell what the stamps of a segment's ends stand for, and how much that may be.

    Latencies count from first bit to first bit. A stamp of another bit is later by 8 × length /
    rate at most (RFC 1242 §3.8); one of the host is off by what nobody measured (RFC 7679 §3.7.2).
    In the two-way contribution only the lengths there and back differ.

    Args:
        run: What was measured.
        ends: Of the segment.
        is_two_way: Whether packets went there and back.
    """
    least_bytes = LEAST_BYTES if is_two_way else None
    found = [_convention_at(run, point, least_bytes) for point in ends]
    known = [one.ns for one in found if one.ns is not None]
    return StampConvention(
        max(known) if len(known) == len(found) else None, "; ".join(one.text for one in found)
    )


def _convention_at(run: MeasuredRun, point: str, least_bytes: int | None) -> StampConvention:
    rows = [row for row in run.document["captures"] if row["point"] == point]
    said = rows[0] if rows else {}
    longest = max((row.get("longest_bytes") or 0 for row in rows), default=0)
    stamped_at, rate_bps = said.get("stamped_at"), said.get("link_rate_bps")
    if stamped_at == "host":
        return StampConvention(None, f"{point}: by its host, off the wire by what nobody measured")
    if stamped_at == "first-bit":
        return StampConvention(0.0, f"{point}: first bit")
    takes = _takes(longest, rate_bps)
    if is_first_bit(said):
        return StampConvention(0.0, f"{point}: last bit, taken back to the first by {takes}")
    moment = "last bit" if stamped_at else "not declared; the last bit"
    text = f"{point}: {moment} is later than the first by {takes}"
    if rate_bps is None:
        return StampConvention(None, text)
    shortest_ns = 0.0 if least_bytes is None else takes_ns(least_bytes, rate_bps)
    return StampConvention(max(takes_ns(longest, rate_bps) - shortest_ns, 0.0), text)


def _takes(longest: int, rate_bps: float | None) -> str:
    """Say what frames take, at the rate of their link or at usual ones."""
    each = [
        f"{format_ns(takes_ns(longest, rate))} at {format_amount(rate, 'bit/s')}"
        for rate in ((rate_bps,) if rate_bps else RATES_BPS)
    ]
    return f"8 × length / rate, up to {', '.join(each)} ({format_count(longest + 4)} bytes)"


def drift_ns(run: MeasuredRun, ends: tuple[str, str], sides: list[Blocks]) -> float:
    """Bound what drift leaves of a two-way contribution.

    A clock that is off by the same all the time cancels. One that drifts is off by more where the
    packets of one direction were, if those of the other were there at another time. What the
    clocks leave open, at most from one of its edges to the other in the time of the run, is a
    slope; it counts for as long as the directions are apart.

    Args:
        run: What was measured.
        ends: Of the segment.
        sides: Its blocks, both directions.
    """
    rows = [run.segments.get((*ends, way)) for way in ("forward", "reverse")]
    halves_ns = [row["clock_half_width_ns"] or 0.0 for row in rows if row]
    first = sides[0]
    slope = 2 * max(halves_ns, default=0.0) / (first.length_ns * len(first.n))
    there, back = (np.cumsum(side.n) / side.n_all for side in sides)
    apart_ns = float(np.abs(there - back).sum()) * first.length_ns
    return slope * apart_ns


def waiting_ns(run: MeasuredRun, points: Sequence[str]) -> float:
    """Bound what batches of stamps and the queues of mirrors add or take away.

    Each makes stamps of its point later by something from 0 to that, and so a latency longer at its
    downstream end, and shorter at its upstream end.
    """
    return run.late_ns("batch_ns", points) + run.late_ns("mirror_wait_ns", points)
