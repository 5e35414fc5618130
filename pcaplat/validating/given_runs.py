"""Runs as they were given: gaps in their numbers, and runs that were captured at the same time."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, pairwise
from math import gcd

from pcaplat.metrics.runs import LEAST_RUNS, Scenario

NUMBERED = re.compile(r"(.*?)(\d{1,4})(\D*)")

MOST_MISSING = 1.0
"""Of so many missing numbers for each run, they are dates or ports and count no runs."""

MOST_IN_COMMON = 0.5
"""Runs that share so much of the time of the shorter one are of one time."""

REPEAT = (
    "whatever that time had is in both, as if they were one run; make runs one after the other, or "
    "add --accept-order if they share nothing"
)

Names = tuple[str, str]
"""What stands before and behind the number of a run."""


def gaps(scenarios: Sequence[Scenario]) -> Iterator[str]:
    """Name the runs that numbers say were made, and that were not given.

    Scenarios that share no number count on together: what one lacks another may have.
    """
    numbers = [_numbers(one) for one in scenarios]
    for scenario, mine in zip(scenarios, numbers, strict=True):
        for name, own in mine.items():
            others = [other.get(name, set()) for other in numbers if other is not mine]
            shared = [other for other in others if own.isdisjoint(other)]
            missing = sorted(_missing(own) - set().union(*shared))
            if missing and len(missing) <= MOST_MISSING * len(own):
                shown = ", ".join(f"{name[0]}{number}{name[1]}" for number in missing)
                yield (
                    f"{scenario.name}: the numbers of its runs have gaps ({shown}); give all runs, "
                    "for a selection may decide a verdict"
                )


def _numbers(scenario: Scenario) -> Mapping[Names, set[int]]:
    found: dict[Names, set[int]] = defaultdict(set)
    for run in scenario.runs:
        if match := NUMBERED.fullmatch(run.name):
            found[match[1], match[3]].add(int(match[2]))
    return {name: own for name, own in found.items() if len(own) >= LEAST_RUNS}


def _missing(own: set[int]) -> set[int]:
    """Numbers between the least and the greatest, in steps that all of them share."""
    steps = [later - earlier for earlier, later in pairwise(sorted(own))]
    return set(range(min(own), max(own), gcd(*steps))) - own


def of_one_time(scenario: Scenario) -> str:
    """Name two runs that were captured at the same time; "" if there are none."""
    for one, other in combinations(scenario.runs, 2):
        together_ns = min(one.end_ns, other.end_ns) - max(one.start_ns, other.start_ns)
        shorter_ns = min(run.end_ns - run.start_ns for run in (one, other))
        if together_ns > MOST_IN_COMMON * shorter_ns:
            return f"{one.name} and {other.name} of {scenario.name} are of the same time"
    return ""
