"""`merge -o DIR --unmatched`: the frames that were matched nowhere, as they were captured."""

import re
import shutil
import subprocess
from pathlib import Path

import polars as pl
import pytest

import pcaplat
from pcaplat.cli import run as run_command
from tests.recovery.simulator.effects import scenario
from tests.recovery.simulator.outcome import run
from tests.support.oracle_decode import read_frames
from tests.support.stamped_frames import STAMPS
from tests.unit.stages.test_stamps import merged_of, save, series


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Captures of which some packets are lost on the way, and the results beside them."""
    folder = tmp_path_factory.mktemp("lossy")
    files = run(scenario("loss", 2_000, seed=1)).save(folder)
    with pcaplat.merge([str(file) for file in files], same_clock=["all"]) as result:
        pcaplat.write(result, folder / "out", unmatched=True)
    return folder


def points(folder: Path) -> dict[str, list[int]]:
    """Numbers of the unmatched frames of each point that has any."""
    table = pl.read_parquet(folder / "out" / "packets.parquet").filter(status="unmatched")
    return {str(name): of["frame"].to_list() for (name,), of in table.group_by("point")}


def test_they_are_the_unmatched_frames_with_their_bytes_and_stamps(folder: Path) -> None:
    found = sorted((folder / "out" / "unmatched").iterdir())
    assert [path.stem for path in found] == sorted(points(folder))
    assert sum(map(len, points(folder).values())) > 10
    for path in found:
        captured = read_frames(next(folder.glob(f"{path.stem}.*")))
        expected = [captured[number - 1] for number in points(folder)[path.stem]]
        written = read_frames(path)
        assert [(one.t_ns, one.data) for one in written] == [
            (one.t_ns, one.data) for one in sorted(expected, key=lambda one: one.t_ns)
        ]


@pytest.mark.oracle
@pytest.mark.skipif(not shutil.which("tshark"), reason="no tshark")
def test_tshark_reads_them(folder: Path) -> None:
    for path in (folder / "out" / "unmatched").iterdir():
        command = ["tshark", "-r", str(path), "-T", "fields", "-e", "frame.interface_name"]
        told = subprocess.run(command, capture_output=True, text=True, check=True)
        assert told.stdout.splitlines() == [path.stem] * len(points(folder)[path.stem])


def test_without_it_they_are_gone_with_the_earlier_result(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder / "out", tmp_path / "out")
    files = [str(path) for path in sorted(folder.glob("*.pcap"))]
    with pcaplat.merge(files, same_clock=["all"]) as result:
        pcaplat.write(result, tmp_path / "out", overwrite=True)
    assert not (tmp_path / "out" / "unmatched").exists()


def test_what_else_is_in_their_folder_stays(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    shutil.copytree(folder / "out", out)
    (out / "unmatched" / "notes.txt").write_text("mine")
    (out / "unmatched" / "gone.pcapng").write_text("of an earlier result")
    files = [str(path) for path in sorted(folder.glob("*.pcap"))]
    with pcaplat.merge(files, same_clock=["all"]) as result:
        pcaplat.write(result, out, overwrite=True, unmatched=True)
    written = {path.name for path in (out / "unmatched").iterdir()}
    assert written == {"notes.txt", *(f"{name}.pcapng" for name in points(folder))}


def test_a_capture_among_them_is_not_replaced(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    shutil.copytree(folder / "out", out)
    given = next((out / "unmatched").iterdir())
    others = [str(path) for path in sorted(folder.glob("*.pcap"))[1:]]
    assert run_command(["merge", f"x={given}", *others, "-o", str(out), "--overwrite"]) == 2
    assert f"{given.name}: is one of the captures" in capsys.readouterr().err
    assert given.exists()


def test_the_command_writes_them_and_needs_a_folder(folder: Path, tmp_path: Path) -> None:
    files = [str(path) for path in sorted(folder.glob("*.pcap"))]
    assert run_command(["merge", *files, "--unmatched"]) == 2
    out = tmp_path / "out"
    assert run_command(["merge", *files, "-o", str(out), "--unmatched", "--quiet"]) == 0
    assert {path.name for path in (out / "unmatched").iterdir()} == {
        f"{name}.pcapng" for name in points(folder)
    }


def test_names_of_points_are_harmless(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    source = run(scenario("loss", 2_000, seed=1)).save(tmp_path / "in")
    named = [f"..{mark}={file}" for mark, file in zip("a *?ä", source, strict=True)]
    with pcaplat.merge(named, same_clock=["all"]) as result:
        pcaplat.write(result, tmp_path / "out", unmatched=True)
    written = [path.name for path in (tmp_path / "out" / "unmatched").iterdir()]
    assert written
    assert all(re.fullmatch(r"[\w-]+\.pcapng", name) for name in written)


@pytest.mark.parametrize("name", ["metamako", "arista-7280"])
def test_times_inside_frames_change_nothing_of_them(name: str, tmp_path: Path) -> None:
    records = series(STAMPS[name], 400)
    save(tmp_path / "a.pcap", records)
    save(tmp_path / "b.pcap", [one for at, one in enumerate(records) if not 200 <= at < 220])
    with merged_of(tmp_path) as result:
        assert result.document["captures"][0]["stamp"] == name
        pcaplat.write(result, tmp_path / "out", unmatched=True)
    written = read_frames(tmp_path / "out" / "unmatched" / "a.pcapng")
    assert [(one.t_ns, one.data) for one in written] == records[200:220]
