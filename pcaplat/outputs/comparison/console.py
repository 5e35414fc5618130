"""Console: the difference segment by segment, then where it lies and what may mislead."""

from typing import Any, TextIO

from pcaplat.outputs.comparison import between, curves, reasons, sections, title
from pcaplat.outputs.terminal import grid, heading, page, paragraph

LEFT = ("segment",)


def show(document: dict[str, Any], stream: TextIO) -> None:
    """Write the comparison for people."""
    with page(stream) as console:
        heading(console, title(document))
        console.print()
        for text, rows in sections(document):
            heading(console, text)
            grid(console, rows, LEFT)
        for curve in curves(document):
            paragraph(console, f"Quantiles, {curve}")
        for reason in reasons(document):
            paragraph(console, reason)
        for line in between(document):
            paragraph(console, line)
        for warning in document["warnings"]:
            paragraph(console, f"{warning['code']}: {warning['text']}")
