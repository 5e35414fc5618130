"""Console: for each table its conclusion, cell by cell what is printed and what comes out."""

import os
import shutil
from io import StringIO
from typing import Any, TextIO

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from pcaplat.outputs import printable
from pcaplat.outputs.audit import N_MORE_DIGITS, cell_texts, tried_texts
from pcaplat.units import format_number

WIDTH_OF_A_PIPE = 100
LEFT = ("row", "column", "figure", "unit", "agrees")
STYLES = {"no": "yellow", "–": "dim"}
INDENT = (0, 0, 1, 2)


def show(document: dict[str, Any], stream: TextIO) -> None:
    """Write the audit for people, as wide as the terminal is."""
    text = StringIO()
    is_plain = "NO_COLOR" in os.environ or not stream.isatty()
    console = Console(
        file=text,
        width=shutil.get_terminal_size((WIDTH_OF_A_PIPE, 0)).columns,
        force_terminal=not is_plain,
        color_system=None if is_plain else "auto",
        markup=False,
        emoji=False,
        highlight=False,
    )
    for table in document["tables"]:
        _show_table(console, table)
    stream.writelines(f"{line.rstrip()}\n" for line in text.getvalue().rstrip().splitlines())


def _show_table(console: Console, table: dict[str, Any]) -> None:
    console.print(Text(printable(table["id"]), style="bold"))
    console.print(Text(printable(table["source"]), style="dim"))
    console.print()
    _paragraph(console, table["conclusion"])
    cells = [cell_texts(cell) for cell in table["cells"]]
    _grid(console, cells)
    reasons = dict.fromkeys(cell["reason"] for cell in table["cells"] if cell["recomputed"] is None)
    for reason in reasons:
        _paragraph(console, f"Not recomputable: {reason}")
    for tried in tried_texts(table):
        _paragraph(console, f"Tried on {tried}")
    _show_derived(console, table["derived"])
    for note in table["notes"]:
        _paragraph(console, f"Note: {note}")


def _show_derived(console: Console, rows: list[dict[str, Any]]) -> None:
    if not rows:
        return
    for column in dict.fromkeys(row["column"] for row in rows):
        of_column = [row for row in rows if row["column"] == column]
        values = ", ".join(
            f"{row['row']}: {format_number(row['value'], N_MORE_DIGITS)}" for row in of_column
        )
        unit = "" if of_column[0]["unit"] == "1" else f", {of_column[0]['unit']}"
        _paragraph(console, f"Not printed: {column}{unit} ({of_column[0]['meaning']}): {values}")


def _grid(console: Console, rows: list[dict[str, str]]) -> None:
    grid = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1, 0, 0))
    for heading in rows[0] if rows else ():
        grid.add_column(heading, justify="left" if heading in LEFT else "right", overflow="fold")
    last = ""
    for row in rows:
        shown = row | {"row": "" if row["row"] == last else row["row"]}
        last = row["row"]
        style = STYLES.get(row["agrees"], "")
        grid.add_row(*(Text(printable(text)) for text in shown.values()), style=style)
    console.print(Padding(grid, INDENT, expand=False))


def _paragraph(console: Console, text: str) -> None:
    console.print(Padding(Text(printable(text)), INDENT))
