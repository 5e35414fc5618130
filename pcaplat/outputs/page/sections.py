"""The sections of the report: which figures stand in it, in the order of reading."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pcaplat.plots.ccdf import ccdf_figure
from pcaplat.plots.claims import claim_figures, claimed_run_figures
from pcaplat.plots.clocks import clock_figures, clock_table
from pcaplat.plots.comparison import (
    compared_run_figures,
    comparison_figures,
    loss_change_figure,
)
from pcaplat.plots.figure import ARROWS, Figure, Measured
from pcaplat.plots.loss import loss_figure
from pcaplat.plots.matching import matching_figure
from pcaplat.plots.path import path_figure
from pcaplat.plots.timeline import N_COLUMNS, timeline_figure
from pcaplat.plots.waterfall import waterfall_figure
from pcaplat.records import dataclass
from pcaplat.tables.columns import Row
from pcaplat.units import format_count, format_in, unit_for

MOST_SEGMENTS, MOST_TIMELINES, MOST_CLOCKS = 6, 3, 3
"""Segments and clocks that are drawn, so that a page stays small; the others are in tables."""

OF_CCDF = (
    "Share of the packets that took longer, against latency. Dots: quantiles; bars through them: "
    "95 % intervals, where the packets suffice for one. Clocks may shift a whole curve (± clocks)."
)
OF_CLOCKS = (
    "Bands: every offset that the packets allow, over time, less a straight line. Lines: the "
    "values used. Dashed: clock steps."
)
OF_TIME = (
    "Latency by the time at which packets set out; the darker, the more packets. Line: median. "
    "Grey ends: warm-up, which compare and validate leave out. Red triangles: lost packets. Dark "
    "triangles: late packets. Dashed: clock steps."
)


@dataclass(frozen=True)
class PageSection:
    """A part of the page: its anchor, heading, and figures; `text` stands before them."""

    anchor: str
    heading: str
    figures: Sequence[Figure]
    text: str = ""


def measured_sections(measured: Measured) -> Iterator[PageSection]:
    """Give what one run measured."""
    yield PageSection("path", "Path", [path_figure(measured)])
    waterfall = waterfall_figure(measured)
    if waterfall:
        yield PageSection("round-trip", "Round trip", [waterfall])
    ends, left_out = drawn_segments(measured, MOST_SEGMENTS)
    yield PageSection(
        "distribution", "Distribution", _ccdfs(measured, ends), f"{OF_CCDF} {left_out}"
    )
    ends, left_out = drawn_segments(measured, MOST_TIMELINES)
    yield PageSection("time", "Over time", _timelines(measured, ends), f"{OF_TIME} {left_out}")
    yield PageSection("loss", "Loss and reordering", [loss_figure(measured)])
    clocks = clock_figures(measured)[:MOST_CLOCKS]
    yield PageSection(
        "clocks", "Clocks", [clock_table(measured), *clocks], OF_CLOCKS if clocks else ""
    )
    yield PageSection("matching", "Matching", [matching_figure(measured)])
    flows = flow_figure(measured)
    if flows:
        yield PageSection("flows", "Flows", [flows])


def judged_sections(
    verdicts: Mapping[str, Any] | None, comparison: Mapping[str, Any] | None
) -> Iterator[PageSection]:
    """Give what rests on runs: verdicts, and the difference of two scenarios."""
    if verdicts:
        yield PageSection("claims", "Claims", claim_figures(verdicts))
        if runs := claimed_run_figures(verdicts):
            yield PageSection("runs-of-claims", "Runs of each claim", runs)
    if comparison:
        yield PageSection("comparison", "Comparison", comparison_figures(comparison))
        if runs := compared_run_figures(comparison):
            yield PageSection("runs", "Runs in order", runs)
        if loss := loss_change_figure(comparison):
            yield PageSection("lost-in-both", "Loss of both", [loss])


def drawn_segments(measured: Measured, n: int) -> tuple[list[tuple[str, str]], str]:
    """Choose the segments that are drawn: the whole path, and those where most time is spent.

    Returns:
        Their ends in path order, and what there is to say of the others.
    """
    rows = [row for row in measured.document["segments"] if row["class"] == "packet"]
    spent: dict[tuple[str, str], float] = {}
    for row in rows:
        if measured.blocks_of(row) is not None:
            ends = (row["near"], row["far"])
            spent[ends] = spent.get(ends, 0.0) + (row["mean_ns"] or row["pdv_p99_ns"] or 0.0)
    most = sorted(spent, key=lambda ends: -spent[ends])[:n]
    n_left_out = len(spent) - len(most)
    text = f"Drawn: the {len(most)} of {len(spent)} where most time is spent." if n_left_out else ""
    # the whole path first
    return [ends for ends in [*spent][-1:] + [*spent][:-1] if ends in most], text


def _ccdfs(measured: Measured, ends: Sequence[tuple[str, str]]) -> list[Figure]:
    return [one for each in ends if (one := ccdf_figure(measured, *each))]


def _timelines(measured: Measured, ends: Sequence[tuple[str, str]]) -> list[Figure]:
    n_columns = N_COLUMNS if len(ends) < MOST_TIMELINES else N_COLUMNS // 2
    each = ((*one, way) for one in ends for way in ARROWS)
    return [one for at in each if (one := timeline_figure(measured, *at, n_columns))]


def flow_figure(measured: Measured) -> Figure | None:
    """Give the latency of each flow as a table, where it was asked for (`--by flow`)."""
    rows: Sequence[Row] = measured.document.get("breakdowns", {}).get("by_flow", ())
    if not rows:
        return None
    unit = unit_for(row["p99_ns"] for row in rows)
    return Figure(
        "Latency of each flow",
        "One-way latency of each flow on each segment.",
        None,
        [
            "flow",
            "segment",
            "packets",
            *(f"{name}, {unit}" for name in ("p50", "p99", "mean")),
            "lost",
        ],
        [_flow_cells(row, unit) for row in sorted(rows, key=lambda row: -row["n"])],
    )


def _flow_cells(row: Row, unit: str) -> list[str]:
    return [
        row["key"],
        f"{row['near']} {ARROWS[row['direction']]} {row['far']}",
        format_count(row["n"]),
        *(format_in(row[f"{name}_ns"], unit) for name in ("p50", "p99", "mean")),
        format_count(row["n_lost"]),
    ]
