"""The decision: an interval against a claim's.

At 2.5 % a side a false claim is held in at most 2.5 % of studies, and a true one refuted in at most
2.5 % a side. A systematic error widens every interval by its bound. Each claim is decided by
itself; beside it stands what it would be among all claims judged with it (Holm).
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from math import inf, isfinite

from pcaplat.metrics.contrasts import AnyEstimate, Contrast
from pcaplat.metrics.counted_quantiles import CountedQuantile
from pcaplat.published.claims import Claim
from pcaplat.records import dataclass
from pcaplat.statistics.conditional_rate import RateBounds
from pcaplat.statistics.intervals import Estimate, holm
from pcaplat.statistics.mean_pairs import RelativeChange
from pcaplat.validating.evidence import Evidence
from pcaplat.validating.needs import CONFIDENCE, LEVEL, needs
from pcaplat.validating.words import ClaimBounds, inside, outside, with_notes

NO_NUMBER = "these captures give no interval for it; make three runs, or capture for longer"


@dataclass(frozen=True)
class Verdict:
    """Held, refuted or undecided, why, and the interval that decided, in the claim's unit.

    `in_family` is the verdict among the `n_family` claims that were measured together.
    """

    word: str
    reason: str
    estimate: float | None = None
    lo: float | None = None
    hi: float | None = None
    confidence: float | None = None
    n_runs: int = 0
    replication: str = ""
    in_family: str = "undecided"
    n_family: int = 0


@dataclass(frozen=True)
class Tested:
    """What was measured, what a claim allows, and the p-values of both ways to decide."""

    contrast: Contrast
    estimate: AnyEstimate
    bounds: ClaimBounds
    p_held: float
    p_refuted: float

    @property
    def p(self) -> float:
        """The lesser p-value."""
        return min(self.p_held, self.p_refuted)

    @property
    def word(self) -> str:
        """The verdict of the claim by itself."""
        if self.p_refuted <= LEVEL:
            return "refuted"
        return "held" if self.p_held <= LEVEL else "undecided"


def decide(pairs: Sequence[tuple[Claim, Evidence]]) -> list[Verdict]:
    """Judge claims, each by itself and all together."""
    pairs = [(claim, _finite(evidence)) for claim, evidence in pairs]
    tests = [tested(*pair) for pair in pairs]
    known = [test for test in tests if test is not None]
    stands = iter(holm([test.p for test in known], LEVEL))
    return [
        _unmeasured(*pair) if test is None else _verdict(test, len(known), is_firm=next(stands))
        for pair, test in zip(pairs, tests, strict=True)
    ]


def _finite(evidence: Evidence) -> Evidence:
    """Take away what is no number: nothing may be decided by it."""
    contrast = evidence.contrast
    estimate, value = contrast.estimate, contrast.value
    if estimate is not None and _is_number(estimate):
        return evidence
    known = value if value is not None and isfinite(value) else None
    why = contrast.why or NO_NUMBER
    return replace(evidence, contrast=replace(contrast, estimate=None, value=known, why=why))


def _is_number(estimate: AnyEstimate) -> bool:
    """Tell whether an interval says anything: by counts one end of it may be open."""
    ends = estimate.interval(CONFIDENCE)
    is_open = isinstance(estimate, Estimate) and estimate.is_open
    is_counted = isinstance(estimate, CountedQuantile | RateBounds)
    return any(map(isfinite, ends)) if is_counted or is_open else all(map(isfinite, ends))


def tested(claim: Claim, evidence: Evidence) -> Tested | None:
    """Test a claim; None where nothing may be decided by the evidence."""
    contrast, bounds = evidence.contrast, bounds_of(claim)
    estimate = contrast.estimate
    if estimate is None or contrast.why:
        return None
    # what no statistic lies below, or above, decides where the statistic itself scatters too much
    above = [one for one in (estimate, evidence.floor) if one is not None]
    below = [one for one in (estimate, evidence.ceiling) if one is not None]
    below = [] if evidence.is_open_above else below
    not_below = 0.0 if bounds.hi == inf else _least(one.p_not_below(bounds.hi) for one in below)
    not_above = 0.0 if bounds.lo == -inf else min(one.p_not_above(bounds.lo) for one in above)
    p_above = 1.0 if bounds.hi == inf else min(one.p_not_above(bounds.hi) for one in above)
    p_below = 1.0 if bounds.lo == -inf else _least(one.p_not_below(bounds.lo) for one in below)
    p_held = 0.0 if _is_exactly_in(estimate, bounds) else max(not_below, not_above)
    return Tested(contrast, estimate, bounds, p_held, min(p_above, p_below))


def _least(p_values: Iterable[float]) -> float:
    """Give the least p-value; nothing decides without evidence."""
    return min(p_values, default=1.0)


def _is_exactly_in(found: AnyEstimate, bounds: ClaimBounds) -> bool:
    """Tell that every run gave one and the same value, and that the claim allows it.

    Bytes of an encapsulation do not scatter: a claim of 50 with no tolerance holds of 50.
    """
    if isinstance(found, RelativeChange) and found.se:
        # its ends are searched for, which takes long
        return False
    lo, hi = found.interval(CONFIDENCE)
    return lo == hi and bounds.lo <= lo <= bounds.hi


def bounds_of(claim: Claim) -> ClaimBounds:
    """Give a claim's interval with its tolerance, in base units."""
    lo = -inf if claim.lo is None else float(claim.in_base(claim.lo - claim.margin))
    hi = inf if claim.hi is None else float(claim.in_base(claim.hi + claim.margin))
    return ClaimBounds(lo, hi, claim.unit)


def _unmeasured(claim: Claim, evidence: Evidence) -> Verdict:
    contrast = evidence.contrast
    verdict = Verdict(
        "undecided",
        with_notes(contrast.why, contrast.notes),
        n_runs=contrast.n_runs,
        replication=contrast.replication,
    )
    if contrast.value is None:
        return verdict
    unit = claim.unit_in_base
    verdict = replace(verdict, estimate=contrast.value / unit)
    if contrast.estimate is None:
        return verdict
    lo, hi = (_end(end, unit) for end in contrast.estimate.interval(CONFIDENCE))
    return replace(verdict, lo=lo, hi=hi, confidence=CONFIDENCE)


def _end(value: float, unit: float) -> float | None:
    """Give an interval's end in the claim's unit; None where it is open."""
    return value / unit if isfinite(value) else None


def _verdict(test: Tested, n_tests: int, *, is_firm: bool) -> Verdict:
    lo, hi = test.estimate.interval(CONFIDENCE)
    measured = ClaimBounds(lo, hi, test.bounds.unit)
    unit = test.bounds.factor
    word = test.word
    if word == "refuted":
        reason = outside(measured, test.bounds, CONFIDENCE)
    elif word == "held":
        reason = inside(measured, test.bounds, CONFIDENCE)
    else:
        reason = needs(test.contrast, test.estimate, test.bounds)
    in_family = word if is_firm else "undecided"
    if in_family != word:
        reason += f"; among the {n_tests} claims judged together (Holm) it would be undecided"
    return Verdict(
        word,
        with_notes(reason, test.contrast.notes),
        test.estimate.value / unit,
        _end(lo, unit),
        _end(hi, unit),
        CONFIDENCE,
        test.contrast.n_runs,
        test.contrast.replication,
        in_family,
        n_tests,
    )
