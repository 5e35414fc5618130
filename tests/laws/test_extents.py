"""Extents: a capture read in any stretches, wherever each is read, is the capture read in one."""

from __future__ import annotations

import struct
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pcaplat
from pcaplat import _native
from pcaplat.run import job as jobs
from pcaplat.run.engines.extents import Extent, SurveyJob, SurveyTask, survey
from tests.conftest import ROOT
from tests.laws.test_more_captures import TWINS
from tests.laws.test_slices import written
from tests.recovery.simulator import run
from tests.recovery.simulator.effects import EFFECTS, base

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pcaplat.run.engines.tasks import TaskResult

KINDS = (
    *("file formats", "outer fragments", "erspan II", "files unsorted"),
    *("clocks apart", "NAT64", "cut and joined, loss", "fragments, cut on the way", "vxlan"),
    *("reordering", "identical packets, loss", "two points in a file, VLANs", "some copies"),
)
EQUAL_PACKETS = ("heartbeats", "identities of 300 values, loss")
"""Which of them are decided together must not depend on where blocks of observations end."""
PCAP_RECORD, PCAP_HEADER_BYTES = struct.Struct("<IIII"), 24


def values(of: Any) -> Any:  # noqa: ANN401 - whatever a dataclass holds
    """Give what can be compared: columns are arrays."""
    if is_dataclass(of):
        return {one.name: values(getattr(of, one.name)) for one in fields(of)}
    if isinstance(of, dict):
        return {key: values(value) for key, value in of.items()}
    if isinstance(of, np.ndarray):
        return of.tolist()
    if isinstance(of, list | tuple):
        return [values(one) for one in of]
    return of


class Workers:
    """Run tasks here, and count them."""

    def __init__(self) -> None:
        self.extents: list[Extent] = []

    def run(self, tasks: Sequence[Any]) -> Iterator[TaskResult]:
        self.extents += [task.extent for task in tasks if isinstance(task, SurveyTask)]
        return (task.run() for task in tasks)


def surveyed(
    files: Sequence[Path], folder: Path, extent_bytes: int, n_workers: int, limit: int
) -> Workers:
    """Survey files in one and in extents, and compare."""
    names, how = [str(one) for one in files], _native.Settings(extent_bytes=extent_bytes)
    n_parts, workers = [1] * len(files), Workers()
    whole = _native.sample(names, how, limit, n_parts=n_parts)
    job = SurveyJob(names, how, limit, n_parts, str(folder))
    assert values(survey(job, n_workers, workers.run, None)) == values(whole)
    return workers


@pytest.fixture(scope="module")
def captures(tmp_path_factory: pytest.TempPathFactory) -> list[list[Path]]:
    found = []
    for index, kind in enumerate(KINDS):
        folder = tmp_path_factory.mktemp(f"kind-{index}")
        found.append([Path(one) for one in run(EFFECTS[kind](base(500, index))).save(folder)])
    found.append([Path(one) for one in run(TWINS).save(tmp_path_factory.mktemp("twins"))])
    samples = (ROOT / "samples" / name for name in ("l2", "vxlan"))
    return [*found, *(sorted(folder.glob("*.pcap*")) for folder in samples)]


