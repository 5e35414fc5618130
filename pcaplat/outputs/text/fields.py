"""Tables that fit the terminal: of columns that do not, the least important go."""

from collections.abc import Sequence
from dataclasses import dataclass

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

GAP = 2
KEPT = 0


@dataclass(frozen=True)
class Field:
    """One column as printed; of those that do not fit, the highest `rank` goes first."""

    heading: str
    cells: Sequence[str]
    rank: int = KEPT

    @property
    def width(self) -> int:
        """Columns of the terminal that the field needs."""
        return max(cell_len(text) for text in (self.heading, *self.cells)) + GAP


def optional(heading: str, cells: Sequence[str], usual: str, rank: int = KEPT) -> list[Field]:
    """Give a field only if it says something: if a cell differs from what it usually holds."""
    return [Field(heading, cells, rank)] if any(cell != usual for cell in cells) else []


def print_table(
    console: Console, title: str, fields: Sequence[Field], rule_above: Sequence[int] = ()
) -> None:
    """Print a table, with a rule above some of its rows."""
    kept = _fitting(fields, console.width)
    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1, 0, 0))
    for index, field in enumerate(kept):
        is_name = index == 0 or field.heading in ("class", "quality", "frames")
        table.add_column(field.heading, justify="left" if is_name else "right", overflow="fold")
    for index, cells in enumerate(zip(*(field.cells for field in kept), strict=True)):
        if index in rule_above and index:
            table.add_section()
        table.add_row(*map(Text, cells))
    console.print(Text(title, style="bold"))
    console.print(Padding(table, (0, 0, 1, GAP), expand=False))


def _fitting(fields: Sequence[Field], width: int) -> list[Field]:
    """Drop the least important fields until the rest fits."""
    kept = list(fields)
    while sum(field.width for field in kept) + GAP > width:
        last = max(range(len(kept)), key=lambda index: kept[index].rank)
        if kept[last].rank == KEPT:
            break
        del kept[last]
    return kept
