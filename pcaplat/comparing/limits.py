"""Limits: how much slower a treatment may be before whoever watches is to be told."""

import re
from collections.abc import Sequence
from math import isfinite

from pcaplat.errors import OptionError
from pcaplat.metrics.contrasts import Change, Contrast
from pcaplat.metrics.metric import MetricQuery
from pcaplat.records import dataclass
from pcaplat.statistics.intervals import holm
from pcaplat.tables.columns import Row
from pcaplat.units import format_frac, format_ns, parse_duration_ns

SHARE = re.compile(r"(\d+(?:\.\d+)?) ?%")
ABOVE, WITHIN, UNDECIDED = "above", "within", "undecided"


@dataclass(frozen=True)
class Limit:
    """A limit of the two-way contribution's increase: ns, or a share of the baseline's."""

    text: str
    value: float
    is_relative: bool


def parse_limit(text: str) -> Limit:
    """Read "5%" or "2us".

    Raises:
        OptionError: It is neither.

    Example:
        >>> parse_limit("5%").value, parse_limit("2us").value
        (0.05, 2000.0)
    """
    share = SHARE.fullmatch(text.strip())
    if share and isfinite(float(share[1])):
        return Limit(text, float(share[1]) / 100, is_relative=True)
    try:
        return Limit(text, float(parse_duration_ns(text)), is_relative=False)
    except OptionError as error:
        raise OptionError(
            f"--fail-above {text}: is no limit; write a share or a duration, like 5% or 2us"
        ) from error


def limit_rows(
    limit: Limit | None,
    pairs: Sequence[tuple[str, str]],
    whole: tuple[str, str],
    change: Change,
    confidence: float,
) -> list[Row]:
    """Judge each segment and the whole path: its interval lies above the limit, or not.

    Of many segments one lies above by chance: those beside the whole path count together (Holm).

    Args:
        limit: How much slower it may be; None: nothing is judged.
        pairs: Ends of each segment, and of the whole path, if that was measured.
        whole: Ends of the whole path.
        change: Takes the difference of the scenarios.
        confidence: Of the intervals.
    """
    if limit is None:
        return []
    contrasts = [
        change(MetricQuery("two-way-contribution", ends=ends), is_relative=limit.is_relative)
        for ends in pairs
    ]
    rows = [_row(limit, ends, one, confidence) for ends, one in zip(pairs, contrasts, strict=True)]
    segments = [at for at, ends in enumerate(pairs) if ends != whole]
    stands = holm([_chance(limit, contrasts[at]) for at in segments], (1 - confidence) / 2)
    for at, is_sure in zip(segments, stands, strict=True):
        if rows[at]["verdict"] == ABOVE and not is_sure:
            rows[at] = _by_chance(rows[at], len(segments))
    return rows


def _chance(limit: Limit, contrast: Contrast) -> float:
    """Chance of such an interval where the limit is kept."""
    if contrast.estimate is None or contrast.why:
        return 1.0
    return contrast.estimate.p_not_above(limit.value)


def _by_chance(row: Row, n: int) -> Row:
    reason = f"{row['reason']}, as one of {n} segments may by chance (Holm); make more runs"
    return row | {"verdict": UNDECIDED, "reason": reason}


def _row(limit: Limit, ends: tuple[str, str], contrast: Contrast, confidence: float) -> Row:
    row: Row = {"near": ends[0], "far": ends[1], "limit": limit.text, "delta": contrast.value}
    row["unit"] = "frac" if limit.is_relative else "ns"
    if contrast.estimate is None or contrast.why:
        reason = contrast.why or "there is no interval for it"
        return row | {"lo": None, "hi": None, "verdict": UNDECIDED, "reason": reason}
    lo, hi = contrast.estimate.interval(confidence)
    shown = " to ".join(
        format_frac(end) if limit.is_relative else format_ns(end) for end in (lo, hi)
    )
    if lo > limit.value:
        verdict, reason = ABOVE, f"the interval, {shown}, lies above the limit"
    elif hi <= limit.value:
        verdict, reason = WITHIN, f"the interval, {shown}, lies below the limit"
    else:
        verdict = UNDECIDED
        reason = f"the limit lies inside the interval, {shown}; make more runs"
    return row | {"lo": lo, "hi": hi, "verdict": verdict, "reason": reason}
