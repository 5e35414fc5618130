"""Answers that are all equal, between points that share no other packet of their direction."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest

import pcaplat
from pcaplat.stages.survey.observations import unique_observations
from pcaplat.stages.survey.path_order.repeating_answers import with_repeating_answers
from tests.support.frames import UDP, ip, udp, write_pcap
from tests.support.samples import observations
from tests.support.split_captures import START_NS

if TYPE_CHECKING:
    from pathlib import Path

MS = 1_000_000
N_KEYS = 6
"""Identities of the answers; each comes once in a train."""


def trains(kind: str, seed: int) -> list[int]:
    """When the trains of probes start, ns."""
    chance = np.random.default_rng(seed)
    gaps_ms = {"irregular": chance.integers(700, 9_000, 12), "regular": np.full(12, 5_000)}[kind]
    return [START_NS + int(at) * MS for at in np.cumsum(gaps_ms)]


def written(folder: Path, kind: str, seed: int = 1, lost: int = 0) -> dict[tuple[str, int], int]:
    """Probes with numbers, and equal answers; clocks 7 s apart, 200 ms each way.

    Returns:
        By point and frame the packet's number.
    """
    chance = np.random.default_rng(seed + 50)
    near: list[tuple[int, bytes, int]] = []
    far: list[tuple[int, bytes, int]] = []
    number = 0
    for start_ns in trains(kind, seed):
        for which in range(N_KEYS):
            sent_ns = start_ns + which * 40_000
            probe = ip(
                "10.0.0.1", "10.0.0.2", UDP, number + 1, 64, udp((1, 2), struct.pack(">Q", number))
            )
            answer = ip("10.0.0.2", "10.0.0.1", UDP, 0, 64, udp((2, 1), bytes([which]) * 8))
            there_ns = sent_ns + 200 * MS + int(chance.exponential(30_000))
            back_ns = there_ns + 100_000
            home_ns = back_ns + 200 * MS + int(chance.exponential(30_000))
            near += [(sent_ns, probe, number), (home_ns, answer, number + 1)]
            far += [
                (there_ns + 7_000 * MS, probe, number),
                (back_ns + 7_000 * MS, answer, number + 1),
            ]
            number += 2
    if lost:
        del near[2 * N_KEYS * 5 + 1], far[2 * N_KEYS * 8 + 1]
    truth: dict[tuple[str, int], int] = {}
    for name, rows in (("near", near), ("far", far)):
        rows.sort()
        write_pcap(folder / f"{name}.pcap", [(t_ns, data) for t_ns, data, _ in rows])
        truth |= {(name, at + 1): row[2] for at, row in enumerate(rows)}
    return truth


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("lost", [0, 1])
def test_trains_at_odd_times_tell_every_answer(seed: int, lost: int, tmp_path: Path) -> None:
    truth = written(tmp_path, "irregular", seed, lost)
    with pcaplat.merge([tmp_path / "far.pcap", tmp_path / "near.pcap"]) as result:
        document = result.document
        rows = result.matches.select("up_point", "up_frame", "down_point", "down_frame").collect()
    assert document["path"] == ["near", "far"]
    assert document["path_evidence"][0]["rests_on"] == "round-trip separation"
    assert all(truth[a, b] == truth[c, d] for a, b, c, d in rows.iter_rows())
    assert len(rows) == 2 * 12 * N_KEYS - 2 * lost
    assert sum(row["n_lost"] for row in document["segments"]) == lost


def test_trains_like_clockwork_tell_none(tmp_path: Path) -> None:
    truth = written(tmp_path, "regular")
    with pcaplat.merge([tmp_path / "far.pcap", tmp_path / "near.pcap"]) as result:
        rows = result.matches.select("up_point", "up_frame", "down_point", "down_frame").collect()
        told = result.packets.select("src", "status").collect()
    assert all(truth[a, b] == truth[c, d] for a, b, c, d in rows.iter_rows())
    answers = told.filter(pl.col("src") == "10.0.0.2")["status"].unique().to_list()
    assert "matched" not in answers


IRREGULAR = [0, 1_630 * MS, 7_583 * MS, 13_542 * MS, 19_499 * MS]
LATER_NS = 200 * MS


def added(here: list[list[int]], there: list[list[int]]) -> int:
    """How many observations rhythm adds at the second point; a list of times for each identity."""
    points = []
    for side in (here, there):
        keys = [key for key, times in enumerate(side) for _ in times]
        points.append(observations(keys, [t_ns for times in side for t_ns in times]))
    unique = unique_observations(points)
    return len(with_repeating_answers(points, unique)[1]) - len(unique[1])


def later(times: list[int], by_ns: int = LATER_NS) -> list[int]:
    return [t_ns + by_ns + 1_000 * (at % 3) for at, t_ns in enumerate(times)]


def test_equal_rhythms_are_told() -> None:
    assert added([IRREGULAR] * 3, [later(IRREGULAR)] * 3) == 15


def test_copies_at_one_point_do_not_hide_it() -> None:
    doubled = [t_ns + more for t_ns in later(IRREGULAR) for more in (0, 5_000)]
    assert added([IRREGULAR] * 3, [doubled] * 3) == 15


def test_few_times_between_packets_are_chance() -> None:
    assert added([IRREGULAR] * 2, [later(IRREGULAR)] * 2) == 0
    assert added([IRREGULAR[:2]] * 20, [later(IRREGULAR[:2])] * 20) == 0


def test_clockwork_is_no_rhythm() -> None:
    times = [number * 1_000 * MS for number in range(6)]
    assert added([times] * 5, [later(times)] * 5) == 0


def test_a_rhythm_that_lacks_its_first_here_and_its_last_there_is_not_told() -> None:
    assert added([IRREGULAR[1:]] * 5, [later(IRREGULAR[:-1])] * 5) == 0


def test_where_others_go_the_same_way_nothing_is_added() -> None:
    alone = [[50 * MS]]
    assert added([IRREGULAR] * 5 + alone, [later(IRREGULAR)] * 5 + [later([50 * MS])]) == 0
