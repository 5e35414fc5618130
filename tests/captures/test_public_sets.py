"""Captures nobody here made: what is in two files of a set must be matched between them."""

from __future__ import annotations

import itertools
from collections import defaultdict
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

import polars as pl
import pytest

import pcaplat
from tests.support.oracle import Key, Sighting, common_prefixes, key_of, sightings
from tests.support.oracle_decode import ICMPV6
from tests.support.shelf import Overlap, PublicSet, public_sets

if TYPE_CHECKING:
    from collections.abc import Sequence

SETS = public_sets()
pytestmark = pytest.mark.skipif(not SETS, reason="the shared captures are not here")

LARGE = {name for name in SETS if name.startswith("LL-")}
CONTROLS = sorted(name for name in SETS if name.startswith("NEG-"))
NOT_YET = {
    "KAO-esp-tunnel-route": "ESP: encrypted, nothing inside can be recognised",
    "RETIS-ovs": "one file with six points and no measured overlap: a test of its own",
}

# too few packets of a flow, and one way, to call it another one translated (docs/method/survey.md)
ABSTAINED = {
    ("P4-CLONE", "s1-eth1_in.pcap", "s1-eth1_out.pcap"): 0,
    ("PX-openvpn-tap_udp-openvpn_ftps", "client.pcap", "relay.pcap"): 172,
    ("VINET-nat", "server.pcap", "test.pcap"): 0,
}


@cache
def keys_of(name: str) -> dict[str, dict[Key, list[Sighting]]]:
    """Per file of a set, its packets by what the oracle recognises them by."""
    seen = {file: sightings(path) for file, path in SETS[name].files.items()}
    prefixes = common_prefixes(seen.values())
    found: dict[str, dict[Key, list[Sighting]]] = {}
    for file, capture in seen.items():
        found[file] = defaultdict(list)
        for sighting in capture:
            found[file][key_of(sighting.packet, prefixes)].append(sighting)
    return found


def recounted(name: str, left: str, right: str) -> int:
    """IP packets that both files have exactly once: what any matcher can find.

    A neighbour discovery that stands alone is none: hosts repeat it, so it is no evidence.
    """
    here, there = keys_of(name)[left], keys_of(name)[right]
    both = [k for k in here.keys() & there.keys() if len(here[k]) == len(there[k]) == 1]
    packets = [here[k][0].packet for k in both if here[k][0].packet.is_ip]
    is_lone = len(packets) == 1 and packets[0].protocol == ICMPV6
    return 0 if is_lone else len(packets)


def overlaps_of(name: str) -> list[Overlap]:
    """The overlaps to find: the index's, and our own count of all others."""
    listed = {frozenset((o.left, o.right)): o for o in SETS[name].overlaps}
    found = [replace(o, n=ABSTAINED.get((name, o.left, o.right), o.n)) for o in listed.values()]
    found = [o for o in found if o.n]
    for left, right in itertools.combinations(sorted(SETS[name].files), 2):
        n = 0 if frozenset((left, right)) in listed else recounted(name, left, right)
        if n:
            found.append(Overlap(left, right, needs_translation=False, n=n))
    return found


def measured() -> list[str]:
    """The sets with an overlap to find."""
    return sorted(SETS.keys() - LARGE - NOT_YET.keys() - set(CONTROLS))


def points_of(set_: PublicSet) -> dict[str, str]:
    """A point's name for each file; stems may repeat between formats, so the whole file name."""
    return {file: f"p{number}" for number, file in enumerate(sorted(set_.files))}


def merged(name: str, files: list[str]) -> pcaplat.Result:
    """Merge some files of a set, each under its point's name."""
    points = points_of(SETS[name])
    return pcaplat.merge([f"{points[file]}={SETS[name].files[file]}" for file in files])


def given(point: str) -> str:
    """The name that a file was given, of which this may be one of several points."""
    return point.split("/", 1)[0]


def common_trajectories(result: pcaplat.Result) -> dict[frozenset[str], int]:
    """For each two files, how many packets were recognised at both."""
    rows = (
        result.packets.filter(pl.col("trajectory_id").is_not_null())
        .select("point", "trajectory_id")
        .unique()
        .collect()
    )
    at: dict[str, dict[str, int]] = defaultdict(dict)
    for point, trajectory in rows.iter_rows():
        # a file that is divided at a translator has a packet once more under other addresses
        at[given(point)][f"{trajectory} at {point}"] = trajectory
    return {
        frozenset((a, b)): min(_n_shared(at[a], at[b]), _n_shared(at[b], at[a]))
        for a, b in itertools.combinations(at, 2)
    }


def _n_shared(here: dict[str, int], there: dict[str, int]) -> int:
    known = set(there.values())
    return sum(trajectory in known for trajectory in here.values())


def missing(name: str, files: list[str], wanted: list[Overlap]) -> list[str]:
    """The overlaps that a merge of the files did not find in full."""
    found, points = common_trajectories(merged(name, files)), points_of(SETS[name])
    counted = [(o, found.get(frozenset((points[o.left], points[o.right])), 0)) for o in wanted]
    return [f"{o.left} ~ {o.right}: {n} of {o.n}" for o, n in counted if n < o.n]


