"""The result: its large tables live as long as anybody who can ask for them."""

import gc
from math import ceil
from pathlib import Path

import polars as pl
import pytest

import pcaplat
from pcaplat.errors import InputError
from pcaplat.tables import CLOCKS, MATCHES, PACKETS, ROUND_TRIPS, SEGMENTS, SLOWEST
from tests.conftest import ROOT

SAMPLE = sorted((ROOT / "samples" / "vxlan").glob("*.pcap"))


@pytest.fixture(scope="module")
def result() -> pcaplat.Result:
    return pcaplat.merge(SAMPLE, same_clock=["all"], slowest=2)


def test_every_table_is_as_declared(result: pcaplat.Result) -> None:
    SEGMENTS.check(result.summary)
    CLOCKS.check(result.clocks)
    ROUND_TRIPS.check(result.round_trips)
    MATCHES.check(result.matches.collect())
    PACKETS.check(result.packets.collect())
    assert result.slowest is not None
    SLOWEST.check(result.slowest)


def test_a_table_outlives_its_result() -> None:
    packets = pcaplat.merge(SAMPLE, same_clock=["all"]).packets
    gc.collect()
    tall = packets.filter(pl.col("frame") == 1).select("point")
    del packets
    gc.collect()
    assert sorted(tall.collect()["point"]) == sorted(path.stem for path in SAMPLE)


def test_the_temporary_files_go_with_the_last_holder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    result = pcaplat.merge(SAMPLE, same_clock=["all"])
    packets = result.packets
    assert list(tmp_path.iterdir())
    del result
    gc.collect()
    assert packets.select(pl.len()).collect().item() == 1968
    del packets
    gc.collect()
    assert not list(tmp_path.iterdir())


def test_lazy_frames_push_down_and_join(result: pcaplat.Result) -> None:
    packets = result.packets
    assert packets.head(3).collect().height == 3
    both = packets.join(packets, on=["point", "frame"], how="inner")
    assert both.select(pl.len()).collect().item() == 1968
    first = packets.filter(pl.col("frame") == 2).select("t_ns").collect()
    assert first.height == len(SAMPLE)


def test_quantiles_of_few_packets_are_latencies_of_packets() -> None:
    """To the nanosecond, by the rank of each: above 2 µs the bins of a histogram are wider."""
    captures = sorted((ROOT / "samples" / "vxlan-delay200").glob("*.pcap.gz"))
    with pcaplat.merge(captures, same_clock=["all"]) as result:
        matches = result.matches.collect()
        rows = [row for row in result.document["segments"] if "sw-a" in {row["near"], row["far"]}]
        by_flow = {(r["near"], r["far"], r["direction"]): r for r in result.by("dscp").to_dicts()}
    for row in rows:
        ends = [row["near"], row["far"]]
        up, down = ends if row["direction"] == "forward" else ends[::-1]
        found = matches.filter(up_point=up, down_point=down)["latency_ns"].sort().to_list()
        for name, share in (("p50_ns", 0.5), ("p90_ns", 0.9), ("p99_ns", 0.99)):
            assert row[name] == found[ceil(share * len(found)) - 1], (row["near"], name)
        of_flow = by_flow[row["near"], row["far"], row["direction"]]
        if of_flow["n"] == row["n"]:
            assert (of_flow["p50_ns"], of_flow["p99_ns"]) == (row["p50_ns"], row["p99_ns"])
    assert any(row["p50_ns"] > 200_000 for row in rows)


def test_matches_agree_with_the_summary(result: pcaplat.Result) -> None:
    n = result.matches.group_by("up_point", "down_point").len().collect()
    counted = {(row["up_point"], row["down_point"]): row["len"] for row in n.to_dicts()}
    for row in result.document["segments"]:
        ends = (row["near"], row["far"])
        if ends in {(e["near"], e["far"]) for e in result.document["edges"]}:
            up_down = ends if row["direction"] == "forward" else ends[::-1]
            assert counted[up_down] == row["n"]


def test_rows_that_were_not_kept_are_not_there() -> None:
    result = pcaplat.merge(SAMPLE, same_clock=["all"], keep_rows=False)
    with pytest.raises(InputError, match="keep_rows=True"):
        result.matches.collect()
