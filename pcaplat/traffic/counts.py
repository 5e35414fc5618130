"""Frames and bytes of each point and direction, block by block of time, and the sizes of frames."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from pcaplat.model.arrays import Ints
from pcaplat.model.blocks import N_BLOCKS
from pcaplat.tables.traffic import SIZES
from pcaplat.traffic.headers import (
    FCS_BYTES,
    carries_ip,
    is_ethernet,
    l2_header_bytes,
    udp_header_bytes,
)

WAYS = ("forward", "reverse", "unknown")
KEYS = ("point", "way", "src", "dst")
BYTES = ("frame_bytes", "l3_bytes", "payload_bytes")
UNKNOWN = ("n_not_ethernet", "n_l3_unknown", "n_payload_unknown")
MOST_PARTS = 64
"""Aggregated batches kept apart before they are added up."""


def with_bytes(frames: pl.DataFrame) -> pl.DataFrame:
    """Add what of each frame is its outermost IP packet and its innermost payload."""
    # of a frame that was decoded, and of which no layer is IP, it is known that it carries none
    is_none = ~_by_layers(frames, carries_ip, pl.Boolean) & (frames["status"] != "undecoded")
    l2 = _by_layers(frames, l2_header_bytes, pl.Int64)
    udp = _by_layers(frames, udp_header_bytes, pl.Int64)
    wire = pl.col("wire_bytes")
    is_other = pl.col("protocol").is_in([6, 17]).not_().fill_null(value=True)
    carried = pl.col("payload_bytes").fill_null((wire - udp).clip(0))
    return frames.with_columns(
        frame_bytes=wire,
        l3_bytes=pl.when(is_none).then(0).otherwise(wire - l2),
        # what is neither TCP nor UDP has no transport payload
        payload_bytes=pl.when(is_other).then(0).otherwise(carried),
        is_ethernet=_by_layers(frames, is_ethernet, pl.Boolean),
    )


def _size_classes() -> dict[str, pl.Expr]:
    bounds = [-1, *SIZES.values()]
    with_fcs = pl.col("frame_bytes") + FCS_BYTES
    return {
        name: ((with_fcs > low) & (with_fcs <= high)).sum().cast(pl.Int64)
        for name, low, high in zip(SIZES, bounds, bounds[1:], strict=False)
    }


def _by_layers(
    frames: pl.DataFrame,
    of: Callable[[str], int | bool | None],
    # polars would infer Null where no frame is left, or none has a value
    dtype: type[pl.DataType],
) -> pl.Series:
    """Ask each kind of frame once."""
    kinds = frames["layers"].unique()
    found = pl.Series("found", [of(kind) for kind in kinds], dtype=dtype)
    known = pl.DataFrame([kinds, found])
    return frames.select("layers").join(known, on="layers", how="left", maintain_order="left")[
        "found"
    ]


@dataclass
class TrafficCounts:
    """Adds up frames, batch by batch; those of unknown direction by their addresses."""

    _blocks: list[pl.DataFrame] = field(default_factory=list)
    _sizes: list[pl.DataFrame] = field(default_factory=list)
    _seen: list[pl.DataFrame] = field(default_factory=list)

    @property
    def is_empty(self) -> bool:
        """Tell whether no frame lay in the time that all points cover."""
        return not self._blocks

    def add(self, frames: pl.DataFrame) -> None:
        """Count frames (columns of `with_bytes`, and point, way, block)."""
        self._seen.append(frames.filter(pl.col("way") < 2).group_by(KEYS).agg(n=pl.len()))  # noqa: PLR2004 - the last of WAYS
        is_known = pl.col("way") < 2  # noqa: PLR2004 - likewise
        # addresses only matter where the direction is to be found by them
        ends = [pl.when(is_known).then(None).otherwise(pl.col(c)).alias(c) for c in ("src", "dst")]
        keyed = frames.with_columns(ends)
        self._blocks.append(
            keyed.group_by(*KEYS, "block").agg(
                n_frames=pl.len().cast(pl.Int64),
                **{name: pl.col(name).sum() for name in BYTES},
                **_size_classes(),
                n_not_ethernet=(~pl.col("is_ethernet")).sum().cast(pl.Int64),
                n_l3_unknown=pl.col("l3_bytes").is_null().sum().cast(pl.Int64),
                n_payload_unknown=pl.col("payload_bytes").is_null().sum().cast(pl.Int64),
            )
        )
        sizes = keyed.group_by(*KEYS, "frame_bytes").agg(n_frames=pl.len().cast(pl.Int64))
        self._sizes.append(sizes)
        if len(self._blocks) > MOST_PARTS:
            self._fold()

    def _fold(self) -> None:
        self._blocks = [_added(self._blocks, [*KEYS, "block"])]
        self._sizes = [_added(self._sizes, [*KEYS, "frame_bytes"])]
        self._seen = [_added(self._seen, KEYS)]

    def finish(self) -> tuple[pl.DataFrame, pl.DataFrame]:
        """Give the counts by point, way and block, and by point, way and frame size."""
        self._fold()
        way = self._way_of_addresses()
        blocks, sizes = (_directed(part[0], way) for part in (self._blocks, self._sizes))
        return (
            _added([blocks], ["point", "way", "block"]).sort("point", "way", "block"),
            _added([sizes], ["point", "way", "frame_bytes"]).sort("point", "way", "frame_bytes"),
        )

    def _way_of_addresses(self) -> pl.DataFrame:
        """Addresses that go one way only wherever a packet was followed."""
        pairs = self._seen[0].group_by("src", "dst").agg(pl.col("way").unique())
        alone = pairs.filter(pl.col("way").list.len() == 1)
        return alone.select("src", "dst", found=pl.col("way").list.first())


def _added(parts: Sequence[pl.DataFrame], keys: Sequence[str]) -> pl.DataFrame:
    whole = pl.concat(parts)
    values = [name for name in whole.columns if name not in KEYS and name not in keys]
    return whole.group_by(keys).agg(pl.col(values).sum())


def _directed(frames: pl.DataFrame, way: pl.DataFrame) -> pl.DataFrame:
    joined = frames.join(way, on=["src", "dst"], how="left")
    is_unknown = pl.col("way") == WAYS.index("unknown")
    way_found = pl.when(is_unknown).then(pl.col("found").fill_null(pl.col("way")))
    return joined.with_columns(way=way_found.otherwise(pl.col("way")))


def series(blocks: pl.DataFrame, column: str) -> Ints:
    """Spread one point's and direction's counts over all blocks."""
    found = np.zeros(N_BLOCKS, dtype=np.int64)
    found[blocks["block"].to_numpy()] = blocks[column].to_numpy()
    return found
