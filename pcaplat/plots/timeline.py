"""Latency over the time of a run: a heatmap; losses, late packets, clock steps, warm-up marked."""

from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise

import numpy as np

from pcaplat.metrics.runs import warm_up_blocks
from pcaplat.model.arrays import Floats
from pcaplat.model.blocks import Blocks, joined
from pcaplat.plots.figure import (
    ALARM,
    ARROWS,
    CLOCK_STEP,
    COLORS,
    DOT,
    INK,
    NEUTRAL,
    Figure,
    Measured,
    Spec,
    chart,
    format_known,
    layer,
    number,
    scaled,
    shift_text,
    tooltip,
    zoom,
)
from pcaplat.records import dataclass
from pcaplat.tables.columns import Row
from pcaplat.units import NS_PER, format_count, format_ns, unit_for

N_COLUMNS, N_LEVELS, N_PARTS = 64, 20, 8
"""Cells along time and latency, and rows of the table; a run has 256 blocks."""
LEAST_OF_P99 = 100
"""Packets that a 99 % quantile needs."""
HEIGHT = 200
OPACITY: Spec = {
    "field": "n",
    "type": "quantitative",
    "scale": {"type": "log", "range": [0.18, 1]},
    "legend": {"title": "packets in a cell", "tickCount": 3, "format": ",d"},
}
MEDIAN: Spec = {"type": "line", "color": INK, "strokeWidth": 1.5, "clip": True}
MEDIAN |= {"point": {"color": INK, "size": 12}}
WARM_UP: Spec = {"type": "rect", "color": NEUTRAL, "opacity": 0.25, "clip": True}
LOST: Spec = DOT | {"shape": "triangle-up", "color": ALARM}
LATE: Spec = DOT | {"shape": "triangle-down", "color": INK}


