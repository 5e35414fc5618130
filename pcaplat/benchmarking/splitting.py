"""Where a trial begins and ends: at a gap, at another frame size, at another rate.

Everything here takes the frames of one direction as its sender sent them, in the order of time.
"""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from pcaplat.model.arrays import Floats, Ints

FrameRange = tuple[int, int]
"""First frame, and the one behind the last."""

LEAST_FRAMES = 100
"""A trial has as many frames, or more."""

LEAST_GAP_NS = 100_000_000
TIMES_USUAL = 20
"""A gap is longer than `LEAST_GAP_NS`, and than so many times the usual distance of the frames
beside it."""

BESIDE = 50
"""Frames on either side that the usual distance is taken of."""

MOST_PIECES = 512
LEAST_IN_PIECE = 16
LEAST_PIECES = 8
"""A rate is looked at in pieces, `MOST_PIECES` of `LEAST_IN_PIECE` frames or more each, and lasts
for at least so many of them."""

LEAST_CHANGE = 0.05
"""A rate that changes by less than this share is the same: steps of a search are larger, and a
sender wanders by less."""

TIMES_SCATTER = 8


def find_trials(t_ns: Ints, frame_bytes: Ints) -> list[FrameRange]:
    """Find the trials among the frames of one direction.

    Args:
        t_ns: When each was sent, ascending.
        frame_bytes: How long each is.

    Returns:
        Parts of the frames. In a part almost all frames have one size, or no size lasts.

    Example:
        >>> t_ns = np.concatenate([np.arange(200), 10_000 + np.arange(300)]) * 1_000_000
        >>> find_trials(t_ns, np.full(500, 60))
        [(0, 200), (200, 500)]
    """
    return [
        part
        for burst in _at_gaps(t_ns)
        for one in _at_sizes(frame_bytes, burst)
        for part in _at_rates(t_ns, one)
        if part[1] - part[0] >= LEAST_FRAMES
    ]


def _at_gaps(t_ns: Ints) -> Iterator[FrameRange]:
    apart_ns = np.diff(t_ns)
    start = 0
    for at in np.flatnonzero(apart_ns > LEAST_GAP_NS):
        sides = apart_ns[max(start, at - BESIDE) : at], apart_ns[at + 1 : at + 1 + BESIDE]
        usual_ns = min((float(np.median(side)) for side in sides if len(side)), default=0.0)
        if apart_ns[at] > TIMES_USUAL * usual_ns:
            yield start, int(at) + 1
            start = int(at) + 1
    if len(t_ns):
        yield start, len(t_ns)


def _at_sizes(frame_bytes: Ints, part: FrameRange) -> Iterator[FrameRange]:
    """Divide where another size begins to last; a stray frame begins nothing."""
    sizes = frame_bytes[part[0] : part[1]]
    edges = np.concatenate([[0], np.flatnonzero(np.diff(sizes)) + 1, [len(sizes)]])
    lengths = np.diff(edges)
    lasting = [
        (int(edges[at]), int(sizes[edges[at]])) for at in np.flatnonzero(lengths >= LEAST_FRAMES)
    ]
    begins = [0]
    for (_, before), (at, size) in pairwise(lasting):
        if size != before:
            begins.append(at)
    ends = [*begins[1:], len(sizes)]
    yield from ((part[0] + begin, part[0] + end) for begin, end in zip(begins, ends, strict=True))


def _at_rates(t_ns: Ints, part: FrameRange) -> Iterator[FrameRange]:
    """Divide where the rate steps, and stays."""
    n = part[1] - part[0]
    piece = max(LEAST_IN_PIECE, n // MOST_PIECES)
    n_pieces = (n - 1) // piece
    if n_pieces < 2 * LEAST_PIECES:
        yield part
        return
    marks = t_ns[part[0] + piece * np.arange(n_pieces + 1)]
    lasts = np.log(np.maximum(np.diff(marks), 1))
    begin = part[0]
    for at in _settled(lasts, _steps(lasts, 0)):
        cut = _refined(t_ns, part[0] + at * piece, 2 * piece, part)
        yield begin, cut
        begin = cut
    yield begin, part[1]


def _steps(lasts: Floats, first: int) -> list[int]:
    """Find steps of a level by binary segmentation, each larger than scatter explains."""
    n = len(lasts)
    if n < 2 * LEAST_PIECES:
        return []
    at, change, weight = _changes(lasts)
    best = int(np.argmax(np.abs(change) * weight))
    # neighbours' differences hold no level but where it steps
    scatter = 1.4826 * float(np.median(np.abs(np.diff(lasts)))) / np.sqrt(2)
    cut = int(at[best])
    # medians, for the piece that a step falls into has a level of its own
    step = abs(float(np.median(lasts[cut:]) - np.median(lasts[:cut])))
    if step < np.log1p(LEAST_CHANGE) or abs(change[best]) * weight[best] < TIMES_SCATTER * scatter:
        return []
    return [*_steps(lasts[:cut], first), first + cut, *_steps(lasts[cut:], first + cut)]


def _changes(lasts: Floats) -> tuple[Ints, Floats, Floats]:
    """Give each place to cut, the step of the level there, and its weight against scatter."""
    n = len(lasts)
    at = np.arange(LEAST_PIECES, n - LEAST_PIECES + 1)
    sums = np.concatenate([[0.0], np.cumsum(lasts)])
    change = (sums[-1] - sums[at]) / (n - at) - sums[at] / at
    return at, change, np.sqrt(at * (n - at) / n)


def _settled(lasts: Floats, cuts: list[int]) -> list[int]:
    """Place each cut again between its neighbours: the first ones saw several levels at once."""
    placed = [0, *cuts, len(lasts)]
    for index in (*range(1, len(placed) - 1), *range(1, len(placed) - 1)):
        begin, end = placed[index - 1], placed[index + 1]
        at, change, weight = _changes(lasts[begin:end])
        placed[index] = begin + int(at[np.argmax(np.abs(change) * weight)])
    return placed[1:-1]


def _refined(t_ns: Ints, cut: int, reach: int, part: FrameRange) -> int:
    """Place a step to the frame: where distances turn from one side's to the other's."""
    lo, hi = max(part[0] + 1, cut - reach), min(part[1] - 1, cut + reach)
    apart_ns = np.diff(t_ns[lo - 1 : hi + 1]).astype(np.float64)
    sides = t_ns[max(part[0], lo - 4 * reach) : lo + 1], t_ns[hi : min(part[1], hi + 4 * reach)]
    if min(len(side) for side in sides) < LEAST_IN_PIECE:
        return cut
    before_ns, after_ns = (float(np.median(np.diff(side))) for side in sides)
    wrong = np.abs(apart_ns - before_ns) - np.abs(apart_ns - after_ns)
    # a distance belongs to the frame at its end
    return lo + int(np.argmin(np.concatenate([[0.0], np.cumsum(wrong)])))
