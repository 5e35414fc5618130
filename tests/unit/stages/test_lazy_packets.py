"""Captures as a lazy frame: the rows of `read`, and no more of them than are asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
import pytest

import pcaplat
from pcaplat.stages import read
from pcaplat.stages.read import batches_of
from pcaplat.tables import DETAILS, PACKETS
from tests.conftest import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import pyarrow as pa

    from pcaplat import _native

MOST = (1 << 63) - 1
SAMPLE = ROOT / "samples" / "vxlan"
PATTERN = str(SAMPLE / "*.pcap")


@pytest.fixture(scope="module")
def whole() -> pl.DataFrame:
    return pl.DataFrame(pcaplat.read(sorted(SAMPLE.glob("*.pcap")), details=True))


def test_all_of_it_is_what_read_gives(whole: pl.DataFrame) -> None:
    assert pcaplat.scan(PATTERN).collect().equals(whole.select(PACKETS.names))
    assert pcaplat.scan(PATTERN, details=True).collect().equals(whole)


@pytest.mark.parametrize(
    "condition",
    [
        pl.col("protocol") == 17,
        pl.col("file").str.contains("sw-a"),
        pl.col("file").str.contains("nowhere"),
        (pl.col("ttl") == 64) & (pl.col("point").str.ends_with("host1-vm.pcap")),
        pl.col("src") == "10.0.1.1",
        pl.col("src").is_in(["10.0.1.1", "10.0.1.2", None]),
        pl.col("dst") != "10.0.1.1",
        pl.col("dst") != "010.0.1.1",
        pl.col("src_port").is_in([49532, 57261]),
        ~pl.col("dst_port").is_in([49532, 57261]),
        pl.col("src_port").is_null(),
        pl.col("protocol").ne_missing(6),
        ~((pl.col("protocol") == 6) | (pl.col("wire_bytes") > 200)),
        (pl.col("protocol") == 6) | pl.col("layers").str.contains("arp"),
        (pl.col("protocol") == 6) & pl.col("layers").str.contains("vxlan"),
        pl.col("wire_bytes").is_between(100, 300, closed="left"),
        pl.col("captured_bytes") >= 1000,
        pl.col("tunnel_id") < 1 << 40,
        pl.col("t_ns") > pl.col("t_ns").min(),
        pl.col("t_ns").cast(pl.Datetime("ns")) > pl.datetime(2026, 1, 1, time_unit="ns"),
        pl.col("frame") < 2.5,
        pl.col("frame") == MOST,
        pl.col("frame") > MOST,
        pl.col("frame").is_between(5, 3),
        pl.col("stamp_ns") != 0,
        pl.any_horizontal(pl.col("frame") == 1, pl.col("dst_port") == 49532),
        pl.lit(value=False),
    ],
)
def test_conditions_and_columns_change_nothing_but_the_cost(
    condition: pl.Expr, whole: pl.DataFrame
) -> None:
    frame = pcaplat.scan(PATTERN, details=True)
    asked = frame.filter(condition).select("frame", "src")
    assert asked.collect().equals(whole.filter(condition).select("frame", "src"))
    assert asked.head(3).collect().equals(whole.filter(condition).select("frame", "src").head(3))
    first = frame.head(200).filter(condition).select("frame")
    assert first.collect().equals(whole.head(200).filter(condition).select("frame"))


def test_a_file_that_a_condition_rules_out_is_not_opened(tmp_path: Path) -> None:
    good = SAMPLE / "sw-a.pcap"
    frame = pcaplat.scan([good, tmp_path / "missing.pcap"])
    assert frame.filter(pl.col("file") == str(good)).collect().height
    with pytest.raises(Exception, match="missing"):
        frame.collect()


def test_details_cost_nothing_unless_they_are_used() -> None:
    assert not {*DETAILS.names} & {*pcaplat.scan(PATTERN).collect_schema()}


def _made(monkeypatch: pytest.MonkeyPatch, asked: pl.LazyFrame) -> tuple[pl.DataFrame, list[str]]:
    """Collect, and say which rows and columns the core made of it."""
    made: list[pl.DataFrame] = []

    def noted(stream: _native.PacketStream) -> Iterator[pa.RecordBatch]:
        for batch in batches_of(stream):
            made.append(pl.DataFrame(batch))
            yield batch

    monkeypatch.setattr(read, "batches_of", noted)
    found = asked.collect()
    return found, [f"{sum(map(len, made))} rows", *made[0].columns]


@pytest.mark.parametrize(
    ("condition", "columns"),
    [
        (pl.col("dst_port") == 49532, ["dst_port"]),
        (pl.col("src") == "10.0.1.1", ["src"]),
        ((pl.col("t_ns") >= 0) & (pl.col("protocol") == 17), ["t_ns", "protocol"]),
        (pl.col("wire_bytes").is_between(64, 120), ["wire_bytes"]),
        ((pl.col("file").str.contains("sw-a")) & (pl.col("frame") < 9), ["file", "frame"]),
    ],
)
def test_the_core_makes_the_rows_and_columns_that_are_asked_for(
    monkeypatch: pytest.MonkeyPatch, condition: pl.Expr, columns: list[str]
) -> None:
    asked = pcaplat.scan(PATTERN).filter(condition).select("captured_bytes")
    found, made = _made(monkeypatch, asked)
    assert len(found) > 0
    assert made == [f"{len(found)} rows", *columns, "captured_bytes"]


def test_to_count_rows_takes_one_column(
    monkeypatch: pytest.MonkeyPatch, whole: pl.DataFrame
) -> None:
    found, made = _made(monkeypatch, pcaplat.scan(PATTERN).select(pl.len()))
    assert found.item() == len(whole)
    assert made == [f"{len(whole)} rows", "frame"]


def test_a_pattern_that_nothing_matches_is_refused(tmp_path: Path) -> None:
    with pytest.raises(pcaplat.InputError, match="no file matches"):
        pcaplat.scan(str(tmp_path / "*.pcap"))
