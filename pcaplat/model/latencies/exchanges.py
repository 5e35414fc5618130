"""Round trips of requests and their responses, each pair looked up at every point that saw both.

The core pairs them while it matches (rust/src/matching/trips.rs); attribution takes the clocks out,
and makes these values. See docs/method/attribute.md.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import numpy as np

from pcaplat.model.blocks import Blocks
from pcaplat.model.latencies.segments import Distribution
from pcaplat.model.points import Pair
from pcaplat.records import dataclass

MOST_WAIT_NS = 2_000_000_000
"""No request and its response are farther apart (rust/src/matching/trips.rs)."""

TIMESTAMPS = "tcp-timestamp"
"""The kind whose packets are of the other kinds of TCP too."""


@dataclass(frozen=True)
class Share:
    """Two-way contributions of a segment, over pairs of one kind seen at both of its ends.

    `drift_ppm` is how far the drift between the two clocks may be off: what is left of it in a
    contribution grows with the time from request to response.
    """

    near: int
    far: int
    kind: str
    drift_ppm: float
    distribution: Distribution
    blocks: Blocks | None


@dataclass(frozen=True)
class Wait:
    """Times from request to response as one point saw them, over pairs seen at both ends.

    `is_reverse`: requests went against the path as it is written.
    """

    point: int
    kind: str
    is_reverse: bool
    distribution: Distribution
    blocks: Blocks | None


@dataclass(frozen=True)
class Trips:
    """What pairs of requests and responses say; `n_left_out` by kind, one in `one_in` taken."""

    shares: Sequence[Share] = ()
    waits: Sequence[Wait] = ()
    n_left_out: Mapping[str, int] | None = None
    one_in: int = 1

    def of(self, ends: Pair) -> list[Share]:
        """Shares of one segment, of kinds that have no packets in common."""
        found = [one for one in self.shares if (one.near, one.far) == ends]
        return [one for one in found if one.kind != TIMESTAMPS] or found

    def without(self, points: Collection[int]) -> "Trips":
        """Leave out points that stamp what they send and what they receive by different clocks."""
        shares = [one for one in self.shares if not {one.near, one.far} & {*points}]
        waits = [one for one in self.waits if one.point not in points]
        return replace(self, shares=shares, waits=waits)

    def drift_ns(self, share: Share) -> float:
        """What drift may leave in one of a segment's shares."""
        return share.drift_ppm * 1e-6 * self.longest_ns(share.kind)

    def longest_ns(self, kind: str) -> float:
        """What nearly no pair of a kind waited longer for."""
        known = [one.distribution.quantile_ns(0.99) for one in self.waits if one.kind == kind]
        return max(known, default=float(MOST_WAIT_NS))


def all_kinds(shares: Sequence[Share]) -> tuple[Distribution, Blocks | None]:
    """Add up shares of one segment."""
    distributions = [one.distribution for one in shares]
    values = np.concatenate([np.asarray(one.middles_ns, np.float64) for one in distributions])
    counts = np.concatenate([np.asarray(one.counts, np.int64) for one in distributions])
    middles, place = np.unique(values, return_inverse=True)
    total = np.zeros(len(middles), np.int64)
    np.add.at(total, place, counts)
    blocks = [one.blocks for one in shares if one.blocks is not None]
    return (
        Distribution(
            sum(one.n for one in distributions),
            sum(one.sum_ns for one in distributions),
            sum(one.sum_of_squares for one in distributions),
            min(one.min_ns for one in distributions),
            max(one.max_ns for one in distributions),
            middles.tolist(),
            total.tolist(),
        ),
        _added(blocks) if blocks else None,
    )


def _added(blocks: Sequence[Blocks]) -> Blocks:
    first = blocks[0]
    if len(blocks) == 1:
        return first
    return Blocks(
        first.start_ns,
        first.length_ns,
        np.sum([one.n for one in blocks], axis=0),
        np.sum([one.sum_ns for one in blocks], axis=0),
        np.sum([one.sum_of_squares for one in blocks], axis=0),
        np.concatenate([one.bin_of for one in blocks]),
        np.concatenate([one.middles_ns for one in blocks]),
        np.concatenate([one.counts for one in blocks]),
    )
