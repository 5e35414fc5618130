"""LatencyView as they are shown: each row of one population, and no figure that nobody knows.

The drawing of the path, the answer and the table take their figures from here, so none of them
can contradict another.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence

from pcaplat.records import dataclass
from pcaplat.tables.columns import Row
from pcaplat.tables.results import lost_bytes_fracs
from pcaplat.units import Scale, format_frac

ARROWS = {"forward": "→", "reverse": "←"}
UNKNOWN = "–"
BOTH_WAYS = "both"
WHOLE = "packet"
"""The class of packets that were neither cut nor joined on the way."""
LEAST_N = {"p50": 2, "p90": 10, "p99": 100, "p999": 1_000, "pdv_p99": 100}
"""So many packets make a quantile more than the extreme: one above it is expected."""
HALF = "half"
"""Half of the interval of the mean, in a table."""
PAIRED = ("p50", "p90", "p99", "mean")
"""What there is of both ways together."""
FIGURES = ("min", "p50", "p90", "p99", "p999", "max", "mean")


def format_lost_bytes(row: Row) -> str:
    """Write the share of TCP bytes that was lost, and what it may be."""
    fracs = lost_bytes_fracs(row)
    if fracs is None:
        return UNKNOWN
    least, most = map(format_frac, fracs)
    return least if least == most else f"{least} to {most}"


@dataclass(frozen=True)
class LatencyLine:
    """LatencyView of a segment one way, or of both ways together; `n` is what all of them are of.

    `is_bound` where the clocks leave open as much as the median is: then figures are upper bounds.
    `is_refuted` where packets contradict the one clock that was declared: there are no figures.
    """

    label: str
    ends: tuple[str, str]
    way: str
    row: Row
    n: int
    figures: Mapping[str, float | None]
    half_ns: float | None = None
    clock_ns: float | None = None
    is_bound: bool = False
    is_refuted: bool = False

    @property
    def is_known(self) -> bool:
        """Whether its figures are values, not bounds."""
        return not self.is_bound and self.figures["mean"] is not None

    @property
    def arrow(self) -> str:
        """Its direction."""
        return ARROWS.get(self.way, "⇄")

    @property
    def is_paired(self) -> bool:
        """Whether it is of requests and their answers, not of packets."""
        return "paired_mean_ns" not in self.row or bool(self.row["n_paired"])

    @property
    def variation_ns(self) -> float | None:
        """Delay variation, which clocks do not touch."""
        return None if self.way == BOTH_WAYS else _shown(self.row, "pdv_p99", self.n)

    @property
    def middle_name(self) -> str:
        """What `middle` is called."""
        return "mean" if self.middle == "mean" else "median"

    @property
    def middle(self) -> str:
        """What stands for all of it: the median, or the mean where there is none."""
        return "mean" if self.figures["p50"] is None else "p50"

    def text(self, name: str, scale: Scale) -> str:
        """Write a figure, an upper bound as one."""
        value_ns = self.figures[name]
        if value_ns is None or not self.is_bound:
            return scale.text(value_ns)
        return f"≤ {scale.text(value_ns)}"


def one_way_line(row: Row) -> LatencyLine:
    """Take a row of the segments."""
    clock_ns = row["clock_half_width_ns"]
    if clock_ns == 0 and row.get("clock_apart_ns"):
        return _refuted_line(row)
    values = {name: _shown(row, name, row["n"]) for name in FIGURES}
    middle_ns = row["p50_ns"]
    is_bound = bool(clock_ns) and middle_ns is not None and 2 * clock_ns >= middle_ns
    if is_bound:
        values = {
            name: None if value_ns is None else value_ns + clock_ns
            for name, value_ns in values.items()
        }
    return LatencyLine(
        label=one_way(row),
        ends=(row["near"], row["far"]),
        way=row["direction"],
        row=row,
        n=row["n"],
        figures=values,
        half_ns=None if is_bound else half(row),
        clock_ns=clock_ns,
        is_bound=is_bound,
    )


def _refuted_line(row: Row) -> LatencyLine:
    ends, nothing = (row["near"], row["far"]), dict.fromkeys(FIGURES)
    return LatencyLine(
        one_way(row), ends, row["direction"], row, row["n"], nothing, is_refuted=True
    )


def both_ways_line(row: Row) -> LatencyLine:
    """Take a row of the round trips: of requests and their answers, where any were paired."""
    if n_paired := row["n_paired"]:
        return _paired_line(row, n_paired, "paired_mean")
    only_mean = dict.fromkeys(FIGURES) | {"mean": row["mean_ns"]}
    ends = (row["near"], row["far"])
    return LatencyLine(two_way(row), ends, BOTH_WAYS, row, row["n"], only_mean, half(row))


def kind_line(row: Row) -> LatencyLine:
    """Take a row of the round trips of one kind of request, all of them paired."""
    return _paired_line(row, row["n"], "mean")


def _paired_line(row: Row, n: int, mean: str) -> LatencyLine:
    figures = dict.fromkeys(FIGURES) | {"mean": row[f"{mean}_ns"]}
    figures |= {name: _shown(row, name, n) for name in PAIRED[:-1]}
    ends = (row["near"], row["far"])
    half_ns = half(row, f"{mean}_{{}}_ns")
    return LatencyLine(two_way(row), ends, BOTH_WAYS, row, n, figures, half_ns)


def _shown(row: Row, name: str, n: int) -> float | None:
    return None if n < LEAST_N.get(name, 1) else row[f"{name}_ns"]


@dataclass(frozen=True)
class LatencyView:
    """All lines of a result, and the one scale that they are written on."""

    one_way: Sequence[LatencyLine]
    both_ways: Sequence[LatencyLine]
    path: Sequence[str]
    edges: Collection[tuple[str, str]]
    scale: Scale

    @classmethod
    def of(cls, document: Row) -> "LatencyView":
        """Take a summary."""
        one = [one_way_line(row) for row in document["segments"]]
        both = [both_ways_line(row) for row in document["round_trips"]]
        steps_ns = (row["resolution_ns"] or 0.0 for row in document["captures"])
        scale = scale_of([*one, *both], max(steps_ns, default=0.0))
        edges = {(edge["near"], edge["far"]) for edge in document["edges"]}
        return cls(one, both, document["path"], edges, scale)

    @property
    def ends(self) -> tuple[str, str]:
        """The path's first point, and its last."""
        return self.path[0], self.path[-1]

    def ways(self, ends: tuple[str, str]) -> list[LatencyLine]:
        """Give the lines of a segment, forward before back; of several classes, the largest."""
        mine = [line for line in self.one_way if line.ends == ends]
        largest: dict[str, LatencyLine] = {}
        for line in mine:
            best = largest.get(line.way)
            if best is None or _weight(line) > _weight(best):
                largest[line.way] = line
        return [largest[way] for way in ("forward", "reverse") if way in largest]

    def shown(self, edges: Iterable[tuple[str, str]]) -> list[LatencyLine]:
        """Give what stands for each link: one way, or both together where one way is not known.

        Both together are of requests and their answers. Where all packets surely take longer one
        way than these both ways, as bulk data do behind a queue, they do not stand for the link.
        """
        found = []
        for ends in edges:
            ways, both = self.ways(ends), self.together(ends)
            is_open = any(not line.is_known for line in ways)
            found += [both] if both and is_open and not _is_longer(ways, both) else ways
        return found

    def others(self, edges: Iterable[tuple[str, str]]) -> list[LatencyLine]:
        """Give what is known of TCP that was cut or joined on a link, beside its whole packets."""
        links = {*edges}
        mine = [line for line in self.one_way if line.ends in links and line.is_known]
        return [line for line in mine if line.row["class"] != WHOLE]

    def together(self, ends: tuple[str, str]) -> LatencyLine | None:
        """Give the line of both ways of a segment."""
        return next((line for line in self.both_ways if line.ends == ends), None)

    def is_whole(self, line: LatencyLine) -> bool:
        """Whether a line is of a whole path, beside those of its segments."""
        return line.ends not in self.edges

    def in_order(self) -> list[LatencyLine]:
        """Give the lines of the table: both ways together behind those of which one is open."""
        ends = dict.fromkeys(line.ends for line in self.one_way)
        return [line for each in ends for line in self._of_segment(each)]

    def _of_segment(self, ends: tuple[str, str]) -> list[LatencyLine]:
        mine = [line for line in self.one_way if line.ends == ends]
        both = self.together(ends)
        is_open = any(not line.is_known for line in mine)
        return [*mine, both] if both and is_open else mine


