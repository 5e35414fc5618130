"""Packets that come back another way than they went, or the same way and slower."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from pcaplat import merge
from tests.unit.diagnostics.lint_by_hand import START_NS, Place, Set, turns

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.unit.diagnostics.lint_by_hand import Packet, Records, Talk

OF_NS = 40_000
TALK = turns(600, 290_019, answer_ns=61_003)
JITTER_NS = 211
CLOCKS = {
    "agree": (0, 0, 0),
    "are milliseconds apart": (5_000_000, -3_000_000, 9_000_000_000),
    "are milliseconds apart, the other way round": (-5_000_000, 3_000_000, -9_000_000_000),
    "are seconds apart": (5_000_000_000, -3_000_000_000, 37_000_000_000),
}
BACK = 3
"""Times as long it takes back."""


@dataclass(frozen=True)
class Slower(Place):
    """A point of a path on which it takes longer back."""

    def records(self, talk: Talk) -> Records:
        found = []
        for at, packet in enumerate(talk):
            far_ns = self.at_ns if packet.is_forward else BACK * (self.of_ns - self.at_ns)
            t_ns = packet.t_ns + far_ns + at * self.jitter % JITTER_NS
            found.append((self.clock(t_ns), packet.frame))
        return sorted(found)


def running(off_ns: int, drift_ppm: float) -> Callable[[int], int]:
    return lambda t_ns: t_ns + off_ns + round((t_ns - START_NS) * drift_ppm * 1e-6)


def is_there(_: int, packet: Packet) -> bool:
    return packet.is_forward


def is_back(_: int, packet: Packet) -> bool:
    return not packet.is_forward


def by_two_routes(off_ns: tuple[int, int, int]) -> Set:
    """There over `out`, back over `home`; the names are not in the order of the path."""
    clocks = [running(off, ppm) for off, ppm in zip(off_ns, (20, -10, 30), strict=True)]
    return Set(
        {
            "a-server": Place(OF_NS, OF_NS, clock=clocks[2], jitter=13),
            "client": Place(0, OF_NS),
            "out": Place(12_000, OF_NS, clock=clocks[0], jitter=11, sees=is_there),
            "home": Place(25_000, OF_NS, clock=clocks[1], jitter=17, sees=is_back),
        },
        TALK,
    )


def merged(given: Set, folder: Path) -> dict[str, Any]:
    with merge(given.save(folder)) as result:
        return dict(result.document)


@pytest.mark.parametrize("apart", CLOCKS)
def test_a_point_of_one_route_is_between_the_ends(apart: str, tmp_path: Path) -> None:
    document = merged(by_two_routes(CLOCKS[apart]), tmp_path)
    assert (document["path"][0], document["path"][-1]) == ("client", "a-server")
    edges = {(row["near"], row["far"]) for row in document["edges"]}
    assert edges == {
        *(("client", one) for one in ("out", "home")),
        *((one, "a-server") for one in ("out", "home")),
    }
    codes = {row["code"]: row["text"] for row in document["warnings"]}
    # of one direction, stamps of clocks that nobody knows are no evidence: it is said
    assert "give the order with --path" in codes["order-assumed"]
    # what does not come back there was captured on its other way
    assert "direction-missing" not in codes


@pytest.mark.parametrize("apart", CLOCKS)
def test_two_routes_bound_what_lies_between(apart: str, tmp_path: Path) -> None:
    """What goes out by one and comes home by the other bounds the clocks of both on both sides."""
    off_ns = dict(zip(("out", "home", "a-server"), CLOCKS[apart], strict=True))
    document = merged(by_two_routes(CLOCKS[apart]), tmp_path)
    clocks = {row["point"]: row for row in document["clocks"]}
    for name, ppm in (("out", 20), ("home", -10), ("a-server", 30)):
        row = clocks[name]
        assert row["quality"] == "bounded"
        true_ns = off_ns[name] + (row["at_ns"] - START_NS) * ppm * 1e-6
        assert abs(row["offset_ns"] - true_ns) <= row["half_width_ns"] <= 1.7 * OF_NS
        assert abs(row["drift_ppm"] - ppm) <= row["drift_half_width_ppm"]
    at_ns = {"client": 0, "out": 12_000, "home": 25_000, "a-server": OF_NS}
    for row in document["segments"]:
        true_ns = at_ns[row["far"]] - at_ns[row["near"]]
        assert abs(row["mean_ns"] - true_ns) <= row["clock_half_width_ns"] + JITTER_NS
        if {row["near"], row["far"]} & {"out", "home"}:
            assert row["n"] in (600, 601, 602)
            assert row["n_lost"] == 0
    # the routes have no two-way contribution; what both make together has one
    [whole] = document["round_trips"]
    assert (whole["near"], whole["far"]) == ("client", "a-server")
    assert whole["mean_ns"] == pytest.approx(2 * OF_NS, abs=whole["mean_half_width_ns"] + 10)


@pytest.mark.parametrize("apart", CLOCKS)
def test_the_same_way_back_may_take_longer(apart: str, tmp_path: Path) -> None:
    """The middle of an interval is wrong by half of what the ways differ; the interval holds."""
    off_ns = CLOCKS[apart]
    places: dict[str, Place] = {
        "near": Slower(0, OF_NS),
        "middle": Slower(10_000, OF_NS, clock=running(off_ns[0], 20), jitter=11),
        "far": Slower(OF_NS, OF_NS, clock=running(off_ns[2], 30), jitter=13),
    }
    document = merged(Set(dict(reversed(places.items())), TALK), tmp_path)
    assert document["path"] == ["near", "middle", "far"]
    for row in document["clocks"][1:]:
        off, ppm = (off_ns[0], 20) if row["point"] == "middle" else (off_ns[2], 30)
        true_ns = off + (row["at_ns"] - START_NS) * ppm * 1e-6
        assert abs(row["offset_ns"] - true_ns) <= row["half_width_ns"]
    at_ns = {name: place.at_ns for name, place in places.items()}
    for row in document["segments"]:
        apart_ns = at_ns[row["far"]] - at_ns[row["near"]]
        true_ns = apart_ns * (1 if row["direction"] == "forward" else BACK)
        assert abs(row["mean_ns"] - true_ns) <= row["clock_half_width_ns"] + JITTER_NS
    for row in document["round_trips"]:
        apart_ns = at_ns[row["far"]] - at_ns[row["near"]]
        slack_ns = row["mean_half_width_ns"] + 10
        assert row["mean_ns"] == pytest.approx((1 + BACK) * apart_ns, abs=slack_ns)


def test_a_clock_set_on_a_slow_way_back_is_no_path(tmp_path: Path) -> None:
    at_ns = TALK[len(TALK) // 2].t_ns
    set_far = Slower(OF_NS, OF_NS, clock=lambda t_ns: t_ns + 700_000 * (t_ns > at_ns), jitter=13)
    places: dict[str, Place] = {"near": Slower(0, OF_NS), "far": set_far}
    document = merged(Set(places, TALK), tmp_path)
    [step] = document["clocks"][1]["steps"]
    assert step["step_ns"] == pytest.approx(700_000, abs=5_000)
    assert step["t_ns"] == pytest.approx(at_ns, abs=3_000_000)
    assert document["round_trips"][0]["mean_ns"] == pytest.approx((1 + BACK) * OF_NS, abs=1_000)
