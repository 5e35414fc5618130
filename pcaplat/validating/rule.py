"""The decision: an interval against a claim's (equivalence by two one-sided tests).

At 5 % a false claim is held in at most 5 % of studies, and a true one refuted in at most 5 %. A
systematic error widens every interval by its bound.
"""

from collections.abc import Sequence
from dataclasses import replace
from math import inf, isfinite

from pcaplat.metrics.contrasts import Contrast
from pcaplat.published.claims import Claim
from pcaplat.records import dataclass
from pcaplat.statistics.intervals import Estimate, holm
from pcaplat.statistics.loss_ratio import LossEstimate
from pcaplat.validating.needs import needs
from pcaplat.validating.words import ClaimBounds, inside, outside, with_notes

LEVEL = 0.05
HELD_CONFIDENCE = 1 - 2 * LEVEL
REFUTED_CONFIDENCE = 1 - LEVEL

NO_NUMBER = "these captures tell no interval for it; make five runs, or capture for longer"


@dataclass(frozen=True)
class Verdict:
    """Held, refuted or undecided, why, and the interval that decided, in the claim's unit."""

    word: str
    reason: str
    estimate: float | None = None
    lo: float | None = None
    hi: float | None = None
    confidence: float | None = None
    n_runs: int = 0
    replication: str = ""


@dataclass(frozen=True)
class _Test:
    """A claim, what was measured, and the p-values of both ways to decide."""

    claim: Claim
    contrast: Contrast
    estimate: Estimate | LossEstimate
    bounds: ClaimBounds
    p_held: float
    p_refuted: float

    @property
    def p(self) -> float:
        return min(self.p_held, self.p_refuted)


def decide(pairs: Sequence[tuple[Claim, Contrast]]) -> list[Verdict]:
    """Judge claims together: of several, one is decided by chance more easily (Holm)."""
    pairs = [(claim, _finite(contrast)) for claim, contrast in pairs]
    tests = [_test(*pair) for pair in pairs]
    known = [test for test in tests if test is not None]
    stands = iter(holm([test.p for test in known], LEVEL))
    return [
        _unmeasured(*pair) if test is None else _verdict(test, len(known), is_firm=next(stands))
        for pair, test in zip(pairs, tests, strict=True)
    ]


def _finite(contrast: Contrast) -> Contrast:
    """Take away what is no number: nothing may be decided by it."""
    estimate, value = contrast.estimate, contrast.value
    if estimate is not None and all(map(isfinite, estimate.interval(REFUTED_CONFIDENCE))):
        return contrast
    known = value if value is not None and isfinite(value) else None
    return replace(contrast, estimate=None, value=known, why=contrast.why or NO_NUMBER)


def _test(claim: Claim, contrast: Contrast) -> _Test | None:
    estimate, bounds = contrast.estimate, bounds_of(claim)
    if estimate is None or contrast.why:
        return None
    not_below = 0.0 if bounds.hi == inf else estimate.p_not_below(bounds.hi)
    not_above = 0.0 if bounds.lo == -inf else estimate.p_not_above(bounds.lo)
    above = 1.0 if bounds.hi == inf else estimate.p_not_above(bounds.hi)
    below = 1.0 if bounds.lo == -inf else estimate.p_not_below(bounds.lo)
    p_refuted = min(1.0, 2 * min(above, below))
    p_held = 0.0 if _is_exactly_in(estimate, bounds) else max(not_below, not_above)
    return _Test(claim, contrast, estimate, bounds, p_held, p_refuted)


def _is_exactly_in(found: Estimate | LossEstimate, bounds: ClaimBounds) -> bool:
    """Tell that every run gave one and the same value, and that the claim allows it.

    Bytes of an encapsulation do not scatter: a claim of 50 with no tolerance holds of 50.
    """
    lo, hi = found.interval(HELD_CONFIDENCE)
    return lo == hi and bounds.lo <= lo <= bounds.hi


def bounds_of(claim: Claim) -> ClaimBounds:
    """Give a claim's interval with its tolerance, in base units."""
    lo = -inf if claim.lo is None else float(claim.in_base(claim.lo - claim.margin))
    hi = inf if claim.hi is None else float(claim.in_base(claim.hi + claim.margin))
    return ClaimBounds(lo, hi, claim.unit)


def _unmeasured(claim: Claim, contrast: Contrast) -> Verdict:
    verdict = Verdict("undecided", with_notes(contrast.why, contrast.notes), n_runs=contrast.n_runs)
    verdict = replace(verdict, replication=contrast.replication)
    if contrast.value is None:
        return verdict
    unit = claim.unit_in_base
    verdict = replace(verdict, estimate=contrast.value / unit)
    if contrast.estimate is None:
        return verdict
    lo, hi = (end / unit for end in contrast.estimate.interval(HELD_CONFIDENCE))
    return replace(verdict, lo=lo, hi=hi, confidence=HELD_CONFIDENCE)


def _verdict(test: _Test, n_tests: int, *, is_firm: bool) -> Verdict:
    is_refuted = test.p_refuted <= LEVEL
    confidence = REFUTED_CONFIDENCE if is_refuted else HELD_CONFIDENCE
    lo, hi = test.estimate.interval(confidence)
    measured = ClaimBounds(lo, hi, test.claim.unit)
    unit = test.claim.unit_in_base
    verdict = Verdict(
        "undecided",
        "",
        test.estimate.value / unit,
        lo / unit,
        hi / unit,
        confidence,
        test.contrast.n_runs,
        test.contrast.replication,
    )
    if is_refuted:
        word, reason = "refuted", outside(measured, test.bounds, confidence)
    elif test.p_held <= LEVEL:
        word, reason = "held", inside(measured, test.bounds, confidence)
    else:
        word, reason = "undecided", needs(test.contrast, test.estimate, test.bounds)
    if word != "undecided" and not is_firm:
        alone = f"too little data: {word} if it were the only claim ({reason}), but not"
        word, reason = "undecided", f"{alone} among {n_tests} judged together (Holm)"
    return replace(verdict, word=word, reason=with_notes(reason, test.contrast.notes))
