"""What may make the figures wrong, the gravest first, each with what cures it."""

from collections.abc import Iterator, Sequence

from pcaplat.outputs.report import Entries, Entry, Grid, Paragraph, Section, fields_of
from pcaplat.outputs.reports.merge.budget import failed_checks
from pcaplat.outputs.reports.merge.path import edge_name, unsure_edges
from pcaplat.run.answer.view import LatencyView
from pcaplat.tables.columns import Row
from pcaplat.units import format_frac

FEW = 3
MOST = 4
"""Doubts that are explained at once; the gravest come first."""
STYLES = {"error": "bold red", "warning": "yellow", "note": "dim"}
BOUND = "clocks-assumed-equal"
"""Told as what the clocks leave open, where they leave as much as the latency itself."""


def doubt_sections(document: Row, latencies: LatencyView) -> Iterator[Section]:
    """Give what invalidates figures; notes by name, and in full if all is asked for."""
    errors, warnings, notes = (_entries(document, severity) for severity in STYLES)
    clocks = [Entry("clocks", [text], "yellow") for text in _open_clocks(document, latencies)]
    checks = [Entry("check", [text], "yellow") for text in _checks(document)]
    every = [*errors, *clocks, *checks, *warnings]
    title = "Before you rely on these figures"
    yield Entries(every[:MOST], "behind", title, only="brief")
    yield from _by_name("Further", every[MOST:], "yellow")
    is_told = any(line.is_bound for line in latencies.one_way)
    left = [note for note in notes if not (is_told and note.head == f"note: {BOUND}")]
    yield from _by_name("Notes", left, "dim")
    yield Entries(every, "behind", title, only="verbose")
    yield Entries(notes, "behind", "Notes", only="verbose")
    yield from _table(document["warnings"])


def _table(rows: Sequence[Row]) -> Iterator[Section]:
    names = ("code", "point", "text")
    texts = [{name: row[name] or "" for name in names if name in row} for row in rows]
    if texts:
        yield Grid("Warnings", fields_of(texts), only="paper")


def _entries(document: Row, severity: str) -> list[Entry]:
    files = {row["file"] for row in document["captures"]}
    return [
        Entry(f"{severity}: {_head(group)}", [_text(group, files)], STYLES[severity])
        for group in _groups(document["warnings"], severity)
    ]


def _by_name(title: str, entries: Sequence[Entry], style: str) -> Iterator[Section]:
    """Name what is explained only if all is asked for."""
    if entries:
        names = "; ".join(entry.head.partition(": ")[2] or entry.head for entry in entries)
        yield Paragraph(f"{title}, explained by --verbose: {names}", style=style, only="brief")


def _open_clocks(document: Row, latencies: LatencyView) -> Iterator[str]:
    """Say which latencies the clocks leave open, and what would close them."""
    neighbours = [line for line in latencies.one_way if not latencies.is_whole(line)]
    bound = [line for line in neighbours if line.is_bound]
    if bound:
        scale = latencies.scale
        widths = sorted({scale.text(line.clock_ns) for line in bound}, key=_number)
        ends = f"± {widths[0]}" + (f" to {widths[-1]}" if len(widths) > 1 else "")
        n = len({line.ends for line in bound})
        which = "1 segment" if n == 1 else f"{n} segments"
        fits = any(row["code"] == BOUND for row in document["warnings"])
        hint = "Equal clocks would fit these packets. " if fits else ""
        yield (
            f"not related closely enough: {ends} {scale.unit} on {which}, as much as the latency "
            f"itself, so one-way figures there are only upper bounds (≤). {hint}Do: --same-clock "
            "all (or A,B) if one host, card or PTP domain timestamped these captures; or "
            "--clock-accuracy POINT=100ns"
        )
    unknown = [line for line in neighbours if line.n and line.figures["mean"] is None]
    if unknown:
        names = [*dict.fromkeys(" → ".join(line.ends) for line in unknown)]
        more = f" and {len(names) - FEW} more" if len(names) > FEW else ""
        yield (
            f"cannot be related, so no one-way latency at {', '.join(names[:FEW])}{more}. Delay "
            "variation (PDV) holds. Do: capture both directions there, or --same-clock A,B"
        )


def _number(text: str) -> float:
    return float(text.replace(",", ""))


def _checks(document: Row) -> Iterator[str]:
    """Give what does not add up; what does says nothing."""
    for row in unsure_edges(document)[:FEW]:
        agree = format_frac(row["n_agreeing"] / row["n"])
        yield (
            f"the order {edge_name(row)} is doubtful: only {agree} of {row['n']} direction "
            "changes agree; if it is wrong, near and far are exchanged. Do: --path A,B,C"
        )
    yield from failed_checks(document)


def _groups(rows: Sequence[Row], severity: str) -> list[list[Row]]:
    """Gather warnings of one code and consequence, in the order in which they were found."""
    groups: dict[tuple[str, str | None], list[Row]] = {}
    for row in rows:
        if row.get("severity", "warning") == severity:
            groups.setdefault((row["code"], row.get("consequence")), []).append(row)
    return [*groups.values()]


def _head(group: Sequence[Row]) -> str:
    code = group[0]["code"]
    points = [*dict.fromkeys(row["point"] for row in group if row["point"])]
    more = f" and {len(points) - FEW} more" if len(points) > FEW else ""
    return f"{code} at {', '.join(points[:FEW])}{more}" if points else code


def _text(group: Sequence[Row], files: set[str]) -> str:
    """Say what was found, of the first where there are several, what it does and what to do."""
    first = group[0]
    if "evidence" not in first:
        return "; ".join(dict.fromkeys(row["text"] for row in group))
    is_one = len({row["evidence"] for row in group}) == 1
    where: dict[str, list[str]] = {}
    for row in group:
        where.setdefault(_evidence(row, files), []).append(row["point"] or "")
    found = [_at(names, text, is_one=is_one) for text, names in where.items()]
    more = f"; and {len(found) - FEW} more" if len(found) > FEW else ""
    told = "; ".join(found[:FEW]) + more
    remedy = f"Do: {first['remedy']}" if first["remedy"] else ""
    return ". ".join(filter(None, [_joined(told, first["consequence"]), remedy]))


def _joined(*texts: str) -> str:
    return "; ".join(filter(None, texts))


def _evidence(row: Row, files: set[str]) -> str:
    """Give the evidence without the path of a file."""
    file, colon, rest = row["evidence"].partition(": ")
    return str(rest if colon and file in files else row["evidence"])


def _at(points: Sequence[str], evidence: str, *, is_one: bool) -> str:
    """Put evidence behind the points where it was found, if there are others."""
    names = [*dict.fromkeys(filter(None, points))]
    more = f" and {len(names) - FEW} more" if len(names) > FEW else ""
    return evidence if is_one or not names else f"{', '.join(names[:FEW])}{more}: {evidence}"