@dataclass(frozen=True)
class Timeline:
    """Latencies of a segment and direction over time, in units of their own.

    Attributes:
        row: Of the segments.
        blocks: Its latencies.
        n_columns: How many cells there are along time.
        unit: Of latencies.
        clock: Of the time since the start.
        base_ns: What is taken off latencies: the least, where only that above it is known.
    """

    row: Row
    blocks: Blocks
    n_columns: int
    unit: str
    clock: str
    base_ns: float

    @classmethod
    def of(cls, row: Row, blocks: Blocks, n_columns: int) -> "Timeline":
        """Choose units."""
        is_known = row["p50_ns"] is not None
        unit = unit_for([row["p99_ns"] if is_known else row["pdv_p99_ns"]])
        base_ns = 0.0 if is_known else blocks.least_ns
        return cls(row, blocks, min(n_columns, len(blocks.n)), unit, time_unit(blocks), base_ns)

    def since_start(self, t_ns: float) -> float:
        """Give an instant of the path's first clock as time since the start."""
        return float(f"{(t_ns - self.blocks.start_ns) / NS_PER[self.clock]:.6g}")

    def edges(self, n_parts: int) -> list[float]:
        """Give where parts of the time begin and end, since the start."""
        length_ns = len(self.blocks.n) // n_parts * self.blocks.length_ns
        span = n_parts * length_ns / NS_PER[self.clock]
        return [float(f"{at * span / n_parts:.5g}") for at in range(n_parts + 1)]

    def when(self, n_parts: int) -> list[str]:
        """Write the parts of the time."""
        return [f"{lo:g} to {hi:g} {self.clock}" for lo, hi in pairwise(self.edges(n_parts))]

    def histograms(self, n_parts: int) -> tuple[Floats, Floats]:
        """Give values, ascending, and how often each stands in every part of the time."""
        if n_parts not in self._histograms:
            self._histograms[n_parts] = self.blocks.histograms(len(self.blocks.n) // n_parts)
        return self._histograms[n_parts]

    @cached_property
    def _histograms(self) -> dict[int, tuple[Floats, Floats]]:
        """Those that were asked for: marks, cells and table ask for the same."""
        return {}

    def quantiles(self, n_parts: int, share: float) -> list[float | None]:
        """Give a quantile of each part of the time; None where it has no packets."""
        values, counts = self.histograms(n_parts)
        reached = np.cumsum(counts, axis=1)
        at = np.argmax(reached >= np.ceil(share * reached[:, -1:]), axis=1)
        found = zip(at.tolist(), reached[:, -1].tolist(), strict=True)
        return [float(values[place]) - self.base_ns if n else None for place, n in found]

    def n_late(self, n_parts: int) -> list[int]:
        """Give the late packets of each part of the time: as many of the slowest as are late."""
        late = self.row.get("n_late") or 0
        if not late:
            return [0] * n_parts
        _, counts = self.histograms(n_parts)
        n = counts.sum(axis=0)
        n_slower = np.cumsum(n[::-1])[::-1] - n
        return [int(n) for n in counts[:, n_slower < late].sum(axis=1)]

    def n_lost(self, n_parts: int) -> list[int]:
        """Give the packets that were lost in each part of the time."""
        if self.blocks.n_lost is None:
            return [0] * n_parts
        return [int(n) for n in joined(self.blocks.n_lost, len(self.blocks.n) // n_parts)]


def timeline_figure(
    measured: Measured, near: str, far: str, direction: str, n_columns: int = N_COLUMNS
) -> Figure | None:
    """Draw one direction of a segment; None where no latency of it is known."""
    row = measured.segment(near, far, direction)
    blocks = measured.blocks_of(row) if row else None
    if row is None or blocks is None:
        return None
    line = Timeline.of(row, blocks, n_columns)
    return Figure(
        f"{near} {ARROWS[direction]} {far}",
        shift_text([row]),
        _spec(line, _steps(measured, line)),
        [
            f"from, {line.clock}",
            "packets",
            *(f"{p}, {line.unit}" for p in ("p50", "p99")),
            "late",
            "lost",
        ],
        _cells(line),
        direction=direction,
        is_zoomable=True,
    )


def time_unit(blocks: Blocks) -> str:
    """Choose the unit in which the time of a run reads well."""
    span_ns = len(blocks.n) * blocks.length_ns
    if span_ns >= 10 * NS_PER["min"]:
        return "min"
    return "s" if span_ns >= NS_PER["s"] else unit_for([span_ns])


def _spec(line: Timeline, steps: Sequence[Row]) -> Spec:
    cells, columns = _heat(line), _columns(line)
    is_log = all(cell["lo"] > 0 for cell in cells)
    scale = {"type": "log" if is_log else "linear", "zero": False, "nice": False}
    name = "latency above the least" if line.base_ns else "latency"
    x = number(
        "start", f"time since the start, {line.clock}", scale={"nice": False}, axis={"tickCount": 8}
    )
    y = number("lo", f"{name}, {line.unit}", scale=scale, axis={"tickCount": 5})
    across: Spec = {"x": x, "x2": {"field": "end"}}
    heat = across | {"y": y, "y2": {"field": "hi"}, "opacity": OPACITY}
    heat["tooltip"] = tooltip(time="when", latency="range", packets="count")
    color = {"type": "rect", "color": COLORS[line.row["direction"]], "clip": True}
    in_middle = x | {"field": "middle"}
    lost: Spec = {"x": in_middle, "y": {"value": HEIGHT - 6}}
    lost["tooltip"] = tooltip(time="when", lost="lost_text")
    late: Spec = {
        "x": in_middle,
        "y": {"value": 6},
        "tooltip": tooltip(time="when", late="late_text"),
    }
    step = {"x": x | {"field": "at"}, "tooltip": tooltip(clock="point", step="size", time="when")}
    return chart(
        HEIGHT,
        layer(_warm_up(line), WARM_UP, across),
        layer(cells, color, heat) | {"params": [zoom("x")]},
        layer(columns, MEDIAN, {"x": in_middle, "y": y | {"field": "p50"}}),
        layer([column for column in columns if column["lost"]], LOST, lost),
        layer([column for column in columns if column["late"]], LATE, late),
        layer(steps, CLOCK_STEP, step),
    )


def _heat(line: Timeline) -> list[Row]:
    """Give the occupied cells of columns of time and levels of latency."""
    values, counts = line.histograms(line.n_columns)
    edges = _levels(values - line.base_ns)
    level = np.searchsorted(edges, values - line.base_ns, side="right") - 1
    occupied, first = np.unique(np.clip(level, 0, N_LEVELS - 1), return_index=True)
    cells = np.add.reduceat(counts, first, axis=1)
    times, when = line.edges(line.n_columns), line.when(line.n_columns)
    spans = [f"{format_ns(lo)} to {format_ns(hi)}" for lo, hi in pairwise(edges)]
    ends = [scaled(edge, line.unit) for edge in edges]
    return [
        {"start": times[column], "end": times[column + 1], "when": when[column]}
        | {"lo": ends[occupied[at]], "hi": ends[occupied[at] + 1], "range": spans[occupied[at]]}
        | {"n": int(cells[column, at]), "count": format_count(int(cells[column, at]))}
        for column, at in np.argwhere(cells).tolist()
    ]


def _levels(values: Floats) -> list[float]:
    """Cut latencies into levels: equal ratios where all are above 0, else equal widths."""
    least, most = float(values.min()), float(values.max())
    if least > 0:
        return [float(one) for one in np.geomspace(0.99 * least, 1.01 * most, N_LEVELS + 1)]
    reach = max(most - least, 1.0)
    return [
        float(one) for one in np.linspace(least - 0.01 * reach, most + 0.01 * reach, N_LEVELS + 1)
    ]


def _columns(line: Timeline) -> list[Row]:
    """Give median, late and lost packets of each column of time."""
    n = line.n_columns
    columns = zip(line.quantiles(n, 0.5), line.n_late(n), line.n_lost(n), line.when(n), strict=True)
    return [
        {"middle": (lo + hi) / 2, "p50": scaled(p50_ns, line.unit), "when": when}
        | {"lost": lost, "lost_text": format_count(lost)}
        | {"late": late, "late_text": format_count(late)}
        for (lo, hi), (p50_ns, late, lost, when) in zip(
            pairwise(line.edges(n)), columns, strict=True
        )
    ]


def _warm_up(line: Timeline) -> list[Row]:
    """Give both ends of the run that compare and validate leave out."""
    n, n_out = len(line.blocks.n), warm_up_blocks(line.blocks)
    edges = line.edges(n)
    ends = ((0, n_out), (n - n_out, n)) if n_out else ()
    return [{"start": edges[first], "end": edges[last]} for first, last in ends]


def _steps(measured: Measured, line: Timeline) -> list[Row]:
    """Give the clock steps of either end; their times are the reference's."""
    clocks = measured.document["clocks"]
    path = measured.document["path"]
    first_ns = next((row["offset_ns"] or 0 for row in clocks if row["point"] == path[0]), 0)
    found = []
    for clock in clocks:
        if clock["point"] in {line.row["near"], line.row["far"]}:
            for step in clock["steps"]:
                at = line.since_start(step["t_ns"] + first_ns)
                row = {"point": clock["point"], "at": at, "when": f"{at:g} {line.clock}"}
                found.append(row | {"size": format_ns(step["step_ns"])})
    return found


def _cells(line: Timeline) -> list[list[str]]:
    n_parts = min(N_PARTS, line.n_columns)
    n = joined(line.blocks.n, len(line.blocks.n) // n_parts).astype(int).tolist()
    p50_ns, p99_ns = (line.quantiles(n_parts, share) for share in (0.5, 0.99))
    late, lost, starts = line.n_late(n_parts), line.n_lost(n_parts), line.edges(n_parts)
    p99_ns = [value if n[at] >= LEAST_OF_P99 else None for at, value in enumerate(p99_ns)]
    return [
        [
            f"{starts[at]:g}",
            format_count(n[at]),
            *format_known(line.row, (p50_ns[at], p99_ns[at]), line.unit),
            format_count(late[at]),
            format_count(lost[at]),
        ]
        for at in range(n_parts)
    ]
