"""Drawings without a browser: Vega-Lite becomes SVG or PNG, or Vega for a page."""

import os
from types import ModuleType
from typing import Any

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
