"""The answer in a few lines: how long the path takes, where most of it goes, and what is lost."""

from collections.abc import Collection, Iterator, Sequence

from pcaplat.run.answer.declared import declared_lines
from pcaplat.run.answer.route import edges_of, other_ends, route_of_whole
from pcaplat.run.answer.view import (
    ARROWS,
    BOTH_WAYS,
    WHOLE,
    LatencyLine,
    LatencyView,
    format_lost_bytes,
    two_way,
)
from pcaplat.tables.columns import Row
from pcaplat.tables.results import loss_ratio, n_judged
from pcaplat.units import format_count, format_frac

BYTES = {
    "first-byte": "first bytes of segmented or coalesced TCP",
    "last-byte": "last bytes of segmented or coalesced TCP",
}
"""What is timed where no whole packet is."""

EARLY = "negative-latency"
FEW = 2
"""So many segments are named beside the largest; of the rest, how many there are."""
PARTIAL, SHORT = "partial-capture", "short-capture"
UNJUDGED = "outside-common-time"
UNRELATED = "the clocks cannot be related"
MUCH_FRAC = 0.01
"""Of a point's frames, that were captured while others were not capturing."""


def answer_lines(document: Row, latencies: LatencyView) -> Iterator[str]:
    """Give the latency of the path, its largest segment, and loss."""
    ways = [line for line in latencies.ways(latencies.ends) if line.n]
    both = latencies.together(latencies.ends)
    route, is_one = route_of_whole(document, latencies)
    over = "" if is_one else " over several routes"
    if not ways and len(document["path"]) > 2:  # noqa: PLR2004 - one segment is the path
        yield _apart(latencies)
    if both and any(not line.is_known for line in ways):
        yield _of_line(both, latencies, over)
        yield from _one_way(ways, both, latencies)
    else:
        yield from (_of_line(line, latencies, over) for line in ways)
    if others := other_ends(document):
        yield (
            f"Further ends: {', '.join(others)}. Do: for the whole way to one of them, merge only "
            "the captures along it"
        )
    if len(document["path"]) > 2:  # noqa: PLR2004 - one segment is the largest
        yield from _largest(document, latencies, route if ways else edges_of(document))
    if document["edges"]:
        yield _loss(document, ways)
    yield from declared_lines(document)


def _apart(latencies: LatencyView) -> str:
    ends = " and ".join(latencies.ends)
    return f"From end to end: not measured, because no packet was seen at both {ends}"


def _of_line(line: LatencyLine, latencies: LatencyView, over: str = "") -> str:
    if line.figures["mean"] is None:
        return _unknown(line, latencies)
    scale = latencies.scale
    figures = [f"{line.middle_name} {line.text(line.middle, scale)} {scale.unit}"]
    if line.figures["p99"] is not None:
        figures.append(f"p99 {line.text('p99', scale)} {scale.unit}")
    if line.is_known and line.clock_ns:
        figures.append(f"clocks ± {scale.text(line.clock_ns)} {scale.unit}")
    return f"{line.label}: {', '.join(figures)} ({_population(line)}{over})"


def _unknown(line: LatencyLine, latencies: LatencyView) -> str:
    """What is known without a clock: how much latency varies."""
    because = "packets contradict the declared clock" if line.is_refuted else UNRELATED
    why = f"{line.label}: latency not known, because {because}"
    if line.variation_ns is None:
        return f"{why} ({_population(line)})"
    text = latencies.scale.with_unit(line.variation_ns)
    return f"{why}; it varies by {text} (PDV p99, {_population(line)})"


def _population(line: LatencyLine) -> str:
    what = "round trip" if line.way == BOTH_WAYS and line.is_paired else "packet"
    return f"{format_count(line.n)} {what}{'' if line.n == 1 else 's'}"


