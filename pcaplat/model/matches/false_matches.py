"""How many pairs are false, by decoys: equal packets matched again with observations taken out.

Packets that every point saw (whole) lose observations as points miss them (cut); what then pairs
with another packet is a false pair. Each kind of false pair counts as often as packets of its kinds
come (docs/method/match.md, false matches).
"""

from collections.abc import Mapping, Sequence

from pcaplat import _native
from pcaplat.model.matched import DecoyCounts, LatePairs, PointsAndDirection
from pcaplat.records import dataclass

CONFIDENCE = 0.95
NO_LATE_PAIRS = LatePairs(0, 0)
MOST_INCOMPLETE = 0.75
"""Of packets: where hardly any is complete, decoys say little."""


@dataclass(frozen=True)
class FalseMatches:
    """The expected number of false pairs, by ends, and the most that it may be."""

    n_expected: Mapping[PointsAndDirection, float]
    n_upper: float
    n_pairs: int
    n_late: int = 0
    """False pairs that are expected of late packets, whichever points they are of."""

    @property
    def frac(self) -> float | None:
        """Their share of all pairs; null without pairs."""
        n = sum(self.n_expected.values()) + self.n_late
        return min(1.0, n / self.n_pairs) if self.n_pairs else None

    @property
    def upper_frac(self) -> float | None:
        """The share that they are below with 95 % confidence."""
        return min(1.0, self.n_upper / self.n_pairs) if self.n_pairs else None


def false_matches(decoys: DecoyCounts, late: LatePairs = NO_LATE_PAIRS) -> FalseMatches:
    """Weigh what the core counted of decoys (rust/src/matching/decoys.rs).

    Args:
        decoys: What it counted.
        late: Pairs of late packets, and what was found in the order that causality forbids.

    Returns:
        Expected false pairs. Without a single false decoy the expectation is 0, and the upper bound
        that of three (the "rule of three") of the kind that takes two incomplete packets.
    """
    cut = 1 / decoys.one_in
    tried = decoys.n_tried / decoys.n_eligible if decoys.n_eligible else 1.0
    scale = 1 / (decoys.n_turns * tried) if tried else 0.0
    expected: dict[PointsAndDirection, float] = {}
    for ends, counts in decoys.false_pairs.items():
        n, n_incomplete = decoys.packets[ends[2]]
        weights = _weights(n_incomplete / n if n else 0.0, cut)
        expected[ends] = scale * sum(w * k for w, k in zip(weights, counts, strict=True))
    n_hit, total = decoys.n_hit, sum(expected.values())
    if n_hit:  # Poisson's upper limit (Garwood 1936)
        n_upper = total / n_hit * _native.gamma_quantile(n_hit + 1, CONFIDENCE)
    else:
        most = max(((n_incomplete + 3) / max(n, 3)) for n, n_incomplete in decoys.packets)
        n_upper = 3 * min(1.0, most) ** 2 / (tried or 1.0)
    n_upper = max(n_upper, total) + _most_late(late)
    n_late = min(late.n, late.n_false)
    return FalseMatches(expected, n_upper, decoys.n_pairs + late.n, n_late)


def _most_late(late: LatePairs) -> float:
    """How many of the pairs of late packets may be false, with 95 % confidence."""
    return min(float(late.n), _native.gamma_quantile(late.n_false + 1, CONFIDENCE))


def _weights(incomplete: float, cut: float) -> Sequence[float]:
    """How many real false pairs one of each kind stands for.

    Kinds: natural with cut, cut with cut, natural with whole, cut with whole, whole with whole;
    `natural` are incomplete by themselves. Decoys of two incomplete packets, natural or cut, are
    (1−f)(3−f) times as many as there are real ones, of one incomplete and one whole packet
    (1−f)(2−f) times, of two whole ones (1−f)².
    """
    f = min(incomplete, MOST_INCOMPLETE)
    one, whole = f / cut, (1 - f) / (1 - cut)
    two = (1 - f) * (3 - f)
    mixed = (1 - f) * (2 - f)
    return (one / two, one**2 / two, whole / mixed, one * whole / mixed, whole**2 / (1 - f) ** 2)
