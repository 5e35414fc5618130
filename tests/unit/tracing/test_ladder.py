"""The ladder: what a page has room for, and what it does not claim of packets that are open."""

from __future__ import annotations

import io
import xml.etree.ElementTree as ET
from itertools import pairwise
from typing import Any

import pytest

from pcaplat.outputs.reports.trace.ladder import ladder_lines
from pcaplat.outputs.svg import show_trace

POINTS = ["host1-vm", "host1-up", "sw-a", "sw-b", "host2-up", "host2-vm"]
LABEL = "PSH,ACK seq 1190220118, 64 bytes"
SVG = "{http://www.w3.org/2000/svg}"


def sighting(point: str, status: str = "matched") -> dict[str, Any]:
    return {"point": point, "status": status}


def packet(points: list[str], status: str = "matched", **other: Any) -> dict[str, Any]:  # noqa: ANN401 - fields of it
    pairs = pairwise(points)
    return {
        "t_ns": 0,
        "direction": "forward" if len(points) > 1 else None,
        "is_retransmission": False,
        "lost": [],
        "label": LABEL,
        "sightings": [sighting(point, status) for point in points],
        "segments": [
            {"up_point": up, "down_point": down, "latency_ns": 105_330.0} for up, down in pairs
        ],
        **other,
    }


def flow(*packets: dict[str, Any]) -> dict[str, Any]:
    return {"points": POINTS, "ends": ["a", "b"], "packets": list(packets)}


@pytest.mark.parametrize("width", [78, 98, 158])
def test_names_and_latencies_are_whole_and_what_is_cut_says_so(width: int) -> None:
    again = packet(POINTS, is_retransmission=True)
    head, line, longer = ladder_lines(flow(packet(POINTS), again), width)
    assert head.split()[2:8] == POINTS
    assert line.count("105.33") == 5
    assert max(map(len, (head, line, longer))) <= width
    for text, whole in ((line, LABEL), (longer, f"retransmission, {LABEL}")):
        assert text.endswith((whole, "…"))
    assert longer.endswith("bytes") == (width > 120)


def test_a_packet_of_which_too_little_is_known_is_called_so() -> None:
    open_ = [packet(["host1-vm"], status) for status in ("ambiguous", "unmatched")]
    lost = packet(["host1-vm"], lost=[{"near": "host1-vm", "far": "host1-up"}])
    texts = ladder_lines(flow(*open_, lost), 158)[1:]
    marks = [text.split("  ")[-1].split(",")[0] for text in texts]
    assert marks == ["ambiguous", "unmatched", "lost"]


def test_the_picture_marks_each_point_that_captured_a_packet() -> None:
    stream = io.StringIO()
    show_trace({"flow": flow(packet(POINTS), packet(["sw-a"], "unmatched"))}, stream)
    groups = ET.fromstring(stream.getvalue()).findall(f"{SVG}g")  # noqa: S314 - just written
    assert [len(group.findall(f"{SVG}circle")) for group in groups] == [6, 1]
    assert "".join(groups[1].itertext()).endswith("unmatched")
