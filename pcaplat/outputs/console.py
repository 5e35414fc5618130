"""Console: headings, tables and remarks for people, as wide as the terminal is.

A start can afford no library for it: what a terminal needs is its width, and five styles.
"""

import os
import shutil
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import repeat
from typing import TextIO

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
from pcaplat.records import dataclass
from pcaplat.text import folded, n_cells, printable

WIDTH_OF_A_PIPE = 100
LEAST_WIDTH = 20
GAP = 2
NARROWEST = 10
"""Of a column that is folded."""
FOLDED = 36
"""As narrow a column is made for others, if it may be folded."""
STYLES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "bold red": "1;31"}


@dataclass(frozen=True)
class Screen:
    """How wide lines are, and whether they have styles."""

    width: int
    is_plain: bool

    def styled(self, text: str, style: str) -> str:
        """Give a text in a style, where there are any."""
        code = "" if self.is_plain or not text else STYLES.get(style, "")
        return f"\x1b[{code}m{text}\x1b[0m" if code else text

    def lines(self, text: str, style: str = "", indent: int = 0) -> list[str]:
        """Give a text as lines of whole words, no wider than the screen."""
        lines = folded(printable(text), self.width - indent)
        return [" " * indent + self.styled(line, style) for line in lines]


def show(report: Report, stream: TextIO) -> None:
    """Write every section, with an empty line behind it, without trailing blanks."""
    width = shutil.get_terminal_size((WIDTH_OF_A_PIPE, 0)).columns
    is_plain = "NO_COLOR" in os.environ or os.environ.get("TERM") == "dumb" or not stream.isatty()
    screen = Screen(max(width, LEAST_WIDTH), is_plain)
    sections = report.on(*report.on_screen)
    lines = [line for section in sections for line in LOOKS[type(section)](screen, section)]
    while lines and not lines[-1]:
        del lines[-1]
    stream.writelines(f"{line.rstrip()}\n" for line in lines)


def _title(screen: Screen, title: Title) -> list[str]:
    source = screen.lines(title.source, "dim") if title.source else []
    return [*screen.lines(title.text, "bold"), *source, ""]


def _paragraph(screen: Screen, paragraph: Paragraph) -> list[str]:
    indent = GAP if paragraph.is_indented else 0
    return [*screen.lines(paragraph.text, paragraph.style, indent), ""]


def _drawing(screen: Screen, drawing: Drawing) -> list[str]:
    lines = drawing.draw(screen.width - GAP)
    return [*(" " * GAP + screen.styled(printable(line), drawing.style) for line in lines), ""]


def _remarks(screen: Screen, remarks: Remarks) -> list[str]:
    texts = (screen.lines(f"{remarks.lead}{text}", indent=GAP) for text in remarks.texts)
    return [line for lines in texts for line in (*lines, "")]


def _entries(screen: Screen, entries: Entries) -> list[str]:
    lines = screen.lines(entries.title, "bold") if entries.title and entries.entries else []
    for entry in entries.entries:
        if entries.layout == "behind":
            lines += _behind(screen, entry.head, entry.style, " ".join(entry.texts))
        elif entry.head:
            lines += screen.lines(entry.head, entry.style)
        for text in entry.texts if entries.layout != "behind" else ():
            lines += screen.lines(text, indent=GAP)
            lines += [""] * (entries.layout == "apart")
        lines += [""] * (entries.layout != "apart")
    return lines


def _behind(screen: Screen, head: str, style: str, text: str) -> list[str]:
    """A head and its text in one paragraph, whose further lines stand under the first."""
    head = printable(f"{head}:")
    first, *rest = folded(f"{head} {printable(text)}", screen.width - GAP, indent=GAP)
    if first.startswith(head):
        first = screen.styled(head, style) + first[len(head) :]
    return [" " * GAP + line for line in (first, *(" " * GAP + line for line in rest))]


def _grid(screen: Screen, grid: Grid) -> list[str]:
    shown = [_harmless(field) for field in grid.fields if field.only != "paper"]
    kept, left_out = _fitting(shown, screen.width)
    if not kept:
        return []
    lines = screen.lines(grid.heading, "bold") if grid.heading else []
    lines += [" " * GAP + line for line in _rows(screen, kept, grid)]
    if left_out:
        names = ", ".join(dict.fromkeys(left_out))
        lines += screen.lines(f"not shown at {screen.width} columns: {names}", "dim", GAP)
    return [*lines, ""]


def _rows(screen: Screen, kept: Sequence[Field], grid: Grid) -> list[str]:
    widths = _widths(kept, screen.width - GAP)
    are_left = [field.is_left or index == 0 for index, field in enumerate(kept)]
    shape = list(zip(widths, are_left, strict=True))
    head = [screen.styled(line, "bold") for line in _row([f.heading for f in kept], shape)]
    lines = [*head, "─" * (sum(widths) + GAP * (len(widths) - 1))]
    styles = grid.styles or repeat("")
    cells = zip(*(field.cells for field in kept), strict=True)
    for index, (row, style) in enumerate(zip(cells, styles, strict=False)):
        if index in grid.rule_above and index:
            lines.append("")
        lines += [screen.styled(line, style) for line in _row(row, shape)]
    return lines


def _row(cells: Iterable[str], shape: Sequence[tuple[int, bool]]) -> list[str]:
    """Give the lines of a row: as many as its highest cell has."""
    columns = [folded(cell, width) for cell, (width, _) in zip(cells, shape, strict=True)]
    height = max(map(len, columns))
    filled = [[*lines, *[""] * (height - len(lines))] for lines in columns]
    return [
        (" " * GAP).join(_aligned(text, *of) for text, of in zip(line, shape, strict=True)).rstrip()
        for line in zip(*filled, strict=True)
    ]


def _aligned(text: str, width: int, is_left: bool) -> str:  # noqa: FBT001 - of a shape
    blanks = " " * (width - n_cells(text))
    return text + blanks if is_left else blanks + text


def _widths(fields: Sequence[Field], width: int) -> list[int]:
    """How wide each column is; where all are too wide, the widest give way."""
    widths = [max(map(n_cells, (field.heading, *field.cells))) for field in fields]
    while sum(widths) + GAP * (len(widths) - 1) > width and max(widths) > NARROWEST:
        widths[widths.index(max(widths))] -= 1
    return widths


def _harmless(field: Field) -> Field:
    above = ["", *field.cells]
    cells = [
        "" if field.is_once and cell == before else printable(cell)
        for cell, before in zip(field.cells, above, strict=False)
    ]
    return replace(field, heading=printable(field.heading), cells=cells)


def _fitting(fields: Sequence[Field], width: int) -> tuple[list[Field], list[str]]:
    """Drop the least important fields until the rest fits, and name those that are dropped."""
    kept = [(field, _needed(field) + GAP) for field in fields]
    dropped: list[int] = []
    while sum(needed for _, needed in kept) > width:
        last = max(range(len(kept)), key=lambda index: kept[index][0].rank)
        if kept[last][0].rank == KEPT:
            break
        dropped.append(fields.index(kept[last][0]))
        del kept[last]
    return [field for field, _ in kept], [fields[index].heading for index in sorted(dropped)]


def _needed(field: Field) -> int:
    widest = max(map(n_cells, (field.heading, *field.cells)))
    return min(widest, FOLDED) if field.is_foldable else widest


LOOKS: dict[type[Section], Callable[..., list[str]]] = {
    Title: _title,
    Paragraph: _paragraph,
    Drawing: _drawing,
    Grid: _grid,
    Remarks: _remarks,
    Entries: _entries,
}
