"""Files that hold several capture points: they are divided, and those that hold one are not."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import pcaplat
from pcaplat.errors import InputError
from tests.support.split_captures import (
    ETHERNET,
    NFLOG,
    PKTAP,
    RAW,
    SLL,
    SLL2,
    START_NS,
    Look,
    Sent,
    Written,
    ether,
    in_vxlan,
    keepalive,
    mac,
    marked,
    nflog,
    pktap,
    plain,
    raw,
    routed,
    sll,
    sll2,
    write,
    write_flags,
    write_link,
)

if TYPE_CHECKING:
    from pathlib import Path

DIVIDED: dict[str, tuple[list[Look], int, list[str]]] = {
    "tunnel": ([plain, partial(in_vxlan, 7)], ETHERNET, ["inner", "outer"]),
    "two tunnels": (
        [plain, partial(in_vxlan, 7), partial(in_vxlan, 8)],
        ETHERNET,
        ["inner", "outer-tunnel7", "outer-tunnel8"],
    ),
    "router": ([partial(routed, 0), partial(routed, 1)], ETHERNET, ["hop1", "hop2"]),
    "router of one address": (
        [partial(routed, 0, gateway=5), partial(routed, 1, gateway=5)],
        ETHERNET,
        ["hop1", "hop2"],
    ),
    "router between VLANs": (
        [partial(routed, 0, tags=(20,)), partial(routed, 1, tags=(10,))],
        ETHERNET,
        ["hop1", "hop2"],
    ),
    "router, no link layer": ([partial(raw, 0), partial(raw, 1)], RAW, ["hop1", "hop2"]),
    "a mirror that marks in and out": (
        [partial(marked, 0), partial(marked, 1)],
        ETHERNET,
        ["hop1", "hop2"],
    ),
    "any": ([partial(sll2, 4, 0), partial(sll2, 9, 1)], SLL2, ["if4", "if9"]),
    "any, old": ([partial(sll, 0), partial(sll, 1)], SLL, ["hop1", "hop2"]),
    "nflog": ([partial(nflog, 0), partial(nflog, 1)], NFLOG, ["if2", "if3"]),
    "pktap": ([partial(pktap, "en0"), partial(pktap, "utun3")], PKTAP, ["en0", "utun3"]),
}


def merged(written: Written) -> tuple[dict[str, Any], pl.DataFrame, pl.DataFrame]:
    with pcaplat.merge([written.path]) as result:
        return result.document, result.packets.collect(), result.matches.collect()


@pytest.mark.parametrize("kind", DIVIDED)
def test_every_frame_is_of_the_place_that_saw_it(kind: str, tmp_path: Path) -> None:
    looks, link, labels = DIVIDED[kind]
    written = write(tmp_path / "a.pcap", looks, link=link)
    document, packets, matches = merged(written)
    names = [f"a/{label}" for label in labels]
    assert document["path"] == names
    assert packets["point"].to_list() == [names[place] for place in written.places]
    assert packets["status"].unique().to_list() == ["matched"]
    rows = {(row["point"], row["n_frames"]) for row in document["captures"]}
    assert rows == {(name, 120) for name in names}
    assert document["matching"]["n_frames"] == len(written.places)
    true = {
        (written.numbers[up], written.numbers[down])
        for up, down in zip(matches["up_frame"] - 1, matches["down_frame"] - 1, strict=True)
    }
    assert true == {(number, number) for number in range(120)}
    assert len(matches) == 120 * (len(looks) - 1)
    for up, down, ns in matches.select("up_frame", "down_frame", "latency_ns").iter_rows():
        assert ns == written.t_ns[down - 1] - written.t_ns[up - 1]


NOT_DIVIDED: dict[str, tuple[list[Look], int]] = {
    "a mirror that doubles": ([plain, plain], ETHERNET),
    "both ways of one interface": ([partial(sll2, 4, 0)], SLL2),
    "one place behind a router": ([partial(routed, 1)], ETHERNET),
    "bare answers to a tunnel": ([partial(keepalive, 0), partial(keepalive, 1)], ETHERNET),
    "tunnels for some hosts": (
        [lambda sent: in_vxlan(7, sent) if sent.src.endswith(".1") else plain(sent)],
        ETHERNET,
    ),
    "other TTLs by flow": (
        [lambda sent: raw(sent.number % 7 % 2, sent)],
        RAW,
    ),
    "other VLANs by direction": (
        [lambda sent: routed(0, sent, tags=(10 if sent.is_forward else 20,))],
        ETHERNET,
    ),
    "other tunnels by direction": (
        [lambda sent: in_vxlan(7 if sent.is_forward else 8, sent)],
        ETHERNET,
    ),
}


@pytest.mark.parametrize("kind", NOT_DIVIDED)
def test_a_file_of_one_point_stays_whole(kind: str, tmp_path: Path) -> None:
    looks, link = NOT_DIVIDED[kind]
    written = write(tmp_path / "a.pcap", looks, link=link)
    with pytest.raises(InputError, match=r"one capture point alone \(a\)"):
        pcaplat.merge([written.path])


def test_what_chance_can_do_divides_nothing(tmp_path: Path) -> None:
    """A packet in another VLAN now and then, broadcasts in all, a resend on another way."""
    looks: list[Look] = [partial(routed, 0, tags=(10,))]
    frames = _frames(write(tmp_path / "a.pcap", looks).path)
    for t_ns, data in frames[:4:2]:
        frames.append((t_ns + 5_000, data.replace(b"\x00\x0a\x08\x00", b"\x00\x0b\x08\x00")))
    sent = Sent("10.0.1.1", "255.255.255.255", 7, is_forward=True)
    for at in range(50):
        broadcast = replace(sent, number=1000 + at)
        for vlan in (10, 11):
            t_ns = START_NS + at * 1_000_000 + vlan
            frames.append((t_ns, ether(mac(sent.src), b"\xff" * 6, broadcast.ip(), (vlan,))))
    for number in range(2000, 2020):
        again = Sent("10.0.1.1", "10.0.2.1", number, is_forward=True)
        for vlan, later_ns in ((10, 0), (11, 200_000_000)):
            data = ether(mac(again.src), mac(again.dst), again.ip(), (vlan,))
            frames.append((START_NS + number * 1_000_000 + later_ns, data))
    write_link(tmp_path / "a.pcap", frames, ETHERNET)
    with pytest.raises(InputError, match=r"one capture point alone \(a\)"):
        pcaplat.merge([tmp_path / "a.pcap"])


def test_three_networks_around_a_router_have_no_two_sides(tmp_path: Path) -> None:
    hosts = ("10.0.1.1", "10.0.2.1", "10.0.3.1")
    frames = []
    for number in range(120):
        ends = hosts[number % 3], hosts[(number + 1 + number // 60) % 3]
        sent = Sent(*ends, number, is_forward=True)
        t_ns = START_NS + number * 100_000
        frames += [(t_ns, sent.ip()), (t_ns + 3_000, sent.ip(hops=1))]
    write_link(tmp_path / "a.pcap", frames, RAW)
    with pytest.raises(InputError, match=r"one capture point alone \(a\)"):
        pcaplat.merge([tmp_path / "a.pcap"])


def test_every_interface_of_a_divided_file_is_a_point(tmp_path: Path) -> None:
    looks: list[Look] = [partial(sll2, 4, 0), partial(sll2, 9, 1)]
    whole = write(tmp_path / "a.pcap", looks, link=SLL2)
    frames = _frames(whole.path)
    alone = Sent("127.0.0.1", "127.0.0.2", 999, is_forward=True)
    frames.append((frames[-1][0] + 5, sll2(1, 0, alone)))
    write_link(tmp_path / "a.pcap", frames, SLL2)
    document, packets, _ = merged(whole)
    assert packets["point"].to_list()[-1] == "a/if1"
    assert document["path"] == ["a/if4", "a/if9"]


def test_a_divided_file_is_the_files_it_holds(tmp_path: Path) -> None:
    looks: list[Look] = [partial(sll2, index, i) for i, index in enumerate((2, 5))]
    both = write(tmp_path / "any.pcap", looks, link=SLL2)
    frames = _frames(both.path)
    for place in (0, 1):
        own = [one for one, at in zip(frames, both.places, strict=True) if at == place]
        write_link(tmp_path / f"{place}.pcap", own, SLL2)
    document, _, _ = merged(both)
    apart = [f"any/if{index}={tmp_path / name}" for index, name in ((2, "0.pcap"), (5, "1.pcap"))]
    with pytest.raises(InputError, match="slash"):
        pcaplat.merge(apart)
    named = [f"if{index}={tmp_path / name}" for index, name in ((2, "0.pcap"), (5, "1.pcap"))]
    with pcaplat.merge(named, same_clock=["all"]) as result:
        for table in ("segments", "round_trips"):
            alone = [
                row | {end: f"any/{row[end]}" for end in ("near", "far")}
                for row in result.document[table]
            ]
            assert alone == document[table]


def _frames(path: Path) -> list[tuple[int, bytes]]:
    data, at, found = path.read_bytes(), 24, []
    while at < len(data):
        seconds, ns, n, _ = (
            int.from_bytes(data[at + i : at + i + 4], "little") for i in (0, 4, 8, 12)
        )
        found.append((seconds * 10**9 + ns, data[at + 16 : at + 16 + n]))
        at += 16 + n
    return found


def test_a_rotated_capture_is_divided_alike(tmp_path: Path) -> None:
    looks: list[Look] = [partial(routed, 0), partial(routed, 1)]
    whole = write(tmp_path / "a.pcap", looks)
    frames = _frames(whole.path)
    write_link(tmp_path / "a0.pcap", frames[:200], ETHERNET)
    write_link(tmp_path / "a1.pcap", frames[200:], ETHERNET)
    files = [f"tap={tmp_path / name}" for name in ("a0.pcap", "a1.pcap")]
    with pcaplat.merge(files, path=["tap/hop2", "tap/hop1"]) as result:
        assert result.document["path"] == ["tap/hop2", "tap/hop1"]
        found = result.packets.collect()["point"].to_list()
        rows = [(row["point"], row["n_frames"]) for row in result.document["captures"]]
    assert found == [f"tap/hop{place + 1}" for place in whole.places]
    assert sorted(rows) == [
        ("tap/hop1", 20),
        ("tap/hop1", 100),
        ("tap/hop2", 20),
        ("tap/hop2", 100),
    ]


def test_in_and_out_of_one_interface_are_two_places(tmp_path: Path) -> None:
    """A bridge port that every packet enters and leaves (`epb_flags`)."""
    whole = write(tmp_path / "a.pcap", [plain, plain])
    frames = _frames(whole.path)
    flags = [1 + at % 2 for at in range(len(frames))]
    write_flags(tmp_path / "b.pcapng", frames, flags)
    with pcaplat.merge([tmp_path / "b.pcapng"]) as result:
        assert result.document["path"] == ["b/hop1", "b/hop2"]
        found = result.packets.collect()["point"].to_list()
    assert found == [f"b/hop{place + 1}" for place in whole.places]


def test_two_places_under_one_name_are_not_told_apart(tmp_path: Path) -> None:
    """Files of one point are consecutive; what another file saw divides none."""
    looks, link, _ = DIVIDED["router between VLANs"]
    whole = write(tmp_path / "a.pcap", looks)
    frames = _frames(whole.path)
    for place in (0, 1):
        own = [one for one, at in zip(frames, whole.places, strict=True) if at == place]
        write_link(tmp_path / f"{place}.pcap", own, link)
    with pytest.raises(InputError, match=r"one capture point alone \(x\)"):
        pcaplat.merge([f"x={tmp_path / '0.pcap'}", f"x={tmp_path / '1.pcap'}"])


def test_what_cannot_be_placed_stays_at_the_file(tmp_path: Path) -> None:
    """A sender that was never seen before and after the router may be on either side."""
    looks: list[Look] = [partial(raw, 0), partial(raw, 1)]
    frames = _frames(write(tmp_path / "a.pcap", looks, link=RAW).path)
    t_ns = frames[-1][0]
    strange = [
        (t_ns + 10_000 * number, Sent("192.0.2.1", "10.0.2.1", number, is_forward=True).ip())
        for number in range(20)
    ]
    write_link(tmp_path / "a.pcap", [*frames, *strange, (t_ns, b"\x45\x00")], RAW)
    elsewhere = [(at_ns + 4_000, data) for at_ns, data in [*frames[::2], *strange]]
    write_link(tmp_path / "b.pcap", elsewhere, RAW)
    with pcaplat.merge([tmp_path / name for name in ("a.pcap", "b.pcap")]) as result:
        packets, document = result.packets.collect(), result.document
    here = packets.filter(pl.col("file").str.ends_with("a.pcap"))
    assert here["point"].to_list()[240:] == ["a"] * 21
    assert here["status"].to_list()[240:] == ["matched"] * 20 + ["undecoded"]
    rows = {row["point"]: row["n_frames"] for row in document["captures"]}
    assert rows == {"a/hop1": 120, "a/hop2": 120, "a": 21, "b": 140}
    assert document["matching"]["n_frames"] == 401


def test_what_is_at_no_point_counts(tmp_path: Path) -> None:
    looks: list[Look] = [partial(raw, 0), partial(raw, 1)]
    whole = write(tmp_path / "a.pcap", looks, link=RAW)
    frames = _frames(whole.path)
    write_link(tmp_path / "a.pcap", [*frames, (frames[-1][0], b"\x45\x00")], RAW)
    document, packets, _ = merged(whole)
    assert packets["point"].to_list()[-1] == "a"
    assert [row["n_undecoded"] for row in document["captures"]] == [0, 0, 1]
    assert document["matching"]["n_undecoded"] == 1


def test_merged_pcapng_has_an_interface_for_each_place(tmp_path: Path) -> None:
    looks, link, _ = DIVIDED["router, no link layer"]
    written = write(tmp_path / "a.pcap", looks, link=link)
    with pcaplat.merge([written.path]) as result:
        result.write_merged(tmp_path / "m.pcapng")
    again = pl.DataFrame(pcaplat.read(tmp_path / "m.pcapng"))
    assert again["t_ns"].to_list() == sorted(written.t_ns)
    with pcaplat.merge([tmp_path / "m.pcapng"]) as result:
        assert result.document["path"] == ["m/a/hop1", "m/a/hop2"]
