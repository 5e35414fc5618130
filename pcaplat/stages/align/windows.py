"""Windows of time: the middle between the bounds of two clocks, and how far these are apart.

The middle moves with the clock, the distance with the path (Paxson 1998 sees a clock as changes of
opposite sign in the two directions).
"""

import numpy as np

from pcaplat.model.arrays import Floats, Ints, distinct, median, moving_medians
from pcaplat.records import dataclass

PACKETS = 120
"""Packets of both directions that a window needs for its least latencies to be steady."""

FEWEST_PACKETS = 24
"""Where packets are few, windows hold as few as this, rather than be too few to tell anything."""

AROUND = 4
"""Windows on either side that are compared."""

LASTS = 4
"""So many times as many windows tell what passes from what stays."""

CLEAR = 3
"""What moves by this many times what it usually moves is no chance."""

CHANGED = 1.3
"""A path that takes as many times as long there and back has changed."""

FEWEST_WINDOWS = 2 * AROUND + 2
MOST_WINDOWS = 400


@dataclass(frozen=True)
class Both:
    """Bounds `f` at times `x` from above and `r` at `y` from below, for `n` and `m` packets."""

    x: Floats
    f: Floats
    y: Floats
    r: Floats
    n: Ints
    m: Ints

    def without(self, drift: float) -> "Both":
        """The same less a drift."""
        return Both(
            self.x, self.f - drift * self.x, self.y, self.r - drift * self.y, self.n, self.m
        )


@dataclass(frozen=True)
class Windows:
    """Windows of time by their edges, and the least upper and greatest lower bound in each."""

    edges: Floats
    top: Floats
    bottom: Floats

    @property
    def centres(self) -> Floats:
        """Middles of the windows' time."""
        return (self.edges[1:] + self.edges[:-1]) / 2

    @property
    def middle(self) -> Floats:
        """Moves with the clock."""
        return (self.top + self.bottom) / 2

    @property
    def width(self) -> Floats:
        """Moves with the path: the least time there and back."""
        return self.top - self.bottom

    @property
    def quiet(self) -> Floats:
        """The least width before or after each window: what is wider waits in queues.

        The greater of the two, for a path that changes is quiet on either side of it.
        """
        about = LASTS * AROUND
        padded = np.pad(self.width, about, mode="edge")
        least = np.lib.stride_tricks.sliding_window_view(padded, about + 1).min(axis=1)
        return np.asarray(np.maximum(least[:-about], least[about:]))

    @property
    def is_path_changed(self) -> bool:
        """Whether the time there and back was shorter for long, and longer for long."""
        return bool(self.quiet.max() > CHANGED * self.quiet.min())

    @property
    def drift(self) -> tuple[float, float]:
        """Of the clock, as far as the middle shows it, and how far it may be off, ns per ns.

        Slopes over an eighth of the time: their median, and three times their usual distance from
        it. A path that slows down in one direction moves the width by twice as much.
        """
        apart = max(len(self.middle) // 8, 2)
        run = self.centres[apart:] - self.centres[:-apart]
        slopes = (self.middle[apart:] - self.middle[:-apart]) / run
        path = median((self.width[apart:] - self.width[:-apart]) / run)
        return median(slopes), CLEAR * usual(slopes) + abs(path) / 2

    def level_out(self, values: Floats) -> Floats:
        """Values of the windows less their usual slope, which what happens once leaves as it is."""
        return np.asarray(values - usual_slope(self.edges[:-1], values) * self.edges[:-1])

    def edge(self, at: int) -> float:
        """An edge, the first or last one beyond the ends."""
        return float(self.edges[min(max(at, 0), len(self.edges) - 1)])

    def level(self, start: int, end: int) -> float:
        """The middle over several windows: one without a queue is enough in each direction."""
        span = slice(max(start, 0), max(end, 0))
        return float(self.top[span].min() + self.bottom[span].max()) / 2

    def least_width(self, start: int, end: int) -> float:
        """The least time there and back over several windows."""
        span = slice(max(start, 0), max(end, 0))
        return float(self.top[span].min() - self.bottom[span].max())


def windows_of(bounds: Both) -> Windows | None:
    """Windows of equally many packets that hold both directions; None if that gives too few."""
    t, n = np.concatenate([bounds.x, bounds.y]), np.concatenate([bounds.n, bounds.m])
    by = np.argsort(t, kind="stable")
    packets = int(np.clip(n.sum() // (3 * FEWEST_WINDOWS), FEWEST_PACKETS, PACKETS))
    n_windows = int(min(n.sum() // packets, len(t) // 4, MOST_WINDOWS))
    if n_windows < FEWEST_WINDOWS:
        return None
    total = np.cumsum(n[by])
    cuts = np.searchsorted(total, np.arange(1, n_windows) * total[-1] / n_windows)
    edges: Floats = np.concatenate([[t.min()], t[by][cuts], [t.max() + 1]])
    windows = windows_between(bounds, distinct(edges))
    return windows if len(windows.top) >= FEWEST_WINDOWS else None


def windows_between(both: Both, edges: Floats) -> Windows:
    """Windows between edges, those that hold both directions; each ends where the next starts."""
    top = _extreme(np.minimum, both.x, both.f, edges, np.inf)
    bottom = _extreme(np.maximum, both.y, both.r, edges, -np.inf)
    is_full = np.isfinite(top) & np.isfinite(bottom)
    return Windows(np.append(edges[:-1][is_full], edges[-1]), top[is_full], bottom[is_full])


def _extreme(which: np.ufunc, t: Floats, values: Floats, edges: Floats, none: float) -> Floats:
    found = np.full(len(edges) - 1, none)
    at = np.searchsorted(edges, t, side="right") - 1
    is_in = (at >= 0) & (at < len(found))
    which.at(found, at[is_in], values[is_in])
    return found


def medians(values: Floats) -> Floats:
    """Median of each so many windows in a row."""
    return moving_medians(values, AROUND)


def differences(values: Floats) -> Floats:
    """Median of the windows after each boundary less that of those before."""
    found = medians(values)
    return np.asarray(found[AROUND:] - found[:-AROUND])


def usual(values: Floats) -> float:
    """Median distance from the median."""
    return median(np.abs(values - median(values)))


def usual_slope(t: Floats, values: Floats) -> float:
    """Median slope between values so far apart that they tell it; what happens once is in few."""
    apart = range(max(len(t) // 16, 1), len(t) // 4 + 1)
    return median(np.concatenate([(values[k:] - values[:-k]) / (t[k:] - t[:-k]) for k in apart]))
