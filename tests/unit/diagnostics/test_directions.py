"""Frames that are matched and in no segment: many of them are warned of."""

from __future__ import annotations

import pytest

from pcaplat.diagnostics.directions import check_directions


@pytest.mark.parametrize(("n", "is_warned_of"), [(0, False), (99, False), (100, True)])
def test_a_tenth_of_the_frames_is_many(n: int, is_warned_of: bool) -> None:  # noqa: FBT001 - a parameter
    found = list(check_directions(n, 1_000))
    assert [one.code for one in found] == ["direction-unknown"] * is_warned_of


def test_no_frames_are_not_many() -> None:
    assert list(check_directions(0, 0)) == []
