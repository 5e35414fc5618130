"""Compare: known differences are found, by the right unit of replication, and doubts are said."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from pcaplat.cli import run as run_command
from pcaplat.comparing import compare
from pcaplat.comparing.comparison import compare as compare_scenarios
from pcaplat.errors import EvidenceError
from pcaplat.metrics.contrasts import IN_A_ROW, UNORDERED, UNREPLICATED
from pcaplat.metrics.means import SCANT, Measurement
from pcaplat.metrics.metric import MetricQuery, Unavailable
from pcaplat.metrics.registry import read
from pcaplat.metrics.runs import Scenario, oriented, trimmed
from pcaplat.model.blocks import N_BLOCKS, Blocks
from pcaplat.outputs import write
from pcaplat.run.merge import merge
from pcaplat.statistics.intervals import across
from pcaplat.statistics.mean_pairs import independent
from pcaplat.study.errors import StudyError
from tests.conftest import ROOT
from tests.recovery.simulator import Clock, Link, Point, Traffic, run
from tests.recovery.simulator import Scenario as Path_
from tests.support.runs import FAR, GAP_NS, NEAR, START_NS, run_of

SAMPLES = ROOT / "samples"
N = 3000
SHARES = (("udp", 0.6), ("icmp", 0.4))


def scenario(name: str, mean_ns: float, n_runs: int, *, seed: int, places: str = "") -> Scenario:
    """Runs of exponential noise; `places` tells when each ran."""
    chance = np.random.default_rng(seed)
    runs = [
        run_of(
            mean_ns + chance.exponential(5000, N),
            mean_ns / 2 + chance.exponential(3000, N),
            start_ns=START_NS + 2 * N * GAP_NS * (int(places[at], 36) if places else 0),
        )
        for at in range(n_runs)
    ]
    return Scenario(name, runs)


def captures(folder: Path, forward_ns: int, seed: int, *, offset_ns: int = 0) -> Path:
    """A run of three points whose middle segment takes so long forward."""
    points = (Point("a"), Point("b", Clock(offset_ns)), Point("c"))
    links = (Link(), Link(forward_ns=forward_ns))
    folder.mkdir(parents=True)
    run(Path_(points, links, Traffic(n_packets=800, shares=SHARES), seed=seed)).save(folder)
    return folder


def test_a_known_difference_is_found() -> None:
    document = compare_scenarios(scenario("b", 10_000, 1, seed=1), scenario("t", 14_000, 1, seed=2))
    (row,) = document["round_trips"]
    assert row["lo_ns"] < 6000 < row["hi_ns"]
    assert row["hi_ns"] - row["lo_ns"] < 800
    assert row["delta_mean_ns"] == row["treatment_mean_ns"] - row["baseline_mean_ns"]
    assert row["shift_lo_ns"] < 6000 < row["shift_hi_ns"]
    assert document["replication"] == "within-run"
    assert UNREPLICATED in [warning["text"] for warning in document["warnings"]]


def test_swapping_the_sides_negates() -> None:
    one, two = (
        scenario("b", 10_000, 5, seed=1, places="03478"),
        scenario("t", 14_000, 5, seed=2, places="12569"),
    )
    (there,) = compare_scenarios(one, two)["round_trips"]
    (back,) = compare_scenarios(two, one)["round_trips"]
    for name, other in (("delta_mean_ns", "delta_mean_ns"), ("lo_ns", "hi_ns")):
        assert there[name] == pytest.approx(-back[other])
    assert there["shift_ns"] == pytest.approx(-back["shift_ns"])


def test_the_run_is_the_unit_of_five() -> None:
    chance = np.random.default_rng(4)
    both = []
    for name in ("b", "t"):
        means_ns = 20_000 + 3000 * chance.normal(size=5)
        first_ns = START_NS + (name == "t") * 10 * N * GAP_NS
        runs = [
            run_of(
                m + chance.exponential(100, N),
                np.full(N, 1000.0),
                start_ns=first_ns + 2 * at * N * GAP_NS,
            )
            for at, m in enumerate(means_ns)
        ]
        both.append(Scenario(name, runs))
    (row,) = compare_scenarios(*both, accepts_order=True)["round_trips"]
    values = [[r.blocks[NEAR, FAR, "forward"].mean_ns + 1000 for r in s.runs] for s in both]
    expected = independent(across(values[1]), across(values[0])).difference()
    assert (row["lo_ns"], row["hi_ns"]) == pytest.approx(expected.interval(0.95))
    # packets alone would claim to know it a hundred times better
    assert row["hi_ns"] - row["lo_ns"] > 2000


@pytest.mark.parametrize(
    ("places", "said"),
    [(("03478", "12569"), None), (("01234", "56789"), IN_A_ROW), (("", ""), UNORDERED)],
)
def test_the_order_of_runs_is_checked(places: tuple[str, str], said: str | None) -> None:
    both = [
        scenario(name, 10_000, 5, seed=seed, places=place)
        for name, seed, place in (("b", 1, places[0]), ("t", 2, places[1]))
    ]
    texts = [row["text"] for row in compare_scenarios(*both)["warnings"]]
    assert [text for text in texts if text in {IN_A_ROW, UNORDERED}] == ([said] if said else [])


def test_the_curve_finds_where_the_effect_lies() -> None:
    chance = np.random.default_rng(6)
    plain = chance.normal(20_000, 500, N)
    tail = np.where(chance.random(N) < 0.2, plain + 10_000, plain)
    reverse = np.full(N, 1000.0)
    both = Scenario("b", [run_of(plain, reverse)]), Scenario("t", [run_of(tail, reverse)])
    forward = compare_scenarios(*both)["segments"][0]
    deltas = {row["share"]: row for row in forward["quantiles"]}
    assert abs(deltas[0.5]["delta_ns"]) < 300
    assert deltas[0.9]["lo_ns"] < 10_000 < deltas[0.9]["hi_ns"] + 500
    assert deltas[0.9]["delta_ns"] > 9000
    # 3000 packets: 30 lie beyond p99, and blocks make them fewer
    assert 0.99 in deltas or len(deltas) >= 5


def test_a_run_that_drifts_says_so() -> None:
    chance = np.random.default_rng(7)
    drifting = 20_000 + chance.normal(0, 100, N) + np.linspace(0, 20_000, N)
    one = Scenario("b", [run_of(drifting, np.full(N, 1000.0))])
    document = compare_scenarios(one, one)
    (row,) = document["round_trips"]
    assert "effective sample size too small" in row["reason"]
    assert row["n_effective"] < 10
    assert SCANT in [warning["text"] for warning in document["warnings"]]


def test_warm_up_is_left_out() -> None:
    chance = np.random.default_rng(8)
    slow_start = 5000 + chance.normal(0, 100, 10_000)
    slow_start[:300] += 50_000
    whole = run_of(slow_start, np.full(10_000, 1000.0))
    usual, nothing = trimmed(whole, None), trimmed(whole, 0)
    key = (NEAR, FAR, "forward")
    assert nothing.blocks[key].n_all == 10_000
    assert nothing.blocks[key].mean_ns > 6000
    # 2 s long: 5 % of either end
    assert usual.blocks[key].n_all == pytest.approx(9000, rel=0.02)
    assert usual.blocks[key].mean_ns == pytest.approx(5000, abs=10)
    assert trimmed(whole, 900_000_000).blocks[key].n_all == pytest.approx(1000, rel=0.1)


def test_clocks_widen_one_way_latencies_only() -> None:
    chance = np.random.default_rng(9)
    values = chance.normal(20_000, 100, N)
    unsure = run_of(values, values, clock_half_width_ns=3000)
    none = run_of(values, values, clock_half_width_ns=None)
    document = compare_scenarios(Scenario("b", [unsure]), Scenario("t", [unsure]))
    forward = document["segments"][0]
    assert forward["hi_ns"] - forward["lo_ns"] > 12_000
    assert document["round_trips"][0]["hi_ns"] < 100
    document = compare_scenarios(Scenario("b", [none]), Scenario("t", [none]))
    forward = document["segments"][0]
    assert forward["lo_ns"] is None
    assert "cannot be related" in forward["reason"]
    assert document["round_trips"][0]["lo_ns"] is not None


def test_the_whole_path_is_its_ends_even_if_no_packet_crossed_it() -> None:
    one = run_of(np.full(N, 9000.0), np.full(N, 1000.0))
    edges = [{"near": NEAR, "far": FAR}, {"near": FAR, "far": "beyond"}, {"near": "x", "far": "y"}]
    document = dict(one.document) | {"path": [NEAR, FAR, "beyond", "x", "y"], "edges": edges}
    other = type(one)("longer", document, one.blocks)
    assert other.ends == (NEAR, "beyond")
    found = read(other, MetricQuery("two-way-contribution"))
    assert isinstance(found, Unavailable)
    assert f"no packet was matched on {NEAR} ⇄ beyond both ways" in found.why


def test_packets_in_one_moment_alone_have_no_interval() -> None:
    chance = np.random.default_rng(5)
    values = chance.normal(20_000, 100, 60)
    burst = run_of(values, values)
    late = {key: replace_all(blocks) for key, blocks in burst.blocks.items()}
    found = read(type(burst)("late", burst.document, late), MetricQuery("two-way-contribution"))
    assert isinstance(found, Measurement)
    assert found.within is None or np.isfinite(found.within.half_width(0.95))


def replace_all(blocks: Blocks) -> Blocks:
    """Put all packets into the last block of time."""
    place = np.zeros(N_BLOCKS, dtype=np.int64)
    place[-1] = 1
    return replace(
        blocks,
        n=place * blocks.n_all,
        sum_ns=place * blocks.sum_ns.sum(),
        sum_of_squares=place * blocks.sum_of_squares.sum(),
        bin_of=np.full_like(blocks.bin_of, N_BLOCKS - 1),
    )


def test_a_path_found_the_other_way_round_is_turned() -> None:
    one = run_of(np.full(N, 9000.0), np.full(N, 1000.0))
    document = dict(one.document) | {"path": [FAR, NEAR]}
    document["segments"] = [
        row | {"near": FAR, "far": NEAR, "direction": way}
        for row, way in zip(one.document["segments"], ("reverse", "forward"), strict=True)
    ]
    turned_blocks = {
        (FAR, NEAR, way): one.blocks[NEAR, FAR, other]
        for way, other in (("reverse", "forward"), ("forward", "reverse"))
    }
    other = type(one)("turned", document, turned_blocks)
    back = oriented(other, one)
    assert back.ends == one.ends
    assert back.blocks[NEAR, FAR, "forward"].mean_ns == 9000
    assert back.segments.keys() == one.segments.keys()


# ---- from captures


def test_folders_of_captures_are_runs(tmp_path: Path) -> None:
    for at in range(5):
        captures(tmp_path / "base" / f"run{at}", 3000, at, offset_ns=at * 10**9)
        captures(tmp_path / "slow" / f"run{at}", 7000, 10 + at, offset_ns=-at * 10**9)
    # the simulator has all runs begin at one time
    document = compare(tmp_path / "base", tmp_path / "slow", accepts_order=True)
    assert document["replication"] == "runs"
    assert document["baseline"] == {"name": "base", "n_runs": 5}
    rows = {(row["near"], row["far"]): row for row in document["round_trips"]}
    for ends, cost_ns in ((("b", "c"), 4000), (("a", "b"), 0)):
        lo_ns, hi_ns = rows[ends]["lo_ns"], rows[ends]["hi_ns"]
        assert lo_ns is not None
        assert hi_ns is not None
        assert lo_ns < cost_ns < hi_ns
    assert rows["a", "c"]["delta_mean_ns"] == pytest.approx(4000, abs=300)
    (loss, *_) = document["rates"]
    assert loss["metric"] == "loss-ratio"
    assert loss["baseline_n"] > 2000


def test_saved_results_are_as_good_as_captures(tmp_path: Path) -> None:
    one, two = captures(tmp_path / "one", 3000, 1), captures(tmp_path / "two", 6000, 2)
    for folder in (one, two):
        with merge(sorted(folder.iterdir())) as result:
            write(result, tmp_path / "saved" / folder.name)
    fresh = compare(one, two)
    assert compare(tmp_path / "saved" / "one", tmp_path / "saved" / "two") == fresh
    with merge(sorted(one.iterdir())) as first, merge(sorted(two.iterdir())) as second:
        again = compare(first, [second])
    assert again["round_trips"] == fresh["round_trips"]


def test_the_command_prints_and_writes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sides = [str(SAMPLES / name) for name in ("vxlan", "vxlan-delay200")]
    assert run_command(["compare", *sides, "--format", "json", "-o", str(tmp_path / "out")]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document == json.loads((tmp_path / "out" / "comparison.json").read_text())
    (switch,) = [row for row in document["round_trips"] if row["near"] == "sw-a"]
    # 200 µs each way, and 3 to 4 µs of the hop of the forwarder: see README.md of the sample
    assert switch["lo_ns"] < 408_000
    assert switch["hi_ns"] > 400_000
    for name, words in (
        ("table", "sw-a ⇄ sw-b"),
        ("csv", "two-way-contribution,sw-a,sw-b"),
        ("markdown", "| sw\\-a ⇄ sw\\-b |"),
    ):
        assert run_command(["compare", *sides, "--format", name]) == 0
        out = capsys.readouterr().out
        assert words in out or words.replace("\\", "") in out


def test_nothing_to_compare_is_said(tmp_path: Path) -> None:
    with pytest.raises(EvidenceError, match=r"no segment .* a → b → c; .*host1-vm"):
        compare(captures(tmp_path / "one", 3000, 1), SAMPLES / "vxlan")
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.txt").write_text("hello")
    with pytest.raises(StudyError, match=r"has no captures \(it holds a.txt\); give a folder"):
        compare(tmp_path / "notes", tmp_path / "one")
    with pytest.raises(StudyError, match="BASELINE and TREATMENT"):
        compare(tmp_path / "one")
    with pytest.raises(StudyError, match="between 0 and 1"):
        compare(tmp_path / "one", tmp_path / "one", confidence=95)
    with pytest.raises(FileNotFoundError):
        compare(tmp_path / "none", tmp_path / "one")


def test_a_result_of_an_earlier_version_is_refused(tmp_path: Path) -> None:
    folder = captures(tmp_path / "one", 3000, 1)
    with merge(sorted(folder.iterdir())) as result:
        write(result, tmp_path / "out")
    (tmp_path / "out" / "blocks.parquet").unlink()
    with pytest.raises(StudyError, match=r"has no blocks.parquet; write it again"):
        compare(tmp_path / "out", folder)
    (tmp_path / "out" / "blocks.parquet").write_bytes(b"no parquet")
    with pytest.raises(StudyError, match="is no result that merge -o wrote"):
        compare(tmp_path / "out", folder)
