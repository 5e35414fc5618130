"""Components of tracers are capture points on one path with wires; ids tell packets apart."""

from __future__ import annotations

import struct
import subprocess
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

import pcaplat
from tests.support.frames import TCP, ip, write_pcap
from tests.support.tracers import (
    COMPONENTS,
    START_NS,
    Traced,
    request,
    trace,
    write_pktcap,
    write_pktmon,
    write_pktmon_text,
    write_retis,
    write_retis_events,
    write_retis_sorted,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

FORMATS: dict[str, tuple[Callable[[Path, Sequence[str], Sequence[Traced]], None], str, int]] = {
    "pktmon": (write_pktmon, "trace.pcapng", 1),
    "pktmon text": (write_pktmon_text, "trace.txt", 100),
    "retis": (write_retis, "trace.pcapng", 1),
    "retis events": (write_retis_events, "trace.data", 1),
    "retis sorted": (write_retis_sorted, "trace.data", 1),
    "pktcap-uw": (write_pktcap, "trace.txt", 1_000),
}
NAMED_OTHERWISE = {
    "pktmon text": ("78", "31", "15"),
    "retis events": COMPONENTS,
    "retis sorted": COMPONENTS,
}
POINTS = {
    "pktmon text": [f"trace/component{one}-edge1" for one in NAMED_OTHERWISE["pktmon text"]],
    "retis events": [f"trace/kprobe/{one}@eth{at}" for at, one in enumerate(COMPONENTS)],
    "retis sorted": [f"trace/kprobe/{one}@eth{at}" for at, one in enumerate(COMPONENTS)],
}


def names_of(kind: str) -> tuple[tuple[str, ...], list[str]]:
    """Give what a tracer calls its components, and the points that they become."""
    points = POINTS.get(kind, [f"trace/{one}" for one in COMPONENTS])
    return NAMED_OTHERWISE.get(kind, COMPONENTS), points


def merged(files: list[Path], **options: Any) -> tuple[dict[str, Any], pl.DataFrame]:  # noqa: ANN401
    with pcaplat.merge([str(one) for one in files], **options) as result:
        return result.document, result.matches.collect()


@pytest.mark.parametrize("kind", FORMATS)
def test_components_and_a_wire_capture_are_one_path(kind: str, tmp_path: Path) -> None:
    write, name, step_ns = FORMATS[kind]
    traced, wire, gaps = trace(300)
    names, points = names_of(kind)
    write(tmp_path / name, names, traced)
    write_pcap(tmp_path / "wire.pcap", wire)
    document, matches = merged([tmp_path / name, tmp_path / "wire.pcap"])
    assert document["path"] == [*points, "wire"]
    domains = {one["point"]: one["domain"] for one in document["clocks"]}
    assert len({domains[one] for one in points}) == 1
    assert domains["wire"] not in {domains[one] for one in points}
    assert document["matching"]["n_matched"] == 4 * 600
    for at in range(2):
        found = matches.filter(pl.col("up_point").is_in(points), pl.col("down_point").is_in(points))
        ends = {points[at], points[at + 1]}
        found = found.filter(
            pl.col("up_point").is_in(ends) & pl.col("down_point").is_in(ends)
        ).sort("trajectory_id")
        assert len(found) == 600
        assert np.allclose(np.sort(found["latency_ns"]), np.sort(gaps[:, at]), atol=step_ns)


@pytest.mark.parametrize("kind", FORMATS)
def test_equal_packets_are_told_apart_by_their_ids(kind: str, tmp_path: Path) -> None:
    """Bursts of packets equal to the byte, some overtaking: ids tell which is which."""
    write, name, step_ns = FORMATS[kind]
    chance = np.random.default_rng(5)
    traced, true_ns = [], {}
    header = struct.pack(">HHIIBBHHH", 1, 2, 3, 4, 80, 16, 9, 0, 0)
    frame = ip("10.0.0.1", "10.0.0.2", TCP, 7, 64, header)
    for number in range(200):
        t_ns = START_NS + number // 4 * 50_000_000 + number % 4 * 3_000
        first, second = (t_ns + int(gap) for gap in (0, chance.integers(5_000, 90_000)))
        traced += [Traced(first, 0, number + 1, frame), Traced(second, 1, number + 1, frame)]
        true_ns[number] = second - first
    # what is unlike every other packet shows how long the way usually takes
    for number in range(200):
        t_ns = START_NS + number * 12_500_000 + 6_000_000
        gap = int(chance.integers(5_000, 90_000))
        traced += [Traced(t_ns, 0, 1_000 + number, request(number))]
        traced += [Traced(t_ns + gap, 1, 1_000 + number, request(number))]
    traced.sort(key=lambda one: one.t_ns)
    names, points = names_of(kind)
    write(tmp_path / name, names[:2], traced)
    document, matches = merged([tmp_path / name], path=points[:2])
    assert document["matching"]["n_ambiguous"] == 0
    assert document["matching"]["n_matched"] == 800
    ids = [one.packet for one in traced]
    if kind not in ("pktcap-uw", "retis sorted"):  # their frames are in another order
        rows = matches.select("up_frame", "down_frame").rows()
        offset = 2 if kind == "retis" else 1  # the schema is a frame, as Wireshark counts
        assert {ids[up - offset] == ids[down - offset] for up, down in rows} == {True}
    found = matches["latency_ns"].sort().to_numpy()
    assert all(min(abs(found - one)) <= step_ns for one in true_ns.values())


def test_components_of_one_name_are_points_of_their_own(tmp_path: Path) -> None:
    traced, _, _ = trace(50)
    write_pktmon(tmp_path / "trace.pcapng", ("filter", "filter", "adapter"), traced)
    document, _ = merged([tmp_path / "trace.pcapng"])
    assert document["path"] == ["trace/filter", "trace/filter-2", "trace/adapter"]


@pytest.mark.oracle
@pytest.mark.parametrize("kind", ["pktmon", "retis"])
def test_tshark_reads_the_files_without_a_complaint(kind: str, tmp_path: Path) -> None:
    write, name, _ = FORMATS[kind]
    traced, _, _ = trace(5)
    write(tmp_path / name, COMPONENTS, traced)
    command = ["tshark", "-n", "-r", str(tmp_path / name), "-Y", "ip", "-T", "fields"]
    fields = ["-e", "frame.interface_name", "-e", "frame.packet_id", "-e", "_ws.malformed"]
    done = subprocess.run([*command, *fields], capture_output=True, text=True, check=True)
    rows = [line.split("\t") for line in done.stdout.splitlines()]
    assert [row[0] for row in rows] == [COMPONENTS[one.component] for one in traced]
    if kind == "pktmon":
        assert [int(row[1]) for row in rows] == [one.packet for one in traced]
