"""Captures as a lazy frame: the rows of `read`, and no more of them than are asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
import pytest

import pcaplat
from pcaplat.tables import DETAILS, PACKETS
from tests.conftest import ROOT

if TYPE_CHECKING:
    from pathlib import Path

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


def test_a_pattern_that_nothing_matches_is_refused(tmp_path: Path) -> None:
    with pytest.raises(pcaplat.InputError, match="no file matches"):
        pcaplat.scan(str(tmp_path / "*.pcap"))
