"""Compressed captures of many members, read in any stretches, are the capture read in one."""

from __future__ import annotations

import gzip
import re
import struct
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pcaplat
from pcaplat import _native
from pcaplat.run import job as jobs
from pcaplat.run.engines.extents import Extent
from tests.conftest import ROOT
from tests.laws.test_extents import KINDS, surveyed, values
from tests.laws.test_slices import written
from tests.recovery.simulator import run
from tests.recovery.simulator.effects import EFFECTS, base
from tests.support import compressed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pcaplat.model.sampled import Sampled
    from tests.laws.test_extents import Workers

    Packers = dict[str, tuple[str, Callable[[bytes, Sequence[int]], bytes]]]

PACKED: Packers = {
    "bgzip": (".gz", compressed.bgzip),
    "zstd frames": (".zst", compressed.zstd_frames),
    "zstd with a table": (".zst", compressed.zstd_seekable),
}
WHOLE: Packers = {
    "gzip's members": (".gz", lambda data, cuts: _gzip(compressed.pieces(data, cuts))),
    "zstd of a pipe": (
        ".zst",
        lambda data, cuts: compressed.zstd_frames(data, cuts, compressed.zstd_stream),
    ),
    "pzstd": (".zst", compressed.pzstd),
}


def _gzip(parts: Sequence[bytes]) -> bytes:
    return b"".join(gzip.compress(part) for part in parts)


@pytest.fixture(scope="module")
def captures(tmp_path_factory: pytest.TempPathFactory) -> list[list[Path]]:
    found = []
    for index, kind in enumerate(KINDS[3:9]):
        folder = tmp_path_factory.mktemp(f"kind-{index}")
        found.append([Path(one) for one in run(EFFECTS[kind](base(500, index))).save(folder)])
    return found


def packed(
    files: Sequence[Path],
    how: str,
    cuts: Sequence[float],
    folder: Path,
    among: Packers | None = None,
) -> list[Path]:
    """Compress files, cut at shares of their length."""
    suffix, pack = (among or PACKED)[how]
    made = []
    for one in files:
        data = one.read_bytes()
        made.append(folder / f"{one.name}{suffix}")
        made[-1].write_bytes(pack(data, [int(cut * len(data)) for cut in cuts]))
    return made


