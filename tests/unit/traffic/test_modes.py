"""Modes of netperf: requests under way at one time, their rate, and the check of both."""

from __future__ import annotations

import polars as pl
import pytest

from tests.support.turns import burst, frames_of, port_of, rows_of


@pytest.mark.parametrize("protocol", [6, 17])
@pytest.mark.parametrize("n_out", [1, 4, 16])
def test_requests_under_way_are_counted(n_out: int, protocol: int) -> None:
    turns, mean_ns = burst(n_out, 4_000)
    turns = turns[2:] if protocol == 17 else turns
    frames = frames_of(turns, protocol, pushed=True)
    (row,) = rows_of(frames)
    assert row["mode"] == ("TCP_RR" if protocol == 6 else "UDP_RR")
    assert (row["n_outstanding"], row["n_transactions"]) == (n_out, 4_000)
    assert (row["request_bytes"], row["response_bytes"]) == (64, 128)
    # 1/rate, as many times as there are requests under way, is what each of them took
    assert n_out / row["rate_tps"] * 1e9 == pytest.approx(mean_ns + 200, rel=0.01)
    assert row["mean_ns"] == pytest.approx(mean_ns, rel=0.01)
    assert row["check_frac"] == pytest.approx(0, abs=0.01)
    assert row["period_ns"] == row["mean_ns"] + row["gap_ns"]


@pytest.mark.parametrize("protocol", [6, 17])
@pytest.mark.parametrize(
    ("size", "n"),
    [(1, 150), pytest.param(1, 1500, marks=pytest.mark.slow), (13, 1500), (1000, 1500)],
)
def test_batches_of_any_size_change_nothing(size: int, n: int, protocol: int) -> None:
    turns, _ = burst(4, 4_000)
    turns = turns[2:] if protocol == 17 else turns
    frames = frames_of(turns, protocol, pushed=True)[:n]
    assert rows_of(frames, size) == rows_of(frames)


def test_joined_and_repeated_segments_change_no_count() -> None:
    turns, _ = burst(4, 1_000)
    frames = frames_of(turns, pushed=True)
    (row,) = rows_of(frames)
    # every tenth response is sent again after the next, and every twentieth request is joined to it
    again = frames.filter(pl.col("src_port") == 80)[5::10].with_columns(pl.col("at_ns") + 4_000)
    (other,) = rows_of(pl.concat([frames, again]).sort("at_ns"))
    assert other == row
    requests = frames.filter((pl.col("src_port") == 40_000) & (pl.col("payload_bytes") > 0))
    joined = requests[10::20].with_columns(payload_bytes=pl.lit(128, pl.Int64))
    halves = pl.concat([requests[10::20], requests[11::20]])
    rest = frames.join(halves.select("tcp_seq", "src_port"), ["tcp_seq", "src_port"], "anti")
    (other,) = rows_of(pl.concat([rest, joined]).sort("at_ns"))
    assert (other["n_outstanding"], other["n_transactions"]) in {(4, 1_000), (5, 1_000)}
    assert other["rate_tps"] == pytest.approx(row["rate_tps"], rel=1e-3)


def test_frames_that_a_capture_missed_show_in_the_check() -> None:
    turns, _ = burst(1, 1_000)
    frames = frames_of(turns)
    is_request = (pl.col("src_port") == 40_000) & (pl.col("payload_bytes") > 0)
    missed = frames.with_row_index().filter(is_request)["index"][50::20]
    (row,) = rows_of(frames[[at for at in range(len(frames)) if at not in set(missed)]])
    assert row["mode"] is None
    responses = frames.with_row_index().filter(pl.col("src_port") == 80)["index"][50::20]
    (row,) = rows_of(frames[[at for at in range(len(frames)) if at not in set(responses)]])
    assert row["n_transactions"] == 1_000
    assert abs(row["check_frac"]) > 0.03


def test_lost_datagrams_are_no_requests_under_way() -> None:
    turns, _ = burst(1, 1_000)
    frames = frames_of(turns[2:], 17)
    lost = frames.with_row_index().filter(pl.col("src_port") == 80)["index"][100:103]
    (row,) = rows_of(frames[[at for at in range(len(frames)) if at not in set(lost)]])
    assert (row["mode"], row["n_outstanding"], row["check_frac"]) == (None, None, None)


def test_connections_that_go_on_side_by_side_add_up() -> None:
    turns, _ = burst(4, 500)
    parts = [
        frames_of(turns, pushed=True).with_columns(port_of(number), at_ns=pl.col("at_ns") + number)
        for number in range(3)
    ]
    (row,) = rows_of(pl.concat(parts).sort("at_ns"))
    (alone,) = rows_of(parts[0])
    assert row["n_outstanding"] == 12
    assert row["rate_tps"] == pytest.approx(3 * alone["rate_tps"], rel=1e-3)
    assert row["check_frac"] == pytest.approx(alone["check_frac"], abs=1e-9)
    # and those that follow each other do not
    after = [part.with_columns(pl.col("at_ns") + 10**9 * at) for at, part in enumerate(parts)]
    (row,) = rows_of(pl.concat(after))
    assert row["n_outstanding"] == 4
    assert row["rate_tps"] == pytest.approx(alone["rate_tps"], rel=1e-3)


def test_openings_side_by_side_are_under_way_together() -> None:
    # four clients, each opens a connection as soon as its last one is over
    frames = []
    for number in range(400):
        t_ns = 1000 * (number // 4) + 250 * (number % 4)
        turns = [(t_ns, "c", 0, 0), (t_ns + 400, "c", 10, 1), (t_ns + 900, "s", 20, 1)]
        frames.append(frames_of(turns).with_columns(port_of(number)))
    (row,) = rows_of(pl.concat(frames).sort("at_ns"))
    assert (row["mode"], row["n_outstanding"]) == ("TCP_CRR", 4)
    assert row["rate_tps"] == pytest.approx(4e6, rel=1e-9)
    assert (row["mean_ns"], row["gap_ns"]) == (900, 100)
    assert row["check_frac"] == pytest.approx(0, abs=1e-9)


def test_what_was_open_before_is_of_no_mode() -> None:
    turns, _ = burst(4, 500)
    frames = frames_of(turns, pushed=True)
    (row,) = rows_of(frames, start_ns=100_000)
    assert (row["mode"], row["kind"]) == (None, "rr")
    # an opening just before the time that is counted is seen
    (row,) = rows_of(frames, start_ns=500)
    assert row["mode"] == "TCP_RR"


def test_messages_of_several_sizes_are_of_no_mode() -> None:
    turns, _ = burst(1, 500)
    mixed = [
        (t, who, n + 7 * (at % 3 == 0) * (n > 0), ack) for at, (t, who, n, ack) in enumerate(turns)
    ]
    (row,) = rows_of(frames_of(mixed))
    assert (row["kind"], row["mode"], row["n_transactions"]) == ("rr", None, 500)
