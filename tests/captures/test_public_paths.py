"""Captures nobody here made: paths as their points really lie."""

from __future__ import annotations

import pytest

import pcaplat
from tests.support.shelf import public_sets

SETS = public_sets()
pytestmark = pytest.mark.skipif(not SETS, reason="the shared captures are not here")


def test_probes_of_a_kernel_are_passed_in_one_order() -> None:
    """Median latencies by tshark's stamps of the same frames (frame.time_epoch), in µs."""
    with pcaplat.merge(list(SETS["RETIS-ovs"].files.values())) as result:
        document = result.document
    names = [name.removeprefix("test_events_packets/") for name in document["path"]]
    assert names == [
        "raw_tracepoint/net:net_dev_start_xmit",
        "raw_tracepoint/net:netif_receive_skb",
        "raw_tracepoint/openvswitch:ovs_dp_upcall",
        "kretprobe/ovs_dp_upcall",
        "raw_tracepoint/openvswitch:ovs_do_execute_action",
        "raw_tracepoint/skb:kfree_skb",
    ]
    rows = document["segments"]
    assert {row["direction"] for row in rows} == {"forward"}
    assert [row["n"] for row in rows] == [4, 2, 2, 2, 2, 2]
    assert [round(row["min_ns"]) for row in rows] == [5_817, 5_085, 8_107, 70_287, 14_099, 51_565]
    assert "same-order-both-ways" in {row["code"] for row in document["warnings"]}


HOSTS = ("relay", "server")


def test_a_link_of_few_packets_is_measured_beside_busy_ones() -> None:
    """The relay is busy with others: 46 of its packets are at the server too (index: 42)."""
    set_ = SETS["PX-softether-l2tp_ipsec-l2tp_ssh"]
    with pcaplat.merge([str(path) for path in set_.files.values()]) as result:
        rows = result.document["segments"]
    # of each host there are two captures of one clock, one a part of the other
    nears, fars = ({f"{also}{host}" for also in ("", "data_capture_")} for host in HOSTS)
    found = {r["direction"]: r["n"] for r in rows if r["near"] in nears and r["far"] in fars}
    assert sum(found.values()) >= 42
    assert set(found) == {"forward", "reverse"}


def test_ports_captured_by_direction_are_in_the_order_of_the_wires() -> None:
    """Four switches, each port in and out: stamps of tshark are 3 to 14 µs apart on wires."""
    set_ = SETS["P4-VLAN"]
    with pcaplat.merge([str(path) for path in set_.files.values()], same_clock=["all"]) as result:
        rows = result.document["segments"]
    wires = {("s1-eth3_out", "s3-eth1_in"), ("s3-eth2_out", "s2-eth4_in")}
    wires |= {("s1-eth4_in", "s4-eth2_out"), ("s4-eth1_in", "s2-eth3_out")}
    assert {(row["near"], row["far"]) for row in rows} > wires
    for row in rows:
        is_wire = (row["near"], row["far"]) in wires
        least_ns, most_ns = (3_000, 14_000) if is_wire else (100_000, 650_000)
        assert row["min_ns"] >= least_ns
        assert row["max_ns"] <= most_ns
        assert (row["n"], row["n_lost"]) == (8, 0) or not is_wire
