"""One wrong timestamp moves no figure in silence: a single packet alone is not believed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from pcaplat import merge
from pcaplat.stages.align import align
from tests.support.alignments import TwoClocks
from tests.unit.diagnostics.lint_by_hand import FAR, NEAR, Records, Set, turns

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pcaplat.model.clocks import Clocks

CODE = "single-packet-bound"
TALK = turns(656, 90_019)
AHEAD_NS = 3_000_000


def early(by_ns: int, frames: tuple[int, ...] = (601,)) -> Callable[[Records], Records]:
    """Some frames, from 1, have a timestamp that is too early."""

    def changed(records: Records) -> Records:
        return [
            (t_ns - by_ns if number in frames else t_ns, frame)
            for number, (t_ns, frame) in enumerate(records, 1)
        ]

    return changed


def document(folder: Path, order: Callable[[Records], Records]) -> dict[str, Any]:
    far = replace(FAR, clock=lambda t_ns: t_ns + AHEAD_NS, order=order, jitter=1_013)
    with merge(Set({"near": NEAR, "far": far}, TALK).save(folder)) as result:
        return result.document


@pytest.mark.parametrize("by_ns", [5_000, 50_000, 1_000_000])
@pytest.mark.parametrize("frame", [1, 600, 601, 1_314])
def test_one_early_stamp_leaves_the_interval_and_is_named(
    by_ns: int, frame: int, tmp_path: Path
) -> None:
    plain, spoilt = (document(tmp_path, order) for order in (early(0), early(by_ns, (frame,))))
    for one, other in zip(plain["segments"], spoilt["segments"], strict=True):
        assert other["p50_ns"] == pytest.approx(one["p50_ns"], abs=300)
        assert other["clock_half_width_ns"] == pytest.approx(one["clock_half_width_ns"], rel=0.2)
    assert CODE not in {row["code"] for row in plain["warnings"]}
    assert "clock-step" not in {row["code"] for row in spoilt["warnings"]}
    said = [row["text"] for row in spoilt["warnings"] if row["code"] == CODE]
    # of a packet towards the near end an early stamp at the far end is no bound
    assert not said or f"far.pcap frame {frame}" in said[0]
    assert bool(said) == (frame != 601)


def test_a_bound_says_how_many_packets_support_it(tmp_path: Path) -> None:
    near, far = document(tmp_path, early(0))["clocks"]
    assert near["n_support"] is None
    assert far["n_support"] > 5


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("by_ns", [10_000, 60_000, 2_000_000])
def test_the_truth_stays_inside(seed: int, by_ns: int) -> None:
    chance = np.random.default_rng(seed)
    clocks = TwoClocks(
        drift_ppm=float(chance.uniform(-50, 50)),
        wander_ns=float(chance.uniform(0, 500)),
        n_each_way=int(chance.choice([650, 4_000, 40_000])),
        tail_ns=float(chance.uniform(500, 3_000)),
        seed=seed,
    )
    min_delays = clocks.min_delays()
    one = min_delays[seed % 2]
    raw_ns, at = one.raw_ns.copy(), int(chance.integers(len(one.raw_ns)))
    raw_ns[at] = raw_ns.min() - by_ns
    frames = np.arange(len(raw_ns)) + 1
    # others of its bin are as far behind it as it is early
    gap_ns = np.zeros(len(raw_ns), np.int64)
    gap_ns[at] = by_ns
    spoilt = replace(one, raw_ns=raw_ns, gap_ns=gap_ns, up_frame=frames, down_frame=frames)
    min_delays[seed % 2] = replace(spoilt, up_file=0 * frames, down_file=0 * frames + 1)
    found = align(clocks.findings(), [0, 1], min_delays, files=["a.pcap", "b.pcap"])
    relation = found.relation(0, 1)
    truth = clocks.ahead_ns(relation.t_ns)
    assert np.all(relation.lo_ns <= truth + 1)
    assert np.all(truth - 1 <= relation.hi_ns)
    (said,) = [w.text for w in found.warnings if w.code == CODE]
    assert f"(a.pcap frame {at + 1}, b.pcap frame {at + 1})" in said


def apart_of(n: int, seed: int, early_ns: int = 0) -> tuple[Clocks, float]:
    """Align few packets each way, of which one may have an early timestamp; and the truth."""
    clocks = TwoClocks(n_each_way=n, seed=seed, tail_ns=2_000, drift_ppm=7.0, span_ns=10**8)
    min_delays = clocks.min_delays()
    one = min_delays[seed % 2]
    raw_ns, gap_ns = one.raw_ns.copy(), np.full(len(one.raw_ns), 2**63 - 1)
    raw_ns[seed % len(raw_ns)] -= early_ns
    min_delays[seed % 2] = replace(one, raw_ns=raw_ns, gap_ns=gap_ns)
    found = align(clocks.findings(), [0, 1], min_delays)
    relation = found.relation(0, 1)
    truth = clocks.ahead_ns(relation.t_ns)
    outside_ns = np.maximum(relation.lo_ns - truth, truth - relation.hi_ns).max()
    return found, float(outside_ns)


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("n", [7, 9, 12])
def test_one_early_stamp_of_few_packets_leaves_the_interval(n: int, seed: int) -> None:
    found, outside_ns = apart_of(n, seed, early_ns=400_000)
    assert outside_ns <= 1
    assert CODE in {warning.code for warning in found.warnings}


@pytest.mark.parametrize("n", range(3, 14))
def test_few_packets_as_they_come_are_believed(n: int) -> None:
    doubted = [
        seed
        for seed in range(60)
        if CODE in {warning.code for warning in apart_of(n, seed)[0].warnings}
    ]
    assert not doubted


@pytest.mark.parametrize("seed", range(60))
def test_packets_as_they_come_are_believed(seed: int) -> None:
    clocks = TwoClocks(drift_ppm=20.0, tail_ns=500.0 * (1 + seed), n_each_way=100 * (1 + seed % 7))
    found = align(clocks.findings(), [0, 1], replace(clocks, seed=seed).min_delays())
    assert CODE not in {warning.code for warning in found.warnings}
