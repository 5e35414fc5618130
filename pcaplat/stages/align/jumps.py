"""Where one clock was set against another, told from changes of the path and from slews.

What moves the middle between the bounds and leaves their distance is a clock; what moves the
distance is a path or a queue.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from pcaplat.model.arrays import Floats, median
from pcaplat.model.clocks import Step
from pcaplat.records import dataclass
from pcaplat.stages.align.bounds import OffsetBounds
from pcaplat.stages.align.breaks import Break, find_breaks
from pcaplat.stages.align.windows import (
    AROUND,
    LASTS,
    Both,
    Windows,
    differences,
    usual,
    usual_slope,
    windows_between,
    windows_of,
)

CLEAR = 10
"""A step moves the middle by this many times what it usually moves."""

CLEAR_WIDTH = 3
"""A path moves the width by more than this many times what it usually moves."""

LEAST_STEP_NS = 200.0
"""Smaller steps are left to the interval, which they hardly move."""

NEAR = 2
"""Windows on either side of where a step shows most, in which it is."""

FINER = 25
"""Edges of the finer windows about a step."""


@dataclass(frozen=True)
class Jump:
    """A step as one pair of clocks shows it, and the times between which it must be, ns."""

    step: Step
    start: int
    end: int

    def is_near(self, other: "Jump") -> bool:
        """Whether both may be the same event."""
        return self.start <= other.end and other.start <= self.end


def find_jumps(forward: OffsetBounds, reverse: OffsetBounds, cut_ns: float) -> list[Jump]:
    """Find where the second clock of `forward` was set against its first.

    Args:
        forward: Bounds of the second clock against the first, from above.
        reverse: Bounds of the first against the second, from above.
        cut_ns: How coarse the stamps are, both together.
    """
    t0 = int(forward.t_ns[0])
    drift = _usual_drift(_both(forward, reverse, t0))
    breaks = find_breaks(forward, reverse, cut_ns, drift)
    jumps = [_jump_of(one) for one in breaks]
    starts = [None, *(one.after_ns for one in breaks)]
    ends = [*(one.before_ns for one in breaks), None]
    for start, end in zip(starts, ends, strict=True):
        parts = forward.within(start, end), reverse.within(start, end)
        if all(len(part.t_ns) for part in parts):
            jumps += _jumps_within(_both(*parts, t0).without(drift), t0, cut_ns)
    return jumps


def noise_ns(forward: OffsetBounds, reverse: OffsetBounds, at_ns: int) -> float:
    """How large a step is that does not stand out from queues and changes of the path at a time.

    Args:
        forward: Bounds of the second clock against the first, from above.
        reverse: Bounds of the first against the second, from above.
        at_ns: The time.
    """
    t0 = int(forward.t_ns[0])
    windows = windows_of(_both(forward, reverse, t0))
    if windows is None:
        return np.inf
    dx, ds = (differences(windows.level_out(one)) for one in (windows.middle, windows.width))
    return max(CLEAR * usual(dx), _most_near(ds, windows, at_ns - t0))


def hidden_ns(
    forward: OffsetBounds, reverse: OffsetBounds, at_ns: int, shown_ns: Sequence[int] = ()
) -> float:
    """How large a step may be that a pair of clocks does not show at a time.

    Any, where it shows another at one of `shown_ns` nearby; and as large as what did move there,
    though it passed or was not abrupt.
    """
    t0 = int(forward.t_ns[0])
    windows = windows_of(_both(forward, reverse, t0))
    if windows is None:
        return np.inf
    at = int(np.searchsorted(windows.edges, at_ns - t0))
    blind = windows.edge(at - AROUND - 1), windows.edge(at + AROUND)
    if any(blind[0] <= other - t0 <= blind[1] for other in shown_ns):
        return np.inf
    moved = _most_near(differences(windows.level_out(windows.middle)), windows, at_ns - t0)
    return max(noise_ns(forward, reverse, at_ns), moved)


def find_unclear(forward: OffsetBounds, reverse: OffsetBounds) -> list[Step]:
    """Find where both directions change at once, and stay so: two paths, or a path and a clock.

    Args:
        forward: Bounds of the second clock against the first, from above.
        reverse: Bounds of the first against the second, from above.

    Returns:
        When, as steps of a size that is not known (0).
    """
    t0 = int(forward.t_ns[0])
    windows = windows_of(_both(forward, reverse, t0))
    if windows is None:
        return []
    top, bottom = windows.level_out(windows.top), windows.level_out(windows.bottom)
    moved = [differences(one) for one in (top, bottom)]
    least = max(LEAST_STEP_NS, *(CLEAR * usual(one) for one in moved))
    # what leaves the width is a clock alone, that was set or slewed
    is_path = np.abs(moved[0] - moved[1]) > np.abs(moved[0] + moved[1]) / 4
    left = np.where(is_path, np.minimum(*np.abs(moved)), 0.0)
    steps = []
    while left.max() > least:
        at = int(np.argmax(left))
        boundary = at + AROUND
        far = slice(max(boundary - LASTS * AROUND, 0), boundary - 1)
        then = slice(boundary + 1, boundary + LASTS * AROUND)
        stays = min(
            abs(top[then].min() - top[far].min()), abs(bottom[then].max() - bottom[far].max())
        )
        is_abrupt = _is_abrupt(top, boundary) and _is_abrupt(bottom, boundary)
        if is_abrupt and stays > left[at] / 2:
            start, end = (t0 + round(windows.edge(boundary + side)) for side in (-NEAR, NEAR))
            steps.append(Step(start, end, 0))
        left[max(at - AROUND, 0) : at + AROUND + 1] = 0
    return steps


def _most_near(moved: Floats, windows: Windows, t: float) -> float:
    """What moved most from some windows to the next ones about a time."""
    at = int(np.searchsorted(windows.edges, t)) - AROUND
    return float(np.abs(moved[max(at - NEAR, 0) : max(at + NEAR, 0)]).max(initial=0.0))


def _jump_of(one: Break) -> Jump:
    # it is more than the time there and back; times on the other clock are off by as much again
    off = round(2 * abs(one.size))
    start, end = one.before_ns - off, one.after_ns + off
    return Jump(Step(start, end, round(one.size)), start, end)


def _jumps_within(both: Both, t0: int, cut_ns: float) -> Iterator[Jump]:
    """The steps of a stretch that contradicts nothing: where many packets show them together."""
    windows = windows_of(both)
    if windows is None:
        return
    for at, size in _jumps(windows, cut_ns):
        if not _is_gradual(both, windows, at, size):
            before, after = (t0 + round(t) for t in _place(both, windows, at, size))
            # about a step, times on the other clock are off by as much; packets are on their way
            off = round(abs(size) + median(windows.width))
            start, end = (t0 + round(windows.edge(at + side)) for side in (-NEAR, NEAR))
            yield Jump(Step(before - off, after + off, round(size)), start, end)


def _both(forward: OffsetBounds, reverse: OffsetBounds, t0: int) -> Both:
    base = int(forward.most_ns[0])
    x, f = (forward.t_ns - t0).astype(np.float64), (forward.most_ns - base).astype(np.float64)
    y, r = (reverse.t_ns - t0).astype(np.float64), (-reverse.most_ns - base).astype(np.float64)
    return Both(x, f, y, r, forward.n, reverse.n)


def _usual_drift(both: Both) -> float:
    """The median slope over quarters of the time: a step lies in a part of those only."""
    windows = windows_of(both)
    return 0.0 if windows is None else usual_slope(windows.edges[:-1], windows.middle)


def _jumps(windows: Windows, cut_ns: float) -> Iterator[tuple[int, float]]:
    """Boundaries of windows at which the middle jumps and the width stays, largest first."""
    dx, ds = (differences(windows.level_out(one)) for one in (windows.middle, windows.width))
    # a path that moves the width by so much moves the middle by half of it
    least = max(CLEAR * usual(dx), CLEAR / 2 * usual(ds), 2 * cut_ns, LEAST_STEP_NS)
    # nor is what moves it at once a part of what moves it slowly
    widths = [(one, CLEAR_WIDTH * usual(one)) for one in (ds, differences(windows.width))]
    left = np.abs(dx)
    while left.max() > least:
        at = int(np.argmax(left))
        boundary, size = at + AROUND, float(dx[at])
        # a path alone moves the width by twice as much
        is_clock = all(
            abs(moved[at]) < max(abs(size) / 2, min(unclear, abs(size)))
            for moved, unclear in widths
        )
        if is_clock and _is_abrupt(windows.middle, boundary) and _lasts(windows, boundary, size):
            yield boundary, size
        left[max(at - AROUND, 0) : at + AROUND + 1] = 0


def _is_abrupt(middle: Floats, at: int) -> bool:
    """A slew goes on for windows; a step is over in one."""
    before, after = middle[at - AROUND : at], middle[at : at + AROUND]
    size = abs(median(after) - median(before))
    return float(max(np.ptp(before[:-1]), np.ptp(after[1:]))) < size / 4


def _lasts(windows: Windows, at: int, size: float) -> bool:
    """Queues there and back that end and begin at once look like a step; they pass.

    There is such a queue on either side then: where one path changed soon before or after, on one.
    """
    far = LASTS * AROUND
    change = windows.level(at + 1, at + far) - windows.level(at - far, at - 1)
    before = windows.least_width(at - AROUND, at - 1) - windows.least_width(at - far, at - 1)
    after = windows.least_width(at + 1, at + AROUND) - windows.least_width(at + 1, at + far)
    return abs(change - size) < abs(size) / 2 or min(before, after) < abs(size) / 2


def _is_gradual(both: Both, windows: Windows, at: int, size: float) -> bool:
    """A slew that is over within windows: finer ones show the clock in between, a step never."""
    fine = windows_between(
        both, np.linspace(windows.edge(at - NEAR), windows.edge(at + NEAR), FINER)
    )
    width = median(windows.width[at - AROUND : at + AROUND])
    level = (fine.middle - windows.level(at - AROUND, at - 1)) / size
    is_quiet = np.abs(fine.width - width) < abs(size) / 4
    return int(np.sum(is_quiet & (level > 1 / 4) & (level < 3 / 4))) > 1


def _place(both: Both, windows: Windows, at: int, size: float) -> tuple[float, float]:
    """The last packet that only the clock before explains, and the first that only that after.

    After a step up, packets forward cannot be as quick as those before; before it, packets in
    reverse not as quick as those after.
    """
    forward, reverse = (both.x, both.f), (both.y, -both.r)
    early, late = (forward, reverse) if size > 0 else (reverse, forward)
    near = windows.edge(at - NEAR), windows.edge(at + NEAR)
    before = windows.edge(at - AROUND), near[0]
    after = near[1], windows.edge(at + AROUND)
    last = _quicker(early, near, _least(early, after) - abs(size) / 2)
    first = _quicker(late, near, _least(late, before) - abs(size) / 2)
    ends = last.max(initial=near[0]), first.min(initial=near[1])
    return float(min(ends)), float(max(ends))


Side = tuple[Floats, Floats]
"""Times and bounds of one direction."""


def _quicker(side: Side, span: tuple[float, float], limit: float) -> Floats:
    t, values = side
    return t[(t >= span[0]) & (t < span[1]) & (values < limit)]


def _least(side: Side, span: tuple[float, float]) -> float:
    t, values = side
    return float(values[(t >= span[0]) & (t < span[1])].min(initial=np.inf))
