"""Lines: latency against frame bytes, by least squares, with intervals of resampled blocks."""

from math import sqrt

import numpy as np
import polars as pl

from pcaplat.metrics.means import Measurement, of_sums
from pcaplat.model.arrays import Floats
from pcaplat.model.blocks import N_BLOCKS, Blocks
from pcaplat.records import dataclass

SUMS = ("n", "x", "xx", "y", "xy", "yy")
LINK = ["link", "way"]


def line_sums(pairs: pl.DataFrame) -> pl.DataFrame:
    """Sum up by link, way and block; columns bytes, y_ns (null: unknown) are those of the line."""
    x, y = pl.col("bytes").cast(pl.Float64), pl.col("y_ns").cast(pl.Float64)
    return (
        pairs.filter(pl.col("y_ns").is_not_null())
        .group_by(*LINK, "block")
        .agg(
            n=pl.len().cast(pl.Float64),
            x=x.sum(),
            xx=(x * x).sum(),
            y=y.sum(),
            xy=(x * y).sum(),
            yy=(y * y).sum(),
            min_bytes=pl.col("bytes").min(),
            max_bytes=pl.col("bytes").max(),
        )
    )


@dataclass(frozen=True)
class Line:
    """Sums over blocks of time of one segment and direction; y less `pivot_ns`."""

    sums: dict[str, Floats]
    pivot_ns: int

    @classmethod
    def of(cls, found: pl.DataFrame, pivot_ns: int) -> "Line":
        """Take the sums of one segment and direction."""
        at = found["block"].to_numpy()
        sums = {name: np.zeros(N_BLOCKS) for name in SUMS}
        for name in SUMS:
            sums[name][at] = found[name].to_numpy()
        return cls(sums, pivot_ns)

    @property
    def blocks(self) -> Blocks:
        """Latencies alone, without their histograms."""
        n = self.sums["n"].astype(np.int64)
        return Blocks.of_moments(n, self.sums["y"], self.sums["yy"])

    def measurements(self, coarse_ns: float, clock_ns: float) -> tuple[Measurement, Measurement]:
        """Give slope (ns a byte) and fixed cost (ns), with how sure they are.

        Args:
            coarse_ns: What coarse stamps may do to latencies.
            clock_ns: What clocks may shift all of them by.
        """
        n, x, xx, y, xy, yy = (float(self.sums[name].sum()) for name in SUMS)
        totals = [np.array([total]) for total in (n, x, xx, y, xy)]
        slope, fixed = float(_slope(*totals)[0]), float(_fixed(*totals)[0])
        mean, spread = x / n, xx - x * x / n
        variance = max(yy - fixed * y - slope * xy, 0.0) / n
        rest = self.sums["y"] - fixed * self.sums["n"] - slope * self.sums["x"]
        rest_x = self.sums["xy"] - fixed * self.sums["x"] - slope * self.sums["xx"]
        of_slope = (rest_x - mean * rest) / spread
        columns = [self.sums[name] for name in SUMS[:-1]]
        # no error of stamps tilts a line by more than if it kept step with the sizes
        tilt = coarse_ns / sqrt(spread / n)
        alone = sqrt(variance / spread)
        of_fixed = rest / n - mean * of_slope
        alone_fixed = sqrt(variance / n + mean**2 * variance / spread)
        bias = clock_ns + coarse_ns + mean * tilt

        def levels(*sums: Floats) -> Floats:
            return _fixed(*sums) + self.pivot_ns

        no = int(n)
        return (
            of_sums(Measurement(slope, None, no, no, tilt), alone, of_slope, columns, _slope),
            of_sums(
                Measurement(fixed + self.pivot_ns, None, no, no, bias),
                alone_fixed,
                of_fixed,
                columns,
                levels,
            ),
        )


def _slope(n: Floats, x: Floats, xx: Floats, y: Floats, xy: Floats) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray((n * xy - x * y) / (n * xx - x * x))


def _fixed(n: Floats, x: Floats, xx: Floats, y: Floats, xy: Floats) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray((y - _slope(n, x, xx, y, xy) * x) / n)
