"""What is declared of the clocks' accuracy, tested against the packets."""

from collections.abc import Mapping, Sequence
from itertools import permutations

import numpy as np

from pcaplat.path import Ends, Findings, Floats, Warn
from pcaplat.stages.align.bounds import Bounds
from pcaplat.stages.align.interval import close
from pcaplat.units import format_ns

SECOND_NS = 1_000_000_000


def add_accuracy(
    findings: Findings,
    domains: Sequence[int],
    base_ns: Sequence[int],
    upper: Floats,
    accuracy_ns: Mapping[int, int],
    bounds: Mapping[Ends, Bounds],
) -> tuple[Floats, list[Warn]]:
    """Tighten the bounds by what was declared, unless the packets contradict it.

    Two clocks are apart by at most what both may be off; one alone says nothing. `bounds` have the
    packets that are named as witnesses.
    """
    names = ", ".join(findings.name(point) for point in accuracy_ns)
    if len({domains[point] for point in accuracy_ns}) <= 1:
        return upper, _alone(names) if accuracy_ns else []
    declared = upper.copy()
    for (one, off_ns), (other, other_off_ns) in permutations(accuracy_ns.items(), 2):
        a, b = domains[one], domains[other]
        if a != b:
            most_ns = off_ns + other_off_ns - (base_ns[b] - base_ns[a])
            declared[:, a, b] = np.minimum(declared[:, a, b], most_ns)
    declared = close(declared)
    if np.all(np.diagonal(declared, axis1=1, axis2=2) >= 0):
        return declared, []
    text = (
        f"the declared accuracy of {names} is contradicted by the packets, some of which would "
        f"arrive before they left{_witness(findings, domains, base_ns, accuracy_ns, bounds)}, and "
        "was not used"
    )
    remedy = "check how these clocks were set"
    return upper, [Warn("clock-accuracy-contradicted", None, text, "", remedy)]


def _witness(
    findings: Findings,
    domains: Sequence[int],
    base_ns: Sequence[int],
    accuracy_ns: Mapping[int, int],
    bounds: Mapping[Ends, Bounds],
) -> str:
    """The packet that contradicts most, by its stamps; nothing where only several together do."""
    worst_ns, text = 0, ""
    for (up, off_ns), (down, other_off_ns) in permutations(accuracy_ns.items(), 2):
        a, b = domains[up], domains[down]
        one = bounds.get((a, b))
        if one is None or not len(one.t_ns):
            continue
        at = int(np.argmin(one.most_ns))
        early_ns = -(int(one.most_ns[at]) + base_ns[b] - base_ns[a]) - off_ns - other_off_ns
        if early_ns > worst_ns:
            sights = zip((up, down), (one.up_ns[at], one.down_ns[at]), strict=True)
            seen = " and ".join(f"{_seconds(int(t))} at {findings.name(p)}" for p, t in sights)
            worst_ns = early_ns
            text = f" (by {format_ns(early_ns)} and more the one with frame.time_epoch {seen})"
    return text


def _seconds(t_ns: int) -> str:
    """Seconds since 1970, to the last digit, as Wireshark filters for them."""
    return f"{t_ns // SECOND_NS}.{t_ns % SECOND_NS:09d}"


def _alone(names: str) -> list[Warn]:
    text = f"the accuracy of {names} alone relates no two clocks and was not used"
    return [Warn("clock-accuracy-alone", None, text, "", "declare that of another clock too")]
