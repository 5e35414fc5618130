"""TCP cut and joined on the way, against the truth: every wire segment, every lost byte."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl
import pytest

import pcaplat
from tests.recovery.simulate_offload import (
    JOINED,
    PIECE_BYTES,
    SENT,
    WIRE,
    Bulk,
    Recorded,
    neighbours,
    run,
)
from tests.support.frames import snap

if TYPE_CHECKING:
    from pathlib import Path

CASES = {
    "cut": Bulk((SENT, WIRE, WIRE)),
    "cut and joined": Bulk(),
    "joined on the wire": Bulk((WIRE, JOINED, JOINED)),
    "both joined, otherwise": Bulk((SENT, JOINED)),
    "wrap": Bulk(first_seq=2**32 - 40_000),
    "no length": Bulk(has_length=False),
    "loss": Bulk(lost_share=0.01, n_bursts=150),
    "loss, resent soon": Bulk(lost_share=0.01, n_bursts=150, resend_after_ns=1_500_000),
    "reordering": Bulk(held_share=0.02),
    "clocks apart": Bulk(offsets_ns=(0, 5_000_000_000, -3_000_000_000, 70_000)),
}


def found_pairs(result: pcaplat.Result) -> dict[tuple[int, int], dict[tuple[int, int], str]]:
    """Kinds of the rows of TCP, by points and frames."""
    columns = ("up_point", "down_point", "up_frame", "down_frame", "kind")
    rows = result.matches.filter(pl.col("direction") == "forward").select(columns).collect()
    found: dict[tuple[int, int], dict[tuple[int, int], str]] = {}
    for up, down, up_frame, down_frame, kind in rows.iter_rows():
        found.setdefault((int(up[1:]), int(down[1:])), {})[up_frame, down_frame] = kind
    return found


def merged(bulk: Bulk, folder: Path) -> tuple[Recorded, pcaplat.Result]:
    """Record, and merge with the path's order left to be found."""
    recorded = run(bulk)
    same = [] if bulk.offsets_ns else ["all"]
    return recorded, pcaplat.merge(recorded.save(folder), same_clock=same)


@pytest.mark.parametrize("name", CASES)
def test_every_wire_segment_is_found(name: str, tmp_path: Path) -> None:
    bulk = CASES[name]
    recorded, result = merged(bulk, tmp_path)
    found = found_pairs(result)
    n_kinds: Counter[str] = Counter()
    n_missed = n_possible = 0
    for up, down in neighbours(bulk):
        wanted, rows = recorded.pairs(up, down), found[up, down]
        tcp = {pair for pair in rows if recorded.captures[up][pair[0] - 1].pieces}
        assert tcp <= set(wanted), f"{len(tcp - set(wanted))} wrong at {up}"
        for pair, pieces in wanted.items():
            n_possible += len(pieces)
            n_missed += 0 if pair in rows else len(pieces)
            is_whole = recorded.is_whole(up, down, pair)
            assert pair not in rows or (rows[pair] == "packet") == is_whole
        n_kinds += Counter(rows[pair] for pair in tcp)
    assert n_missed <= 0.001 * n_possible
    assert n_kinds["first-byte"] > 30


@pytest.mark.parametrize("name", CASES)
def test_every_lost_byte_is_counted(name: str, tmp_path: Path) -> None:
    bulk = CASES[name]
    recorded, result = merged(bulk, tmp_path)
    rows = {
        (int(row["near"][1:]), int(row["far"][1:])): row
        for row in result.document["segments"]
        if row["direction"] == "forward" and row["class"] == "packet"
    }
    for near, far in neighbours(bulk):
        row = rows[near, far]
        wanted = (recorded.carried_bytes[near], recorded.lost_bytes[near])
        assert (row["matched_bytes"], row["lost_bytes"]) == wanted, (near, far)
    if len(bulk.points) > 2:
        row = rows[0, len(bulk.points) - 1]
        assert row["lost_bytes"] == sum(recorded.lost_bytes.values())
        assert row["matched_bytes"] == recorded.carried_bytes[len(bulk.points) - 2]


@pytest.mark.parametrize("name", ["reordering", "joined on the wire"])
def test_order_is_that_of_what_arrives(name: str, tmp_path: Path) -> None:
    bulk = replace(CASES[name], held_share=0.05)
    recorded, result = merged(bulk, tmp_path)
    last = len(bulk.points) - 1
    found = {
        (int(row["near"][1:]), int(row["far"][1:]), row["class"]): row["n_reordered"]
        for row in result.document["segments"]
        if row["direction"] == "forward"
    }
    wanted = {
        (up, down, kind): n
        for up, down in [*neighbours(bulk), (0, last)]
        for kind, n in n_overtaken(recorded, up, down).items()
    }
    assert sum(wanted.values()) > 10
    assert {key: found.get(key, 0) for key in wanted} == wanted


