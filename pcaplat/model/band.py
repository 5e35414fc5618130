"""Where latencies lie about the usual offset, and how often a point sees a packet twice."""

import numpy as np

from pcaplat.model.arrays import Ints, quantile
from pcaplat.model.points import Pair
from pcaplat.records import dataclass

LEAST_ALONE_NS = 100_000
"""As if a path without jitter had so much."""


LEAST_FAR_NS = 1_000_000
"""What is nearer to the usual is not far."""


@dataclass(frozen=True)
class Band:
    """Where the residuals about the centre lie, for one pair of points and direction.

    `outside_frac` of them lie outside, `far_frac` by more than half of its width; `reach_ns` are
    the least and the greatest that are to be expected of any packet; `order_kept` is 0 where
    packets of a flow overtake each other as often as residuals alone would have it, and towards 1
    where they do not. What is alone at both points is one packet within `alone_ns` beside the band.
    """

    lo_ns: int
    hi_ns: int
    density: list[float]
    lost_frac: float = 0.0
    phantom_frac: float = 0.0
    outside_frac: float = 0.0
    far_frac: float = 0.0
    reach_ns: Pair = (0, 0)
    order_kept: float = 0.0
    alone_ns: int = LEAST_ALONE_NS


@dataclass(frozen=True)
class Tail:
    """Of `n` packets 99 % are within `within_ns` of the usual difference.

    `far_ns`: how far those are that are farther than 1 ms from it, and from the difference of
    packets about the same time, ascending.
    """

    n: int
    within_ns: int
    far_ns: Ints

    @classmethod
    def of(cls, apart_ns: Ints, from_others_ns: Ints) -> "Tail":
        """Of how far packets are from the usual difference, and from others about the same time."""
        if not len(apart_ns):
            return cls(0, 0, apart_ns)
        far_ns = np.sort(np.minimum(apart_ns, from_others_ns))
        first = np.searchsorted(far_ns, LEAST_FAR_NS, "right")
        return cls(len(apart_ns), int(quantile(apart_ns, 0.99)), far_ns[first:])

    def frac_beyond(self, ns: int) -> float:
        """The share of packets that are farther than this, of 1 ms or more."""
        n_far = len(self.far_ns) - int(np.searchsorted(self.far_ns, ns, "right"))
        return n_far / max(self.n, 1)


@dataclass(frozen=True)
class Copies:
    """How often a point sees a packet twice, and how much later."""

    copied_frac: float = 0.0
    lo_ns: int = 0
    hi_ns: int = 0
