"""Runs that are copies of each other, in whatever dress, are no runs: they are refused by name."""

from __future__ import annotations

import gzip
import shutil
import struct
from typing import TYPE_CHECKING

import numpy as np
import pytest

from pcaplat.cli import run as run_command
from tests.support.frames import TCP
from tests.support.request_runs import RequestRun, RequestStudy
from tests.support.rewritten import records, restamp, rewrite
from tests.support.verdicts import DIFFERENCE, Validate, claim, sources, write_claims

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

HOUR_NS = 3600 * 10**9


@pytest.fixture
def validate(capsys: pytest.CaptureFixture[str]) -> Validate:
    return Validate(capsys)


def as_they_are(_: Path, __: int) -> None:
    """Copy, and no more."""


def renamed(folder: Path, number: int) -> None:
    """Nothing but the names of the folders is new; the files are compressed at another level."""
    for file in sorted(folder.iterdir()):
        (folder / f"{file.name}.gz").write_bytes(gzip.compress(file.read_bytes(), number % 9))
        file.unlink()


def with_another_header(folder: Path, number: int) -> None:
    """The snap length that the header tells is another."""
    for file in folder.iterdir():
        data = bytearray(file.read_bytes())
        struct.pack_into("<I", data, 16, 65_535 + number)
        file.write_bytes(data)


def trimmed(folder: Path, number: int) -> None:
    """A few frames at the start and the end are left out."""
    for file in folder.iterdir():
        rewrite(file, records(file)[4 * number : -4 * number or None])


def an_hour_later(folder: Path, number: int) -> None:
    """Whole hours are added to every stamp."""
    for file in folder.iterdir():
        restamp(file, lambda _: number * HOUR_NS)


def an_hour_later_and_trimmed(folder: Path, number: int) -> None:
    """Neither the stamps nor the blocks of time are those of the original."""
    trimmed(folder, number)
    an_hour_later(folder, number)


def shaken(folder: Path, number: int) -> None:
    """Each stamp is moved by 20 ns at most."""
    chance = np.random.default_rng(number)
    for file in sorted(folder.iterdir()):
        restamp(file, lambda _: int(chance.integers(-20, 20)))


def an_hour_later_and_shaken(folder: Path, number: int) -> None:
    """What is left of the original is its packets."""
    shaken(folder, number)
    an_hour_later(folder, number)


