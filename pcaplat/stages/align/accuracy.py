"""What is declared of the clocks' accuracy, tested against the packets."""

from collections.abc import Mapping, Sequence
from itertools import permutations
from pathlib import Path

import numpy as np

from pcaplat.model.arrays import Floats
from pcaplat.model.diagnostic import Diagnostic
from pcaplat.model.path import Findings
from pcaplat.model.points import Pair
from pcaplat.records import dataclass
from pcaplat.stages.align.bounds import OffsetBounds
from pcaplat.stages.align.interval import close
from pcaplat.units import format_ns

SECOND_NS = 1_000_000_000


@dataclass(frozen=True)
class Declared:
    """How far each point's clock may be off (`accuracy_ns`), and what it is said of."""

    findings: Findings
    domains: Sequence[int]
    base_ns: Sequence[int]
    accuracy_ns: Mapping[int, int]
    files: Sequence[str]

    @property
    def names(self) -> str:
        """Names of the points."""
        return ", ".join(map(self.findings.name, self.accuracy_ns))


def add_accuracy(
    declared: Declared, upper: Floats, bounds: Mapping[Pair, OffsetBounds]
) -> tuple[Floats, list[Diagnostic]]:
    """Tighten the bounds by what was declared, unless the packets contradict it.

    Two clocks are apart by at most what both may be off; one alone says nothing. `bounds` have the
    packets that are named as witnesses.
    """
    accuracy_ns, domains, base_ns = declared.accuracy_ns, declared.domains, declared.base_ns
    if len({domains[point] for point in accuracy_ns}) <= 1:
        return upper, _alone(declared.names) if accuracy_ns else []
    tighter = upper.copy()
    for (one, off_ns), (other, other_off_ns) in permutations(accuracy_ns.items(), 2):
        a, b = domains[one], domains[other]
        if a != b:
            most_ns = off_ns + other_off_ns - (base_ns[b] - base_ns[a])
            tighter[:, a, b] = np.minimum(tighter[:, a, b], most_ns)
    tighter = close(tighter)
    if np.all(np.diagonal(tighter, axis1=1, axis2=2) >= 0):
        return tighter, []
    text = (
        f"the declared accuracy of {declared.names} is contradicted by the packets: some would "
        f"arrive before they left{_cross_check(declared, bounds)}, and was not used"
    )
    remedy = "check how these clocks were set"
    return upper, [Diagnostic("clock-accuracy-contradicted", None, text, "", remedy)]


def _cross_check(declared: Declared, bounds: Mapping[Pair, OffsetBounds]) -> str:
    """The packet that contradicts most, by its frames; nothing where only several together do."""
    worst_ns, text = 0, ""
    domains, base_ns = declared.domains, declared.base_ns
    for (up, off_ns), (down, other_off_ns) in permutations(declared.accuracy_ns.items(), 2):
        a, b = domains[up], domains[down]
        bound = bounds.get((a, b))
        if bound is None or not len(bound.t_ns):
            continue
        at = int(np.argmin(bound.most_ns))
        early_ns = -(int(bound.most_ns[at]) + base_ns[b] - base_ns[a]) - off_ns - other_off_ns
        if early_ns > worst_ns:
            seen = " and ".join(_observations(declared, bound, at, (up, down)))
            worst_ns = early_ns
            text = f" (for example by {format_ns(early_ns)}, a packet with frame.time_epoch {seen})"
    return text


def _observations(declared: Declared, one: OffsetBounds, at: int, points: Pair) -> list[str]:
    """Where and when a packet was seen upstream and downstream."""
    stamps_ns = (int(one.up_ns[at]), int(one.down_ns[at]))
    places = np.reshape(one.places[at], (2, 2)).tolist()
    return [
        f"{_seconds(t_ns)} at {declared.findings.name(point)}"
        + (f" ({Path(declared.files[file]).name} frame {frame})" if frame else "")
        for t_ns, point, (file, frame) in zip(stamps_ns, points, places, strict=True)
    ]


def _seconds(t_ns: int) -> str:
    """Seconds since 1970, to the last digit, as Wireshark filters for them."""
    return f"{t_ns // SECOND_NS}.{t_ns % SECOND_NS:09d}"


def _alone(names: str) -> list[Diagnostic]:
    text = f"the accuracy of {names} alone relates no two clocks and was not used"
    return [Diagnostic("clock-accuracy-alone", None, text, "", "declare that of another clock too")]
