"""Clocks of captures nobody here made: their offsets lie where the packets put them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

import pcaplat
from tests.support.shelf import public_sets

if TYPE_CHECKING:
    from collections.abc import Mapping

SETS = public_sets()
pytestmark = pytest.mark.skipif(not SETS, reason="the shared captures are not here")

MS = 1_000_000
COPY_NS = 50_000


class Apart(NamedTuple):
    """What the shelf's index has of two files: the usual raw difference, ns."""

    near: str
    far: str
    usual_ns: float


KNOWN = {
    "CS-ttl": Apart("ip_ttl_source", "ip_ttl_dest", -48_851.3 * MS),
    "CS-stranded": Apart("stranded_clientside", "stranded_branchdns", 5_958_961.2 * MS),
    "CS-dns": Apart("dns_recursivequery_client", "dns_recursivequery_server", 0),
    "PX-wireguard-wireguard_ssh": Apart("client", "relay", 302 * MS),
    "PX-xl2tpd-xl2tpd-l2tp_ssh": Apart("client", "relay", -18.4 * MS),
    "PX-xl2tpd-xl2tpd-l2tp_https2": Apart("client", "relay", -16.8 * MS),
    "PX-openvpn-tap_udp-openvpn_ftps": Apart("client", "relay", 96.7 * MS),
    "PX-softether-l2tp_ipsec-l2tp_ssh": Apart("client", "relay", -60 * MS),
}


class Between(NamedTuple):
    """What the shelf's index has of two files: the least and the greatest raw difference, ns."""

    near: str
    far: str
    least_ns: float
    most_ns: float


FEW_OR_FAR = {
    "PX-base-base_https3": Between("client", "server", 23.697 * MS, 41.979 * MS),
    "PX-base-base_dns": Between("client", "server", 148.942 * MS, 188.739 * MS),
    "PX-xl2tpd-xl2tpd_ipsec-l2tp_ssh": Between("client", "relay", 76.180 * MS, 240.288 * MS),
    "VINET-nat": Between("client", "server", 897.885 * MS, 1_079.977 * MS),
}
"""Few packets, or paths of tens of ms: their usual difference says nothing."""

BEYOND_RELAY_NS = {
    "PX-openvpn-tap_udp-openvpn_ftps": -5.6 * MS,
}
"""Of the server's capture less the relay's, as usual."""


def _file(row: Mapping[str, Any]) -> str:
    """Name the file of a point: a relay's own capture is divided, and has one clock."""
    return str(row["point"]).partition("/")[0]


@pytest.mark.parametrize("name", FEW_OR_FAR)
def test_the_offset_lies_between_the_differences_of_packets(name: str) -> None:
    known = FEW_OR_FAR[name]
    document = pcaplat.merge([str(f) for f in SETS[name].files.values()], reference=known.near)
    clocks = {row["point"]: row for row in document.document["clocks"]}
    assert clocks[known.far]["quality"] == "bounded"
    assert known.least_ns <= clocks[known.far]["offset_ns"] <= known.most_ns
    assert clocks[known.far]["half_width_ns"] <= (known.most_ns - known.least_ns) / 2 + 5 * MS
    assert not any(row["steps"] for row in clocks.values())


@pytest.mark.parametrize("name", BEYOND_RELAY_NS)
def test_the_server_is_as_far_from_the_relay_as_packets_say(name: str) -> None:
    files = [str(file) for file in SETS[name].files.values()]
    document = pcaplat.merge(files, reference="relay").document
    server = next(row for row in document["clocks"] if row["point"] == "server")
    off_ns = abs(server["offset_ns"] - BEYOND_RELAY_NS[name])
    assert off_ns <= server["half_width_ns"] + 0.1 * MS


@pytest.mark.parametrize("name", KNOWN)
def test_the_offset_is_what_the_packets_say(name: str) -> None:
    known = KNOWN[name]
    files = [str(file) for file in SETS[name].files.values()]
    document = pcaplat.merge(files, reference=known.near).document
    clocks = {_file(row): row for row in document["clocks"]}
    far = clocks[known.far]
    assert far["quality"] == "bounded"
    # the usual difference holds the way there or back too, so it is at an end of the interval
    assert abs(far["offset_ns"] - known.usual_ns) <= far["half_width_ns"] + 0.1 * MS
    assert not any(row["steps"] for row in document["clocks"])


@pytest.mark.parametrize("name", [name for name in KNOWN if name.startswith("PX-")])
def test_copies_of_a_capture_have_its_clock(name: str) -> None:
    document = pcaplat.merge([str(file) for file in SETS[name].files.values()]).document
    offset_ns = {_file(row): row["offset_ns"] for row in document["clocks"]}
    for point in ("client", "relay", "server"):
        copy_ns, own_ns = offset_ns[f"data_capture_{point}"], offset_ns[point]
        assert copy_ns == own_ns or abs(copy_ns - own_ns) <= COPY_NS
