"""How far packets stay in order: counted between neighbours, beside what delays alone imply."""

from dataclasses import replace

import numpy as np
import pytest

from pcaplat.stages.survey import Sample, survey
from pcaplat.stages.survey.delays.overtaking import Overtaken, overtaken, together
from tests.support.samples import Walk, Watcher

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


EVERY = 100
"""One in so many packets is of the sample: of hardly two that are neighbours both are."""


def _in_order(sample: Sample) -> Sample:
    """The same packets, none of which overtakes another that goes its way."""
    packets, t_ns = sample.packets, sample.packets.t_ns.copy()
    # the smaller address is at the first end for every second pair only
    is_forward = packets.is_toward ^ (packets.pair % 2 == 1)
    for file in np.unique(sample.source[:, 0]):
        for way in (is_forward, ~is_forward):
            rows = np.flatnonzero((sample.source[:, 0] == file) & way)
            t_ns[rows] = np.sort(t_ns[rows])
    return replace(sample, packets=replace(packets, t_ns=t_ns))


def _as_few_and_more(sample: Sample) -> Sample:
    """One packet in so many as the sample, and the others as what there is more."""
    is_few = sample.packets.key % EVERY == 0
    rows = np.concatenate((np.flatnonzero(is_few), np.flatnonzero(~is_few)))
    n_more = int((~is_few).sum())
    return replace(
        sample, packets=sample.packets.at(rows), source=sample.source[rows], n_more=n_more
    )


def test_neighbours_are_known_of_more_packets_than_the_sample_has() -> None:
    walk = Walk((Watcher("a"), Watcher("b")), n_packets=40_000, gap_ns=300, tail_ns=2_000)
    sample, points = walk.sample()
    both = _as_few_and_more(_in_order(sample))
    n_few = len(both.packets) - both.n_more
    few = Sample(both.packets.at(np.arange(n_few)), both.source[:n_few], both.flows)
    bands = [survey(one, points, ("a", "b")).bands[0][0, 1] for one in (few, both)]
    assert bands[0].order_kept < 0.99
    assert bands[1].order_kept > 0.9999
    assert bands[1] == replace(bands[0], order_kept=bands[1].order_kept), "and nothing else changes"


def test_more_packets_may_overtake_each_other_too() -> None:
    walk = Walk((Watcher("a"), Watcher("b")), n_packets=40_000, gap_ns=300, tail_ns=2_000)
    sample, points = walk.sample()
    assert survey(_as_few_and_more(sample), points, ("a", "b")).bands[0][0, 1].order_kept < 0.05
