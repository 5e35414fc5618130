"""merged.pcapng in Wireshark: points, comments, fields, and no false retransmission."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import polars as pl
import pytest

import pcaplat
from pcaplat.cli import run
from tests.conftest import ROOT

if TYPE_CHECKING:
    from pathlib import Path

SAMPLE = sorted(str(path) for path in (ROOT / "samples" / "vxlan").glob("*.pcap"))
POINTS = ["host1-vm", "host1-up", "sw-a", "sw-b", "host2-up", "host2-vm"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("merged") / "out"
    with pcaplat.merge(SAMPLE, same_clock=["all"]) as result:
        pcaplat.write(result, out, pcapng=True)
    return out


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> Path:
    top = tmp_path_factory.mktemp("config")
    folders = ["--config", str(top / "wireshark"), "--plugins", str(top / "plugins")]
    assert run(["wireshark", "install", *folders, "--quiet"]) == 0
    return top


def test_nothing_is_installed_where_a_part_cannot_be(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("mine")
    folders = ["--config", str(tmp_path / "file"), "--plugins", str(tmp_path / "plugins")]
    assert run(["wireshark", "install", *folders]) == 2
    assert "is a file" in capsys.readouterr().err
    assert [one.name for one in tmp_path.iterdir()] == ["file"]


def tshark(config: Path, file: Path, *words: str) -> list[list[str]]:
    command = ["tshark", "-n", "-C", "pcaplat", "-X", f"lua_script:{config}/plugins/pcaplat.lua"]
    environment = {"XDG_CONFIG_HOME": str(config), "PATH": "/usr/bin:/bin", "HOME": str(config)}
    done = subprocess.run(
        [*command, "-r", str(file), *words],
        capture_output=True,
        text=True,
        check=True,
        env=environment,
    )
    told = done.stderr.replace('Running as user "root" and group "root". ', "")
    assert told.replace("This could be dangerous.", "").strip() == ""
    return [line.split("\t") for line in done.stdout.splitlines()]


@pytest.mark.oracle
def test_fields_filter_and_are_those_of_the_tables(folder: Path, config: Path) -> None:
    names = ("status", "trajectory_id", "point", "from", "latency_ns")
    words = [word for name in names for word in ("-e", f"pcaplat.{name}")]
    rows = tshark(config, folder / "merged.pcapng", "-T", "fields", *words)
    found = pl.DataFrame(rows, schema=list(names), orient="row").with_columns(
        pl.col("trajectory_id", "latency_ns").cast(pl.Int64, strict=False)
    )
    packets = pl.read_parquet(folder / "packets.parquet")
    assert len(found) == len(packets)
    counts = ["point", "status", "trajectory_id"]
    assert found.select(counts).sort(counts).equals(packets.select(counts).sort(counts))
    matches = pl.read_parquet(folder / "matches.parquet").select(
        "trajectory_id",
        point="down_point",
        **{"from": "up_point"},
        latency_ns=pl.col("latency_ns").cast(pl.Int64),
    )
    timed = found.filter(pl.col("latency_ns").is_not_null()).select(matches.columns)
    assert timed.sort(matches.columns).equals(matches.sort(matches.columns))
    slow = tshark(config, folder / "merged.pcapng", "-Y", "pcaplat.latency_ns > 10000")
    assert len(slow) == len(matches.filter(pl.col("latency_ns") > 10_000)) > 0


@pytest.mark.oracle
def test_a_packet_at_the_next_point_is_no_retransmission(folder: Path, config: Path) -> None:
    merged = folder / "merged.pcapng"
    asked = ("-Y", "tcp.analysis.retransmission || tcp.analysis.out_of_order")
    assert tshark(config, merged, *asked) == []
    # without the profile there are many: that is what it is for
    plain = subprocess.run(
        ["tshark", "-n", "-r", str(merged), *asked],
        capture_output=True,
        text=True,
        check=True,
        env={"XDG_CONFIG_HOME": str(folder / "none"), "PATH": "/usr/bin:/bin"},
    )
    assert plain.stdout


@pytest.mark.oracle
def test_each_point_is_an_interface_with_a_description(folder: Path, config: Path) -> None:
    names = ("-e", "frame.interface_name", "-e", "frame.interface_description")
    rows = tshark(config, folder / "merged.pcapng", "-T", "fields", *names)
    described = {name: text for name, text in rows}  # noqa: C416 - rows are lists of two
    assert sorted(described) == sorted(POINTS)
    for point, text in described.items():
        assert text.startswith(f"{point}.pcap; timestamps to 1 ns; clock ")


def test_merge_reads_its_own_file_and_answers_the_same(folder: Path) -> None:
    with pcaplat.merge(SAMPLE, same_clock=["all"]) as plain:
        wanted = [row | {} for row in plain.document["segments"]]
    with pcaplat.merge([str(folder / "merged.pcapng")], same_clock=["all"]) as again:
        assert again.document["path"] == [f"merged/{point}" for point in POINTS]
        found = again.document["segments"]
    assert len(found) == len(wanted)
    for one, other in zip(wanted, found, strict=True):
        for name in ("near", "far"):
            assert other[name] == f"merged/{one[name]}"
        for name in ("direction", "class", "n", "n_lost", "min_ns", "mean_ns", "p99_ns", "max_ns"):
            assert other[name] == one[name], (one["near"], one["direction"], name)


def test_installing_again_is_quiet_and_changes_are_kept(
    config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folders = ["--config", str(config / "wireshark"), "--plugins", str(config / "plugins")]
    assert run(["wireshark", "install", *folders, "--quiet"]) == 0
    rules = config / "wireshark" / "profiles" / "pcaplat" / "colorfilters"
    before = rules.read_text("utf-8")
    rules.write_text(before + "# mine\n")
    assert run(["wireshark", "install", *folders]) == 2
    assert "differs; replace it with --overwrite" in capsys.readouterr().err
    assert run(["wireshark", "install", *folders, "--overwrite", "--quiet"]) == 0
    assert rules.read_text("utf-8") == before
