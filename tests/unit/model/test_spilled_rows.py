"""Spilled pairs in order: a sort of many runs, in bounded memory and one reading of each."""

import os
from pathlib import Path

import numpy as np
import pytest

from pcaplat.model.matches import spilled_rows
from pcaplat.model.matches.spilled_rows import ROW, Rows, rows_in_order

PLACE = [1, 0, 2]
N_FILES = 2
RUN_ROWS, BLOCK_ROWS, MERGED_BLOCKS = 64, 8, 4


@pytest.fixture(autouse=True)
def small_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spilled_rows, "RUN_ROWS", RUN_ROWS)
    monkeypatch.setattr(spilled_rows, "BLOCK_ROWS", BLOCK_ROWS)
    monkeypatch.setattr(spilled_rows, "MERGED_BLOCKS", MERGED_BLOCKS)


def spilled(folder: Path, n: int, trajectory: np.ndarray[tuple[int], np.dtype[np.int64]]) -> Rows:
    """Spill pairs to several files, in the order in which they come."""
    random = np.random.default_rng(7)
    rows = np.zeros(n, ROW)
    rows["points"] = random.integers(0, 3, n) | random.integers(0, 2, n) << 32
    rows["down"] = random.integers(0, 5, n)
    rows["trajectory"] = trajectory
    rows["t_ns"] = np.arange(n)
    for i, part in enumerate(np.array_split(rows, N_FILES)):
        part.tofile(folder / f"rows-{i}")
    return rows


def in_order(folder: Path) -> list[Rows]:
    paths = [str(folder / f"rows-{i}") for i in range(N_FILES)]
    return [*rows_in_order(paths, PLACE, str(folder))]


def expected(rows: Rows) -> Rows:
    place = np.asarray(PLACE)[rows["points"] & 0xFFFF]
    from_sender = np.where(rows["points"] >> 32 & 1, -place, place)
    return rows[np.lexsort((rows["down"], from_sender, rows["trajectory"]))]


@pytest.mark.parametrize("n", [0, 1, 7, 64, 65, 1000])
@pytest.mark.parametrize("n_trajectories", [1, 3, 500])
def test_rows_in_any_order_are_sorted(tmp_path: Path, n: int, n_trajectories: int) -> None:
    """Equal rows, too, stay in the order in which they were spilled."""
    random = np.random.default_rng(n)
    rows = spilled(tmp_path, n, random.integers(-n_trajectories, n_trajectories, n))
    found = in_order(tmp_path)
    assert np.array_equal(np.concatenate([*found, rows[:0]]), expected(rows))
    assert {file.name for file in tmp_path.iterdir()} == {f"rows-{i}" for i in range(N_FILES)}


def test_each_block_is_read_once_however_many_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Trajectories of two files rise with time, side by side, as those of both directions do."""
    read: list[int] = []
    pread = os.pread

    def counted(file: int, n_bytes: int, offset: int) -> bytes:
        read.append(offset)
        return pread(file, n_bytes, offset)

    monkeypatch.setattr(os, "pread", counted)
    n = 100 * RUN_ROWS
    rows = spilled(tmp_path, n, np.arange(n) // 4 + (np.arange(n) // 2 % 2 << 44))
    found = in_order(tmp_path)
    assert np.array_equal(np.concatenate(found), expected(rows))
    assert sorted(read) == [*range(0, rows.nbytes, BLOCK_ROWS * ROW.itemsize)]
    n_runs = n // RUN_ROWS
    assert max(map(len, found)) <= MERGED_BLOCKS * BLOCK_ROWS + n_runs * BLOCK_ROWS
    # blocks that come due together: few rows at once cost as much as many
    assert len(found) == n // BLOCK_ROWS // MERGED_BLOCKS
