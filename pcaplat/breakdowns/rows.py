"""Rows: from counts to the figures of each segment, direction and key."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from pcaplat.breakdowns.counting import CELL, COUNTED, BreakdownCounts, Sums
from pcaplat.breakdowns.keys import FIRST, FLOW, LATER, MOST_KEYS, NO_KEY, REST, Label
from pcaplat.breakdowns.lines import LINK, Line
from pcaplat.breakdowns.losses import apportioned, lost_cells
from pcaplat.metrics.bias import waiting_ns
from pcaplat.metrics.bursts import loss_ratio
from pcaplat.metrics.means import NOT_ASKED, TOO_FEW, TRIMMED_AWAY, Measurement, coarse_ns, of_means
from pcaplat.metrics.runs import MeasuredRun
from pcaplat.model.blocks import N_BLOCKS, Blocks, BlockTimes
from pcaplat.records import dataclass
from pcaplat.statistics.intervals import CONFIDENCE, LEAST_BLOCKS, SHORT_BLOCK, Estimate
from pcaplat.statistics.loss_ratio import LossEstimate, count_se_of
from pcaplat.tables.columns import Row
from pcaplat.tables.results import holding
from pcaplat.units import format_ns

MOST_RESAMPLED = 1_000
"""Rows of a breakdown that get an interval of their loss: those with the most packets."""

FIGURES = ("mean_ns", "p50_ns", "p99_ns", "max_ns", "min_ns", "pdv_p99_ns")

LATENCIES = {"p50_ns": 0.5, "p99_ns": 0.99}
VARIATIONS = {"ipdv_p50_ns": 0.5, "ipdv_p99_ns": 0.99}

NONE_CAME = "none of these packets came through"
UNRELATED = "the clocks of the two points cannot be related, so no one-way latency is reported"
NOT_AMONG = f"intervals are resampled for the {MOST_RESAMPLED:,} rows with the most packets only"
ONE_SIZE = "all frames have the same length, so the cost of a byte is unknown"
PROTOCOLS = {1: "ICMP", 6: "TCP", 17: "UDP", 58: "ICMPv6", 132: "SCTP"}
NO_NAMES = {"flow": "not IP", "dscp": "not IP", "tunnel": "no tunnel"}
FIRST_NAMES = {
    FIRST: "first of its flow",
    LATER: "later",
    NO_KEY: "not IP",
    REST: f"of flows beyond {MOST_KEYS:,}",
}
IntervalOrReason = tuple[str | None, float | None, float | None]
"""Why there is no interval, and the ends of the one there is."""


@dataclass(frozen=True)
class Broken:
    """The run that is broken down; `segments` are two for each link, forward and reverse."""

    run: MeasuredRun
    segments: Sequence[Mapping[str, Any]]
    times: BlockTimes
    is_resampled: bool


def rows_of(
    broken: Broken, counts: BreakdownCounts, lost: Sums, about: tuple[str, Sequence[Label], int]
) -> list[Row]:
    """Give the rows of a breakdown, in path order; flows by their packets, others by their key.

    `about` is what it is by, labels by their numbers, and how long a window is.
    """
    blocks = waited(broken, counts.blocks.total())
    cells = _cells(broken, counts, lost, blocks)
    by = [*LINK, "n", "key"] if about[0] == "flow" else CELL
    cells = cells.sort(by, descending=[name == "n" for name in by])
    largest = largest_of(cells, pl.col("n") + pl.col("n_lost"), CELL)
    parts, lost_parts = (
        of.join(largest, on=CELL, how="semi").partition_by(CELL, as_dict=True)
        for of in (blocks, lost.total())
    )
    is_among = set(largest.iter_rows())
    rows = []
    for cell in cells.iter_rows(named=True):
        segment = broken.segments[2 * cell["link"] + cell["way"]]
        at = (cell["link"], cell["way"], cell["key"])
        part, lost_part = parts.get(at), lost_parts.get(at)
        why, lo_ns, hi_ns = _interval(broken, segment, cell, part)
        lost_lo, lost_hi = (
            lost_span(segment, cell, part, lost_part) if at in is_among else (None, None)
        )
        rows.append(
            _segment(segment)
            | columns_of_key(about, cell["key"], broken.times.start_ns)
            | {"n": cell["n"]}
            | _figures(cell)
            | {"mean_lo_ns": lo_ns, "mean_hi_ns": hi_ns, "interval_reason": why}
            | _counts(cell)
            | {"lost_lo_frac": lost_lo, "lost_hi_frac": lost_hi}
        )
    return rows


def largest_of(cells: pl.DataFrame, n: pl.Expr, cell: Sequence[str]) -> pl.DataFrame:
    """Name the cells that are resampled: the largest, of equal ones the first by their keys."""
    order = cells.with_columns(size=n).sort(
        "size", *cell, descending=[True, *(False for _ in cell)]
    )
    return order.head(MOST_RESAMPLED).select(cell)


def _cells(
    broken: Broken, counts: BreakdownCounts, lost: Sums, blocks: pl.DataFrame
) -> pl.DataFrame:
    """Give what was counted of each link, direction and key, with its quantiles."""
    n_lost = {divmod(at, 2): row["n_lost"] for at, row in enumerate(broken.segments) if row}
    cells = blocks.group_by(CELL).agg(
        pl.col(*COUNTED, "n_known", "sum_ns").sum(),
        pl.col("min_ns").min(),
        pl.col("max_ns").max(),
        pl.col("n_waited").sum().round().cast(pl.Int64),
    )
    # of a key all packets may be lost
    cells = cells.join(lost_cells(lost, n_lost), on=CELL, how="full", coalesce=True).with_columns(
        pl.col(*COUNTED, "n_known", "n_waited", "n_lost").fill_null(0)
    )
    for bins, names in ((counts.latencies, LATENCIES), (counts.variation, VARIATIONS)):
        for name, share in names.items():
            cells = cells.join(_quantiles(bins.total(), name, share), on=CELL, how="left")
    return cells


def waited(broken: Broken, blocks: pl.DataFrame) -> pl.DataFrame:
    """Add how many packets of each block were waited for, as the segment's were there."""
    shares = []
    for at, segment in enumerate(broken.segments):
        near, far, way = (str(segment.get(name)) for name in ("near", "far", "direction"))
        if (found := broken.run.blocks.get((near, far, way))) is not None:
            share = found.n_judged / np.maximum(found.n, 1)
            place = {"link": at // 2, "way": at % 2}
            shares.append(place | {"block": range(len(share)), "share": share})
    if not shares:
        return blocks.with_columns(n_waited=pl.col("n").cast(pl.Float64))
    keys = ("link", "way", "block")
    known = pl.concat([pl.DataFrame(one) for one in shares])
    known = known.with_columns(pl.col(name).cast(blocks.schema[name]) for name in keys)
    joined = blocks.join(known, on=keys, how="left")
    return joined.with_columns(n_waited=pl.col("n") * pl.col("share").fill_null(1.0)).drop("share")


def _counts(cell: Row) -> Row:
    """Loss, duplication and reordering, as the summary's segments have them."""
    n, n_lost = cell["n"], cell["n_lost"]
    row = {"n_lost": n_lost, "n_waited": cell["n_waited"], "lost_frac": n_lost / (n + n_lost)}
    for name in ("duplicated", "reordered"):
        row |= {f"n_{name}": cell[f"n_{name}"]}
        row |= {f"{name}_frac": cell[f"n_{name}"] / n if n else None}
    return row | {name: cell[name] for name in VARIATIONS}


def _quantiles(bins: pl.DataFrame, name: str, share: float) -> pl.DataFrame:
    """Value at the quantile of each cell (Hyndman and Fan's type 1); of many, of its bin."""
    reached = bins.with_columns(
        reached=pl.col("n").cum_sum().over(CELL),
        total=pl.col("n").sum().over(CELL),
        least_ns=pl.col("least_ns").min().over(CELL),
        most_ns=pl.col("most_ns").max().over(CELL),
    )
    is_there = pl.col("reached") >= (share * pl.col("total")).ceil()
    value = pl.col("value_ns").min().clip(pl.col("least_ns").first(), pl.col("most_ns").first())
    return reached.filter(is_there).group_by(CELL).agg(value.cast(pl.Float64).alias(name))


def _segment(row: Mapping[str, Any]) -> Row:
    return {name: row[name] for name in ("near", "far", "direction")}


def _figures(cell: Row) -> Row:
    if not cell["n_known"]:
        return dict.fromkeys(FIGURES)
    least, most, p50_ns, p99_ns = (cell[f"{name}_ns"] for name in ("min", "max", "p50", "p99"))
    mean_ns = cell["sum_ns"] / cell["n_known"]
    figures = (mean_ns, p50_ns, p99_ns, float(most), float(least), p99_ns - least)
    return dict(zip(FIGURES, figures, strict=True))


def _interval(
    broken: Broken, segment: Mapping[str, Any], cell: Row, part: pl.DataFrame | None
) -> IntervalOrReason:
    """95 % interval of a mean, or why there is none."""
    if not cell["n_known"]:
        return UNRELATED if cell["n"] else NONE_CAME, None, None
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
    return told(of_means(broken.run, ends, [blocks], clock_ns=off_ns).not_below(0.0))


def lost_span(
    segment: Mapping[str, Any], cell: Row, part: pl.DataFrame | None, lost: pl.DataFrame | None
) -> tuple[float | None, float | None]:
    """95 % interval of a loss ratio, as that of the segment is found.

    Any of the packets that could not be told apart may be of this cell.
    """
    n, n_lost = np.zeros(N_BLOCKS, np.int64), np.zeros(N_BLOCKS, np.int64)
    n_judged = cell["n_waited"] + cell["n_lost"]
    if not n_judged:  # any share may have been lost
        return 0.0, 1.0
    if part is not None:
        n[part["block"].to_numpy()] = part["n_waited"].round().to_numpy()
    if lost is not None and cell["n_lost"]:
        weights = lost["weight"].to_numpy()
        n_lost[lost["block"].to_numpy()] = apportioned(weights, cell["n_lost"])
    some = np.flatnonzero(n + n_lost)
    blocks = Blocks.of_moments(n, n, np.zeros(N_BLOCKS))
    blocks = replace(blocks, n_lost=n_lost).part(int(some[0]), int(some[-1]) + 1)
    few = LossEstimate(
        cell["n_lost"],
        n_judged,
        n_more=segment["n_maybe_lost"] or 0,
        n_fewer=segment.get("n_maybe_late") or 0,
        count_se=count_se_of(cell["n_lost"], segment["lost_spread"]),
    )
    many = replace(few, n=n_judged + (segment["n_undecided"] or 0))
    least, most = (loss_ratio(losses, [blocks]).within for losses in (many, few))
    if least is None or most is None:
        return None, None
    ends = least.interval(CONFIDENCE)[0], most.interval(CONFIDENCE)[1]
    return holding(ends, cell["n_lost"] / (cell["n"] + cell["n_lost"]))


def blocks_of(part: pl.DataFrame) -> Blocks:
    """Spread the sums of a cell over all blocks of time."""
    at = part["block"].to_numpy()
    n, sum_ns = np.zeros(N_BLOCKS, np.int64), np.zeros(N_BLOCKS, np.int64)
    squares = np.zeros(N_BLOCKS)
    n[at], sum_ns[at] = part["n_known"].to_numpy(), part["sum_ns"].to_numpy()
    squares[at] = part["sum_of_squares"].to_numpy()
    return Blocks.of_moments(n, sum_ns, squares)


def told(measurement: Measurement) -> IntervalOrReason:
    """Give the ends of an interval, or why there is none."""
    if measurement.why or not isinstance(measurement.within, Estimate):
        why = measurement.why or TOO_FEW
        return (TOO_FEW if why == TRIMMED_AWAY else why), None, None
    return None, *measurement.within.interval(CONFIDENCE)


def columns_of_key(about: tuple[str, Sequence[Label], int], key: int, start_ns: int) -> Row:
    """Columns that say what a row is of; `about`: `rows_of`."""
    kind, labels, window_ns = about
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
    slope, fixed = line.measurements(off_ns, clock_ns)
    why, lo, hi = told(slope) if broken.is_resampled else (NOT_ASKED, None, None)
    _, fixed_lo, fixed_hi = told(fixed) if broken.is_resampled else (NOT_ASKED, None, None)
    row |= dict(zip(names, (slope.value, lo, hi), strict=True))
    row |= {"fixed_ns": fixed.value, "fixed_lo_ns": fixed_lo, "fixed_hi_ns": fixed_hi}
    return row | {"interval_reason": why}
