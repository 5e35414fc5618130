"""Address translation, recovered from captures whose truth is known."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pytest

import pcaplat
from tests.recovery.simulate_nat import (
    START_NS,
    End,
    Packet,
    Recorded,
    Traffic,
    Translator,
    legs_of,
    record,
)
from tests.support.frames import ICMP, TCP, UDP

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

OFFSETS_NS = [0, 3_000_000_000, -7_000_000, 12_345]


def source(_: int, client: End, server: End) -> tuple[End, End]:
    return ("198.51.100.7", client[1]), server


def destination(_: int, client: End, server: End) -> tuple[End, End]:
    return client, ("10.99.0.9", server[1] if server[1] != 443 else 8443)


def ports(n: int, _: End, server: End) -> tuple[End, End]:
    return ("198.51.100.7", 30_000 + n), (server[0], 443 if server[1] == 443 else 30_000 + n)


def twice(n: int, client: End, server: End) -> tuple[End, End]:
    client, server = ports(n, client, server)
    return client, ("10.99.0.9", server[1])


def to_ipv6(n: int, client: End, server: End) -> tuple[End, End]:
    client, server = ports(n, client, server)
    return ("2001:db8::7", client[1]), (f"64:ff9b::{server[0]}", server[1])


def merged(recorded: Recorded, folder: Path, seed: int = 3) -> pcaplat.Result:
    files = recorded.save(folder)
    random.Random(seed).shuffle(files)  # noqa: S311 - the same order every time
    return pcaplat.merge(files)


def found(recorded: Recorded, result: pcaplat.Result) -> tuple[float, int]:
    """Recall of the pairs of neighbours, and how many pairs are wrong."""
    packet_of = recorded.packet_of()
    columns = ("up_point", "up_frame", "down_point", "down_frame")
    rows = result.matches.select(columns).collect().rows()
    n_wrong = sum(packet_of[row[0], row[1]] != packet_of[row[2], row[3]] for row in rows)
    n_true = sum(n - 1 for n in Counter(packet_of.values()).values())
    return (len(rows) - n_wrong) / n_true, n_wrong


@pytest.mark.parametrize("protocol", [TCP, UDP, ICMP])
@pytest.mark.parametrize("outside", [source, destination, ports, twice])
def test_every_kind_of_translation_is_undone(
    tmp_path: Path, protocol: int, outside: Callable[[int, End, End], tuple[End, End]]
) -> None:
    packets = Traffic(protocol).packets()
    translator = Translator(legs_of(packets, outside))
    recorded = record(packets, [None, translator, None], offsets_ns=OFFSETS_NS)
    result = merged(recorded, tmp_path)
    assert found(recorded, result) == (1.0, 0)
    assert result.document["path"] == recorded.names
    assert not [w for w in result.document["warnings"] if w["code"] == "paths-apart"]
    rows = result.document["translations"]
    assert {(row["near"], row["far"]) for row in rows} == {("p3", "p2")}
    told = {
        (
            (row["near_src"], row["near_src_port"]),
            (row["near_dst"], row["near_dst_port"]),
            (row["far_src"], row["far_src_port"]),
            (row["far_dst"], row["far_dst_port"]),
        )
        for row in rows
    }
    assert told == {(*inside, *out) for _, inside, out in translator.legs}


@pytest.mark.parametrize("protocol", [TCP, UDP])
def test_between_ip_versions_the_content_tells(tmp_path: Path, protocol: int) -> None:
    packets = Traffic(protocol).packets()
    translator = Translator(legs_of(packets, to_ipv6), keeps_ident=False)
    recorded = record(packets, [None, translator, None], offsets_ns=OFFSETS_NS)
    assert found(recorded, merged(recorded, tmp_path)) == (1.0, 0)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("has_idents", [True, False], ids=["numbered", "not numbered there"])
@pytest.mark.parametrize("keeps", [(True, False), (False, True)], ids=["there", "back"])
@pytest.mark.parametrize("protocol", [TCP, UDP])
def test_the_identification_may_be_kept_one_way_only(
    tmp_path: Path,
    protocol: int,
    keeps: tuple[bool, bool],
    has_idents: bool,  # noqa: FBT001 - a parameter of the test
) -> None:
    """Linux numbers what it routes and leaves 0 in what it sends: 0 = 0 is not kept."""
    packets = [
        (packet if has_idents or not forward else replace(packet, ident=0), forward)
        for packet, forward in Traffic(protocol, n_each=9, seed=11).packets()
    ]
    translator = Translator(
        legs_of(packets, ports), keeps_ident=keeps[0], keeps_ident_back=keeps[1]
    )
    recorded = record(packets, [None, translator, None], offsets_ns=OFFSETS_NS)
    result = merged(recorded, tmp_path)
    assert found(recorded, result) == (1.0, 0)
    assert {row["n_lost"] for row in result.document["segments"]} == {0}


@pytest.mark.parametrize("outside", [ports, lambda _, client, server: (client, server)])
def test_shifted_sequence_numbers_are_learned(
    tmp_path: Path, outside: Callable[[int, End, End], tuple[End, End]]
) -> None:
    packets = Traffic(has_sacks=True).packets()
    translator = Translator(legs_of(packets, outside), shift=123_456_789, shift_back=3**19)
    recorded = record(packets, [None, translator, None], offsets_ns=OFFSETS_NS)
    result = merged(recorded, tmp_path)
    assert found(recorded, result) == (1.0, 0)
    shifts = {(row["seq_shift"], row["ack_shift"]) for row in result.document["translations"]}
    assert shifts == {(123_456_789, 3**19)}


def test_two_translators_make_one_flow(tmp_path: Path) -> None:
    packets = Traffic().packets()
    first = Translator(legs_of(packets, ports))
    between = [(first.out(packet, forward=forward), forward) for packet, forward in packets]
    second = Translator(legs_of(between, lambda n, _, server: (("192.0.2.1", 9_000 + n), server)))
    recorded = record(packets, [first, second], offsets_ns=OFFSETS_NS[:3])
    result = merged(recorded, tmp_path)
    assert found(recorded, result) == (1.0, 0)
    where = Counter((row["near"], row["far"]) for row in result.document["translations"])
    assert where == {("p3", "p2"): 100, ("p2", "p1"): 100}


@pytest.mark.parametrize(("n_each", "least"), [(5, 0.99), (10, 0.998), (20, 0.998)])
def test_a_thousand_short_flows_at_once(tmp_path: Path, n_each: int, least: float) -> None:
    packets = Traffic(n_flows=1_000, n_each=n_each).packets()
    translator = Translator(legs_of(packets, ports))
    recorded = record(packets, [translator], offsets_ns=OFFSETS_NS[:2], lost_share=0.01)
    recall, n_wrong = found(recorded, merged(recorded, tmp_path))
    assert n_wrong == 0
    assert recall >= least


def test_ports_are_used_again_within_a_second(tmp_path: Path) -> None:
    packets: list[tuple[Packet, bool]] = []
    legs = []
    for turn in range(20):
        start_ns = START_NS + turn * 250_000_000
        traffic = squeezed(Traffic(n_flows=5, seed=turn).packets(), start_ns)
        packets += traffic
        # five inside ports share five outside ones, another each time
        legs += [
            (start_ns, inside, (("198.51.100.7", 30_000 + (n + turn) % 5), inside[1]))
            for n, (_, inside, _) in enumerate(sorted(legs_of(traffic, ports)))
        ]
    recorded = record(packets, [Translator(legs)], offsets_ns=OFFSETS_NS[:2])
    result = merged(recorded, tmp_path)
    recall, n_wrong = found(recorded, result)
    assert n_wrong == 0
    assert recall >= 0.998
    assert len(result.document["translations"]) == 100


def squeezed(traffic: list[tuple[Packet, bool]], start_ns: int) -> list[tuple[Packet, bool]]:
    """The same traffic within 200 ms from a time on."""
    first_ns = traffic[0][0].at_ns
    return [
        (replace(packet, at_ns=start_ns + (packet.at_ns - first_ns) // 6), forward)
        for packet, forward in traffic
    ]


@dataclass
class Rejecting(Translator):
    """A translator behind which a router rejects packets: its errors come from its own address."""

    def out(self, packet: Packet, *, forward: bool) -> Packet:
        changed = super().out(packet, forward=forward)
        if changed.quoted is None:
            return changed
        router, host = "203.0.113.254", changed.quoted.src[0]
        router = f"64:ff9b::{router}" if ":" in host else router
        return replace(changed, src=(router, 0), dst=(host, 0))


@pytest.mark.parametrize("protocol", [TCP, UDP, ICMP])
def test_errors_are_translated_inside(tmp_path: Path, protocol: int) -> None:
    sent = Traffic(protocol, n_flows=50).packets()
    shift = 12_345_678 if protocol == TCP else 0
    translator = Rejecting(legs_of(sent, ports), shift=shift)
    errors = [
        (rejected(packet, number), False)
        for number, (packet, forward) in enumerate(sent)
        if forward and number % 10 == 3
    ]
    packets = sorted(sent + errors, key=lambda one: one[0].at_ns)
    recorded = record(packets, [None, translator, None], offsets_ns=OFFSETS_NS)
    result = merged(recorded, tmp_path)
    assert len(errors) > 20
    assert found(recorded, result) == (1.0, 0)
    quoting = {n for n, (packet, _) in enumerate(packets) if packet.quoted}
    packet_of = recorded.packet_of()
    rows = result.matches.select("up_point", "up_frame", "direction").collect().rows()
    ways = Counter(row[2] for row in rows if packet_of[row[0], row[1]] in quoting)
    assert ways == {"reverse": 3 * len(errors)}


def rejected(packet: Packet, number: int) -> Packet:
    """Fragmentation needed (RFC 792), said by a router."""
    return Packet(
        packet.at_ns + 40_000,
        ("10.88.0.1", 0),
        (packet.src[0], 0),
        ICMP,
        b"",
        ident=number,
        icmp=(3, 4),
        quoted=packet,
    )


@pytest.mark.parametrize("outside", [ports, to_ipv6])
def test_a_translator_changes_no_count(
    tmp_path: Path, outside: Callable[[int, End, End], tuple[End, End]]
) -> None:
    busy = [
        Traffic(protocol, n_flows=40, gap_ns=300, seed=protocol).packets()
        for protocol in (TCP, UDP, ICMP)
    ]
    # several pings between two hosts, some of whose datagrams are rejected
    pings = [between(packet, "10.0.0.2", "203.0.113.1") for packet in busy[2]]
    errors = [
        (rejected(packet, number), False)
        for number, (packet, forward) in enumerate(busy[1])
        if forward and number % 3 == 0
    ]
    packets = sorted([*busy[0], *busy[1], *pings, *errors], key=lambda one: one[0].at_ns)
    translator = Rejecting(legs_of([p for p in packets if p not in errors], outside), shift=77_777)
    counts = []
    for name, between_them in (("plain", None), ("translated", translator)):
        (folder := tmp_path / name).mkdir()
        recorded = record(packets, [None, between_them, None], offsets_ns=[0] * 4, lost_share=0.01)
        result = merged(recorded, folder)
        recall, n_wrong = found(recorded, result)
        assert (recall, n_wrong) == (1.0, 0)
        counted = ("near", "far", "direction", "n", "n_lost", "n_duplicated", "n_reordered")
        rows = result.document["segments"]
        counts.append([tuple(row[column] for column in counted) for row in rows])
    assert counts[0] == counts[1]
    assert all(row[-1] > 10 for row in counts[0])


def between(sent: tuple[Packet, bool], client: str, server: str) -> tuple[Packet, bool]:
    packet, forward = sent
    src, dst = (client, server) if forward else (server, client)
    ends = (src, packet.src[1]), (dst, packet.dst[1])
    at_ns = START_NS + packet.at_ns % 200_000  # all of them at once
    return replace(
        packet, at_ns=at_ns, src=ends[0], dst=ends[1], payload=f"{ends}".encode()
    ), forward


def test_hosts_that_talk_through_their_own_translator(tmp_path: Path) -> None:
    public: End = ("198.51.100.1", 443)
    packets = [
        (replace(packet, dst=public) if forward else replace(packet, src=public), forward)
        for packet, forward in Traffic(n_flows=50).packets()
    ]
    legs = legs_of(packets, lambda n, *_: ((public[0], 30_000 + n), ("10.0.9.9", 8443)))
    recorded = record(packets, [None, Translator(legs), None], offsets_ns=OFFSETS_NS)
    assert found(recorded, merged(recorded, tmp_path)) == (1.0, 0)


def test_traffic_that_is_not_the_same_teaches_nothing(tmp_path: Path) -> None:
    shared = Traffic(UDP, n_flows=10, seed=1).packets()
    here, there = (Traffic(TCP, seed=seed).packets() for seed in (2, 3))
    captures = [
        [
            (packet.at_ns, 0, packet.frame())
            for packet, _ in sorted(packets, key=lambda p: p[0].at_ns)
        ]
        for packets in (shared + here, shared + there)
    ]
    recorded = Recorded(["one", "other"], captures)
    assert merged(recorded, tmp_path).document["translations"] == []
