"""Identical packets that cannot be told apart are often the slow ones: intervals allow for them."""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import pcaplat
from tests.recovery.simulate_twins import Twins, capture, save
from tests.recovery.test_twins import CASES

if TYPE_CHECKING:
    from pathlib import Path

    from tests.recovery.simulate_twins import Frame

MISSED: dict[str, Any] = {"missed_share": 0.2, "missed_at": (0, 1, 2), "delay_ns": 20_000}
HELD: dict[str, dict[str, Any]] = {
    "held": {"burst_ns": 60_000},
    "held, any order": {"burst_ns": 60_000, "keeps_order": False},
    "held, some unlike": {"burst_ns": 60_000, "marked": 3},
    "slow, lost": {"tail_ns": 8_000, "marked": 2, "lost_share": 0.02},
    "slow, any order": {"tail_ns": 8_000, "marked": 4, "keeps_order": False},
    "missed": {"train": 4, "unlike_trains": True, **MISSED},
    "pairs, missed": {"train": 2, "unlike_trains": True, **MISSED},
}
SPACINGS_NS = (2_000, 8_000)
QUANTILES = {"p50": 0.5, "p90": 0.9}


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that lasts as long as the merges are kept."""
    return tmp_path_factory.mktemp("undecided")


def took_ns(seen: list[list[Frame]], up: int, down: int, *, forward: bool) -> list[int]:
    """How long packets took that both points saw, identical or not."""
    at_ns = [
        {one.packet: one.stamp_ns for one in seen[point] if not one.is_copy} for point in (up, down)
    ]
    both = at_ns[0].keys() & at_ns[1].keys()
    took = [at_ns[1][packet] - at_ns[0][packet] for packet in both]
    return [ns for ns in took if (ns > 0) == forward]


def scenario_of(case: str, spacing_ns: int, seed: int) -> Twins:
    return Twins(spacing_ns=spacing_ns, n=1_500, seed=seed, **{**CASES, **HELD}[case])


def lost_frac(scenario: Twins, row: Any) -> float:  # noqa: ANN401 - a row of a document
    """Share of the packets at the upstream point that the downstream one did not see."""
    seen = [{one.packet for one in frames} for frames in capture(scenario)]
    up, down = int(row["near"][1:]), int(row["far"][1:])
    if row["direction"] == "reverse":
        up, down = down, up
    mine = {packet for packet in seen[up] if scenario.is_forward(packet) == (up < down)}
    return len(mine - seen[down]) / len(mine)


@cache
def merged(case: str, spacing_ns: int, seed: int, folder: Path) -> list[tuple[Any, list[int]]]:
    """Rows of the segments, and the truth beside each."""
    scenario = scenario_of(case, spacing_ns, seed)
    seen = capture(scenario)
    scratch = folder / f"{case}-{spacing_ns}-{seed}"
    scratch.mkdir()
    with pcaplat.merge(save(seen, scratch), same_clock=["all"], keep_rows=False) as result:
        rows = result.document["segments"]
        path = result.document["path"]
    found = []
    for near, far in (*pairwise(path), (path[0], path[-1])):
        ends = (int(near[1:]), int(far[1:]))
        for row in rows:
            if (row["near"], row["far"], row["class"]) == (near, far, "packet"):
                up, down = ends if row["direction"] == "forward" else ends[::-1]
                found.append((row, took_ns(seen, up, down, forward=True)))
    return found


def asked() -> pytest.MarkDecorator:
    return pytest.mark.parametrize("spacing_ns", SPACINGS_NS)


@pytest.mark.one_in(5)
@asked()
@pytest.mark.parametrize("case", [*CASES, *HELD])
def test_the_mean_of_all_is_within_the_bounds(case: str, spacing_ns: int, scratch: Path) -> None:
    for row, true_ns in merged(case, spacing_ns, 1, scratch):
        # packets that were left out for another reason are as quick as others
        slack_ns = 0.02 * row["mean_ns"] + 1
        assert row["mean_least_ns"] - slack_ns <= np.mean(true_ns)
        assert row["mean_most_ns"] + slack_ns >= np.mean(true_ns)


@asked()
@pytest.mark.parametrize("case", [*CASES, *HELD])
def test_intervals_hold_the_truth(case: str, spacing_ns: int, scratch: Path) -> None:
    for row, true_ns in merged(case, spacing_ns, 1, scratch):
        if row["mean_lo_ns"] is not None:
            assert row["mean_lo_ns"] <= np.mean(true_ns) <= row["mean_hi_ns"]
        for name, share in QUANTILES.items():
            if row[f"{name}_lo_ns"] is not None:
                true = np.quantile(true_ns, share, method="inverted_cdf")
                assert row[f"{name}_lo_ns"] - 1 <= true <= row[f"{name}_hi_ns"] + 1


@asked()
@pytest.mark.parametrize("case", [*CASES, *HELD])
def test_what_two_points_saw_is_decided_or_undecided(
    case: str, spacing_ns: int, scratch: Path
) -> None:
    for row, true_ns in merged(case, spacing_ns, 1, scratch):
        assert row["n"] + row["n_undecided"] >= 0.99 * len(true_ns)


NO_MIRROR_MISSES = [
    case for case, kind in {**CASES, **HELD}.items() if not kind.get("missed_share")
]


@pytest.mark.one_in(3)
@asked()
@pytest.mark.parametrize("case", NO_MIRROR_MISSES)
def test_intervals_hold_the_share_that_was_lost(case: str, spacing_ns: int, scratch: Path) -> None:
    for row, _ in merged(case, spacing_ns, 1, scratch):
        true = lost_frac(scenario_of(case, spacing_ns, 1), row)
        assert row["lost_lo_frac"] <= true <= row["lost_hi_frac"]


@pytest.mark.parametrize("case", ["much-loss", "queue", "mirror-copies-all"])
def test_intervals_of_flows_hold_the_share_that_was_lost(case: str, tmp_path: Path) -> None:
    """Of which flow the packets are that could not be told apart is not counted."""
    scenario = scenario_of(case, 8_000, 1)
    seen = capture(scenario)
    packets = [
        {one.packet for one in frames if one.packet < scenario.n or one.packet % 2 == 0}
        for frames in seen
    ]
    with pcaplat.merge(save(seen, tmp_path), same_clock=["all"], by=["flow"]) as result:
        rows = result.document["breakdowns"]["by_flow"]
    judged = [row for row in rows if row["direction"] == "forward"]
    assert len(judged) >= 4
    for row in judged:
        up, down = (
            {
                one
                for one in packets[int(row[end][1:])]
                if (one < scenario.n) == ("fd00" in row["key"])
            }
            for end in ("near", "far")
        )
        assert row["lost_lo_frac"] <= len(up - down) / len(up) <= row["lost_hi_frac"]


def test_where_all_are_told_apart_nothing_is_wider(scratch: Path) -> None:
    for row, _ in merged("requests-and-responses", 8_000, 1, scratch):
        if not row["n_undecided"]:
            assert row["mean_least_ns"] == row["mean_ns"] == row["mean_most_ns"]


@pytest.mark.one_in(5)
@pytest.mark.parametrize("missed_share", [0.02, 0.1])
@pytest.mark.parametrize("spacing_ns", [4_000, 12_000, 40_000])
@pytest.mark.parametrize("n_points", [3, 4])
def test_nothing_is_lost_where_points_between_miss_and_all_arrives(
    n_points: int, spacing_ns: int, missed_share: float, tmp_path: Path
) -> None:
    """As many equal packets arrive as set out, whichever they are."""
    between = tuple(range(1, n_points - 1))
    scenario = Twins(
        spacing_ns=spacing_ns,
        n=1_500,
        n_points=n_points,
        missed_share=missed_share,
        missed_at=between,
    )
    files = save(capture(scenario), tmp_path)
    with pcaplat.merge(files, same_clock=["all"], keep_rows=False) as result:
        rows = result.document["segments"]
    found = [row["n_lost"] for row in rows if row["class"] == "packet"]
    assert len(found) == 2 * n_points
    assert found == [0] * len(found)
