"""Damaged captures and strange files: a clear error or a part of the frames, in bounded memory."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import pcaplat
from pcaplat.cli import run
from tests.conftest import ROOT
from tests.hostile import reading as hostile_reading
from tests.support.shelf import CAPTURES

MAX_MB = 256
BAD = re.compile(r"^\| (\S+) \| bad \|", re.MULTILINE)


@pytest.mark.parametrize("n", [2_000, pytest.param(100_000, marks=pytest.mark.slow)])
def test_damaged_captures_are_read_or_refused(tmp_path: Path, n: int) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.hostile.reading", str(n), str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["peak_mb"] < MAX_MB
    assert told["n_refused"] < n, "something can be read of most"
    assert told["n_frames"] > n


@pytest.mark.parametrize("n", [150, pytest.param(3_000, marks=pytest.mark.slow)])
def test_damaged_captures_are_merged_or_refused(tmp_path: Path, n: int) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.hostile.merging", str(n), str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert n // 2 < told["n_measured"] <= n
    assert told["n_frames"] > 50 * n


def test_the_damage_is_the_same_every_time_and_differs() -> None:
    first, second = (list(hostile_reading.captures(200)) for _ in range(2))
    assert first == second
    assert len(set(first)) > 150


def bad_captures() -> list[Path]:
    index = CAPTURES / "INDEX.md"
    if not index.exists():
        return []
    return [CAPTURES / "public" / name for name in BAD.findall(index.read_text())]


@pytest.mark.skipif(not bad_captures(), reason="the shelf of captures is not here")
def test_bad_captures_of_others_are_read_or_refused() -> None:
    paths = bad_captures()
    assert len(paths) > 90
    n_read, refusals = 0, []
    for path in paths:
        try:
            n_read += len(pl.DataFrame(pcaplat.read(path))) > 0
        except pcaplat.InputError as error:
            refusals.append((str(path), str(error)))
    assert all(path in text for path, text in refusals)
    assert n_read > len(paths) // 2


@pytest.mark.parametrize("kind", ["folder", "null", "loop", "missing", "escapes"])
def test_strange_files_are_one_line(
    tmp_path: Path, kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "a\x1b[31m\n.pcap"
    if kind == "folder":
        path.mkdir()
    elif kind == "loop":
        path.symlink_to(path)
    elif kind == "escapes":
        path.write_bytes(b"no capture")
    where = os.devnull if kind == "null" else str(path)
    assert run(["read", where]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("pcaplat: ")
    assert said.err.count("\n") == 1
    assert "\x1b" not in said.err
    assert "bug" not in said.err
