"""The answer in a few lines: how long the path takes, where most of it goes, and what is lost."""

from collections.abc import Iterator, Sequence

from pcaplat.run.answer.view import BOTH_WAYS, LatencyLine, LatencyView
from pcaplat.tables.columns import Row
from pcaplat.units import format_count, format_frac

BYTES = {
    "first-byte": "first bytes of segmented or coalesced TCP",
    "last-byte": "last bytes of segmented or coalesced TCP",
}
"""What is timed where no whole packet is."""


def answer_lines(document: Row, latencies: LatencyView) -> Iterator[str]:
    """Give the latency of the path, its largest segment, and loss."""
    ways = [line for line in latencies.ways(latencies.ends) if line.n]
    both = latencies.together(latencies.ends)
    if not ways and len(document["edges"]) == len(document["path"]) - 1:
        yield f"No packet was seen at both {' and '.join(latencies.ends)}"
    if both and any(not line.is_known for line in ways):
        yield _of_line(both, latencies)
        yield from _bounds(ways, latencies)
    else:
        yield from (_of_line(line, latencies) for line in ways)
    if len(document["path"]) > 2:  # noqa: PLR2004 - one segment is the largest
        yield from _largest(document, latencies)
    if ways:
        yield _loss(ways)


def _of_line(line: LatencyLine, latencies: LatencyView) -> str:
    if line.figures["mean"] is None:
        return _unknown(line, latencies)
    figures = [f"{line.middle_name} {line.text(line.middle, latencies.scale)}"]
    if line.figures["p99"] is not None:
        figures.append(f"p99 {line.text('p99', latencies.scale)}")
    unit = latencies.scale.unit
    return f"{line.label}: {', '.join(f'{text} {unit}' for text in figures)} ({_population(line)})"


def _unknown(line: LatencyLine, latencies: LatencyView) -> str:
    """What is known without a clock: how much latency varies."""
    why = f"{line.label}: latency not known, because the clocks cannot be related"
    if line.variation_ns is None:
        return f"{why} ({_population(line)})"
    text = latencies.scale.with_unit(line.variation_ns)
    return f"{why}; it varies by {text} (PDV p99, {_population(line)})"


def _population(line: LatencyLine) -> str:
    what = "round trip" if line.way == BOTH_WAYS and line.is_paired else "packet"
    return f"{format_count(line.n)} {what}{'' if line.n == 1 else 's'}"


def _bounds(ways: Sequence[LatencyLine], latencies: LatencyView) -> Iterator[str]:
    """Say how much of it is one way at most."""
    bounds = [line for line in ways if line.is_bound]
    scale = latencies.scale
    why = "because the clocks are not related closely enough"
    for name in dict.fromkeys(line.middle_name for line in bounds):
        mine = [line for line in bounds if line.middle_name == name]
        texts = [f"{line.arrow} {line.text(line.middle, scale)} {scale.unit}" for line in mine]
        yield f"One way: {name} {', '.join(texts)}, {why}"


def _largest(document: Row, latencies: LatencyView) -> Iterator[str]:
    """Name the segment with the largest median: for each direction, or of all together."""
    edges = [(edge["near"], edge["far"]) for edge in document["edges"]]
    lines = [*latencies.shown(edges), *latencies.others(edges)]
    shown = [line for line in lines if line.figures["p50"] is not None]
    kinds = dict.fromkeys(line.way for line in shown)
    is_mixed = BOTH_WAYS in kinds and len(kinds) > 1
    for mine in [shown] if is_mixed else [[one for one in shown if one.way == k] for k in kinds]:
        largest = max(mine, key=_median)
        if len(mine) > 1 and not (is_mixed and _is_open_which(largest, mine)):
            text = largest.text("p50", latencies.scale)
            told = f"Largest segment: {largest.label}, median {text} {latencies.scale.unit}"
            timed = BYTES.get(largest.row.get("class", ""))
            yield f"{told} ({format_count(largest.n)} {timed})" if timed else told


def _median(line: LatencyLine) -> float:
    return line.figures["p50"] or 0.0


def _is_open_which(largest: LatencyLine, lines: Sequence[LatencyLine]) -> bool:
    """Whether a segment of both directions apart may take as long as one of both together."""
    ways = [line for line in lines if line.way != BOTH_WAYS]
    sums = [sum(_median(line) for line in ways if line.ends == one.ends) for one in ways]
    return largest.way == BOTH_WAYS and max(sums, default=0.0) >= _median(largest)


def _loss(ways: Sequence[LatencyLine]) -> str:
    """Count what the whole path lost."""
    texts = [
        f"{line.arrow} {format_frac(line.row['lost_frac'])} "
        f"({format_count(line.row['n_lost'])} of {format_count(line.n + line.row['n_lost'])})"
        for line in ways
        if line.row["n_lost"]
    ]
    return f"Lost packets: {', '.join(texts) or 'none'}"
