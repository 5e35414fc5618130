"""Traffic of a run: rates on each layer, frame sizes, connections, transactions, overhead.

Everything is counted in the time that all points of the path cover, later copies at one point left
out. See docs/traffic.md.
"""

from pcaplat.tables.columns import Row

Traffic = dict[str, list[Row]]
"""Rows of pcaplat.tables.traffic, by the tables' names."""
