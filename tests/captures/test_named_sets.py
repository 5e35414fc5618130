"""Captures nobody here made, set by set: pairs, path and reasons, against an oracle of our own."""

from __future__ import annotations

from collections import defaultdict
from functools import cache
from itertools import combinations
from pathlib import PurePath
from typing import Any, NamedTuple

import polars as pl
import pytest

import pcaplat
from tests.support.oracle import Key, Sighting, common_prefixes, key_of, sightings
from tests.support.shelf import public_sets

SETS = public_sets()
pytestmark = pytest.mark.skipif(not SETS, reason="the shared captures are not here")

# places along the path, each with the captures that stand there, in whatever order: of one host
# two were taken by one clock, one of them a part of the other
PATHS: dict[str, list[set[str]]] = {
    "KAO-gre-ip": [{"gre-ip__ping__veth2"}, {"gre-ip__ping__gre2"}],
    "KAO-gue-gre": [{"gue-gre__ping__veth2"}, {"gue-gre__ping__gre2"}],
    "KAO-gue-ipip": [{"gue-ipip__ping__veth2"}, {"gue-ipip__ping__tunl2"}],
    "KAO-ipip": [{"ipip__ping__veth2"}, {"ipip__ping__tunl2"}],
    "KAO-l2tp-ip": [{"l2tp-ip__ping__veth2"}, {"l2tp-ip__ping__l2tpeth0"}],
    "KAO-802.1q": [{"802.1q__ping__veth2"}, {"802.1q__ping__veth2.100"}],
    "KAO-ah-tunnel-route": [{"ah-tunnel-route__ping__veth2"}, {"ah-tunnel-route__ping__vti2"}],
    "CS-ttl": [{"ip_ttl_source"}, {"ip_ttl_dest"}],
    "CS-dns": [{"dns_recursivequery_client"}, {"dns_recursivequery_server"}],
    "CS-stranded": [{"stranded_clientside"}, {"stranded_branchdns"}],
    "AWB-15856e9": [{"sender"}, {"receiver"}],
    "AWB-c355163": [{"sender"}, {"receiver"}],
    "VINET-nat": [{"client"}, {"server"}],
    "PX-base-base_https3": [{"client"}, {"server"}],
    "PX-base-base_dns": [{"client"}, {"server"}],
    "PX-base-base_ftp": [{"server"}, {"relay"}],
} | {
    name: [
        {"client", "data_capture_client"},
        *([{"relay/outer", "data_capture_relay/outer"}] if "xl2tpd-l2tp" in name else []),
        {f"{also}relay{'/inner' * ('xl2tpd-l2tp' in name)}" for also in ("", "data_capture_")},
        {"server", "data_capture_server"},
    ]
    for name in SETS
    if name.startswith("PX-") and "base" not in name
}


class Frame(NamedTuple):
    """One frame of a set."""

    file: str
    number: int


@cache
def seen(name: str, *, with_addresses: bool) -> dict[str, dict[Key, list[Sighting]]]:
    """Per file its packets, by what the oracle recognises them by."""
    all_of = {file: sightings(path) for file, path in SETS[name].files.items()}
    prefixes = common_prefixes(all_of.values())
    found: dict[str, dict[Key, list[Sighting]]] = {}
    for file, capture in all_of.items():
        found[file] = defaultdict(list)
        for one in capture:
            key = key_of(one.packet, prefixes)
            found[file][key if with_addresses else _bare(key)].append(one)
    return found


def _bare(key: Key) -> Key:
    """Without addresses, ports and IP identification; short packets have nothing left of them."""
    _, protocol, _, fragment, length, stable = key
    assert isinstance(stable, bytes)
    return protocol, fragment, length, stable[4:] if protocol in {6, 17} else stable


def only_once(
    name: str, left: str, right: str, *, with_addresses: bool = True
) -> set[frozenset[Frame]]:
    """IP packets that both files have exactly once."""
    here, there = (seen(name, with_addresses=with_addresses)[file] for file in (left, right))
    both = [key for key in here.keys() & there.keys() if len(here[key]) == len(there[key]) == 1]
    return {
        frozenset((Frame(left, here[key][0].number), Frame(right, there[key][0].number)))
        for key in both
        if here[key][0].packet.is_ip
    }


@cache
def merged(name: str) -> tuple[dict[str, Any], pl.DataFrame]:
    """What the product says of a whole set, and of every frame."""
    with pcaplat.merge([str(file) for file in SETS[name].files.values()]) as result:
        columns = ("point", "file", "frame", "trajectory_id", "status")
        return result.document, result.packets.select(columns).collect()


def pairs(name: str) -> set[frozenset[Frame]]:
    """Pairs of frames of different files that the product takes for one packet."""
    of: dict[int, list[Frame]] = defaultdict(list)
    for _, file, number, trajectory, status in merged(name)[1].iter_rows():
        if trajectory is not None and status != "duplicate":
            of[trajectory].append(Frame(PurePath(file).name, number))
    return {
        frozenset((one, other))
        for frames in of.values()
        for one, other in combinations(frames, 2)
        if one.file != other.file
    }


