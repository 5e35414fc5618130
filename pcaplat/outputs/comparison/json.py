"""JSON: the comparison as it is, `pcaplat.comparison/1`."""

from pcaplat.outputs.json import show_document as show

__all__ = ["show"]
