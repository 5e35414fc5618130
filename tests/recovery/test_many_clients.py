"""Losses where most addresses send a packet or two: a lost one may be all that a pair ever sent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pytest

import pcaplat
from tests.support.networks import START_NS, Edges, Network, Packet, both_ways, datagram, walk

if TYPE_CHECKING:
    from pathlib import Path

LINE = ("a", "b", "c")
TAKES_NS = both_ways({("a", "b"): 9_000, ("b", "c"): 21_000})
UNWATCHED_NS = both_ways({("a", "c"): 30_000})
SERVER, ANSWER_NS, GAP_NS = "198.51.100.7", 300_000, 70_000


class Clients(NamedTuple):
    """Who asks one server, and what becomes of it."""

    n_clients: int = 4_000
    n: int = 4_000
    lost: float = 0.02
    is_answered: bool = True
    local: float = 0.0
    """Share of clients beside the server, which only its own point sees."""
    elsewhere: float = 0.0
    """Share of clients whose packets leave behind the middle, and come to no other point."""
    back: tuple[str, ...] = ()
    """The points that see the answers of these; those that saw their queries, if there are none."""
    probes: float = 0.0
    """Share of queries that the server sends to hosts beside it instead, and nobody answers."""
    missed: float = 0.0
    """Share of packets that pass the middle, and are not in its capture."""
    unwatched: float = 0.0
    """Share of clients whose packets go past the middle by another link."""


CASES = {
    "each sends one": Clients(),
    "more than the survey sees": Clients(15_000, 30_000, 0.01),
    "nobody answers": Clients(is_answered=False),
    "some are beside the server": Clients(local=0.1),
    "one in five is lost": Clients(lost=0.2),
    "some are answered from elsewhere": Clients(elsewhere=0.05),
    "some are answered by another way": Clients(elsewhere=0.1, back=("a",)),
    "the server probes its neighbours": Clients(probes=0.1),
    "a few clients": Clients(n_clients=90, n=90, lost=0.06),
}


def asked(case: Clients, seed: int) -> Network:
    """Queries and answers, each unlike the others."""
    chance = np.random.default_rng(seed)
    packets = list[Packet]()
    for turn in range(case.n):
        client = int(chance.integers(case.n_clients)) if case.n > case.n_clients else turn
        kind = np.random.default_rng((seed, client)).random()
        if kind < case.probes:
            ends = (SERVER, f"10.250.{turn >> 8}.{turn & 255}")
            probe = datagram(ends, (40_000, 161), turn % 65_535 + 1, chance.bytes(30))
            packets.append(Packet(START_NS + turn * GAP_NS, (LINE[2:],), probe))
            continue
        ends = (f"10.{client >> 16}.{client >> 8 & 255}.{client & 255}", SERVER)
        ports = (10_000 + int(chance.integers(40_000)), 53)
        line: tuple[str, ...] = LINE
        if kind < case.local:
            line = LINE[2:]
        elif kind > 1 - case.elsewhere:
            line = LINE[:2]
        elif kind < case.unwatched:
            line = LINE[::2]
        t_ns = START_NS + turn * GAP_NS + int(chance.integers(GAP_NS))
        ident = int(chance.integers(1, 65_536))
        packets.append(Packet(t_ns, (line,), datagram(ends, ports, ident, chance.bytes(30))))
        if case.is_answered:
            data = datagram(ends[::-1], ports[::-1], ident ^ 255, chance.bytes(60))
            answers = len(packets) - 1
            back = case.back if case.back and line == LINE[:2] else line[::-1]
            packets.append(Packet(t_ns + ANSWER_NS, (back,), data, answers))
    edges = Edges(TAKES_NS | UNWATCHED_NS, lost=dict.fromkeys(TAKES_NS, case.lost))
    is_missed = np.random.default_rng((seed, 1)).random(len(packets)) < case.missed
    return walk(
        packets, edges, seed, missed=lambda point, number: point == "b" and bool(is_missed[number])
    )


def rows(network: Network, folder: Path, same_clock: tuple[str, ...]) -> list[dict[str, float]]:
    """The segments between neighbours, each with what it truly lost."""
    files = network.save(folder)
    found = []
    with pcaplat.merge(files, same_clock=same_clock, path=LINE, keep_rows=False) as result:
        for row in result.document["segments"]:
            edge = (row["near"], row["far"])
            if edge != (LINE[0], LINE[-1]):
                edge = edge if row["direction"] == "forward" else edge[::-1]
                n_lost = sum(at == edge for at, _ in network.lost)
                found.append({**row, "n_true": n_lost})
    return found


@pytest.mark.parametrize("same_clock", [("all",), ()], ids=["one clock", "not declared"])
@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("name", CASES)
def test_what_an_address_sent_once_is_lost_where_others_go_on(
    name: str, seed: int, same_clock: tuple[str, ...], tmp_path: Path
) -> None:
    case = CASES[name]
    found = rows(asked(case, seed), tmp_path, same_clock)
    assert len(found) == (4 if case.is_answered else 2)
    for row in found:
        # those at the edges of the time that both points cover
        assert abs(row["n_lost"] - row["n_true"]) <= 2, row
    assert sum(row["n_true"] for row in found) > 0


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize(
    "case",
    [
        Clients(lost=0.5, is_answered=False),
        Clients(elsewhere=0.5, is_answered=False),
        Clients(elsewhere=0.5),
        Clients(lost=0.4),
    ],
    ids=["half is lost", "half goes elsewhere", "half is answered from elsewhere", "much is lost"],
)
def test_where_it_does_not_show_the_interval_holds_both(
    case: Clients, seed: int, tmp_path: Path
) -> None:
    for row in rows(asked(case, seed), tmp_path, ("all",)):
        true = row["n_true"] / (row["n"] + row["n_true"])
        assert row["lost_lo_frac"] <= true <= row["lost_hi_frac"], row


def past_the_middle(network: Network) -> tuple[int, int]:
    """Packets that came from end to end unseen, and those of clients of which it saw nothing."""
    at = {point: {one.packet for one in seen} for point, seen in network.seen.items()}
    hosts = [frozenset((one.frame[26:30], one.frame[30:34])) for one in network.packets]
    seen = {hosts[one] for one in at["b"]}
    unseen = (at["a"] & at["c"]) - at["b"]
    return len(unseen), sum(hosts[one] not in seen for one in unseen)


def middle(network: Network, folder: Path) -> dict[str, Any]:
    """What is told of the middle's capture."""
    files = network.save(folder)
    with pcaplat.merge(files, same_clock=["all"], path=LINE, keep_rows=False) as result:
        (row,) = [dict(row) for row in result.document["points"] if row["point"] == "b"]
    return row


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize(
    "case",
    [
        Clients(missed=0.01, is_answered=False),
        *(
            Clients(missed=missed, is_answered=way)
            for missed in (0.05, 0.15)
            for way in (True, False)
        ),
    ],
)
def test_what_a_point_missed_counts_where_it_saw_others_of_the_host(
    case: Clients, seed: int, tmp_path: Path
) -> None:
    network = asked(case, seed)
    n_unseen, n_alone = past_the_middle(network)
    row = middle(network, tmp_path)
    assert abs(row["n_missed"] - n_unseen) <= 2
    assert row["n_maybe_missed"] == 0
    assert n_unseen > 20
    assert n_alone > 0


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize(
    "case",
    [
        Clients(missed=0.4, is_answered=False),
        Clients(unwatched=0.4, is_answered=False),
        Clients(unwatched=0.4),
    ],
    ids=["much is missed", "many go another way", "many go another way both ways"],
)
def test_whether_a_point_missed_them_or_they_went_another_way_is_left_open(
    case: Clients, seed: int, tmp_path: Path
) -> None:
    network = asked(case, seed)
    n_unseen, n_alone = past_the_middle(network)
    row = middle(network, tmp_path)
    # those before the middle began to capture
    assert abs(row["n_maybe_missed"] - n_alone) <= 5
    assert (row["n_missed"], row["missed_frac"]) == (n_unseen - n_alone, None)


@pytest.mark.parametrize("seed", [1, 2])
def test_clients_that_send_more_and_are_never_seen_go_another_way(
    seed: int, tmp_path: Path
) -> None:
    row = middle(asked(Clients(n_clients=400, unwatched=0.2), seed), tmp_path)
    assert (row["n_missed"], row["n_maybe_missed"]) == (0, 0)
