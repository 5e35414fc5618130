"""Markdown: the tables of the comparison, to paste into a report."""

from typing import Any, TextIO

from pcaplat.outputs.comparison import between, curves, reasons, sections, title
from pcaplat.outputs.markdown import text_cell


def show(document: dict[str, Any], stream: TextIO) -> None:
    """Write every table, the curves and the warnings."""
    stream.write(f"## {text_cell(title(document))}\n")
    for text, rows in sections(document):
        stream.write(f"\n### {text_cell(text)}\n\n")
        names = [text_cell(name) for name in rows[0]]
        stream.write(f"| {' | '.join(names)} |\n|{' --- |' * len(names)}\n")
        for row in rows:
            cells = [text_cell(cell) for cell in row.values()]
            stream.write(f"| {' | '.join(cells)} |\n")
    _write_list(stream, "Quantiles", curves(document))
    _write_list(stream, "Undecided", reasons(document))
    _write_list(stream, "Between the scenarios", between(document))
    warnings = [f"{row['code']}: {row['text']}" for row in document["warnings"]]
    _write_list(stream, "Warnings", warnings)


def _write_list(stream: TextIO, text: str, items: list[str]) -> None:
    if items:
        stream.write(f"\n{text}:\n\n")
        stream.writelines(f"- {text_cell(item)}\n" for item in items)
