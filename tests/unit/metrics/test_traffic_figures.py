"""Rates as figures: known rates are found again, and what cannot be told says why."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from pcaplat.metrics.contrasts import metric_of
from pcaplat.metrics.means import Measurement
from pcaplat.metrics.metric import MetricQuery, Unavailable
from pcaplat.metrics.registry import read
from pcaplat.metrics.runs import MeasuredRun, Scenario, oriented, trimmed
from pcaplat.metrics.traffic import METRICS, other_frames
from pcaplat.metrics.traffic_blocks import Rates, rates_of
from tests.support.runs import FAR, NEAR, run_of

N_BLOCKS, LENGTH_NS = 256, 10_000_000
SECONDS = N_BLOCKS * LENGTH_NS / 1e9
PER_BLOCK, SIZE = 40, 252


def rates(seed: int = 1, **changes: list[dict[str, Any]]) -> Rates:
    """Forward frames of 252 bytes without FCS, 4000 a second on the average."""
    n = np.random.default_rng(seed).poisson(PER_BLOCK, N_BLOCKS)
    blocks = [
        {"point": point, "direction": "forward", "block": at, "start_ns": 0}
        | {"length_ns": LENGTH_NS, "n_frames": int(k), "frame_bytes": int(k) * SIZE}
        | {"l3_bytes": int(k) * (SIZE - 14), "payload_bytes": int(k) * (SIZE - 42)}
        for point in (NEAR, FAR)
        for at, k in enumerate(n)
    ]
    row = {"direction": "forward", "l2_bps": 1.0, "n_l3_unknown": 0, "n_payload_unknown": 0}
    row |= {"p50_frame_bytes": SIZE}
    added = {"near": NEAR, "far": FAR, "direction": "forward", "n": 9, "mean_bytes": 58.0}
    added |= {"min_bytes": 58, "max_bytes": 58, "usual_bytes": 58}
    added |= {"near_frame_bytes": 252.0, "far_frame_bytes": 310.0}
    tables: dict[str, list[dict[str, Any]]] = {
        "traffic_blocks": blocks,
        "traffic": [{"point": point} | row for point in (NEAR, FAR)],
        "transactions": [transactions("rr", 1000.0)],
        "overhead": [added],
        "frame_sizes": [
            {"point": point, "direction": "forward", "frame_bytes": SIZE, "n_frames": int(n.sum())}
            for point in (NEAR, FAR)
        ],
    }
    return rates_of(tables | changes)


def transactions(kind: str, rate_tps: float) -> dict[str, Any]:
    row = {"point": NEAR, "kind": kind, "protocol": 6, "rate_tps": rate_tps}
    return row | {"n_transactions": 500, "mean_ns": 4e5}


def run(given: Rates | None, n_lost: int = 0) -> MeasuredRun:
    values = np.full(1000, 5000.0)
    return replace(run_of(values, values, n_lost=n_lost), rates=given)


def taken(
    metric: str, given: Rates, statistic: str = "mean", ends: tuple[str, str] | None = None
) -> Measurement:
    found = read(run(given), MetricQuery(metric, statistic, ends))
    assert isinstance(found, Measurement)
    return found


@pytest.mark.parametrize(
    ("metric", "each"),
    [
        ("packet-rate", 1),
        ("throughput-l1", 8 * (SIZE + 24)),
        ("throughput-l2", 8 * (SIZE + 4)),
        ("throughput-l3", 8 * (SIZE - 14)),
        ("goodput", 8 * (SIZE - 42)),
    ],
)
def test_every_rate_counts_what_it_says(metric: str, each: int) -> None:
    given = rates()
    n = int(given.flows[FAR, "forward"].counts["n_frames"].sum())
    assert taken(metric, given).value == pytest.approx(n * each / SECONDS)


def test_the_interval_of_a_rate_holds_the_truth_as_often_as_it_says() -> None:
    n_held = 0
    for seed in range(100):
        within = taken("packet-rate", rates(seed)).within
        assert within is not None
        lo, hi = within.interval(0.95)
        n_held += lo <= PER_BLOCK * N_BLOCKS / SECONDS <= hi
    # binomial: 100 of 0.95 are fewer than 88 once in 500
    assert n_held >= 88


def test_sizes_are_with_fcs_and_overhead_is_a_difference() -> None:
    for statistic in ("mean", "min", "p50", "p99", "max"):
        assert taken("frame-size", rates(), statistic=statistic).value == SIZE + 4
    found = taken("encapsulation-overhead", rates())
    assert found.value == 58
    assert found.within is not None
    assert found.within.interval(0.95) == (58, 58)
    turned = taken("encapsulation-overhead", rates(), ends=(FAR, NEAR))
    assert turned.value == -58


def test_transactions_add_up_and_kinds_are_not_mixed() -> None:
    two = rates(transactions=[transactions("rr", 1000.0), transactions("rr", 500.0)])
    assert taken("transaction-rate", two).value == 1500
    assert taken("transaction-time", two).value == 4e5
    mixed = rates(transactions=[transactions("rr", 1000.0), transactions("crr", 500.0)])
    found = read(run(mixed), MetricQuery("transaction-rate"))
    assert isinstance(found, Unavailable)
    assert "several kinds" in found.why
    none = read(
        run(rates(transactions=[transactions("mixed", 3.0)])), MetricQuery("transaction-time")
    )
    assert isinstance(none, Unavailable)


@pytest.mark.parametrize("metric", sorted(one.name for one in METRICS))
def test_a_run_without_traffic_says_so(metric: str) -> None:
    found = read(run(None), MetricQuery(metric))
    assert isinstance(found, Unavailable)
    assert "was not counted" in found.why


def test_a_rate_with_loss_is_no_throughput() -> None:
    found = metric_of(Scenario("s", [run(rates(), n_lost=10)]), MetricQuery("throughput-l1"))
    assert any("PDR(0.99 %)" in note for note in found.notes)


def test_frames_of_another_size_are_refused() -> None:
    assert other_frames(run(rates()), MetricQuery("packet-rate"), [256]) == ""
    assert "0 % of the frames" in other_frames(run(rates()), MetricQuery("packet-rate"), [512])


def test_what_is_not_known_gives_no_rate() -> None:
    row = {"direction": "forward", "l2_bps": None, "n_l3_unknown": 3, "n_payload_unknown": 1}
    unknown = rates(traffic=[{"point": point} | row for point in (NEAR, FAR)])
    for metric in ("throughput-l1", "throughput-l2", "throughput-l3", "goodput", "frame-size"):
        assert isinstance(read(run(unknown), MetricQuery(metric)), Unavailable)
    assert isinstance(read(run(unknown), MetricQuery("packet-rate")), Measurement)


def test_warm_up_is_left_out_and_a_turned_run_turned() -> None:
    whole = run(rates())
    short = trimmed(whole, 10_000_000)
    assert short.rates is not None
    assert len(short.rates.flows[NEAR, "forward"].counts["n_frames"]) < N_BLOCKS
    other = replace(whole, document=dict(whole.document) | {"path": [FAR, NEAR]})
    turned = oriented(whole, other)
    assert turned.rates is not None
    assert (NEAR, "reverse") in turned.rates.flows
    assert turned.rates.overhead[0]["mean_bytes"] == -58
