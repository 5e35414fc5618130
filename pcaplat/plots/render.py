"""Drawings without a browser: Vega-Lite becomes SVG or PNG, or Vega for a page.

The converter runs JavaScript, and keeps more than 100 MB as long as its process lives. Whoever
draws a whole page has it in a process that ends with the page.
"""

import json
import os
import subprocess
import sys
from contextlib import suppress
from types import ModuleType
from typing import Any, Self

from pcaplat.plots.figure import Spec

PAPER: Spec = {
    "background": "white",
    "padding": {"left": 24, "right": 12, "top": 12, "bottom": 12},
}
"""Names on the left need room: a browser's font may be wider than the one they are measured in."""
PIXELS = 2.0
"""Of a PNG, for each of the drawing's."""

SPARE_PIPES = 8
"""As many descriptors as a converter may open at once; short of them its thread panics."""

APART = """
import json, os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_IGN)
answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)
sys.path[:] = json.loads(sys.stdin.readline())
import vl_convert
vl_convert.vegalite_to_vega({"mark": "bar", "data": {"values": []}})
for line in sys.stdin:
    function, given = json.loads(line)
    print(json.dumps(getattr(vl_convert, function)(given)), file=answers, flush=True)
"""
"""Takes a function and what is given to it, line by line as JSON, and answers likewise. Its first
conversion takes ten times as long as others, so it comes before any is asked for."""


class Converter:
    """Converts in a process of its own, which ends with this; in this one where that fails."""

    def __init__(self) -> None:
        """Start that process, if the program that runs here is Python itself."""
        self._apart: subprocess.Popen[str] | None = None
        if not sys.executable or getattr(sys, "frozen", False):
            return
        with suppress(OSError):
            self._apart = subprocess.Popen(  # noqa: S603 - our own words
                [sys.executable, "-I", "-S", "-c", APART],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                encoding="ascii",
            )
            self._tell([name for name in sys.path if name])

    def __enter__(self) -> Self:
        """See `__exit__`."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the process."""
        if self._apart is not None:
            self._apart.kill()
            with suppress(OSError):  # what it was told last and did not read
                self._apart.communicate()

    def vega(self, spec: Spec) -> dict[str, Any]:
        """See `vega`."""
        found = self._asked("vegalite_to_vega", spec)
        return vega(spec) if found is None else dict(found)

    def svg(self, drawing: dict[str, Any]) -> str:
        """See `svg`."""
        found = self._asked("vega_to_svg", drawing)
        return svg(drawing) if found is None else str(found)

    def _asked(self, function: str, given: dict[str, Any]) -> Any:  # noqa: ANN401 - as it has it
        """Give what the process says; None where it has ended."""
        with suppress(OSError, ValueError):
            self._tell([function, given])
            stdout = self._apart and self._apart.stdout
            return json.loads(stdout.readline()) if stdout else None
        return None

    def _tell(self, line: list[Any]) -> None:
        stdin = self._apart and self._apart.stdin
        if stdin:
            stdin.write(f"{json.dumps(line)}\n")
            stdin.flush()


_STARTED: list[Converter] = []


def start() -> None:
    """Start the converter of the next page, which is ready by the time there is something to draw.

    It ends when it gets no more, with this process at the latest.
    """
    if not _STARTED:
        _STARTED.append(Converter())


def started() -> Converter:
    """Give the converter that was started, or one that starts now."""
    return _STARTED.pop() if _STARTED else Converter()


def _converter() -> ModuleType:
    """Give the converter, if it finds the descriptors that it needs.

    Raises:
        OSError: Too many files are open.
    """
    spare: list[int] = []
    try:
        for _ in range(SPARE_PIPES):
            spare += os.pipe()
    finally:
        for one in spare:
            os.close(one)
    import vl_convert  # noqa: PLC0415 - large, and only needed where something is drawn

    return vl_convert


def svg(drawing: dict[str, Any]) -> str:
    """Draw Vega as SVG, with the colors of the page that it stands in."""
    return str(_converter().vega_to_svg(drawing))


def svg_file(spec: Spec) -> bytes:
    """Draw as an SVG that stands alone, on white."""
    return svg(vega(spec | PAPER)).encode()


def png_file(spec: Spec) -> bytes:
    """Draw as a PNG, on white."""
    return bytes(_converter().vegalite_to_png(spec | PAPER, scale=PIXELS))


def vega(spec: Spec) -> dict[str, Any]:
    """Translate for the runtime of a page, which knows Vega alone."""
    return dict(_converter().vegalite_to_vega(spec))
