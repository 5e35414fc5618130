"""Verdicts: a table of the claims, then what each verdict rests on."""

from collections.abc import Iterator

from pcaplat.outputs.report import (
    Entries,
    Entry,
    Grid,
    Remarks,
    Report,
    Section,
    Title,
    fields_of,
    names_of,
    warnings_of,
)
from pcaplat.tables.columns import Row
from pcaplat.units import format_bounds

FILES = {"verdicts.json": "json", "verdicts.junit.xml": "junit", "report.html": "html"}
LEFT = ("claim", "verdict", "claimed", "measured", "interval")
STYLES = {"held": "green", "refuted": "red", "undecided": "yellow"}


def report(document: Row) -> Report:
    """Say which claims hold, and why; a row for each claim."""
    rows = [row | {"assumes": "; ".join(row["assumes"])} for row in document["verdicts"]]
    return Report(document, names_of(rows), rows, _sections(document))


def _sections(document: Row) -> Iterator[Section]:
    rows = document["verdicts"]
    words = [row["verdict"] for row in rows]
    counts = (f"{words.count(word)} {word}" for word in STYLES if word in words)
    yield Title(f"Claims: {', '.join(counts)}")
    fields = fields_of([_texts(row) for row in rows], LEFT)
    yield Grid("", fields, [STYLES[word] for word in words])
    yield Entries([Entry(f"{row['id']}: {row['verdict']}", _why(row)) for row in rows], "apart")
    yield Remarks("Warnings", warnings_of(document), only="screen")
    options = document.get("options", {}).items()
    chosen = [f"Measured with --{name.replace('_', '-')} {value}" for name, value in options]
    yield Remarks("Chosen for measuring", chosen)


def _why(row: Row) -> list[str]:
    granted = [f"Assumed: {'; '.join(row['assumes'])}."] if row["assumes"] else []
    # a claim may be read as another than was meant: the figure that was judged stands beside it
    figure = [f"Figure: {row['subject']}."] if row.get("subject") else []
    source = f" ({row['source']})" if row["source"] else ""
    return [f"{row['claim']}{source}", *figure, f"Because {row['reason']}.", *granted]


def _texts(verdict: Row) -> dict[str, str]:
    """Give what a reader sees of a verdict, under its headings."""
    estimate = verdict["estimate"]
    unit = verdict["unit"]
    bounds = (verdict["lo"], verdict["hi"])
    return {
        "claim": verdict["id"],
        "verdict": verdict["verdict"],
        "claimed": format_bounds(verdict["allowed_lo"], verdict["allowed_hi"], unit),
        "measured": "–" if estimate is None else format_bounds(estimate, estimate, unit),
        "interval": "–" if None in bounds else format_bounds(*bounds, unit),
        "runs": str(verdict["n_runs"]),
    }
