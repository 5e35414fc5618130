"""A figure: a Vega-Lite specification, and the table of what it shows.

Names of points are data in a specification, never part of an expression: they come from captures.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from pcaplat.model.blocks import Blocks, Key
from pcaplat.records import dataclass
from pcaplat.tables.columns import Row
from pcaplat.units import NS_PER, format_in, format_ns

Spec = dict[str, Any]
"""A specification in Vega-Lite, or a part of one."""

ARROWS = {"forward": "→", "reverse": "←"}
INK = "currentColor"
"""Text and axes: dark on a light page, light on a dark one."""
COLORS = {"forward": "#2f7fd1", "reverse": "#d9730d"}
"""At least 3:1 against both pages, and different in lightness for those who see no hue."""
NEUTRAL, ALARM = "#8a8f98", "#d1383d"
WIDTH = 640
SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"

CONFIG: Spec = {
    "background": "transparent",
    "padding": {"left": 16, "right": 16, "top": 4, "bottom": 4},
    "font": "system-ui, sans-serif",
    "axis": {
        "labelColor": INK,
        "titleColor": INK,
        "titleFontWeight": "normal",
        "labelFontSize": 11,
        "titleFontSize": 12,
        "gridColor": INK,
        "gridOpacity": 0.15,
        "domainColor": INK,
        "domainOpacity": 0.4,
        "tickColor": INK,
        "tickOpacity": 0.4,
        "labelOverlap": "greedy",
        "labelSeparation": 6,
    },
    "legend": {
        "labelColor": INK,
        "titleColor": INK,
        "titleFontWeight": "normal",
        "orient": "top",
        "labelFontSize": 11,
        "titleFontSize": 11,
    },
    "text": {"color": INK, "fontSize": 12},
    "view": {"stroke": None},
}

DIRECTION: Spec = {"name": "direction", "value": "both"}
"""What a page sets to show one direction alone."""
OF_DIRECTION: Spec = {"filter": "direction == 'both' || datum.direction == direction"}
NUMBER = "datum.value >= 1000 ? format(datum.value, ',') : format(datum.value, '~g')"
"""How axes write numbers: without exponents or prefixes, for the title has the unit."""


DOT: Spec = {"type": "point", "filled": True, "size": 65, "opacity": 1, "clip": True}
INTERVAL: Spec = {"type": "rule", "strokeWidth": 6, "opacity": 0.4, "clip": True}
"""A bar through a dot: what the dot may be off."""
CLOCK_STEP: Spec = {"type": "rule", "color": INK, "strokeDash": [5, 4], "strokeWidth": 1.5}
CLOCK_STEP |= {"clip": True}


@dataclass(frozen=True)
class Measured:
    """What figures are drawn from: a summary, blocks of time, and clocks over time.

    Attributes:
        document: summary.json.
        blocks: Latencies of each segment and direction, by blocks of time.
        clock_bands: Rows of pcaplat.tables.CLOCK_BANDS.
    """

    document: Mapping[str, Any]
    blocks: Mapping[Key, Blocks]
    clock_bands: Sequence[Row] = ()

    def segment(self, near: str, far: str, direction: str) -> Row | None:
        """Give the row of whole packets of a segment and direction, if there is one."""
        rows = (row for row in self.document["segments"] if row["class"] == "packet")
        ends = (near, far, direction)
        return next((r for r in rows if (r["near"], r["far"], r["direction"]) == ends), None)

    def with_names_of(self, n_characters: int) -> "Measured":
        """Give the same with shorter names of points: without their middle, and numbered."""
        long = [name for name in self.document["path"] if len(name) > n_characters]
        if not long:
            return self
        half = n_characters // 2 - 2
        short = {name: f"{name[:half]}…{at}…{name[-half:]}" for at, name in enumerate(long)}
        blocks = {
            (short.get(near, near), short.get(far, far), way): some
            for (near, far, way), some in self.blocks.items()
        }
        bands = [row | {"point": short.get(row["point"], row["point"])} for row in self.clock_bands]
        return Measured(_renamed(self.document, short), blocks, bands)

    @property
    def is_chain(self) -> bool:
        """Whether every point has one neighbour before it and one behind it."""
        edges = [(edge["near"], edge["far"]) for edge in self.document["edges"]]
        return edges == [*pairwise(self.document["path"])]

    def blocks_of(self, row: Row) -> Blocks | None:
        """Give the blocks of a row of the segments; None where nothing was timed."""
        found = self.blocks.get((row["near"], row["far"], row["direction"]))
        return found if found is not None and found.n_all and len(found.counts) else None


@dataclass(frozen=True)
class Figure:
    """One drawing.

    Attributes:
        title: What is drawn.
        text: How to read it, in a sentence or two.
        spec: The drawing in Vega-Lite; None where there is only a table.
        columns: Headings of the table below it.
        rows: Its cells, as text.
        direction: The only direction that it is of, if it is of one.
        is_zoomable: Whether one of its axes can be moved.
    """

    title: str
    text: str
    spec: Spec | None
    columns: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()
    direction: str = ""
    is_zoomable: bool = False


def _renamed(value: Any, names: Mapping[str, str]) -> Any:  # noqa: ANN401 - a document or a part
    match value:
        case str():
            return names.get(value, value)
        case list():
            return [_renamed(one, names) for one in value]
        case dict():
            return {key: _renamed(one, names) for key, one in value.items()}
    return value


def chart(height: float, *layers: Spec, params: Sequence[Spec] = ()) -> Spec:
    """Lay drawings over each other, in one frame of the usual width."""
    return {
        "$schema": SCHEMA,
        "width": WIDTH,
        "height": height,
        "autosize": {"type": "fit-x", "contains": "padding"},
        "params": [*params],
        # an empty one would have no extent for its axes
        "layer": [each for each in layers if each["data"]["values"]],
        "config": CONFIG,
    }


def layer(rows: Sequence[Row], mark: Spec, encoding: Spec, *transform: Spec) -> Spec:
    """Draw rows."""
    return {
        "data": {"values": [*rows]},
        "transform": [*transform],
        "mark": {"aria": False, **mark},
        "encoding": encoding,
    }


def number(field: str, title: str | None, **more: Any) -> Spec:  # noqa: ANN401 - any property
    """Encode a number on an axis with this title, which names the unit."""
    axis = more.pop("axis", {}) | {"labelExpr": NUMBER, "title": title}
    return {"field": field, "type": "quantitative", "axis": axis, "title": title} | more


def names(field: str, in_order: Sequence[str]) -> Spec:
    """Write names down the side, in this order."""
    axis = {"title": None, "labelLimit": 260, "ticks": False, "domain": False, "labelFontSize": 12}
    return {"field": field, "type": "ordinal", "sort": [*in_order], "axis": axis}


def by_direction() -> Spec:
    """Color by direction."""
    scale = {"domain": [*COLORS], "range": [*COLORS.values()]}
    legend = {"title": None, "symbolOpacity": 1, "symbolType": "square"}
    return {"field": "direction", "type": "nominal", "scale": scale, "legend": legend}


def tooltip(**fields: str) -> list[Spec]:
    """Show fields of text under these titles; underscores are spaces."""
    return [
        {"field": field, "type": "nominal", "title": title.replace("_", " ")}
        for title, field in fields.items()
    ]


def scaled(value_ns: float | None, unit: str) -> float | None:
    """Give a duration in a unit, to as many digits as a drawing can show."""
    return None if value_ns is None else float(f"{value_ns / NS_PER[unit]:.6g}")


def is_bound(row: Row) -> bool:
    """Whether clocks leave open as much as the median is, so that it is only a bound."""
    half_ns, p50_ns = row["clock_half_width_ns"], row["p50_ns"]
    return bool(half_ns and p50_ns is not None and 2 * half_ns >= p50_ns)


def format_known(row: Row, values_ns: Iterable[float | None], unit: str) -> list[str]:
    """Write latencies of a row, as upper bounds where the clocks leave no more."""
    half_ns = row["clock_half_width_ns"] if is_bound(row) else None
    if half_ns is None:
        return [format_in(value, unit) for value in values_ns]
    return ["–" if ns is None else f"≤ {format_in(ns + half_ns, unit)}" for ns in values_ns]


def shift_text(rows: Sequence[Row]) -> str:
    """Say by how much clocks may shift a drawing whose place they leave open; nothing if not."""
    half_ns = max((row["clock_half_width_ns"] for row in rows if is_bound(row)), default=None)
    if half_ns is None:
        return ""
    shift = f"Only the shape is known: clocks may shift all of it by ± {format_ns(half_ns)}."
    return f"{shift} The table has upper bounds (≤)."


def zoom(*axes: str) -> Spec:
    """Let axes be dragged, and zoomed with Shift and the wheel, which alone moves the page."""
    select = {"type": "interval", "encodings": [*axes], "zoom": "wheel![event.shiftKey]"}
    return {"name": "zoom", "select": select, "bind": "scales"}
