"""Times that nodes wrote into packets (INT, IOAM) are capture points, with the true latencies."""

from __future__ import annotations

import subprocess
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import pcaplat
from tests.support.frames import TCP, write_pcap
from tests.support.telemetry import (
    ENDS_6,
    NODES,
    START_NS,
    Seen,
    TracedPath,
    in_geneve_1,
    in_geneve_2,
    in_gpe,
    in_new_udp,
    in_udp,
    ioam,
)

if TYPE_CHECKING:
    from pathlib import Path

INT_PATHS = {
    "udp": TracedPath(in_udp),
    "a UDP header of its own": TracedPath(in_new_udp, protocol=TCP),
    "vxlan-gpe": TracedPath(in_gpe),
    "geneve": TracedPath(in_geneve_2),
    "geneve, version 1": TracedPath(in_geneve_1),
}
IOAM_PATHS = {
    "ptp": (ioam("ptp"), 1),
    "ntp": (ioam("ntp"), 1),
    "posix": (ioam("posix"), 1_000),
    "incremental": (ioam("ptp", incremental=True), 1),
    "fraction alone": (ioam("ptp", has_seconds=False), 1),
    "fraction alone, ntp": (ioam("ntp", has_seconds=False), 1),
}
INT_POINTS = [f"leaf/int{node}-{side}" for node in NODES for side in ("in", "out")]
IOAM_POINTS = [f"leaf/ioam{node}" for node in NODES]
DECODE = ["udp.port=5000:int"]


def merged(files: list[str], **options: Any) -> tuple[dict[str, Any], pl.DataFrame]:  # noqa: ANN401
    with pcaplat.merge(files, decode=DECODE, **options) as result:
        return result.document, result.matches.collect()


def latencies(matches: pl.DataFrame, near: str, far: str) -> list[float]:
    rows = matches.filter((pl.col("up_point") == near) & (pl.col("down_point") == far)).sort(
        "up_frame"
    )
    return rows["latency_ns"].to_list()


@pytest.mark.parametrize("kind", INT_PATHS)
def test_each_node_of_int_is_two_points_with_the_true_latencies(kind: str, tmp_path: Path) -> None:
    path = INT_PATHS[kind]
    path.truth.clear()
    document, matches = merged(path.save(tmp_path), same_clock=["all"])
    assert document["path"] == ["sender", *INT_POINTS, "leaf", "receiver"]
    names = {name.removeprefix("leaf/int"): name for name in document["path"]}
    for (near, far), true_ns in path.truth.items():
        assert latencies(matches, names[near], names[far]) == true_ns, (near, far)
    # responses carry no telemetry here
    assert {one["code"] for one in document["warnings"]} == {"direction-missing"}


@pytest.mark.parametrize("kind", IOAM_PATHS)
def test_each_node_of_ioam_is_a_point_with_the_true_latencies(kind: str, tmp_path: Path) -> None:
    write, step_ns = IOAM_PATHS[kind]
    path = TracedPath(write, ends=ENDS_6)
    document, matches = merged(path.save(tmp_path), same_clock=["all"])
    assert document["path"] == ["sender", *IOAM_POINTS, "leaf", "receiver"]
    truth = path.truth
    for at, (near, far) in enumerate(pairwise(IOAM_POINTS)):
        inside, between = f"{NODES[at]}-in", f"{NODES[at]}-out"
        parts = (truth[inside, between], truth[between, f"{NODES[at + 1]}-in"])
        true_ns = [sum(both) for both in zip(*parts, strict=True)]
        assert latencies(matches, near, far) == pytest.approx(true_ns, abs=step_ns)


def test_nodes_have_clocks_of_their_own(tmp_path: Path) -> None:
    """The nodes' clocks are hours apart; what is in a node is on its clock alone."""
    hour_ns = 3_600_000_000_000
    path = TracedPath(in_geneve_2, offsets_ns=(0, 7_000, -hour_ns, hour_ns, 30_000, -500))
    document, matches = merged(path.save(tmp_path))
    domains = {one["point"]: one["domain"] for one in document["clocks"]}
    assert len(set(domains.values())) == 6
    for node in NODES:
        near, far = f"leaf/int{node}-in", f"leaf/int{node}-out"
        assert domains[near] == domains[far]
        assert latencies(matches, near, far) == path.truth[f"{node}-in", f"{node}-out"]


