"""Packets are sent twice, one of two is dropped: where a point misses one, no pair is wrong."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING, Literal

import pytest

from tests.recovery.networks.judge import Merged, merge_network, pairs_wrong
from tests.recovery.networks.sent_twice import WAY, SentTwice

if TYPE_CHECKING:
    from pathlib import Path

TIMES_MS = [(20, 5), (20, 50), (20, 2_000), (150, 50), (150, 300), (0.05, 20)]
"""How long the path takes, and after what time a packet is sent again."""

TAIL_NS = 1_000_000
"""By so much latencies vary."""


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


@pytest.mark.one_in(5)
@pytest.mark.parametrize("share", [0.7, 1.0])
@pytest.mark.parametrize("drops", ["first", "second"])
@pytest.mark.parametrize("kind", ["udp", "tcp"])
@pytest.mark.parametrize("missed", [0.02, 0.05])
@pytest.mark.parametrize("times_ms", [(20, 3), (20, 50), (1, 20), (0.05, 3)])
def test_no_pair_is_wrong_where_latencies_vary(
    times_ms: tuple[float, float],
    missed: float,
    kind: str,
    drops: Literal["first", "second"],
    share: float,
    tmp_path: Path,
) -> None:
    """What p1 missed and what was dropped look like one packet that was faster, or slower."""
    case = SentTwice(*times_ms, missed, kind, tail_ns=TAIL_NS, drops=drops, twice=share)
    holds_truth(merged(case, tmp_path), WAY)


@pytest.mark.one_in(5)
@pytest.mark.parametrize("twice", [0.3, 0.7, 0.95])
@pytest.mark.parametrize("missed", [0.01, 0.05])
@pytest.mark.parametrize("times_ms", [(20, 50), (20, 5), (1, 50), (1, 1_000)])
def test_no_pair_is_wrong_where_answers_come_again_too(
    times_ms: tuple[float, float], missed: float, twice: float, tmp_path: Path
) -> None:
    """Which way the equal packets go, their own latencies do not tell."""
    case = SentTwice(*times_ms, missed, tail_ns=TAIL_NS // 10, twice=twice, answers_twice=True)
    found = merged(case, tmp_path)
    for way in (WAY, WAY[::-1]):
        holds_truth(found, way)


def test_no_pair_is_wrong_where_either_is_dropped(tmp_path: Path) -> None:
    """No address pair whose packets all come again tells the order: each has a direction still."""
    case = SentTwice(20, 50, 0.05, tail_ns=300_000, drops="either", answers_twice=True)
    found = merged(case, tmp_path)
    assert pairs_wrong(found) == []
    assert "negative-latency" not in found.codes


@pytest.mark.one_in(2)
@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("share", [0.7, 1.0])
@pytest.mark.parametrize("times_ms", [(20, 3), (20, 10), (1, 3), (20, 50)])
def test_no_pair_is_wrong_where_some_come_again_at_both_points(
    times_ms: tuple[float, float], share: float, seed: int, tmp_path: Path
) -> None:
    """A flow is seen to repeat itself: two, of which each point saw one, look like a slow one."""
    case = SentTwice(*times_ms, 0.05, tail_ns=TAIL_NS, drops="either", twice=share, seed=seed)
    # where several compete, a pair is accepted with a probability of 0.9999
    holds_truth(merged(case, tmp_path), WAY, n_wrong=1)


def holds_truth(found: Merged, way: tuple[str, str], n_wrong: int = 0) -> None:
    """Pairs are right, and what is told of a direction: its mean within the bounds, if any."""
    assert len(pairs_wrong(found)) <= n_wrong
    row = found.rows.get(way)
    if row is None:
        assert found.is_open() or "identical-packets" in found.codes
        return
    true_ns = list(found.crossings[way].values())
    mean_ns, of_few_ns = statistics.fmean(true_ns), 4 * statistics.stdev(true_ns) / row["n"] ** 0.5
    if row["mean_ns"] is not None:
        assert row["mean_least_ns"] - of_few_ns <= mean_ns <= row["mean_most_ns"] + of_few_ns
    assert row["n"] + row["n_undecided"] >= 0.95 * len(true_ns)


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
