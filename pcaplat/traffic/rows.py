"""Rows of traffic: what was counted, as rates and means."""

from collections.abc import Sequence

import numpy as np
import polars as pl

from pcaplat.model.arrays import Ints
from pcaplat.model.blocks import N_BLOCKS
from pcaplat.tables.columns import Row
from pcaplat.tables.traffic import SIZES

WAYS = ("forward", "reverse", "unknown")
FCS_BYTES = 4
"""Bytes of the frame check sequence, which captures leave out."""

LINE_BYTES = 20
"""Bytes of preamble, start of frame and the least gap (IEEE 802.3)."""

NS_PER_S = 1e9
COUNTED = ("n_frames", "frame_bytes", "l3_bytes", "payload_bytes", *SIZES)


def traffic_rows(
    blocks: pl.DataFrame,
    sizes: pl.DataFrame,
    connections: pl.DataFrame,
    order: Sequence[str],
    span_ns: int,
) -> list[Row]:
    """Sum up each point and direction: rates over the whole time."""
    rows = []
    for place, point in enumerate(order):
        at_once = int(connections.filter(pl.col("point") == place)["n_at_once"][0])
        for way, name in enumerate(WAYS):
            here = (pl.col("point") == place) & (pl.col("way") == way)
            mine = blocks.filter(here)
            if len(mine):
                row = {"point": point, "direction": name} | _rates(mine, span_ns)
                rows.append(row | _sizes(sizes.filter(here)) | {"n_connections_max": at_once})
    return rows


def _rates(blocks: pl.DataFrame, span_ns: int) -> Row:
    sums = {name: int(blocks[name].sum()) for name in blocks.columns if name not in KEYS}
    n, n_bytes = sums["n_frames"], sums["frame_bytes"]
    is_ethernet = not sums["n_not_ethernet"]
    bits = 8 * NS_PER_S / span_ns if span_ns > 0 else None
    with_fcs = n_bytes + FCS_BYTES * n if is_ethernet else None
    return {
        "span_ns": span_ns,
        "n_frames": n,
        "frame_bytes": n_bytes,
        "packet_rate_pps": n * NS_PER_S / span_ns if span_ns > 0 else None,
        "l1_bps": _rate(None if with_fcs is None else with_fcs + LINE_BYTES * n, bits),
        "l2_bps": _rate(with_fcs, bits),
        "l2_no_fcs_bps": _rate(n_bytes, bits),
        "l3_bps": _rate(sums["l3_bytes"], bits),
        "goodput_bps": _rate(sums["payload_bytes"], bits),
        "n_l3_unknown": sums["n_l3_unknown"],
        "n_payload_unknown": sums["n_payload_unknown"],
    }


KEYS = ("point", "way", "block")


def _rate(n_bytes: int | None, bits: float | None) -> float | None:
    return None if n_bytes is None or bits is None else n_bytes * bits


def _sizes(sizes: pl.DataFrame) -> Row:
    values, counts = sizes["frame_bytes"].to_numpy(), sizes["n_frames"].to_numpy()
    total = int(counts.sum())
    middle = int(np.searchsorted(np.cumsum(counts), np.ceil(total / 2)))
    return {
        "min_frame_bytes": int(values[0]),
        "mean_frame_bytes": int((values * counts).sum()) / total,
        "p50_frame_bytes": int(values[middle]),
        "max_frame_bytes": int(values[-1]),
    }


def size_rows(sizes: pl.DataFrame, order: Sequence[str]) -> list[Row]:
    """Give the frame-size mix: how many frames of each length, without FCS."""
    return [
        {
            "point": order[row["point"]],
            "direction": WAYS[row["way"]],
            "frame_bytes": row["frame_bytes"],
            "n_frames": row["n_frames"],
        }
        for row in sizes.to_dicts()
    ]


def block_rows(
    blocks: pl.DataFrame,
    connections: pl.DataFrame,
    order: Sequence[str],
    start_ns: int,
    block_ns: int,
) -> list[Row]:
    """Give what each block of time holds, empty blocks too."""
    rows = []
    for place, point in enumerate(order):
        n_open = connections.filter(pl.col("point") == place)["n_open"]
        for way, name in enumerate(WAYS):
            mine = blocks.filter((pl.col("point") == place) & (pl.col("way") == way))
            if not len(mine):
                continue
            columns = {column: _series(mine, column) for column in COUNTED}
            rows += [
                {
                    "point": point,
                    "direction": name,
                    "block": at,
                    "start_ns": start_ns + at * block_ns,
                    "length_ns": block_ns,
                    **{column: int(values[at]) for column, values in columns.items()},
                    "n_connections": int(n_open[at]),
                }
                for at in range(N_BLOCKS)
            ]
    return rows


def _series(blocks: pl.DataFrame, column: str) -> Ints:
    """Spread one point's and direction's counts over all blocks."""
    found = np.zeros(N_BLOCKS, dtype=np.int64)
    found[blocks["block"].to_numpy()] = blocks[column].to_numpy()
    return found
