"""What the order of the points rests on, in a line."""

from __future__ import annotations

from typing import Any

import pytest

from pcaplat.outputs.reports.merge.budget import lines_of_checks
from pcaplat.outputs.reports.merge.path import line_of_order
from pcaplat.units import format_ns

DISTANCE = "round-trip separation"


def row(near: str, far: str, rests_on: str, n: int = 0, n_agreeing: int = 0) -> dict[str, Any]:
    return {"near": near, "far": far, "rests_on": rests_on, "n": n, "n_agreeing": n_agreeing}


ALL_AGREE = "or more of each segment, and all agree"
SURE_OF_ALL = f"{DISTANCE}: 1,200 direction changes {ALL_AGREE}"
AGREE = "90 % of 800 direction changes agree"
SURE, UNSURE = row("a", "b", DISTANCE, 1200, 1200), row("b", "c", DISTANCE, 800, 720)
ONE = "1 direction change"
GUESSED = [row(f"p{at}", f"q{at}", "timestamps or TTL") for at in range(5)]


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([SURE], SURE_OF_ALL),
        ([SURE, UNSURE], f"{DISTANCE}; least sure of b → c: {AGREE}"),
        ([row("a", "b", DISTANCE, 1, 1)], f"{DISTANCE}: {ONE} {ALL_AGREE}"),
        ([row("a", "b", "one clock")], "one clock"),
        (
            [SURE, row("b", "c", "other points")],
            f"{SURE_OF_ALL}; other points: b → c",
        ),
        (
            [row("a", "b", "one clock"), *GUESSED],
            "one clock: a → b; timestamps or TTL: p0 → q0, p1 → q1, p2 → q2 and 2 more",
        ),
    ],
)  # fmt: skip
def test_an_order_that_was_found_says_by_what(rows: list[dict[str, Any]], expected: str) -> None:
    document = {"path_inferred": True, "path_evidence": rows}
    assert line_of_order(document) == f"Order by {expected}"
    assert line_of_order(document | {"path_inferred": False}) is None
    assert line_of_order({"path_inferred": True, "path_evidence": []}) is None


def test_checks_that_were_not_made_are_not_told() -> None:
    assert not list(lines_of_checks({"sum_check": None}))
    whole = {"sum_ns": 1_990.0, "whole_ns": 2_000.0, "agrees": True}
    (line,) = lines_of_checks({"sum_check": whole})
    assert line.startswith("Check: ")
    assert format_ns(1_990.0) in line
    assert format_ns(2_000.0) in line


def test_sums_of_other_packets_are_no_check() -> None:
    check = {"sum_ns": 12_667_000.0, "whole_ns": 6_254_000.0, "agrees": False}
    (line,) = lines_of_checks({"sum_check": check})
    assert line.startswith("No check: the segments' contributions add up to 12.667 ms")
    assert "the whole path's is 6.254 ms;" in line
