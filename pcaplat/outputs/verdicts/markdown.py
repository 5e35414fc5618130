"""Markdown: a table of the claims and the reasons, to paste into a report."""

from typing import Any, TextIO

from pcaplat.outputs.markdown import text_cell
from pcaplat.outputs.verdicts import tally, texts


def show(document: dict[str, Any], stream: TextIO) -> None:
    """Write the table, then every reason."""
    rows = document["verdicts"]
    stream.write(f"## Claims: {tally(document)}\n\n")
    names = list(texts(rows[0]))
    stream.write(f"| {' | '.join(names)} |\n|{' --- |' * len(names)}\n")
    for row in rows:
        cells = [text_cell(text) for text in texts(row).values()]
        stream.write(f"| {' | '.join(cells)} |\n")
    stream.write("\n")
    for row in rows:
        granted = f" Taken for granted: {'; '.join(row['assumes'])}." if row["assumes"] else ""
        said = f"{row['claim']} ({row['source']}). Because {row['reason']}.{granted}"
        stream.write(f"- **{text_cell(row['id'])}: {row['verdict']}**. {text_cell(said)}\n")
