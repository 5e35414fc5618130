"""Files and tables of a result: what made them, in which units, and any of them as CSV."""

from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING

import polars as pl
import pyarrow.parquet as pq
import pytest

import pcaplat
from pcaplat.cli import run
from pcaplat.tables import MATCHES, TABLES
from tests.conftest import ROOT

if TYPE_CHECKING:
    from pathlib import Path

SAMPLE = [str(path) for path in sorted((ROOT / "samples" / "vxlan").glob("*.pcap"))]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("result") / "out"
    with pcaplat.merge(SAMPLE, same_clock="all", sample=2) as result:
        pcaplat.write(result, path)
    return path


def test_every_file_says_what_made_it(folder: Path) -> None:
    files = sorted(folder.glob("*.parquet"))
    assert files
    for file in files:
        about = pq.read_schema(file).metadata
        assert about[b"pcaplat.table"].decode() == file.stem
        assert about[b"pcaplat.version"].decode() == pcaplat.__version__
        assert about[b"pcaplat.command"].startswith(b"pcaplat merge --same-clock all")
        assert json.loads(about[b"pcaplat.options"]) == {"same_clock": ["all"], "sample": 2}


def test_instants_say_their_unit(folder: Path) -> None:
    for name, column in (("packets", "t_ns"), ("matches", "up_t_ns"), ("clocks", "at_ns")):
        field = pq.read_schema(folder / f"{name}.parquet").field(column)
        assert field.metadata[b"unit"] == b"ns since 1970"


def test_a_match_has_the_time_of_its_upper_frame(folder: Path) -> None:
    matches, packets = (
        pl.read_parquet(folder / f"{name}.parquet") for name in ("matches", "packets")
    )
    MATCHES.check(matches)
    both = matches.join(packets, left_on=["up_file", "up_frame"], right_on=["file", "frame"])
    assert both.height == matches.height
    used = both.select(pl.coalesce("stamp_ns", "t_ns")).to_series()
    assert both["up_t_ns"].equals(used, check_names=False)


def table(name: str, capsys: pytest.CaptureFixture[str]) -> list[dict[str, str]]:
    assert run(["merge", *SAMPLE[:2], "--format", "csv", "--table", name, "--quiet"]) == 0
    return [*csv.DictReader(io.StringIO(capsys.readouterr().out))]


@pytest.mark.parametrize("name", ["clocks", "round_trips", "captures", "segments", "warnings"])
def test_a_list_of_the_summary_is_csv(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    rows = table(name, capsys)
    [schema] = [each for each in TABLES if each.name == name]
    document = pcaplat.merge(SAMPLE[:2]).document[name]
    assert len(rows) == len(document)
    assert [*rows[0]][: len(schema.names)] == schema.names


def test_large_tables_are_csv(capfd: pytest.CaptureFixture[str]) -> None:
    matches = table("matches", capfd)
    packets = table("packets", capfd)
    with pcaplat.merge(SAMPLE[:2]) as result:
        assert len(matches) == result.matches.collect().height
        assert len(packets) == result.packets.collect().height
    assert [*matches[0]] == MATCHES.names
    assert table("lost", capfd) == []


@pytest.mark.parametrize(
    ("more", "told"),
    [
        (["--format", "csv", "--table", "match"], "did you mean matches?"),
        (["--table", "matches"], "needs --format csv"),
    ],
)
def test_a_table_that_is_not_there_is_refused(
    more: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["merge", *SAMPLE[:2], *more]) == 2
    assert told in capsys.readouterr().err
