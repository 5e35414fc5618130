"""The samples: each folder's captures, merged in any order, must say what its truth.json says."""

from __future__ import annotations

import itertools
import json
import random
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest

import pcaplat
from tests.support.oracle import Oracle
from tests.support.shelf import SAMPLES

if TYPE_CHECKING:
    from pathlib import Path

NAMES = sorted(folder.name for folder in SAMPLES.iterdir() if (folder / "truth.json").exists())
BIN_SHARE = 0.0005
MAX_SAMPLE_BYTES = 300_000


def truth(name: str) -> dict[str, Any]:
    """What a sample's folder says is true."""
    found: dict[str, Any] = json.loads((SAMPLES / name / "truth.json").read_text())
    return found


def files_of(name: str) -> list[Path]:
    """The captures of a sample, in path order."""
    return [next((SAMPLES / name).glob(f"{point}.pcap*")) for point in truth(name)["points"]]


@cache
def merged(name: str, *same_clock: str) -> dict[str, Any]:
    """The summary of a sample, its files given out of order."""
    files = [str(file) for file in files_of(name)]
    random.Random(name).shuffle(files)  # noqa: S311 - the same shuffle every time
    document: dict[str, Any] = pcaplat.merge(files, same_clock=list(same_clock)).document
    return document


def neighbours(
    document: dict[str, Any], points: list[str]
) -> dict[tuple[str, str, str], dict[str, Any]]:
    """The rows of one segment each, without the whole path."""
    pairs = set(itertools.pairwise(points))
    rows = (row for row in document["segments"] if (row["near"], row["far"]) in pairs)
    return {(row["near"], row["far"], row["direction"]): row for row in rows}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("same_clock", [("all",), ()], ids=["one-clock", "own-clocks"])
def test_path_is_found(name: str, same_clock: tuple[str, ...]) -> None:
    assert merged(name, *same_clock)["path"] == truth(name)["points"]


@pytest.mark.parametrize("name", NAMES)
def test_counts_and_losses_are_the_truth(name: str) -> None:
    expected = truth(name)
    rows = neighbours(merged(name, "all"), expected["points"])
    assert len(rows) == len(expected["segments"])
    for segment in expected["segments"]:
        row = rows[segment["near"], segment["far"], segment["direction"]]
        assert abs(row["n"] - segment["n"]) <= expected.get("tolerance_n", 0)
        assert (row["n_lost"], row["n_duplicated"]) == (segment["n_lost"], segment["n_duplicated"])


@pytest.mark.parametrize("name", NAMES)
def test_latencies_are_the_truth(name: str) -> None:
    expected = truth(name)
    rows = neighbours(merged(name, "all"), expected["points"])
    for segment in expected["segments"]:
        row = rows[segment["near"], segment["far"], segment["direction"]]
        assert row["p50_ns"] == pytest.approx(segment["median_ns"], abs=50, rel=BIN_SHARE)
        if not expected.get("tolerance_n"):
            assert (row["min_ns"], row["max_ns"]) == (segment["min_ns"], segment["max_ns"])


@pytest.mark.parametrize("name", NAMES)
def test_truth_lies_in_the_clocks_interval(name: str) -> None:
    expected = truth(name)
    rows = neighbours(merged(name), expected["points"])
    for segment in expected["segments"]:
        row = rows[segment["near"], segment["far"], segment["direction"]]
        assert row["clock_half_width_ns"] is not None
        assert abs(row["p50_ns"] - segment["median_ns"]) <= row["clock_half_width_ns"] + 50


@pytest.mark.parametrize("name", [name for name in NAMES if truth(name)["injected"]])
def test_injected_delay_stands_in_its_segment_alone(name: str) -> None:
    expected = truth(name)
    injected = expected["injected"]
    for (near, far, direction), row in neighbours(merged(name, "all"), expected["points"]).items():
        if (near, far) == (injected["near"], injected["far"]):
            assert 0 < row["p50_ns"] - injected[direction]["logged_median_ns"] < 5_000
        else:
            assert 0 < row["p50_ns"] < 5_000


@pytest.mark.parametrize("name", NAMES)
def test_truth_is_still_the_oracles(name: str) -> None:
    segments = Oracle(dict(zip(truth(name)["points"], files_of(name), strict=True))).segments()
    found = [(s.near, s.far, s.direction, s.n, s.n_lost, s.median_ns) for s in segments]
    keys = ("near", "far", "direction", "n", "n_lost", "median_ns")
    assert found == [tuple(row[key] for key in keys) for row in truth(name)["segments"]]


@pytest.mark.parametrize("name", NAMES)
def test_sample_is_small_and_says_where_it_comes_from(name: str) -> None:
    folder = SAMPLES / name
    assert sum(file.stat().st_size for file in folder.iterdir()) < MAX_SAMPLE_BYTES
    assert truth(name)["made_by"] in (folder / "README.md").read_text()
