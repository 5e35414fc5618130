"""Cost per unit of traffic, and cross-checks: against known truth, and real captures."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from pcaplat.comparing.comparison import compare as compare_scenarios
from pcaplat.instruments import UsageSamples
from pcaplat.metrics.means import Measurement
from pcaplat.metrics.metric import MetricQuery, Unavailable
from pcaplat.metrics.registry import read
from pcaplat.study.scenarios import scenario_at
from pcaplat.study.sources import RunReader
from pcaplat.validating import validate
from tests.conftest import ROOT
from tests.support.runs import START_NS
from tests.unit.metrics.test_traffic_figures import LENGTH_NS, SIZE, rates, run

if TYPE_CHECKING:
    from pathlib import Path

    from pcaplat.metrics.runs import MeasuredRun

SAMPLE = ROOT / "samples" / "instruments"
SECOND = 1_000_000_000


def sampled(seed: int, per_kpps: float, idle: float = 0.0) -> tuple[MeasuredRun, float]:
    """One sample every 40 ms for 2.56 s, whose load follows the traffic; and the true cost."""
    given = rates(seed)
    flow = replace(given.flows["vnic", "forward"], start_ns=START_NS)
    given = replace(given, flows=dict.fromkeys(given.flows, flow))
    n = flow.counts["n_frames"].reshape(-1, 4).sum(axis=1)
    length_ns = 4 * LENGTH_NS
    noise = np.random.default_rng(seed + 1000).normal(0, 0.05, len(n))
    busy = idle + per_kpps * n / (length_ns / 1e9) / 1e3 * (1 + noise)
    ends = [START_NS + length_ns * (k + 1) for k in range(len(n))]
    samples = UsageSamples("s", "core", ends, [length_ns] * len(n), list(busy), 1)
    return replace(run(given), samples=samples), 100 * per_kpps


def cost(given: MeasuredRun, metric: str = "cpu-per-100kpps") -> Measurement:
    found = read(given, MetricQuery(metric))
    assert isinstance(found, Measurement), found
    return found


def test_memory_is_told_over_the_captures_time_and_for_its_traffic() -> None:
    given, _ = sampled(1, 0.5)
    assert given.samples is not None
    used_mib = np.linspace(3000.0, 3200.0, len(given.samples.busy)) + np.tile([-20, 20], 32)
    memory = replace(given.samples, unit="MiB", busy=list(used_mib))
    given = replace(given, memory=memory)
    found = cost(given, "memory-used")
    assert found.value == pytest.approx(used_mib.mean())
    n_s = len(memory.busy) * 4 * LENGTH_NS / 1e9
    assert given.rates is not None
    packets = given.rates.flows["vnic", "forward"].counts["n_frames"].sum()
    by_hand = used_mib.mean() * n_s / (packets / 1e5)
    assert cost(given, "memory-per-100kpps").value == pytest.approx(by_hand)
    # it rises all the time, so one run tells no interval
    assert "so much alike" in found.why or "so slowly" in found.why
    steady = replace(memory, busy=list(3000 + np.random.default_rng(3).normal(0, 5, 64)))
    within = cost(replace(given, memory=steady), "memory-used").within
    assert within is not None
    lo, hi = within.interval(0.95)
    assert lo < 3000 < hi
    assert hi - lo < 8
    none = read(replace(given, memory=None), MetricQuery("memory-used"))
    assert isinstance(none, Unavailable)
    assert "no memory samples" in none.why
    assert "[instruments.memory]" in none.why


def test_the_cost_that_was_put_in_is_found_as_often_as_the_interval_says() -> None:
    n_held = 0
    for seed in range(100):
        given, truth = sampled(seed, 0.5)
        within = cost(given).within
        assert within is not None
        lo, hi = within.interval(0.95)
        n_held += lo <= truth <= hi
    # binomial: 100 of 0.95 are fewer than 88 once in 500
    assert n_held >= 88


def test_cost_per_bit_and_per_transaction() -> None:
    given, truth = sampled(1, 0.5)
    bits = 8 * (SIZE + 4)
    assert cost(given, "cpu-per-gbps").value == pytest.approx(truth / 1e5 / bits * 1e9, rel=0.05)
    assert given.samples is not None
    mean = np.mean(given.samples.busy)
    # a thousand transactions a second there are
    assert cost(given, "cpu-per-ktps").value == pytest.approx(mean, rel=0.01)


def test_samples_beside_the_captures_in_another_unit_or_too_few() -> None:
    given, _ = sampled(1, 0.5)
    assert given.samples is not None
    late = replace(given.samples, end_ns=[end + 3600 * SECOND for end in given.samples.end_ns])
    found = read(replace(given, samples=late), MetricQuery("cpu-per-gbps"))
    assert isinstance(found, Unavailable)
    assert "3600 s apart" in found.why or "3597 s apart" in found.why
    assert "zone and offset" in found.why
    other = read(given, MetricQuery("cpu-per-gbps", unit="MHz"))
    assert isinstance(other, Unavailable)
    assert "is in core, and MHz is asked for" in other.why
    few = UsageSamples("s", "core", late.end_ns[:9], late.length_ns[:9], late.busy[:9])
    few = replace(few, end_ns=given.samples.end_ns[:9])
    found = cost(replace(given, samples=few))
    assert found.within is None
    assert "9 CPU samples are too few" in found.why
    assert "timestamps in whole seconds" in found.note
    none = read(run(rates()), MetricQuery("cpu-per-100kpps"))
    assert isinstance(none, Unavailable)
    assert "no CPU samples" in none.why


def test_real_witnesses_agree_with_the_captures() -> None:
    document = validate(str(SAMPLE / "study.toml"))
    rows = {row["metric"]: row for row in document["witnesses"]}
    assert set(rows) == {"transaction-rate", "goodput", "loss-ratio"}
    assert all(row["agrees"] for row in rows.values())
    for metric in ("transaction-rate", "goodput"):
        row = rows[metric]
        assert row["captures_value"] == pytest.approx(row["instrument_value"], rel=0.01)
    assert document["warnings"] == []
    costs = next(row for row in document["verdicts"] if row["id"] == "cost")
    assert costs["estimate"] is not None
    assert costs["estimate"] > 0


def test_a_witness_that_disagrees_is_a_warning_with_both_figures(tmp_path: Path) -> None:
    shutil.copytree(SAMPLE, tmp_path / "s")
    netperf = tmp_path / "s" / "run" / "netperf.txt"
    netperf.write_text(netperf.read_text().replace("5975.23", "7975.23", 1))
    path = tmp_path / "s" / "study.toml"
    study = path.read_text() + '[scenarios.again]\nruns = ["run"]\n'
    path.write_text(study)
    # the same run twice, which the command refuses
    both = [scenario_at(f"{path}:{name}", RunReader()) for name in ("plain", "again")]
    document = compare_scenarios(*both)
    texts = [one["text"] for one in document["warnings"] if one["code"] == "witness-disagrees"]
    assert len(texts) == 2
    assert "7.975 ktps" in texts[0]
    assert "5.982 ktps" in texts[0]
    assert "0.5 µs a packet and point" in texts[0]
    assert json.dumps(document["witnesses"])
