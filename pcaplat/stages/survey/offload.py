"""TCP that is cut or joined on the way: its bytes can be followed there, its packets cannot."""

from collections.abc import Iterator, Sequence

import numpy as np

from pcaplat.model.arrays import Bools, Ints
from pcaplat.model.diagnostic import Diagnostic
from pcaplat.model.points import Pair, Point
from pcaplat.stages.survey.observations import Observations, among

USUAL_TCP_BYTES = 1480
"""TCP bytes of a full frame of the usual MTU, 1500: longer ones come from segmentation offload."""

NO_DATA_BYTES = 32
"""TCP bytes of a pure acknowledgment with time stamps: there is nothing in it to cut or join."""

Torn = dict[Pair, Ints]
"""Segments on which TCP changes its packet boundaries: lengths of the packets without an equal."""


def find_torn(edges: Sequence[Pair], unique: Sequence[Observations]) -> Torn:
    """Find the segments on which TCP changes its packet boundaries.

    Real loss takes packets away. Offload also makes new ones: packets that only the near point saw
    stand beside packets that only the far point saw, and some of them are longer than a wire
    carries.
    """
    found = {}
    for near, far in edges:
        lengths = list(_changed(unique[near], unique[far]))
        if all(len(one) for one in lengths) and max(map(np.max, lengths)) > USUAL_TCP_BYTES:
            found[near, far] = np.concatenate(lengths)
    return found


def whole_everywhere(seen: Observations) -> Bools:
    """Tell which packets cannot be cut or joined on the way."""
    return seen.tcp_bytes <= NO_DATA_BYTES


def check_offload(points: Sequence[Point], torn: Torn) -> list[Diagnostic]:
    """Say on which segments TCP was cut or joined."""
    if not torn:
        return []
    names = ", ".join(f"{points[near].name}–{points[far].name}" for near, far in torn)
    n_changed = sum(len(one) for one in torn.values())
    longest = max(int(one.max()) for one in torn.values())
    text = (
        f"TCP is cut or joined on the way at {names}: {n_changed:,} sampled packets, the longest "
        f"of {longest:,} bytes, have no equal on the other side"
    )
    consequence = (
        "they are followed by their bytes (classes first-byte and last-byte), and latencies of "
        "class packet are those of the small packets left whole; read loss in bytes there"
    )
    remedy = (
        "to time every packet, capture with offload off (ethtool -K INTERFACE tso off gso off gro "
        "off)"
    )
    return [Diagnostic("segmentation-offload", None, text, consequence, remedy)]


def _changed(near: Observations, far: Observations) -> Iterator[Ints]:
    """Lengths of the TCP packets that one side has and the other has not, for each side.

    Only in the time for which both have packets in common, and of address pairs seen at both.
    """
    for here, there in ((near, far), (far, near)):
        is_common = among(here.key, there.key)
        t_ns = here.t_ns[is_common]
        if len(t_ns) == 0:
            yield np.zeros(0, np.int64)
            continue
        is_between = (here.t_ns >= t_ns.min()) & (here.t_ns <= t_ns.max())
        is_changed = (here.tcp_bytes > 0) & ~is_common & here.are_of(there.pairs)
        yield here.tcp_bytes[is_between & is_changed]