def _is_longer(ways: Sequence[LatencyLine], both: LatencyLine) -> bool:
    known = (
        (line.figures["p50"] or 0.0) - (line.clock_ns or 0.0) for line in ways if line.is_known
    )
    median_ns = both.figures["p50"]
    return median_ns is not None and max(known, default=0.0) > median_ns


def _weight(line: LatencyLine) -> tuple[bool, int]:
    return line.figures["mean"] is not None, line.n


def scale_of(lines: Sequence[LatencyLine], step_ns: float) -> Scale:
    """Choose the scale of a table."""
    usual_ns = [value for line in lines if (value := line.figures[line.middle]) is not None]
    values_ns = [line.figures[name] for line in lines for name in ("p50", "p99", "mean")]
    longest_ns = [abs(value) for value in values_ns if value is not None]
    variation_ns = [value for line in lines if (value := line.row.get("pdv_p99_ns")) is not None]
    return Scale.of(usual_ns, max(longest_ns or variation_ns, default=0.0), step_ns)


def one_way(row: Row) -> str:
    """Name a segment and a direction of it."""
    return f"{row['near']} {ARROWS.get(row['direction'], '?')} {row['far']}"


def two_way(row: Row) -> str:
    """Name a segment."""
    return f"{row['near']} ⇄ {row['far']}"


def half(row: Row, name: str = "mean_{}_ns") -> float | None:
    """Give half of an interval; None where it cannot be told. Its lower side may end at 0."""
    lo, hi = row.get(name.format("lo")), row.get(name.format("hi"))
    value = row.get(name.replace("_{}", ""))
    return None if lo is None or value is None else max(hi - value, value - lo)
