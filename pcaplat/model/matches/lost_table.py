"""The lost table: from the core's list of lost packets to its columns."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from pcaplat.model.files.captures import Capture
from pcaplat.model.matches.match_table import NUMBER_BITS, words
from pcaplat.model.matches.spilled_rows import (
    LOST,
    POINT_BITS,
    TOLD_BY,
    Rows,
    ends,
    rows_as_spilled,
)
from pcaplat.model.path import Findings
from pcaplat.records import dataclass
from pcaplat.tables.arrow_arrays import of_numbers

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class LostTable:
    """What turns the list into rows: names."""

    captures: Sequence[Capture]
    findings: Findings

    def batches(self, paths: Sequence[str]) -> "Iterator[dict[str, pa.Array]]":
        """Give the columns of the list (pcaplat.tables.LOST) as Arrow arrays, batch by batch."""
        for rows in rows_as_spilled(paths, LOST):
            yield self._columns(rows)

    def _columns(self, rows: Rows) -> "dict[str, pa.Array]":
        names = [point.name for point in self.findings.points]
        files = [capture.name for capture in self.captures]
        up, down, is_reverse = ends(rows["points"])
        seen, told_by = rows["told"] & ((1 << POINT_BITS) - 1), rows["told"] >> POINT_BITS
        is_any = told_by == TOLD_BY.index("equal-packets")
        return {
            "point": words(names, seen),
            "file": words(files, rows["frame"] >> NUMBER_BITS),
            "frame": of_numbers(rows["frame"] & ((1 << NUMBER_BITS) - 1), is_any),
            "t_ns": of_numbers(rows["t_ns"]),
            "near": words(names, np.where(is_reverse, down, up)),
            "far": words(names, np.where(is_reverse, up, down)),
            "direction": words(("forward", "reverse"), is_reverse),
            "weight": of_numbers(rows["weight"]),
            "told_by": words(TOLD_BY, told_by),
        }
