"""Packets are sent twice, one of two is dropped: where a point misses one, no pair is wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.recovery.networks.judge import Merged, merge_network, pairs_wrong
from tests.recovery.networks.sent_twice import SentTwice

if TYPE_CHECKING:
    from pathlib import Path

TIMES_MS = [(20, 5), (20, 50), (20, 2_000), (150, 50), (150, 300), (0.05, 20)]
"""How long the path takes, and after what time a packet is sent again."""

OPEN = pytest.mark.xfail(
    strict=True, reason="issue 18: the second is paired with the first, where a point misses that"
)


def merged(case: SentTwice, folder: Path, *, has_own: bool = False) -> Merged:
    """What was told of it."""
    return merge_network(case.network(has_own=has_own), folder, [] if has_own else ["all"])


def is_right(found: Merged) -> None:
    """Every pair is right, and nearly all packets that could be paired are, or are undecided."""
    assert pairs_wrong(found) == []
    for edge, row in found.rows.items():
        true_ns = list(found.crossings[edge].values())
        assert row["n"] <= len(true_ns)
        assert row["n"] + (row["n_undecided"] or 0) >= 0.95 * len(true_ns)
        off_ns = abs(row["mean_ns"] - sum(true_ns) / len(true_ns))
        assert off_ns <= (row["clock_half_width_ns"] or 0) + 0.001 * max(true_ns)


@pytest.mark.one_in(5)
@pytest.mark.parametrize("clocks", ["one", "own"])
@pytest.mark.parametrize("missed", [0.0, 0.02, 0.05])
@pytest.mark.parametrize(("takes_ms", "again_ms"), TIMES_MS)
def test_no_pair_is_wrong(
    takes_ms: float, again_ms: float, missed: float, clocks: str, tmp_path: Path
) -> None:
    is_right(merged(SentTwice(takes_ms, again_ms, missed), tmp_path, has_own=clocks == "own"))


@pytest.mark.parametrize(("takes_ms", "again_ms"), TIMES_MS)
def test_no_pair_of_tcp_is_wrong(takes_ms: float, again_ms: float, tmp_path: Path) -> None:
    is_right(merged(SentTwice(takes_ms, again_ms, 0.05, kind="tcp"), tmp_path))


@pytest.mark.parametrize(
    ("again_ms", "missed"),
    [
        pytest.param(3, 0.05, marks=OPEN),
        pytest.param(50, 0.02, marks=OPEN),
        (50, 0.05),
    ],
)
def test_no_pair_is_wrong_where_latencies_vary(
    again_ms: float, missed: float, tmp_path: Path
) -> None:
    found = merged(SentTwice(20, again_ms, missed, tail_ns=1_000_000), tmp_path)
    assert pairs_wrong(found) == []


@pytest.mark.parametrize("missed", [0.02, 0.05])
@pytest.mark.parametrize(("takes_ms", "again_ms"), [(20, 5), (20, 50), (150, 50)])
def test_no_pair_is_wrong_where_the_first_is_dropped(
    takes_ms: float, again_ms: float, missed: float, tmp_path: Path
) -> None:
    """What p1 did not capture of the second hides behind pairs that seem late."""
    found = merged(SentTwice(takes_ms, again_ms, missed, drops="first"), tmp_path)
    assert pairs_wrong(found) == []


@pytest.mark.parametrize("again_ms", [20, 200])
def test_no_pair_is_wrong_where_the_first_is_dropped_of_a_quick_path(
    again_ms: float, tmp_path: Path
) -> None:
    found = merged(SentTwice(0.05, again_ms, 0.05, drops="first"), tmp_path)
    assert pairs_wrong(found) == []
