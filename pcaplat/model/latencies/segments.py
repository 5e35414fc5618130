"""Segments: what was measured of each, before it is summed up in numbers.

Attribution makes these values; the summary uses them.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from math import ceil

import numpy as np

from pcaplat.model.arrays import Ints
from pcaplat.model.blocks import Blocks
from pcaplat.model.clocks import Relation
from pcaplat.records import dataclass

LEAST_WAIT = 20
"""Times the usual delay that a packet is waited for at least, and from which on it is late."""


@dataclass(frozen=True)
class Distribution:
    """Latencies of one segment and direction: exact extremes and moments, and a histogram.

    `middles_ns` are the latencies themselves, ascending, of up to 4096 packets; of more, they are
    the middles of the occupied bins, from which a value differs by at most 2^-11 of itself
    (rust/src/base/histogram.rs).
    """

    n: int
    sum_ns: int
    sum_of_squares: float
    min_ns: int
    max_ns: int
    middles_ns: Sequence[float]
    counts: Sequence[int]

    @property
    def mean_ns(self) -> float:
        """Mean; the sum is exact."""
        return self.sum_ns / self.n

    @property
    def has_exact_sums(self) -> bool:
        """Whether no part of them adds up to more than a number of 64 bits holds."""
        return max(abs(self.min_ns), abs(self.max_ns)) * self.n < 1 << 63

    @property
    def variance(self) -> float:
        """Variance, ns²."""
        return max(self.sum_of_squares / self.n - self.mean_ns**2, 0.0)

    def n_below(self, limit_ns: float) -> int:
        """How many latencies are less than a limit, to the width of a bin."""
        return sum(n for at, n in zip(self.middles_ns, self.counts, strict=True) if at < limit_ns)

    def above(self, limit_ns: float) -> tuple[int, int]:
        """How many latencies are more than a limit, and their sum, both to the width of a bin.

        The width that counts is that of the bins below: what is left of the sum is their sum, be
        those above a million times as long.
        """
        bins = zip(self.middles_ns, self.counts, strict=True)
        others = [(at, n) for at, n in bins if at <= limit_ns]
        n_others = sum(n for _, n in others)
        sum_ns = round(sum(at * n for at, n in others))
        least_ns, most_ns = self.min_ns * n_others, self.max_ns * n_others
        return self.n - n_others, self.sum_ns - min(max(sum_ns, least_ns), most_ns)

    def quantile_ns(self, share: float) -> float:
        """Value that `share` of the latencies do not exceed (inverse of the distribution)."""
        rank = np.ceil(share * self.n)
        at = int(np.searchsorted(self._reached, rank))
        middle = self.middles_ns[min(at, len(self.middles_ns) - 1)]
        return float(min(max(middle, self.min_ns), self.max_ns))

    @cached_property
    def _reached(self) -> Ints:
        """How many latencies are in each bin, or before it."""
        return np.cumsum(self.counts)


@dataclass(frozen=True)
class Undecided:
    """Packets that crossed a segment and stand in no latency of it: identical ones, not told apart.

    `mean_ns` is by how much the mean of all is less than that of the others, at most, and by how
    much it is more; `single_ns` the same of the quickest of them and the slowest.
    `n_maybe_lost` packets may be lost that are not counted as lost, and `n_maybe_late` are counted
    as lost that may be late.
    """

    n: int = 0
    n_maybe_lost: int = 0
    n_maybe_late: int = 0
    mean_ns: tuple[float, float] = (0.0, 0.0)
    single_ns: tuple[float, float] = (0.0, 0.0)


@dataclass(frozen=True)
class Segment:
    """One segment and direction, as measured, of packets or of one kind of cut and joined ones.

    The bytes are those of TCP payload, of packets left whole, cut and joined together. `blocks` are
    the latencies block by block of time, `variation` the size of the difference of each from that
    of the packet before it in its flow (IPDV, RFC 5481); both of whole packets.
    """

    near: int
    far: int
    is_reverse: bool
    n: int
    n_lost: int
    n_duplicated: int
    n_reordered: int
    relation: Relation
    distribution: Distribution | None
    kind: str = "packet"
    matched_bytes: int = 0
    lost_bytes: int = 0
    maybe_lost_bytes: int = 0
    blocks: Blocks | None = None
    variation: Distribution | None = None
    lost_spread: float = 1.0
    """How many times the variance of as many independent losses `n_lost` has."""
    n_lost_divided: int = 0
    """Of `n_lost`, those lost before a fork, nobody knows on which branch."""
    early: str = ""
    """The frames of the packet that arrived earliest before it left, if one did."""
    n_late: int | None = None
    """Packets that took more than 20 times the usual, beyond the band; None: not counted."""
    late_sum_ns: int = 0
    """Sum of their latencies, where they are known."""
    n_too_late: int = 0
    """Packets that came after the waiting time that was asked for, and count as lost."""
    loss_threshold_ns: int = 0
    """The waiting time after which a packet is lost (RFC 7680 §2.4)."""
    undecided: Undecided = Undecided()
    n_unwaited: int = 0
    """See `n_waited`."""
    is_split: bool = False
    """One of its ends stamps what it receives and what it sends by different clocks."""

    def waited_for(self) -> "Segment":
        """Wait for the slowest that was found, twenty times the usual at least."""
        found = self.distribution
        if found is None or not self.is_absolute:
            return self
        least_ns = ceil(max(found.max_ns, LEAST_WAIT * found.quantile_ns(0.5)))
        return replace(self, loss_threshold_ns=max(self.loss_threshold_ns, least_ns))

    @property
    def n_waited(self) -> int:
        """Of the packets that arrived those that would count as lost if they had not.

        Others set out less than the waiting time before one of its ends stopped capturing: of those
        that could not be told apart, the same share.
        """
        n_alike = self.undecided.n
        return self.n + n_alike - round(self.n_unwaited * (1 + n_alike / max(self.n, 1)))

    @property
    def n_judged(self) -> int:
        """Packets of which it is known whether they were lost."""
        return self.n_waited + self.n_lost

    def split(self) -> "Segment":
        """Give what is left of it then: counts, and variation within a direction."""
        return replace(self, blocks=None, is_split=True)

    @property
    def mean_without_late_ns(self) -> float | None:
        """Mean of the packets that were not late; None where all were, or nothing is known."""
        all_of = self.distribution
        if all_of is None or self.n_late is None or self.n_late >= all_of.n:
            return None
        return (all_of.sum_ns - self.late_sum_ns) / (all_of.n - self.n_late)

    @property
    def has_round_trip(self) -> bool:
        """Whether the clocks cancel in the sum of both directions."""
        return not self.is_split and not self.relation.is_contradicted

    @property
    def clock_half_width_ns(self) -> float | None:
        """How far the clocks may shift all latencies; None if they are not known.

        A clock's step may be on the wrong side of a packet, which arrives before it left then: they
        are as wide as that.
        """
        width_ns, found = self.relation.half_width_ns, self.distribution
        if width_ns is None or found is None or not self.relation.steps:
            return width_ns
        return max(width_ns, float(-found.min_ns))

    @property
    def is_absolute(self) -> bool:
        """Whether the distribution is of latencies, not only of their variation."""
        return self.relation.is_known
