"""What was lost is sent again 1.5 ms later, equal to the byte, and points do not capture all."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

import pcaplat
from tests.support.frames import UDP, ip, udp, write_pcap
from tests.support.networks import tcp

START_NS, GAP_NS, AGAIN_NS = 1_760_000_000_000_000_000, 500_000, 1_500_000
N, LINK_NS, LOST_SHARE, MISSED_SHARE = 3_000, 20_000, 0.03, 0.1
Sighting = tuple[int, int, bytes]
"""When a point captured which packet, and its frame."""


def captured(seed: int) -> list[list[Sighting]]:
    """What each of three points captured; what was sent again is another packet."""
    chance = random.Random(seed)  # noqa: S311 - no secret
    points: list[list[Sighting]] = [[], [], []]
    number = 0
    for at in range(N):
        payload = udp((5_000, 5_001), chance.randbytes(40))
        frame = ip("10.1.0.1", "10.2.0.1", UDP, 0, 64, payload)
        t_ns, has_arrived = START_NS + at * GAP_NS, False
        while not has_arrived:
            number, passed_ns, has_arrived = number + 1, t_ns, True
            for point in points:
                if chance.random() >= MISSED_SHARE:
                    point.append((passed_ns, number, frame))
                passed_ns += LINK_NS + int(chance.expovariate(1 / 3_000))
                if point is not points[-1] and chance.random() < LOST_SHARE:
                    has_arrived = False
                    break
            t_ns += AGAIN_NS + chance.randrange(AGAIN_NS // 10)
    return [sorted(point) for point in points]


def assert_right(points: list[list[Sighting]], folder: Path) -> None:
    """No packet is paired with the one that was sent again."""
    files = [folder / f"p{number}.pcap" for number in range(len(points))]
    for file, point in zip(files, points, strict=True):
        write_pcap(file, [(t_ns, frame) for t_ns, _, frame in point])
    with pcaplat.merge([str(file) for file in files], same_clock=["all"]) as result:
        ends = [f"{side}_{what}" for side in ("up", "down") for what in ("point", "frame")]
        rows = result.matches.select(ends).collect().rows()
    wrong = [
        (up, up_frame, down, down_frame)
        for up, up_frame, down, down_frame in rows
        if points[int(up[1:])][up_frame - 1][1] != points[int(down[1:])][down_frame - 1][1]
    ]
    assert len(rows) > 1.5 * N
    assert wrong == []


@pytest.mark.parametrize("seed", range(4))
def test_what_was_lost_and_what_was_sent_again_are_two(seed: int, tmp_path: Path) -> None:
    assert_right(captured(seed), tmp_path)


@pytest.mark.parametrize("seed", range(3))
def test_another_segment_that_takes_as_long_as_sending_again_changes_nothing(
    seed: int, tmp_path: Path
) -> None:
    """Behind a segment of 20 µs, one whose packets are late by up to 14 ms: a queue, or a radio."""
    chance = random.Random(seed)  # noqa: S311 - no secret
    points: list[list[Sighting]] = [[], [], []]
    number = 0
    for at in range(N):
        frame = ip("10.1.0.1", "10.2.0.1", UDP, 0, 64, udp((5_000, 5_001), chance.randbytes(40)))
        t_ns, has_arrived = START_NS + at * 10_000_000, False
        while not has_arrived:
            number, has_arrived = number + 1, chance.random() >= LOST_SHARE
            if chance.random() >= MISSED_SHARE:
                points[0].append((t_ns, number, frame))
            if has_arrived:
                passed_ns = t_ns + LINK_NS + int(chance.expovariate(1 / 3_000))
                points[1].append((passed_ns, number, frame))
                points[2].append((passed_ns + chance.randrange(14_000_000), number, frame))
            t_ns += 200_000_000 + chance.randrange(1_000_000)
    assert_right([sorted(point) for point in points], tmp_path)


@pytest.mark.parametrize("again_ns", [300_000, 1_500_000])
@pytest.mark.parametrize("seed", range(2))
def test_bytes_of_cut_segments_that_are_sent_again_at_once_are_lost_or_may_be(
    seed: int, again_ns: int, tmp_path: Path
) -> None:
    """The sender's capture holds segments of 40 frames, of which one may be lost and sent again."""
    chance = random.Random(seed)  # noqa: S311 - no secret
    ends, ports, size = ("10.1.0.1", "10.2.0.1"), (5_000, 80), 1_000
    sender: list[tuple[int, bytes]] = []
    receiver: list[tuple[int, bytes]] = []
    n_lost, n_waited, seq = 0, 0, 1
    for burst in range(200):
        t_ns, left = START_NS + burst * 4_000_000, list(range(40))
        contents = [chance.randbytes(size) for _ in left]
        while left:
            first, n = left[0], len(left) if len(left) == 1 + left[-1] - left[0] else 1
            data, n_sent = b"".join(contents[first : first + n]), len(sender) + 1
            sender.append((t_ns, tcp(ends, ports, seq + first * size, n_sent, data)))
            arrived = [at for at in left[:n] if chance.random() >= LOST_SHARE]
            for at in arrived:
                at_ns = t_ns + 200_000 + 3_000 * (at - first) + int(chance.expovariate(1 / 9_000))
                frame = tcp(ends, ports, seq + at * size, n_sent, contents[at])
                receiver.append((at_ns, frame))
            n_lost += n - len(arrived)
            n_waited += (n - len(arrived)) * (burst < 198)
            left = [at for at in left if at not in arrived]
            t_ns += again_ns
        seq += 40 * size
    files = [str(tmp_path / name) for name in ("sender.pcap", "receiver.pcap")]
    for file, frames in zip(files, (sender, receiver), strict=True):
        write_pcap(Path(file), sorted(frames))
    with pcaplat.merge(files, same_clock=["all"], keep_rows=False) as result:
        row = next(row for row in result.document["segments"] if row["matched_bytes"])
    lost = row["lost_bytes"]
    most = lost + row["maybe_lost_bytes"] + size * (row["n_maybe_lost"] or 0)
    assert lost <= n_lost * size
    assert n_waited * size <= most <= 1.1 * n_lost * size
