"""The error of the mean of mixed traffic, kind by kind."""

from __future__ import annotations

import numpy as np
import pytest

from pcaplat.statistics.post_stratification import (
    Cells,
    ErrorsByKind,
    Stratum,
    stratified_error,
)

N_BLOCKS = 256


def stratum(n_cells: int, family: int = 0, seed: int = 1) -> Stratum:
    """Cells of two packets each, which scatter by 100 about 5,000."""
    chance = np.random.default_rng(seed)
    values = 5_000 + 100 * chance.normal(size=(2, n_cells))
    n = np.full(n_cells, 2)
    return Stratum(family, np.arange(n_cells) * 64, n, values.sum(0), (values**2).sum(0))


def test_sixteen_cells_are_waves_and_fewer_are_packets() -> None:
    (of_packets,) = ErrorsByKind.of([stratum(15)]).sources
    assert of_packets.df == 2 * 15 - 1
    # as if all of them were one packet
    assert of_packets.variance == pytest.approx(100**2, rel=0.5)
    (of_waves,) = ErrorsByKind.of([stratum(16)]).sources
    assert of_waves.df <= 16 / 2


def test_families_of_sixteen_cells_stand_alone() -> None:
    assert len(ErrorsByKind.of([stratum(16, 1), stratum(16, 2)]).sources) == 2
    assert len(ErrorsByKind.of([stratum(15, 1), stratum(15, 2)]).sources) == 1


@pytest.mark.parametrize(("n_blocks", "is_known"), [(15, False), (16, True)])
def test_a_part_of_fewer_than_sixteen_blocks_has_no_error(n_blocks: int, *, is_known: bool) -> None:
    kinds = [ErrorsByKind.of([stratum(n_blocks)])]
    cells = Cells.joined([one.cells for one in kinds])
    assert (stratified_error(kinds, cells, n_blocks) is not None) is is_known


def test_cells_of_both_directions_are_in_order_of_time() -> None:
    sides = [ErrorsByKind.of([stratum(32, seed=seed)]).cells for seed in (1, 2)]
    both = Cells.joined(sides)
    assert np.all(np.diff(both.at) >= 0)
    assert both.spread.sum() == pytest.approx(sum(one.spread.sum() for one in sides))
    blocks = sum(one.influence_of_blocks(N_BLOCKS) for one in sides)
    assert both.influence_of_blocks(N_BLOCKS) == pytest.approx(blocks)
