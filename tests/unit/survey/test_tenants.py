"""Equal packets in two tunnels: two tenants', or one packet that passes twice."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from pcaplat.stages.survey.tenants import find_tenants

if TYPE_CHECKING:
    from pcaplat.model.sampled import SampleColumns

NAMES = ("hv1", "hv2", "vm")
N, RED, BLUE, GREEN, NONE = 200, 5001, 5002, 7, -1
OFFSETS_NS = (0, 4_000_000_000, -7_000_000)


def columns(rows: list[tuple[int, int, np.ndarray]]) -> SampleColumns:
    """Of each file and tunnel the times at which it saw packets 0, 1, 2 …; -1: it did not."""
    key = np.concatenate([np.flatnonzero(t_ns >= 0) for _, _, t_ns in rows])
    n = [int((t_ns >= 0).sum()) for _, _, t_ns in rows]
    return {
        "key": key.astype(np.int64),
        "flow": key.astype(np.int64) % 5,
        "file": np.repeat([file for file, _, _ in rows], n),
        "interface": np.zeros(len(key), np.int64),
        "tunnel": np.repeat([tunnel for _, tunnel, _ in rows], n),
        "t_ns": np.concatenate([t[t >= 0] + OFFSETS_NS[file] for file, _, t in rows]),
        "is_directed": np.ones(len(key), np.int64),
        "is_toward": np.ones(len(key), np.int64),
    }


def waits(chance: np.random.Generator, least_ns: int) -> np.ndarray:
    return least_ns + np.rint(chance.exponential(300, N)).astype(np.int64)


def tenant_of(given: SampleColumns) -> dict[tuple[int, int], int]:
    """By file and tunnel, whose packets these are."""
    found = find_tenants(given, NAMES)
    of_file = found.of_file if found else ()
    return {
        (file, tunnel): tenant
        for file, known in enumerate(of_file)
        for (_, tunnel), tenant in known
    }


@pytest.mark.parametrize("seed", range(5))
def test_of_three_tenants_two_may_talk_at_nearly_the_same_times(seed: int) -> None:
    """To the third both are nearly as far apart: only their own lie as at the other place."""
    chance = np.random.default_rng(seed)
    red = 1_000_000 * np.arange(1, N + 1)
    green, blue = (red + chance.integers(-far, far, N) for far in (3_000, 40_000))
    tunnels = {RED: red, BLUE: blue, GREEN: green}
    given = [(0, tunnel, t_ns) for tunnel, t_ns in tunnels.items()]
    given += [(1, tunnel, t_ns + waits(chance, 6_000)) for tunnel, t_ns in tunnels.items()]
    found = tenant_of(columns(given))
    assert len({found[0, tunnel] for tunnel in tunnels}) == 3
    assert all(found[0, tunnel] == found[1, tunnel] for tunnel in tunnels)


@pytest.mark.parametrize("seed", range(5))
def test_two_tenants_have_packets_of_their_own(seed: int) -> None:
    chance = np.random.default_rng(seed)
    red = 1_000_000 * np.arange(1, N + 1)
    blue = red + chance.integers(-40_000, 40_000, N)
    far_red, far_blue = (one + waits(chance, 6_000) for one in (red, blue))
    far_red[::7] = -1
    vm = red - waits(chance, 2_000)
    given = [(0, RED, red), (0, BLUE, blue), (1, RED, far_red), (1, BLUE, far_blue)]
    found = tenant_of(columns([*given, (2, NONE, vm)]))
    assert found[0, RED] == found[1, RED] == found[2, NONE] > 0
    assert found[0, BLUE] == found[1, BLUE] > 0
    assert found[0, RED] != found[0, BLUE]


def test_a_gateway_translates_identifiers() -> None:
    """Where it makes one tenant's the other's, too."""
    chance = np.random.default_rng(1)
    red = 1_000_000 * np.arange(1, N + 1)
    blue = red + chance.integers(-40_000, 40_000, N)
    far_red, far_blue = (one + waits(chance, 6_000) for one in (red, blue))
    given = [(0, RED, red), (0, BLUE, blue), (1, BLUE, far_red), (1, RED, far_blue)]
    found = tenant_of(columns(given))
    assert found[0, RED] == found[1, BLUE] != found[0, BLUE] == found[1, RED]


def apart(*, share: float = 0.0, by_turns: bool = True) -> list[tuple[int, int, np.ndarray]]:
    """Two tunnels at two places, of packets that take turns; so many are in both."""
    chance = np.random.default_rng(1)
    first = 1_000_000 * np.arange(1, N + 1)
    is_red = np.arange(N) % 2 == 0 if by_turns else np.arange(N) < N // 2
    is_both = chance.random(N) < share
    red, blue = np.where(is_red | is_both, first, -1), np.where(~is_red | is_both, first + 99, -1)
    far = [np.where(one >= 0, one + waits(chance, 6_000), -1) for one in (red, blue)]
    return [(0, RED, red), (0, BLUE, blue), (1, RED, far[0]), (1, BLUE, far[1])]


def test_tenants_that_say_other_things_have_flows_by_turns() -> None:
    found = tenant_of(columns(apart()))
    assert found[0, RED] == found[1, RED] != found[0, BLUE] == found[1, BLUE]


def test_a_flow_that_moves_to_another_tunnel_is_one() -> None:
    assert tenant_of(columns(apart(by_turns=False))) == {}


def test_a_flow_spread_over_tunnels_that_a_host_sends_is_one() -> None:
    chance = np.random.default_rng(2)
    host = 1_000_000 * np.arange(1, N + 1) - waits(chance, 3_000)
    assert tenant_of(columns([*apart(), (2, NONE, host)])) == {}


def test_packets_of_which_a_capture_has_seldom_both_passages_are_one() -> None:
    assert tenant_of(columns(apart(share=0.2))) == {}


@pytest.mark.parametrize("way_ns", [3_000, 20_000])
def test_a_packet_that_passes_two_points_twice_is_one(way_ns: int) -> None:
    """A leaf and a spine, behind which a gateway sends packets back in another tunnel."""
    chance = np.random.default_rng(1)
    leaf = 1_000_000 * np.arange(N)
    spine = leaf + waits(chance, way_ns)
    back = spine + waits(chance, 50_000) + chance.integers(0, 9_000, N)
    home = back + waits(chance, way_ns)
    given = columns([(0, RED, leaf), (1, RED, spine), (1, BLUE, back), (0, BLUE, home)])
    assert tenant_of(given) == {}


def test_in_and_out_of_two_devices_are_one_packet_each() -> None:
    """Two mirrors that mark what comes in and what goes out."""
    chance = np.random.default_rng(1)
    first_in = 1_000_000 * np.arange(N)
    first_out = first_in + waits(chance, 4_000)
    second_in = first_out + waits(chance, 9_000)
    second_out = second_in + waits(chance, 4_000)
    rows = [(0, 1, first_in), (0, 2, first_out), (1, 1, second_in), (1, 2, second_out)]
    assert tenant_of(columns(rows)) == {}
