"""Markdown: what was found as tables with every figure, to paste into a report."""

import re
from collections.abc import Callable, Iterable
from typing import TextIO

from pcaplat.outputs.report import (
    Drawing,
    Entries,
    Grid,
    Paragraph,
    Remarks,
    Report,
    Section,
    Title,
)
from pcaplat.text import printable

COLUMNS = 120
"""Of a drawing."""

MARKS = re.compile(r"([\\`*_{}\[\]<>#|~&!])")


def show(report: Report, stream: TextIO) -> None:
    """Write every section, with an empty line between two."""
    texts = (LOOKS[type(section)](section) for section in report.on("paper"))
    stream.write("\n".join(text for text in texts if text))


def text_cell(text: str) -> str:
    r"""Make a stranger's text plain text in a table.

    Example:
        >>> text_cell("a|<b>")
        'a\\|\\<b\\>'
    """
    return MARKS.sub(r"\\\1", printable(text))


def _title(title: Title) -> str:
    source = f"\n{text_cell(title.source)}\n" if title.source else ""
    return f"## {text_cell(title.text)}\n{source}"


def _paragraph(paragraph: Paragraph) -> str:
    return f"{text_cell(paragraph.text)}\n"


def _drawing(drawing: Drawing) -> str:
    """Give what only lines up in letters of one width, of which no fence can be a part."""
    lines = (printable(line).replace("`", "'").rstrip() for line in drawing.draw(COLUMNS))
    return "\n".join(["```text", *lines, "```\n"])


def _grid(grid: Grid) -> str:
    fields = [field for field in grid.fields if field.only != "screen"]
    heading = f"### {text_cell(grid.heading)}\n\n" if grid.heading else ""
    lines = [_row(field.heading for field in fields), f"|{' --- |' * len(fields)}\n"]
    rows = zip(*(field.cells for field in fields), strict=True)
    return "".join([heading, *lines, *map(_row, rows)]) if fields else ""


def _row(texts: Iterable[str]) -> str:
    return f"| {' | '.join(map(text_cell, texts))} |\n"


def _remarks(remarks: Remarks) -> str:
    items = [f"- {text_cell(text)}\n" for text in remarks.texts]
    if not remarks.title:
        return "\n".join(items)
    return "".join([f"{text_cell(remarks.title)}:\n\n", *items]) if items else ""


def _entries(entries: Entries) -> str:
    return "".join(
        f"- **{text_cell(entry.head)}**. {text_cell(_sentences(entry.texts))}\n"
        for entry in entries.entries
    )


def _sentences(texts: Iterable[str]) -> str:
    return " ".join(text if text.endswith(".") else f"{text}." for text in texts)


LOOKS: dict[type[Section], Callable[..., str]] = {
    Title: _title,
    Paragraph: _paragraph,
    Drawing: _drawing,
    Grid: _grid,
    Remarks: _remarks,
    Entries: _entries,
}
