"""Outputs: the folder with a result's files, complete or as it was before."""

import fcntl
import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from pcaplat.cli import run
from pcaplat.errors import OutputError
from pcaplat.outputs import JUDGED, output, result_files, write
from pcaplat.outputs.folder import check_directory, new_folder
from pcaplat.tables import CLOCKS, LOST, MATCHES, PACKETS, ROUND_TRIPS
from pcaplat.tables.breakdowns import BREAKDOWN_TABLES
from tests.conftest import ROOT
from tests.support.results import ResultByHand, as_result, document

READERS: dict[str, Callable[[Path], pl.DataFrame]] = {
    "csv": pl.read_csv,
    "json": pl.read_ndjson,
    "parquet": pl.read_parquet,
}


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_folder_holds_the_files_of_the_contract(tmp_path: Path) -> None:
    asked: dict[str, Any] = {"breakdowns": {table.name: [] for table in BREAKDOWN_TABLES}}
    write(as_result(ResultByHand(asked)), tmp_path / "deep" / "out", pcapng=True, unmatched=True)
    assert sorted(names(tmp_path / "deep" / "out")) == sorted({*result_files()} - {*JUDGED})
    assert names(tmp_path / "deep") == ["out"]
    write(as_result(ResultByHand()), tmp_path / "plain")
    assert "merged.pcapng" not in names(tmp_path / "plain")
    assert "by_flow.parquet" not in names(tmp_path / "plain")


def test_the_files_hold_the_tables(tmp_path: Path) -> None:
    write(as_result(ResultByHand(n_packets=5)), tmp_path / "out")
    for table in (PACKETS, MATCHES, LOST, CLOCKS, ROUND_TRIPS):
        frame = pl.read_parquet(tmp_path / "out" / f"{table.name}.parquet")
        table.check(frame)
    packets = pl.read_parquet(tmp_path / "out" / "packets.parquet")
    assert packets["frame"].to_list() == [1, 2, 3, 4, 5]
    clocks = pl.read_parquet(tmp_path / "out" / "clocks.parquet").to_dicts()
    assert clocks == document()["clocks"]
    assert json.loads((tmp_path / "out" / "summary.json").read_text()) == document()


def test_a_result_without_packets_has_its_columns(tmp_path: Path) -> None:
    write(as_result(ResultByHand(n_packets=0)), tmp_path / "out")
    assert pl.read_parquet(tmp_path / "out" / "packets.parquet").columns == PACKETS.names


