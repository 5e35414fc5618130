"""The matches table: from spilled pairs of frames to its columns."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from pcaplat.model.arrays import Floats, Ints
from pcaplat.model.clocks import Clocks, Relation
from pcaplat.model.files.captures import Capture
from pcaplat.model.matches.spilled_rows import (
    IDENTITIES,
    KINDS,
    MATCHED_BY,
    Rows,
    ends,
    evidence,
    kinds,
)
from pcaplat.model.path import Findings
from pcaplat.records import dataclass
from pcaplat.tables.arrow_arrays import of_numbers, of_values

if TYPE_CHECKING:
    import pyarrow as pa

NUMBER_BITS = 44
"""Of a frame's id (rust/src/matching/mod.rs); the bits above are its file."""


@dataclass(frozen=True)
class MatchTable:
    """What turns pairs into rows: names, and how the clocks relate."""

    captures: Sequence[Capture]
    findings: Findings
    clocks: Clocks

    def columns(self, rows: Rows) -> "dict[str, pa.Array]":
        """Give the columns of some pairs (pcaplat.tables.MATCHES) as Arrow arrays."""
        names = [point.name for point in self.findings.points]
        files = [capture.name for capture in self.captures]
        number = (1 << NUMBER_BITS) - 1
        up, down, is_reverse = ends(rows["points"])
        trajectory = rows["trajectory"]
        by, identity, posterior = evidence(rows)
        # NaN stands for an unknown latency, null in the table
        latency, lo, hi = (of_numbers(x, np.isnan(x)) for x in self.latencies(rows))
        return {
            "up_point": words(names, up),
            "up_file": words(files, rows["up"] >> NUMBER_BITS),
            "up_frame": of_numbers(rows["up"] & number),
            "down_point": words(names, down),
            "down_file": words(files, rows["down"] >> NUMBER_BITS),
            "down_frame": of_numbers(rows["down"] & number),
            "direction": words(("forward", "reverse"), (is_reverse != 0).astype(np.int64)),
            "kind": words(KINDS, kinds(rows["points"])),
            "latency_ns": latency,
            "latency_lo_ns": lo,
            "latency_hi_ns": hi,
            # what was cut or joined has none; a negative number orders its rows
            "trajectory_id": of_numbers(trajectory, trajectory < 0),
            "matched_by": words(MATCHED_BY, by),
            "probability": of_numbers(posterior, np.isnan(posterior)),
            "identity": words(IDENTITIES, identity),
            "up_t_ns": of_numbers(rows["t_ns"]),
        }

    def latencies(self, rows: Rows) -> tuple[Floats, Floats, Floats]:
        """Latency of each pair, and what clocks and resolutions leave open; NaN if unknown."""
        latency, lo, hi = (np.full(len(rows), np.nan) for _ in range(3))
        points, t_ns, raw_ns = (np.ascontiguousarray(rows[n]) for n in ("points", "t_ns", "raw_ns"))
        for code in np.unique(points):
            at = np.flatnonzero(points == code)
            up, down, is_reverse = (int(part) for part in ends(code))
            near, far = (down, up) if is_reverse else (up, down)
            relation = self.clocks.relation(near, far)
            if not relation.is_known:
                continue
            value, least, most = self._clock_share(
                t_ns[at], raw_ns[at], near, relation, is_reverse=is_reverse != 0
            )
            exact = raw_ns[at] - (-relation.base_ns if is_reverse else relation.base_ns)
            latency[at] = exact - np.rint(value)
            # ends are whole nanoseconds as the value is, or rounding would put it beside them
            lo[at] = exact - np.ceil(most) - self.findings.points[up].cut_ns
            hi[at] = exact - np.floor(least) + self.findings.points[down].cut_ns
        is_overlap = kinds(points) == KINDS.index("overlap")
        for column in (latency, lo, hi):
            column[is_overlap] = np.nan
        return latency, lo, hi

    def _clock_share(
        self, t_ns: Ints, raw_ns: Ints, near: int, relation: Relation, *, is_reverse: bool
    ) -> tuple[Floats, Floats, Floats]:
        """What of each difference is the clocks', beside their base: value, least, most."""
        t_ns = t_ns + (raw_ns if is_reverse else 0)
        knots = self.findings.centres[0][near].raw(relation.t_ns)
        value, lo, hi = (
            _between(knots, edge, t_ns, relation.drift_ppm or 0.0) for edge in relation.step_free
        )
        return (-value, -hi, -lo) if is_reverse else (value, lo, hi)


def words(known: Sequence[str], index: Ints) -> "pa.Array":
    """Give words by their numbers as an Arrow array."""
    import pyarrow as pa  # noqa: PLC0415 - slow to import, seldom needed
    import pyarrow.compute as pc  # noqa: PLC0415 - likewise

    # Arrow's own pool keeps what was freed
    pool = pa.system_memory_pool()
    return pc.take(of_values(known, pa.string()), of_numbers(index), memory_pool=pool)


def _between(knots: Ints, values: Floats, t_ns: Ints, slope_ppm: float) -> Floats:
    """Linear between the knots, of one slope outside."""
    x, at = (t_ns - knots[0]).astype(np.float64), (knots - knots[0]).astype(np.float64)
    beyond = np.minimum(x, 0) + np.maximum(x - at[-1], 0)
    return np.asarray(np.interp(x, at, values) + slope_ppm * 1e-6 * beyond)