@settings(max_examples=40, deadline=None)
@given(
    which=st.integers(0, 5),
    how=st.sampled_from(sorted(PACKED)),
    cuts=st.lists(st.floats(0, 1), min_size=1, max_size=30),
    division=st.tuples(st.integers(300, 60_000), st.integers(1, 6)),
)
def test_any_division_surveys_the_same(
    which: int,
    how: str,
    cuts: list[float],
    division: tuple[int, int],
    captures: list[list[Path]],
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    folder = tmp_path_factory.mktemp("packed")
    surveyed(packed(captures[which], how, cuts, folder), folder, *division, 60)


def sample_of(files: Sequence[Path], extent_bytes: int) -> Sampled:
    how = _native.Settings(extent_bytes=extent_bytes)
    return _native.sample([str(one) for one in files], how, 60, n_parts=[1] * len(files))


@pytest.mark.parametrize("how", PACKED)
def test_members_are_read_by_several_tasks_from_the_places_of_the_plain_file(
    how: str, captures: list[list[Path]], tmp_path: Path
) -> None:
    files = captures[-1]
    made = packed(files, how, [at / 10 for at in range(1, 10)], tmp_path)
    extents = divided(surveyed(made, tmp_path, 20_000, 6, 60))
    plain = divided(surveyed(files, tmp_path, 20_000, 6, 60))
    assert extents == plain
    assert len(extents) > 2 * len(files)
    places = [facts.places for facts in sample_of(made, 20_000).facts]
    assert places == [facts.places for facts in sample_of(files, 20_000).facts]
    assert all(places)


def divided(workers: Workers) -> list[tuple[int, int, int | None]]:
    return [(one.file, one.from_byte, one.n_before) for one in workers.extents]


@pytest.mark.parametrize("how", WHOLE)
def test_what_does_not_say_how_long_it_is_is_read_by_one_task(
    how: str, captures: list[list[Path]], tmp_path: Path
) -> None:
    files = captures[-1]
    made = packed(files, how, [0.2, 0.5, 0.7], tmp_path, WHOLE)
    assert len(surveyed(made, tmp_path, 20_000, 6, 60).extents) == len(files)


@settings(max_examples=40, deadline=None)
@given(
    how=st.sampled_from(sorted(PACKED)),
    harm=st.sampled_from(("cut", "zeros", "noise", "missing", "twice", "appended")),
    at=st.floats(0.02, 0.999),
    division=st.tuples(st.integers(500, 30_000), st.integers(2, 6)),
)
def test_any_division_of_what_is_damaged_surveys_the_same(
    how: str,
    harm: str,
    at: float,
    division: tuple[int, int],
    captures: list[list[Path]],
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    folder = tmp_path_factory.mktemp("harmed")
    made = packed(captures[-1], how, [at / 12 for at in range(1, 12)], folder)
    data = bytearray(made[0].read_bytes())
    place = int(at * len(data))
    if harm == "cut":
        del data[place:]
    elif harm in {"zeros", "noise"}:
        data[place : place + 40] = bytes(40) if harm == "zeros" else bytes(range(100, 140))
    elif harm == "missing":
        del data[place : place + 100]
    elif harm == "twice":
        data[place:place] = data[place : place + 500]
    else:
        data += made[1].read_bytes()
    made[0].write_bytes(data)
    try:
        surveyed(made, folder, *division, 60)
    except pcaplat.InputError as problem:
        # so little of it is left that it is no capture, however it is read
        names, how_read = [*map(str, made)], _native.Settings(extent_bytes=division[0])
        with pytest.raises(pcaplat.InputError, match=re.escape(str(problem))):
            _native.Survey(names, how_read)


N_HIDDEN_BYTES = 40_000


def lying(data: bytes, other: bytes) -> bytes:
    """Give blocks of `data` for who reads them one by one; who jumps comes to the end of `other`.

    The last block has an extra field with another end of the file, as long as what it stands for.
    """
    shown, rest = data[:-N_HIDDEN_BYTES], data[-N_HIDDEN_BYTES:]
    *blocks, last = compressed.pieces(shown, range(30_000, len(shown), 30_000))
    hidden = compressed.bgzf_block(other[-N_HIDDEN_BYTES:])
    empty = bytes((3, 0)) + bytes(8)
    # ends with the file: what the shown block has behind the field is a field of the hidden one
    subfields = b"BC" + struct.pack("<HH", 2, 12 + 16 + len(empty) - 1) + b"YY\6\0"
    cover = bytes((31, 139, 8, 4, 0, 0, 0, 0, 0, 255, 16, 0)) + subfields
    field = struct.pack("<I", len(last)) + hidden + cover
    extra = b"XX" + struct.pack("<H", len(field)) + field
    n_bytes = 12 + len(extra) + 6 + len(empty)
    extra += b"BC" + struct.pack("<HH", 2, n_bytes - 1)
    end = bytes((31, 139, 8, 4, 0, 0, 0, 0, 0, 255)) + struct.pack("<H", len(extra)) + extra + empty
    passed = compressed.bgzf_block(rest)
    jump = compressed.bgzf_block(last, more_bytes=len(passed) + 12 + 4 + 4)
    return b"".join([*map(compressed.bgzf_block, blocks), jump, passed, end])


def test_members_that_lie_about_where_the_next_begins_change_nothing(
    captures: list[list[Path]], tmp_path: Path
) -> None:
    data = captures[-1][0].read_bytes()
    other = data[:-N_HIDDEN_BYTES] + data[-N_HIDDEN_BYTES:].replace(b"\x0a\x01", b"\x0a\x77")
    assert other != data
    path, honest = tmp_path / "lying.pcap.gz", tmp_path / "honest.pcap"
    path.write_bytes(lying(data, other))
    honest.write_bytes(data)
    workers = surveyed([path], tmp_path, 10_000, 6, 60)
    # tried in parts, and then read in one
    assert len(workers.extents) > 2
    assert workers.extents[-1] == Extent(0)
    assert sample_of([path], 10_000).facts[0].places == []
    assert values(sample_of([path], 10**9)) == values(sample_of([honest], 10**9))


@settings(max_examples=20, deadline=None)
@given(lie=st.integers(1, 15_000), extent_bytes=st.integers(500, 30_000))
def test_a_table_that_lies_changes_nothing(
    lie: int,
    extent_bytes: int,
    captures: list[list[Path]],
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    folder = tmp_path_factory.mktemp("lying")
    data = captures[-1][0].read_bytes()
    path = folder / "lying.pcap.zst"
    path.write_bytes(compressed.zstd_seekable(data, range(16_000, len(data), 16_000), lie=lie))
    surveyed([path], folder, extent_bytes, 6, 60)
    assert sample_of([path], extent_bytes).facts[0].places == []


@pytest.mark.parametrize("how", PACKED)
def test_the_samples_merge_the_same(
    how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "EXTENT_BYTES", 16_384)
    plain = sorted((ROOT / "samples" / "vxlan").glob("*.pcap"))
    files = [*map(str, packed(plain, how, [at / 9 for at in range(1, 9)], tmp_path))]
    whole = written(files, tmp_path / "whole")
    with ThreadPoolExecutor(2) as threads:
        assert written(files, tmp_path / "divided", executor=threads, slices=5) == whole
