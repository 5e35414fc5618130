"""Trials summed up: the table of size and rate, the throughput, and the rate at a tolerated loss.

Throughput is the fastest rate at which no frame is lost (RFC 2544 §26.1, RFC 1242 §3.17). A rate at
which a few may be lost is no throughput: it is named after the loss, PDR(0.01 %).
"""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from pcaplat.benchmarking.measuring import PERCENTILES, Trial
from pcaplat.metrics.runs import LEAST_RUNS
from pcaplat.statistics.conditional_rate import same_rates
from pcaplat.statistics.intervals import CONFIDENCE, Estimate, across, pooled
from pcaplat.statistics.loss_ratio import LossEstimate
from pcaplat.tables.columns import Row

SUMS = ("n_sent", "n_received", "n_lost", "n_undecided", "n_outside")
LATENCIES = ("mean", *PERCENTILES)


def cells_of(trials: Sequence[Trial]) -> list[Row]:
    """Join the trials of one direction, size and offered rate."""
    return [_cell(some) for some in alike(trials)]


def alike(trials: Sequence[Trial]) -> Iterator[list[Trial]]:
    """Give the trials of each direction, size and offered rate, slowest first."""
    rated = [one for one in trials if one.row["offered_pps"]]
    for _, some in groupby(sorted(rated, key=_order), key=place_of):
        group = list(some)
        for load in same_rates(trial.row["offered_pps"] for trial in group):
            yield group[load]


def place_of(trial: Trial) -> tuple[Any, ...]:
    """Direction and frame size of a trial."""
    return trial.row["direction"], trial.row["frame_bytes"] or 0


def _order(trial: Trial) -> tuple[Any, ...]:
    return *place_of(trial), trial.row["offered_pps"]


def _cell(trials: Sequence[Trial]) -> Row:
    rows = [trial.row for trial in trials]
    sums = {name: sum(row[name] for row in rows) for name in SUMS}
    n_judged = sums["n_received"] + sums["n_lost"]
    lo, hi = (
        LossEstimate(sums["n_lost"], n_judged).interval(CONFIDENCE) if n_judged else (None, None)
    )
    row = {
        **{name: rows[0][name] for name in ("sender", "receiver", "direction")},
        "frame_bytes": rows[0]["frame_bytes"],
        "n_trials": len(rows),
        "duration_s": min(row["duration_s"] for row in rows),
        **{name: _mean(rows, name) for name in ("offered_pps", "offered_l1_bps", "forwarded_pps")},
        **sums,
        "lost_frac": sums["n_lost"] / n_judged if n_judged else None,
        "lost_lo_frac": lo,
        "lost_hi_frac": hi,
    }
    for name in LATENCIES:
        row |= _latency(name, trials)
    return row


def _mean(rows: Sequence[Row], name: str) -> float | None:
    known = [row[name] for row in rows if row[name] is not None]
    return sum(known) / len(known) if len(known) == len(rows) else None


def _latency(name: str, trials: Sequence[Trial]) -> Row:
    """Mean over trials; what they scatter by, if there are enough, else what each of them says."""
    measurements = [trial.measurements[name] for trial in trials if name in trial.measurements]
    value = sum(one.value for one in measurements) / len(measurements) if measurements else None
    found: Estimate | None = None
    if len(measurements) >= LEAST_RUNS:
        found = across([one.value for one in measurements], max(one.bias for one in measurements))
    elif measurements and all(isinstance(one.within, Estimate) for one in measurements):
        found = pooled([one.within for one in measurements if isinstance(one.within, Estimate)])
    half = None if found is None else found.half_width(CONFIDENCE)
    return {f"{name}_ns": value, f"{name}_half_width_ns": half}


def results_of(cells: Sequence[Row], tolerance: float) -> list[Row]:
    """Say of each direction and size how fast it went without loss, and with little.

    Args:
        cells: Of `cells_of`.
        tolerance: Share of frames that may be lost.
    """
    results = []
    for (direction, size), some in groupby(cells, key=lambda r: (r["direction"], r["frame_bytes"])):
        rows = list(some)
        whole = [row for row in rows if row["lost_frac"] == 0 and not row["n_undecided"]]
        few = [row for row in rows if row["lost_frac"] is not None and not row["n_undecided"]]
        few = [row for row in few if row["lost_frac"] <= tolerance]
        lossy = [row["offered_pps"] for row in rows if row["lost_frac"]]
        best, pdr = (max(r, key=lambda x: x["offered_pps"], default=None) for r in (whole, few))
        results.append(
            {
                "direction": direction,
                "frame_bytes": size,
                "n_rates": len(rows),
                **_rate("throughput", best),
                "throughput_mean_ns": best and best["mean_ns"],
                "throughput_mean_half_width_ns": best and best["mean_half_width_ns"],
                "least_lossy_pps": min(lossy, default=None),
                "is_bracketed": bool(best and any(r > best["offered_pps"] for r in lossy)),
                "is_monotonic": not (best and any(r < best["offered_pps"] for r in lossy)),
                "tolerance_frac": tolerance,
                "pdr_name": pdr_name(tolerance),
                **_rate("pdr", pdr),
                "pdr_lost_frac": pdr and pdr["lost_frac"],
                "pdr_lost_hi_frac": pdr and pdr["lost_hi_frac"],
            }
        )
    return results


def _rate(name: str, row: Row | None) -> Row:
    return {
        f"{name}_pps": row and row["offered_pps"],
        f"{name}_l1_bps": row and row["offered_l1_bps"],
    }


def pdr_name(tolerance: float) -> str:
    """Name a rate after the loss that is tolerated at it.

    Example:
        >>> pdr_name(0.0001)
        'PDR(0.01 %)'
    """
    return f"PDR({100 * tolerance:.4g} %)"
