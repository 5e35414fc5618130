"""The time that is asked for with --from and --to."""

import numpy as np

from pcaplat.errors import InputError
from pcaplat.model.path import Findings
from pcaplat.units import format_instant, format_ns, parse_instant

TimeRange = tuple[int | None, int | None]
"""First and last instant, ns; None where it is open."""


def asked_range(
    findings: Findings, reference: int, start: str | None, end: str | None
) -> TimeRange:
    """Read the instants; relative ones count from the first frame of the path's points.

    Args:
        findings: What the survey found.
        reference: The point whose time the instants are in.
        start: The first instant, as `parse_instant` reads it.
        end: The last one.

    Returns:
        Both on the clock of the path's first point.

    Raises:
        InputError: Nothing can lie between them.
    """
    main = findings.components[0]
    points = [(point, findings.points[point]) for point in main]
    span = (
        min(findings.aligned(i, point.first_t_ns) for i, point in points),
        max(findings.aligned(i, point.last_t_ns) for i, point in points),
    )
    first_ns, last_ns = findings.centres[0][reference].raw(np.array(span)).tolist()
    low, high = (
        None if text is None else parse_instant(text).since(first_ns) for text in (start, end)
    )
    if what := _mistake(low, high, (first_ns, last_ns)):
        named = (("--from", start), ("--to", end))
        asked = " ".join(f"{option} {text}" for option, text in named if text is not None)
        whole = f"{format_instant(first_ns)} to {format_instant(last_ns)}"
        length = format_ns(last_ns - first_ns)
        raise InputError.wrong_range(asked, what, f"{whole} (+0s to +{length})")
    low, high = (None if t is None else findings.aligned(reference, t) for t in (low, high))
    return low, high


def _mistake(low: int | None, high: int | None, span_ns: tuple[int, int]) -> str | None:
    first_ns, last_ns = span_ns
    if low is not None and high is not None and high < low:
        return "ends before it begins"
    if (low is not None and low > last_ns) or (high is not None and high < first_ns):
        return "no packet was captured then"
    return None
