"""Traffic of a run: rates on each layer, frame sizes, connections, transactions, overhead.

Everything is counted in the time that all points of the path cover, later copies at one point left
out. See docs/traffic.md.
"""

from typing import Any

Row = dict[str, Any]
Traffic = dict[str, list[Row]]
"""Rows of pcaplat.traffic.tables, by the tables' names."""

SIZES = {
    "n_to_64_bytes": 64,
    "n_to_127_bytes": 127,
    "n_to_255_bytes": 255,
    "n_to_511_bytes": 511,
    "n_to_1023_bytes": 1023,
    "n_to_1518_bytes": 1518,
}
"""Classes of frame sizes with FCS, each from the one before it up to this many bytes: those of RMON
(RFC 2819)."""
