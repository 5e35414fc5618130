"""Blocks of time: what they add up to is what the summary says, however clocks are."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from pcaplat.breakdowns.counting import FEW
from pcaplat.model.blocks import BLOCKS, N_BLOCKS, block_rows, blocks_of_rows
from pcaplat.outputs import write
from pcaplat.run.merge import merge
from pcaplat.run.result import Result
from pcaplat.study.sources import saved_run
from tests.conftest import ROOT
from tests.recovery.simulator import Clock, Link, Point, Scenario, Traffic, run
from tests.support.histograms import bin_of, middle_ns
from tests.support.shelf import lab_set

SECOND = 1_000_000_000


def check_sums(result: Result) -> None:
    """Each segment's blocks hold its packets and its mean."""
    rows = [row for row in result.document["segments"] if row["class"] == "packet" and row["n"]]
    assert set(result.blocks) == {(row["near"], row["far"], row["direction"]) for row in rows}
    for row in rows:
        blocks = result.blocks[row["near"], row["far"], row["direction"]]
        assert blocks.n_all == row["n"] == blocks.counts.sum()
        assert len(blocks.n) == N_BLOCKS
        if row["mean_ns"] is not None:
            assert blocks.mean_ns == pytest.approx(row["mean_ns"], abs=1e-6)
            values, counts = blocks.histograms(1)
            rank = int(np.searchsorted(np.cumsum(counts.sum(axis=0)), np.ceil(0.5 * row["n"])))
            assert values[rank] == pytest.approx(row["p50_ns"])
    for row in result.document["round_trips"]:
        ends = (row["near"], row["far"])
        means = [result.blocks[*ends, way].mean_ns for way in ("forward", "reverse")]
        assert sum(means) == pytest.approx(row["mean_ns"], abs=1e-3)


@pytest.mark.parametrize("sample", ["vxlan", "ipv6", "vxlan-delay200"])
def test_blocks_of_samples_add_up(sample: str) -> None:
    with merge(sorted((ROOT / "samples" / sample).glob("*.pcap*"))) as result:
        check_sums(result)


@pytest.mark.parametrize("name", ["vxlan-tso", "vxlan-tso-gro", "vxlan-loss-dup"])
def test_blocks_of_lab_captures_add_up(name: str) -> None:
    if not lab_set(name).exists():
        pytest.skip("the lab captures are not here")
    with merge(sorted(lab_set(name).glob("*.pcap*"))) as result:
        check_sums(result)


def test_blocks_add_up_between_clocks_and_past_points_that_missed_packets(tmp_path: Path) -> None:
    points = (
        Point("a"),
        Point("b", Clock(37 * SECOND, 40)),
        Point("c", Clock(-SECOND, -15)),
    )
    links = (Link(lost_share=0.02), Link(lost_share=0.02))
    files = run(Scenario(points, links, Traffic(n_packets=800))).save(tmp_path)
    with merge(files) as result:
        check_sums(result)
        assert result.blocks["a", "c", "forward"].n_all > 0


def test_one_direction_alone_has_blocks_too(tmp_path: Path) -> None:
    points = (Point("a"), Point("b", Clock(5 * SECOND, 20)))
    scenario = Scenario(points, (Link(),), Traffic(n_packets=600), is_one_way=True)
    with merge(run(scenario).save(tmp_path), path=["a", "b"]) as result:
        (row,) = result.document["segments"]
        assert row["mean_ns"] is None
        assert result.blocks["a", "b", "forward"].n_all == row["n"]


def test_blocks_are_time(tmp_path: Path) -> None:
    scenario = Scenario((Point("a"), Point("b")), (Link(),), Traffic(n_packets=1200))
    files = run(scenario).save(tmp_path)
    with merge(files) as result:
        blocks = result.blocks["a", "b", "forward"]
        t_ns = result.packets.select("t_ns").collect()["t_ns"].to_numpy()
    # transactions come evenly
    assert blocks.length_ns * N_BLOCKS == pytest.approx(np.ptp(t_ns), rel=0.02)
    halves = blocks.n[: N_BLOCKS // 2].sum(), blocks.n[N_BLOCKS // 2 :].sum()
    assert halves[0] == pytest.approx(halves[1], rel=0.1)


def test_only_the_time_asked_for_is_cut_into_blocks(tmp_path: Path) -> None:
    scenario = Scenario((Point("a"), Point("b")), (Link(),), Traffic(n_packets=1200))
    files = run(scenario).save(tmp_path)
    with merge(files, start="+10ms", end="+14ms") as result:
        blocks = result.blocks["a", "b", "forward"]
    assert blocks.length_ns * N_BLOCKS == pytest.approx(4_000_000, rel=0.05)
    assert (blocks.n > 0).sum() > 20


def test_a_saved_run_is_the_run(tmp_path: Path) -> None:
    with merge(sorted((ROOT / "samples" / "vxlan").glob("*.pcap"))) as result:
        write(result, tmp_path / "out")
        saved = saved_run(tmp_path / "out")
        assert saved.document == result.document
        assert set(saved.blocks) == set(result.blocks)
        for key, blocks in result.blocks.items():
            for name in ("n", "sum_ns", "sum_of_squares", "bin_of", "middles_ns", "counts"):
                assert np.array_equal(getattr(saved.blocks[key], name), getattr(blocks, name))
    BLOCKS.check(pl.read_parquet(tmp_path / "out" / "blocks.parquet"))


@pytest.mark.parametrize("is_many", [False, True])
def test_blocks_of_the_core_are_those_of_the_matches(tmp_path: Path, *, is_many: bool) -> None:
    few = sorted((ROOT / "samples" / "vxlan").glob("*.pcap"))
    points = (Point("a"), Point("b"))
    many = Scenario(points, (Link(),), Traffic(n_packets=3 * FEW))
    files = run(many).save(tmp_path) if is_many else few
    with merge(files, same_clock=["all"]) as result:
        matches = result.matches.filter(pl.col("kind") == "packet").collect()
        for (near, far, way), blocks in result.blocks.items():
            up, down = (near, far) if way == "forward" else (far, near)
            mine = matches.filter(
                (pl.col("up_point") == up)
                & (pl.col("down_point") == down)
                & (pl.col("direction") == way)
            )
            if not len(mine):
                continue  # the whole path, whose packets were seen in between
            values = mine["latency_ns"].cast(pl.Int64).to_numpy()
            assert blocks.sum_of_squares.sum() == np.sum(values.astype(np.float64) ** 2)
            assert (len(values) > FEW) == is_many
            kept = middle_ns(bin_of(values)) if is_many else values
            bins, counts = np.unique(kept, return_counts=True)
            assert np.array_equal(np.unique(blocks.middles_ns), bins)
            _, whole = blocks.histograms(1)
            assert np.array_equal(whole.sum(axis=0), counts)


def test_blocks_do_not_depend_on_the_order_of_files(tmp_path: Path) -> None:
    points = (Point("a"), Point("b", Clock(SECOND, 20)), Point("c"))
    scenario = Scenario(points, (Link(), Link()), Traffic(n_packets=2000))
    files = run(scenario).save(tmp_path)
    with merge(files, path=["a", "b", "c"]) as one, merge(files[::-1], path=["a", "b", "c"]) as two:
        for name in ("segments", "round_trips"):
            assert one.document[name] == two.document[name]


def test_rows_and_back() -> None:
    with merge(sorted((ROOT / "samples" / "vxlan").glob("*.pcap"))) as result:
        back = blocks_of_rows(block_rows(result.blocks))
        assert {key: one.mean_ns for key, one in back.items()} == {
            key: one.mean_ns for key, one in result.blocks.items()
        }
