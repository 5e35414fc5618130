"""Runs that are copies: the same captures given twice, whole, cut or moved in time."""

import itertools
from collections.abc import Sequence
from hashlib import blake2b

import numpy as np

from pcaplat.metrics.contents import Contents, share_in_common
from pcaplat.metrics.runs import MeasuredRun, Scenario
from pcaplat.study.errors import StudyError

COPIED_SHARE = 0.5
"""Captures that share so many of their stamps, at every point, are of the same packets."""

LEAST_STAMPS = 10
"""Fewer stamps may be equal by chance."""


def refuse_copies(scenarios: Sequence[Scenario]) -> None:
    """Refuse runs that are one run: nothing is learnt from it twice.

    Raises:
        StudyError: Two runs hold the same packets; it names both.
    """
    runs = [(scenario.name, run) for scenario in scenarios for run in scenario.runs]
    digests = [_digest(run) for _, run in runs]
    for first, second in itertools.combinations(range(len(runs)), 2):
        (one_of, one), (other_of, other) = runs[first], runs[second]
        if digests[first] == digests[second] != "" or _share_stamps(one, other):
            raise StudyError.copied(f"{one_of}/{one.name}", f"{other_of}/{other.name}")


def _digest(run: MeasuredRun) -> str:
    """Digest of all latencies, block by block; the same wherever they were moved in time."""
    blocks = [run.blocks[key] for key in sorted(run.blocks)]
    if not any(len(np.unique(one.sum_ns)) > 1 for one in blocks):
        return ""
    digest = blake2b(digest_size=16)
    for one in blocks:
        for column in (one.n, one.sum_ns):
            digest.update(np.ascontiguousarray(column, np.int64).tobytes())
    return digest.hexdigest()


def _share_stamps(one: MeasuredRun, other: MeasuredRun) -> bool:
    both: list[Contents] = [run.contents for run in (one, other) if run.contents is not None]
    if len(both) < len((one, other)):
        return False
    points = set(both[0].stamps) & set(both[1].stamps)
    pairs = [(both[0].stamps[point], both[1].stamps[point]) for point in points]
    if not pairs or min(min(map(len, pair)) for pair in pairs) < LEAST_STAMPS:
        return False
    return all(share_in_common(*pair) >= COPIED_SHARE for pair in pairs)
