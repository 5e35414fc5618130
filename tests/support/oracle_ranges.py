"""An independent opinion on TCP that is cut and joined: which frames share a payload byte.

Plain Python over `oracle.py`'s sightings: every byte of a flow is a number in a dictionary, so slow
that nothing about it can be clever.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from tests.support.oracle import sightings
from tests.support.oracle_decode import TCP

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.oracle import Sighting

NEAR_NS = 5_000_000
STEP = 128  # of the inner bytes of a frame so many stand for one; its first and last are there


class Shared(NamedTuple):
    """Two frames of neighbours that carry a same byte."""

    up: int
    down: int
    kind: str
    latency_ns: int | None


def byte_range(sighting: Sighting) -> tuple[int, int] | None:
    """Sequence number of the first payload byte, and how many there are."""
    packet = sighting.packet
    if packet.protocol != TCP or packet.fragment or len(packet.stable) < 13:
        return None
    n_bytes = packet.length - (packet.stable[12] >> 4) * 4
    return (int.from_bytes(packet.stable[4:8]), n_bytes) if n_bytes > 0 else None


def shared_bytes(up: Path, down: Path) -> list[Shared]:
    """Every pair of frames of different boundaries, upstream first, in the time of one passage."""
    holders: dict[tuple[object, ...], list[Sighting]] = defaultdict(list)
    for sighting in sightings(down):
        for byte in _bytes(sighting):
            holders[sighting.packet.flow, byte].append(sighting)
    found: set[Shared] = set()
    for sighting in sightings(up):
        for byte in _bytes(sighting):
            for other in holders.get((sighting.packet.flow, byte), ()):
                took_ns = other.t_ns - sighting.t_ns
                if 0 <= took_ns < NEAR_NS and byte_range(other) != byte_range(sighting):
                    found.add(_shared(sighting, other))
    return sorted(found, key=lambda pair: pair[:2])


def _bytes(sighting: Sighting) -> list[int]:
    """Numbers of some of its bytes; those that are multiples of the step are the same anywhere."""
    found = byte_range(sighting)
    if found is None:
        return []
    start, n_bytes = found
    inner = range(start + -start % STEP, start + n_bytes, STEP)
    return [byte % 2**32 for byte in (start, *inner, start + n_bytes - 1)]


def _shared(up: Sighting, down: Sighting) -> Shared:
    (start, n_bytes), (other_start, n_other) = byte_range(up) or (0, 0), byte_range(down) or (0, 0)
    kind = "overlap"
    if start == other_start:
        kind = "first-byte"
    elif (start + n_bytes) % 2**32 == (other_start + n_other) % 2**32:
        kind = "last-byte"
    latency_ns = None if kind == "overlap" else down.t_ns - up.t_ns
    return Shared(up.number, down.number, kind, latency_ns)