def _one_way(
    ways: Sequence[LatencyLine], both: LatencyLine, latencies: LatencyView
) -> Iterator[str]:
    """Say how much of it is one way at most, and that not both can be at once."""
    scale = latencies.scale
    timed = [line for line in ways if line.figures["mean"] is not None]
    if not any(line.is_bound for line in timed):
        return
    texts = [f"{line.arrow} {line.text(line.middle, scale)} {scale.unit}" for line in timed]
    names = dict.fromkeys(line.middle_name for line in timed)
    texts = (
        [f"{timed[0].middle_name} {texts[0]}", *texts[1:]]
        if len(names) == 1
        else [f"{line.middle_name} {text}" for line, text in zip(timed, texts, strict=True)]
    )
    total = f"{both.text(both.middle, scale)} {scale.unit}"
    yield (
        f"One way: {', '.join(texts)}, but not both at once (⇄ is {total}): the clocks are not "
        "related closely enough to divide it"
        if all(line.is_bound for line in timed) and len(timed) > 1
        else f"One way: {', '.join(texts)}: the clocks are not related closely enough to say more"
    )


def _largest(
    document: Row, latencies: LatencyView, route: Collection[tuple[str, str]]
) -> Iterator[str]:
    """Name the segment with the largest median: for each direction, or of all together."""
    edges = edges_of(document)
    on_route = [ends for ends in edges if ends in route]
    mine = [*_largest_of(on_route, latencies)]
    doubt = _doubt(document)
    yield from (_told("Largest segment", *one, latencies) + doubt for one in mine)
    elsewhere = [*_largest_of([ends for ends in edges if ends not in route], latencies)]
    most = max((_median(line) for line, _ in mine), default=0.0)
    for line, rivals in elsewhere:
        if mine and _median(line) > most:
            yield _told("Largest segment of other routes", line, rivals, latencies) + doubt


def _doubt(document: Row) -> str:
    """Say that medians are wrong where packets arrive before they left."""
    is_early = any(row["code"] == EARLY for row in document["warnings"])
    return f"; unreliable ({EARLY}, below)" if is_early else ""


def _largest_of(
    edges: Sequence[tuple[str, str]], latencies: LatencyView
) -> Iterator[tuple[LatencyLine, list[LatencyLine]]]:
    """Give the line with the largest median of each kind, and those that may be as large."""
    lines = [*latencies.shown(edges), *latencies.others(edges)]
    shown = [line for line in lines if line.figures["p50"] is not None]
    kinds = dict.fromkeys(line.way for line in shown)
    is_mixed = BOTH_WAYS in kinds and len(kinds) > 1
    for mine in [shown] if is_mixed else [[one for one in shown if one.way == k] for k in kinds]:
        largest = max(mine, key=_median)
        if len(mine) > 1 or len(edges) == 1:
            yield largest, _rivals(largest, mine)


def _told(
    what: str, largest: LatencyLine, rivals: Sequence[LatencyLine], latencies: LatencyView
) -> str:
    text = largest.text("p50", latencies.scale)
    both = ", both directions together" if largest.way == BOTH_WAYS else ""
    told = f"{what}: {largest.label}, median {text} {latencies.scale.unit}{both}"
    timed = BYTES.get(largest.row.get("class", ""))
    told += f" ({format_count(largest.n)} {timed})" if timed else ""
    if not rivals:
        return told
    more = f" and {len(rivals) - FEW} more" if len(rivals) > FEW else ""
    is_both = largest.way == BOTH_WAYS
    names = ", ".join(two_way(line.row) if is_both else line.label for line in rivals[:FEW])
    return f"{told}; not surely larger than {names}{more}"


def _median(line: LatencyLine) -> float:
    return line.figures["p50"] or 0.0