@pytest.mark.parametrize("name", measured())
def test_every_pair_of_files_with_an_overlap_is_matched(name: str) -> None:
    wanted = overlaps_of(name)
    assert wanted
    lacking = [
        line
        for overlap in wanted
        for line in missing(name, [overlap.left, overlap.right], [overlap])
    ]
    assert not lacking


@pytest.mark.parametrize("name", [name for name in measured() if len(SETS[name].files) > 2])
def test_every_overlap_is_matched_in_the_whole_set(name: str) -> None:
    lacking = missing(name, sorted(SETS[name].files), overlaps_of(name))
    assert not lacking


def same(up: Key, down: Key) -> bool:
    """Equal in all that no element on the path may change."""
    return up == down


def untranslated(up: Key, down: Key) -> bool:
    """Equal but for addresses, ports and IP identification: protocol, fragment, length, bytes."""
    return _beside_addresses(up) == _beside_addresses(down)


def _beside_addresses(key: Key) -> Key:
    _, protocol, _, fragment, length, stable = key
    assert isinstance(stable, bytes)
    # ports; of a datagram its checksum too, which the oracle leaves in fragments
    return protocol, fragment, length, stable[{6: 4, 17: 8}.get(int(str(protocol)), 0) :]


@pytest.mark.parametrize("name", measured())
def test_no_match_joins_packets_that_differ(name: str) -> None:
    files = sorted(SETS[name].files)
    point_to_file = {point: file for file, point in points_of(SETS[name]).items()}
    key_at = {
        (file, s.number): key
        for file, groups in keys_of(name).items()
        for key, group in groups.items()
        for s in group
    }
    columns = ("up_point", "up_frame", "down_point", "down_frame")
    result = merged(name, files)
    whole = result.matches.filter(pl.col("kind") == "packet")
    rows = whole.select(columns).collect().iter_rows()
    pairs = [
        ((point_to_file[given(row[0])], row[1]), (point_to_file[given(row[2])], row[3]))
        for row in rows
    ]
    # behind damage the oracle reads nothing more
    pairs = [(up, down) for up, down in pairs if up in key_at and down in key_at]
    rule = untranslated if result.document["translations"] else same
    differing = [(up, down) for up, down in pairs if not rule(key_at[up], key_at[down])]
    assert pairs
    assert not differing


@pytest.mark.parametrize("name", CONTROLS)
def test_nothing_matches_in_a_control(name: str) -> None:
    try:
        result = merged(name, sorted(SETS[name].files))
    except pcaplat.EvidenceError:
        return
    assert result.document["matching"]["n_matched"] == 0


def test_every_set_of_the_index_is_measured_or_excused() -> None:
    assert len(SETS) > 30
    assert not NOT_YET.keys() - SETS.keys()
    excused = [SETS[name] for name in NOT_YET]
    assert all(o.needs_translation for set_ in excused for o in set_.overlaps)


# name: the figures of the published study, in ns: p50, p99, p99.9, maximum where it gives them
FIGURES_NS = {
    "LL-l2fwd-vm": {"p50_ns": 3_340, "p99_ns": 3_990, "p999_ns": 14_700, "max_ns": 19_200},
    "LL-l2fwd-hw": {"p50_ns": 3_100, "max_ns": 13_600},
    "LL-snortfilter-vm": {"p50_ns": 18_400, "p99_ns": 40_900, "p999_ns": 63_000, "max_ns": 73_700},
}
N_SENT = 300_000
DIGIT_NS = 50  # half of the last digit that the index prints


def large(name: str, same_clock: Sequence[str] = ()) -> pcaplat.Result:
    """Merge the captures before and after the device under test."""
    files = SETS[name].files.values()
    points = {("pre" if "-pre-" in file.name else "post"): file for file in files}
    return pcaplat.merge(
        [f"{point}={file}" for point, file in points.items()], same_clock=list(same_clock)
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", FIGURES_NS)
def test_published_figures_come_out_of_the_published_captures(name: str) -> None:
    document = large(name, same_clock=["all"]).document
    assert document["path"] == ["pre", "post"]
    assert "order-assumed" not in [warning["code"] for warning in document["warnings"]]
    row = next(r for r in document["segments"] if r["direction"] == "forward")
    assert (row["n"], row["n_lost"]) == (N_SENT, 0)
    found = {key: row[key] for key in FIGURES_NS[name]}
    assert found == pytest.approx(FIGURES_NS[name], rel=0.01, abs=DIGIT_NS)


@pytest.mark.slow
def test_one_way_traffic_gives_delay_variation_and_drift_alone() -> None:
    document = large("LL-l2fwd-vm").document
    row = next(r for r in document["segments"] if r["n"])
    assert row["n"] == N_SENT
    assert all(
        row[key] is None
        for key in ("min_ns", "mean_ns", "p50_ns", "p99_ns", "max_ns", "clock_half_width_ns")
    )
    # the published quantiles less the published least delay of 3.05 µs
    assert row["pdv_p99_ns"] == pytest.approx(3_990 - 3_050, rel=0.05)
    clocks = {
        clock["quality"]: clock
        for clock in document["clocks"]
        if clock["reference"] != clock["point"]
    }
    assert clocks["one-way"]["drift_ppm"] == pytest.approx(0, abs=0.1)
    assert clocks["one-way"]["half_width_ns"] is None
