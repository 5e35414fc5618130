"""Captures that begin late or end early: what they could not see they did not miss."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

import pcaplat
from tests.support.networks import START_NS, Edges, Network, Packet, both_ways, datagram, walk

if TYPE_CHECKING:
    from pathlib import Path

LINE = ("a", "b", "c", "d", "e")
TAKES_NS = {("a", "b"): 3_000, ("b", "c"): 20_000, ("c", "d"): 4_000, ("d", "e"): 2_000}
GAP_NS = 100_000
LOST = 0.02
CLIENT, SERVER = "10.0.0.1", "10.0.9.9"


def talk(n: int, seed: int) -> list[Packet]:
    """Requests and answers, each unlike the others, that do not wait for one another."""
    chance = np.random.default_rng(seed)
    made = []
    for turn in range(n // 2):
        t_ns = START_NS + turn * GAP_NS + int(chance.integers(GAP_NS // 2))
        ends, ports, data = (CLIENT, SERVER), (40_000 + turn % 9, 53), chance.bytes(60)
        made.append(Packet(t_ns, (LINE,), datagram(ends, ports, turn % 65_535 + 1, data)))
        back = datagram(ends[::-1], ports[::-1], turn % 65_535 + 1, data[::-1])
        made.append(Packet(t_ns + 90_000, (LINE[::-1],), back))
    return made


def saved(n: int, seed: int, covers: dict[str, tuple[float, float]], folder: Path) -> Network:
    """What was seen, each point in its own part of the time."""
    lost = dict.fromkeys((("b", "c"), ("c", "b")), LOST)
    network = walk(talk(n, seed), Edges(both_ways(TAKES_NS), lost=lost), seed)
    length_ns = n // 2 * GAP_NS
    for point, (first, last) in covers.items():
        from_ns, until_ns = (START_NS + round(share * length_ns) for share in (first, last))
        seen = network.seen[point]
        network.seen[point] = [one for one in seen if from_ns <= one.t_ns <= until_ns]
    network.save(folder)
    return network


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize(
    "covers",
    [{"b": (0.4, 1.0)}, {"c": (0.25, 0.75)}, {"b": (0.2, 1.0), "c": (0.0, 0.6)}],
    ids=["one begins late", "one covers the middle", "one begins late, one ends early"],
)
def test_the_whole_path_counts_packets_and_losses_of_one_time(
    covers: dict[str, tuple[float, float]], seed: int, tmp_path: Path
) -> None:
    network = saved(6_000, seed, covers, tmp_path)
    at_ns, times_ns = network.times(), [sorted(one.values()) for one in network.times().values()]
    first_ns, last_ns = max(one[0] for one in times_ns), min(one[-1] for one in times_ns)
    files = [str(tmp_path / f"{point}.pcap") for point in network.seen]
    with pcaplat.merge(files, same_clock=("all",), keep_rows=False) as result:
        segments = result.document["segments"]
    for row in segments:
        if (row["near"], row["far"]) == (LINE[0], LINE[-1]):
            up, down = LINE[0], LINE[-1]
            if row["direction"] == "reverse":
                up, down = down, up
            sent = (k for k, t in at_ns[up].items() if first_ns <= t <= last_ns)
            mine = {k for k in sent if network.packets[k].ways[0][0] == up}
            n, n_lost = len(mine & at_ns[down].keys()), len(mine & {k for _, k in network.lost})
            assert abs(row["n"] - n) <= 3
            assert abs(row["n_lost"] - n_lost) <= 3


@pytest.mark.one_in(5)
@pytest.mark.parametrize("same_clock", [("all",), ()], ids=["one clock", "not declared"])
@pytest.mark.parametrize("n", [3_000, 6_000])
@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize(
    "covers",
    [
        {"b": (0.4, 1.0)},
        {"b": (0.3, 1.0), "d": (0.0, 0.7)},
        {"c": (0.25, 0.75)},
    ],
    ids=["one begins late", "one begins late, one ends early", "one covers the middle"],
)
def test_losses_are_those_of_the_time_that_two_points_cover(
    covers: dict[str, tuple[float, float]],
    seed: int,
    n: int,
    same_clock: tuple[str, ...],
    tmp_path: Path,
) -> None:
    network = saved(n, seed, covers, tmp_path)
    times_ns = {point: [one.t_ns for one in seen] for point, seen in network.seen.items()}
    first_ns = max(times_ns[point][0] for point in ("b", "c"))
    last_ns = min(times_ns[point][-1] for point in ("b", "c"))
    files = [str(tmp_path / f"{point}.pcap") for point in network.seen]
    with pcaplat.merge(files, same_clock=same_clock) as result:
        segments = result.document["segments"]
        rows = {(row["near"], row["far"], row["direction"]): row for row in segments}
        told_missed = {row["point"]: row["n_missed"] for row in result.document["points"]}
    for edge, way in ((("b", "c"), "forward"), (("c", "b"), "reverse")):
        row = rows["b", "c", way]
        true = [
            t_ns
            for lost, number in network.lost
            for t_ns in (network.packets[number].t_ns,)
            if lost == edge and first_ns <= t_ns <= last_ns
        ]
        assert len(true) > 3
        assert abs(row["n_lost"] - len(true)) <= 1
    assert {told_missed[point] for point in "bcd"} == {0}


@pytest.mark.parametrize("clocks", ["one clock", "own clocks"])
@pytest.mark.parametrize("up_share", [(0.0, 0.5), (0.0, 0.97), (0.2, 1.0)])
@pytest.mark.parametrize("edge", [("a", "b"), ("b", "c"), ("d", "e")])
def test_points_behind_a_link_that_is_down_begin_late_or_end_early(
    edge: tuple[str, str], up_share: tuple[float, float], clocks: str, tmp_path: Path
) -> None:
    """They have no losses of that time, however many points go on."""
    chance, n = np.random.default_rng(1), 4_000
    sent = [datagram((CLIENT, SERVER), (40_000, 53), at + 1, chance.bytes(60)) for at in range(n)]
    packets = [Packet(START_NS + at * GAP_NS, (LINE,), frame) for at, frame in enumerate(sent)]
    network = walk(packets, Edges(TAKES_NS))
    behind = LINE[LINE.index(edge[1]) :]
    for point in behind:
        is_up = (up_share[0] * n <= one.packet <= up_share[1] * n for one in network.seen[point])
        network.seen[point] = [
            one for one, keep in zip(network.seen[point], is_up, strict=True) if keep
        ]
    same_clock = ["all"] if clocks == "one clock" else []
    with pcaplat.merge(
        network.save(tmp_path), same_clock=same_clock, path=LINE, keep_rows=False
    ) as result:
        warnings = result.document["warnings"]
    assert {one["point"] for one in warnings if one["code"] == "partial-capture"} == {*behind}


@pytest.mark.parametrize("missed", [0.2, 0.6, 0.98])
@pytest.mark.parametrize("takes_ns", [4_000, 10_000_000])
def test_points_that_miss_packets_begin_and_end_with_the_others(
    takes_ns: int, missed: float, tmp_path: Path
) -> None:
    """Neither the delay of a long path nor the time between two samples is without capture."""
    is_missed = np.random.default_rng(3).random(6_000) < missed
    network = walk(
        talk(6_000, 1),
        Edges(both_ways(dict.fromkeys(TAKES_NS, takes_ns))),
        missed=lambda point, at: point == "c" and bool(is_missed[at]),
    )
    with pcaplat.merge(network.save(tmp_path), same_clock=["all"], keep_rows=False) as result:
        codes = {one["code"] for one in result.document["warnings"]}
    assert "partial-capture" not in codes
