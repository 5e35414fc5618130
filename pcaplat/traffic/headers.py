"""Bytes of headers, by the layers of a frame: what of a frame is IP packet, and what payload."""

HEADER_BYTES = {
    "ethernet": 14,
    "vlan": 4,
    "mpls": 4,
    "pppoe": 6,
    "ppp": 2,
    "sll": 16,
    "sll2": 20,
    "null": 4,
    "loop": 4,
    "raw": 0,
    "ipv4": 20,
    "ipv6": 40,
    "udp": 8,
    "vxlan": 8,
}
"""Lengths of headers that have one length; IPv4's without options."""

ETHERNET_LIKE = ("ethernet",)
NETWORK = ("ipv4", "ipv6")
FCS_BYTES = 4
"""Bytes of the frame check sequence, which captures leave out."""

LINE_BYTES = 20
"""Bytes of preamble, start of frame and the least gap (IEEE 802.3)."""


def l2_header_bytes(layers: str) -> int | None:
    """Bytes in front of the outermost IP packet; None where there is none, or a layer unknown.

    Example:
        >>> l2_header_bytes("ethernet/vlan/ipv4/udp/vxlan/ethernet/ipv4/tcp")
        18
    """
    names = layers.split("/")
    first = next((at for at, name in enumerate(names) if name in NETWORK), None)
    return None if first is None else _sum(names[:first])


def carries_ip(layers: str) -> bool:
    """Tell whether a layer is IP.

    Example:
        >>> carries_ip("ethernet/arp"), carries_ip("ethernet/vlan/ipv6/udp")
        (False, True)
    """
    return any(name in NETWORK for name in layers.split("/"))


def udp_header_bytes(layers: str) -> int | None:
    """Bytes in front of the payload of an innermost UDP datagram; None for anything else.

    Example:
        >>> udp_header_bytes("ethernet/ipv4/udp"), udp_header_bytes("ethernet/ipv4/tcp")
        (42, None)
    """
    names = layers.split("/")
    return _sum(names) if names[-1] == "udp" else None


def is_ethernet(layers: str) -> bool:
    """Tell whether preamble, gap and FCS are known: the frame was captured as Ethernet."""
    return layers.partition("/")[0] in ETHERNET_LIKE


def _sum(names: list[str]) -> int | None:
    known = [HEADER_BYTES.get(name) for name in names]
    return None if None in known else sum(n for n in known if n is not None)