@pytest.mark.parametrize("name", PATHS)
def test_every_packet_that_two_files_have_once_is_that_pair(name: str) -> None:
    found, wanted = pairs(name), set[frozenset[Frame]]()
    for left, right in combinations(sorted(SETS[name].files), 2):
        wanted |= only_once(name, left, right)
    assert wanted <= found
    assert wanted or merged(name)[0]["translations"]


@pytest.mark.parametrize("name", PATHS)
def test_no_frame_is_paired_with_another_than_the_oracles(name: str) -> None:
    found = pairs(name)
    tracked = merged(name)[1].filter(pl.col("status") == "matched")
    assert tracked.select("point", "trajectory_id").is_unique().all()
    for left, right in combinations(sorted(SETS[name].files), 2):
        of_files = {pair for pair in found if {one.file for one in pair} == {left, right}}
        bare = {
            one: pair for pair in only_once(name, left, right, with_addresses=False) for one in pair
        }
        for pair in of_files:
            assert all(bare.get(one, pair) == pair for one in pair)


@pytest.mark.parametrize("name", PATHS)
def test_points_stand_where_they_were_captured(name: str) -> None:
    path = merged(name)[0]["path"]
    places = [next(at for at, names in enumerate(PATHS[name]) if one in names) for one in path]
    assert places == sorted(places)
    assert len(path) == sum(map(len, PATHS[name]))


@pytest.mark.parametrize("name", PATHS)
def test_frames_that_stand_in_no_match_have_a_reason_that_holds(name: str) -> None:
    document, frames = merged(name)
    points = {row["point"]: row for row in document["points"]}
    clocks = {row["point"]: row for row in document["clocks"]}
    for point, row in points.items():
        counted = dict.fromkeys(("unmatched", "ambiguous", "undecoded", "coalesced"), 0)
        for reason in row["reasons"]:
            counted[reason["status"]] += reason["n"]
        of_point = frames.filter(pl.col("point") == point)["status"].to_list()
        assert counted == {status: of_point.count(status) for status in counted}
        is_alone = clocks[point]["quality"] == "none" and point not in document["path"]
        alone = [
            one["reason"] == "point-alone" for one in row["reasons"] if one["status"] == "unmatched"
        ]
        assert all(alone) if is_alone else not any(alone)


@pytest.mark.parametrize("name", sorted(name for name in SETS if name.startswith("NEG-")))
def test_controls_are_refused_for_their_times(name: str) -> None:
    files = [str(file) for file in SETS[name].files.values()]
    with pytest.raises(pcaplat.EvidenceError, match=r"by the files' own times .* ended .* before"):
        pcaplat.merge(files)


def test_an_encrypted_tunnel_is_named_where_nothing_is_in_common() -> None:
    files = [str(file) for file in SETS["KAO-esp-tunnel-route"].files.values()]
    with pytest.raises(pcaplat.EvidenceError, match=r"2 packets .* are encrypted tunnels"):
        pcaplat.merge(files)


def test_reused_sequence_numbers_are_told_by_the_rhythm_of_their_trains() -> None:
    """500 numbered probes; 100 resets five times each, of which the k-th are the k-th (tshark)."""
    document, frames = merged("AWB-c355163")
    here, there = (
        seen("AWB-c355163", with_addresses=True)[file] for file in ("receiver.pcap", "sender.pcap")
    )
    wanted = {
        frozenset((Frame("receiver.pcap", one.number), Frame("sender.pcap", other.number)))
        for key in here.keys() & there.keys()
        for one, other in zip(here[key], there[key], strict=True)
    }
    assert len(wanted) == 1000
    assert pairs("AWB-c355163") == wanted
    assert document["path"] == ["sender", "receiver"]
    (sender,) = (row for row in document["points"] if row["point"] == "sender")
    assert [(row["reason"], row["n"]) for row in sender["reasons"]] == [
        ("outside-common-time", 100)
    ]
    assert sum(row["n_lost"] for row in document["segments"]) == 0
    assert frames["status"].n_unique() == 2


def test_a_queue_that_fills_hides_no_latency() -> None:
    """100 probes sent within 0.6 ms and let out one after the other: stamps of tshark, in ms."""
    document, _ = merged("AWB-15856e9")
    (row,) = (row for row in document["segments"] if row["direction"] == "forward")
    assert (row["n"], row["n_lost"]) == (100, 0)
    assert [round(row[key] / 1e6) for key in ("min_ns", "max_ns")] == [39, 579]
    assert {row["code"] for row in document["warnings"]} == {"clocks-assumed-equal"}


def test_captures_of_another_time_are_named_as_such() -> None:
    texts = {row["point"]: row["text"] for row in merged("VINET-nat")[0]["warnings"]}
    for point in ("test", "wifi"):
        assert "by the files' own times it" in texts[point]
