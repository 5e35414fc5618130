"""How far packets stay in order: counted between neighbours, beside what delays alone imply."""

import numpy as np
import pytest

from pcaplat.stages.survey.overtaking import Overtaken, overtaken, together

N = 20_000


def _sent(rng: np.random.Generator) -> np.ndarray:
    return np.cumsum(rng.integers(100, 1_000, N))


@pytest.mark.parametrize("seed", range(3))
def test_queues_keep_the_order(seed: int) -> None:
    rng = np.random.default_rng(seed)
    sent_ns = _sent(rng)
    arrived_ns = np.maximum.accumulate(sent_ns + rng.exponential(500, N).astype(np.int64))
    found = overtaken(sent_ns, arrived_ns - sent_ns, np.zeros(N, np.int64))
    assert found.n == 0
    assert found.n_expected > 1_000
    assert found.order_kept(together([found])) > 0.9999


@pytest.mark.parametrize("seed", range(3))
def test_delays_of_their_own_keep_none(seed: int) -> None:
    rng = np.random.default_rng(seed)
    found = overtaken(_sent(rng), rng.exponential(500, N).astype(np.int64), np.zeros(N, np.int64))
    assert found.n == pytest.approx(found.n_expected, rel=0.05)
    assert found.order_kept(together([found])) < 0.05


def test_flows_are_not_compared() -> None:
    sent_ns = np.arange(N) * 100
    late_ns = np.where(np.arange(N) % 2, 0, 150)
    assert overtaken(sent_ns, late_ns, np.zeros(N, np.int64)).n == N // 2
    assert overtaken(sent_ns, late_ns, np.arange(N) % 2).n == 0


def test_what_is_too_far_apart_tells_nothing() -> None:
    rng = np.random.default_rng(1)
    found = overtaken(np.arange(N) * 10**6, rng.integers(0, 1_000, N), np.zeros(N, np.int64))
    assert found == Overtaken(0, 0)
    assert found.order_kept(found) == 0


def test_the_rest_of_the_path_speaks_for_a_segment_that_saw_little() -> None:
    little, nothing = Overtaken(0, 2.0), Overtaken()
    assert little.order_kept(nothing) == pytest.approx(2 / 3)
    assert little.order_kept(Overtaken(0, 500.0)) > 0.999
    assert Overtaken(3, 2.0).order_kept(Overtaken(3, 500.0)) == 0


def test_of_one_packet_nothing_is_known() -> None:
    one = np.array([5])
    assert overtaken(one, one, one) == Overtaken(0, 0)
    assert overtaken(one[:0], one[:0], one[:0]) == Overtaken(0, 0)
    assert together([]) == Overtaken(0, 0)
