"""Two-way contributions of flows, tunnels and windows: against truth, under other clocks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import pcaplat
from pcaplat.tables.breakdowns import ROUND_TRIPS_BY
from tests.support.dialogues import ACK, START_NS, TCP, Dialogues, tcp

if TYPE_CHECKING:
    from pathlib import Path

PORTS = (40_000, 41_000)
SEGMENTS = {("a", "b"): (0, 1), ("b", "c"): (1, 2), ("a", "c"): (0, 2)}
WINDOW_NS = 100_000_000


def spoken(path: Dialogues) -> list[tuple[int, bool, list[int]]]:
    """Two flows, one of which takes longer there; port, forward or not, when points saw it."""
    found = []
    for number in range(1_500):
        for at, port in enumerate(PORTS):
            t_ns = START_NS + 400_000 * number + 150_000 * at
            path.extra_ns = 5_000 * at
            data = tcp((port, 80), 60 * number, 1, ACK, bytes([at]) * 60)
            sent = path.send(t_ns, TCP, data, forward=True)
            heard = tcp((80, port), 1, 60 * number + 60, ACK)
            back = path.send(sent[-1] + 3_000, TCP, heard, forward=False)
            found += [(port, True, sent), (port, False, back)]
    return found


def both_ways_ns(seen: list[tuple[int, bool, list[int]]], near: int, far: int) -> float:
    ways = [
        [abs(at[far] - at[near]) for _, way, at in seen if way == is_to] for is_to in (True, False)
    ]
    return sum(sum(way) / len(way) for way in ways)


def breakdowns(path: Dialogues, folder: Path) -> dict[str, Any]:
    by = ["flow", f"window={WINDOW_NS}ns", "tunnel", "size", "dscp", "first"]
    with pcaplat.merge(path.save(folder), path=["a", "b", "c"], by=by) as result:
        found: dict[str, Any] = result.document["breakdowns"]
        return found


@pytest.mark.parametrize("offsets_ns", [(0, 0, 0), (37_000_000_123, 0, -5_000_000)])
def test_shares_of_flows_and_windows_need_no_common_clock(
    tmp_path: Path, offsets_ns: tuple[int, ...]
) -> None:
    path = Dialogues(offsets_ns=offsets_ns)
    seen = spoken(path)
    found = breakdowns(path, tmp_path)
    rows = found["round_trips_by_flow"]
    assert len(rows) == len(PORTS) * len(SEGMENTS)
    n_held = 0
    for row in rows:
        mine = [one for one in seen if one[0] in {row["src_port"], row["dst_port"]}]
        true_ns = both_ways_ns(mine, *SEGMENTS[row["near"], row["far"]])
        assert row["mean_ns"] == pytest.approx(true_ns, abs=3)
        assert row["n"] in range(1_490, 1_501)
        # all packets are known: the interval is of those that might have been
        n_held += row["mean_lo_ns"] < row["mean_ns"] < row["mean_hi_ns"]
        assert row["mean_hi_ns"] - row["mean_lo_ns"] < 2_000
    assert n_held == len(rows)
    means = {(row["near"], row["src_port"]): row["mean_ns"] for row in rows}
    assert means["a", PORTS[1]] - means["a", PORTS[0]] == pytest.approx(5_000, abs=300)
    windows = found["round_trips_by_window"]
    assert {row["length_ns"] for row in windows} == {WINDOW_NS}
    for row in windows[1:4]:
        since = row["start_ns"] - windows[0]["start_ns"]
        mine = [one for one in seen if 0 <= one[2][0] - START_NS - since < WINDOW_NS]
        ends = SEGMENTS[row["near"], row["far"]]
        assert row["mean_ns"] == pytest.approx(both_ways_ns(mine, *ends), rel=0.02)


def test_only_what_both_ways_have_in_common_has_shares(tmp_path: Path) -> None:
    path = Dialogues()
    spoken(path)
    found = breakdowns(path, tmp_path)
    # there is no tunnel
    assert found["round_trips_by_tunnel"] == []
    names = {name for name in found if name.startswith("round_trips")}
    assert names == {table.name for table in ROUND_TRIPS_BY}
    for table in ROUND_TRIPS_BY:
        table.check(pl.DataFrame(found[table.name], schema=table.schema()))
