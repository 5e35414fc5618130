"""What a command says before it has a format: titles, tables and remarks, in the order of reading.

A module of `reports/` makes a report of what its command found, a format gives it its look. Texts
are plain here: each format makes those of strangers harmless, and escapes what it has to.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, get_args

from pcaplat.records import dataclass

Topic = Literal["clocks", "requests", "budget"]
"""What --verbose adds and an option of its own asks for alone."""

Medium = Literal["screen", "brief", "verbose", "paper"] | Topic
"""What is read once, as wide as the terminal is; there without --verbose alone, or with it alone;
and what is kept, with every figure."""

KEPT = 0


@dataclass(frozen=True, kw_only=True)
class Section:
    """A part of a report, for one medium `only` or for both."""

    only: Medium | None = None


@dataclass(frozen=True)
class Title(Section):
    """What comes now, and where it is from."""

    text: str
    source: str = ""


@dataclass(frozen=True)
class Paragraph(Section):
    """Running text."""

    text: str
    is_indented: bool = False
    style: str = ""


@dataclass(frozen=True)
class Drawing(Section):
    """Lines that are drawn for so many columns."""

    draw: Callable[[int], Sequence[str]]
    style: str = "bold"


@dataclass(frozen=True)
class Field:
    """A column of a grid; of those that do not fit, the highest `rank` goes first."""

    heading: str
    cells: Sequence[str]
    rank: int = KEPT
    is_left: bool = False
    is_foldable: bool = False
    """Rather folded than that another field is dropped."""
    is_once: bool = False
    """What stands in several rows below each other is read once."""
    only: Medium | None = None


@dataclass(frozen=True)
class Grid(Section):
    """A table: a style for each row, if any, and rows that a rule stands above."""

    heading: str
    fields: Sequence[Field]
    styles: Sequence[str] = ()
    rule_above: Collection[int] = ()


@dataclass(frozen=True)
class Remarks(Section):
    """Sentences of one kind; `lead` says of which, where they stand without their title."""

    title: str
    texts: Sequence[str]
    lead: str = ""


@dataclass(frozen=True)
class Entry:
    """A head, and what there is to say of it."""

    head: str
    texts: Sequence[str]
    style: str = "bold"


@dataclass(frozen=True)
class Entries(Section):
    """Heads with what is said of each: below it line by line or apart, or behind it."""

    entries: Sequence[Entry]
    layout: Literal["below", "apart", "behind"] = "below"
    title: str = ""


@dataclass(frozen=True)
class Report:
    """All that a command says: the document itself, its rows for a spreadsheet, and for people."""

    document: Mapping[str, Any]
    columns: Sequence[str]
    rows: Iterable[Mapping[str, Any]]
    sections: Iterable[Section]
    is_verbose: bool = False
    topics: Collection[Topic] = ()

    @property
    def on_screen(self) -> tuple[Medium, ...]:
        """What a terminal shows: all topics with --verbose, else those that are asked for."""
        if self.is_verbose:
            return ("screen", "verbose", *get_args(Topic))
        return ("screen", "brief", *self.topics)

    def on(self, *media: Medium) -> Iterator[Section]:
        """Give the sections that one of these media has."""
        return (section for section in self.sections if section.only in {None, *media})


def fields_of(rows: Sequence[Mapping[str, str]], left: Collection[str] = ()) -> list[Field]:
    """Give rows as columns, under the names that the first of them has."""
    return [
        Field(name, [row.get(name, "") for row in rows], is_left=name in left)
        for name in names_of(rows)
    ]


def names_of(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Give the names that the first row has."""
    return [*rows[0]] if rows else []


def optional(heading: str, cells: Sequence[str], usual: str, rank: int = KEPT) -> list[Field]:
    """Give a field only if it says something: if a cell differs from what it usually holds."""
    return [Field(heading, cells, rank)] if any(cell != usual for cell in cells) else []


def warnings_of(document: Mapping[str, Any]) -> list[str]:
    """Give a document's warnings, each with its code."""
    return [f"{warning['code']}: {warning['text']}" for warning in document["warnings"]]
