"""Aligned times keep cause and effect in order, or a warning says that they do not."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from pcaplat import merge
from tests.unit.diagnostics.lint_by_hand import CLEAN, FAR, MIDDLE, NEAR, START_NS, Set, pcap, turns

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SAID = {
    "clock-contradiction",
    "batched-timestamps",
    "negative-latency",
    "path-contradicted",
    "two-clocks-in-file",
}
SET_BACK_NS = {"is set back": 400_000, "is set back and drifts": 2_000_000}
"""A clock says such a time twice, and only packets within it may be out of order."""
GAP_NS = 90_019
ROUNDING_NS = 1
TALK = turns(500, GAP_NS)
MIDDLE_NS = TALK[len(TALK) // 2].t_ns


def drifting(ppm: float) -> Callable[[int], int]:
    return lambda t_ns: t_ns + 10**9 + round((t_ns - START_NS) * ppm * 1e-6)


def set_by(step_ns: int) -> Callable[[int], int]:
    return lambda t_ns: t_ns + step_ns * (t_ns > MIDDLE_NS)


CLOCKS: dict[str, tuple[Callable[[int], int], dict[str, Any]]] = {
    "37 s ahead": (lambda t_ns: t_ns + 37_000_000_000, {}),
    "drifts": (drifting(80), {}),
    "drifts back": (drifting(-80), {}),
    "is set ahead": (set_by(400_000), {}),
    "is set back": (set_by(-400_000), {}),
    "is set back and drifts": (lambda t_ns: drifting(30)(set_by(-2_000_000)(t_ns)), {}),
    "stamps batches": (lambda t_ns: -(-t_ns // 300_007) * 300_007, {}),
    "is none of all": (lambda t_ns: t_ns + 9_000, {"same_clock": ["all"]}),
    "is not so accurate": (
        lambda t_ns: t_ns + 1_000_000,
        {"clock_accuracy": [("near", 100), ("far", 100), ("middle", 100)]},
    ),
}


def early_and_said(given: Set, folder: Path, options: dict[str, Any]) -> tuple[int, set[str]]:
    """How many packets arrive before they left, and what is said of it."""
    with merge(given.save(folder), **options) as result:
        packets = result.packets.select("point", "frame", "aligned_ns").collect().rows()
        at_ns = {(point, frame): t_ns for point, frame, t_ns in packets}
        matches = result.matches.select("up_point", "up_frame", "down_point", "down_frame")
        rows = matches.collect().rows()
        codes = {row["code"] for row in result.document["warnings"]}
    assert len(rows) > 1_500
    pairs = [(at_ns[up, one], at_ns[down, other]) for up, one, down, other in rows]
    known = [(left, came) for left, came in pairs if left is not None and came is not None]
    return sum(came < left - ROUNDING_NS for left, came in known), codes


@pytest.mark.parametrize("point", ["near", "middle", "far"])
@pytest.mark.parametrize("name", CLOCKS)
def test_no_packet_arrives_before_it_left_unless_it_is_said(
    name: str, point: str, tmp_path: Path
) -> None:
    clock, options = CLOCKS[name]
    places = {"near": NEAR, "middle": MIDDLE, "far": FAR}
    places[point] = replace(places[point], clock=clock)
    n_early, codes = early_and_said(Set(places, TALK), tmp_path, options)
    if name in SET_BACK_NS and n_early:
        assert "clock-step" in codes
        assert n_early <= 2 * (SET_BACK_NS[name] // GAP_NS + 1)
    else:
        assert not n_early or codes & SAID


def test_it_is_said_where_declared_clocks_contradict_packets(tmp_path: Path) -> None:
    far = replace(FAR, clock=lambda t_ns: t_ns - 60_000)
    n_early, codes = early_and_said(
        Set({"near": NEAR, "middle": MIDDLE, "far": far}, TALK), tmp_path, {"same_clock": ["all"]}
    )
    assert n_early
    assert codes & SAID


def test_stamps_of_microseconds_reorder_by_less_than_one(tmp_path: Path) -> None:
    coarse = CLEAN.having(
        near=replace(NEAR, write=lambda *of: pcap(*of, unit_ns=1_000)), middle=MIDDLE
    )
    n_early, codes = early_and_said(replace(coarse, talk=TALK), tmp_path, {})
    assert not n_early or codes & SAID


def test_a_step_is_told_on_the_clock_of_the_reference(tmp_path: Path) -> None:
    ahead_ns = 37_000_000_000
    far = replace(FAR, clock=lambda t_ns: t_ns + ahead_ns)
    middle = replace(MIDDLE, clock=set_by(400_000))
    given = Set({"near": NEAR, "middle": middle, "far": far}, TALK).save(tmp_path)
    for reference, later_ns in (("near", 0), ("far", ahead_ns)):
        with merge(given, reference=reference) as result:
            clocks = {row["point"]: row for row in result.document["clocks"]}
        [step] = clocks["middle"]["steps"]
        assert step["step_ns"] == pytest.approx(400_000, abs=20_000)
        assert step["t_ns"] == pytest.approx(MIDDLE_NS + later_ns, abs=5 * GAP_NS)


def test_what_packets_do_not_tell_of_a_drift_is_not_told(tmp_path: Path) -> None:
    """Three turns within 0.2 ms: any drift below 1 % fits them, but not any offset."""
    few = Set({"near": NEAR, "far": FAR}, turns(3, GAP_NS)).save(tmp_path)
    with merge(few) as result:
        far = result.document["clocks"][1]
    assert (far["drift_ppm"], far["drift_half_width_ppm"]) == (None, None)
    assert abs(far["offset_ns"]) <= far["half_width_ns"] <= 20_000


def test_a_declared_accuracy_that_packets_contradict_names_the_frames(tmp_path: Path) -> None:
    far = replace(FAR, clock=lambda t_ns: t_ns - 1_000_000)
    places = {"near": NEAR, "far": far}
    given = Set(places, TALK).save(tmp_path)
    with merge(given, clock_accuracy=[("near", 100), ("far", 100)]) as result:
        texts = {row["code"]: row["text"] for row in result.document["warnings"]}
    text = texts["clock-accuracy-contradicted"]
    observations = re.findall(r"(\d+)\.(\d{9}) at \w+ \((\w+)\.pcap frame (\d+)\)", text)
    assert [name for *_, name, _ in observations] == ["near", "far"]
    frames = []
    for seconds, nanoseconds, name, number in observations:
        stamp_ns, frame = places[name].records(TALK)[int(number) - 1]
        assert stamp_ns == int(seconds + nanoseconds)
        frames.append(frame)
    assert frames[0] == frames[1]