def test_a_unit_that_does_not_show_is_told(tmp_path: Path) -> None:
    path = TracedPath(in_geneve_2, n=1)
    document, _ = merged(path.save(tmp_path), same_clock=["all"])
    assert document["path"] == ["sender", "leaf", "receiver"]
    [warning] = [one for one in document["warnings"] if one["code"] == "telemetry-unread"][:1]
    assert "1 times of int13-in are not used" in warning["text"]


def test_times_are_in_the_tables_under_the_node(tmp_path: Path) -> None:
    path = TracedPath(in_geneve_2, n=50)
    files = path.save(tmp_path)
    with pcaplat.merge(files, same_clock=["all"]) as result:
        pcaplat.write(result, tmp_path / "out", pcapng=True)
        captures = {row["point"]: row for row in result.document["captures"]}
        first = result.document["segments"]
    assert captures["leaf/int12-in"]["file"].endswith("leaf.pcap#int12-in")
    assert captures["leaf/int12-in"]["stamp"] == "int"
    packets = pl.read_parquet(tmp_path / "out" / "packets.parquet")
    at_node = packets.filter(pl.col("point") == "leaf/int12-in")
    assert len(at_node) == 50
    # merged once more, a node is what it was, and its frames tell of no node again
    with pcaplat.merge([str(tmp_path / "out" / "merged.pcapng")]) as again:
        found = again.document["segments"]
    assert len(found) == len(first)
    for one, other in zip(found, first, strict=True):
        assert (one["near"], one["n"]) == (f"merged/{other['near']}", other["n"])
        assert one["mean_ns"] == pytest.approx(other["mean_ns"], abs=1)


@pytest.mark.oracle
@pytest.mark.parametrize("kind", [name for name in IOAM_PATHS if "alone" not in name])
def test_tshark_reads_the_same_nodes(kind: str, tmp_path: Path) -> None:
    write, _ = IOAM_PATHS[kind]
    TracedPath(write, ends=ENDS_6, n=3).save(tmp_path)
    command = ["tshark", "-n", "-r", str(tmp_path / "leaf.pcap"), "-Y", "ipv6.opt.ioam.rsv"]
    names = ["-T", "fields", "-e", "ipv6.opt.ioam.trace.node.id", "-e", "_ws.malformed"]
    done = subprocess.run([*command, *names], capture_output=True, text=True, check=True)
    rows = [line.split("\t") for line in done.stdout.splitlines()]
    found = [[int(node, 0) for node in nodes.split(",")] for nodes, _ in rows]
    assert found == [list(NODES[::-1])] * 3
    assert {malformed for _, malformed in rows} == {""}


def test_a_packet_without_telemetry_is_no_frame_of_a_node(tmp_path: Path) -> None:
    """Half of the requests carry none: the node has the other half, and nothing is lost there."""
    plain = TracedPath(lambda frame, seen: in_geneve_2(frame, seen if frame[19] % 2 else []))
    document, _ = merged(plain.save(tmp_path), same_clock=["all"])
    rows = {(one["near"], one["far"], one["direction"]): one for one in document["segments"]}
    inside = rows["leaf/int12-in", "leaf/int12-out", "forward"]
    assert (inside["n"], inside["n_lost"]) == (200, 0)


def test_numbers_are_read_by_the_clock_they_count_by(tmp_path: Path) -> None:
    """Microseconds since the node started: known by how fast they run."""

    def write(frame: bytes, seen: list[Seen]) -> bytes:
        def us(t_ns: int) -> int:
            return (t_ns - START_NS) // 1_000 + 77

        micro = [Seen(one.node, us(one.received_ns), us(one.sent_ns)) for one in seen]
        return in_geneve_2(frame, micro)

    path = TracedPath(write)
    document, matches = merged(path.save(tmp_path))
    rows = {row["point"]: row for row in document["captures"]}
    assert rows["leaf/int11-in"]["stamp_resolution_ns"] == 1_000
    found = latencies(matches, "leaf/int11-in", "leaf/int11-out")
    assert found == pytest.approx(path.truth["11-in", "11-out"], abs=1_000)


def test_a_frame_cut_within_telemetry_is_read_without_it(tmp_path: Path) -> None:
    path = TracedPath(in_geneve_2, n=20)
    path.save(tmp_path)
    whole = (tmp_path / "leaf.pcap").read_bytes()
    write_pcap(tmp_path / "cut.pcap", [(START_NS, whole[40 : 40 + 80])])
    assert pcaplat.read(tmp_path / "cut.pcap") is not None
