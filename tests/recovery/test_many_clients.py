"""Losses where most addresses send a packet or two: a lost one may be all that a pair ever sent."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pytest

import pcaplat
from tests.support.networks import START_NS, Edges, Network, Packet, both_ways, datagram, walk

if TYPE_CHECKING:
    from pathlib import Path

LINE = ("a", "b", "c")
TAKES_NS = both_ways({("a", "b"): 9_000, ("b", "c"): 21_000})
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
        t_ns = START_NS + turn * GAP_NS + int(chance.integers(GAP_NS))
        ident = int(chance.integers(1, 65_536))
        packets.append(Packet(t_ns, (line,), datagram(ends, ports, ident, chance.bytes(30))))
        if case.is_answered:
            data = datagram(ends[::-1], ports[::-1], ident ^ 255, chance.bytes(60))
            answers = len(packets) - 1
            back = case.back if case.back and line == LINE[:2] else line[::-1]
            packets.append(Packet(t_ns + ANSWER_NS, (back,), data, answers))
    return walk(packets, Edges(TAKES_NS, lost=dict.fromkeys(TAKES_NS, case.lost)), seed)


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
