"""Drawings that stand still in a page: SVG made small, with names of its own."""

import re
from typing import Any

from markupsafe import Markup

from pcaplat.plots.render import Converter

UNSAID = re.compile(
    r' (?:(?:pointer-events|aria-[a-z]+|role|stroke-miterlimit|stroke-dasharray)="[^"]*"'
    r'|(?:opacity|stroke-width)="1")'
)
"""Attributes that say what holds anyway, or what screen readers are told by the table."""
OUTLINE = re.compile(r' d="[^"]*"')
LONG_FRACTION, LONG_OPACITY = re.compile(r"(?<=\.\d)\d+"), re.compile(r'( opacity="0?\.\d)\d+"')
"""Digits that nobody sees."""
CELLS = re.compile(r'(<g class="mark-rect[^>]*>)((?:<path d="[^"]*" fill="[^"]*"[^>]*/>)+)(?=</g>)')
CELL = re.compile(r'<path d="([^"]*)"([^>]*)/>')
NAME = re.compile(r'(\bid="|url\(#)(\w+)')


def still(drawing: dict[str, Any], number: int, converter: Converter) -> Markup:
    """Draw as SVG for a page that holds several drawings."""
    svg = UNSAID.sub("", converter.svg(_unmoved(drawing)))
    svg = OUTLINE.sub(lambda found: LONG_FRACTION.sub("", found[0]), svg)
    svg = LONG_OPACITY.sub(r'\1"', svg)
    svg = CELLS.sub(lambda found: f"{found[1]}{_joined(found[2])}", svg)
    return Markup(_named(svg, number))  # noqa: S704 - the renderer escapes texts


def _unmoved(drawing: dict[str, Any]) -> dict[str, Any]:
    """Leave out what answers a pointer: computed for each of hundreds of cells, and not drawn."""
    return drawing | {"marks": [_untold(mark) for mark in drawing["marks"]]}


def _untold(mark: dict[str, Any]) -> dict[str, Any]:
    looks = mark.get("encode", {}).items()
    kept = {
        state: {name: value for name, value in look.items() if name != "tooltip"}
        for state, look in looks
    }
    nested = {"marks": [_untold(one) for one in mark["marks"]]} if "marks" in mark else {}
    return mark | {"encode": kept} | nested


def _joined(cells: str) -> str:
    """Draw all cells of one look as one outline: a heatmap has hundreds, and a dozen looks."""
    outlines: dict[str, list[str]] = {}
    for outline, look in CELL.findall(cells):
        outlines.setdefault(look, []).append(outline)
    return "".join(f'<path d="{"".join(of)}"{look}/>' for look, of in outlines.items())


def _named(svg: str, number: int) -> str:
    """Number names by drawing: the renderer counts on from one to the next."""
    known: dict[str, str] = {}

    def own(found: re.Match[str]) -> str:
        return f"{found[1]}{known.setdefault(found[2], f'f{number}-{len(known)}')}"

    return NAME.sub(own, svg)
