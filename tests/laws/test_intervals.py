"""A value lies within its interval, whatever the clocks say of each other; else it is null."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pcaplat import merge
from pcaplat.model.clocks import MOST_DRIFT_PPM
from pcaplat.stages.align import align
from tests.support.alignments import findings_of, one_bound
from tests.unit.diagnostics.lint_by_hand import FAR, MIDDLE, NEAR, START_NS, Set, turns

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from pcaplat.model.clocks import Clocks

TALK = turns(300, 90_019)
SPAN_NS = TALK[-1].t_ns - START_NS
SECOND_NS = 10**9


def saw(t_ns: int) -> int:
    """A clock that is set back over and over again."""
    return t_ns - (t_ns - START_NS) // 700_001 * 450_000


CLOCKS: dict[str, Callable[[int], int]] = {
    "runs backwards": lambda t_ns: 2 * START_NS + SPAN_NS - t_ns,
    "alternates": lambda t_ns: t_ns + 141_000_000 * (t_ns // 1_000 % 2),
    "alternates with the epoch": lambda t_ns: t_ns * (t_ns // 1_000 % 2),
    "stands still": lambda _t_ns: START_NS,
    "is a saw": saw,
    "runs at half the rate": lambda t_ns: START_NS + (t_ns - START_NS) // 2,
    "drifts by 7 %": lambda t_ns: t_ns + (t_ns - START_NS) * 7 // 100,
    "swings": lambda t_ns: t_ns + round(3e6 * np.sin((t_ns - START_NS) / 1e6)),
    "is random": lambda t_ns: t_ns + t_ns * 7_919 % 1_000_003,
}


def ends(row: dict[str, Any]) -> Iterator[tuple[str, Any, Any, Any]]:
    """Every interval of a row, with its value: least, value, most."""
    for name, least in row.items():
        words = name.split("_")
        if "lo" in words:
            most = "_".join("hi" if word == "lo" else word for word in words)
            value = "_".join(word for word in words if word != "lo")
            yield name, least, row.get(value), row[most]


def rows_of(part: object) -> Iterator[dict[str, Any]]:
    """All rows of a document, however deep."""
    if isinstance(part, dict):
        yield part
        part = list(part.values())
    if isinstance(part, list):
        for one in part:
            yield from rows_of(one)


def assert_within(row: dict[str, Any]) -> None:
    for name, least, value, most in ends(row):
        known = [one for one in (least, value, most) if one is not None]
        assert known == sorted(known), (name, row)
    for name, width in row.items():
        if "half_width" in name and width is not None:
            assert width >= 0, (name, row)


@pytest.mark.parametrize("options", [{}, {"same_clock": [["near", "middle"]]}])
@pytest.mark.parametrize("point", ["near", "middle", "far"])
@pytest.mark.parametrize("name", CLOCKS)
def test_every_value_lies_within_its_interval(
    name: str, point: str, options: dict[str, Any], tmp_path: Path
) -> None:
    places = {"near": NEAR, "middle": MIDDLE, "far": FAR}
    places[point] = replace(places[point], clock=CLOCKS[name])
    given = Set(places, TALK).save(tmp_path)
    with merge(given, by=["size"], **options) as result:
        document = result.document
        matches = result.matches.collect().rows(named=True)
    for row in [*rows_of(document), *matches]:
        assert_within(row)
    for clock in document["clocks"]:
        assert abs(clock["drift_ppm"] or 0.0) <= MOST_DRIFT_PPM


@pytest.mark.parametrize("room_ns", [-2, -100, -1_000_000])
def test_clocks_that_contradict_each_other_have_no_latency(room_ns: int) -> None:
    there, back = one_bound(0, 1, 5_000), one_bound(1, 0, room_ns - 5_000)
    found = align(findings_of([0, 0, 0]), [0, 1, 2], (there, back, *FINE))
    assert not found.relation(0, 1).is_known
    assert found.relation(0, 1).half_width_ns is None
    # a third clock that contradicts nobody is still known to one of them
    assert found.relation(1, 2).is_known
    (said,) = [one for one in found.warnings if one.code == "clock-contradiction"]
    assert "p0" in said.text
    assert "p1" in said.text
    assert "p2" not in said.text


FINE = (one_bound(1, 2, 7_000), one_bound(2, 1, 8_000))

bounds_ns = st.integers(-40_000, 40_000)


@given(st.lists(bounds_ns, min_size=6, max_size=6))
@settings(max_examples=200, deadline=None, derandomize=True, database=None)
def test_no_bounds_whatever_make_an_interval_that_is_none(raw_ns: list[int]) -> None:
    pairs = ((0, 1), (1, 0), (1, 2), (2, 1), (0, 2), (2, 0))
    bounds = [one_bound(*pair, raw) for pair, raw in zip(pairs, raw_ns, strict=True)]
    assert_intervals(align(findings_of([0, 0, 0]), [0, 1, 2], bounds))


def assert_intervals(clocks: Clocks) -> None:
    for near in range(3):
        for far in range(3):
            relation = clocks.relation(near, far)
            if relation.is_known:
                assert np.all(relation.lo_ns <= relation.value_ns)
                assert np.all(relation.value_ns <= relation.hi_ns)
                assert relation.half_width_ns is not None
                assert relation.half_width_ns >= 0
