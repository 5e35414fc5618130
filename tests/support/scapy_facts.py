"""What scapy reads of the first frames of a capture: an opinion independent of tshark's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scapy.error import Scapy_Exception
from scapy.layers.inet import IP, TCP, UDP, IPerror
from scapy.layers.l2 import Ether
from scapy.layers.vxlan import VXLAN
from scapy.utils import PcapReader

if TYPE_CHECKING:
    from pathlib import Path

MAX_FRAMES = 50
PLAIN = {"Ether", "Dot1Q", "IP", "TCP", "UDP", VXLAN.__name__, "GRE", "Raw", "Padding", "ICMP"}
"""Only packets of nothing but these are compared: of others scapy guesses more than it knows."""


def scapy_rows(path: Path) -> list[dict[str, Any] | None]:
    """The innermost IPv4 packet of each frame, None where scapy and pcaplat need not agree."""
    rows: list[dict[str, Any] | None] = []
    try:
        # its reader leaves files open that it refuses
        with path.open("rb") as file, _reader(file) as reader:
            for packet in reader:
                if len(rows) == MAX_FRAMES:
                    break
                rows.append(_row(packet))
    except (Scapy_Exception, EOFError, OSError):
        # what it cannot read at all is no opinion
        return rows
    return rows


def _reader(file: Any) -> PcapReader:  # noqa: ANN401 - scapy's types know names only
    return PcapReader(file)


def _row(packet: Any) -> dict[str, Any] | None:  # noqa: ANN401 - scapy has no types
    names = [layer.__name__ for layer in packet.layers()]
    if not isinstance(packet, Ether) or not set(names) <= PLAIN or packet.haslayer(IPerror):
        return None
    n_networks = names.count("IP")
    # a frame without IP in a tunnel is the packet
    if not n_networks or "Ether" in names[len(names) - names[::-1].index("IP") :]:
        return None
    inner: Any = packet.getlayer(IP, n_networks)
    row = {"src": inner.src, "dst": inner.dst, "ip_id": inner.id, "ttl": inner.ttl}
    if inner.haslayer(TCP):
        row |= {"tcp_seq": inner[TCP].seq, "tcp_ack": inner[TCP].ack}
    for transport in (TCP, UDP):
        if inner.haslayer(transport):
            row |= {"src_port": inner[transport].sport, "dst_port": inner[transport].dport}
    return row
