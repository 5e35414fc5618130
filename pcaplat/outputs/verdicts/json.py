"""JSON: the verdicts as they are, `pcaplat.verdicts/1`."""

from pcaplat.outputs.json import show_document as show

__all__ = ["show"]
