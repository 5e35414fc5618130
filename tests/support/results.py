"""A result made by hand, as the contract describes it, for tests of what is printed and written."""

from __future__ import annotations

from copy import deepcopy
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np
import polars as pl
import pyarrow as pa

from pcaplat import _native
from pcaplat.model.blocks import Blocks
from pcaplat.plots import Plots
from pcaplat.plots.figure import Measured
from pcaplat.tables import LOST, MATCHES, PACKETS, SEGMENTS, SLOWEST
from pcaplat.tables.traffic import TRAFFIC_TABLES

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pcaplat.model.blocks import Key
    from pcaplat.run.result import Result
    from pcaplat.traffic import TrafficTables

T_NS = 1_763_640_000_000_000_001
N_BY_STATUS = [f"n_{status}" for status in _native.STATUSES]
POINTS = ["host1-vm", "host1-up", "sw-a", "sw-b", "host2-up", "host2-vm"]
MEDIANS_NS = {
    "forward": [1390.0, 1060.0, 980.0, 870.0, 1650.0],
    "reverse": [1630.0, 870.0, 980.0, 1070.0, 1450.0],
}


def segment(near: str, far: str, direction: str, p50_ns: float | None) -> dict[str, Any]:
    shapes = {"min": 0.6, "mean": 1.1, "p50": 1.0, "p90": 1.2, "p99": 1.5, "p999": 4.0, "max": 30.0}
    figures = {
        f"{name}_ns": None if p50_ns is None else p50_ns * factor for name, factor in shapes.items()
    }
    return {
        "near": near,
        "far": far,
        "direction": direction,
        "class": "packet",
        "n": 2004,
        "n_lost": 4,
        "lost_frac": 4 / 2008,
        "matched_bytes": 0,
        "lost_bytes": 0,
        "n_duplicated": 0,
        "n_reordered": 0,
        **figures,
        "clock_half_width_ns": None if p50_ns is None else 0.0,
        "pdv_p99_ns": 700.0,
        "mean_lo_ns": None if p50_ns is None else p50_ns,
        "mean_hi_ns": None if p50_ns is None else p50_ns * 1.2,
        "interval_reason": "the clocks cannot be related" if p50_ns is None else None,
    }


def _segments() -> list[dict[str, Any]]:
    ends = [*pairwise(POINTS), (POINTS[0], POINTS[-1])]
    rows = []
    for index, (near, far) in enumerate(ends):
        for direction, medians_ns in MEDIANS_NS.items():
            p50_ns = medians_ns[index] if index < len(medians_ns) else sum(medians_ns)
            rows.append(segment(near, far, direction, p50_ns))
    return rows


def _round_trip(near: str, far: str, mean_ns: float) -> dict[str, Any]:
    return {
        "near": near,
        "far": far,
        "n": 2004,
        "mean_ns": mean_ns,
        "p50_ns": mean_ns,
        "p90_ns": mean_ns * 1.2,
        "p99_ns": mean_ns * 1.5,
        "mean_half_width_ns": 12.0,
        "mean_lo_ns": mean_ns - 12.0,
        "mean_hi_ns": mean_ns + 12.0,
        "interval_reason": None,
        "n_paired": 1002,
        "paired_mean_ns": mean_ns,
        "p50_lo_ns": mean_ns - 30.0,
        "p50_hi_ns": mean_ns + 30.0,
        "paired_interval_reason": None,
    }


def _transaction_time(point: str, side: str, mean_ns: float) -> dict[str, Any]:
    names = {"kind": "tcp-transaction", "requests": "forward", "point": point, "side": side}
    figures = {"mean_ns": mean_ns, "p50_ns": mean_ns, "p90_ns": mean_ns, "p99_ns": mean_ns * 2}
    return names | {"n": 1002, "one_in": 1} | figures


def clock(point: str, offset_ns: float | None, quality: str) -> dict[str, Any]:
    return {
        "point": point,
        "domain": point,
        "reference": POINTS[0],
        "at_ns": T_NS,
        "offset_ns": offset_ns,
        "half_width_ns": None if offset_ns is None else 600.0,
        "drift_ppm": 0.0,
        "drift_half_width_ppm": 0.1,
        "n_support": None,
        "quality": quality,
        "steps": [{"t_ns": T_NS, "step_ns": -250.0}],
    }


def document() -> dict[str, Any]:
    """Give a new summary.json of six points on one path."""
    pairs = list(pairwise(POINTS))
    return {
        "schema": "pcaplat.summary/1",
        "captures": [
            {
                "file": f"{point}.pcap",
                "point": point,
                "n_frames": 4008,
                "n_undecoded": 0,
                "resolution_ns": 1,
                "link": "ethernet",
                "is_truncated": False,
            }
            for point in POINTS
        ],
        "path": list(POINTS),
        "path_inferred": True,
        "edges": [{"near": near, "far": far} for near, far in pairs],
        "clocks": [clock(point, 37e9 if point == "sw-a" else 0.0, "bounded") for point in POINTS],
        "segments": _segments(),
        "round_trips": [_round_trip(near, far, 2500.0) for near, far in pairs],
        "round_trips_by_kind": [
            _round_trip(near, far, 2500.0) | {"kind": "tcp-transaction", "one_in": 1}
            for near, far in pairs
        ],
        "transaction_times": [
            _transaction_time(POINTS[0], "client", 42_500.0),
            _transaction_time(POINTS[-1], "server", 30_000.0),
        ],
        "transactions_left_out": [{"kind": "tcp-transaction", "n": 3, "one_in": 1}],
        "transaction_check": {
            "kind": "tcp-transaction",
            "requests": "forward",
            "n": 1002,
            "client": POINTS[0],
            "server": POINTS[-1],
            "segments_ns": 12_500.0,
            "beyond_ns": 30_000.0,
            "seen_ns": 42_500.0,
            "difference_ns": 0.0,
        },
        "translations": [],
        "matching": {
            "n_frames": 24048,
            "n_matched": 24000,
            "n_coalesced": 0,
            "n_duplicate": 0,
            "n_ambiguous": 8,
            "n_unmatched": 40,
            "n_undecoded": 0,
            "false_match_frac": 0.0,
            "false_match_upper_frac": 2e-6,
        },
        "points": [
            {
                "point": "sw-a",
                "n_frames": 4000,
                "n_unmatched": 40,
                "reasons": [{"status": "unmatched", "reason": "no-partner", "n": 40}],
            }
        ],
        "warnings": [
            {
                "code": "clock-assumed-common",
                "point": "sw-a",
                "text": "0 lies within the bounds; if the clock is one, declare --same-clock all",
            }
        ],
    }


