"""Records of a pcap file at places that are known already, so that nothing before them is read.

Spec: draft-ietf-opsawg-pcap. A record has 16 bytes before its packet, the file 24 before the first.
"""

import struct
from collections.abc import Mapping
from pathlib import Path

from pcaplat.tables.columns import Row

FILE_HEADER_BYTES, RECORD_HEADER_BYTES = 24, 16
KINDS = {
    bytes.fromhex(magic): (order, ns_per_tick)
    for magic, order, ns_per_tick in (
        ("d4c3b2a1", "<", 1000),
        ("a1b2c3d4", ">", 1000),
        ("4d3cb2a1", "<", 1),
        ("a1b23c4d", ">", 1),
    )
}
"""Byte order and resolution, by how the file begins."""
MOST_LINK = 0xFFFF
"""What is above says that frames end with a check sequence."""

Records = dict[int, tuple[int, bytes]]
"""Link type and packet, by the number of the frame."""


def records_at(file: str, rows: Mapping[int, Row], bytes_before: Mapping[int, int]) -> Records:
    """Read some records of an uncompressed pcap file.

    Args:
        file: Where it is.
        rows: What is known of the frames, by their numbers.
        bytes_before: How many bytes of packets lie before each of them.

    Returns:
        The records; none where the file is of another kind, or one is not what its row says.
    """
    found: Records = {}
    with Path(file).open("rb") as stream:
        head = stream.read(FILE_HEADER_BYTES)
        kind = KINDS.get(head[:4])
        if kind is None or len(head) < FILE_HEADER_BYTES:
            return {}
        order, ns_per_tick = kind
        (link,) = struct.unpack_from(f"{order}I", head, 20)
        for number, row in rows.items():
            place = RECORD_HEADER_BYTES * (number - 1) + bytes_before[number]
            stream.seek(FILE_HEADER_BYTES + place)
            header = stream.read(RECORD_HEADER_BYTES)
            if len(header) < RECORD_HEADER_BYTES or link > MOST_LINK:
                return {}
            seconds, ticks, n_captured, n_wire = struct.unpack(f"{order}IIII", header)
            t_ns = seconds * 10**9 + ticks * ns_per_tick
            told = (row["t_ns"], row["captured_bytes"], row["wire_bytes"])
            if (t_ns, n_captured, n_wire) != told:
                return {}
            found[number] = (link, stream.read(n_captured))
    return found
