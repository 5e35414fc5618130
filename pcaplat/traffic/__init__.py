"""Traffic of a run: rates on each layer, frame sizes, connections, transactions, overhead.

Everything is counted in the time that all points of the path cover, later copies at one point left
out. See docs/measure/traffic.md.
"""

from typing import TYPE_CHECKING

from pcaplat.tables.columns import Row

if TYPE_CHECKING:
    import polars as pl

Traffic = dict[str, list[Row]]
"""Rows of pcaplat.tables.traffic, by the tables' names."""

TrafficTables = dict[str, "list[Row] | pl.DataFrame"]
"""The same, large tables as frames: there may be as many services as connections."""
