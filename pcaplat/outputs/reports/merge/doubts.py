"""What may make the figures wrong, the gravest first, each with what cures it."""

from collections.abc import Iterator, Sequence

from pcaplat.outputs.report import Entries, Entry, Grid, Paragraph, Section, fields_of
from pcaplat.run.answer.view import LatencyLine, LatencyView
from pcaplat.tables.columns import Row
from pcaplat.units import format_ns

FEW = 3
MOST = 4
"""Doubts that are explained at once; the gravest come first."""
STYLES = {"error": "bold red", "warning": "yellow", "note": "dim"}
CONTRADICTED = "clock-contradiction"
LONE = "single-packet-bound"
BOUND = "clocks-assumed-equal"
"""Told as what the clocks leave open, where they leave as much as the latency itself."""


def doubt_sections(document: Row, latencies: LatencyView) -> Iterator[Section]:
    """Give what invalidates figures; notes by name, and in full if all is asked for."""
    every, notes = doubts_of(document, latencies), _entries(document, "note")
    title = "Before you rely on these figures"
    yield Entries(every[:MOST], "behind", title, only="brief")
    yield from _by_name("Further", every[MOST:], "yellow")
    is_told = any(line.is_bound for line in latencies.one_way)
    left = [note for note in notes if not (is_told and note.head == f"note: {BOUND}")]
    yield from _by_name("Notes", left, "dim")
    yield Entries(every, "behind", title, only="verbose")
    yield Entries(notes, "behind", "Notes", only="verbose")
    yield from _table(document["warnings"])


def doubts_of(document: Row, latencies: LatencyView) -> list[Entry]:
    """Give errors, what the clocks leave open, and warnings, the gravest first."""
    errors, warnings = (_entries(document, severity) for severity in ("error", "warning"))
    clocks = [Entry("clocks", [text], "yellow") for text in _open_clocks(document, latencies)]
    return [*errors, *clocks, *warnings]


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
        n, n_all = len({line.ends for line in bound}), len({line.ends for line in neighbours})
        which = f"at {n} of {n_all} segments" if n < n_all else "at every segment"
        yield (
            f"not related closely enough {which}: {ends} {scale.unit}, as much as the latency "
            f"there, so one-way figures marked ≤ are only upper bounds. "
            f"{_of_equal(document)} {_declare(document, bound)}"
        )
    unknown = [
        line
        for line in neighbours
        if line.n and line.figures["mean"] is None and not line.is_refuted
    ]
    if unknown:
        names = [*dict.fromkeys(" → ".join(line.ends) for line in unknown)]
        more = f" and {len(names) - FEW} more" if len(names) > FEW else ""
        yield (
            f"cannot be related, so no one-way latency at {', '.join(names[:FEW])}{more}. Delay "
            f"variation (PDV) holds.{_of_unknown(document, unknown)}"
        )


def _of_unknown(document: Row, unknown: Sequence[LatencyLine]) -> str:
    """Say what would relate clocks that no packets relate."""
    if any(row["code"] == CONTRADICTED for row in document["warnings"]):
        return ""
    both = " Do: capture both directions there"
    apart = [line.label for line in unknown if line.row.get("clock_apart_ns")]
    if not apart:
        return f"{both}, or --same-clock A,B"
    more = f" and {len(apart) - FEW} more" if len(apart) > FEW else ""
    return f" Packets contradict equal clocks at {', '.join(apart[:FEW])}{more}.{both}"


def _of_equal(document: Row) -> str:
    """Say where equal clocks are possible, which packets never prove."""
    codes = {row["code"] for row in document["warnings"]}
    if CONTRADICTED in codes:
        return f"{CONTRADICTED}, above, comes first."
    if not (apart := _unequal(document)):
        but = f" but those of {LONE}" if LONE in codes else ""
        return f"No packet{but} contradicts equal clocks, but none proves them."
    names = [f"{near} – {far} ({format_ns(by_ns)})" for (near, far), by_ns in apart.items()]
    more = f" and {len(names) - FEW} more" if len(names) > FEW else ""
    return f"The clocks differ at {', '.join(names[:FEW])}{more}."


def _declare(document: Row, bound: Sequence[LatencyLine]) -> str:
    """Name the points whose clocks a declaration would relate."""
    names = [*dict.fromkeys(name for line in bound for name in line.ends)]
    declared = document.get("declared_clocks", ())
    known = {row["point"] for row in declared if row["accuracy_ns"] is not None}
    open_names = [name for name in names if name not in known][:2]
    accuracy = " ".join(f"--clock-accuracy {name}=100ns" for name in open_names)
    if declared or _unequal(document):
        more = f" and {len(names) - MOST} more" if len(names) > MOST else ""
        those = f"{', '.join(names[:MOST])}{more}"
        some = f"--same-clock for those of {those} that one host or capture card timestamped"
    else:
        some = "--same-clock all (or A,B) if one host or capture card timestamped these captures"
    return f"Do: {some}" + (f"; or {accuracy}" if accuracy else "")


def _unequal(document: Row) -> dict[tuple[str, str], float]:
    """Where packets contradict equal clocks, and how far apart these are; neighbours first."""
    clocks = {row["point"]: row for row in document["clocks"]}
    edges = {(edge["near"], edge["far"]) for edge in document["edges"]}
    apart: dict[tuple[str, str], float] = {}
    for row in sorted(document["segments"], key=lambda r: (r["near"], r["far"]) not in edges):
        ends = (row["near"], row["far"])
        if (least_ns := row.get("clock_apart_ns")) and (ends in edges or not apart):
            near, far = (clocks[name]["offset_ns"] for name in ends)
            is_known = near is not None and far is not None
            apart[ends] = max(least_ns, abs(far - near)) if is_known else least_ns
    return apart


def _number(text: str) -> float:
    return float(text.replace(",", ""))


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
