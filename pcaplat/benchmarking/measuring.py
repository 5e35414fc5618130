"""One trial: what was offered, what came out, and how long it took."""

from collections.abc import Sequence

import numpy as np

from pcaplat.benchmarking.frames import Sent
from pcaplat.benchmarking.splitting import FrameRange
from pcaplat.metrics.means import Measurement, coarse_ns, of_means
from pcaplat.metrics.quantiles import of_quantile
from pcaplat.metrics.runs import MeasuredRun
from pcaplat.model.arrays import Ints
from pcaplat.model.blocks import N_BLOCKS, Blocks
from pcaplat.records import dataclass
from pcaplat.statistics.intervals import CONFIDENCE, Estimate
from pcaplat.tables.columns import Row

FCS_BYTES = 4
GAP_BYTES = 20
"""Preamble, start of frame and the least gap (IEEE 802.3)."""

NS_PER_S = 1e9
PERCENTILES = {"p50": 0.5, "p90": 0.9, "p99": 0.99}
LEAST_SHARE = 0.9
"""A trial of which fewer frames than this share have one size is a mix of sizes."""

BIN_BITS = 10
"""Latencies are binned to one part in 1024."""


@dataclass(frozen=True)
class Trial:
    """One trial, as a row of the document and as what its latencies say."""

    row: Row
    measurements: dict[str, Measurement]


def trials_of(
    run: MeasuredRun, sent: Sent, parts: Sequence[FrameRange], clock_ns: float | None
) -> list[Trial]:
    """Measure the trials of one direction.

    Args:
        run: What was merged.
        sent: Frames of that direction.
        parts: The trials among them.
        clock_ns: How far clocks may shift a latency; None: they cannot be related.
    """
    return [_trial(run, sent, part, clock_ns) for part in parts]


def _trial(run: MeasuredRun, sent: Sent, part: FrameRange, clock_ns: float | None) -> Trial:
    sizes, counts = np.unique(sent.wire_bytes[part[0] : part[1]], return_counts=True)
    size = int(sizes[np.argmax(counts)])
    is_mixed = counts.max() < LEAST_SHARE * counts.sum()
    at = np.arange(*part)
    chosen = at if is_mixed else at[sent.wire_bytes[at] == size]
    t_ns = sent.t_ns[chosen]
    n_sent, n_received = len(chosen), int(sent.is_received[chosen].sum())
    n_undecided = int(sent.is_untold[chosen].sum())
    n_outside = int((sent.is_outside & ~sent.is_untold)[chosen].sum())
    span_s = int(t_ns[-1] - t_ns[0]) / NS_PER_S
    rate = (n_sent - 1) / span_s if span_s > 0 else None
    bytes_ = float(sent.wire_bytes[chosen].mean()) + (FCS_BYTES if sent.is_ethernet else 0)
    n_lost = n_sent - n_received - n_undecided - n_outside
    n_judged = n_received + n_lost
    row = {
        "run": run.name,
        "direction": sent.direction,
        "sender": sent.sender,
        "receiver": sent.receiver,
        "start_ns": int(t_ns[0]),
        "end_ns": int(t_ns[-1]),
        "duration_s": None if rate is None else n_sent / rate,
        "frame_bytes": None if is_mixed else round(bytes_),
        "mean_frame_bytes": bytes_,
        "n_sent": n_sent,
        "n_received": n_received,
        "n_lost": n_lost,
        "n_undecided": n_undecided,
        "n_outside": n_outside,
        "n_other_sizes": int(part[1] - part[0] - n_sent),
        "lost_frac": n_lost / n_judged if n_judged else None,
        "offered_pps": rate,
        "offered_l2_bps": _bits(rate, bytes_, sent),
        "offered_l1_bps": _bits(rate, bytes_ + GAP_BYTES, sent),
        "forwarded_pps": None if rate is None else rate * n_received / n_sent,
    }
    measurements = _latencies(run, sent, chosen, clock_ns)
    return Trial(row | _latency_columns(sent, chosen, measurements, clock_ns), measurements)


def _bits(rate: float | None, bytes_: float, sent: Sent) -> float | None:
    return 8 * rate * bytes_ if rate is not None and sent.is_ethernet else None


def _latencies(
    run: MeasuredRun, sent: Sent, chosen: Ints, clock_ns: float | None
) -> dict[str, Measurement]:
    received = chosen[sent.is_received[chosen]]
    if clock_ns is None or not len(received):
        return {}
    blocks = blocks_of(sent.t_ns[received], sent.latency_ns[received])
    ends = (sent.sender, sent.receiver)
    off_ns = clock_ns + coarse_ns(run, ends, [blocks], is_single=True)
    found = {"mean": of_means(run, ends, [blocks], clock_ns=clock_ns)}
    return found | {name: of_quantile(blocks, share, off_ns) for name, share in PERCENTILES.items()}


def _latency_columns(
    sent: Sent, chosen: Ints, measurements: dict[str, Measurement], clock_ns: float | None
) -> Row:
    row: Row = {}
    for name in ("mean", *PERCENTILES):
        measurement = measurements.get(name)
        row[f"{name}_ns"] = None if measurement is None else measurement.value
        row[f"{name}_half_width_ns"] = None if measurement is None else half_width(measurement)
    latency_ns = sent.latency_ns[chosen[sent.is_received[chosen]]]
    is_known = len(latency_ns) > 0 and clock_ns is not None
    row["min_ns"] = int(latency_ns.min()) if is_known else None
    row["max_ns"] = int(latency_ns.max()) if is_known else None
    return row | {"clock_half_width_ns": clock_ns}


def half_width(measurement: Measurement) -> float | None:
    """Half a measurement's 95 % interval; None where the frames are too few or too much alike."""
    return (
        measurement.within.half_width(CONFIDENCE)
        if isinstance(measurement.within, Estimate)
        else None
    )


def blocks_of(t_ns: Ints, latency_ns: Ints) -> Blocks:
    """Lay latencies into equal blocks of time, as those of a run are.

    Example:
        >>> blocks = blocks_of(np.arange(512), np.full(512, 5000))
        >>> blocks.n_all, blocks.mean_ns
        (512, 5000.0)
    """
    length_ns = max(1, -(-int(t_ns[-1] - t_ns[0] + 1) // N_BLOCKS))
    block = (t_ns - t_ns[0]) // length_ns
    # a bin is as wide as one part in 1024 of its values
    scale = np.floor(np.log2(np.maximum(np.abs(latency_ns), 1))).astype(np.int64)
    width = 1 << np.maximum(scale - BIN_BITS, 0)
    middle = (latency_ns // width) * width + (width - 1) / 2
    keys, counts = np.unique(np.column_stack([block, middle]), axis=0, return_counts=True)
    squares = np.zeros(N_BLOCKS)
    np.add.at(squares, block, latency_ns.astype(np.float64) ** 2)
    sums = np.zeros(N_BLOCKS, np.int64)
    np.add.at(sums, block, latency_ns)
    return Blocks(
        int(t_ns[0]),
        length_ns,
        np.bincount(block, minlength=N_BLOCKS).astype(np.int64),
        sums,
        squares,
        keys[:, 0].astype(np.int64),
        keys[:, 1],
        counts.astype(np.int64),
    )