@settings(max_examples=30, deadline=None)
@given(
    which=st.integers(0, len(KINDS) + 2),
    extent_bytes=st.integers(100, 60_000),
    n_workers=st.integers(1, 6),
    limit=st.sampled_from((8, 60, 8_192)),
)
def test_any_division_surveys_the_same(
    which: int,
    extent_bytes: int,
    n_workers: int,
    limit: int,
    captures: list[list[Path]],
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    folder = tmp_path_factory.mktemp("tasks")
    surveyed(captures[which], folder, extent_bytes, n_workers, limit)


def records(path: Path) -> list[int]:
    """Give where the records of a little-endian pcap begin, and where it ends."""
    data, at = path.read_bytes(), PCAP_HEADER_BYTES
    found = []
    while at < len(data):
        found.append(at)
        at += PCAP_RECORD.size + PCAP_RECORD.unpack_from(data, at)[2]
    return [*found, len(data)]


@settings(max_examples=30, deadline=None)
@given(
    harm=st.sampled_from(("cut", "zeros", "long hole", "noise", "appended", "other link")),
    at=st.floats(0.05, 0.999),
    extent_bytes=st.integers(500, 30_000),
    n_workers=st.integers(2, 6),
)
def test_any_division_of_what_is_damaged_surveys_the_same(
    harm: str,
    at: float,
    extent_bytes: int,
    n_workers: int,
    captures: list[list[Path]],
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    folder = tmp_path_factory.mktemp("harmed")
    files = captures[-1]
    data, places = bytearray(files[0].read_bytes()), records(files[0])
    place = places[int(at * (len(places) - 1))]
    if harm == "cut":
        del data[int(at * len(data)) :]
    elif harm in {"zeros", "long hole"}:
        data[place:place] = bytes(16 * (200 if harm == "zeros" else 400))
    elif harm == "noise":
        data[place + 4 : place + 90] = bytes(range(100, 186))
    else:
        other = bytearray(files[1].read_bytes())
        other[20] = 1 if harm == "appended" else 101
        data[place:] = other
    harmed = folder / "harmed.pcap"
    harmed.write_bytes(data)
    surveyed([harmed, files[1]], folder, extent_bytes, n_workers, 60)


def test_extents_begin_where_others_end_not_where_it_looks_so(tmp_path: Path) -> None:
    """Packets that hold captures look like records of the file they are in."""
    inner = (ROOT / "samples" / "vxlan" / "sw-a.pcap").read_bytes()[PCAP_HEADER_BYTES:]
    header = (ROOT / "samples" / "vxlan" / "sw-a.pcap").read_bytes()[:PCAP_HEADER_BYTES]
    carried = inner[:60_000]
    record = PCAP_RECORD.pack(1_700_000_000, 0, len(carried), len(carried)) + carried
    path = tmp_path / "carrier.pcap"
    path.write_bytes(header + record * 30)
    workers = surveyed([path], tmp_path, 25_000, 8, 60)
    assert any(one.n_before for one in workers.extents)


def test_a_file_of_sound_records_is_read_once(captures: list[list[Path]], tmp_path: Path) -> None:
    files = captures[-1]
    workers = surveyed(files, tmp_path, 20_000, 6, 60)
    assert len(workers.extents) > 2 * len(files)
    assert {one.n_before for one in workers.extents} == {0, None}


def test_formats_whose_records_can_be_found_are_divided(tmp_path: Path) -> None:
    files = [Path(one) for one in run(EFFECTS["file formats"](base(500, 1))).save(tmp_path)]
    extents = surveyed(files, tmp_path, 20_000, 6, 60).extents
    divided = {files[one.file].suffix for one in extents if one.n_before is None}
    assert divided == {".pcap", ".pcapng"}
    assert {".erf", ".gz", ".xz"} == {one.suffix for one in files} - divided


@pytest.mark.parametrize("kind", ["fragments, cut on the way", "vxlan"])
def test_compressed_files_are_read_by_one_task(kind: str, tmp_path: Path) -> None:
    import gzip  # noqa: PLC0415 - one test needs it

    files = [Path(one) for one in run(EFFECTS[kind](base(300, 3))).save(tmp_path)]
    for one in files:
        Path(f"{one}.gz").write_bytes(gzip.compress(one.read_bytes()))
    packed = [Path(f"{one}.gz") for one in files]
    workers = surveyed(packed, tmp_path, 5_000, 4, 60)
    assert len(workers.extents) == len(files)


@pytest.mark.parametrize("kind", [*KINDS[:2], *EQUAL_PACKETS])
def test_divided_captures_merge_the_same(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "EXTENT_BYTES", 20_000)
    files = [str(path) for path in run(EFFECTS[kind](base(600, 4))).save(tmp_path)]
    whole = written(files, tmp_path / "whole")
    with ThreadPoolExecutor(2) as threads:
        assert written(files, tmp_path / "divided", executor=threads, slices=5) == whole


@pytest.mark.slow
@pytest.mark.parametrize("kind", EFFECTS)
def test_any_division_merges_the_same(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = [str(path) for path in run(EFFECTS[kind](base(600, 4))).save(tmp_path)]
    with ThreadPoolExecutor(2) as threads:
        for extent_bytes in (9_000, 40_000):
            monkeypatch.setattr(jobs, "EXTENT_BYTES", extent_bytes)
            whole = written(files, tmp_path / f"whole-{extent_bytes}")
            for n in (2, 5):
                folder = tmp_path / f"{extent_bytes}-{n}"
                assert written(files, folder, executor=threads, slices=n) == whole


def test_the_samples_divided_merge_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "EXTENT_BYTES", 16_384)
    with ThreadPoolExecutor(2) as threads:
        for name in ("vxlan", "l2"):
            files = [str(path) for path in sorted((ROOT / "samples" / name).glob("*.pcap*"))]
            whole = written(files, tmp_path / name)
            divided = written(files, tmp_path / f"{name}-5", executor=threads, slices=5)
            assert divided == whole


def test_places_are_found_where_nothing_before_them_matters(captures: list[list[Path]]) -> None:
    how = _native.Settings(extent_bytes=20_000)
    for files in captures[-1:]:
        names = [str(one) for one in files]
        for path, facts in zip(
            files, _native.sample(names, how, 60, n_parts=[1] * len(names)).facts, strict=True
        ):
            begun = records(path)[:-1]
            assert [place for place, _ in facts.places] == sorted(
                {
                    next(at for at in begun if at >= mark)
                    for mark in range(20_000, begun[-1], 20_000)
                }
            )
            assert [begun[n] for _, n in facts.places] == [place for place, _ in facts.places]


def test_merges_name_the_number_of_the_right_frame(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(jobs, "EXTENT_BYTES", 16_384)
    files = [str(path) for path in sorted((ROOT / "samples" / "vxlan").glob("*.pcap"))]
    with (
        ThreadPoolExecutor(2) as threads,
        pcaplat.merge(files, executor=threads, slices=4) as found,
    ):
        packets = found.packets.collect()
    for _, of_file in packets.group_by("file"):
        assert of_file["frame"].sort().to_list() == list(range(1, len(of_file) + 1))
