"""Laws of a merge: what may change in the captures without changing what they say."""

from __future__ import annotations

import gzip
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pcaplat
from tests.recovery.simulator import Clock, Link, Outcome, Point, Scenario, Traffic, Tunnel, run

if TYPE_CHECKING:
    from pathlib import Path

NAMES = ("alpha", "bravo", "charlie")
BASE = Scenario(
    points=(
        Point("alpha"),
        Point("bravo", Clock(5_000_000)),
        Point("charlie", Clock(-7_000_000)),
    ),
    links=(Link(lost_share=0.01), Link(forward_ns=5_000, reverse_ns=4_000)),
    traffic=Traffic(400, ip6_share=0.2),
)
DAY_NS = 86_400 * 10**9
SHIFTS_NS = (37 * 10**9, 5 * 3_600 * 10**9, 69 * DAY_NS, -(37 * 10**9), 12_345)

few = settings(max_examples=6, deadline=None, derandomize=True, database=None)
Match = tuple[str, int, str, int, str]


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One folder for all examples, each of which writes into a fresh folder of its own."""
    return tmp_path_factory.mktemp("laws")


def saved(outcome: Outcome, scratch: Path) -> list[Path]:
    """The captures of an outcome, in a folder nothing else uses."""
    folder = scratch / str(len(list(scratch.iterdir())))
    folder.mkdir()
    return outcome.save(folder)


def merged(files: list[Path], path: list[str] | None = None) -> pcaplat.Result:
    """Merge files that are in path order or in any other."""
    return pcaplat.merge([str(file) for file in files], path=path)


def matches(result: pcaplat.Result) -> set[Match]:
    """Which frames carry the same packet, and which way it went."""
    columns = ("up_point", "up_frame", "down_point", "down_frame", "direction")
    return set(result.matches.select(columns).collect().iter_rows())


@cache
def base_outcome() -> Outcome:
    """The captures every law starts from."""
    return run(BASE)


@pytest.fixture(scope="module")
def base(scratch: Path) -> pcaplat.Result:
    """Their merge."""
    result = merged(saved(base_outcome(), scratch))
    assert result.document["path"] == list(NAMES)
    assert len(matches(result)) > 500
    return result


@given(order=st.permutations(range(len(NAMES))))
@few
def test_order_of_the_files_changes_nothing(
    base: pcaplat.Result, scratch: Path, order: list[int]
) -> None:
    files = saved(base_outcome(), scratch)
    again = merged([files[at] for at in order])
    assert again.document["path"] == base.document["path"]
    assert matches(again) == matches(base)


@given(wrapped=st.sets(st.sampled_from(NAMES), min_size=1))
@few
def test_a_tunnel_around_the_packets_changes_no_match(
    base: pcaplat.Result, scratch: Path, wrapped: set[str]
) -> None:
    points = tuple(
        replace(p, tunnel=Tunnel("vxlan") if p.name in wrapped else None) for p in BASE.points
    )
    again = merged(saved(run(replace(BASE, points=points)), scratch))
    assert matches(again) == matches(base)


def offsets_ns(result: pcaplat.Result) -> dict[str, float]:
    """Each clock's offset to the first point's; these clocks do not drift."""
    found = {clock["point"]: clock["offset_ns"] for clock in result.document["clocks"]}
    return {name: found[name] - found[NAMES[0]] for name in NAMES}


@given(shift_ns=st.sampled_from(SHIFTS_NS), shifted=st.sampled_from(NAMES))
@few
def test_shifting_a_clock_shifts_its_offset_and_no_round_trip(
    base: pcaplat.Result, scratch: Path, shift_ns: int, shifted: str
) -> None:
    shifts_ns = {shifted: shift_ns}
    points = tuple(
        replace(p, clock=Clock(p.clock.offset_ns + shifts_ns.get(p.name, 0))) for p in BASE.points
    )
    again = merged(saved(run(replace(BASE, points=points)), scratch))
    assert matches(again) == matches(base)
    before, after = offsets_ns(base), offsets_ns(again)
    sign = -1 if shifted == NAMES[0] else 1
    for name in NAMES[1:]:
        expected_ns = before[name] + sign * shift_ns * (shifted in {name, NAMES[0]})
        assert after[name] == pytest.approx(expected_ns, rel=0, abs=5)
    for one, other in zip(base.document["round_trips"], again.document["round_trips"], strict=True):
        assert other["n"] == one["n"]
        assert other["mean_ns"] == pytest.approx(one["mean_ns"], rel=0, abs=1)


def test_pcapng_says_what_pcap_says(base: pcaplat.Result, scratch: Path) -> None:
    points = tuple(replace(p, kind="pcapng") for p in BASE.points)
    again = merged(saved(run(replace(BASE, points=points)), scratch))
    assert matches(again) == matches(base)
    assert again.document["segments"] == base.document["segments"]


def test_compression_changes_nothing(base: pcaplat.Result, scratch: Path) -> None:
    packed = []
    for file in saved(base_outcome(), scratch):
        packed.append(file.with_suffix(".pcap.gz"))
        packed[-1].write_bytes(gzip.compress(file.read_bytes()))
    again = merged(packed)
    assert matches(again) == matches(base)
    assert again.document["segments"] == base.document["segments"]


@given(order=st.permutations(NAMES))
@few
def test_names_are_names_only(base: pcaplat.Result, scratch: Path, order: list[str]) -> None:
    files = saved(base_outcome(), scratch)
    given_names = dict(zip(order, NAMES, strict=True))
    again = pcaplat.merge([f"{name}={file}" for name, file in zip(order, files, strict=True)])
    assert [given_names[name] for name in again.document["path"]] == list(NAMES)
    renamed = {(given_names[a], b, given_names[c], d, way) for a, b, c, d, way in matches(again)}
    assert renamed == matches(base)


def test_the_path_read_backwards_swaps_the_directions(base: pcaplat.Result, scratch: Path) -> None:
    back = merged(saved(base_outcome(), scratch), path=list(reversed(NAMES)))
    turned = {"forward": "reverse", "reverse": "forward"}
    assert {(a, b, c, d, turned[way]) for a, b, c, d, way in matches(back)} == matches(base)
    forth = {
        (row["near"], row["far"], row["direction"]): row["n"] for row in base.document["segments"]
    }
    assert {
        (row["far"], row["near"], turned[row["direction"]]): row["n"]
        for row in back.document["segments"]
    } == forth


def test_tables_outlive_the_result_they_came_from(base: pcaplat.Result, scratch: Path) -> None:
    table = merged(saved(base_outcome(), scratch)).matches
    assert table.collect().height == len(matches(base))
