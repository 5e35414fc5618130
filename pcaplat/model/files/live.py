"""What a capture point has counted while it is captured live."""

from pathlib import Path
from typing import Literal

from pcaplat.records import dataclass

StampedBy = Literal["host", "adapter", "adapter-own"]


@dataclass(frozen=True)
class PointCounts:
    """Counts of one point so far, and its files in the order of time.

    `n_received` and the drops are libpcap's own counts; `n_outside` are packets before the common
    begin or after the common end, which no file has. `clock` is None for a stream, whose
    timestamps are those of another host.
    """

    n_packets: int
    n_bytes: int
    n_received: int
    n_dropped: int
    n_dropped_by_interface: int
    n_outside: int
    clock: StampedBy | None
    is_over: bool
    problem: str | None
    files: list[Path]
