"""Three points that contradict each other on which frames are one packet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from pcaplat import merge
from pcaplat.diagnostics.triangles import check_triangles
from pcaplat.model.matched import DecoyCounts, OpenTriangle, TriangleCounts
from tests.support.alignments import findings_of
from tests.support.triangles import TRAP, USUAL, triangle

if TYPE_CHECKING:
    from pathlib import Path


def open_triangles(folder: Path, equal: tuple[int, int]) -> list[dict[str, Any]]:
    with merge(triangle(folder, equal)) as result:
        found = result.document["warnings"]
    return [one for one in found if one["code"] == "inconsistent-matches"]


def test_a_pair_that_two_others_contradict_is_told(tmp_path: Path) -> None:
    (found,) = open_triangles(tmp_path, TRAP)
    assert found["point"] == "middle"
    assert "from near to far" in found["text"]
    assert "far.pcap frame" in found["text"]


@pytest.mark.slow  # a quarter of a minute, and test_lint asks the same captures
def test_where_equal_packets_go_as_all_do_nothing_is_told(tmp_path: Path) -> None:
    assert not open_triangles(tmp_path, USUAL)


@pytest.mark.parametrize(
    ("n", "n_open", "is_told"),
    [(4, 2, False), (5, 3, True), (3_000, 3, False), (2_900, 3, True), (90_000, 100, True)],
)
def test_as_many_as_equal_packets_leave_by_chance_are_not_told(
    n: int, n_open: int, *, is_told: bool
) -> None:
    """A pair of equal packets is accepted at 0.9995."""
    names = ["caps/a.pcap", "caps/b.pcap", "c.pcap"]
    triangle = TriangleCounts(n, n_open, OpenTriangle((2, 71), (1, 72), (1, 70)))
    decoys = DecoyCounts({}, 0, [], 0, 0, 0, {(2, 0, 1): triangle}, n_turns=8, one_in=2)
    found = list(check_triangles(findings_of([0, 0, 0], 10**9), decoys, names))
    assert [one.point for one in found] == ["p0"] * is_told
    for one in found:
        assert "from p2 to p1 without p0" in one.text
        assert "join other frames than through it: c.pcap frame 71 and b.pcap frame 72," in one.text
        assert "but b.pcap frame 70 through it" in one.text
