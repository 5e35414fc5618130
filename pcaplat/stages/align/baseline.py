"""How one clock runs against another: lines between its bounds, as few as fit.

One line where one fits. Where none does, the clock wanders or was slewed, and the time is halved
until a line fits each part; so a slew of 500 ppm loosens no bound outside of it.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from pcaplat.model.arrays import Floats, distinct, median
from pcaplat.records import dataclass
from pcaplat.stages.align.windows import AROUND, Windows, differences, medians, usual

LEAST_DRIFT = 1e-6
"""A clock that seems not to drift may still do so by this much, ns per ns."""

WANDER = 1e-5
"""How fast bounds loosen at first where no straight line fits between them."""

MOST_DRIFT = 1e-2
"""No clock drifts faster than this."""

CLEAR = 3
"""What the middle moves counts beyond this many times what it usually moves."""

MOST_LINES = 100
"""Lines of a gap that are looked at; a handful is enough for any but a circle of bounds."""

FEWEST = 12
"""Bounds of one direction that a part of the time needs to be a part."""


@dataclass(frozen=True)
class LinePiece:
    """A part of the time with one line: drift and level at its middle, and the drifts that fit."""

    start: float
    end: float
    drift: float
    level: float
    least: float
    most: float

    @property
    def middle(self) -> float:
        """The middle of its time."""
        return (self.start + self.end) / 2


@dataclass(frozen=True)
class ClockBaseline:
    """The lines joined: values at `times`, and how fast bounds loosen between these, ns per ns."""

    times: Floats
    values: Floats
    loosening: Floats

    def at(self, t: Floats) -> Floats:
        """The value at any time."""
        return np.asarray(np.interp(t, self.times, self.values))

    def reach(self, t: Floats) -> Floats:
        """How far a bound has loosened since the first time: a clock of its own."""
        total = np.concatenate([[0.0], np.cumsum(self.loosening * np.diff(self.times))])
        return np.asarray(np.interp(t, self.times, total))

    def loosened(self, windows: Windows) -> "ClockBaseline":
        """Loosen by what the middle moves beside the baseline while the path stays as it is."""
        dx = differences(windows.middle - self.at(windows.centres))
        queued = medians(windows.width - windows.quiet)
        queues = (queued[AROUND:] + queued[:-AROUND]) / 2
        path = np.maximum(queues, np.abs(differences(windows.width)) / 2)
        excess = np.abs(dx - median(dx)) - path - CLEAR * usual(dx)
        first, last = windows.edges[: len(dx)], windows.edges[2 * AROUND :]
        moved = excess > 0
        rates = (
            excess[moved]
            / (windows.centres[AROUND:][: len(dx)] - windows.centres[: len(dx)])[moved]
        )
        least = np.zeros(len(self.loosening))
        for start, end, rate in zip(first[moved], last[moved], rates, strict=True):
            span = slice(*np.searchsorted(self.times, (start, end), side="right") - (1, 0))
            least[span] = np.maximum(least[span], rate)
        return replace(self, loosening=np.minimum(self.loosening + least, MOST_DRIFT))

    def moving(self, first: Floats, last: Floats, by: Floats) -> "ClockBaseline | None":
        """Loosen spans of time so that the clock may have moved by so much in each, if it helps."""
        times = distinct(np.concatenate([self.times, first, last]))
        times = times[(times >= self.times[0]) & (times <= self.times[-1])]
        at = np.clip(np.searchsorted(self.times, times[:-1], side="right") - 1, 0, None)
        loosening = self.loosening[at]
        more = np.zeros(len(loosening))
        for start, end, rate in zip(first, last, by / (last - first), strict=True):
            span = slice(*np.searchsorted(times, (start, end)))
            more[span] = np.maximum(more[span], rate)
        if not np.any((more > 0) & (loosening < MOST_DRIFT)):
            return None
        loosening = np.minimum(loosening + more, MOST_DRIFT)
        return ClockBaseline(times, self.at(times), loosening)

    def looser(self, where: Floats) -> "ClockBaseline | None":
        """Loosen three times as fast in the parts that hold one of these times, if it helps."""
        at = np.searchsorted(self.times, where, side="right") - 1
        held = np.zeros(len(self.loosening), dtype=bool)
        held[np.clip(at, 0, len(held) - 1)] = True
        held &= self.loosening < MOST_DRIFT
        loosening = np.where(held, 3 * self.loosening, self.loosening)
        return replace(self, loosening=loosening) if held.any() else None


def fit_baseline(
    x: Floats,
    f: Floats,
    y: Floats,
    r: Floats,
    span: tuple[float, float],
    windows: Windows | None = None,
) -> ClockBaseline:
    """Fit lines between the bounds `f` at `x` above and `r` at `y` below, over a span of time.

    Where the path changed, `windows` narrow the drifts of a single line.
    """
    parts = list(_parts(x, f, y, r, span))
    if len(parts) == 1:
        (one,) = parts
        if windows and windows.is_path_changed:
            one = _narrowed(one, x, f, y, r, windows)
        ends = np.array(span)
        half = max(one.drift - one.least, one.most - one.drift) + LEAST_DRIFT
        return ClockBaseline(ends, one.level + one.drift * (ends - one.middle), np.array([half]))
    parts = _bent(parts)
    times = [span[0], *(part.middle for part in parts), span[1]]
    first, last = parts[0], parts[-1]
    values = [part.level for part in parts]
    values.insert(0, first.level - first.drift * (first.middle - span[0]))
    values.append(last.level + last.drift * (span[1] - last.middle))
    slopes = np.diff(values) / np.diff(times)
    around = [first, *parts, last]
    off = [max(part.most - slope, slope - part.least) for part, slope in _beside(around, slopes)]
    loosening = np.maximum(np.reshape(off, (-1, 2)).max(axis=1), LEAST_DRIFT) + LEAST_DRIFT
    return ClockBaseline(np.array(times), np.array(values), np.minimum(loosening, MOST_DRIFT))


def _narrowed(
    piece: LinePiece, x: Floats, f: Floats, y: Floats, r: Floats, windows: Windows
) -> LinePiece:
    """A line with the drifts that fit, of those that the windows show.

    Lines through the quick time before a change of the path fit the slow time after it at any
    slope. What moves the middle between the bounds all the time is drift, up to what it moves
    otherwise, and up to what may be a path that slows down all the time.
    """
    drift, off = windows.drift
    least, most = max(piece.least, drift - off), min(piece.most, drift + off)
    if least > most:
        return piece
    drift = (least + most) / 2
    top = np.min(f - drift * (x - piece.middle))
    bottom = np.max(r - drift * (y - piece.middle))
    return replace(piece, drift=drift, level=float(top + bottom) / 2, least=least, most=most)


def _bent(parts: list[LinePiece]) -> list[LinePiece]:
    """A line may bend within a part: it drifts as those beside it do, for a while."""
    around = [parts[0], *parts, parts[-1]]
    drifts = [part.drift for part in around]
    return [
        replace(
            part,
            least=min(part.least, *drifts[at : at + 3]),
            most=max(part.most, *drifts[at : at + 3]),
        )
        for at, part in enumerate(parts)
    ]


def _beside(around: list[LinePiece], slopes: Floats) -> Iterator[tuple[LinePiece, float]]:
    """Each slope between two parts, with the one and the other."""
    for at, slope in enumerate(slopes.tolist()):
        yield around[at], slope
        yield around[at + 1], slope


def _parts(
    x: Floats, f: Floats, y: Floats, r: Floats, span: tuple[float, float]
) -> Iterator[LinePiece]:
    drift, least, most, room = fit_drift(x, f, y, r)
    middle = sum(span) / 2
    early, late = x < middle, y < middle
    is_long = min(early.sum(), late.sum(), (~early).sum(), (~late).sum()) >= FEWEST
    if room <= 0 and is_long:
        yield from _parts(x[early], f[early], y[late], r[late], (span[0], middle))
        yield from _parts(x[~early], f[~early], y[~late], r[~late], (middle, span[1]))
        return
    top = np.min(f - drift * (x - middle))
    bottom = np.max(r - drift * (y - middle))
    yield LinePiece(*span, drift, float(top + bottom) / 2, least, most)


def fit_drift(x: Floats, f: Floats, y: Floats, r: Floats) -> tuple[float, float, float, float]:
    """Give a drift, the least and the most that fit, and the room that is left between the bounds.

    The gap between the bounds is concave in the drift, so the drifts that leave it open form an
    interval. A drift of 0 is taken where it is among them.
    """
    gap = Gap(x, f, y, r)
    best = gap.widest()
    room, _ = gap.at(best)
    if room <= 0:
        return best, best - WANDER, best + WANDER, room
    least, most = gap.edge(-MOST_DRIFT), gap.edge(MOST_DRIFT)
    return 0.0 if least <= 0 <= most else (least + most) / 2, least, most, room


@dataclass(frozen=True)
class Gap:
    """The room between bounds `f` at `x` above and `r` at `y` below: lines in the drift.

    Where two of its lines meet lies nearer to what is sought than either place they were taken at,
    and after a few of them it is that.
    """

    x: Floats
    f: Floats
    y: Floats
    r: Floats

    def at(self, drift: float) -> tuple[float, float]:
        """The room at a drift, and how fast it grows with that."""
        above, below = self.f - drift * self.x, self.r - drift * self.y
        top, bottom = above.argmin(), below.argmax()
        return float(above[top] - below[bottom]), float(self.y[bottom] - self.x[top])

    def widest(self) -> float:
        """The drift that leaves most room."""
        low, high = -MOST_DRIFT, MOST_DRIFT
        (at_low, rise), (at_high, fall) = self.at(low), self.at(high)
        for _ in range(MOST_LINES):
            if rise <= 0:
                return low
            if fall >= 0:
                return high
            meet = (at_high - at_low + rise * low - fall * high) / (rise - fall)
            room, slope = self.at(meet)
            if slope in {rise, fall} or not low < meet < high:
                return min(max(meet, low), high)
            if slope > 0:
                low, at_low, rise = meet, room, slope
            else:
                high, at_high, fall = meet, room, slope
        return (low + high) / 2

    def edge(self, outside: float) -> float:
        """Where the gap closes, seen from a drift that does not fit; that itself if it does."""
        steepness = 0.0
        for _ in range(MOST_LINES):
            room, slope = self.at(outside)
            if room >= 0 or slope == steepness:
                break
            outside, steepness = outside - room / slope, slope
        return outside
