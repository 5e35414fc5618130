"""Round trips by TCP timestamps: against truth, under other clocks, and a second reading."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import pcaplat
from tests.captures.lab_merge import captures_of
from tests.support.dialogues import ACK, START_NS, TCP, Dialogues
from tests.support.oracle_decode import read_frames
from tests.support.shelf import lab_set

if TYPE_CHECKING:
    from pathlib import Path

NEEDS_LAB = pytest.mark.skipif(not lab_set("l2").exists(), reason="the lab captures are not here")
TICK_NS = 1_000_000
FIRST = 2**32 - 40
"""Timestamps of the client, which come to 0 again soon."""

Seen = tuple[bool, list[int], int, int, int]
"""Forward or not, when each point saw it, timestamp, what it echoes; its first byte, 0: none."""


@dataclass
class Stream:
    """A client that sends, and a server that acknowledges, over a path that loses packets."""

    path: Dialogues
    seen: list[Seen] = field(default_factory=list)
    n_again: int = 0

    def send(self, t_ns: int, seq: int, stamps: tuple[int, int], *, is_lost: bool = False) -> int:
        """Send a segment to the server; gives when it arrives, 0 where it is lost on the way."""
        at = self.path.send(
            t_ns, TCP, _segment((9, 80), seq, 1, stamps, bytes(60)), forward=True,
            lost_after=1 if is_lost else 99,
        )  # fmt: skip
        self.seen.append((True, at, *stamps, seq))
        return at[-1]

    def acknowledge(self, t_ns: int, ack: int, stamps: tuple[int, int]) -> int:
        """Acknowledge to the client; gives when it hears."""
        at = self.path.send(t_ns, TCP, _segment((80, 9), 1, ack, stamps), forward=False)
        self.seen.append((False, at, *stamps, 0))
        return at[0]


def _segment(
    ports: tuple[int, int], seq: int, ack: int, stamps: tuple[int, int], data: bytes = b""
) -> bytes:
    numbers = (seq % 2**32, ack % 2**32)
    header = struct.pack(">HHIIBBHHH", *ports, *numbers, 0x80, ACK, 500, 0, 0)
    return header + struct.pack(">BBBBII", 1, 1, 8, 10, *stamps) + data


def spoken(path: Dialogues, n: int = 400) -> Stream:
    """Of every seven segments one is lost and sent again: soon, or ticks later."""
    stream, t_ns, heard = Stream(path), START_NS, 77
    for number in range(n):
        seq, is_lost = 1 + 60 * number, number % 7 == 3
        # now and then several within one tick
        t_ns += 300_000 if number % 5 else 2_300_000
        shown = (FIRST + (t_ns - START_NS) // TICK_NS) % 2**32
        came_ns = stream.send(t_ns, seq, (shown, heard), is_lost=is_lost)
        if is_lost:
            later_ns = t_ns + (80_000, 5_000_000)[stream.n_again % 2]
            stream.n_again += 1
            shown = (FIRST + (later_ns - START_NS) // TICK_NS) % 2**32
            came_ns = stream.send(later_ns, seq, (shown, heard))
            t_ns = later_ns
        there = (5_000 + (came_ns - START_NS) // TICK_NS) % 2**32
        heard_ns = stream.acknowledge(came_ns + 4_000, seq + 60, (there, shown))
        t_ns, heard = max(t_ns, heard_ns), there
    return stream


def expected(seen: list[Seen]) -> dict[tuple[int, int], np.ndarray]:
    """Two-way contributions, by first values and their first echoes; of those sent again none."""
    shown: dict[tuple[bool, int], list[Seen]] = {}
    echoes: dict[tuple[bool, int], list[Seen]] = {}
    for one in sorted(seen, key=lambda one: max(one[1])):
        shown.setdefault((one[0], one[2]), []).append(one)
        echoes.setdefault((not one[0], one[3]), []).append(one)
    found: dict[tuple[int, int], list[int]] = {(0, 1): [], (1, 2): [], (0, 2): []}
    for (forward, value), asked in shown.items():
        got = echoes.get((forward, value))
        is_again = len({one[-1] for one in asked if one[-1]}) < sum(one[-1] > 0 for one in asked)
        if not asked[0][-1] or got is None or is_again:
            continue
        for (near, far), values in found.items():
            stamps = [one[1][at] for one in (asked[0], got[0]) for at in (near, far)]
            if all(stamps):
                values.append(abs(stamps[1] - stamps[0]) + abs(stamps[3] - stamps[2]))
    return {ends: np.array(values) for ends, values in found.items()}


def rows_of(path: Dialogues, folder: Path) -> dict[tuple[int, int], dict[str, Any]]:
    options: dict[str, Any] = {"path": list(path.names), "keep_rows": False}
    with pcaplat.merge(path.save(folder), **options) as result:
        rows = result.document["round_trips_by_kind"]
    place = {name: at for at, name in enumerate(path.names)}
    return {
        (place[row["near"]], place[row["far"]]): row
        for row in rows
        if row["kind"] == "tcp-timestamp"
    }


@pytest.mark.parametrize("offsets_ns", [(0, 0, 0), (37_000_000_123, 0, -5_000_000)])
def test_values_meet_their_first_echoes_and_nothing_sent_again_does(
    tmp_path: Path, offsets_ns: tuple[int, ...]
) -> None:
    path = Dialogues(offsets_ns=offsets_ns)
    true = expected(spoken(path).seen)
    rows = rows_of(path, tmp_path)
    assert set(rows) == set(true)
    for ends, row in rows.items():
        values = true[ends]
        assert row["n"] == len(values) > 150
        assert row["mean_ns"] == pytest.approx(values.mean(), abs=1)
        for name, share in (("p50_ns", 0.5), ("p99_ns", 0.99)):
            quantile = np.quantile(values, share, method="inverted_cdf")
            assert row[name] == pytest.approx(quantile, rel=2**-11, abs=1)


@NEEDS_LAB
@pytest.mark.parametrize("name", ["l2", "vxlan-dfw100"])
def test_the_lab_s_timestamps_are_paired_as_a_second_reading_pairs_them(name: str) -> None:
    files = captures_of(lab_set(name))
    with pcaplat.merge(list(files.values()), same_clock=["all"], keep_rows=False) as result:
        document = result.document
    rows = [row for row in document["transaction_times"] if row["kind"] == "tcp-timestamp"]
    assert not [one for one in document["transactions_left_out"] if one["kind"] == "tcp-timestamp"]
    near = document["path"][0]
    # packets of it are of other kinds too, so that it counts apart
    for of in document["round_trips"]:
        kinds = [
            row
            for row in document["round_trips_by_kind"]
            if (row["near"], row["far"]) == (of["near"], of["far"])
        ]
        assert of["n_paired"] == sum(r["n"] for r in kinds if r["kind"] != "tcp-timestamp") > 0
    waits = waits_of(files[near])
    here = [row for row in rows if row["point"] == near]
    # the last packets may be beyond what other points have
    assert sum(row["n"] for row in here) in range(len(waits) - 3, len(waits) + 1)
    mean_ns = sum(row["n"] * row["mean_ns"] for row in here) / sum(row["n"] for row in here)
    assert mean_ns == pytest.approx(np.mean(waits), rel=0.01)


def waits_of(file: Path) -> list[int]:
    """Times from the first packet that shows a value to the first that echoes it, at one point."""
    shown: dict[tuple[Any, ...], tuple[int, bool]] = {}
    echoes: dict[tuple[Any, ...], int] = {}
    segments = []
    for frame in read_frames(file):
        packet = frame.data[14:]
        if frame.data[12:14] != b"\x08\x00" or packet[9] != TCP:
            continue
        total, segment = int.from_bytes(packet[2:4]), packet[4 * (packet[0] & 15) :]
        n_header = 4 * (segment[12] >> 4)
        ends = packet[12:16] + segment[:2], packet[16:20] + segment[2:4]
        asks = total - 4 * (packet[0] & 15) > n_header or segment[13] & 2 > 0
        segments.append((frame.t_ns, ends, asks, segment[20:n_header]))
    for t_ns, (src, dst), asks, options in sorted(segments, key=lambda one: one[0]):
        at = options.find(b"\x08\x0a")
        if at < 0:
            continue
        value, echo = struct.unpack_from(">II", options, at + 2)
        shown.setdefault((src, dst, value), (t_ns, asks))
        echoes.setdefault((dst, src, echo), t_ns)
    return [
        echoes[key] - t_ns
        for key, (t_ns, asks) in shown.items()
        if asks and 0 <= echoes.get(key, -1) - t_ns <= 2_000_000_000
    ]
