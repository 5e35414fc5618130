"""Equal packets in two tunnels: two tenants', or one packet that passes twice."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from pcaplat.stages.survey.tenants import tenants_apart

if TYPE_CHECKING:
    from pcaplat.model.sampled import SampleColumns

N, RED, BLUE, NONE = 200, 5001, 5002, -1
OFFSETS_NS = (0, 4_000_000_000, -7_000_000)


def columns(rows: list[tuple[int, int, np.ndarray]]) -> SampleColumns:
    """Of each file and tunnel the times at which it saw packets 0, 1, 2 …; -1: it did not."""
    key = np.concatenate([np.flatnonzero(t_ns >= 0) for _, _, t_ns in rows])
    n = [int((t_ns >= 0).sum()) for _, _, t_ns in rows]
    return {
        "key": key.astype(np.int64),
        "file": np.repeat([file for file, _, _ in rows], n),
        "tunnel": np.repeat([tunnel for _, tunnel, _ in rows], n),
        "t_ns": np.concatenate([t[t >= 0] + OFFSETS_NS[file] for file, _, t in rows]),
        "is_directed": np.ones(len(key), np.int64),
        "is_toward": np.ones(len(key), np.int64),
    }


def waits(chance: np.random.Generator, least_ns: int) -> np.ndarray:
    return least_ns + np.rint(chance.exponential(300, N)).astype(np.int64)


def keys(found: SampleColumns, file: int, tunnel: int) -> set[int]:
    return set(found["key"][(found["file"] == file) & (found["tunnel"] == tunnel)].tolist())


@pytest.mark.parametrize("seed", range(5))
def test_two_tenants_have_packets_of_their_own(seed: int) -> None:
    chance = np.random.default_rng(seed)
    red = 1_000_000 * np.arange(1, N + 1)
    blue = red + chance.integers(-40_000, 40_000, N)
    far_red, far_blue = (one + waits(chance, 6_000) for one in (red, blue))
    far_red[::7] = -1
    vm = red - waits(chance, 2_000)
    given = [(0, RED, red), (0, BLUE, blue), (1, RED, far_red), (1, BLUE, far_blue)]
    found = tenants_apart(columns([*given, (2, NONE, vm)]))
    assert not keys(found, 0, RED) & keys(found, 0, BLUE)
    assert keys(found, 1, RED) < keys(found, 0, RED)
    assert keys(found, 1, BLUE) <= keys(found, 0, BLUE)
    assert keys(found, 2, NONE) <= keys(found, 0, RED)


@pytest.mark.parametrize("way_ns", [3_000, 20_000])
def test_a_packet_that_passes_two_points_twice_is_one(way_ns: int) -> None:
    """A leaf and a spine, behind which a gateway sends packets back in another tunnel."""
    chance = np.random.default_rng(1)
    leaf = 1_000_000 * np.arange(N)
    spine = leaf + waits(chance, way_ns)
    back = spine + waits(chance, 50_000) + chance.integers(0, 9_000, N)
    home = back + waits(chance, way_ns)
    given = columns([(0, RED, leaf), (1, RED, spine), (1, BLUE, back), (0, BLUE, home)])
    assert np.array_equal(tenants_apart(given)["key"], given["key"])


def test_in_and_out_of_two_devices_are_one_packet_each() -> None:
    """Two mirrors that mark what comes in and what goes out."""
    chance = np.random.default_rng(1)
    first_in = 1_000_000 * np.arange(N)
    first_out = first_in + waits(chance, 4_000)
    second_in = first_out + waits(chance, 9_000)
    second_out = second_in + waits(chance, 4_000)
    rows = [(0, 1, first_in), (0, 2, first_out), (1, 1, second_in), (1, 2, second_out)]
    given = columns(rows)
    assert np.array_equal(tenants_apart(given)["key"], given["key"])
