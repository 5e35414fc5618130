"""Rows: from counts to the figures of each segment, direction and key."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from pcaplat.blocks import N_BLOCKS, Blocks, BlockTimes
from pcaplat.breakdowns import Row
from pcaplat.breakdowns.counting import CELL, Counts, Sums
from pcaplat.breakdowns.keys import FIRST, FLOW, LATER, MOST_KEYS, NO_KEY, REST, Label
from pcaplat.breakdowns.lines import LINK, Line
from pcaplat.intervals import CONFIDENCE, LEAST_BLOCKS, SHORT_BLOCK, Estimate
from pcaplat.readings import NOT_ASKED, TOO_FEW, TRIMMED_AWAY, Reading, coarse_ns, of_means
from pcaplat.scenario import MeasuredRun
from pcaplat.systematic import waiting_ns
from pcaplat.units import format_ns

MOST_RESAMPLED = 1_000
"""Rows of a breakdown that get an interval: those with the most packets."""

FIGURES = ("mean_ns", "p50_ns", "p99_ns", "max_ns", "min_ns", "pdv_p99_ns")

UNRELATED = "the clocks of the two points cannot be related, so a one-way latency cannot be told"
NOT_AMONG = f"intervals are resampled for the {MOST_RESAMPLED:,} rows with the most packets only"
ONE_SIZE = "all frames are equally long, so nothing tells what a byte costs"
PROTOCOLS = {1: "ICMP", 6: "TCP", 17: "UDP", 58: "ICMPv6", 132: "SCTP"}
NO_NAMES = {"flow": "not IP", "dscp": "not IP", "tunnel": "no tunnel"}
FIRST_NAMES = {
    FIRST: "first of its flow",
    LATER: "later",
    NO_KEY: "not IP",
    REST: f"of flows beyond {MOST_KEYS:,}",
}
Span = tuple[str | None, float | None, float | None]
"""Why there is no interval, and its ends."""


@dataclass(frozen=True)
class Broken:
    """The run that is broken down; `segments` are two for each link, forward and reverse."""

    run: MeasuredRun
    segments: Sequence[Mapping[str, Any]]
    times: BlockTimes
    is_resampled: bool


def rows_of(
    broken: Broken, kind: str, counts: Counts, labels: Sequence[Label], window_ns: int
) -> list[Row]:
    """Give the rows of a breakdown, in path order; flows by their packets, others by their key."""
    blocks = counts.blocks.total()
    cells = blocks.group_by(CELL).agg(
        pl.col("n", "n_known", "sum_ns").sum(), pl.col("min_ns").min(), pl.col("max_ns").max()
    )
    for name, share in (("p50_ns", 0.5), ("p99_ns", 0.99)):
        cells = cells.join(_quantiles(counts.bins.total(), name, share), on=CELL, how="left")
    by = [*LINK, "n", "key"] if kind == "flow" else CELL
    cells = cells.sort(by, descending=[name == "n" for name in by])
    largest = cells.top_k(MOST_RESAMPLED, by="n").select(CELL)
    parts = blocks.join(largest, on=CELL, how="semi").partition_by(CELL, as_dict=True)
    rows = []
    for cell in cells.iter_rows(named=True):
        segment = broken.segments[2 * cell["link"] + cell["way"]]
        part = parts.get((cell["link"], cell["way"], cell["key"]))
        why, lo_ns, hi_ns = _interval(broken, segment, cell, part)
        rows.append(
            _segment(segment)
            | columns_of_key(kind, cell["key"], labels, window_ns, broken.times.start_ns)
            | {"n": cell["n"]}
            | _figures(cell)
            | {"mean_lo_ns": lo_ns, "mean_hi_ns": hi_ns, "interval_reason": why}
        )
    return rows


def _quantiles(bins: pl.DataFrame, name: str, share: float) -> pl.DataFrame:
    """Middle of the bin in which the quantile of each cell lies (Hyndman and Fan's type 1)."""
    reached = bins.with_columns(
        reached=pl.col("n").cum_sum().over(CELL), total=pl.col("n").sum().over(CELL)
    )
    is_there = pl.col("reached") >= (share * pl.col("total")).ceil()
    return reached.filter(is_there).group_by(CELL).agg(pl.col("middle_ns").min().alias(name))


def _segment(row: Mapping[str, Any]) -> Row:
    return {name: row[name] for name in ("near", "far", "direction")}


def _figures(cell: Row) -> Row:
    if not cell["n_known"]:
        return dict.fromkeys(FIGURES)
    least, most = cell["min_ns"], cell["max_ns"]
    p50_ns, p99_ns = (float(min(max(cell[name], least), most)) for name in ("p50_ns", "p99_ns"))
    mean_ns = cell["sum_ns"] / cell["n_known"]
    figures = (mean_ns, p50_ns, p99_ns, float(most), float(least), p99_ns - least)
    return dict(zip(FIGURES, figures, strict=True))


def _interval(
    broken: Broken, segment: Mapping[str, Any], cell: Row, part: pl.DataFrame | None
) -> Span:
    """95 % interval of a mean, or why there is none."""
    if not cell["n_known"]:
        return UNRELATED, None, None
    if not broken.is_resampled:
        return NOT_ASKED, None, None
    if part is None:
        return NOT_AMONG, None, None
    if len(part) < LEAST_BLOCKS * SHORT_BLOCK:
        return TOO_FEW, None, None
    at = part["block"].to_numpy()
    # a flow that lived for a part of the time has blocks there only
    blocks = blocks_of(part).part(int(at.min()), int(at.max()) + 1)
    ends = (segment["near"], segment["far"])
    off_ns = (segment["clock_half_width_ns"] or 0.0) + waiting_ns(broken.run, ends)
    return told(of_means(broken.run, ends, [blocks], clock_ns=off_ns))


def blocks_of(part: pl.DataFrame) -> Blocks:
    """Spread the sums of a cell over all blocks of time."""
    at = part["block"].to_numpy()
    n, sum_ns = np.zeros(N_BLOCKS, np.int64), np.zeros(N_BLOCKS, np.int64)
    squares = np.zeros(N_BLOCKS)
    n[at], sum_ns[at] = part["n_known"].to_numpy(), part["sum_ns"].to_numpy()
    squares[at] = part["sum_of_squares"].to_numpy()
    return Blocks.of_moments(n, sum_ns, squares)


def told(reading: Reading) -> Span:
    """Give the ends of an interval, or why there is none."""
    if reading.why or not isinstance(reading.within, Estimate):
        why = reading.why or TOO_FEW
        return (TOO_FEW if why == TRIMMED_AWAY else why), None, None
    return None, *reading.within.interval(CONFIDENCE)


def columns_of_key(
    kind: str, key: int, labels: Sequence[Label], window_ns: int, start_ns: int
) -> Row:
    """Columns that say what a row is of."""
    if kind == "size":
        least, most = 1 << max(key, 0), (2 << max(key, 0)) - 1
        least = least if key > 0 else 0
        return {"key": f"{least}–{most} B", "least_bytes": least, "most_bytes": most}
    if kind == "window":
        at_ns = key * window_ns
        text = f"{'-' if at_ns < 0 else '+'}{format_ns(abs(at_ns))}"
        return {"key": text, "start_ns": start_ns + at_ns, "length_ns": window_ns}
    if kind == "first":
        return {"key": FIRST_NAMES[key]}
    special = NO_NAMES[kind] if key == NO_KEY else "the rest" if key == REST else None
    if kind == "dscp":
        return {"key": special or str(key), "dscp": None if special else key}
    if kind == "tunnel":
        number = None if special else labels[key][0]
        return {"key": special or str(number), "tunnel_id": number}
    label = (None,) * len(FLOW) if special else labels[key]
    row = dict(zip(FLOW, label, strict=True))
    return {"key": special or _flow(row)} | row


def _flow(row: Row) -> str:
    ends = (f"{row[end]} {row[f'{end}_port'] or ''}".strip() for end in ("src", "dst"))
    protocol = PROTOCOLS.get(row["protocol"], f"IP {row['protocol']}")
    return f"{protocol} {' → '.join(ends)}"


def fit_rows(broken: Broken, sums: Sums) -> list[Row]:
    """Give the rows of SIZE_FITS."""
    parts = sums.total().partition_by(LINK, as_dict=True) if sums.parts else {}
    return [_fit(broken, at, part) for at, part in _in_order(parts)]


def _in_order(parts: Mapping[Any, pl.DataFrame]) -> Iterator[tuple[int, pl.DataFrame]]:
    for (link, way), part in sorted(parts.items(), key=lambda item: item[0]):
        yield 2 * link + way, part


def _fit(broken: Broken, at: int, part: pl.DataFrame) -> Row:
    segment, n = broken.segments[at], int(part["n"].sum())
    least, most = part["min_bytes"].min(), part["max_bytes"].max()
    names = ("slope_ns_per_byte", "slope_lo_ns_per_byte", "slope_hi_ns_per_byte")
    row: Row = _segment(segment) | {"n": n, "min_bytes": least, "max_bytes": most}
    row |= dict.fromkeys((*names, "fixed_ns", "fixed_lo_ns", "fixed_hi_ns"))
    if least == most:
        return row | {"interval_reason": ONE_SIZE}
    line = Line.of(part, round(segment["p50_ns"]))
    ends, clock_ns = (segment["near"], segment["far"]), segment["clock_half_width_ns"] or 0.0
    off_ns = coarse_ns(broken.run, ends, [line.blocks]) + waiting_ns(broken.run, ends)
    slope, fixed = line.readings(off_ns, clock_ns)
    why, lo, hi = told(slope) if broken.is_resampled else (NOT_ASKED, None, None)
    _, fixed_lo, fixed_hi = told(fixed) if broken.is_resampled else (NOT_ASKED, None, None)
    row |= dict(zip(names, (slope.value, lo, hi), strict=True))
    row |= {"fixed_ns": fixed.value, "fixed_lo_ns": fixed_lo, "fixed_hi_ns": fixed_hi}
    return row | {"interval_reason": why}
