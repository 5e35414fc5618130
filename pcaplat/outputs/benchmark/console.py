"""Console: the table of size and rate, the throughput, and what RFC 2544 asks for."""

from typing import Any, TextIO

from pcaplat.outputs.benchmark import sections, title
from pcaplat.outputs.terminal import grid, heading, page, paragraph

LEFT = ("size", "requirement", "section", "verdict", "evidence")


def show(document: dict[str, Any], stream: TextIO) -> None:
    """Write the benchmark for people."""
    with page(stream) as console:
        heading(console, title(document))
        console.print()
        for text, rows in sections(document):
            heading(console, text)
            grid(console, rows, LEFT)
        for warning in document["warnings"]:
            paragraph(console, f"{warning['code']}: {warning['text']}")
