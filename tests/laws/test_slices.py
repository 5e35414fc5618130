"""Slices of the flows, matched one by one anywhere, add up to what one run gives, to the byte."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

import pcaplat
from pcaplat.model.matches import spilled_rows
from pcaplat.outputs import parquet
from pcaplat.run.rows import large
from tests.conftest import ROOT
from tests.laws.test_more_captures import TWINS
from tests.recovery.simulator import run
from tests.recovery.simulator.effects import EFFECTS, base

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from concurrent.futures import Executor
    from pathlib import Path

NAMES = (
    *("clocks apart", "NAT64", "cut and joined, loss", "fragments, cut on the way"),
    "any capture",
)
"""Where most is known beyond single packets; all others take minutes."""


def written(
    files: Sequence[str],
    folder: Path,
    **options: Any,  # noqa: ANN401 - options of merge
) -> dict[str, bytes]:
    """Merge, and give what was written."""
    with pcaplat.merge(files, **options) as result:
        pcaplat.write(result, folder)
    return {one.name: one.read_bytes() for one in sorted(folder.iterdir())}


@pytest.fixture(scope="module")
def threads() -> Iterator[Executor]:
    with ThreadPoolExecutor(2) as executor:
        yield executor


def assert_same(files: Sequence[str], folder: Path, executor: Executor, *slices: int) -> None:
    whole = written(files, folder / "whole")
    for n in slices:
        assert written(files, folder / f"{n}", executor=executor, slices=n) == whole, n


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", NAMES)
def test_slices_add_up(name: str, tmp_path: Path, threads: Executor) -> None:
    files = [str(path) for path in run(EFFECTS[name](base(600, 4))).save(tmp_path)]
    assert_same(files, tmp_path, threads, 1, 7)


@pytest.mark.slow
@pytest.mark.parametrize("name", EFFECTS)
def test_any_number_of_slices_adds_up(name: str, tmp_path: Path, threads: Executor) -> None:
    files = [str(path) for path in run(EFFECTS[name](base(600, 5))).save(tmp_path)]
    assert_same(files, tmp_path, threads, 1, 2, 7, 64)


def test_slices_of_a_capture_that_lacks_an_address_add_up(
    tmp_path: Path, threads: Executor
) -> None:
    """A cooked capture has the sender's MAC address alone: frames without IP have half a flow."""
    files = [str(path) for path in run(EFFECTS["any capture"](base(600, 5))).save(tmp_path)]
    assert_same(files, tmp_path, threads, 7)


def test_slices_of_packets_that_repeat_add_up(tmp_path: Path, threads: Executor) -> None:
    files = [str(path) for path in run(TWINS).save(tmp_path)]
    assert_same(files, tmp_path, threads, 2, 64)


def test_rows_that_are_sorted_in_several_runs_add_up(
    tmp_path: Path, threads: Executor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As of a million packets: files are the same to the byte, groups of rows too."""
    monkeypatch.setattr(spilled_rows, "RUN_ROWS", 500)
    monkeypatch.setattr(spilled_rows, "BLOCK_ROWS", 50)
    monkeypatch.setattr(spilled_rows, "MERGED_BLOCKS", 2)
    monkeypatch.setattr(parquet, "N_ROWS_PER_GROUP", 64)
    monkeypatch.setattr(large, "BATCH_ROWS", 64)
    files = [str(path) for path in run(EFFECTS["loss"](base(600, 4))).save(tmp_path)]
    assert_same(files, tmp_path, threads, 2, 7)


@pytest.mark.slow
def test_slices_of_samples_add_up(tmp_path: Path, threads: Executor) -> None:
    for folder in sorted((ROOT / "samples").iterdir()):
        files = [str(path) for path in sorted(folder.glob("*.pcap*"))]
        if len(files) > 1:
            assert_same(files, tmp_path / folder.name, threads, 1, 2, 7, 64)
