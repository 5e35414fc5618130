"""Captures and options that would make a verdict false: undecided, refused, or named beside it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

import pcaplat
from pcaplat.validating import validate as validate_results
from tests.support.frames import TCP, UDP, ip, udp, write_pcap
from tests.support.request_runs import RequestRun
from tests.support.rewritten import records, rewrite
from tests.support.verdicts import PATH, Validate, claim, write_claims

if TYPE_CHECKING:
    from pathlib import Path

RUN = 'scope = { kind = "run" }'
N_RUNS = 3
SLOW_NS, N_SLOW = 5_000_000, 30
ONE_CLOCK = ("--same-clock", "all")
DECLARED = (*ONE_CLOCK, "--path", "near,far")


@pytest.fixture
def validate(capsys: pytest.CaptureFixture[str]) -> Validate:
    return Validate(capsys)


def run_of(number: int, n: int = 600) -> RequestRun:
    start_ns = RequestRun.start_ns + number * 10**9
    return RequestRun(n=n, seed=number, start_ns=start_ns, ports=(40_000 + number, 7))


def save(folder: Path, n_runs: int = N_RUNS, n: int = 600) -> Path:
    for number in range(n_runs):
        run_of(number, n).save(folder / f"run{number}")
    return folder


def delayed(file: Path, every: int) -> None:
    """Some packets of a capture come milliseconds late."""
    moved = (
        (t_ns + SLOW_NS * (at % every == 0), data) for at, (t_ns, data) in enumerate(records(file))
    )
    rewrite(file, sorted(moved))


# ---- points that are not where their names say


@pytest.mark.parametrize("metric", ["rtt", "one-way-latency"])
def test_a_copy_of_a_capture_shows_no_latency(
    validate: Validate, tmp_path: Path, metric: str
) -> None:
    runs = save(tmp_path / "runs")
    for run in runs.iterdir():
        shutil.copy(run / "near.pcap", run / "far.pcap")
    path = write_claims(tmp_path, claim("at_most = 1", metric=metric))
    (row,) = validate(path, runs, *ONE_CLOCK)
    assert row["verdict"] == "undecided"
    assert "same-capture" in row["reason"]


def save_of_three(folder: Path) -> Path:
    """Points a, b and c; b and c are 50 µs apart."""
    delays = {"a": 0, "b": 20_000, "c": 70_000}
    for number in range(N_RUNS):
        chance = np.random.default_rng(number)
        points: dict[str, list[tuple[int, bytes]]] = {name: [] for name in delays}
        for at in range(400):
            word = f"{number} {at}".encode().ljust(64, b".")
            ports = (40_000, 7)
            for side in (1, -1):
                data = udp(ports if side > 0 else ports[::-1], word + bytes([side % 7]))
                src, dst = ("10.0.0.1", "10.0.0.2")[::side]
                frame = ip(src, dst, UDP, 2 * at + (side < 0), 64, data)
                for name, delay in delays.items():
                    t_ns = RequestRun.start_ns + number * 10**9 + at * 400_000
                    whole = 0 if side > 0 else 150_000 + delays["c"]
                    own = int(chance.integers(2_000))
                    points[name].append((t_ns + whole + side * delay + own, frame))
        (folder / f"run{number}").mkdir(parents=True)
        for name, frames in points.items():
            write_pcap(folder / f"run{number}" / f"{name}.pcap", sorted(frames))
    return folder


def test_points_in_another_order_than_declared_decide_nothing(
    validate: Validate, tmp_path: Path
) -> None:
    """A segment that is walked backwards takes less than nothing: at most 10 µs, in truth 100."""
    runs = save_of_three(tmp_path / "runs")
    scope = 'scope = { kind = "segment", near = "c", far = "b" }'
    path = write_claims(tmp_path, claim("at_most = 10", scope, metric="two-way-contribution"))
    (row,) = validate(path, runs, *ONE_CLOCK, "--path", "a,b,c")
    assert row["verdict"] == "refuted"
    (row,) = validate(path, runs, *ONE_CLOCK, "--path", "a,c,b")
    assert row["verdict"] == "undecided"
    assert "path-contradicted" in row["reason"] or "is negative" in row["reason"]


# ---- packets that options leave out


@pytest.mark.parametrize("statistic", ["max", "min"])
@pytest.mark.parametrize("scope", [PATH, RUN])
def test_a_sample_does_not_hold_the_slowest_packet(
    validate: Validate, tmp_path: Path, statistic: str, scope: str
) -> None:
    runs = save(tmp_path / "runs", n=3_000)
    for run in runs.iterdir():
        delayed(run / "far.pcap", 3_000 // N_SLOW)
    bound = "at_most = 1000" if statistic == "max" else "at_least = 1"
    text = claim(f'{bound}\nstatistic = "{statistic}"', scope, metric="one-way-latency")
    given = runs if scope == PATH else runs / "run0"
    (row,) = validate(write_claims(tmp_path, text), given, *DECLARED, "--sample", "1/100")
    assert row["verdict"] == "undecided"
    assert "--sample 1/100 leaves packets out" in row["reason"]


def test_the_quantile_of_a_sample_is_not_that_of_the_captures(
    validate: Validate, tmp_path: Path
) -> None:
    """The slowest of some fifty packets is no p999 of thousands, of the very captures either."""
    run = save(tmp_path / "runs", 1, n=3_000) / "run0"
    delayed(run / "far.pcap", 3_000 // N_SLOW)
    text = claim('at_most = 1000\nstatistic = "p999"', RUN, metric="one-way-latency")
    path = write_claims(tmp_path, text)
    (row,) = validate(path, run, *DECLARED)
    assert row["verdict"] == "refuted"
    (row,) = validate(path, run, *DECLARED, "--sample", "1/100")
    assert row["verdict"] == "undecided"


def test_the_rate_of_a_sample_that_was_written_is_not_that_of_the_traffic(
    validate: Validate, tmp_path: Path
) -> None:
    runs = save(tmp_path / "runs")
    for run in sorted(runs.iterdir()):
        command = [sys.executable, "-m", "pcaplat", "merge", "--sample", "1/10", "--quiet"]
        files = [str(file) for file in sorted(run.iterdir())]
        subprocess.run(
            [*command, *ONE_CLOCK, "-o", str(tmp_path / "out" / run.name), *files],
            check=True,
            stdout=subprocess.DEVNULL,
        )
    path = write_claims(tmp_path, claim('at_most = 4000\nunit = "tps"', metric="transaction-rate"))
    (row,) = validate(path, runs, *ONE_CLOCK)
    assert row["verdict"] == "refuted"
    (row,) = validate(path, tmp_path / "out")
    assert row["verdict"] == "undecided"
    results = [
        pcaplat.merge(sorted(run.iterdir()), same_clock=["all"], sample=10)
        for run in sorted(runs.iterdir())
    ]
    document = validate_results(path, results)
    assert document["verdicts"][0]["verdict"] == "undecided"
    assert document["options"]["sample"] == "1/10"


def test_packets_that_wait_longer_than_is_waited_for_are_not_left_out_of_a_latency(
    validate: Validate, tmp_path: Path
) -> None:
    runs = save(tmp_path / "runs", n=3_000)
    for run in runs.iterdir():
        delayed(run / "far.pcap", 400)
    bounds = {"mean": "at_most = 10", "max": "at_most = 1000"}
    for statistic, bound in bounds.items():
        text = claim(f'{bound}\nstatistic = "{statistic}"', metric="one-way-latency")
        path = write_claims(tmp_path, text)
        (row,) = validate(path, runs, *DECLARED)
        assert row["verdict"] == "refuted"
        (row,) = validate(path, runs, *DECLARED, "--lost-after", "1ms")
        assert row["verdict"] == "undecided"
        assert "--lost-after 1ms" in row["reason"]


# ---- packets that the claim is not about


def test_a_few_fast_packets_of_another_protocol_do_not_make_a_latency_of_tcp(
    validate: Validate, tmp_path: Path
) -> None:
    """TCP takes 60 µs, and 8 % of UDP makes it 56: at most 58 does not hold of TCP."""
    for number in range(N_RUNS):
        slow = replace(run_of(number), protocol=TCP, gap_ns=300_000, run_ns=48_000)
        fast = replace(run_of(number, 52), gap_ns=3_450_000, ports=(50_000, 9))
        both = (
            slow.save(tmp_path / "slow" / f"{number}"),
            fast.save(tmp_path / "fast" / f"{number}"),
        )
        folder = tmp_path / "runs" / f"run{number}"
        folder.mkdir(parents=True)
        for name in ("near.pcap", "far.pcap"):
            write_pcap(folder / name, sorted(one for part in both for one in records(part / name)))
    population = 'population = { protocol = "tcp" }'
    path = write_claims(tmp_path, claim(f"at_most = 58\n{population}"))
    (row,) = validate(path, tmp_path / "runs", *ONE_CLOCK, "--filter", "tcp")
    assert row["verdict"] == "refuted"
    (row,) = validate(path, tmp_path / "runs", *ONE_CLOCK)
    assert row["verdict"] == "undecided"
    assert "8 % of the latencies are of other packets" in row["reason"]


# ---- runs that are one run


@pytest.mark.parametrize("later_ns", [0, 30 * 10**9])
def test_a_copy_whose_points_have_changed_names_is_refused(
    validate: Validate, tmp_path: Path, later_ns: int
) -> None:
    runs = save(tmp_path / "runs", 2)
    for number in range(2):
        copy = runs / f"run{number + 2}"
        copy.mkdir()
        for name, other in (("near", "far"), ("far", "near")):
            shutil.copy(runs / f"run{number}" / f"{name}.pcap", copy / f"{other}.pcap")
            file = copy / f"{other}.pcap"
            rewrite(file, [(t_ns + later_ns, data) for t_ns, data in records(file)])
    (row,) = validate(write_claims(tmp_path, claim("at_most = 20")), runs, "--accept-order") or [{}]
    assert row == {}
    assert "run0" in validate.err
    assert "run2" in validate.err


# ---- what captures of one direction say of both, and what is sent twice


def test_goodput_is_said_to_hold_what_was_sent_again(validate: Validate, tmp_path: Path) -> None:
    """Most segments are sent twice: RFC 2647 does not count the second one.

    If all were, they would look like the copies of a mirror, and count once.
    """
    for number in range(N_RUNS):
        run = replace(run_of(number), protocol=TCP, n_bytes=1_000, gap_ns=400_000)
        folder = run.save(tmp_path / "runs" / f"run{number}")
        for file in folder.iterdir():
            once = list(records(file))
            again = [(t_ns + 200_000, data) for at, (t_ns, data) in enumerate(once) if at % 4]
            rewrite(file, sorted([*once, *again]))
    path = write_claims(tmp_path, claim('at_least = 25\nunit = "Mb/s"', metric="goodput"))
    (row,) = validate(path, tmp_path / "runs", *ONE_CLOCK)
    assert row["verdict"] == "held"
    assert any("retransmissions" in text for text in row["assumes"])


def test_a_loss_of_one_direction_alone_is_said_to_be_that(
    validate: Validate, tmp_path: Path
) -> None:
    runs = save(tmp_path / "runs", n=2_000)
    for run in runs.iterdir():
        for file in run.iterdir():
            forward = [(t_ns, data) for t_ns, data in records(file) if b" 1...." in data]
            rewrite(file, forward)
    path = write_claims(tmp_path, claim('at_most = 0.1\nunit = "%"', metric="loss-ratio"))
    (row,) = validate(path, runs, *ONE_CLOCK)
    assert row["verdict"] == "held"
    assert any("no packet goes from far to near" in text for text in row["assumes"])
    whole = save(tmp_path / "both")
    (row,) = validate(path, whole, *ONE_CLOCK)
    assert not any("no packet goes" in text for text in row["assumes"])


def test_a_history_keeps_no_comparison_twice(tmp_path: Path) -> None:
    """Whoever keeps adding the same two comparisons makes no step of them, and hides none."""
    from pcaplat.comparing import compare  # noqa: PLC0415

    plain, slow = tmp_path / "plain", tmp_path / "slow"
    for number in range(2 * N_RUNS):
        run = replace(run_of(number), run_ns=3_000.0 * (number % 2))
        run.save((plain, slow)[number % 2] / f"run{number}")
    other = tmp_path / "other"
    for number in range(N_RUNS):
        run_of(20 + number).save(other / f"run{number}")
    for _ in range(2):
        for treatment in (slow, other):
            document = compare(plain, treatment, history=tmp_path / "history")
    assert document["history"] is not None
    assert document["history"]["n"] == 2
