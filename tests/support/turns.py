"""Frames of connections whose two ends take turns, and what is counted of them."""

from __future__ import annotations

import struct
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from pcaplat import _native
from pcaplat.model.centre import NO_OFFSET
from pcaplat.model.matches.traffic import TrafficPlan
from pcaplat.stages.read import batches_of
from pcaplat.traffic.transactions import transaction_rows
from tests.support.frames import TCP, ip, udp, write_pcap

if TYPE_CHECKING:
    from pcaplat.tables.columns import Row

Turn = tuple[int, str, int, int]
"""Time, sender, payload, acknowledgement."""


def frames_of(turns: list[Turn], protocol: int = 6, *, pushed: bool | None = None) -> pl.DataFrame:
    """Make frames of one connection; the last of a turn is pushed, if it is not said otherwise."""
    ends = {"c": ("10.0.0.2", 40_000), "s": ("10.0.0.1", 80)}
    seq = {"c": 2**32 - 700, "s": 17}
    rows = []
    for at, (t_ns, sender, n_bytes, ack) in enumerate(turns):
        (src, src_port), (dst, dst_port) = ends[sender], ends["s" if sender == "c" else "c"]
        is_last = next((one[1] for one in turns[at + 1 :] if one[2]), None) != sender
        is_pushed = is_last if pushed is None else pushed
        rows.append(
            {
                "point": "p",
                "protocol": protocol,
                "src": src,
                "src_port": src_port,
                "dst": dst,
                "dst_port": dst_port,
                "at_ns": t_ns,
                "payload_bytes": n_bytes,
                "tcp_seq": seq[sender] if protocol == 6 else None,
                "tcp_ack": ack if protocol == 6 else None,
                "tcp_flags": 8 * (is_pushed and n_bytes > 0) if protocol == 6 else None,
            }
        )
        seq[sender] = (seq[sender] + n_bytes) % 2**32
    return pl.DataFrame(rows, schema_overrides=dict.fromkeys(COUNTS, pl.Int64))


COUNTS = ("tcp_seq", "tcp_ack", "tcp_flags")


def rows_of(frames: pl.DataFrame, size: int = 1 << 20, start_ns: int = 0) -> list[Row]:
    """Sum up frames that are read in batches; what comes before `start_ns` is too early."""
    records = [(row["at_ns"], frame_of(row)) for row in frames.to_dicts()]
    with TemporaryDirectory() as name:
        path = Path(name) / "p.pcap"
        write_pcap(path, records)
        counting = TrafficPlan(["p"], [NO_OFFSET], [], [], name, start_ns, 1 << 62, 1)
        origins = [(path, "p", ["p"], [None], None)]
        stream = _native.PacketStream(
            origins, _native.Settings(), batch_rows=size, counting=counting
        )
        assert sum(batch.num_rows for batch in batches_of(stream)) == len(frames)
        counted = stream.traffic()
    assert counted is not None
    return transaction_rows(pl.DataFrame(counted.connections)).to_dicts()


def frame_of(row: dict[str, Any]) -> bytes:
    """The frame that a row of `frames_of` is of."""
    ports, payload = (row["src_port"], row["dst_port"]), bytes(row["payload_bytes"])
    if row["protocol"] != TCP:
        return ip(row["src"], row["dst"], row["protocol"], 0, 64, udp(ports, payload))
    flags = row["tcp_flags"] | (0x10 if row["tcp_ack"] else 0x02)
    header = struct.pack(">HHIIBBHHH", *ports, row["tcp_seq"], row["tcp_ack"], 0x50, flags, 0, 0, 0)
    return ip(row["src"], row["dst"], TCP, 0, 64, header + payload)


def port_of(number: int) -> list[pl.Expr]:
    """Give each connection a port of its own."""
    return [
        pl.when(pl.col(end) == 40_000).then(40_000 + number).otherwise(pl.col(end)).alias(end)
        for end in ("src_port", "dst_port")
    ]


def burst(n_out: int, n: int, seed: int = 1) -> tuple[list[Turn], float]:
    """Keep n_out requests under way, as netperf's bursts do; gives the mean time of them too."""
    chance = np.random.default_rng(seed)
    asked = [1_000 + 100 * number for number in range(n_out)]
    answered: list[int] = []
    turns: list[Turn] = [(0, "c", 0, 0), (300, "s", 0, 1)]
    free_ns = 0
    for number in range(n):
        # one after another
        start_ns = max(asked[number] + 10_000, free_ns)
        free_ns = start_ns + 1_000 + int(chance.exponential(2_000))
        answered.append(free_ns + 10_000)
        if len(asked) < n:
            # the client answers each response by a request of its own
            asked.append(answered[-1] + 200)
    turns += [(t_ns, "c", 64, 1) for t_ns in asked]
    turns += [(t_ns, "s", 128, 1) for t_ns in answered]
    return sorted(turns), float(np.mean(np.subtract(answered, asked)[: n - n_out]))
