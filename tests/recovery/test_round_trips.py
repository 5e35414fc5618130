"""Round trips of requests and responses: against truth, under other clocks, and the lab's log."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import pcaplat
from tests.support.dialogues import (
    ACK,
    ICMP,
    PSH,
    START_NS,
    SYN,
    TCP,
    UDP,
    Dialogues,
    Trip,
    dns,
    echo,
    shares_ns,
    tcp,
    tcp_turns,
    udp,
    waits_ns,
)

if TYPE_CHECKING:
    from pathlib import Path

Document = dict[str, Any]
SEGMENTS = {("a", "b"): (0, 1), ("b", "c"): (1, 2), ("a", "c"): (0, 2)}
BIN = 2.0**-11
CLOCKS = (37_000_000_123, 0, -5_000_000)
DRIFTS = (0.0, 30.0, -12.0)


def merged(path: Dialogues, folder: Path, **options: Any) -> Document:  # noqa: ANN401 - merge's
    options = dict[str, Any](path=list(path.names), keep_rows=False) | options
    with pcaplat.merge(path.save(folder), **options) as result:
        return result.document


def every_kind(path: Dialogues) -> dict[str, list[Trip]]:
    """One of everything that is paired, many times; other packets in between."""
    chance, t_ns = path.chance, START_NS
    found: dict[str, list[Trip]] = {"tcp-transaction": tcp_turns(path, 150, t_ns)}
    for kind in ("tcp-handshake", "tcp-ack", "icmp-echo", "dns", "udp-transaction"):
        found[kind] = []
    for i in range(150):
        t_ns = START_NS + 200_000 * i

        def both(
            protocol: int, there: bytes, back: bytes, *, forward: bool = True, t_ns: int = t_ns
        ) -> Trip:
            asked = path.send(t_ns, protocol, there, forward=forward)
            later_ns = max(asked) + 5_000 + int(chance.exponential(20_000))
            return asked, path.send(later_ns, protocol, back, forward=not forward)

        ports = (20_000 + i, 443)
        syn, accepted = tcp(ports, 7 * i, 0, SYN), tcp(ports[::-1], 5, 7 * i + 1, SYN | ACK)
        found["tcp-handshake"].append(both(TCP, syn, accepted))
        # a stream from the server, acknowledged by the client
        ports = (22, 30_000)
        data, heard = tcp(ports, 90 * i, 1, ACK, bytes(90)), tcp(ports[::-1], 1, 90 * i + 90, ACK)
        found["tcp-ack"].append(both(TCP, data, heard, forward=False))
        found["icmp-echo"].append(both(ICMP, echo(8, i), echo(0, i)))
        ports = (5_000 + i % 3, 53)
        asked = udp(ports, dns(i, is_response=False)), udp(ports[::-1], dns(i, is_response=True))
        found["dns"].append(both(UDP, *asked))
        ports = (60_000, 7_000)
        turn = udp(ports, b"q" + i.to_bytes(4)), udp(ports[::-1], b"r" + i.to_bytes(4))
        found["udp-transaction"].append(both(UDP, *turn))
    return found


def rows_of(document: Document) -> dict[tuple[str, tuple[str, str]], Document]:
    rows = document["round_trips_by_kind"]
    return {(row["kind"], (row["near"], row["far"])): row for row in rows}


@pytest.fixture(scope="module")
def spoken(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, list[Trip]], Document]:
    path = Dialogues()
    true = every_kind(path)
    return true, merged(path, tmp_path_factory.mktemp("spoken"), same_clock=["all"])


def check_shares(document: Document, true: dict[str, list[Trip]], off_ns: float) -> None:
    rows = rows_of(document)
    assert {kind for kind, _ in rows} == set(true)
    for (kind, ends), row in rows.items():
        values = shares_ns(true[kind], *SEGMENTS[ends])
        assert row["n"] == len(values)
        assert row["mean_ns"] == pytest.approx(values.mean(), abs=off_ns)
        for name, share in (("p50", 0.5), ("p90", 0.9), ("p99", 0.99)):
            expected = np.quantile(values, share, method="inverted_cdf")
            assert row[f"{name}_ns"] == pytest.approx(expected, rel=BIN, abs=off_ns)


def test_every_kind_is_paired_and_exact_on_one_clock(
    spoken: tuple[dict[str, list[Trip]], Document],
) -> None:
    true, document = spoken
    check_shares(document, true, 1e-6)
    assert document["transactions_left_out"] == []
    places = {"a": 0, "c": 2}
    for row in document["transaction_times"]:
        values = waits_ns(true[row["kind"]], places[row["point"]])
        assert row["n"] == len(values)
        assert row["mean_ns"] == pytest.approx(values.mean(), abs=1e-6)
        is_reverse = row["kind"] == "tcp-ack"
        assert row["requests"] == ("reverse" if is_reverse else "forward")
        assert row["side"] == ("client" if (row["point"] == "a") != is_reverse else "server")


def test_round_trips_are_over_the_pairs_of_all_kinds(
    spoken: tuple[dict[str, list[Trip]], Document],
) -> None:
    true, document = spoken
    for row in document["round_trips"]:
        ends = SEGMENTS[row["near"], row["far"]]
        values = np.concatenate([shares_ns(trips, *ends) for trips in true.values()])
        assert row["n_paired"] == len(values)
        assert row["paired_mean_ns"] == pytest.approx(values.mean(), abs=1e-6)
        expected = np.quantile(values, 0.9, method="inverted_cdf")
        assert row["p90_ns"] == pytest.approx(expected, rel=BIN)
        # the mean of all packets, which needs no pairs, is that of a share too
        assert row["mean_ns"] == pytest.approx(values.mean(), rel=0.05)


def test_the_segments_and_what_is_beyond_make_what_the_client_saw(
    spoken: tuple[dict[str, list[Trip]], Document],
) -> None:
    _, document = spoken
    check = document["transaction_check"]
    assert (check["client"], check["server"], check["requests"]) == ("a", "c", "forward")
    assert check["seen_ns"] == pytest.approx(check["segments_ns"] + check["beyond_ns"], abs=1e-6)
    assert check["beyond_ns"] > 5_000


def test_the_sum_is_checked_where_all_requests_go_one_way(tmp_path: Path) -> None:
    path = Dialogues()
    for i in range(120):
        for forward in (True, False):
            t_ns = START_NS + 400_000 * i + (0 if forward else 200_000)
            number = 2 * i + forward
            asked = path.send(t_ns, ICMP, echo(8, number), forward=forward)
            # beyond the far end it takes far longer than beyond the near one
            later_ns = max(asked) + (90_000 if forward else 5_000)
            path.send(later_ns, ICMP, echo(0, number), forward=not forward)
    assert merged(path, tmp_path, same_clock=["all"])["transaction_check"] is None
    for i in range(20):
        query = udp((5_000, 53), dns(i, is_response=False))
        asked = path.send(START_NS + 900_000 * i, UDP, query, forward=True)
        answer = udp((53, 5_000), dns(i, is_response=True))
        path.send(max(asked) + 30_000, UDP, answer, forward=False)
    check = merged(path, tmp_path, same_clock=["all"])["transaction_check"]
    assert (check["kind"], check["n"]) == ("dns", 20)
    assert check["difference_ns"] == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_clocks_cancel(seed: int, tmp_path: Path) -> None:
    path = Dialogues(seed=seed, offsets_ns=CLOCKS, drifts_ppm=DRIFTS)
    true = every_kind(path)
    document = merged(path, tmp_path)
    # drift is known to so much of the time from request to response
    check_shares(document, true, 20.0)
    assert document["transaction_check"]["difference_ns"] == pytest.approx(0, abs=20.0)


def test_a_shift_of_any_clock_changes_nothing(tmp_path: Path) -> None:
    documents = []
    for number, offsets_ns in enumerate(((0, 0, 0), (0, 123_456_789, 0), (-7, 36 * 10**9 + 1, 3))):
        path = Dialogues(offsets_ns=offsets_ns)
        every_kind(path)
        folder = tmp_path / str(number)
        folder.mkdir()
        documents.append(merged(path, folder))
    first, *others = documents
    for other in others:
        for name in ("round_trips_by_kind", "transaction_times"):
            for row, same in zip(first[name], other[name], strict=True):
                for column, value in row.items():
                    near = pytest.approx(value, abs=1) if isinstance(value, float) else value
                    assert same[column] == near, (name, column)


def resent_turns(path: Dialogues, n: int) -> list[Trip]:
    """Transactions of which three in ten are sent again; gives the others."""
    there, back = (40_000, 80), (80, 40_000)
    found, t_ns, again_ns = [], START_NS, 210_000_000
    for i in range(n):
        seq, ack = 1_000 + 10 * i, 5_000 + 20 * i
        request = tcp(there, seq, ack, ACK | PSH, b"?" * 10)
        response = tcp(back, ack, seq + 10, ACK | PSH, b"!" * 20)
        if i % 10 in {3, 6}:  # the request is lost beyond the last point, or on the path
            path.send(t_ns, TCP, request, forward=True, lost_after=2 if i % 10 == 3 else 1)
            t_ns += again_ns
        asked = path.send(t_ns, TCP, request, forward=True)
        t_ns = asked[-1] + 30_000
        answered = path.send(t_ns, TCP, response, forward=False)
        if i % 10 == 9:  # the response is lost before it reaches the client
            answered = path.send(t_ns + again_ns, TCP, response, forward=False)
        found += [] if i % 10 in {3, 6, 9} else [(asked, answered)]
        t_ns = answered[0] + 30_000
    return found


def test_what_was_sent_again_is_left_out_and_counted(tmp_path: Path) -> None:
    path = Dialogues()
    expected = resent_turns(path, 300)
    document = merged(path, tmp_path, same_clock=["all"])
    left_out = {row["kind"]: row["n"] for row in document["transactions_left_out"]}
    assert left_out == {"tcp-transaction": 300 - len(expected)}
    rows = rows_of(document)
    assert {kind for kind, _ in rows} == {"tcp-transaction"}
    for (_, ends), row in rows.items():
        assert row["n"] == len(expected)
        mean_ns = shares_ns(expected, *SEGMENTS[ends]).mean()
        assert row["mean_ns"] == pytest.approx(mean_ns, abs=1e-6)


def test_no_intervals_where_none_were_asked_for(tmp_path: Path) -> None:
    path = Dialogues()
    tcp_turns(path, 50, START_NS)
    document = merged(path, tmp_path, same_clock=["all"], intervals=False)
    for row in (*document["round_trips_by_kind"], *document["transaction_times"]):
        assert row["p50_ns"] is not None
        assert row["p50_lo_ns"] is None
        assert row["interval_reason"] == "not asked for: --no-intervals"


def test_pairs_of_a_moment_have_no_interval(tmp_path: Path) -> None:
    """All in one block of time: what varies from block to block cannot be told."""
    path = Dialogues()
    tcp_turns(path, 100, START_NS)
    path.send(START_NS + 60 * 10**9, ICMP, echo(8, 1), forward=True)
    document = merged(path, tmp_path, same_clock=["all"])
    for row in document["round_trips_by_kind"]:
        assert row["mean_lo_ns"] is None
        assert row["interval_reason"].startswith("too few packets")


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_an_effect_shows_through_coarse_stamps(seed: int, tmp_path: Path) -> None:
    means = []
    for extra_ns in (0, 14_500):
        path = Dialogues(
            ("a", "b"), (0, 1_230_000_000), (0.0, 50.0), 1_000, seed=seed, extra_ns=extra_ns
        )
        trips = tcp_turns(path, 10_000, START_NS)
        folder = tmp_path / str(extra_ns)
        folder.mkdir()
        (row,) = merged(path, folder)["round_trips"]
        assert row["n_paired"] == len(trips)
        assert row["paired_mean_ns"] == pytest.approx(shares_ns(trips, 0, 1).mean(), abs=50)
        means.append(row["paired_mean_ns"])
    assert means[1] - means[0] == pytest.approx(14_500, abs=100)


def test_first_packets_of_flows_stand_apart(tmp_path: Path) -> None:
    path = Dialogues()
    every_kind(path)
    document = merged(path, tmp_path, same_clock=["all"], by=["first"])
    rows = document["breakdowns"]["by_first"]
    n = {(row["near"], row["direction"], row["key"]): row["n"] for row in rows}
    # 150 connections opened, 3 pairs of ports of DNS, one of other datagrams, and one of echoes
    for near in ("a", "b"):
        for way in ("forward", "reverse"):
            assert n[near, way, "first of its flow"] == 155
            assert n[near, way, "later"] > 400
    assert set(n) == {(a, w, k) for a, w, _ in n for k in ("first of its flow", "later")}


def test_the_order_says_what_it_rests_on(tmp_path: Path) -> None:
    path = Dialogues(offsets_ns=CLOCKS)
    every_kind(path)
    files = path.save(tmp_path)
    with pcaplat.merge(files[::-1], keep_rows=False) as result:
        found = result.document
    assert found["path"] == ["a", "b", "c"]
    for row in found["path_evidence"]:
        assert row["rests_on"] == "round-trip separation"
        assert row["n"] >= row["n_agreeing"] > 0.99 * row["n"] > 100
        # the least of a packet there and one back, and what queues add
        assert 13_000 < row["distance_ns"] < 20_000
    with pcaplat.merge(files, path=["b", "a", "c"], keep_rows=False) as result:
        rows = result.document["path_evidence"]
    (row,) = (row for row in rows if {row["near"], row["far"]} == {"a", "b"})
    assert row["near"] == "b"
    assert row["distance_ns"] < 0
    assert row["n_agreeing"] < 0.01 * row["n"]
