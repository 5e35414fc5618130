"""Markdown: a section for each table, to paste into a report."""

from collections.abc import Iterator
from typing import Any, TextIO

from pcaplat.outputs.audit import N_MORE_DIGITS, cell_texts, tried_texts
from pcaplat.outputs.markdown import text_cell
from pcaplat.units import format_number

HEADINGS = ("row", "column", "unit", "published", "recomputed", "agrees", "deviation", "reason")


def show(document: dict[str, Any], stream: TextIO) -> None:
    """Write every table with its conclusion, conventions and notes."""
    for index, table in enumerate(document["tables"]):
        if index:
            stream.write("\n")
        stream.writelines(f"{line}\n" for line in _section(table))


def _section(table: dict[str, Any]) -> Iterator[str]:
    yield f"## {text_cell(table['id'])}\n"
    yield f"{text_cell(table['source'])}\n"
    yield f"{text_cell(table['conclusion'])}\n"
    yield _line(HEADINGS)
    yield f"|{' --- |' * len(HEADINGS)}"
    for cell in table["cells"]:
        texts = cell_texts(cell)
        reason = cell["reason"] or ""
        yield _line([*(text_cell(texts[name]) for name in HEADINGS[:-1]), text_cell(reason)])
    yield from _derived(table)
    yield from _list("Conventions tried", tried_texts(table))
    yield from _list("Notes", table["notes"])


def _derived(table: dict[str, Any]) -> Iterator[str]:
    if not table["derived"]:
        return
    yield "\nNot printed, and worth knowing:\n"
    yield _line(("row", "figure", "value", "unit", "meaning"))
    yield f"|{' --- |' * 5}"
    for row in table["derived"]:
        value = format_number(row["value"], N_MORE_DIGITS)
        texts = (row["row"], row["column"], value, row["unit"], row["meaning"])
        yield _line([text_cell(text) for text in texts])


def _list(title: str, items: list[str]) -> Iterator[str]:
    if items:
        yield f"\n{title}:\n"
        yield from (f"- {text_cell(item)}" for item in items)


def _line(cells: tuple[str, ...] | list[str]) -> str:
    return f"| {' | '.join(cells)} |"
