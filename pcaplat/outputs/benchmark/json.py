"""JSON: the benchmark as it is, `pcaplat.rfc2544/1`."""

from pcaplat.outputs.json import show_document as show

__all__ = ["show"]
