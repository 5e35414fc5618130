"""Console: headings, tables and remarks for people, as wide as the terminal is."""

import os
import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from io import StringIO
from typing import TYPE_CHECKING, TextIO

from pcaplat.outputs.report import (
    KEPT,
    Drawing,
    Entries,
    Field,
    Grid,
    Paragraph,
    Remarks,
    Report,
    Section,
    Title,
)
from pcaplat.text import printable

if TYPE_CHECKING:
    from rich.console import Console

WIDTH_OF_A_PIPE = 100
GAP = 2


def show(report: Report, stream: TextIO) -> None:
    """Write every section, with an empty line behind it, without trailing blanks."""
    text = StringIO()
    console = _console(text, is_plain="NO_COLOR" in os.environ or not stream.isatty())
    for section in report.on("screen"):
        LOOKS[type(section)](console, section)
    stream.writelines(f"{line.rstrip()}\n" for line in text.getvalue().rstrip().splitlines())


def _console(text: TextIO, *, is_plain: bool) -> "Console":
    from rich.console import Console

    return Console(
        file=text,
        width=shutil.get_terminal_size((WIDTH_OF_A_PIPE, 0)).columns,
        force_terminal=not is_plain,
        color_system=None if is_plain else "auto",
        markup=False,
        emoji=False,
        highlight=False,
    )


def _title(console: "Console", title: Title) -> None:
    _line(console, title.text, "bold")
    if title.source:
        _line(console, title.source, "dim")
    console.print()


def _paragraph(console: "Console", paragraph: Paragraph) -> None:
    _line(console, paragraph.text, indent=GAP if paragraph.is_indented else 0)
    console.print()


def _drawing(console: "Console", drawing: Drawing) -> None:
    for line in drawing.draw(console.width - GAP):
        _line(console, " " * GAP + line, "bold", is_folded=False)
    console.print()


def _remarks(console: "Console", remarks: Remarks) -> None:
    for text in remarks.texts:
        _line(console, f"{remarks.lead}{text}", indent=GAP)
        console.print()


def _entries(console: "Console", entries: Entries) -> None:
    for entry in entries.entries:
        if entries.layout == "behind":
            _line(console, f"{entry.head}: ", entry.style, behind=" ".join(entry.texts))
        elif entry.head:
            _line(console, entry.head, entry.style)
        for text in entry.texts if entries.layout != "behind" else ():
            _line(console, text, indent=GAP)
            if entries.layout == "apart":
                console.print()
        if entries.layout != "apart":
            console.print()


def _grid(console: "Console", grid: Grid) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    shown = [_harmless(field) for field in grid.fields if field.only != "paper"]
    kept = _fitting(shown, console.width)
    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1, 0, 0))
    for index, field in enumerate(kept):
        is_left = field.is_left or index == 0
        table.add_column(
            Text(field.heading), justify="left" if is_left else "right", overflow="fold"
        )
    for index, cells in enumerate(zip(*(field.cells for field in kept), strict=True)):
        if index in grid.rule_above and index:
            table.add_section()
        table.add_row(*map(Text, cells), style=grid.styles[index] if grid.styles else "")
    if grid.heading:
        _line(console, grid.heading, "bold")
    console.print(Padding(table, (0, 0, 1, GAP), expand=False))


def _harmless(field: Field) -> Field:
    above = ["", *field.cells]
    cells = [
        "" if field.is_once and cell == before else printable(cell)
        for cell, before in zip(field.cells, above, strict=False)
    ]
    return replace(field, heading=printable(field.heading), cells=cells)


def _fitting(fields: Sequence[Field], width: int) -> list[Field]:
    """Drop the least important fields until the rest fits."""
    from rich.cells import cell_len

    kept = [(field, max(map(cell_len, (field.heading, *field.cells))) + GAP) for field in fields]
    while sum(needed for _, needed in kept) + GAP > width:
        last = max(range(len(kept)), key=lambda index: kept[index][0].rank)
        if kept[last][0].rank == KEPT:
            break
        del kept[last]
    return [field for field, _ in kept]


def _line(
    console: "Console",
    text: str,
    style: str = "",
    *,
    behind: str = "",
    indent: int = 0,
    is_folded: bool = True,
) -> None:
    from rich.padding import Padding
    from rich.text import Text

    line = Text(printable(text), style=style, no_wrap=not is_folded)
    line.append(printable(behind), style="default")
    console.print(Padding(line, (0, 0, 0, indent)) if indent else line)


LOOKS: dict[type[Section], Callable[..., None]] = {
    Title: _title,
    Paragraph: _paragraph,
    Drawing: _drawing,
    Grid: _grid,
    Remarks: _remarks,
    Entries: _entries,
}
