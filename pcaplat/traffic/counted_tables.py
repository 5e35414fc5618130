"""From what the core counted while it read all frames to the tables of traffic."""

from collections.abc import Sequence

import polars as pl

from pcaplat.model.blocks import BlockTimes
from pcaplat.model.matches.traffic import CountedTraffic
from pcaplat.traffic import TrafficTables
from pcaplat.traffic.overhead import overhead_rows
from pcaplat.traffic.rows import block_rows, size_rows, traffic_rows
from pcaplat.traffic.transactions import transaction_rows

NAMES = ("traffic", "transactions", "overhead", "frame_sizes", "traffic_blocks")


def tables_of(
    counted: CountedTraffic,
    order: Sequence[str],
    links: Sequence[tuple[str, str]],
    times: BlockTimes,
) -> TrafficTables:
    """Give all tables of traffic, by name.

    Args:
        counted: What was counted.
        order: Points of the path.
        links: Segments, by the names of their points.
        times: The time that counts.
    """
    volumes, sizes, open_ = map(pl.DataFrame, (counted.volumes, counted.sizes, counted.open))
    if not len(volumes):
        return {name: [] for name in NAMES}
    connections = pl.DataFrame(counted.connections)
    return {
        "traffic": traffic_rows(volumes, sizes, open_, order, times.end_ns - times.start_ns),
        "transactions": _transactions(connections, order),
        "overhead": overhead_rows(pl.DataFrame(counted.overhead), links),
        "frame_sizes": size_rows(sizes, order),
        "traffic_blocks": block_rows(volumes, open_, order, times.start_ns, times.length_ns),
    }


def _transactions(connections: pl.DataFrame, order: Sequence[str]) -> pl.DataFrame:
    """Sum up the connections of one point after the other, which takes less memory."""
    places = connections["point"].unique(maintain_order=True).sort()
    each = [transaction_rows(connections.filter(point=place)) for place in places]
    return _named(pl.concat(each) if each else connections, order)


def _named(frame: pl.DataFrame, order: Sequence[str]) -> pl.DataFrame:
    names = pl.Series(order, dtype=pl.String)
    return frame.with_columns(point=names.gather(frame["point"]))
