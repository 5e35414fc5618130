"""Headers of a captured frame, field by field: what the points of a path may change."""

import ipaddress
from collections.abc import Callable, Mapping, Sequence
from difflib import SequenceMatcher

from pcaplat.records import dataclass

Fields = dict[str, str]
"""Text of each field of a header, by its name."""


@dataclass(frozen=True)
class HeaderField:
    """Where in its header a field stands, in bits from the start, and how it is written."""

    at_bit: int
    n_bits: int
    text: Callable[[int], str] = str


@dataclass(frozen=True)
class HeaderChange:
    """A field, or a layer, that is another behind a segment; None: it is not there."""

    layer: str
    field: str
    before: str | None
    after: str | None
    is_outer: bool = False
    """Whether the packet has a further layer of this name, farther inside."""


def _hex16(value: int) -> str:
    return f"0x{value:04x}"


def _words(value: int) -> str:
    return str(4 * value)


def _mac(value: int) -> str:
    return value.to_bytes(6, "big").hex(":")


def _ipv4(value: int) -> str:
    return str(ipaddress.IPv4Address(value))


def _ipv6(value: int) -> str:
    return str(ipaddress.IPv6Address(value))


def _flags(value: int) -> str:
    names = ("FIN", "SYN", "RST", "PSH", "ACK", "URG")
    return ",".join(name for at, name in enumerate(names) if value >> at & 1)


PORTS = {"source port": HeaderField(0, 16), "destination port": HeaderField(16, 16)}
HEADERS: Mapping[str, Mapping[str, HeaderField]] = {
    "ethernet": {"destination": HeaderField(0, 48, _mac), "source": HeaderField(48, 48, _mac)},
    "vlan": {"priority": HeaderField(0, 3), "id": HeaderField(4, 12)},
    "mpls": {"label": HeaderField(0, 20), "ttl": HeaderField(24, 8)},
    "ipv4": {
        "header length": HeaderField(4, 4, _words),
        "dscp": HeaderField(8, 6),
        "ecn": HeaderField(14, 2),
        "length": HeaderField(16, 16),
        "id": HeaderField(32, 16, _hex16),
        "ttl": HeaderField(64, 8),
        "checksum": HeaderField(80, 16, _hex16),
        "source": HeaderField(96, 32, _ipv4),
        "destination": HeaderField(128, 32, _ipv4),
    },
    "ipv6": {
        "dscp": HeaderField(4, 6),
        "ecn": HeaderField(10, 2),
        "flow label": HeaderField(12, 20),
        "length": HeaderField(32, 16),
        "next header": HeaderField(48, 8),
        "hop limit": HeaderField(56, 8),
        "source": HeaderField(64, 128, _ipv6),
        "destination": HeaderField(192, 128, _ipv6),
    },
    "tcp": {
        **PORTS,
        "sequence number": HeaderField(32, 32),
        "acknowledgment number": HeaderField(64, 32),
        "header length": HeaderField(96, 4, _words),
        "flags": HeaderField(106, 6, _flags),
        "window": HeaderField(112, 16),
        "checksum": HeaderField(128, 16, _hex16),
    },
    "udp": {**PORTS, "length": HeaderField(32, 16), "checksum": HeaderField(48, 16, _hex16)},
    "icmp": {"checksum": HeaderField(16, 16, _hex16)},
    "icmpv6": {"checksum": HeaderField(16, 16, _hex16)},
    "vxlan": {"vni": HeaderField(32, 24)},
    "vxlan_gpe": {"vni": HeaderField(32, 24)},
    "geneve": {"vni": HeaderField(32, 24)},
    "gtpu": {"teid": HeaderField(32, 32, _hex16)},
}
"""RFC 791, 8200, 9293, 768, 792, 4443, 7348, 8926, 3032, IEEE 802.3 and 802.1Q, TS 29.281."""


def fields_of(frame: bytes, layer: str, start: int) -> Fields:
    r"""Read the fields of one header; those that were not captured are left out.

    Example:
        >>> fields_of(bytes.fromhex("0050c3500008beef"), "udp", 0)["checksum"]
        '0xbeef'
        >>> [*fields_of(b"\0" * 5, "udp", 0)]
        ['source port', 'destination port']
    """
    header = frame[start:]
    return {
        name: field.text(_bits(header, field))
        for name, field in HEADERS.get(layer, {}).items()
        if field.at_bit + field.n_bits <= 8 * len(header)
    }


def _bits(header: bytes, field: HeaderField) -> int:
    first, last = field.at_bit // 8, -(-(field.at_bit + field.n_bits) // 8)
    value = int.from_bytes(header[first:last], "big")
    return value >> (8 * last - field.at_bit - field.n_bits) & (1 << field.n_bits) - 1


Header = tuple[str, Fields]


def changes_between(before: Sequence[Header], after: Sequence[Header]) -> list[HeaderChange]:
    """Give what differs between the headers of a packet at two points, outermost first.

    Layers are compared from the innermost outwards, so a tunnel that begins in between is layers
    that came, not others that changed.

    Example:
        >>> tagged = [("ethernet", {}), ("vlan", {"id": "7"}), ("ipv4", {"ttl": "63"})]
        >>> for change in changes_between([("ethernet", {}), ("ipv4", {"ttl": "64"})], tagged):
        ...     print(change.layer, change.field, change.before, change.after)
        vlan layer None id 7
        ipv4 ttl 64 63
    """
    one, other = ([*reversed(headers)] for headers in (before, after))
    names = [[name for name, _ in headers] for headers in (one, other)]
    changes: list[list[HeaderChange]] = []
    matcher = SequenceMatcher(None, names[0], names[1], autojunk=False)
    for kind, a, b, c, d in matcher.get_opcodes():
        if kind == "equal":
            for at, (header, then) in enumerate(zip(one[a:b], other[c:d], strict=True), a):
                is_outer = header[0] in names[0][:at]
                changes.append(_changed(header, then[1], is_outer=is_outer))
            continue
        for has, of, first, last in ((True, one, a, b), (False, other, c, d)):
            changes += [[_layer(of, at, is_before=has)] for at in range(first, last)]
    return [change for of_layer in reversed(changes) for change in of_layer]


def _layer(headers: Sequence[Header], at: int, *, is_before: bool) -> HeaderChange:
    """Give a layer that only one of the points has; headers stand innermost first."""
    name, fields = headers[at]
    is_outer = name in [inner for inner, _ in headers[:at]]
    before, after = (_text(fields), None) if is_before else (None, _text(fields))
    return HeaderChange(name, "layer", before, after, is_outer)


def _changed(header: Header, after: Fields, *, is_outer: bool) -> list[HeaderChange]:
    """What was not captured at one of the points is not known to have changed."""
    layer, before = header
    return [
        HeaderChange(layer, name, before[name], after[name], is_outer)
        for name in before
        if name in after and before[name] != after[name]
    ]


def _text(fields: Fields) -> str:
    """The fields that say which tunnel, tag or hop a layer is of."""
    told = ("source", "destination", "vni", "id", "teid", "label")
    return ", ".join(f"{name} {fields[name]}" for name in told if name in fields)
