"""What tshark reads of a capture, frame by frame: an independent opinion."""

from __future__ import annotations

import ipaddress
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

FIELDS = [
    *("frame.number", "frame.protocols", "frame.len", "frame.cap_len", "frame.time_epoch"),
    *("ip.src", "ip.dst", "ipv6.src", "ipv6.dst"),
    *("tcp.srcport", "tcp.dstport", "udp.srcport", "udp.dstport"),
    *("ip.id", "ip.ttl", "ipv6.fraghdr.ident", "ipv6.hlim"),
    *("tcp.seq_raw", "tcp.ack_raw", "tcp.len"),
    *("ip.len", "ip.hdr_len", "ipv6.plen", "tcp.hdr_len"),
]
OPTIONS = [
    *("-o", "ip.defragment:FALSE", "-o", "ipv6.defragment:FALSE"),
    *("-o", "tcp.desegment_tcp_streams:FALSE", "-o", "tcp.analyze_sequence_numbers:FALSE"),
    *("-d", "udp.port==8472,vxlan", "-E", "occurrence=a", "-E", "aggregator=;"),
    # what Linux does; it is in no packet (RFC 3931 §4.1)
    *("-d", "l2tp.pw_type==0,eth", "-o", "l2tp.cookie_size:None"),
    *("-o", "l2tp.l2_specific:Default L2-Specific"),
]
QUOTES = ("icmp", "icmpv6")
NETWORKS = ("ip", "ipv6", "arp")
NAMES = {
    **{name: name for name in ("arp", "ah", "erspan", "esp", "etherip", "geneve", "gre", "icmp")},
    **{name: name for name in ("icmpv6", "ipv6", "juniper", "l2tp", "llc", "macsec", "mpls")},
    **{
        name: name for name in ("nflog", "nsh", "null", "ppi", "ppp", "sll", "stt", "tcp", "teredo")
    },
    **{name: name for name in ("teredo", "trill", "udp", "vlan", "vntag")},
    "eth": "ethernet",
    "ip": "ipv4",
    "gtp": "gtpu",
    "pppoes": "pppoe",
    "fr": "frelay",
    "ieee8021ad": "vlan",
    "ieee8021ah": "ethernet",
    "lisp-data": "lisp",
    "chdlc": "chdlc",
}
"""Protocols of tshark that are layers here; what else it lists are applications, or options."""


@dataclass(frozen=True, slots=True)
class Facts:
    """What a reader says of a frame."""

    number: int
    wire_bytes: int
    captured_bytes: int
    t_ns: int | None
    layers: tuple[str, ...]
    addresses: tuple[str, ...]
    ports: tuple[str, ...]
    ip_id: int | None
    ttl: int | None
    tcp_seq: int | None
    tcp_ack: int | None
    payload_bytes: int | None


def listed(path: Path) -> tuple[list[tuple[str, Facts]], bool]:
    """What tshark lists: protocols and facts of each frame; and whether it read to the end."""
    fields = [word for name in FIELDS for word in ("-e", name)]
    command = ["tshark", "-n", "-r", str(path), *OPTIONS, "-T", "fields", *fields]
    done = subprocess.run(command, capture_output=True, check=False, timeout=900)
    lines = done.stdout.decode(errors="replace").splitlines()
    rows = (line.split("\t") for line in lines)
    return [(row[1], _facts_of(row)) for row in rows], done.returncode == 0


def _facts_of(row: list[str]) -> Facts:
    value = dict(zip(FIELDS, row, strict=True))
    layers = _until_quote(value["frame.protocols"].split(":"))
    network, above = _innermost(layers)
    transport = next((layer for layer in above if layer in {"tcp", "udp"}), None)
    addresses = [
        nth(value[f"{network}.{end}"], layers.count(network)) for end in ("src", "dst") if network
    ]
    ports = [
        nth(value[f"{transport}.{end}"], layers.count(transport))
        for end in ("srcport", "dstport")
        if transport
    ]
    segments = layers.count("tcp") if transport == "tcp" else 0
    return Facts(
        int(value["frame.number"]),
        int(value["frame.len"]),
        int(value["frame.cap_len"]),
        _t_ns(value["frame.time_epoch"]),
        tuple(NAMES[layer] for layer in layers if layer in NAMES),
        tuple(str(ipaddress.ip_address(one)) for one in addresses if one),
        tuple(port for port in ports if port),
        _identification(value, layers, network),
        _number(value["ipv6.hlim" if network == "ipv6" else "ip.ttl"], layers.count(network)),
        _number(value["tcp.seq_raw"], segments),
        _number(value["tcp.ack_raw"], segments),
        _payload_bytes(value, layers, segments),
    )


def _payload_bytes(value: dict[str, str], layers: list[str], segments: int) -> int | None:
    """By what the headers of IP and TCP say (RFC 791 §3.1, RFC 8200 §3), also where less is there.

    tshark's own length is what is there, and stands where the headers leave it open.
    """
    network, above = _innermost(layers)
    header_bytes = _number(value["tcp.hdr_len"], segments)
    is_6 = network == "ipv6"
    said = _number(value["ipv6.plen" if is_6 else "ip.len"], layers.count(network))
    if header_bytes is None or not said or above[0] != "tcp":
        return _number(value["tcp.len"], segments)
    before_bytes = 0 if is_6 else _number(value["ip.hdr_len"], layers.count(network)) or 0
    return max(said - before_bytes - header_bytes, 0)


def _t_ns(text: str) -> int | None:
    """The seconds, and the nanoseconds behind the point, in some files a second or more of them."""
    seconds, _, fraction_ns = text.partition(".")
    return int(seconds) * 10**9 + int(fraction_ns) if text else None


def _innermost(layers: list[str]) -> tuple[str, list[str]]:
    """The innermost IP, and what is above it; nothing if the innermost packet is another."""
    at = max((at for at, layer in enumerate(layers) if layer in NETWORKS), default=-1)
    above = layers[at + 1 :]
    # a frame without IP in a tunnel is the packet
    return ("", []) if at < 0 or layers[at] == "arp" or "eth" in above else (layers[at], above)


def _identification(value: dict[str, str], layers: list[str], network: str) -> int | None:
    if network == "ip":
        return _number(value["ip.id"], layers.count("ip"))
    has_fragment = network == "ipv6" and "ipv6.fraghdr" in layers
    return _number(value["ipv6.fraghdr.ident"], 1) if has_fragment else None


def _until_quote(layers: list[str]) -> list[str]:
    """The layers of the packet itself, without those that an error message quotes."""
    ends = [at for at, layer in enumerate(layers) if layer in QUOTES]
    return layers[: ends[0] + 1] if ends else layers


def _number(values: str, n: int) -> int | None:
    found = nth(values, n)
    return int(found, 0) if found else None


def nth(values: str, n: int) -> str:
    """The n-th of several values of a field, from 1."""
    found = values.split(";")
    return found[n - 1] if 0 < n <= len(found) else ""
