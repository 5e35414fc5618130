"""The matches table: from spilled pairs of frames to its columns."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pcaplat.captures import Capture
from pcaplat.clocks import Clocks, Relation
from pcaplat.path import Findings, Floats, Ints
from pcaplat.spill import Rows, ends

NUMBER_BITS = 44
"""Of a frame's id (rust/src/matching/mod.rs); the bits above are its file."""


@dataclass(frozen=True)
class MatchTable:
    """What turns pairs into rows: names, and how the clocks relate."""

    captures: Sequence[Capture]
    findings: Findings
    clocks: Clocks

    def columns(self, rows: Rows) -> dict[str, Any]:
        """Give the columns of some pairs (pcaplat.tables.MATCHES)."""
        names = np.array([point.name for point in self.findings.points], dtype=object)
        files = np.array([capture.name for capture in self.captures], dtype=object)
        number = (1 << NUMBER_BITS) - 1
        up, down, is_reverse = ends(rows["points"])
        latency, lo, hi = (_nullable(column) for column in self._latencies(rows))
        return {
            "up_point": names[up],
            "up_file": files[rows["up"] >> NUMBER_BITS],
            "up_frame": rows["up"] & number,
            "down_point": names[down],
            "down_file": files[rows["down"] >> NUMBER_BITS],
            "down_frame": rows["down"] & number,
            "direction": np.where(is_reverse, "reverse", "forward").astype(object),
            "kind": np.full(len(rows), "packet", dtype=object),
            "latency_ns": latency,
            "latency_lo_ns": lo,
            "latency_hi_ns": hi,
            "trajectory_id": rows["trajectory"],
        }

    def _latencies(self, rows: Rows) -> tuple[Floats, Floats, Floats]:
        """Latency of each pair, and what clocks and resolutions leave open; NaN if unknown."""
        latency, lo, hi = (np.full(len(rows), np.nan) for _ in range(3))
        for code in np.unique(rows["points"]):
            at = rows["points"] == code
            up, down, is_reverse = (int(part) for part in ends(code))
            near, far = (down, up) if is_reverse else (up, down)
            relation = self.clocks.relation(near, far)
            if not relation.is_known:
                continue
            value, least, most = self._clock_share(
                rows[at], near, relation, is_reverse=is_reverse != 0
            )
            exact = rows["raw_ns"][at] - (-relation.base_ns if is_reverse else relation.base_ns)
            latency[at] = exact - np.rint(value)
            lo[at] = exact - most - self.findings.points[up].cut_ns
            hi[at] = exact - least + self.findings.points[down].cut_ns
        return latency, lo, hi

    def _clock_share(
        self, rows: Rows, near: int, relation: Relation, *, is_reverse: bool
    ) -> tuple[Floats, Floats, Floats]:
        """What of each difference is the clocks', beside their base: value, least, most."""
        t_ns = rows["t_ns"] + (rows["raw_ns"] if is_reverse else 0)
        knots = self.findings.centres[0][near].raw(relation.t_ns)
        value, lo, hi = (
            _between(knots, edge, t_ns, relation.drift_ppm or 0.0)
            for edge in (relation.value_ns, relation.lo_ns, relation.hi_ns)
        )
        return (-value, -hi, -lo) if is_reverse else (value, lo, hi)


def _between(knots: Ints, values: Floats, t_ns: Ints, slope_ppm: float) -> Floats:
    """Linear between the knots, of one slope outside."""
    x, at = (t_ns - knots[0]).astype(np.float64), (knots - knots[0]).astype(np.float64)
    beyond = np.minimum(x, 0) + np.maximum(x - at[-1], 0)
    return np.asarray(np.interp(x, at, values) + slope_ppm * 1e-6 * beyond)


def _nullable(values: Floats) -> list[float | None]:
    return [None if np.isnan(value) else value for value in values.tolist()]
