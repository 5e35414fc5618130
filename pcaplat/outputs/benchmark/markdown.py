"""Markdown: the tables of the benchmark, to paste into a report."""

from typing import Any, TextIO

from pcaplat.outputs.benchmark import sections, title
from pcaplat.outputs.markdown import text_cell


def show(document: dict[str, Any], stream: TextIO) -> None:
    """Write every table, and the warnings."""
    stream.write(f"## {text_cell(title(document))}\n")
    for text, rows in sections(document):
        stream.write(f"\n### {text_cell(text)}\n\n")
        names = [text_cell(name) for name in rows[0]]
        stream.write(f"| {' | '.join(names)} |\n|{' --- |' * len(names)}\n")
        for row in rows:
            cells = [text_cell(cell) for cell in row.values()]
            stream.write(f"| {' | '.join(cells)} |\n")
    stream.writelines(
        f"\n- {text_cell(warning['code'])}: {text_cell(warning['text'])}\n"
        for warning in document["warnings"]
    )
