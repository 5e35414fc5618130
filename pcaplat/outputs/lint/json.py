"""JSON: the findings as they are, `pcaplat.lint/1`."""

from pcaplat.outputs.json import show_document as show

__all__ = ["show"]
