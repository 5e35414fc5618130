"""Frames in the hands of other dissectors: scapy's packets, and the fields that Wireshark shows.

A row of the packets table names a file and a frame of it; its bytes are read from there. Neither
library is needed for anything else.
"""

import struct
from collections.abc import Iterable, Mapping
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from pcaplat.errors import InputError
from pcaplat.stages.read import CapturedFrame, frames_at, read

if TYPE_CHECKING:
    import polars as pl
    from pyshark.packet.packet import Packet as SharkPacket
    from scapy.packet import Packet

NANOSECOND_PCAP = 0xA1B23C4D
SNAP_BYTES = 262_144
SECOND_NS = 1_000_000_000


def to_scapy(row: Mapping[str, Any]) -> "Packet":
    """Give a frame as a scapy packet.

    Args:
        row: A row of the packets table: `file`, `frame`, and `t_ns` if the packet shall have a
            time.

    Returns:
        The packet, dissected by scapy from the first layer on, with `time` and `wirelen`.

    Raises:
        InputError: The row names no frame, the file has no such frame, or scapy is not installed.
        OSError: The file cannot be opened.

    Assumes:
        The capture is at the path of the row; a relative path starts at the working folder.

    Example:
        >>> import polars as pl, pcaplat
        >>> packets = pl.DataFrame(pcaplat.read("samples/vxlan/host1-up.pcap"))
        >>> to_scapy(packets.row(0, named=True)).summary().split(" / ")[:4]
        ['Ether', 'IP', 'UDP', 'VXLAN']
    """
    frame = _captured(row, "to_scapy")
    _module("scapy.layers.all", "scapy")
    conf = _module("scapy.config", "scapy").conf
    dissect = conf.l2types.num2layer.get(frame.link, conf.raw_layer)
    packet: Packet = dissect(frame.data)
    packet.wirelen = frame.wire_bytes
    if (t_ns := row.get("t_ns")) is not None:
        decimal = _module("scapy.utils", "scapy").EDecimal
        packet.time = decimal(int(t_ns)) / SECOND_NS
    return packet


def from_scapy(packets: "Packet | Iterable[Packet]", *, point: str = "scapy") -> "pl.DataFrame":
    """Give scapy packets as rows of the packets table, decoded by pcaplat.

    Args:
        packets: One or several, all of one link type.
        point: Value of the columns `point` and `file`.

    Returns:
        A row for each packet, in order, as `read` gives it.

    Raises:
        InputError: scapy is not installed.

    Example:
        >>> from scapy.layers.inet import IP, UDP
        >>> from scapy.layers.l2 import Ether
        >>> made = Ether() / IP(src="10.0.0.1", dst="10.0.0.2") / UDP(dport=53)
        >>> from_scapy(made).select("layers", "dst", "dst_port").row(0)
        ('ethernet/ipv4/udp', '10.0.0.2', 53)
    """
    import polars as pl  # noqa: PLC0415 - slow, seldom needed

    write = _module("scapy.utils", "scapy").wrpcap
    with TemporaryDirectory(prefix="pcaplat-") as folder:
        path = Path(folder) / "scapy.pcap"
        write(str(path), packets, nano=True)
        return pl.DataFrame(read(path, points=[point], files=[point]))


def to_pyshark(row: Mapping[str, Any]) -> "SharkPacket":
    """Give a frame with the fields that Wireshark shows, through pyshark and tshark.

    tshark sees this frame alone: fields that need frames before it (TCP analysis, reassembly) are
    absent, and `number` is 1.

    Args:
        row: A row of the packets table: `file`, `frame`, and `t_ns`.

    Raises:
        InputError: The row names no frame, the file has no such frame, or pyshark is not installed.
        OSError: The file cannot be opened.
    """
    frame = _captured(row, "to_pyshark")
    shark = _module("pyshark", "pyshark")
    with TemporaryDirectory(prefix="pcaplat-") as folder:
        path = Path(folder) / "frame.pcap"
        path.write_bytes(_pcap(frame, int(row.get("t_ns") or 0)))
        with shark.FileCapture(str(path)) as capture:
            shown: SharkPacket = capture[0]
    return shown


def _captured(row: Mapping[str, Any], function: str) -> CapturedFrame:
    try:
        file, number = str(row["file"]), int(row["frame"])
    except (KeyError, TypeError, ValueError):
        raise InputError(
            f"{function}: the row names no file and frame; give a row of the packets table, "
            "e.g. packets.row(0, named=True)"
        ) from None
    found = frames_at(file, [number])
    if not found:
        raise InputError(f"{file}: has no frame {number}")
    return found[0]


def _pcap(frame: CapturedFrame, t_ns: int) -> bytes:
    """Give a capture of one frame (draft-ietf-opsawg-pcap)."""
    head = struct.pack("<IHHiIII", NANOSECOND_PCAP, 2, 4, 0, 0, SNAP_BYTES, frame.link)
    second, ns = divmod(t_ns, SECOND_NS)
    lengths = (len(frame.data), max(frame.wire_bytes, len(frame.data)))
    return head + struct.pack("<IIII", second, ns, *lengths) + frame.data


def _module(name: str, package: str) -> Any:  # noqa: ANN401 - without types
    """Import what is not installed with pcaplat."""
    try:
        return import_module(name)
    except ModuleNotFoundError as missing:
        if (missing.name or "").partition(".")[0] != package:
            raise
        raise InputError(f"{package} is not installed: pip install {package}") from None
