"""Networks that are no lines: which points follow which, and what each edge does, or that is open.

Stars of ports, trees of receivers, several spines, ways back of their own, tenants with the same
addresses, translation of one direction: every figure is right, null, or warned of.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache, partial
from math import sin
from typing import TYPE_CHECKING

import numpy as np
import pytest

import pcaplat
from tests.recovery.networks import KINDS, rewritten, shapes, tenants
from tests.recovery.networks.judge import (
    Merged,
    edges_wrong,
    lost_wrong,
    means_wrong,
    merge_kind,
    merge_network,
    order_wrong,
    pairs_wrong,
    segments_wrong,
    wrong_in_silence,
)
from tests.recovery.networks.talk import seldom, talk
from tests.support.networks import START_NS

if TYPE_CHECKING:
    from pathlib import Path

SEEDS = range(1, 6)
N = 1_000
LINES_NO_MORE = (*shapes.KINDS, "pairs one way only", "translated one way")
"""Kinds of which everything is asked one by one, with a common clock."""


def asked() -> pytest.MarkDecorator:
    """The kinds that are no lines, and two seeds."""
    params = [(name, seed) for name in LINES_NO_MORE for seed in (1, 2)]
    return pytest.mark.parametrize(("name", "seed"), params)


def every_kind(*sizes: int) -> pytest.MarkDecorator:
    """All kinds, of so many packets."""
    params = [(name, n) for name in KINDS for n in sizes]
    return pytest.mark.parametrize(("name", "n"), params)


@cache
def merged(name: str, seed: int, folder: Path, *, has_own_clocks: bool) -> Merged:
    """Several tests ask about one merge."""
    scratch = folder / str(len(list(folder.iterdir())))
    scratch.mkdir()
    return merge_kind(name, N, seed, scratch, has_own_clocks=has_own_clocks)


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that lasts as long as the merges are kept."""
    return tmp_path_factory.mktemp("graphs")


@pytest.mark.one_in(3)
@asked()
def test_edges_are_the_true_ones(name: str, seed: int, scratch: Path) -> None:
    assert edges_wrong(merged(name, seed, scratch, has_own_clocks=False)) == set()


@asked()
def test_the_path_is_an_order_of_every_way(name: str, seed: int, scratch: Path) -> None:
    assert order_wrong(merged(name, seed, scratch, has_own_clocks=False)) == []


@asked()
def test_segments_are_the_edges_in_their_direction(name: str, seed: int, scratch: Path) -> None:
    assert segments_wrong(merged(name, seed, scratch, has_own_clocks=False)) == {}


@asked()
def test_losses_stand_at_their_edge(name: str, seed: int, scratch: Path) -> None:
    found = merged(name, seed, scratch, has_own_clocks=False)
    assert found.network.lost
    assert lost_wrong(found) == {}


@asked()
def test_means_of_one_clock_are_right(name: str, seed: int, scratch: Path) -> None:
    found = merged(name, seed, scratch, has_own_clocks=False)
    assert found.rows.keys() & found.crossings.keys()
    assert means_wrong(found) == {}


@asked()
def test_no_pair_is_wrong(name: str, seed: int, scratch: Path) -> None:
    found = merged(name, seed, scratch, has_own_clocks=False)
    assert len(found.pairs) > N // 2
    assert pairs_wrong(found) == []


@pytest.mark.one_in(3)
@asked()
def test_nothing_is_wrong_in_silence_without_a_common_clock(
    name: str, seed: int, scratch: Path
) -> None:
    assert wrong_in_silence(merged(name, seed, scratch, has_own_clocks=True)) == {}


@pytest.mark.parametrize("name", KINDS)
def test_nothing_is_wrong_in_silence(name: str, scratch: Path) -> None:
    for has_own_clocks in (False, True):
        found = merged(name, 1, scratch, has_own_clocks=has_own_clocks)
        assert wrong_in_silence(found) == {}


@pytest.mark.parametrize(
    ("name", "clocks"),
    [
        # one captures until the other begins, so that all four do for a few packets only
        ("active and standby", "own clocks"),
        # two of them talk at nearly the same times
        ("three tenants, two encapsulations", "one clock"),
        # thousands of flows of two packets, whose contents are equal
        ("no NAT, short flows, IDs rewritten back", "one clock"),
        # a lost packet is waited for during most of the capture
        ("datagrams one way, milliseconds", "one clock"),
    ],
)
def test_nothing_is_wrong_in_silence_of_many_packets(
    name: str, clocks: str, tmp_path: Path
) -> None:
    found = merge_kind(name, 20_000, 1, tmp_path, has_own_clocks=clocks == "own clocks")
    assert wrong_in_silence(found) == {}


