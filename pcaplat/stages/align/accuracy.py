"""What is declared of the clocks' accuracy, tested against the packets."""

from collections.abc import Mapping, Sequence
from itertools import permutations

import numpy as np

from pcaplat.path import Findings, Floats, Warn
from pcaplat.stages.align.interval import close


def add_accuracy(
    findings: Findings,
    domains: Sequence[int],
    base_ns: Sequence[int],
    upper: Floats,
    accuracy_ns: Mapping[int, int],
) -> tuple[Floats, list[Warn]]:
    """Tighten the bounds by what was declared, unless the packets contradict it.

    Two clocks are apart by at most what both may be off; one alone says nothing.
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
        "arrive before they left, and was not used"
    )
    remedy = "check how these clocks were set"
    return upper, [Warn("clock-accuracy-contradicted", None, text, "", remedy)]


def _alone(names: str) -> list[Warn]:
    text = f"the accuracy of {names} alone relates no two clocks and was not used"
    return [Warn("clock-accuracy-alone", None, text, "", "declare that of another clock too")]
