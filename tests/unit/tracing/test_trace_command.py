"""`pcaplat trace`: what it is given, what it refuses, and the ladder as text and as a picture."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from typing import TYPE_CHECKING

import polars as pl
import pytest

import pcaplat
from pcaplat.cli import run
from tests.conftest import ROOT

if TYPE_CHECKING:
    from pathlib import Path

SAMPLE = sorted(str(path) for path in (ROOT / "samples" / "vxlan").glob("*.pcap"))
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("trace") / "out"
    with pcaplat.merge(SAMPLE, same_clock=["all"]) as result:
        pcaplat.write(result, out)
    return out


@pytest.fixture
def with_loss(folder: Path, tmp_path: Path) -> Path:
    """The same folder, as if a packet had been lost between the switches."""
    copy = tmp_path / "lossy"
    copy.mkdir()
    for file in folder.iterdir():
        (copy / file.name).symlink_to(file)
    packets = pl.read_parquet(folder / "packets.parquet")
    matches = pl.read_parquet(folder / "matches.parquet")
    whole = matches.filter(direction="forward", up_point="host1-vm")["trajectory_id"][20]
    is_it = pl.col("trajectory_id") == whole
    is_beyond = pl.col("point").is_in(["sw-b", "host2-up", "host2-vm"])
    frame = packets.filter(is_it, point="sw-a").row(0, named=True)
    (copy / "packets.parquet").unlink()
    packets.filter(~(is_it & is_beyond)).write_parquet(copy / "packets.parquet")
    (copy / "matches.parquet").unlink()
    is_beyond = pl.col("down_point").is_in(["sw-b", "host2-up", "host2-vm"])
    matches.filter(~(is_it & is_beyond)).write_parquet(copy / "matches.parquet")
    lost = {
        **{name: frame[name] for name in ("point", "file", "frame", "t_ns")},
        "near": "sw-a",
        "far": "sw-b",
        "direction": "forward",
        "weight": 1.0,
        "told_by": "alone",
    }
    (copy / "lost.parquet").unlink()
    pl.DataFrame([lost]).write_parquet(copy / "lost.parquet")
    return copy


def test_a_frame_is_named_by_file_name_stem_or_point(folder: Path) -> None:
    names = (SAMPLE[0], "host1-up.pcap", "host1-up")
    found = [pcaplat.trace(folder, f"{name}:7")["packets"] for name in names]
    assert found[0] == found[1] == found[2]
    assert len(found[0][0]["sightings"]) == 6


def test_captures_give_what_their_folder_gives(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = []
    for given in ([str(folder)], [*SAMPLE, "--same-clock", "all"]):
        captures = [word for word in given if not word.startswith("-") and word != "all"]
        options = given[len(captures) :]
        assert run(["trace", *captures, "sw-a:9", *options, "--format", "json"]) == 0
        shown.append(json.loads(capsys.readouterr().out))
    assert shown[0] == shown[1]
    assert shown[0]["schema"] == "pcaplat.trace/1"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["nowhere:1"], "no capture of this result; there are: "),
        (["sw-a:0"], "is no frame; write it like"),
        (["sw-a:99999999999999999999"], "is no frame; write it like"),
        (["sw-a:999999"], "has no such frame"),
        ([], "name a frame behind"),
        (["sw-a:1", "--slowest", "2"], "not both"),
        (["--slowest", "0"], "--slowest: invalid value '0'"),
        (["sw-a:1", "sw-b:2"], "sw-a:1, sw-b:2: one frame can be followed at a time"),
        (["sw-a:1", "--path", "a,b"], "is measured already"),
        (["sw-a:1", "--plot", "ladder.png"], "ends in .svg"),
        (["sw-a:1", "--plot", "/nosuch/ladder.svg"], "there is no directory /nosuch"),
    ],
)
def test_what_it_refuses(
    folder: Path, words: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["trace", str(folder), *words]) == 2
    assert says in capsys.readouterr().err


@pytest.mark.parametrize("words", [["trace", "{}", "a:1"], ["report", "{}"]])
def test_a_folder_of_something_else_is_refused(
    tmp_path: Path, words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([word.format(tmp_path) for word in words]) == 2
    assert "has no summary.json; give a folder that merge -o wrote" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("file", "holds"),
    [
        ("summary.json", b"{"),
        ("summary.json", b"[]"),
        ("summary.json", b"\xff"),
        ("summary.json", b'{"schema": "pcaplat.summary/1"}'),
        ("packets.parquet", b"no"),
        ("matches.parquet", None),
    ],
)
@pytest.mark.parametrize("words", [["sw-a:1", "--flow"], ["--slowest", "2"]])
def test_a_damaged_folder_is_told(
    with_loss: Path,
    file: str,
    holds: bytes | None,
    words: list[str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    other = (with_loss / "packets.parquet").read_bytes()
    (with_loss / file).unlink()
    (with_loss / file).write_bytes(other if holds is None else holds)
    assert run(["trace", str(with_loss), *words]) == 2
    assert "is no result that merge -o wrote" in capsys.readouterr().err


def test_a_folder_that_is_not_there_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["report", str(tmp_path / "none")]) == 2
    assert "none: there is no such directory" in capsys.readouterr().err


def test_where_nothing_was_lost_it_says_so(
    folder: Path, with_loss: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["trace", str(folder), "--lost"]) == 0
    assert capsys.readouterr().out == "No packet was lost\n"
    lost = with_loss / "lost.parquet"
    pl.read_parquet(lost).with_columns(frame=pl.lit(None, pl.Int64)).write_parquet(lost)
    assert run(["trace", str(with_loss), "--lost"]) == 0
    assert "it is not known which" in capsys.readouterr().out


def test_the_slowest_are_those_of_merge(folder: Path) -> None:
    with pcaplat.merge(SAMPLE, same_clock=["all"], slowest=1) as result:
        assert result.slowest is not None
        wanted = {*result.slowest["trajectory_id"].to_list()}
    packets = pcaplat.trace(folder, slowest=1)["packets"]
    assert {packet["trajectory_id"] for packet in packets} == wanted


def test_a_lost_packet_is_followed_to_where_it_was_lost(with_loss: Path) -> None:
    document = pcaplat.trace(with_loss, lost=True, flow=True)
    [packet] = document["packets"]
    assert [row["point"] for row in packet["sightings"]] == ["host1-vm", "host1-up", "sw-a"]
    assert packet["end"] == "lost"
    assert [(row["near"], row["far"]) for row in packet["lost"]] == [("sw-a", "sw-b")]
    drawn = [row for row in document["flow"]["packets"] if row["lost"]]
    assert [row["trajectory_id"] for row in drawn] == [packet["trajectory_id"]]


def test_a_folder_that_does_not_know_its_losses_is_refused(
    with_loss: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (with_loss / "lost.parquet").unlink()
    assert run(["trace", str(with_loss), "--lost"]) == 2
    assert "has no lost.parquet" in capsys.readouterr().err


def test_without_losses_known_it_is_said_what_is_known(with_loss: Path) -> None:
    [packet] = pcaplat.trace(with_loss, lost=True)["packets"]
    (with_loss / "lost.parquet").unlink()
    [seen, *_] = packet["sightings"]
    [packet] = pcaplat.trace(with_loss, f"{seen['file']}:{seen['frame']}")["packets"]
    assert (packet["end"], packet["next_points"]) == ("not-captured-further", ["sw-b"])


def test_the_ladder_as_text_marks_the_loss(
    with_loss: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "110")
    assert run(["trace", str(with_loss), "--lost", "--flow", "--most", "8"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert any("Lost on sw-a–sw-b" in line for line in lines)
    [head] = [line for line in lines if "host1-vm" in line and "latencies in" in line]
    [lost] = [line for line in lines if "✕" in line]
    assert "lost" in lost
    assert head.index("sw-a") < lost.index("✕") < head.index("sw-b") + 4
    assert max(map(len, lines)) <= 110


def test_the_ladder_as_a_picture(with_loss: Path, tmp_path: Path) -> None:
    plot = tmp_path / "ladder.svg"
    assert run(["trace", str(with_loss), "--lost", "--most", "8", "--plot", str(plot)]) == 0
    top = ET.fromstring(plot.read_text("utf-8"))  # noqa: S314 - it was just written
    groups = top.findall(f"{SVG}g")
    assert [group.get("class") for group in groups].count("lost") == 1
    assert len(groups) == 8
    texts = [text.text for text in top.findall(f"{SVG}text")]
    assert [text for text in texts if text in {"host1-vm", "sw-a", "host2-vm"}]


def test_a_capture_that_is_gone_is_told_and_addresses_are_compared(
    folder: Path, tmp_path: Path
) -> None:
    moved = tmp_path / "moved"
    moved.mkdir()
    for file in folder.iterdir():
        (moved / file.name).symlink_to(file)
    packets = pl.read_parquet(folder / "packets.parquet")
    renamed = packets.with_columns(pl.col("file").str.replace("samples", "gone"))
    matches = pl.read_parquet(folder / "matches.parquet").with_columns(
        pl.col("up_file", "down_file").str.replace("samples", "gone")
    )
    for name, table in (("packets", renamed), ("matches", matches)):
        (moved / f"{name}.parquet").unlink()
        table.write_parquet(moved / f"{name}.parquet")
    (moved / "summary.json").unlink()
    text = (folder / "summary.json").read_text("utf-8").replace("samples", "gone")
    (moved / "summary.json").write_text(text)
    document = pcaplat.trace(moved, "host1-vm:3")
    assert {warning["code"] for warning in document["warnings"]} == {"capture-not-read"}
    [packet] = document["packets"]
    layers = [change["layer"] for change in packet["segments"][0]["changes"]]
    assert layers == ["ethernet", "ipv4", "udp", "vxlan"]
