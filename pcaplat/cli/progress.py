"""Progress: one line on standard error, where a person watches: phase, rate and time left."""

import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

from pcaplat.text import folded
from pcaplat.units import format_amount

INTERVAL_S = 0.1
"""Between two lines."""
SURE_S = 1.0
"""So long a phase runs before its rate says how much time is left."""
MINUTE_S = 60
CLEAR = "\r\x1b[K"
BAR = 20


class ProgressLine:
    """A line that is written over: what goes on, how fast, and how long it will take."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._phase = ""
        self._start_s = self._shown_s = 0.0

    def update(self, done_bytes: int, total_bytes: int, stage: str) -> None:
        """Say how far a phase is; without a total, that it goes on."""
        now_s = time.monotonic()
        is_new = stage != self._phase
        if is_new:
            self._phase, self._start_s = stage, now_s
        if not is_new and now_s - self._shown_s < INTERVAL_S:
            return
        self._shown_s = now_s
        text = progress_text(stage, done_bytes, total_bytes, now_s - self._start_s)
        width = shutil.get_terminal_size().columns - 1
        self._stream.write(CLEAR + folded(text, width)[0])
        self._stream.flush()

    def clear(self) -> None:
        """Leave nothing behind."""
        if self._phase:
            self._stream.write(CLEAR)
            self._stream.flush()


def progress_text(stage: str, done_bytes: int, total_bytes: int, elapsed_s: float) -> str:
    """Write a line.

    Example:
        >>> progress_text("matching", 600_000_000, 1_000_000_000, 3.0)
        'matching  [############--------]  60 %  600 MB of 1 GB  200 MB/s  2 s left'
        >>> progress_text("intervals", 0, 0, 3.0)
        'intervals …'
    """
    if not total_bytes:
        return f"{stage} …"
    frac = min(done_bytes / total_bytes, 1.0)
    n_full = int(frac * BAR)
    done, total = (format_amount(n, "B") for n in (done_bytes, total_bytes))
    parts = [f"[{'#' * n_full}{'-' * (BAR - n_full)}]", f"{frac:.0%}".replace("%", " %")]
    parts += [f"{done} of {total}"]
    if elapsed_s >= SURE_S and done_bytes:
        rate = done_bytes / elapsed_s
        parts += [format_amount(rate, "B/s"), _left((total_bytes - done_bytes) / rate)]
    return "  ".join([stage, *parts])


def _left(left_s: float) -> str:
    if left_s < MINUTE_S:
        return f"{max(left_s, 0):.0f} s left"
    return f"{left_s // MINUTE_S:.0f} min {left_s % MINUTE_S:.0f} s left"


@contextmanager
def progress_line(*, is_wanted: bool) -> Iterator[ProgressLine | None]:
    """Give a line of progress where a person watches, else None."""
    if not is_wanted or not sys.stderr.isatty():
        yield None
        return
    line = ProgressLine(sys.stderr)
    try:
        yield line
    finally:
        line.clear()
