"""Which shared packets relate two points: as plain loops over the blocks of neighbours tell it."""

from __future__ import annotations

from statistics import median, median_high
from typing import TYPE_CHECKING

import numpy as np
import pytest

from pcaplat.stages.survey import Observations
from pcaplat.stages.survey.delays.relations import (
    BLOCK,
    COMPANY,
    ENOUGH_OF_WAY,
    OUTLIER_DEVIATIONS,
    OUTLIER_NS,
    shared,
)
from tests.support.samples import START_NS

if TYPE_CHECKING:
    from pcaplat.model.arrays import Ints

FAR_OFF_NS = 2**62
"""Clocks may be apart by more than anybody would think of."""


def _blocks(rows: list[int]) -> list[list[int]]:
    return [part.tolist() for part in np.array_split(rows, max(1, len(rows) // BLOCK))]


def _from_median(d_ns: list[int], rows: list[int]) -> dict[int, int]:
    found: dict[int, int] = {}
    for block in _blocks(rows):
        usual_ns = median_high([d_ns[row] for row in block])
        found |= {row: abs(d_ns[row] - usual_ns) for row in block}
    return found


def _to_company(d_ns: list[int]) -> dict[int, int]:
    found = dict.fromkeys(range(len(d_ns)), FAR_OFF_NS)
    for block in _blocks(list(found)):
        by = sorted(block, key=d_ns.__getitem__)
        for few in zip(*(by[place:] for place in range(COMPANY + 1)), strict=False):
            width_ns = d_ns[few[-1]] - d_ns[few[0]]
            found |= {row: min(found[row], width_ns) for row in few}
    return found


def _usual(away_ns: dict[int, int], spread_ns: dict[int, int]) -> set[int]:
    limit_ns = OUTLIER_NS + OUTLIER_DEVIATIONS * median(spread_ns.values())
    return {row for row, one in away_ns.items() if one <= limit_ns}


def _kept(d_ns: list[int], ways: list[list[int]]) -> list[int]:
    """Rows that are no outliers."""
    apart_ns = _from_median(d_ns, list(range(len(d_ns))))
    own_ns = dict(apart_ns)
    for rows in ways:
        own_ns |= _from_median(d_ns, rows) if len(rows) >= ENOUGH_OF_WAY else {}
    kept = _usual(apart_ns, apart_ns) | _usual(own_ns, own_ns) | _usual(_to_company(d_ns), own_ns)
    for rows in ways:
        kept |= set() if kept & set(rows) else set(rows)
    return sorted(kept)


def _observations(t_ns: Ints, pair: Ints) -> Observations:
    none, no = np.zeros(len(t_ns), np.int64), np.zeros(len(t_ns), np.bool_)
    return Observations(np.arange(len(t_ns)), pair, pair, no, ~no, none, t_ns, none, none, none)


@pytest.mark.parametrize("seed", range(40))
def test_outliers_are_those_of_plain_loops(seed: int) -> None:
    chance = np.random.default_rng(seed)
    # some address pairs with few packets, some with blocks of several lengths
    pair = np.repeat(np.arange(12), chance.choice([1, 2, 3, 4, 60, 203], 12))
    chance.shuffle(pair)
    centre_ns = chance.choice([0, 10**9, -FAR_OFF_NS]) + chance.integers(-(10**8), 10**8, 12)
    d_ns = centre_ns[pair] + chance.integers(-(10**5), 10**5, len(pair))
    odd = chance.random(len(pair)) < 0.2
    # so that some of them have company
    d_ns[odd] += chance.choice(chance.integers(-(10**10), 10**10, 15), odd.sum())
    t_ns = START_NS + 1000 * np.arange(len(pair))
    by = chance.permutation(len(pair))
    both, _ = shared(_observations(t_ns[by], pair[by]), _observations((t_ns + d_ns)[by], pair[by]))
    ways = [np.flatnonzero(pair == number).tolist() for number in np.unique(pair)]
    kept = _kept(d_ns.tolist(), ways)
    assert ((both.t_ns - START_NS) // 1000).tolist() == kept
    assert both.d_ns.tolist() == d_ns[kept].tolist()
    assert 0 < len(kept) < len(pair)
