"""Where latencies lie about the usual offset, and how often a point sees a packet twice."""

from pcaplat.model.points import Pair
from pcaplat.records import dataclass

LEAST_ALONE_NS = 100_000
"""As if a path without jitter had so much."""


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
class Copies:
    """How often a point sees a packet twice, and how much later."""

    copied_frac: float = 0.0
    lo_ns: int = 0
    hi_ns: int = 0
