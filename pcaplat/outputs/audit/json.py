"""JSON: the audit as it is, `pcaplat.audit/1`."""

from pcaplat.outputs.json import show_document as show

__all__ = ["show"]
