"""The first reading: its sample holds few packets, and behind them those that it has more."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from pcaplat.run.folder import RunFolder
from pcaplat.run.job import Job
from pcaplat.run.options import MergeOptions
from pcaplat.run.scan import Scan
from tests.recovery.simulator import run
from tests.recovery.simulator.effects import scenario

if TYPE_CHECKING:
    from pathlib import Path

    from pcaplat.model.arrays import Ints
    from pcaplat.model.points import Point
    from pcaplat.model.sampled import SampleColumns

N_FEW = 100
"""So many packets of a file, and once more as many further ones; a level keeps half to twice it."""

EVERYTHING = 10**6


def _scan(monkeypatch: pytest.MonkeyPatch, files: list[str], n_packets: int) -> Scan:
    monkeypatch.setattr("pcaplat.run.job.SAMPLE_PACKETS", n_packets)
    with RunFolder() as folder:
        return Scan.of(Job.of(MergeOptions(files), folder))


def _keys(scan: Scan, name: str, file: int) -> list[int]:
    """Those of one file's packets, of what the engine gave."""
    given: SampleColumns = getattr(scan.sampled, name)
    key, of = given["key"], given["file"]
    return sorted(key[of == file].tolist())


def _sorted(keys: list[Ints]) -> list[int]:
    return sorted(np.concatenate(keys).tolist())


def _points_of(scan: Scan, file: int) -> list[Point]:
    return [point for point in scan.points if point.sources[0][0] == file]


@pytest.mark.parametrize("effect", ["pure ACKs, loss", "any capture"])
def test_few_packets_stand_before_those_that_there_are_more(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, effect: str
) -> None:
    files = [str(file) for file in run(scenario(effect, 600)).save(tmp_path)]
    scan, whole = (_scan(monkeypatch, files, n) for n in (N_FEW, EVERYTHING))
    assert any(scan.divisions) == (effect == "any capture")
    n_more = len(scan.sampled.more["key"])
    assert whole.sample.n_more == 0
    assert scan.sample.n_more == n_more > len(files) * N_FEW // 4
    for file in range(len(files)):
        points, few = _points_of(scan, file), _keys(scan, "packets", file)
        assert _sorted([scan.sample.seen_at(point).key for point in points]) == few
        both = sorted(few + _keys(scan, "more", file))
        assert _sorted([scan.sample.all_seen_at(point).key for point in points]) == both
    assert [point.name for point in scan.points] == [point.name for point in whole.points]
    chosen = np.unique(scan.sample.packets.key)
    for point in scan.points:
        found, there = scan.sample.all_seen_at(point), whole.sample.seen_at(point)
        expected = there.at(np.isin(there.key, chosen))
        # each with its own time, and at the point that saw it
        found, expected = (one.at(np.lexsort((one.t_ns, one.key))) for one in (found, expected))
        assert found.key.tolist() == expected.key.tolist()
        assert found.t_ns.tolist() == expected.t_ns.tolist()
