"""A page for people, as wide as the terminal is: headings, paragraphs, grids."""

import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from io import StringIO
from typing import TextIO

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from pcaplat.text import printable

WIDTH_OF_A_PIPE = 100
INDENT = (0, 0, 1, 2)


@contextmanager
def page(stream: TextIO) -> Iterator[Console]:
    """Give what to print on; it goes to the stream at the end, without trailing blanks."""
    text = StringIO()
    is_plain = "NO_COLOR" in os.environ or not stream.isatty()
    yield Console(
        file=text,
        width=shutil.get_terminal_size((WIDTH_OF_A_PIPE, 0)).columns,
        force_terminal=not is_plain,
        color_system=None if is_plain else "auto",
        markup=False,
        emoji=False,
        highlight=False,
    )
    stream.writelines(f"{line.rstrip()}\n" for line in text.getvalue().rstrip().splitlines())


def heading(console: Console, text: str, style: str = "bold") -> None:
    """Print a line of its own."""
    console.print(Text(printable(text), style=style))


def paragraph(console: Console, text: str) -> None:
    """Print running text."""
    console.print(Padding(Text(printable(text)), INDENT))


def grid(
    console: Console,
    rows: Sequence[Mapping[str, str]],
    left: Sequence[str],
    styles: Sequence[str] = (),
) -> None:
    """Print rows under their headings, numbers to the right; `styles` go with the rows."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1, 0, 0))
    for name in rows[0] if rows else ():
        table.add_column(
            Text(printable(name)), justify="left" if name in left else "right", overflow="fold"
        )
    for at, row in enumerate(rows):
        style = styles[at] if styles else ""
        table.add_row(*(Text(printable(text)) for text in row.values()), style=style)
    console.print(Padding(table, INDENT, expand=False))
