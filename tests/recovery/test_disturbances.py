"""Clocks and networks at their worst: every figure is right within its interval, or null."""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import TYPE_CHECKING

import pytest

from tests.recovery.disturbances import KINDS
from tests.recovery.disturbances.judge import Judged, judged

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

N = 1_200
SIZES, SEEDS = (1_000, 5_000, 20_000), range(1, 6)
CLEAN = ("nothing", "loss in bursts", "loss at the start", "loss at the end")
"""Kinds of which nobody need be warned, with one clock."""
MOST_MISSED = 0.05
FEW = 30
"""A share of so few intervals may be twice that by chance."""


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that lasts as long as the merges are kept."""
    return tmp_path_factory.mktemp("disturbed")


@cache
def found(name: str, n: int, seed: int, folder: Path) -> Judged:
    """Several tests ask about one merge."""
    scratch = folder / f"{len(list(folder.iterdir()))}"
    scratch.mkdir()
    return judged(name, n, seed, scratch)


def seed_of(name: str) -> int:
    """Kinds differ in the time they last, too."""
    return 1 + [*KINDS].index(name) % 5


def too_many_missed(all_of: Iterable[Judged]) -> list[str]:
    """Kinds of figures whose intervals miss the truth too often, with how often."""
    figures = [one for judged in all_of for one in judged.figures if one.lo is not None]
    n = Counter(one.kind for one in figures)
    missed = Counter(one.kind for one in figures if one.is_missed)
    return [
        f"{kind}: {k} of {n[kind]}"
        for kind, k in missed.items()
        if k > MOST_MISSED * (n[kind] + FEW)
    ]


@pytest.mark.parametrize("name", KINDS)
def test_no_figure_is_far_off(name: str, scratch: Path) -> None:
    measured = found(name, N, seed_of(name), scratch)
    # where nothing comes back no latency is known
    assert len(measured.figures) >= (3 if name == "slewed and set, one way" else 6)
    assert [one for one in measured.figures if one.is_far] == []


@pytest.mark.parametrize("name", KINDS)
def test_intervals_hold_the_truth(name: str, scratch: Path) -> None:
    assert too_many_missed([found(name, N, seed_of(name), scratch)]) == []


@pytest.mark.parametrize("name", CLEAN)
def test_nobody_is_warned_of_nothing(name: str, scratch: Path) -> None:
    assert [row["code"] for row in found(name, N, seed_of(name), scratch).warned] == []


@pytest.mark.slow
@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("name", KINDS)
def test_at_any_size_and_seed(name: str, n: int, scratch: Path) -> None:
    all_of = [found(name, n, seed, scratch) for seed in SEEDS]
    assert [one for judged in all_of for one in judged.figures if one.is_far] == []
    assert too_many_missed(all_of) == []
    if name in CLEAN:
        assert sum(bool(one.warned) for one in all_of) == 0
