"""Plots: figures of what was measured, each a Vega-Lite drawing with its table.

Every figure is made of aggregates that a result has anyway: its summary, its blocks of time, its
clocks over time. `Plots` gives them as Altair charts; the report puts them into a page.
"""

from typing import TYPE_CHECKING

from pcaplat.errors import InputError
from pcaplat.plots.ccdf import ccdf_figure
from pcaplat.plots.clocks import clock_figures
from pcaplat.plots.figure import Figure, Measured
from pcaplat.plots.means import means_figure
from pcaplat.plots.path import path_figure
from pcaplat.plots.timeline import timeline_figure
from pcaplat.plots.waterfall import waterfall_figure

if TYPE_CHECKING:
    from altair import LayerChart, VConcatChart

OF_WHOLE = ("$schema", "autosize", "config")


class Plots:
    """Charts of a result, as `result.plot`; each is an Altair chart that can be changed further.

    Example:
        >>> import pcaplat
        >>> from pathlib import Path
        >>> with pcaplat.merge(sorted(Path("samples/vxlan").glob("*.pcap"))) as result:
        ...     chart = result.plot.ccdf("sw-a", "sw-b")
        >>> type(chart).__name__
        'LayerChart'
    """

    def __init__(self, measured: Measured) -> None:
        self.measured = measured

    def path(self) -> "LayerChart":
        """Draw the points, and the median latency of each segment there and back."""
        return _layered("path", path_figure(self.measured))

    def waterfall(self) -> "LayerChart":
        """Draw what each segment adds to the round trip.

        Raises:
            InputError: Packets went one way only, or the path forks.
        """
        return _layered("waterfall", waterfall_figure(self.measured))

    def ccdf(self, near: str, far: str) -> "LayerChart":
        """Draw the distribution of latencies between two neighbours, or of the whole path.

        Raises:
            InputError: Nothing was timed between these points.
        """
        figure = ccdf_figure(self.measured, *self._ends(near, far))
        return _layered(f"ccdf of {near} and {far}", figure)

    def timeline(self, near: str, far: str, direction: str = "forward") -> "LayerChart":
        """Draw latency over the time of the run.

        Raises:
            InputError: Nothing was timed between these points in this direction.
        """
        figure = timeline_figure(self.measured, *self._ends(near, far), direction)
        return _layered(f"timeline of {near} and {far}, {direction}", figure)

    def clocks(self) -> "VConcatChart":
        """Draw what the packets leave open of each clock, over time.

        Raises:
            InputError: All points share one clock, or their clocks cannot be related.
        """
        import altair as alt  # noqa: PLC0415 - slow to import, seldom needed

        figures = clock_figures(self.measured)
        if not figures:
            raise InputError.nothing_to_draw("clocks")
        # what is of a whole chart cannot stand in its parts
        specs = [dict(figure.spec or {}) for figure in figures]
        whole = [{name: spec.pop(name) for name in OF_WHOLE} for spec in specs]
        for part in (layer for spec in specs for layer in spec["layer"]):
            # all would zoom under one name
            part.pop("params", None)
        return alt.vconcat(*map(alt.LayerChart.from_dict, specs), config=whole[0]["config"])

    def runs(self, *others: "Plots") -> "LayerChart":
        """Draw the mean round trip of this run and of others, in the order given.

        Args:
            others: Plots of further results, as in `a.plot.runs(b.plot, c.plot)`.

        Raises:
            InputError: Packets went one way only.
        """
        path = self.measured.document["path"]
        runs = [self.measured, *(one.measured for one in others)]
        return _layered("runs", means_figure(runs, path[0], path[-1]))

    def _ends(self, near: str, far: str) -> tuple[str, str]:
        """Give two points in path order."""
        rows = self.measured.document["segments"]
        known = {(row["near"], row["far"]) for row in rows}
        if (near, far) not in known and (far, near) in known:
            return far, near
        return near, far


def _layered(name: str, figure: Figure | None) -> "LayerChart":
    import altair as alt  # noqa: PLC0415 - slow to import, seldom needed

    if figure is None or figure.spec is None:
        raise InputError.nothing_to_draw(name)
    return alt.LayerChart.from_dict(figure.spec)