def n_overtaken(recorded: Recorded, up: int, down: int) -> Counter[str]:
    """By class, frames that arrived after bytes of their flow that were sent later."""
    rows = []
    for at_up, at_down in recorded.pairs(up, down):
        sent, arrived = recorded.captures[up][at_up - 1], recorded.captures[down][at_down - 1]
        (sent_lo, sent_hi), (lo, hi) = sent.span, arrived.span
        numbers = {piece.number for piece in sent.pieces}
        between = [
            {piece.number for piece in frame.pieces}
            for capture in recorded.captures[up + 1 : down]
            for frame in capture
        ]
        is_whole = sent.span == arrived.span
        is_whole &= all(numbers == other for other in between if numbers & other)
        cut = "first-byte" if sent_lo == lo else "last-byte" if sent_hi == hi else "overlap"
        kind = "packet" if is_whole else cut
        rows.append((sent.pieces[0].flow, kind, sent.t_ns, arrived.t_ns))
    found: Counter[str] = Counter({"packet": 0, "first-byte": 0, "last-byte": 0})
    for flow, kind, sent_ns, at_ns in rows:
        found[kind] += any(f == flow and s > sent_ns and a < at_ns for f, _, s, a in rows)
    del found["overlap"]
    return found


def test_a_resend_is_never_paired_with_the_first(tmp_path: Path) -> None:
    bulk = replace(CASES["loss, resent soon"], resend_after_ns=100_000, lost_share=0.05)
    recorded, result = merged(bulk, tmp_path)
    for (up, down), rows in found_pairs(result).items():
        if down - up == 1:
            tcp = {pair for pair in rows if recorded.captures[up][pair[0] - 1].pieces}
            assert tcp <= set(recorded.pairs(up, down))


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("points", [(SENT, WIRE, JOINED), (SENT, WIRE, WIRE, JOINED)])
def test_what_a_point_missed_is_on_the_whole_path_once(
    points: tuple[str, ...], seed: int, tmp_path: Path
) -> None:
    """Bytes go past the point that missed them, and over the whole path, which may be the same."""
    bulk = Bulk(points, missed_share=0.05, n_bursts=150, seed=seed)
    recorded, result = merged(bulk, tmp_path)
    last = len(points) - 1
    rows = {
        row["class"]: row
        for row in result.document["segments"]
        if row["direction"] == "forward" and {row["near"], row["far"]} == {"p0", f"p{last}"}
    }
    told = {(row["matched_bytes"], rows["first-byte"]["n"]) for row in rows.values()}
    wanted = recorded.pairs(0, last)
    # the first of all was sent before the others captured anything: where they missed a piece of
    # it, they may not have begun
    later = {pair: pieces for pair, pieces in wanted.items() if pair[0] > 1}
    assert told <= {bytes_and_starts(recorded, last, some) for some in (wanted, later)}
    assert len(told) == 1


def bytes_and_starts(
    recorded: Recorded, last: int, pairs: dict[tuple[int, int], set[int]]
) -> tuple[int, int]:
    """The bytes that frames of both ends share, and how many start with the same one."""
    starts = [
        recorded.captures[0][up - 1].span[0] == recorded.captures[last][down - 1].span[0]
        for up, down in pairs
    ]
    return PIECE_BYTES * sum(map(len, pairs.values())), sum(starts)


def test_what_a_point_missed_is_found_behind_it(tmp_path: Path) -> None:
    bulk = Bulk((SENT, WIRE, WIRE, WIRE), missed_share=0.2, n_bursts=100)
    recorded, result = merged(bulk, tmp_path)
    found = found_pairs(result)
    assert any(down - up == 2 for up, down in found)
    for (up, down), rows in found.items():
        tcp = {pair for pair in rows if recorded.captures[up][pair[0] - 1].pieces}
        assert tcp <= set(recorded.pairs(up, down))
    for row in result.document["segments"]:
        assert (row["n_lost"], row["lost_bytes"]) == (0, 0)
    status = result.packets.filter(pl.col("protocol") == 6).select("status").collect()
    assert set(status["status"]) == {"matched", "coalesced"}


@pytest.mark.parametrize("points", [(WIRE, WIRE, WIRE, JOINED), (WIRE, WIRE, WIRE, WIRE)])
@pytest.mark.parametrize("lost_share", [0.0, 0.03])
def test_what_is_lost_behind_a_short_capture_has_its_bytes(
    lost_share: float, points: tuple[str, ...], tmp_path: Path
) -> None:
    """12 bytes of TCP tell where its bytes start, and not how many there are."""
    recorded = run(Bulk(points, lost_share=lost_share, n_bursts=300))
    files = recorded.save(tmp_path)
    found = []
    for n_bytes in (65_535, 46):
        snap(tmp_path / "p1.pcap", n_bytes)
        with pcaplat.merge(files, same_clock=["all"], keep_rows=False) as result:
            rows = result.document["segments"]
        names = ("near", "far", "direction", "class", "n_lost", "lost_bytes", "matched_bytes")
        found.append([[row[name] for name in names] for row in rows])
    assert found[0] == found[1]


def test_the_whole_path_loses_packets_that_entered_whole_and_bytes_of_all(tmp_path: Path) -> None:
    """What was cut behind the sender and lost later is no packet among those left whole."""
    _, result = merged(Bulk((SENT, WIRE, WIRE, WIRE), lost_share=0.03, n_bursts=300), tmp_path)
    rows = {
        (row["near"], row["far"]): row
        for row in result.document["segments"]
        if row["direction"] == "forward" and row["class"] == "packet"
    }
    first, whole = rows["p0", "p1"], rows["p0", "p3"]
    assert whole["n"] + whole["n_lost"] == first["n"] + first["n_lost"]
    steps = [rows[ends] for ends in (("p0", "p1"), ("p1", "p2"), ("p2", "p3"))]
    assert whole["lost_bytes"] == pytest.approx(sum(one["lost_bytes"] for one in steps), rel=0.02)
    assert sum(one["n_lost"] for one in steps) > 5 * whole["n_lost"]
