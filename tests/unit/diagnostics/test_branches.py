"""Branches of a fork lack what took another one; a point of a line lacks what it dropped."""

from __future__ import annotations

import pytest

from pcaplat.diagnostics.catalogue import diagnose
from pcaplat.diagnostics.dialogues import without_branches

LINE, FORK = [(0, 1), (1, 2), (2, 3)], [(0, 1), (0, 2), (1, 3), (2, 3)]


@pytest.mark.parametrize(("edges", "kept"), [(LINE, "abcd"), (FORK, "ad"), ([(0, 1)], "abcd")])
def test_bytes_that_a_branch_lacks_are_no_drops(edges: list[tuple[int, int]], kept: str) -> None:
    codes = ("acked-not-captured", "capture-drops")
    told = [diagnose(code, name, "x") for name in "abcd" for code in codes]
    found = without_branches(told, "abcd", edges)
    assert [one.point for one in found if one.code == codes[0]] == list(kept)
    assert [one.point for one in found if one.code == codes[1]] == list("abcd")
