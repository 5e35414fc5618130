"""What became of the frames of each point: how much of a capture the figures rest on."""

from collections.abc import Sequence

from pcaplat.plots.figure import (
    ALARM,
    COLORS,
    NEUTRAL,
    Figure,
    Measured,
    Spec,
    chart,
    layer,
    names,
    number,
    tooltip,
)
from pcaplat.tables.columns import Row
from pcaplat.units import format_count, format_frac

STATUSES = {
    "matched": COLORS["forward"],
    "coalesced": "#7fb2e5",
    "duplicate": "#8a6fc0",
    "ambiguous": COLORS["reverse"],
    "unmatched": NEUTRAL,
    "undecoded": ALARM,
}
ROW_HEIGHT = 24


def matching_figure(measured: Measured) -> Figure:
    """Draw the frames of each point by status."""
    points = measured.document["points"]
    matching = measured.document["matching"]
    upper = matching["false_match_upper_frac"]
    n_frames = format_count(matching["n_frames"])
    known = "" if upper is None else f" False matches: {_at_most(upper)} of the pairs."
    return Figure(
        "Frames by status",
        f"{n_frames} frames were captured. Only matched ones are timed.{known}",
        _spec([row for point in points for row in _drawn(point)], [p["point"] for p in points]),
        ["point", "frames", *STATUSES],
        [_cells(point) for point in points],
    )


def _at_most(upper_frac: float) -> str:
    share = format_frac(upper_frac)
    return share if share.startswith("<") else f"at most {share}"


def _drawn(point: Row) -> list[Row]:
    return [
        {
            "point": point["point"],
            "status": status,
            "order": at,
            "percent": 100 * point[f"n_{status}"] / point["n_frames"],
            "text": f"{format_count(point[f'n_{status}'])} frames, "
            f"{format_frac(point[f'n_{status}'] / point['n_frames'])}",
        }
        for at, status in enumerate(STATUSES)
        if point[f"n_{status}"]
    ]


def _spec(rows: Sequence[Row], points: Sequence[str]) -> Spec:
    seen = {row["status"] for row in rows}
    shown = [status for status in STATUSES if status in seen]
    scale = {"domain": [*STATUSES], "range": [*STATUSES.values()]}
    legend = {"title": None, "values": shown}
    whole = {"domain": [0, 100]}
    encoding = {
        "x": number("percent", "frames, %", stack=True, scale=whole, axis={"tickCount": 5}),
        "y": names("point", points),
        "color": {"field": "status", "type": "nominal", "scale": scale, "legend": legend},
        "order": {"field": "order"},
        "tooltip": tooltip(point="point", status="status", frames="text"),
    }
    return chart(ROW_HEIGHT * len(points), layer(rows, {"type": "bar"}, encoding))


def _cells(point: Row) -> list[str]:
    counts = [format_count(point[f"n_{status}"]) for status in STATUSES]
    return [point["point"], format_count(point["n_frames"]), *counts]