def _rivals(largest: LatencyLine, lines: Sequence[LatencyLine]) -> list[LatencyLine]:
    """Find the segments that may take as long, the longest first.

    A direction of a segment may be as long as both directions of another together only where both
    of its directions are.
    """
    least = _span(largest)[0]
    rivals: dict[object, LatencyLine] = {}
    for line in sorted(lines, key=_median, reverse=True):
        both = [one for one in lines if one.ends == line.ends]
        most = _span(line)[1]
        if largest.way == BOTH_WAYS and line.way != BOTH_WAYS:
            most = sum(_median(one) for one in both)
        if line.ends != largest.ends and most >= least:
            rivals.setdefault(line.ends if largest.way == BOTH_WAYS else line.label, line)
    return [*rivals.values()]


def _span(line: LatencyLine) -> tuple[float, float]:
    """Between what the median lies, by the clocks and by chance."""
    median_ns, clock_ns = _median(line), line.clock_ns or 0.0
    if line.is_bound:
        return max(median_ns - 2 * clock_ns, 0.0), median_ns
    low, high = line.row.get("p50_lo_ns"), line.row.get("p50_hi_ns")
    if low is None or high is None:
        return median_ns - clock_ns, median_ns + clock_ns
    return low, high


def _loss(document: Row, ways: Sequence[LatencyLine]) -> str:
    """Count what the whole path lost, and what it may have lost unseen."""
    texts = [
        f"{line.arrow} {format_frac(loss_ratio(line.row))} "
        f"({format_count(line.row['n_lost'])} of {format_count(n_judged(line.row))})"
        for line in ways
        if line.row["n_lost"]
    ]
    parts = _lost_in_part(document) if not texts else ""
    end_to_end = "none from end to end; " if parts and ways else ""
    is_known = all(row["code"] != SHORT for row in document["warnings"])
    none = "none" if is_known else "not known (the captures are shorter than the waiting time)"
    told = f"Lost packets: {', '.join(texts) or f'{end_to_end}{parts}' or none}"
    told += _lost_bytes(document, ways)
    if unjudged := _n_unjudged(document):
        told += (
            f" while all points captured; {format_count(unjudged)} frames outside that time are "
            "not judged"
        )
    elif texts and any(row["code"] == PARTIAL for row in document["warnings"]):
        told += ", while all points captured"
    return told


def _lost_bytes(document: Row, ways: Sequence[LatencyLine]) -> str:
    """Where TCP is cut or joined, packets that stayed whole may be few: bytes count all of it."""
    names = ("near", "far", "direction")
    cut = {
        tuple(row[name] for name in names)
        for row in document["segments"]
        if row["class"] != WHOLE and row["lost_bytes"] + (row.get("maybe_lost_bytes") or 0)
    }
    texts = [
        f"{line.arrow} {format_lost_bytes(line.row)} ({format_count(line.row['lost_bytes'])} of "
        f"{format_count(line.row['lost_bytes'] + line.row['matched_bytes'])})"
        for line in ways
        if tuple(line.row[name] for name in names) in cut
    ]
    return f"; lost bytes: {', '.join(texts)}" if texts else ""


def _lost_in_part(document: Row) -> str:
    """Name the segments that lost packets which do not go the whole path, the most first."""
    edges = edges_of(document)
    rows = [
        row
        for row in document["segments"]
        if row["n_lost"] and row["class"] == WHOLE and (row["near"], row["far"]) in edges
    ]
    texts = [
        f"{row['near']} {ARROWS[row['direction']]} {row['far']} {format_frac(loss_ratio(row))} "
        f"({format_count(row['n_lost'])} of {format_count(n_judged(row))})"
        for row in sorted(rows, key=lambda row: -(loss_ratio(row) or 0.0))
    ]
    more = f" and at {len(texts) - FEW} more segments" if len(texts) > FEW else ""
    return f"{', '.join(texts[:FEW])}{more}"


def _n_unjudged(document: Row) -> int:
    counted = [
        (row["n"], point["n_frames"])
        for point in document.get("points", ())
        for row in point["reasons"]
        if row["reason"] == UNJUDGED
    ]
    is_much = any(n >= MUCH_FRAC * n_frames for n, n_frames in counted)
    return sum(n for n, _ in counted) if is_much else 0
