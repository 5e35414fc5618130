"""Real captures with segmentation offload: every shared byte is found, cut or joined."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import polars as pl
import pytest

from tests.captures.lab_merge import POINTS, Disguised, captures_of, merge_disguised
from tests.support.oracle import sightings
from tests.support.oracle_ranges import Shared, byte_range, shared_bytes
from tests.support.shelf import lab_set

if TYPE_CHECKING:
    from collections.abc import Iterator

SETS = ("vxlan-tso", "vxlan-tso-gro", "vxlan-loss-dup")

pytestmark = pytest.mark.skipif(
    not lab_set("l2").exists(), reason="the shared captures are not here"
)


@pytest.fixture(scope="module", params=SETS)
def merged(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[str, Disguised]:
    """A set merged with the declaration that all clocks are one."""
    scratch = tmp_path_factory.mktemp(request.param)
    return request.param, merge_disguised(lab_set(request.param), scratch, same_clock=["all"])


def found_rows(merged: Disguised) -> dict[tuple[str, str], list[Shared]]:
    """Rows of what was cut or joined, per upstream and downstream point in true names."""
    columns = ("up_point", "down_point", "up_frame", "down_frame", "kind", "latency_ns")
    rows = merged.result.matches.filter(pl.col("kind") != "packet").select(columns).collect()
    found: dict[tuple[str, str], list[Shared]] = {}
    for up, down, *rest in rows.iter_rows():
        ends = (merged.point_of[up], merged.point_of[down])
        found.setdefault(ends, []).append(Shared(*rest))
    return {ends: sorted(rows, key=lambda row: row[:2]) for ends, rows in found.items()}


def neighbours() -> Iterator[tuple[str, str]]:
    """Neighbours of the path, either way."""
    yield from pairwise(POINTS)
    yield from pairwise(POINTS[::-1])


def test_every_pair_of_frames_is_the_oracles(merged: tuple[str, Disguised]) -> None:
    name, result = merged
    files, found = captures_of(lab_set(name)), found_rows(result)
    wanted = {ends: shared_bytes(files[ends[0]], files[ends[1]]) for ends in neighbours()}
    assert found == {ends: rows for ends, rows in wanted.items() if rows}


def test_every_wire_segment_is_matched_or_coalesced(merged: tuple[str, Disguised]) -> None:
    name, result = merged
    if "tso" not in name:
        pytest.skip("nothing was cut or joined")
    columns = ("point", "frame", "status")
    status = {
        (result.point_of[point], frame): status
        for point, frame, status in result.result.packets.select(columns).collect().iter_rows()
    }
    cut = {
        (p, s.number)
        for p, f in captures_of(lab_set(name)).items()
        for s in sightings(f)
        if byte_range(s)
    }
    assert {status[one] for one in cut} == {"matched", "coalesced"}
    assert sum(status[one] == "coalesced" for one in cut) > 50
    for row in result.document["segments"]:
        assert (row["n_lost"], row["lost_bytes"]) == (0, 0)


def test_all_bytes_arrive(merged: tuple[str, Disguised]) -> None:
    name, result = merged
    if "tso" not in name:
        pytest.skip("nothing was cut or joined")
    ranges = {
        point: sum((byte_range(s) or (0, 0))[1] for s in sightings(file))
        for point, file in captures_of(lab_set(name)).items()
    }
    assert len(set(ranges.values())) == 1
    for near, far in pairwise(POINTS):
        rows = [result.segments[near, far, way] for way in ("forward", "reverse")]
        assert sum(row["matched_bytes"] for row in rows) == ranges[near]
