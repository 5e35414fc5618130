"""Mirrors of both directions of all ports: every packet comes twice, at one point or everywhere.

Beside them the packets that a sender really sends twice, which look alike.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

import pcaplat
from tests.recovery.test_hidden_losses import ENDS, START_NS, crossed
from tests.support.frames import UDP, ip, udp, write_pcap

if TYPE_CHECKING:
    from pathlib import Path

N, GAP_NS, JITTER_NS = 2_000, 50_000, 200
BOTH_WAYS = ((0, 1, 2), (2, 1, 0))
Timed = list[tuple[int, bytes]]


@dataclass(frozen=True)
class Doubled:
    """Packets that differ, both ways over three points, and how they come twice.

    The mirrors of `copied_at` see each packet again `again_ns` later and drop `dropped_share` of
    their frames; or each packet is `sent_twice`.
    """

    again_ns: int
    is_numbered: bool = True
    lost_share: float = 0.0
    dropped_share: float = 0.0
    copied_share: float = 1.0
    copied_at: tuple[int, ...] = (0, 1, 2)
    sent_twice: bool = False

    def sent(self, chance: random.Random) -> tuple[Timed, Timed]:
        """What each end sends, in order of time."""
        ways: tuple[Timed, Timed] = ([], [])
        for number in range(N):
            side = number % 2
            at_ns = START_NS + 1_000_000 + number * GAP_NS + chance.randrange(1_000)
            ports = (4_000, 7_000) if side else (7_000, 4_000)
            ends = ENDS if side == 0 else ENDS[::-1]
            ident = number + 1 if self.is_numbered else 0
            frame = ip(*ends, UDP, ident, 64, udp(ports, chance.randbytes(16)))
            ways[side].append((at_ns, frame))
            if self.sent_twice:
                ways[side].append((at_ns + self.again_ns + chance.randrange(JITTER_NS), frame))
        return sorted(ways[0]), sorted(ways[1])

    def recorded(self, point: int, now: Timed, chance: random.Random) -> Timed:
        """What a mirror makes of what passes its point."""
        frames = list(now)
        if point in self.copied_at and not self.sent_twice:
            again = ((t_ns + self.again_ns + chance.randrange(JITTER_NS), one) for t_ns, one in now)
            frames += [one for one in again if chance.random() < self.copied_share]
        return [one for one in frames if chance.random() >= self.dropped_share]


@dataclass(frozen=True)
class Truth:
    """Per segment and for the whole path: how long packets took, and the share that was lost."""

    took_ns: dict[tuple[int, int], float]
    lost: dict[tuple[int, int], float]


def captured(case: Doubled, folder: Path) -> tuple[list[str], Truth]:
    """Files of the points, and the truth of what arrives first of each packet."""
    chance = random.Random(1)  # noqa: S311 - no secret
    seen: list[Timed] = [[], [], []]
    truth = Truth({}, {})
    for now, order in zip(case.sent(chance), BOTH_WAYS, strict=True):
        passed = [now]
        for _ in order[1:]:
            passed.append(crossed(passed[-1], case.lost_share, chance))
        for point, here in zip(order, passed, strict=True):
            seen[point] += case.recorded(point, here, chance)
        for a, b in ((0, 1), (1, 2), (0, 2)):
            up, down = ({frame: t_ns for t_ns, frame in reversed(passed[at])} for at in (a, b))
            ends = (order[a], order[b])
            both = up.keys() & down.keys()
            if not case.sent_twice:
                truth.took_ns[ends] = sum(down[one] - up[one] for one in both) / len(both)
            truth.lost[ends] = 1 - len(passed[b]) / len(passed[a])
    files = [str(folder / f"p{point}.pcap") for point in range(3)]
    for file, frames in zip(files, seen, strict=True):
        write_pcap(folder / file, sorted(frames))
    return files, truth


def merged(case: Doubled, folder: Path) -> tuple[dict[tuple[int, int], Any], list[Any], Truth]:
    """Rows of segments by where a packet came from and went to, warnings, and the truth."""
    files, truth = captured(case, folder)
    with pcaplat.merge(files, same_clock=["all"], keep_rows=False) as result:
        document = result.document
    rows = {}
    for row in document["segments"]:
        if row["class"] == "packet":
            way = (int(row["near"][1:]), int(row["far"][1:]))
            rows[way if row["direction"] == "forward" else way[::-1]] = row
    assert rows.keys() == truth.lost.keys()
    return rows, document["warnings"], truth


@pytest.mark.one_in(5)
@pytest.mark.parametrize("copied_share", [1.0, 0.97])
@pytest.mark.parametrize("lost_share", [0.0, 0.02])
@pytest.mark.parametrize("is_numbered", [True, False])
@pytest.mark.parametrize("again_ns", [4_000, 20_000, 300_000])
def test_what_mirrors_copy_counts_once(
    again_ns: int, *, is_numbered: bool, lost_share: float, copied_share: float, tmp_path: Path
) -> None:
    case = Doubled(again_ns, is_numbered, lost_share, copied_share=copied_share)
    rows, warnings, truth = merged(case, tmp_path)
    for ends, row in rows.items():
        assert row["n"] + row["n_lost"] <= N / 2
        assert row["lost_lo_frac"] <= truth.lost[ends] <= row["lost_hi_frac"]
        assert abs(row["mean_ns"] - truth.took_ns[ends]) < 30
    assert {one["point"] for one in warnings if one["code"] == "mirror-duplicates"} == {
        "p0",
        "p1",
        "p2",
    }


@pytest.mark.parametrize("copied_at", [(0, 1, 2), (0,), (1,), (2,)])
@pytest.mark.parametrize("again_ns", [4_000, 20_000, 300_000])
def test_where_a_mirror_drops_the_first_of_two_no_latency_is_off_by_the_time_between(
    again_ns: int, copied_at: tuple[int, ...], tmp_path: Path
) -> None:
    case = Doubled(again_ns, is_numbered=False, dropped_share=0.02, copied_at=copied_at)
    rows, _, truth = merged(case, tmp_path)
    for ends, row in rows.items():
        assert abs(row["mean_ns"] - truth.took_ns[ends]) < 60
        assert row["max_ns"] < 15_000


@pytest.mark.parametrize("is_numbered", [True, False])
@pytest.mark.parametrize("again_ns", [4_000, 20_000, 300_000])
def test_of_what_is_sent_twice_losses_of_one_are_in_the_interval(
    again_ns: int, *, is_numbered: bool, tmp_path: Path
) -> None:
    """They may be copies of mirrors that miss some; latencies are right either way."""
    case = Doubled(again_ns, is_numbered, lost_share=0.02, sent_twice=True)
    rows, warnings, truth = merged(case, tmp_path)
    for ends, row in rows.items():
        assert row["lost_lo_frac"] <= truth.lost[ends] <= row["lost_hi_frac"]
        assert 3_000 < row["mean_ns"] / abs(ends[0] - ends[1]) < 4_000
        # where the first of two is lost, the second tells its latency
        assert row["n"] > 0.99 * N / 2
    assert "mirror-duplicates" in {one["code"] for one in warnings}
