"""Rates, sizes, overhead, transactions: against capinfos, tshark, the lab's own log, and hand."""

from __future__ import annotations

import csv
import re
import shutil
import struct
import subprocess
from functools import cache, partial
from typing import TYPE_CHECKING

import polars as pl
import pytest

from pcaplat.comparing.rates import rate_rows
from pcaplat.metrics.contrasts import difference_of
from pcaplat.metrics.runs import Scenario
from pcaplat.outputs import write
from pcaplat.run.merge import merge
from pcaplat.study.sources import measured, saved_run
from pcaplat.tables.traffic import SIZES, TRAFFIC_TABLES
from tests.captures.lab_merge import captures_of
from tests.conftest import ROOT
from tests.support.frames import ip, udp, write_pcap
from tests.support.shelf import lab_set

if TYPE_CHECKING:
    from pathlib import Path

    from pcaplat.traffic import Traffic

SAMPLE = sorted((ROOT / "samples" / "vxlan").glob("*.pcap"))
NEEDS_LAB = pytest.mark.skipif(not lab_set("l2").exists(), reason="the lab captures are not here")
SETS = ("l2", "vxlan", "ipv6", "vxlan-delay200")


@cache
def traffic_of(name: str) -> Traffic:
    with merge(list(captures_of(lab_set(name)).values()), same_clock=["all"]) as result:
        return result.traffic_rows


def twins(path: Path, folder: Path) -> Traffic:
    """Count one capture: merged with its copy, so that both cover all of it."""
    copy = folder / "copy.pcap"
    shutil.copy(path, copy)
    with merge([f"one={path}", f"other={copy}"], same_clock=["all"]) as result:
        tables = result.traffic_rows
    mine = ("traffic", "frame_sizes")
    return {name: [row for row in tables[name] if row["point"] == "one"] for name in mine}


