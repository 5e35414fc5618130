"""Outputs of verdicts: one module per format, each with `show(document, stream)`."""

import importlib
from pathlib import Path
from typing import Any, Protocol, TextIO, cast

from pcaplat.outputs import new_folder
from pcaplat.units import format_bounds

VERDICT_OUTPUTS = {
    "table": "console",
    "json": "json",
    "csv": "csv",
    "markdown": "markdown",
    "junit": "junit",
}
FILES = {"json": "verdicts.json", "junit": "verdicts.junit.xml"}
WORDS = ("held", "refuted", "undecided")


class VerdictOutput(Protocol):
    """What a module of this folder offers."""

    def show(self, document: dict[str, Any], stream: TextIO) -> None:
        """Write the verdicts as text."""


def verdict_output(name: str) -> VerdictOutput:
    """Import the output of that name."""
    module = VERDICT_OUTPUTS[name]
    return cast("VerdictOutput", importlib.import_module(f"pcaplat.outputs.verdicts.{module}"))


def save_verdicts(document: dict[str, Any], directory: Path, *, overwrite: bool = False) -> None:
    """Write verdicts.json and verdicts.junit.xml into a folder: both, or neither."""
    with new_folder(directory, list(FILES.values()), overwrite=overwrite) as scratch:
        for name, file in FILES.items():
            with (scratch / file).open("w", encoding="utf-8") as stream:
                verdict_output(name).show(document, stream)


def texts(verdict: dict[str, Any]) -> dict[str, str]:
    """Give what a reader sees of a verdict, under its headings."""
    estimate = verdict["estimate"]
    unit = verdict["unit"]
    bounds = (verdict["lo"], verdict["hi"])
    return {
        "claim": verdict["id"],
        "verdict": verdict["verdict"],
        "claimed": format_bounds(verdict["claim_lo"], verdict["claim_hi"], unit),
        "measured": "–" if estimate is None else format_bounds(estimate, estimate, unit),
        "interval": "–" if None in bounds else format_bounds(*bounds, unit),
        "runs": str(verdict["n_runs"]),
    }


def tally(document: dict[str, Any]) -> str:
    """Count the verdicts: "2 held, 1 undecided"."""
    words = [row["verdict"] for row in document["verdicts"]]
    return ", ".join(f"{words.count(word)} {word}" for word in WORDS if word in words)
