"""An audit: for each table its conclusion, cell by cell what is printed and what comes out."""

from collections.abc import Iterator
from dataclasses import replace

from pcaplat.outputs.report import (
    Field,
    Grid,
    Paragraph,
    Remarks,
    Report,
    Section,
    Title,
    fields_of,
)
from pcaplat.tables.columns import Row
from pcaplat.units import format_frac, format_number

COLUMNS = (
    *("table", "row", "column", "published_lo", "published_hi", "recomputed", "unit", "agrees"),
    *("deviation_frac", "reason", "convention", "rounding_lo", "rounding_hi"),
    "is_within_rounding",
)
LEFT = ("row", "column", "unit", "agrees")
STYLES = {"no": "yellow", "–": "dim"}
N_MORE_DIGITS = 2
"""Digits that a recomputed number gets beyond those that are printed."""


def report(document: Row) -> Report:
    """Say of every table whether it agrees with itself; a row for each cell."""
    tables = document["tables"]
    rows = ({"table": table["id"], **cell} for table in tables for cell in table["cells"])
    sections = (section for table in tables for section in _sections(table))
    return Report(document, COLUMNS, rows, sections)


def _sections(table: Row) -> Iterator[Section]:
    yield Title(table["id"], table["source"])
    yield Paragraph(table["conclusion"], is_indented=True)
    yield _cells(table["cells"])
    reasons = dict.fromkeys(cell["reason"] for cell in table["cells"] if cell["recomputed"] is None)
    yield Remarks("", [*reasons], lead="Not recomputable: ", only="screen")
    if table["derived"]:
        yield Paragraph("Not printed, and worth knowing:", only="paper")
        yield Grid("", fields_of([_derived(row) for row in table["derived"]]), only="paper")
    yield Remarks("Conventions tried", _tried_texts(table), lead="Tried on ")
    yield Remarks("", [*_derived_texts(table["derived"])], lead="Not printed: ", only="screen")
    yield Remarks("Notes", table["notes"], lead="Note: ")


def _cells(cells: list[Row]) -> Grid:
    texts = [_cell_texts(cell) for cell in cells]
    first, *rest = fields_of(texts, LEFT)
    reasons = Field("reason", [cell["reason"] or "" for cell in cells], only="paper")
    styles = [STYLES.get(text["agrees"], "") for text in texts]
    return Grid("", [replace(first, is_once=True), *rest, reasons], styles)


def _derived(row: Row) -> dict[str, str]:
    return {
        "row": row["row"],
        "figure": row["column"],
        "value": format_number(row["value"], N_MORE_DIGITS),
        "unit": row["unit"],
        "meaning": row["meaning"],
    }


def _derived_texts(rows: list[Row]) -> Iterator[str]:
    for column in dict.fromkeys(row["column"] for row in rows):
        mine = [_derived(row) for row in rows if row["column"] == column]
        values = ", ".join(f"{row['row']}: {row['value']}" for row in mine)
        unit = "" if mine[0]["unit"] == "1" else f", {mine[0]['unit']}"
        yield f"{column}{unit} ({mine[0]['meaning']}): {values}"


def _cell_texts(cell: Row) -> dict[str, str]:
    """Give what a reader sees of a cell, under its headings."""
    return {
        "row": cell["row"],
        "column": cell["column"],
        "unit": "" if cell["unit"] == "1" else cell["unit"],
        "published": _published(cell),
        "recomputed": format_number(cell["recomputed"], cell["n_decimals"] + N_MORE_DIGITS),
        "agrees": _agreement(cell),
        "deviation": _deviation(cell["deviation_frac"]),
    }


def _tried_texts(table: Row) -> list[str]:
    """Say, for each column on which several conventions were tried, which one fits and how well."""
    rows = table["conventions"]
    keys = dict.fromkeys((row["column"], row["is_total"]) for row in rows)
    groups = [[row for row in rows if (row["column"], row["is_total"]) == key] for key in keys]
    return [_tried(group) for group in groups if len(group) > 1]


def _tried(group: list[Row]) -> str:
    used = next(row for row in group if row["is_used"])
    others = "; ".join(f"{row['convention']}: {_fit(row)}" for row in group if not row["is_used"])
    what = "" if used["n_within_rounding"] else "; none fits, the first listed is shown"
    place = f"{used['column']} (totals)" if used["is_total"] else used["column"]
    fit = f"{_fit(used)} of {used['n_cells']} agree{what}"
    return f"{place}: {used['convention']}: {fit} (also tried: {others})"


def _fit(row: Row) -> str:
    n_more = row["n_within_rounding"] - row["n_agree"]
    return f"{row['n_agree']} (and {n_more} but for rounding)" if n_more else f"{row['n_agree']}"


def _agreement(cell: Row) -> str:
    if cell["agrees"] is None:
        return "–"
    if cell["agrees"]:
        return "yes"
    return "no (rounding)" if cell["is_within_rounding"] else "no"


def _published(cell: Row) -> str:
    ends = dict.fromkeys(
        format_number(cell[key], cell["n_decimals"]) for key in ("published_lo", "published_hi")
    )
    return " to ".join(ends)


def _deviation(value_frac: float | None) -> str:
    text = format_frac(value_frac)
    return f"+{text}" if value_frac is not None and value_frac > 0 else text
