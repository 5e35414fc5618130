"""A capture point in one line: where its frames are from, how fine its times are, its clock."""

from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

from pcaplat.text import plain_name
from pcaplat.units import format_ns, format_step


def describe_point(document: Mapping[str, Any], point: str) -> str:
    """Describe a point by what a summary says of it.

    Example:
        >>> row = {"file": "a/vm.pcap", "point": "vm", "resolution_ns": 1e3}
        >>> clock = {"point": "vm", "reference": "up", "quality": "bounded", "half_width_ns": 90.0}
        >>> captures = [row | {"stamp_resolution_ns": None}]
        >>> describe_point({"captures": captures, "clocks": [clock]}, "vm")
        'vm.pcap; timestamps to 1 µs; clock bounded with up, within 90 ns'
    """
    rows = [row for row in document["captures"] if row["point"] == point]
    said = [", ".join(dict.fromkeys(PurePath(row["file"]).name for row in rows))]
    if rows:
        coarsest_ns = max(row["stamp_resolution_ns"] or row["resolution_ns"] for row in rows)
        said.append(f"timestamps to {format_step(coarsest_ns)}")
    for clock in document["clocks"]:
        if clock["point"] == point:
            width_ns = clock["half_width_ns"]
            about = f", within {format_ns(width_ns)}" if width_ns else ""
            said.append(f"clock {clock['quality']} with {clock['reference']}{about}")
    return plain_name("; ".join(filter(None, said)))
