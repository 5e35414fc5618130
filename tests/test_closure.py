"""Three points that contradict each other on which frames are one packet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pcaplat import merge
from tests.triangle_by_hand import TRAP, USUAL, triangle

if TYPE_CHECKING:
    from pathlib import Path


def open_triangles(folder: Path, equal: tuple[int, int]) -> list[dict[str, Any]]:
    with merge(triangle(folder, equal)) as result:
        found = result.document["warnings"]
    return [one for one in found if one["code"] == "open-triangle"]


def test_a_pair_that_two_others_contradict_is_told(tmp_path: Path) -> None:
    (found,) = open_triangles(tmp_path, TRAP)
    assert found["point"] == "middle"
    assert "from near to far" in found["text"]
    assert "far.pcap frame" in found["text"]


def test_where_equal_packets_go_as_all_do_nothing_is_told(tmp_path: Path) -> None:
    assert not open_triangles(tmp_path, USUAL)
