"""The answer in a few lines: of which packets it is, and how sure."""

from __future__ import annotations

from typing import Any

import pytest

from pcaplat.run.answer.sentences import answer_lines
from pcaplat.run.answer.view import LatencyView
from tests.support.results import document


def graph(text: str, n: dict[str, int], medians: dict[str, float]) -> dict[str, Any]:
    """A path by its edges, `a > b, a > c`; packets and median, µs, of each, forward only."""
    made = document()
    row = made["segments"][0]
    edges = [tuple(ends.split(" > ")) for ends in text.split(", ")]
    points = list(dict.fromkeys(point for ends in edges for point in ends))
    made["path"] = points
    made["edges"] = [{"near": near, "far": far} for near, far in edges]
    made["round_trips"] = []
    made["segments"] = [
        row
        | {"near": near, "far": far, "n": n[f"{near} > {far}"], "direction": "forward"}
        | dict.fromkeys(("p50_lo_ns", "p50_hi_ns"))
        | {"clock_half_width_ns": 0.0, "p50_ns": medians[f"{near} > {far}"] * 1000}
        for near, far in [*edges, (points[0], points[-1])]
        if f"{near} > {far}" in n
    ]
    return made


def told(made: dict[str, Any]) -> str:
    return "\n".join(answer_lines(made, LatencyView.of(made)))


STAR = "h3 > s3, s3 > s2, s3 > s1, s2 > s1, s1 > h1"
ECMP = "a > b, b > c, b > d, c > e, d > e"


def test_the_largest_segment_is_one_of_the_path() -> None:
    """Others have figures of other packets: a part cannot be larger than its whole."""
    n = dict.fromkeys(STAR.split(", "), 100) | {"s3 > s2": 40, "s2 > s1": 40, "h3 > h1": 100}
    medians = dict.fromkeys(n, 5.0) | {"s3 > s1": 9.0, "s3 > s2": 33.0, "h3 > h1": 20.0}
    text = told(graph(STAR, n, medians))
    assert "Largest segment: s3 → s1, median 9.00 µs" in text
    assert "Largest segment of other routes: s3 → s2, median 33.00 µs" in text
    assert "several routes" not in text


def test_packets_of_several_routes_are_called_so() -> None:
    n = dict.fromkeys(ECMP.split(", "), 100) | {"b > c": 60, "c > e": 60, "a > e": 100}
    n |= {"b > d": 40, "d > e": 40}
    medians = dict.fromkeys(n, 5.0) | {"c > e": 33.0}
    text = told(graph(ECMP, n, medians))
    assert "(100 packets over several routes)" in text
    assert "Largest segment: c → e, median 33.00 µs" in text
    assert "of other routes" not in text


def test_a_tree_names_its_other_ends() -> None:
    n = {"a > b": 9, "b > c": 9, "b > d": 9, "a > d": 9}
    text = told(graph("a > b, b > c, b > d", n, dict.fromkeys(n, 2.0)))
    assert "Further ends: c. Do: " in text


@pytest.mark.parametrize(("clock_ns", "is_sure"), [(500.0, True), (2000.0, False)])
def test_what_the_clocks_leave_open_is_not_the_largest(clock_ns: float, *, is_sure: bool) -> None:
    n = {"a > b": 9, "b > c": 9, "a > c": 9}
    made = graph("a > b, b > c", n, {"a > b": 10.0, "b > c": 12.0, "a > c": 22.0})
    for row in made["segments"]:
        row["clock_half_width_ns"] = clock_ns
    text = told(made)
    assert "Largest segment: b → c, median 12.00 µs" in text
    assert ("not surely larger than a → b" in text) != is_sure
    assert f"clocks ± {clock_ns / 1000:.2f} µs" in text


def test_bounds_of_both_directions_are_not_a_sum() -> None:
    made = document()
    for row in made["segments"]:
        row["clock_half_width_ns"] = 20_000.0
    ends = (made["path"][0], made["path"][-1])
    both = made["round_trips"][0] | {"near": ends[0], "far": ends[1]}
    made["round_trips"].append(both)
    text = told(made)
    assert "but not both at once (⇄ is " in text


def test_frames_that_not_all_points_could_capture_are_not_judged() -> None:
    made = document()
    reason = {"status": "unmatched", "reason": "outside-common-time", "n": 30}
    made["points"] = [{"point": "host1-vm", "n_frames": 1000, "reasons": [reason]}]
    assert "(4 of 2,008) while all points captured; 30 frames outside that time" in told(made)
    reason["n"] = 3
    assert "while all points captured" not in told(made)


def test_losses_off_the_whole_path_are_named() -> None:
    """Nothing was lost from end to end: what a branch lost is no less lost."""
    n = {"a > b": 98, "b > c": 9, "b > d": 9, "a > d": 9}
    made = graph("a > b, b > c, b > d", n, dict.fromkeys(n, 2.0))
    clean = [row | {"n_lost": 0, "lost_frac": 0.0} for row in made["segments"]]
    assert "Lost packets: none" in told(made | {"segments": clean}).splitlines()
    first, *others = clean
    lossy = made | {"segments": [first | {"n_lost": 2, "lost_frac": 0.02}, *others]}
    assert "Lost packets: none from end to end; a → b 2 % (2 of 100)" in told(lossy)
    whole = others[-1] | {"n_lost": 1, "lost_frac": 0.1}
    both = lossy | {"segments": [*lossy["segments"][:-1], whole]}
    assert "Lost packets: → 10 % (1 of 10)" in told(both)
    assert "a → b 2 %" not in told(both)