def capinfos(path: Path) -> dict[str, str]:
    command = ["capinfos", "-TmQcdyxiz", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    heading, values = csv.reader(done.stdout.splitlines())
    return dict(zip(heading, values, strict=True))


@cache
def packet_lengths(path: Path) -> tuple[int, float, float, float]:
    """Count, mean, least and greatest, as tshark has them."""
    command = ["tshark", "-n", "-r", str(path), "-q", "-z", "plen,tree"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    line = next(one for one in done.stdout.splitlines() if re.match(r"Packet Lengths +\d", one))
    n, mean, least, most = line.split()[2:6]
    return int(n), float(mean), float(least), float(most)


def by_hand(path: Path) -> list[tuple[int, int, bytes]]:
    """Read a pcap file of ns stamps with nothing but struct: time, length, bytes."""
    data, at, found = path.read_bytes(), 24, []
    assert struct.unpack_from("<I", data) == (0xA1B23C4D,)
    while at < len(data):
        seconds, ns, kept, length = struct.unpack_from("<IIII", data, at)
        found.append((seconds * 10**9 + ns, length, data[at + 16 : at + 16 + kept]))
        at += 16 + kept
    return found


def test_windows_have_the_sizes_and_connections_of_the_whole() -> None:
    bounds = dict(zip(SIZES, [64, 127, 255, 511, 1023, 1518], strict=True))
    with merge(SAMPLE, same_clock=["all"]) as result:
        tables = result.traffic_rows
    for row in tables["traffic"]:
        place = (row["point"], row["direction"])
        mine, sizes = (
            [one for one in tables[name] if (one["point"], one["direction"]) == place]
            for name in ("traffic_blocks", "frame_sizes")
        )
        low = 0
        for name, high in bounds.items():
            whole = sum(s["n_frames"] for s in sizes if low < s["frame_bytes"] + 4 <= high)
            assert sum(one[name] for one in mine) == whole
            low = high
        n_open = [one["n_connections"] for one in mine]
        # in the time of a block as many may have been open, one after the other
        assert max(n_open) >= row["n_connections_max"] >= 1
        assert all(one["n_connections"] for one in mine if one["payload_bytes"])


def test_tables_are_as_declared() -> None:
    with merge(SAMPLE, same_clock=["all"]) as result:
        for table in TRAFFIC_TABLES:
            frame = table.frame(result.traffic_rows[table.name])
            table.check(frame)
            assert len(frame)
        assert result.traffic.height == len(result.traffic_rows["traffic"])


@pytest.mark.parametrize("path", SAMPLE, ids=lambda path: str(path.stem))
def test_counts_are_those_by_hand(path: Path, tmp_path: Path) -> None:
    rows = twins(path, tmp_path)["traffic"]
    frames = by_hand(path)
    n_bytes = sum(length for _, length, _ in frames)
    span_ns = max(t for t, _, _ in frames) - frames[0][0]
    assert {row["direction"] for row in rows} == {"forward", "reverse"}
    assert {row["span_ns"] for row in rows} == {span_ns}
    assert sum(row["n_frames"] for row in rows) == len(frames)
    assert sum(row["frame_bytes"] for row in rows) == n_bytes
    on_layer = {
        "l1_bps": n_bytes + 24 * len(frames),
        "l2_bps": n_bytes + 4 * len(frames),
        "l2_no_fcs_bps": n_bytes,
        # the outer header's own length
        "l3_bps": sum(struct.unpack_from(">H", data, 16)[0] for _, _, data in frames),
    }
    for column, size in on_layer.items():
        assert sum(row[column] for row in rows) == pytest.approx(size * 8e9 / span_ns)


def test_vxlan_adds_50_bytes_and_takes_them_off_again() -> None:
    with merge(SAMPLE, same_clock=["all"]) as result:
        rows = result.traffic_rows["overhead"]
    added = {(r["near"], r["far"]): (r["min_bytes"], r["max_bytes"]) for r in rows}
    assert added["host1-vm", "host1-up"] == (50, 50)
    assert added["host2-up", "host2-vm"] == (-50, -50)
    assert added["sw-a", "sw-b"] == (0, 0)
    row = next(r for r in rows if (r["near"], r["direction"]) == ("host1-vm", "forward"))
    shorter, longer = (row[f"{end}_frame_bytes"] + 24 for end in ("near", "far"))
    assert row["line_frac"] == pytest.approx(50 / longer)
    assert longer - shorter == pytest.approx(50)


@NEEDS_LAB
@pytest.mark.oracle
@pytest.mark.parametrize("point", ["host1-vm", "host1-up"])
@pytest.mark.parametrize("name", SETS)
def test_rates_and_sizes_are_those_of_capinfos_and_tshark(
    name: str, point: str, tmp_path: Path
) -> None:
    path = captures_of(lab_set(name))[point]
    tables = twins(path, tmp_path)
    rows, sizes = tables["traffic"], tables["frame_sizes"]
    said = capinfos(path)
    assert sum(row["n_frames"] for row in rows) == int(said["Number of packets"])
    assert sum(row["frame_bytes"] for row in rows) == int(said["Data size (bytes)"])
    pairs = (
        ("packet_rate_pps", "Average packet rate (packets/sec)"),
        ("l2_no_fcs_bps", "Data bit rate (bits/sec)"),
    )
    for column, named in pairs:
        assert sum(row[column] for row in rows) == pytest.approx(float(said[named]), rel=1e-4)
    n, mean, least, most = packet_lengths(path)
    assert sum(row["n_frames"] for row in sizes) == n
    total = sum(row["frame_bytes"] * row["n_frames"] for row in sizes)
    assert total / n == pytest.approx(mean, abs=0.006)
    assert min(row["frame_bytes"] for row in sizes) == least
    assert max(row["frame_bytes"] for row in sizes) == most


@NEEDS_LAB
@pytest.mark.oracle
@pytest.mark.parametrize("name", SETS)
def test_overhead_is_what_tshark_finds_between_the_mean_lengths(name: str) -> None:
    captures = captures_of(lab_set(name))
    tables = traffic_of(name)
    for near, far in (("host1-vm", "host1-up"), ("host2-up", "host2-vm")):
        rows = [row for row in tables["overhead"] if {row["near"], row["far"]} == {near, far}]
        n, n_bytes = sum(r["n"] for r in rows), sum(r["mean_bytes"] * r["n"] for r in rows)
        sign = 1 if rows[0]["near"] == near else -1
        (n_near, mean_near, *_), (n_far, mean_far, *_) = (
            packet_lengths(captures[point]) for point in (near, far)
        )
        assert n_near == n_far
        assert n == pytest.approx(n_near, abs=0.05 * n_near)
        assert sign * n_bytes / n == pytest.approx(mean_far - mean_near, abs=0.011)


def test_a_saved_result_gives_the_same_rates(tmp_path: Path) -> None:
    with merge(SAMPLE, same_clock=["all"], traffic=True) as result:
        write(result, tmp_path / "out")
        fresh = measured("fresh", result)
    saved = saved_run(tmp_path / "out")
    scenarios = Scenario("a", [fresh]), Scenario("b", [saved])
    rows = rate_rows(*scenarios, 0.95, partial(difference_of, *scenarios))
    assert {"packet-rate", "throughput-l1", "goodput"} <= {row["metric"] for row in rows}
    assert all(row["delta_frac"] == 0 for row in rows)
    for row in rows:
        if row["lo_frac"] is not None:
            assert row["lo_frac"] <= 0 <= row["hi_frac"]


def test_captures_that_end_before_others_begin_have_no_traffic(tmp_path: Path) -> None:
    # far more than the packets that are shared lies outside the time that both cover
    path = SAMPLE[0]
    data, ends, at = path.read_bytes(), [24], 24
    while at < len(data):
        at += 16 + struct.unpack_from("<I", data, at + 8)[0]
        ends.append(at)
    for name, chosen in (("one", ends[:60]), ("other", ends[58:])):
        body = data[max(24, chosen[0]) : chosen[-1]]
        (tmp_path / f"{name}.pcap").write_bytes(data[:24] + body)
    with merge([tmp_path / "one.pcap", tmp_path / "other.pcap"], same_clock=["all"]) as result:
        rows = result.traffic_rows["traffic"]
    assert sum(row["n_frames"] for row in rows) <= 4


def test_a_capture_may_end_long_before_the_others(tmp_path: Path) -> None:
    # the other's last rows are whole batches of which nothing is counted
    n_shared, n_all = 1_000, 140_000
    records = [
        (number * 10_000, ip("192.0.2.1", "192.0.2.2", 17, number & 0xFFFF, 64, datagram(number)))
        for number in range(n_all)
    ]
    write_pcap(tmp_path / "short.pcap", records[:n_shared])
    write_pcap(tmp_path / "long.pcap", [(at_ns + 5_000, frame) for at_ns, frame in records])
    files = [tmp_path / "short.pcap", tmp_path / "long.pcap"]
    with merge(files, same_clock=["all"], traffic=True) as result:
        write(result, tmp_path / "out")
        rows = result.traffic_rows["traffic"]
    assert [row["n_frames"] for row in rows] == [n_shared, n_shared]
    assert pl.read_parquet(tmp_path / "out" / "traffic.parquet").height == len(rows)


def datagram(number: int) -> bytes:
    return udp((5_000, 6_000), number.to_bytes(8))


@NEEDS_LAB
def test_a_file_of_several_points_is_counted_point_by_point() -> None:
    files = [lab_set("vxlan") / f"{host}-any.pcap" for host in ("host1", "host2")]
    with merge(files, same_clock=["all"]) as result:
        rows, path = result.traffic_rows["traffic"], result.document["path"]
    assert {row["point"] for row in rows} == set(path)
    assert len(path) > len(files)
    assert all(row["n_frames"] > 1000 for row in rows if row["direction"] != "unknown")
    # SLL2 is no Ethernet: what the line carried is not known
    assert all(row["l1_bps"] is None and row["l3_bps"] > 0 for row in rows)