@pytest.mark.parametrize(
    "words",
    [
        ["merge", "a.pcap", "b.pcap", "--plot", "{}/new/a.svg"],
        ["merge", "a.pcap", "b.pcap", "--lost", "{}/new/a.pcapng"],
        ["read", "a.pcap", "-o", "{}/new/a.csv"],
    ],
)
def test_a_file_makes_no_folder(
    tmp_path: Path, words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([word.format(tmp_path) for word in words]) == 2
    assert f"there is no directory {tmp_path}/new" in capsys.readouterr().err
    assert names(tmp_path) == []


def test_a_file_may_lie_in_the_folder_of_the_result(tmp_path: Path) -> None:
    captures = [str(ROOT / "samples" / "vxlan" / f"sw-{one}.pcap") for one in "ab"]
    out = tmp_path / "deep" / "out"
    more = ["--plot", f"{out}/path.svg", "--lost", f"{out}/lost.pcapng", "--quiet"]
    assert run(["merge", *captures, "-o", str(out), *more]) == 0
    assert {"path.svg", "lost.pcapng", "summary.json"} <= {*names(out)}


def test_a_folder_that_holds_something_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(OutputError, match="is not empty"):
        write(as_result(ResultByHand()), tmp_path)
    with pytest.raises(OutputError, match="is a file"):
        check_directory(tmp_path / "notes.txt", overwrite=True)
    assert names(tmp_path) == ["notes.txt"]


def test_overwrite_replaces_results_and_nothing_else(tmp_path: Path) -> None:
    out = tmp_path / "out"
    write(as_result(ResultByHand(n_packets=1)), out, pcapng=True)
    (out / "notes.txt").write_text("mine")
    write(as_result(ResultByHand(n_packets=2)), out, overwrite=True)
    assert pl.read_parquet(out / "packets.parquet").height == 2
    assert (out / "notes.txt").read_text() == "mine"
    # of the earlier result, it would belong to no file here
    assert not (out / "merged.pcapng").exists()


def test_overwrite_takes_no_folder_away(tmp_path: Path) -> None:
    out = tmp_path / "out"
    for name in ("unmatched", "packets.parquet"):
        (out / name).mkdir(parents=True)
        (out / name / "notes.txt").write_text("mine")
    with pytest.raises(OutputError, match=r"packets.parquet: is a folder"):
        write(as_result(ResultByHand()), out, overwrite=True)
    assert names(out) == ["packets.parquet", "unmatched"]
    (out / "packets.parquet").rename(tmp_path / "mine")
    (out / "unmatched" / "vnic.pcapng").write_text("of an earlier result")
    write(as_result(ResultByHand()), out, overwrite=True)
    assert names(out / "unmatched") == ["notes.txt"]


@pytest.mark.parametrize("failure", [KeyboardInterrupt, OSError(28, "No space left"), SystemExit])
def test_a_crash_leaves_nothing_behind(tmp_path: Path, failure: BaseException) -> None:
    broken = ResultByHand()
    broken.failure = failure
    with pytest.raises((KeyboardInterrupt, OSError, SystemExit)):
        write(as_result(broken), tmp_path / "out")
    assert names(tmp_path) == []


def test_a_crash_leaves_the_earlier_result(tmp_path: Path) -> None:
    out = tmp_path / "out"
    write(as_result(ResultByHand(n_packets=1)), out)
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    broken = ResultByHand(n_packets=2)
    broken.failure = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        write(as_result(broken), out, overwrite=True)
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before
    assert names(tmp_path) == ["out"]


def test_an_empty_folder_is_as_good_as_none(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir(mode=0o750)
    write(as_result(ResultByHand()), tmp_path / "out")
    assert (tmp_path / "out" / "summary.json").exists()
    assert (tmp_path / "out").stat().st_mode & 0o777 == 0o750


def test_a_linked_folder_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    (tmp_path / "out").symlink_to("disk")
    write(as_result(ResultByHand()), tmp_path / "out")
    assert (tmp_path / "out").is_symlink()
    assert (tmp_path / "disk" / "summary.json").exists()
    assert sorted(names(tmp_path)) == ["disk", "out"]


def test_a_folder_behind_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").touch()
    with pytest.raises(OutputError, match=r"notes.txt: is a file"):
        check_directory(tmp_path / "notes.txt" / "out", overwrite=False)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_out_of_reach_is_refused_before_any_work(tmp_path: Path) -> None:
    tmp_path.chmod(0o555)
    with pytest.raises(PermissionError, match=re.escape(str(tmp_path))):
        check_directory(tmp_path / "deep" / "out", overwrite=False)


def test_what_a_killed_run_left_is_removed(tmp_path: Path) -> None:
    left, other = (tmp_path / f".{name}.partial" for name in ("out-killed00", "out-2-killed00"))
    for folder in (left, other):
        folder.mkdir()
        (folder / "packets.parquet").touch()
    write(as_result(ResultByHand()), tmp_path / "out")
    assert sorted(names(tmp_path)) == [other.name, "out"]


def test_a_folder_that_was_filled_meanwhile_is_refused(tmp_path: Path) -> None:
    out = tmp_path / "out"

    def write_slowly() -> None:
        with new_folder(out, ["a"], overwrite=False) as new:
            (new / "a").touch()
            out.mkdir()
            (out / "notes").touch()

    with pytest.raises(OutputError, match="notes"):
        write_slowly()
    assert sorted(names(tmp_path)) == ["out"]
    assert sorted(names(out)) == ["notes"]


@pytest.mark.parametrize("overwrite", [False, True])
def test_a_folder_that_another_run_writes_into_is_refused(
    tmp_path: Path, *, overwrite: bool
) -> None:
    busy = tmp_path / ".out-busy0000.partial"
    busy.mkdir()
    held = os.open(busy, os.O_RDONLY)
    fcntl.flock(held, fcntl.LOCK_EX)
    with pytest.raises(OutputError, match="out: another run is writing into it"):
        write(as_result(ResultByHand()), tmp_path / "out", overwrite=overwrite)
    write(as_result(ResultByHand()), tmp_path / "out-busy0000")
    os.close(held)
    assert sorted(names(tmp_path)) == [busy.name, "out-busy0000"]


def test_a_place_that_takes_no_folder_is_refused_by_its_name(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as refused:
        check_directory(Path("/proc/out"), overwrite=False)
    assert refused.value.filename == "/proc/out"
    (tmp_path / "out").symlink_to("nowhere")
    with pytest.raises(OutputError, match="out: is a link to a folder that is not there"):
        check_directory(tmp_path / "out", overwrite=False)
    check_directory(tmp_path / "new" / "out", overwrite=False)
    assert names(tmp_path) == ["out"]


def test_rows_as_csv_json_and_parquet(tmp_path: Path) -> None:
    frames = {}
    for name in ("csv", "json", "parquet"):
        path = tmp_path / f"rows.{name}"
        with path.open("wb") as stream:
            output(name).save_rows(ResultByHand(n_packets=3).packet_batches(), stream)
        frames[name] = READERS[name](path).select("frame", "t_ns", "src", "tunnel_id").rows()
    assert frames["csv"] == frames["json"] == frames["parquet"]
    assert len(frames["csv"]) == 3


def test_a_new_folder_is_not_called_like_a_file(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match=r"result\.csv: is a name of a file"):
        check_directory(tmp_path / "result.csv", overwrite=False)
    assert not [*tmp_path.iterdir()]
    check_directory(tmp_path / "run.2026", overwrite=False)
