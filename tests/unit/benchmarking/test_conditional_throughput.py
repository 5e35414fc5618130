"""Throughput where losses invert: what a slower rate lost, a faster one cannot have (MLRsearch)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from pcaplat.benchmarking import rfc2544
from tests.unit.benchmarking.trials_by_hand import Planned, write_trials

if TYPE_CHECKING:
    from pathlib import Path


def result_of(folder: Path, *plans: Planned) -> dict[str, Any]:
    document = rfc2544(write_trials(folder, plans), options={"same_clock": ["all"]})
    (row,) = document["results"]
    return dict(row)


def rates(row: dict[str, Any], name: str) -> list[float]:
    """What a result tells as a rate of this name; the conditional one, if it has one by itself."""
    found = {key: value for key, value in row.items() if name in key and key.endswith("_pps")}
    return [value for key, value in found.items() if "conditional" in key] or list(found.values())


@pytest.mark.parametrize("n_lost", [10, 300])
def test_no_throughput_above_a_rate_that_lost(tmp_path: Path, n_lost: int) -> None:
    """draft-ietf-bmwg-mlrsearch: of loads, the relevant lower bound lies below the upper one."""
    row = result_of(
        tmp_path,
        Planned(64, 1000),
        Planned(64, 2000),
        Planned(64, 4000, n_lost=n_lost),
        Planned(64, 8000),
    )
    assert pytest.approx(2000, rel=0.01) in rates(row, "throughput")


def test_partial_drop_rates_heed_inversions_too(tmp_path: Path) -> None:
    """PDR: 20 % at the slower rate, none at the faster."""
    row = result_of(tmp_path, Planned(64, 1000), Planned(64, 2000, n_lost=200), Planned(64, 4000))
    assert pytest.approx(1000, rel=0.01) in rates(row, "pdr")


def test_bounds_and_the_load_to_try_next(tmp_path: Path) -> None:
    row = result_of(tmp_path, Planned(64, 1000), Planned(64, 2000, n_lost=10), Planned(64, 8000))
    bounds = [row[f"throughput_{name}_load"] for name in ("lower", "upper", "next")]
    assert bounds == pytest.approx([1000, 2000, 1500], rel=0.01)


def test_half_of_the_trials_of_a_load_may_lose(tmp_path: Path) -> None:
    """Exceed ratio: of three trials at 2,000 one lost; of three at 4,000 two."""
    plans = [Planned(64, 2000), Planned(64, 2000, n_lost=5), Planned(64, 2000)]
    plans += [Planned(64, 4000), Planned(64, 4000, n_lost=5), Planned(64, 4000, n_lost=5)]
    row = result_of(tmp_path, *plans)
    assert row["throughput_conditional_pps"] == pytest.approx(2000, rel=0.01)
    assert row["throughput_upper_load"] == pytest.approx(4000, rel=0.01)
    assert row["throughput_pps"] is None


def test_a_partial_drop_rate_is_what_came_out(tmp_path: Path) -> None:
    """20 of 1,000 lost at 2,000 a second, where 5 % may be: 1,960 came out."""
    files = write_trials(tmp_path, [Planned(64, 1000), Planned(64, 2000, n_lost=20)])
    options = {"same_clock": ["all"]}
    (row,) = rfc2544(files, tolerance=0.05, options=options)["results"]
    assert row["pdr_conditional_pps"] == pytest.approx(1960, rel=0.01)
