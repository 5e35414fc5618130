"""Console: each finding with its evidence, what it does to the figures, and what to do."""

from collections import Counter
from typing import Any, TextIO

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from pcaplat.outputs.terminal import page
from pcaplat.text import printable

INDENT = (0, 0, 0, 2)
STYLES = {"error": "bold red", "warning": "yellow", "note": "dim"}


def show(document: dict[str, Any], stream: TextIO) -> None:
    """Write the findings for people, the gravest first."""
    findings = document["findings"]
    with page(stream) as console:
        console.print(Text(_total(findings)))
        for finding in findings:
            _show_finding(console, finding)


def _total(findings: list[dict[str, Any]]) -> str:
    n_of = Counter(finding["severity"] for finding in findings)
    counts = [f"{n_of[name]} {name}{'s' * (n_of[name] > 1)}" for name in STYLES if n_of[name]]
    return ", ".join(counts) or "Nothing found that would mislead"


def _show_finding(console: Console, finding: dict[str, Any]) -> None:
    where = f" at {printable(finding['point'])}" if finding["point"] else ""
    line = Text(f"\n{finding['severity']}: {printable(finding['code'])}{where}")
    line.stylize(STYLES[finding["severity"]])
    console.print(line)
    for lead, name in (("", "evidence"), ("→ ", "consequence"), ("Do: ", "remedy")):
        if finding[name]:
            console.print(Padding(Text(lead + printable(finding[name])), INDENT))