def test_what_one_file_has_before_and_behind_a_translator_is_two_points(tmp_path: Path) -> None:
    """Hosts of one site talk by its public address: the router's port sees each packet twice."""
    network = rewritten.hairpin(1_000, 1, has_own_clocks=False)
    with pcaplat.merge(network.save(tmp_path), same_clock=["all"], keep_rows=False) as result:
        path = result.document["path"]
    assert len(path) == len(network.seen)


@pytest.mark.parametrize("clocks", ["one clock", "own clocks"])
def test_losses_of_the_whole_path_count_while_two_points_take_turns(
    clocks: str, tmp_path: Path
) -> None:
    """At no time do all points capture; packets pass one of the two only."""
    name = "active and standby"
    found = merge_kind(name, 5_000, 1, tmp_path, has_own_clocks=clocks == "own clocks")
    (row,) = (
        row
        for row in found.document["segments"]
        if (row["near"], row["far"], row["direction"]) == ("left", "right", "forward")
    )
    assert len(found.network.lost) > 50
    assert 0 <= len(found.network.lost) - row["n_lost"] <= 2
    assert abs(row["n"] + row["n_lost"] - 2_500) <= 3


@pytest.mark.parametrize(("n", "seed"), [(1_000, 1), (5_000, 2)])
@pytest.mark.parametrize("rate", ["", ", seldom"])
def test_ways_of_groups_are_told_by_all_their_senders(
    rate: str, n: int, seed: int, tmp_path: Path
) -> None:
    """Each port of a switch sends to a group; clocks are unrelated, and nobody answers."""
    name = f"star where each port sends to a group{rate}"
    found = merge_kind(name, n, seed, tmp_path, has_own_clocks=True)
    assert found.network.lost
    assert edges_wrong(found) == set()
    assert segments_wrong(found) == {}
    assert lost_wrong(found) == {}


@pytest.mark.parametrize("noise_us", [20, 1_000])
@pytest.mark.parametrize("noisy", [("blue1",), ("blue1", "red1"), ("blue1", "red1", "red2")])
def test_packets_of_one_of_two_tenants_are_told_or_left_out(
    noisy: tuple[str, ...], noise_us: int, tmp_path: Path
) -> None:
    """Every packet is another tenant's too, and hosts stamp worse than these two are apart."""
    network = tenants.network(1_000, 1, has_own_clocks=False)
    noise_ns = np.random.default_rng(1).integers(noise_us * 1_000, size=(len(noisy), 1_000))

    def ahead_ns(point: str, packet: int) -> int:
        return int(noise_ns[noisy.index(point), packet]) if point in noisy else 0

    network.ahead_ns = ahead_ns
    found = merge_network(network, tmp_path, same_clock=["all"])
    assert pairs_wrong(found) == []
    assert found.excused == set(noisy)


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize(("n_hosts", "n", "wanders_ns"), [(10, 5_000, 0), (20, 20_000, 50_000)])
def test_directions_are_right_where_clocks_drift_between_packets_of_two_addresses(
    n_hosts: int, n: int, wanders_ns: int, seed: int, tmp_path: Path
) -> None:
    """Packets of two addresses are seconds apart: clocks drift by more than packets take."""
    kind = replace(
        shapes.leaves(3, n_hosts), talk=lambda pairs, n, seed: seldom(talk(pairs, n, seed), 100)
    )
    network = kind.network(n, seed, has_own_clocks=True)
    at_ns = network.times()

    def ahead_ns(point: str, packet: int) -> int:
        at_s = (at_ns[point][packet] - START_NS) / 1e9
        return round(wanders_ns * sin(at_s / 10 + len(network.seen[point])))

    network.ahead_ns = ahead_ns
    found = merge_network(network, tmp_path, [], is_ordered=False)
    assert wrong_in_silence(found) == {}
    assert found.n_backward == 0


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("clocks", ["one clock", "own clocks"])
@every_kind(1_000, 20_000, 200_000)
def test_nothing_is_wrong_in_silence_at_any_size(
    name: str, clocks: str, n: int, seed: int, tmp_path: Path
) -> None:
    found = merge_kind(name, n, seed, tmp_path, has_own_clocks=clocks == "own clocks")
    assert wrong_in_silence(found) == {}


@pytest.mark.slow
def test_addresses_that_the_survey_did_not_see_take_the_routes_of_others(tmp_path: Path) -> None:
    kind = replace(shapes.leaves(3, 80), talk=partial(talk, n_flows=1))
    network = kind.network(40_000, 1, has_own_clocks=False)
    found = merge_network(network, tmp_path, ["all"], is_ordered=False)
    assert edges_wrong(found) == set()
    assert means_wrong(found) == {}
    for edge, took in found.crossings.items():
        assert abs(found.rows[edge]["n"] - len(took)) <= len(took) / 1_000
