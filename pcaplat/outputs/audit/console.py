"""Console: for each table its conclusion, cell by cell what is printed and what comes out."""

from typing import Any, TextIO

from rich.console import Console

from pcaplat.outputs.audit import N_MORE_DIGITS, cell_texts, tried_texts
from pcaplat.outputs.terminal import grid, heading, page, paragraph
from pcaplat.units import format_number

LEFT = ("row", "column", "figure", "unit", "agrees")
STYLES = {"no": "yellow", "–": "dim"}


def show(document: dict[str, Any], stream: TextIO) -> None:
    """Write the audit for people, as wide as the terminal is."""
    with page(stream) as console:
        for table in document["tables"]:
            _show_table(console, table)


def _show_table(console: Console, table: dict[str, Any]) -> None:
    heading(console, table["id"])
    heading(console, table["source"], "dim")
    console.print()
    paragraph(console, table["conclusion"])
    cells = [cell_texts(cell) for cell in table["cells"]]
    _grid(console, cells)
    reasons = dict.fromkeys(cell["reason"] for cell in table["cells"] if cell["recomputed"] is None)
    for reason in reasons:
        paragraph(console, f"Not recomputable: {reason}")
    for tried in tried_texts(table):
        paragraph(console, f"Tried on {tried}")
    _show_derived(console, table["derived"])
    for note in table["notes"]:
        paragraph(console, f"Note: {note}")


def _show_derived(console: Console, rows: list[dict[str, Any]]) -> None:
    if not rows:
        return
    for column in dict.fromkeys(row["column"] for row in rows):
        of_column = [row for row in rows if row["column"] == column]
        values = ", ".join(
            f"{row['row']}: {format_number(row['value'], N_MORE_DIGITS)}" for row in of_column
        )
        unit = "" if of_column[0]["unit"] == "1" else f", {of_column[0]['unit']}"
        paragraph(console, f"Not printed: {column}{unit} ({of_column[0]['meaning']}): {values}")


def _grid(console: Console, rows: list[dict[str, str]]) -> None:
    names = ["", *(row["row"] for row in rows)]
    # a row's name stands once
    shown = [
        row | {"row": "" if row["row"] == above else row["row"]}
        for row, above in zip(rows, names, strict=False)
    ]
    grid(console, shown, LEFT, [STYLES.get(row["agrees"], "") for row in rows])
