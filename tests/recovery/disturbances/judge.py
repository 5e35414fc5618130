"""What a merge told of a disturbed path, beside the truth."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

import pcaplat
from tests.recovery.disturbances import HAVE_OWN_CLOCKS, KINDS, Disturbed
from tests.recovery.disturbances.path import SECOND
from tests.support.networks import START_NS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.recovery.disturbances.path import DisturbedNetwork, Floats
    from tests.support.networks import Edge

QUANTILES = {"p50": 0.5, "p90": 0.9, "p99": 0.99}
FAR = 3
ROUNDING = 0.001
"""Bins of histograms, and the rate of the reference."""
EDGE_PACKETS = 3
SPANS_S = (8, 30, 90, 200, 600)


@dataclass
class Told:
    """A figure that was told, with its interval or what clocks leave open, and the truth."""

    name: str
    told: float
    true: float
    lo: float | None
    hi: float | None
    half: float
    kind: str = "mean"

    @property
    def is_missed(self) -> bool:
        """Whether there is an interval, and the truth is not in it."""
        slack = 1e-9 if self.kind == "loss" else 1.0 + ROUNDING * abs(self.true)
        return (
            self.lo is not None
            and self.hi is not None
            and not self.lo - slack <= self.true <= self.hi + slack
        )

    @property
    def is_far(self) -> bool:
        """Whether it is off by more than three half-widths."""
        slack = 1e-9 if self.kind == "loss" else 1.0 + ROUNDING * abs(self.true)
        return abs(self.told - self.true) > FAR * self.half + slack


@dataclass
class Judged:
    """All figures of a merge, and its warnings."""

    figures: list[Told] = field(default_factory=list)
    warned: list[dict[str, Any]] = field(default_factory=list)


def judged(name: str, n: int, seed: int, folder: Path) -> Judged:
    """Make a disturbed path, save its captures, merge them and compare."""
    made = Disturbed(n, SPANS_S[seed % len(SPANS_S)] * SECOND, seed)
    KINDS[name](made)
    network = made.network()
    same_clock = [] if name in HAVE_OWN_CLOCKS else ["all"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pcaplat.PcaplatWarning)
        with pcaplat.merge(network.save(folder), same_clock=same_clock, keep_rows=False) as result:
            document = dict(result.document)
    figures = [
        *_segments(network, document),
        *_round_trips(network, document),
        *_clocks(made, document),
    ]
    return Judged(figures, document["warnings"])


def _segments(network: DisturbedNetwork, document: dict[str, Any]) -> Iterator[Told]:
    edges = {(row["near"], row["far"]) for row in document["edges"]}
    for row in document["segments"]:
        edge = (row["near"], row["far"])
        if edge not in edges or row["class"] != "packet":
            continue
        edge = edge if row["direction"] == "forward" else edge[::-1]
        yield _lost(network, edge, row)
        true_ns = network.took_ns(edge)
        if row["mean_ns"] is not None and len(true_ns) >= EDGE_PACKETS:
            yield from _latencies(f"{edge[0]} → {edge[1]}", true_ns, row)


def _latencies(name: str, true_ns: Floats, row: dict[str, Any]) -> Iterator[Told]:
    clock_ns = float(row["clock_half_width_ns"])
    true = {"mean": float(true_ns.mean())} | {
        at: float(np.quantile(true_ns, share, method="inverted_cdf"))
        for at, share in QUANTILES.items()
    }
    for at, ns in true.items():
        lo, hi = row[f"{at}_lo_ns"], row[f"{at}_hi_ns"]
        half = max(clock_ns, 0.0 if lo is None else (hi - lo) / 2)
        kind = "mean" if at == "mean" else "quantile"
        yield Told(f"{name} {at}", row[f"{at}_ns"], ns, lo, hi, half, kind)


def _lost(network: DisturbedNetwork, edge: Edge, row: dict[str, Any]) -> Told:
    """The share of packets that was lost in the time that both points cover."""
    n_lost, n = network.lost_of(edge)
    lo, hi = row["lost_lo_frac"], row["lost_hi_frac"]
    name = f"{edge[0]} → {edge[1]} loss ({row['n_lost']} told, {n_lost} true)"
    share = n_lost / max(n + n_lost, 1)
    return Told(name, row["lost_frac"], share, lo, hi, (hi - lo) / 2, "loss")


def _round_trips(network: DisturbedNetwork, document: dict[str, Any]) -> Iterator[Told]:
    edges = {(row["near"], row["far"]) for row in document["edges"]}
    for row in document["round_trips"]:
        edge = (row["near"], row["far"])
        each = [network.took_ns(one) for one in (edge, edge[::-1])]
        if edge not in edges or row["mean_ns"] is None or not all(map(len, each)):
            continue
        true = sum(float(one.mean()) for one in each)
        lo, hi = row.get("mean_lo_ns"), row.get("mean_hi_ns")
        half = row["mean_half_width_ns"]
        yield Told(f"{edge[0]} ⇄ {edge[1]} mean", row["mean_ns"], true, lo, hi, half)


def _clocks(made: Disturbed, document: dict[str, Any]) -> Iterator[Told]:
    """Clocks against the reference's, whose own offset is taken out."""
    for row in document["clocks"]:
        clock = made.clocks.get(row["point"])
        if clock is None or row["offset_ns"] is None or row["half_width_ns"] is None:
            continue
        reference = made.clocks.get(row["reference"], np.zeros_like)
        at = np.array([float(row["at_ns"] - START_NS)])
        at = at - reference(at)
        true = float((clock(at) - reference(at))[0])
        half = row["half_width_ns"]
        told = row["offset_ns"]
        yield Told(f"clock {row['point']}", told, true, told - half, told + half, half, "clock")
