"""Transactions: against the lab's own log, and by hand."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest

from pcaplat.run.merge import merge
from tests.captures.lab_merge import captures_of
from tests.support.shelf import lab_set
from tests.support.turns import frames_of, port_of, rows_of

if TYPE_CHECKING:
    from pcaplat.tables.columns import Row

NEEDS_LAB = pytest.mark.skipif(not lab_set("l2").exists(), reason="the lab captures are not here")
ALL_SETS = (
    *("l2", "vxlan", "ipv6", "vxlan-delay200", "vxlan-dfw100", "vxlan-loss-dup"),
    *("vxlan-routed", "vxlan-snap96", "vxlan-tso", "vxlan-tso-gro"),
)


def has_log(name: str, kind: str) -> bool:
    return (lab_set(name) / f"transactions-{kind}.csv").exists()


def logged(name: str, kind: str) -> tuple[np.ndarray, np.ndarray]:
    """When the client began and had finished each transaction."""
    log = lab_set(name) / f"transactions-{kind}.csv"
    if not log.exists():
        pytest.skip("the lab did not run them")
    with log.open() as lines:
        rows = [(int(row["start_ns"]), int(row["end_ns"])) for row in csv.DictReader(lines)]
    starts, ends = np.array(rows).T
    return starts, ends


def transactions_of(name: str, kind: str, first_ns: int) -> Row:
    """What is counted at the client's port from one moment on."""
    since = f"{first_ns // 10**9}.{first_ns % 10**9:09d}"
    files = list(captures_of(lab_set(name)).values())
    only = "udp" if kind == "udp" else "tcp"
    with merge(files, same_clock=["all"], start=since, bpf=only) as result:
        near = result.document["path"][0]
        rows = [row for row in result.traffic_rows["transactions"] if row["point"] == near]
    (row,) = (one for one in rows if one["kind"] == ("crr" if kind == "crr" else "rr"))
    return row


MODES = {"rr": "TCP_RR", "crr": "TCP_CRR", "udp": "UDP_RR"}


@NEEDS_LAB
@pytest.mark.parametrize("name", ALL_SETS)
def test_modes_of_the_lab_are_recognised_and_check(name: str) -> None:
    files = list(captures_of(lab_set(name)).values())
    with merge(files, same_clock=["all"]) as result:
        near, far = result.document["path"][0], result.document["path"][-1]
        rows = [row for row in result.traffic_rows["transactions"] if row["mode"]]
    for point in (near, far):
        modes = {row["mode"]: row for row in rows if row["point"] == point}
        logged_kinds = {kind for kind in MODES if has_log(name, kind)}
        if name in {"vxlan-loss-dup", "ipv6"}:
            # lost datagrams; and in IPv6 with one payload none can be told from another
            logged_kinds -= {"udp"}
        assert {MODES[kind] for kind in logged_kinds} <= set(modes)
        for kind in logged_kinds:
            row = modes[MODES[kind]]
            assert row["n_outstanding"] == 1
            assert row["n_transactions"] == pytest.approx(len(logged(name, kind)[0]), abs=2)
            assert row["check_frac"] == pytest.approx(0, abs=1e-3)
            cycle_ns = row["n_outstanding"] / row["rate_tps"] * 1e9
            assert row["mean_ns"] + row["gap_ns"] == pytest.approx(cycle_ns, rel=1e-3)


@NEEDS_LAB
@pytest.mark.parametrize("kind", ["rr", "crr", "udp"])
@pytest.mark.parametrize("name", ALL_SETS)
def test_transactions_are_those_the_client_logged(name: str, kind: str) -> None:
    if (name, kind) == ("ipv6", "udp"):
        pytest.skip("without IP ID and with one payload, no packet of it can be told from another")
    if (name, kind) == ("vxlan-loss-dup", "udp"):
        pytest.skip("a lost datagram makes two requests one: docs/measure/traffic.md")
    starts, ends = logged(name, kind)
    # the first holds what the programs did once: connecting, warming up
    row = transactions_of(name, kind, int(starts[1]) - 1_000)
    assert row["n_transactions"] in {len(starts) - 1, len(starts) - 2}
    period_ns = (starts[-1] - starts[1]) / (len(starts) - 2)
    assert 1e9 / row["rate_tps"] == pytest.approx(period_ns, rel=0.01)
    assert 1e9 / row["rate_tps"] == pytest.approx(row["period_ns"], rel=1e-9)
    assert row["mean_ns"] + row["gap_ns"] == pytest.approx(row["period_ns"], rel=1e-12)
    # the client's own figures add up likewise; its stack is in its transactions, here in the gap
    lasted_ns, between_ns = (ends - starts)[1:-1].mean(), (starts[2:] - ends[1:-1]).mean()
    assert lasted_ns + between_ns == pytest.approx(period_ns, rel=1e-9)
    assert row["mean_ns"] < lasted_ns
    assert row["gap_ns"] > between_ns


@pytest.mark.parametrize("size", [pytest.param(1, marks=pytest.mark.slow), 3, 7, 1000])
def test_transactions_are_the_same_however_frames_are_cut_into_batches(size: int) -> None:
    turns = [(0, "c", 0, 0), (5, "s", 0, 1)]
    for number in range(150):
        t_ns = 100 + 1000 * number
        # a request in two frames, an acknowledgement, and a response in two
        turns += [(t_ns, "c", 10, 1), (t_ns + 1, "c", 20, 1), (t_ns + 2, "s", 0, 1)]
        turns += [(t_ns + 300, "s", 100, 1), (t_ns + 400, "s", 50, 1)]
    (row,) = rows_of(frames_of(turns), size)
    assert (row["mode"], row["n_outstanding"], row["check_frac"]) == ("TCP_RR", 1, 0)
    assert (row["client"], row["server_port"], row["kind"]) == ("10.0.0.2", 80, "rr")
    assert (row["n_connections"], row["n_transactions"]) == (1, 150)
    assert (row["request_bytes"], row["response_bytes"]) == (30, 150)
    assert row["rate_tps"] == pytest.approx(1e6)
    assert row["mean_ns"] == pytest.approx(400)
    assert row["period_ns"] == pytest.approx(1000)
    assert row["gap_ns"] == pytest.approx(600)


def test_connections_of_one_transaction_count_connecting() -> None:
    # SYN to the response's last frame 700, then 300 until the next SYN
    frames = []
    for number in range(5):
        t_ns = 1000 * number
        turns = [(t_ns, "c", 0, 0), (t_ns + 400, "c", 10, 1), (t_ns + 700, "s", 20, 1)]
        frames.append(frames_of(turns).with_columns(port_of(number)))
    (row,) = rows_of(pl.concat(frames))
    assert (row["kind"], row["n_transactions"]) == ("crr", 5)
    assert (row["mode"], row["n_outstanding"], row["check_frac"]) == ("TCP_CRR", 1, 0)
    assert (row["mean_ns"], row["gap_ns"], row["period_ns"]) == (700, 300, 1000)
    assert row["rate_tps"] == pytest.approx(1e6)
