"""The result: its large tables live as long as anybody who can ask for them."""

import gc
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
