"""Trials of RFC 2544: against a reading by hand, known truth, and what must not be a trial."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from typer import BadParameter

from pcaplat.benchmarking import rfc2544
from pcaplat.benchmarking.requirements import ETHERNET_BYTES, TrialEvidence, requirements_of
from pcaplat.benchmarking.splitting import find_trials
from pcaplat.benchmarking.summing import pdr_name
from pcaplat.cli import run
from pcaplat.cli.rfc2544 import tolerance_of
from pcaplat.errors import EvidenceError, OptionError
from pcaplat.outputs import write
from pcaplat.run.merge import merge
from tests.conftest import ROOT
from tests.unit.benchmarking.trials_by_hand import Planned, truth_of, write_trials

if TYPE_CHECKING:
    from pathlib import Path

SAME = {"same_clock": ["all"]}
PLANS = (
    # the second follows without a pause, at another rate
    Planned(64, 1000, pause_ns=0),
    Planned(64, 2000),
    Planned(64, 4000, n_lost=20, pause_ns=0),
    # and this one without a pause, at another size
    Planned(512, 4000, n_lost=2),
    Planned(512, 2000),
    Planned(512, 8000, n_lost=200),
)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return write_trials(tmp_path_factory.mktemp("trials"), PLANS)


@pytest.fixture(scope="module")
def document(files: tuple[Path, Path]) -> dict[str, Any]:
    return rfc2544(files, options=SAME)


def test_trials_are_those_read_by_hand(document: dict[str, Any], files: tuple[Path, Path]) -> None:
    truths = truth_of(files, PLANS)
    assert len(document["trials"]) == len(PLANS)
    for row, plan, truth in zip(document["trials"], PLANS, truths, strict=True):
        assert row["direction"] == "forward"
        assert row["frame_bytes"] == plan.frame_bytes
        # where only the rate changes, jitter may hide one frame
        assert row["n_sent"] == pytest.approx(truth.n_sent, abs=1)
        assert row["n_lost"] == truth.n_lost == plan.n_lost
        assert row["n_received"] == row["n_sent"] - row["n_lost"]
        assert row["lost_frac"] == pytest.approx(plan.n_lost / plan.n, rel=0.01)
        assert row["offered_pps"] == pytest.approx(truth.rate_pps, rel=0.003)
        assert row["mean_ns"] == pytest.approx(truth.mean_ns, abs=10)
        assert abs(row["mean_ns"] - 21_500) < row["mean_half_width_ns"] + 60
        assert row["offered_l1_bps"] == pytest.approx(
            8 * row["offered_pps"] * (plan.frame_bytes + 20)
        )


def test_throughput_is_without_loss_and_pdr_with_little(files: tuple[Path, Path]) -> None:
    rows = rfc2544(files, tolerance=0.002, options=SAME)["results"]
    small, large = rows
    assert small["throughput_pps"] == pytest.approx(2000, rel=0.003)
    assert small["pdr_pps"] == small["throughput_pps"]
    assert small["least_lossy_pps"] == pytest.approx(4000, rel=0.003)
    assert large["throughput_pps"] == pytest.approx(2000, rel=0.003)
    assert large["pdr_pps"] == pytest.approx(4000, rel=0.003)
    assert large["pdr_name"] == "PDR(0.2 %)"
    assert large["pdr_lost_frac"] == pytest.approx(0.002)
    assert large["pdr_lost_hi_frac"] > 0.002
    assert pdr_name(0.0001) == "PDR(0.01 %)"


def test_where_every_rate_loses_there_is_no_throughput(tmp_path: Path) -> None:
    files = write_trials(tmp_path, [Planned(128, 1000, n_lost=5), Planned(128, 3000, n_lost=30)])
    found = rfc2544(files, options=SAME)
    (row,) = found["results"]
    assert row["throughput_pps"] is None
    assert row["pdr_pps"] is None
    asked = {one["requirement"]: one for one in found["requirements"]}
    fastest = next(one for name, one in asked.items() if name.startswith("the fastest"))
    assert fastest["verdict"] == "lacking"
    assert "every trial lost" in fastest["evidence"]


def test_loss_at_a_slower_rate_is_said(tmp_path: Path) -> None:
    files = write_trials(tmp_path, [Planned(128, 1000, n_lost=5), Planned(128, 3000)])
    found = rfc2544(files, options=SAME)
    assert not found["results"][0]["is_monotonic"]
    assert "loss-at-slower-rate" in {warning["code"] for warning in found["warnings"]}


def test_repeated_trials_are_one_cell(tmp_path: Path) -> None:
    files = write_trials(tmp_path, [Planned(64, 2000, 300)] * 6 + [Planned(64, 4000, 300, 9)])
    found = rfc2544(files, options=SAME)
    cells = found["cells"]
    assert [cell["n_trials"] for cell in cells] == [6, 1]
    means = [row["mean_ns"] for row in found["trials"][:6]]
    assert cells[0]["mean_ns"] == pytest.approx(np.mean(means))
    half = 2.5706 * np.std(means, ddof=1) / np.sqrt(6)  # t of 5 degrees of freedom
    assert cells[0]["mean_half_width_ns"] == pytest.approx(half, rel=1e-3)


def test_both_directions_and_reverse_trials(tmp_path: Path) -> None:
    plans = [Planned(64, 1000), Planned(256, 1000, n_lost=4, is_reverse=True), Planned(64, 3000)]
    files = write_trials(tmp_path, plans)
    rows = {(r["direction"], r["frame_bytes"]): r for r in rfc2544(files, options=SAME)["trials"]}
    assert rows["reverse", 256]["n_lost"] == 4
    assert rows["reverse", 256]["sender"] == "b"
    assert rows["reverse", 256]["mean_ns"] == pytest.approx(21_500, abs=150)


def test_what_the_receivers_capture_does_not_cover_is_not_lost(tmp_path: Path) -> None:
    files = write_trials(tmp_path, [Planned(64, 1000)])
    data = files[1].read_bytes()
    files[1].write_bytes(data[: 24 + 700 * (16 + 60)])
    found = rfc2544(files, options=SAME)
    (row,) = found["trials"]
    assert (row["n_received"], row["n_lost"], row["n_outside"]) == (700, 0, 300)
    assert "outside-capture" in {warning["code"] for warning in found["warnings"]}


def test_a_result_and_its_folder_give_the_same(files: tuple[Path, Path], tmp_path: Path) -> None:
    with merge(list(files), same_clock=["all"]) as result:
        fresh = rfc2544(result)
        write(result, tmp_path / "out")
    saved = rfc2544(tmp_path / "out")
    for one in (*fresh["trials"], *saved["trials"]):
        one.pop("run")
    assert fresh == saved


def test_runs_of_a_study_are_declared_trials(tmp_path: Path) -> None:
    for name, plan in (("one", Planned(64, 1000)), ("two", Planned(64, 4000, n_lost=7))):
        (tmp_path / name).mkdir()
        write_trials(tmp_path / name, [plan])
    study = tmp_path / "study.toml"
    study.write_text('same_clock = ["all"]\n[scenarios.s64]\nruns = ["one", "two"]\n')
    found = rfc2544(study)
    assert [(row["run"], row["n_lost"]) for row in found["trials"]] == [
        ("s64/one", 0),
        ("s64/two", 7),
    ]


@pytest.mark.parametrize("seed", range(20))
def test_what_wanders_is_one_trial(seed: int) -> None:
    chance = np.random.default_rng(seed)
    t_ns = np.cumsum(chance.exponential(1e6, 5000)).astype(np.int64)
    assert find_trials(t_ns, np.full(5000, 60)) == [(0, 5000)]


@pytest.mark.parametrize("seed", range(20))
def test_steps_of_rate_are_placed(seed: int) -> None:
    chance = np.random.default_rng(seed)
    rates = [1000, *chance.choice([1200, 2000, 5000, 500, 800], 4)]
    kept = [rates[0], *(b for a, b in pairwise(rates) if a != b)]
    apart = np.concatenate([np.full(1500, 1e9 / rate) for rate in kept])
    t_ns = np.cumsum(apart + chance.normal(0, 2e4, len(apart))).astype(np.int64)
    parts = find_trials(np.sort(t_ns), np.full(len(t_ns), 60))
    assert [begin for begin, _ in parts] == pytest.approx(
        [1500 * k for k in range(len(kept))], abs=8
    )


def test_a_stray_frame_divides_nothing_and_a_mix_is_one_trial() -> None:
    t_ns = np.arange(2000) * 1_000_000
    sizes = np.full(2000, 60)
    sizes[777] = 90
    assert find_trials(t_ns, sizes) == [(0, 2000)]
    mixed = np.tile([60, 60, 60, 570, 1514], 400)
    assert find_trials(t_ns, mixed) == [(0, 2000)]
    assert find_trials(t_ns[:50], sizes[:50]) == []


def trial(size: int, start_s: float, **changes: object) -> dict[str, Any]:
    row: dict[str, Any] = {
        "run": "r",
        "direction": "forward",
        "frame_bytes": size,
        "duration_s": 120.0,
    }
    row |= {"start_ns": int(start_s * 1e9), "end_ns": int((start_s + 120) * 1e9)}
    return row | changes


def whole_benchmark(n_repeats: int = 20) -> TrialEvidence:
    trials: list[dict[str, Any]] = []
    at = 0.0
    for size in ETHERNET_BYTES:
        for _ in range(n_repeats):
            both = (trial(size, at), trial(size, at, direction="reverse"))
            trials += both
            at += 130
    place = [(way, size) for way in ("forward", "reverse") for size in ETHERNET_BYTES]
    cells = [
        {"direction": way, "frame_bytes": size, "offered_pps": 1e3, "mean_ns": 5.0}
        | {"n_trials": n_repeats, "duration_s": 120.0}
        for way, size in place
    ]
    results = [
        {"direction": way, "frame_bytes": size, "throughput_pps": 1e3, "is_bracketed": True}
        for way, size in place
    ]
    end_ns = int((at + 10) * 1e9)
    cover = {("r", "forward"): (0, end_ns), ("r", "reverse"): (0, end_ns)}
    return TrialEvidence(trials, cells, results, cover)


def verdicts(asked: TrialEvidence) -> dict[str, str]:
    return {row["requirement"]: row["verdict"] for row in requirements_of(asked)}


def test_a_whole_benchmark_lacks_nothing() -> None:
    found = verdicts(whole_benchmark())
    assert "lacking" not in found.values()
    assert sum(verdict == "found" for verdict in found.values()) == 9


@pytest.mark.parametrize(
    ("start", "changes"),
    [
        ("frame sizes", {"frame_bytes": 650}),
        ("each trial lasts", {"duration_s": 30.0}),
        ("2 s for residual", {"end_ns": 129_500_000_000}),
        ("5 s more", {"end_ns": 125_000_000_000}),
    ],
)
def test_each_lack_is_said(start: str, changes: dict[str, Any]) -> None:
    asked = whole_benchmark(1)
    asked.trials[0].update(changes)
    if start == "frame sizes":
        asked.trials[1].update(changes)
    found = verdicts(asked)
    assert next(found[name] for name in found if name.startswith(start)) == "lacking"


def test_few_repetitions_and_one_way_are_lacking() -> None:
    asked = whole_benchmark(3)
    one_way = [row for row in asked.trials if row["direction"] == "forward"]
    found = verdicts(TrialEvidence(one_way, asked.cells, asked.results, asked.cover))
    assert next(found[n] for n in found if n.startswith("frames in both")) == "lacking"
    assert next(found[n] for n in found if n.startswith("latency from 20")) == "lacking"


@pytest.mark.parametrize("format_", ["table", "json", "csv", "markdown"])
def test_every_output(
    format_: str, files: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status = run(
        [
            *("rfc2544", *map(str, files), "--same-clock", "all", "--format", format_),
            *("-o", str(tmp_path / "out"), "--tolerance", "0.2%"),
        ]
    )
    said = capsys.readouterr().out
    assert status == 0
    saved = json.loads((tmp_path / "out" / "rfc2544.json").read_text("utf-8"))
    assert saved["schema"] == "pcaplat.rfc2544/1"
    if format_ == "json":
        assert json.loads(said) == saved
    elif format_ == "csv":
        assert len(said.splitlines()) == 1 + len(saved["cells"])
    else:
        assert "PDR(0.2 %)" in said
        assert "not visible" in said


def test_tolerances_and_captures_without_trials(tmp_path: Path) -> None:
    assert tolerance_of("0.01 %") == pytest.approx(0.0001)
    for text in ("much", "-1%", "200%", "0.01%x", "nan"):
        with pytest.raises((OptionError, BadParameter), match="no share of frames"):
            tolerance_of(text)
    files = write_trials(tmp_path, [Planned(64, 1000, n=60)])
    with pytest.raises(EvidenceError, match="no trial"):
        rfc2544(files, options=SAME)


def test_the_sample_is_as_its_trials_say() -> None:
    folder = ROOT / "samples" / "rfc2544"
    truth = json.loads((folder / "trials.json").read_text("utf-8"))
    rows = rfc2544(sorted(folder.glob("*.zst")), options=SAME)["trials"]
    for row, known in zip(rows, truth, strict=True):
        assert row["frame_bytes"] == known["frame_bytes"]
        assert (row["n_sent"], row["n_lost"]) == (known["n_sent"], known["n_lost"])
        assert row["offered_pps"] == pytest.approx(known["rate_pps"])
        assert row["mean_ns"] == pytest.approx(known["mean_ns"])
