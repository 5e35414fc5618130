"""Frames: the slowest packets', how many were matched, why others not, and what may mislead."""

from collections import Counter
from collections.abc import Iterator
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from pcaplat.model.matches.reasons import MEANINGS
from pcaplat.outputs.report import Entries, Entry, Field, Grid, Paragraph, Section, fields_of
from pcaplat.run.answer.view import one_way
from pcaplat.tables.columns import Row
from pcaplat.units import format_count, format_frac, format_ns

if TYPE_CHECKING:
    import polars as pl

STATUSES = ("matched", "coalesced", "duplicate", "ambiguous", "unmatched", "undecoded")
MUCH_FRAC = 0.01
"""Of a point's frames, for one reason."""

MOST_FALSE_FRAC = 0.1
"""What is only known to be below this is not known."""

LEAST_FALSE_FRAC = 1e-8
"""Nobody cares how much less it is."""

FEW = 3

LEFT_OUT = ("unmatched", "ambiguous", "undecoded")

WITHOUT_DIRECTION = (
    "matched, but of no segment: multicast, broadcast, neighbour discovery, or without a sender's "
    "address; their direction is unknown"
)


def slowest_sections(slowest: "pl.DataFrame | None") -> Iterator[Section]:
    """Name the slowest packets' frames in each file."""
    if slowest is None or not len(slowest):
        return
    packets: dict[tuple[Any, ...], list[Row]] = {}
    for row in slowest.iter_rows(named=True):
        key = (row["near"], row["far"], row["direction"], row["rank"])
        packets.setdefault(key, []).append(row)
    firsts = [rows[0] for rows in packets.values()]
    frames = [", ".join(map(_place, rows)) for rows in packets.values()]
    fields = [
        Field("segment", list(map(one_way, firsts))),
        Field("latency", [format_ns(row["latency_ns"]) for row in firsts]),
        Field("frames", frames, is_left=True),
    ]
    yield Grid("Slowest packets, with their frames in each file", fields, only="screen")


def _place(row: Row) -> str:
    return f"{PurePath(row['file']).name}:{row['frame']}"


def frame_sections(document: Row) -> Iterator[Section]:
    """Count the frames by what became of them."""
    head, reasons = line_of_frames(document), list(lines_of_reasons(document))
    rare = list(lines_of_rare_reasons(document))
    if _are_many_without_direction(document):
        reasons = [*line_without_direction(document), *reasons]
    else:
        rare += line_without_direction(document)
    more = f"{len(reasons) - FEW} more with --verbose"
    brief = [*reasons[:FEW], more] if len(reasons) > FEW + 1 else reasons
    if rare and not reasons:
        left_out = _left_out(document) or "Some matched"
        brief = [f"{left_out} frames have no latency; reasons with --verbose"]
    yield Entries([Entry(head, brief, style="")], only="brief")
    yield Entries([Entry(head, reasons + rare, style="")], only="verbose")
    matching = document["matching"]
    counted = ("frames", *STATUSES)
    texts = {name: format_count(matching[f"n_{name}"]) for name in counted}
    yield Grid("Frames", fields_of([texts]), only="paper")
    more = (
        "More: --clocks, --requests, --budget, or all with --verbose; -o DIR (tables, report.html)"
    )
    yield Paragraph(more, style="dim", only="brief")


def line_of_frames(document: Row) -> str:
    """Say what became of all frames, and how many pairs are false."""
    matching = document["matching"]
    n_captured = sum(row["n_frames"] for row in document["captures"])
    counts = {status: n for status in STATUSES if (n := matching[f"n_{status}"])}
    doubt = false_matches(matching["false_match_frac"], matching["false_match_upper_frac"])
    n = format_count(matching["n_frames"])
    if matching["n_frames"] < n_captured:
        n += f" of {format_count(n_captured)} asked for"
    elif [*counts] == ["matched"]:
        return f"Frames: all {n} matched{doubt}"
    return f"Frames: {n}, {', '.join(f'{format_count(n)} {s}' for s, n in counts.items())}{doubt}"


def lines_of_reasons(document: Row) -> Iterator[str]:
    """Say why frames stand in no match, each reason that a point has for one in 100 or more."""
    for point, row in _not_matched(document):
        frac = row["n"] / point["n_frames"]
        if frac >= MUCH_FRAC:
            meaning = MEANINGS[row["status"], row["reason"]]
            much = f"{format_count(row['n'])} {row['status']} ({format_frac(frac)})"
            yield f"{point['point']}: {much}: {meaning}"


def lines_of_rare_reasons(document: Row) -> Iterator[str]:
    """Say why the other frames stand in no match, those of all points together."""
    n: Counter[tuple[str, str]] = Counter()
    for point, row in _not_matched(document):
        if row["n"] / point["n_frames"] < MUCH_FRAC:
            n[row["status"], row["reason"]] += row["n"]
    for (status, reason), n_frames in n.most_common():
        yield f"{format_count(n_frames)} {status}: {MEANINGS[status, reason]}"


def line_without_direction(document: Row) -> Iterator[str]:
    """Say how many frames are matched and of no segment."""
    if n := document["matching"].get("n_without_direction"):
        yield f"{format_count(n)} {WITHOUT_DIRECTION}"


def _are_many_without_direction(document: Row) -> bool:
    matching = document["matching"]
    n = matching.get("n_without_direction") or 0
    return bool(n >= MUCH_FRAC * matching["n_frames"])


def _not_matched(document: Row) -> Iterator[tuple[Row, Row]]:
    """Give every reason of a point for which frames stand in no match."""
    for point in document.get("points", ()):
        yield from ((point, row) for row in point["reasons"] if row["status"] in LEFT_OUT)


def _left_out(document: Row) -> str:
    """Name the statuses of frames without a latency that occur, like "Ambiguous and unmatched"."""
    found = [status for status in LEFT_OUT if document["matching"][f"n_{status}"]]
    return " and ".join([", ".join(found[:-1]), found[-1]] if found[1:] else found).capitalize()


def false_matches(frac: float | None, upper_frac: float | None) -> str:
    """How many pairs are false; of none that was found, how many there are at most.

    Example:
        >>> false_matches(2e-4, 5e-4), false_matches(0.0, 0.01)
        ('; false matches: 0.02 %', '; false matches: below 1 %')
        >>> false_matches(0.0, 0.0)
        '; false matches: below 0.000001 %'
        >>> false_matches(0.0, 1.0)
        '; false matches: too few pairs for an estimate'
    """
    if frac is None or upper_frac is None:
        return ""
    if not frac and upper_frac >= MOST_FALSE_FRAC:
        return "; false matches: too few pairs for an estimate"
    if frac:
        return f"; false matches: {format_frac(frac)}"
    return f"; false matches: below {format_frac(max(upper_frac, LEAST_FALSE_FRAC))}"
