"""What packets are recognised by is secret: nothing depends on it, nor on the number of threads."""

from __future__ import annotations

import subprocess
import sys
from functools import partial
from typing import TYPE_CHECKING

import pytest

import pcaplat
from pcaplat import _native
from tests.conftest import ROOT
from tests.laws.test_more_captures import TWINS
from tests.recovery.simulator import run
from tests.recovery.simulator.effects import EFFECTS, base

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tests.recovery.simulator import Scenario

RUNS = ((None, 0), (1, 1), (2, 3), (3, 8))
"""Seeds, and how many threads match."""

NAMES = ("clocks apart", "vxlan", "8 points", "routed")


def written(files: Sequence[str], folder: Path) -> dict[str, bytes]:
    """Merge, and give what was written."""
    result = pcaplat.merge(files)
    pcaplat.write(result, folder)
    return {one.name: one.read_bytes() for one in sorted(folder.iterdir())}


def assert_same(files: Sequence[str], folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    match_files, found = _native.match_files, []
    for seed, n_partitions in RUNS:
        kept = partial(match_files, seed=seed, n_partitions=n_partitions)
        monkeypatch.setattr(_native, "match_files", kept)
        found.append(written(files, folder / f"{seed}-{n_partitions}"))
    assert all(one == found[0] for one in found)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", NAMES)
def test_seeds_and_threads_give_the_same_bytes(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = [str(path) for path in run(EFFECTS[name](base(1_500, 4))).save(tmp_path)]
    assert_same(files, tmp_path, monkeypatch)


IN_ANOTHER_PROCESS = """
import sys, pcaplat
sample = int(sys.argv[2])
with pcaplat.merge(sys.argv[3:], by=["flow"], slowest=3, sample=sample) as result:
    pcaplat.write(result, sys.argv[1])
"""


@pytest.mark.one_in(3)
@pytest.mark.parametrize("sample", [1, 4])
@pytest.mark.parametrize("scenario", [EFFECTS["8 points"](base(1_500, 4)), TWINS])
def test_every_process_places_packets_elsewhere_and_gives_the_same_bytes(
    tmp_path: Path, scenario: Scenario, sample: int
) -> None:
    files, found = [str(path) for path in run(scenario).save(tmp_path)], []
    for folder in (tmp_path / "one", tmp_path / "other", tmp_path / "third"):
        command = [sys.executable, "-W", "ignore", "-c", IN_ANOTHER_PROCESS]
        command += [str(folder), str(sample), *files]
        subprocess.run(command, check=True, timeout=120)
        found.append({one.name: one.read_bytes() for one in sorted(folder.iterdir())})
    assert all(one == found[0] for one in found)


def test_nor_do_packets_that_repeat(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = [str(path) for path in run(TWINS).save(tmp_path)]
    assert_same(files, tmp_path, monkeypatch)


@pytest.mark.slow
def test_samples_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for folder in sorted((ROOT / "samples").iterdir()):
        files = [str(path) for path in sorted(folder.glob("*.pcap*"))]
        if len(files) > 1:
            assert_same(files, tmp_path / folder.name, monkeypatch)
