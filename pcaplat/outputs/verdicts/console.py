"""Console: a table of the claims, then what each verdict rests on."""

from typing import Any, TextIO

from pcaplat.outputs.terminal import grid, heading, page, paragraph
from pcaplat.outputs.verdicts import tally, texts

STYLES = {"refuted": "red", "undecided": "yellow", "held": "green"}
LEFT = ("claim", "verdict", "claimed", "measured", "interval")


def show(document: dict[str, Any], stream: TextIO) -> None:
    """Write the verdicts for people."""
    rows = document["verdicts"]
    with page(stream) as console:
        heading(console, f"Claims: {tally(document)}")
        console.print()
        styles = [STYLES[row["verdict"]] for row in rows]
        grid(console, [texts(row) for row in rows], LEFT, styles)
        for row in rows:
            heading(console, f"{row['id']}: {row['verdict']}")
            paragraph(console, f"{row['claim']} ({row['source']})")
            paragraph(console, f"Because {row['reason']}.")
            if row["assumes"]:
                paragraph(console, f"Taken for granted: {'; '.join(row['assumes'])}.")
        for warning in document["warnings"]:
            paragraph(console, f"{warning['code']}: {warning['text']}")
