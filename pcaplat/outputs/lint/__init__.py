"""Outputs of a lint: one module per format, each with `show(document, stream)`."""

import importlib
from typing import Any, Protocol, TextIO, cast

LINT_OUTPUTS = {"table": "console", "json": "json", "csv": "csv"}


class LintOutput(Protocol):
    """What a module of this folder offers."""

    def show(self, document: dict[str, Any], stream: TextIO) -> None:
        """Write the findings as text."""


def lint_output(name: str) -> LintOutput:
    """Import the output of that name."""
    return cast("LintOutput", importlib.import_module(f"pcaplat.outputs.lint.{LINT_OUTPUTS[name]}"))