class ResultByHand:
    """What `pcaplat.outputs` asks of a result; `batches` may raise, to stand for a crash."""

    def __init__(self, changed: dict[str, Any] | None = None, n_packets: int = 3) -> None:
        self.document = deepcopy(document()) | (changed or {})
        self.n_packets = n_packets
        self.slowest: pl.DataFrame | None = None
        self.failure: BaseException | None = None

    def completed(self) -> Self:
        return self

    @property
    def blocks(self) -> dict[Key, Blocks]:
        return {(POINTS[0], POINTS[1], "forward"): blocks_of([1390.0, 1410.0, 1400.0])}

    @property
    def clock_bands(self) -> list[dict[str, Any]]:
        return []

    @property
    def plot(self) -> Plots:
        segments = [dict.fromkeys(SEGMENTS.names) | row for row in self.document["segments"]]
        points = [dict.fromkeys(N_BY_STATUS, 0) | row for row in self.document["points"]]
        whole = self.document | {"segments": segments, "points": points}
        return Plots(Measured(whole, self.blocks))

    @property
    def provenance(self) -> dict[str, Any]:
        files = [{"file": "a.pcap", "size_bytes": 24, "sha256": "00" * 32}]
        names = dict.fromkeys(("version", "python", "platform"), "")
        return names | {"command": "pcaplat merge a.pcap b.pcap", "captures": files}

    @property
    def made_by(self) -> dict[str, str]:
        return {"version": "0", "command": "merge", "options": "{}"}

    @property
    def traffic_tables(self) -> TrafficTables:
        return {table.name: [] for table in TRAFFIC_TABLES}

    def packet_batches(self) -> Iterator[pa.RecordBatch]:
        for frame in range(1, self.n_packets + 1):
            yield pa.RecordBatch.from_pylist([packet(frame)], PACKETS.arrow_schema())
        if self.failure:
            raise self.failure

    def match_batches(self) -> Iterator[pa.RecordBatch]:
        row = {
            "up_point": "host1-vm",
            "up_file": "a.pcap",
            "up_frame": 1,
            "down_point": "host1-up",
            "down_file": "b.pcap",
            "down_frame": 1,
            "direction": "forward",
            "kind": "packet",
            "latency_ns": 1390.0,
            "trajectory_id": 1,
            "matched_by": "posterior",
            "probability": 0.9998,
            "identity": "whole",
            "up_t_ns": T_NS + 1,
        }
        yield pa.RecordBatch.from_pylist([row], MATCHES.arrow_schema())

    def lost_batches(self) -> Iterator[pa.RecordBatch]:
        row = {
            "point": "host1-vm",
            "file": "a.pcap",
            "frame": 1,
            "t_ns": T_NS,
            "near": "host1-vm",
            "far": "host1-up",
            "direction": "forward",
            "weight": 1.0,
            "told_by": "packet",
        }
        yield pa.RecordBatch.from_pylist([row], LOST.arrow_schema())

    def write_unmatched(self, name: str, path: Path) -> None:
        path.write_bytes(name.encode())

    def write_merged(self, path: Path) -> None:
        path.write_bytes(b"\x0a\x0d\x0d\x0a")


def blocks_of(latencies_ns: list[float]) -> Blocks:
    """Put each latency into a block of its own."""
    values = np.array(latencies_ns)
    ones = np.ones(len(values), dtype=np.int64)
    blocks = np.arange(len(values))
    return Blocks(T_NS, 1000, ones, values.astype(np.int64), values**2, blocks, values, ones)


def as_result(by_hand: ResultByHand) -> Result:
    """Let it pass for the real one, which needs captures."""
    return cast("Result", by_hand)


def packet(frame: int) -> dict[str, Any]:
    return {
        "point": "host1-vm",
        "file": "a.pcap",
        "frame": frame,
        "t_ns": T_NS + frame,
        "status": "matched",
        "layers": "ethernet/ipv4/udp",
        "src": "10.0.1.1",
        "dst": "10.0.1.2",
        "src_port": 1000,
        "dst_port": 7,
        "protocol": 17,
        "wire_bytes": 60,
        "captured_bytes": 60,
    }


def slowest() -> pl.DataFrame:
    rows = [
        {
            "near": "sw-a",
            "far": "sw-b",
            "direction": "forward",
            "rank": 1,
            "latency_ns": 29_400.0,
            "trajectory_id": 7,
            "point": point,
            "file": f"captures/{point}.pcap",
            "frame": 17,
            "t_ns": T_NS,
        }
        for point in POINTS
    ]
    return pl.DataFrame(rows, schema=SLOWEST.schema())
