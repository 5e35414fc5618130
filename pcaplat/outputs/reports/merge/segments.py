"""Latency and loss of each segment."""

from collections.abc import Iterator, Sequence

from pcaplat.outputs.report import KEPT, Field, Grid, Paragraph, Section, optional
from pcaplat.outputs.reports.merge.figures import INTERVAL, NO_INTERVAL, every_figure, figure_fields
from pcaplat.run.answer.view import (
    BOTH_WAYS,
    HALF,
    LEAST_N,
    UNKNOWN,
    LatencyLine,
    LatencyView,
    format_lost_bytes,
)
from pcaplat.tables.columns import Row
from pcaplat.tables.results import loss_ratio
from pcaplat.units import Scale, format_count, format_frac

HEADINGS = (
    ("min", "min", 7),
    ("p50", "p50", KEPT),
    ("p90", "p90", 3),
    ("p99", "p99", KEPT),
    ("p99.9", "p999", 4),
    ("max", "max", 2),
    ("mean", "mean", 5),
    ("±", HALF, 6),
)


def segment_sections(document: Row, latencies: LatencyView) -> Iterator[Section]:
    """Give the segments, forward and back, and both ways together where one way is open."""
    lines = latencies.in_order()
    if lines:
        is_timed = any(line.figures["mean"] is not None or line.variation_ns for line in lines)
        unit = latencies.scale.unit
        heading = f"Latency of each segment, {unit}" if is_timed else "Packets of each segment"
        above = [at for at, line in enumerate(lines) if latencies.is_whole(line)][:1]
        yield Grid(heading, _fields(lines, latencies.scale), rule_above=above, only="screen")
        yield from _legend(lines)
    yield from every_figure("Segments", document["segments"])


def _fields(lines: Sequence[LatencyLine], scale: Scale) -> list[Field]:
    clocks = [_clock(line, scale) for line in lines]
    return [
        Field("segment", [line.label for line in lines], is_foldable=True),
        *_classes(lines),
        Field("n", [format_count(line.n) for line in lines]),
        Field("lost", [_lost(line) for line in lines]),
        *optional("lost bytes", _lost_bytes(lines), UNKNOWN, 1),
        *optional("dup", _counts(lines, "n_duplicated"), "0", 1),
        *optional("reord", _counts(lines, "n_reordered"), "0", 1),
        *figure_fields(_headings(lines), lines, scale),
        *(optional("± clock", clocks, "", 1) if any(line.clock_ns for line in lines) else []),
        *optional("PDV p99", _variation(lines, scale), UNKNOWN, 2),
    ]


def _headings(lines: Sequence[LatencyLine]) -> list[tuple[str, str, int]]:
    """Keep the mean where it stands for all of a row."""
    whole = [line for line in lines if line.row.get("class", "packet") == "packet"]
    is_kept = any(line.middle == "mean" and line.is_known for line in whole)
    return [(text, name, KEPT if is_kept and name == "mean" else r) for text, name, r in HEADINGS]


def _classes(lines: Sequence[LatencyLine]) -> list[Field]:
    classes = [line.row.get("class", "") for line in lines]
    is_cut = {*classes} - {"packet", ""}
    return [Field("class", classes, is_left=True)] if is_cut else []


def _lost(line: LatencyLine) -> str:
    return "" if line.way == BOTH_WAYS else format_frac(loss_ratio(line.row))


def _counts(lines: Sequence[LatencyLine], name: str) -> list[str]:
    return ["0" if line.way == BOTH_WAYS else format_count(line.row[name]) for line in lines]


def _lost_bytes(lines: Sequence[LatencyLine]) -> list[str]:
    """Loss in bytes, where packets are cut and joined, so that packets lost cannot tell it."""
    ways = [line.row for line in lines if line.way != BOTH_WAYS]
    if all(row["class"] == "packet" for row in ways):
        return [UNKNOWN] * len(lines)
    return [format_lost_bytes(line.row) if line.way != BOTH_WAYS else "" for line in lines]


def _clock(line: LatencyLine, scale: Scale) -> str:
    return "" if line.way == BOTH_WAYS else scale.text(line.clock_ns)


def _variation(lines: Sequence[LatencyLine], scale: Scale) -> list[str]:
    """Delay variation, which clocks do not touch, where they leave latencies open."""
    if all(line.is_known for line in lines):
        return [UNKNOWN] * len(lines)
    return ["" if line.way == BOTH_WAYS else scale.text(line.variation_ns) for line in lines]


def _legend(lines: Sequence[LatencyLine]) -> Iterator[Section]:
    """Say what signs mean that stand in the table."""
    ways = [line for line in lines if line.way != BOTH_WAYS]
    both = [line for line in lines if line.way == BOTH_WAYS]
    told = []
    if any(line.is_bound for line in ways):
        told.append("≤: upper bound, which is the difference of the timestamps plus ± clock")
    if any(line.clock_ns and not line.is_bound for line in ways if line.is_known):
        told.append(
            "± clock: clock uncertainty; it shifts a row, and the other direction the opposite way"
        )
    if both:
        told.append(
            "⇄: both directions together, over packets that have an answer; needs no common clock. "
            "n counts pairs of a packet and its answer, and a packet may be in several"
        )
    if any(line.variation_ns is not None and not line.is_known for line in ways):
        told.append("PDV: packet delay variation above the minimum (RFC 5481)")
    if any(line.figures["mean"] is not None and line.n < LEAST_N["p99"] for line in lines):
        told.append(f"{UNKNOWN}: too few packets for this quantile")
    if any(line.half_ns is not None for line in lines):
        is_lacking = any(line.half_ns is None and line.figures["mean"] is not None for line in ways)
        told.append(f"{INTERVAL}{NO_INTERVAL if is_lacking else ''}")
    if told:
        yield Paragraph(". ".join(told), is_indented=True, style="dim", only="screen")