def cut_to_microseconds(folder: Path, _: int) -> None:
    """As another program would have stamped."""
    for file in folder.iterdir():
        rewrite(file, [(t_ns // 1000 * 1000, data) for t_ns, data in records(file)])


DRESSES = [
    as_they_are,
    renamed,
    with_another_header,
    trimmed,
    an_hour_later,
    an_hour_later_and_trimmed,
    shaken,
    an_hour_later_and_shaken,
    cut_to_microseconds,
]


def copies(source: Path, target: Path, dress: Callable[[Path, int], None], n: int = 5) -> Path:
    for number in range(n):
        shutil.copytree(source, target / f"run{number}")
        dress(target / f"run{number}", number)
    return target


def refusal(validate: Validate, tmp_path: Path, folders: dict[str, Path]) -> str:
    """What the command says instead of a verdict."""
    path = write_claims(tmp_path, claim("interval = [3, 5]", DIFFERENCE))
    assert validate(path, *sources(folders)) == []
    assert validate.status == 2
    return validate.err


@pytest.mark.one_in(4)
@pytest.mark.parametrize("dress", DRESSES)
def test_five_copies_of_one_run_are_no_five_runs(
    validate: Validate, tmp_path: Path, dress: Callable[[Path, int], None]
) -> None:
    both = RequestStudy(n_runs=1).save(tmp_path / "s")
    folders = {
        name: copies(folder / "run0", tmp_path / name, dress) for name, folder in both.items()
    }
    said = refusal(validate, tmp_path, folders)
    assert "run0" in said
    assert "run1" in said


@pytest.mark.one_in(4)
@pytest.mark.parametrize("dress", DRESSES)
def test_one_copy_among_runs_is_found(
    validate: Validate, tmp_path: Path, dress: Callable[[Path, int], None]
) -> None:
    folders = RequestStudy(n_runs=5).save(tmp_path / "s")
    shutil.copytree(folders["slow"] / "run2", folders["slow"] / "run7")
    dress(folders["slow"] / "run7", 3)
    said = refusal(validate, tmp_path, folders)
    assert "run2" in said
    assert "run7" in said


def test_one_scenario_is_not_given_for_another(validate: Validate, tmp_path: Path) -> None:
    folders = RequestStudy(n_runs=5).save(tmp_path / "s")
    said = refusal(validate, tmp_path, folders | {"slow": folders["plain"]})
    assert "plain" in said
    assert "slow" in said
    shutil.copytree(folders["plain"], tmp_path / "again")
    refusal(validate, tmp_path, folders | {"slow": tmp_path / "again"})


def test_a_run_is_of_one_scenario(validate: Validate, tmp_path: Path) -> None:
    folders = RequestStudy(n_runs=5).save(tmp_path / "s")
    shutil.copytree(folders["plain"] / "run3", folders["slow"] / "run9")
    said = refusal(validate, tmp_path, folders)
    assert "run3" in said
    assert "run9" in said


def test_what_merge_wrote_twice_is_one_run(validate: Validate, tmp_path: Path) -> None:
    folders = RequestStudy(n_runs=1).save(tmp_path / "s")
    for name, folder in folders.items():
        for number in range(5):
            files = sorted(map(str, (folder / "run0").iterdir()))
            target = str(tmp_path / "merged" / name / f"run{number}")
            assert run_command(["merge", *files, "-o", target, "--quiet"]) == 0
    validate.capsys.readouterr()
    refusal(validate, tmp_path, {name: tmp_path / "merged" / name for name in folders})


@pytest.mark.one_in(4)
@pytest.mark.parametrize("dress", DRESSES)
def test_compare_refuses_copies_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], dress: Callable[[Path, int], None]
) -> None:
    both = RequestStudy(n_runs=1).save(tmp_path / "s")
    folders = [str(copies(f / "run0", tmp_path / name, dress)) for name, f in both.items()]
    assert run_command(["compare", *folders]) == 2
    assert "run1" in capsys.readouterr().err


@pytest.mark.parametrize("pause_ns", [0, 10**9])
def test_pieces_of_one_run_are_no_runs(validate: Validate, tmp_path: Path, pause_ns: int) -> None:
    """The requests of one connection go on from piece to piece, where the last one ended."""
    whole = RequestRun(n=1800).save(tmp_path / "whole")
    cut(whole, tmp_path / "pieces", 6, pause_ns)
    path = write_claims(tmp_path, claim("interval = [11.5, 12.5]"))
    rows = validate(path, tmp_path / "pieces")
    assert [row["verdict"] for row in rows] in ([], ["undecided"])
    assert validate.status in {2, 3}


def cut(whole: Path, target: Path, n: int, pause_ns: int = 0) -> Path:
    """Cut captures into n pieces of equally many frames; all of each comes so much later."""
    for file in sorted(whole.iterdir()):
        frames = records(file)
        for number in range(n):
            piece = target / f"run{number}" / file.name
            piece.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, piece)
            part = frames[len(frames) * number // n : len(frames) * (number + 1) // n]
            rewrite(piece, [(t_ns + number * pause_ns, data) for t_ns, data in part])
    return target


@pytest.mark.parametrize("pause_ns", [0, 10**9])
def test_pieces_of_one_tcp_connection_are_no_runs(
    validate: Validate, tmp_path: Path, pause_ns: int
) -> None:
    whole = RequestRun(n=900, protocol=TCP).save(tmp_path / "whole")
    pieces = cut(whole, tmp_path / "pieces", 3, pause_ns)
    path = write_claims(tmp_path, claim("interval = [11.5, 12.5]"))
    assert validate(path, pieces) == []
    assert "run1 and pieces/run0 are of one run" in validate.err
    assert "sequence numbers go on" in validate.err or "no longer a pause" in validate.err


def test_flows_of_one_capture_are_no_runs(validate: Validate, tmp_path: Path) -> None:
    """Six clients of one host at the same time, each in a folder of its own."""
    for number in range(6):
        start_ns = RequestRun.start_ns + 7_000 * number
        run = RequestRun(ports=(40_000 + number, 7), start_ns=start_ns, seed=number)
        run.save(tmp_path / "parts" / f"run{number}")
    path = write_claims(tmp_path, claim("interval = [11.5, 12.5]"))
    assert validate(path, tmp_path / "parts") == []
    assert "other flows between the same hosts, at the same time" in validate.err


def test_a_connection_is_known_by_its_bytes_whatever_its_stamps(
    validate: Validate, tmp_path: Path
) -> None:
    """Copies of a run, an hour apart, every stamp moved by up to 2 µs."""
    for number in range(4):
        folder = RequestRun(protocol=TCP).save(tmp_path / "runs" / f"run{number}")
        chance = np.random.default_rng(number)
        for file in sorted(folder.iterdir()):
            restamp(file, lambda _: number * HOUR_NS + int(chance.integers(0, 2_000)))  # noqa: B023 - used at once
    path = write_claims(tmp_path, claim("interval = [11.5, 12.5]"))
    assert validate(path, tmp_path / "runs") == []
    assert "the same bytes of the same TCP connections" in validate.err


def test_pieces_of_one_run_are_told_of_results_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One scenario of three pieces, against another: pieces are cut from what is compared."""
    for name in ("plain", "slow"):
        whole = RequestRun(n=900, seed=len(name)).save(tmp_path / "whole" / name)
        for piece in cut(whole, tmp_path / "pieces" / name, 3).iterdir():
            files = sorted(map(str, piece.iterdir()))
            target = str(tmp_path / "merged" / name / piece.name)
            assert run_command(["merge", *files, "-o", target, "--quiet"]) == 0
    capsys.readouterr()
    assert run_command(["compare", *(str(tmp_path / "merged" / n) for n in ("plain", "slow"))]) == 2
    assert "no longer a pause between them than within them" in capsys.readouterr().err


def test_runs_of_one_socket_each_are_runs(validate: Validate, tmp_path: Path) -> None:
    """Ports are those of the run before, and the next one begins soon: its numbers are its own."""
    for number in range(3):
        start_ns = RequestRun.start_ns + number * 10**9
        run = RequestRun(n=600, seed=number, start_ns=start_ns, run_ns=100.0 * number)
        run.save(tmp_path / "runs" / f"run{number}")
    path = write_claims(tmp_path, claim("interval = [10, 14]"))
    (row,) = validate(path, tmp_path / "runs")
    assert row["n_runs"] == 3


def test_runs_that_begin_alike_are_no_copies(validate: Validate, tmp_path: Path) -> None:
    """The same requests at the same times of day: only what the path does is another."""
    folders = {}
    for name, effect_ns in (("plain", 0.0), ("slow", 4000.0)):
        for number in range(5):
            run = RequestRun(run_ns=effect_ns, start_ns=RequestRun.start_ns, seed=number)
            run.save(tmp_path / name / f"run{number}")
        folders[name] = tmp_path / name
    path = write_claims(tmp_path, claim("interval = [3, 5]", DIFFERENCE))
    assert validate(path, *sources(folders))
