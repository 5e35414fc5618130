"""The page: figures, each as a drawing that needs no JavaScript, and again as one that moves.

Whatever comes from captures is text: the template escapes it, data stands in JSON that holds no
markup, and the page's policy lets nothing run but its own scripts, and nothing be fetched.
"""

import json
import zlib
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from pcaplat.outputs.page.answer import answer, counted, doubts, gravest_first, warning_text
from pcaplat.outputs.page.judged import (
    comparison_answer,
    comparison_title,
    replication,
    verdicts_answer,
)
from pcaplat.outputs.page.sections import PageSection, judged_sections, measured_sections
from pcaplat.outputs.page.still import still
from pcaplat.plots.figure import DIRECTION, Figure, Measured
from pcaplat.plots.render import started
from pcaplat.records import dataclass
from pcaplat.text import printable
from pcaplat.units import format_count, format_instant, format_ns

HERE = Path(__file__).parent
MOST_ROWS, MOST_TEXT, MOST_NAME = 100, 300, 60
"""Rows of a table, and characters of a cell and of a point's name, that a page shows."""
MOST_WARNINGS = 30
NOT_KNOWN: dict[str, Any] = {
    "answer": (),
    "doubts": (),
    "subtitle": "",
    "warnings": (),
    "n_by_severity": "",
    "n_more_warnings": 0,
    "provenance": None,
}
"""What a page of one figure has not."""


@dataclass(frozen=True)
class Drawings:
    """The sections of a page with their figures drawn; what these were drawn from is not kept.

    Attributes:
        sections: Each with its figures, and with their numbers, if they are drawings.
        stills: The drawings, by number.
        specs: What a browser draws them again from, packed.
        has_directions: There is something to choose one direction of.
    """

    sections: Sequence[tuple[PageSection, Sequence[tuple[int | None, Figure]]]]
    stills: Sequence[Markup]
    specs: str
    has_directions: bool


def drawings_of(measured: Measured) -> Drawings:
    """Draw what one run measured."""
    return _drawn([*measured_sections(measured.with_names_of(MOST_NAME))])


def report_page(
    measured: Measured,
    provenance: Mapping[str, Any] | None,
    verdicts: Mapping[str, Any] | None = None,
    comparison: Mapping[str, Any] | None = None,
    *,
    drawings: Drawings | None = None,
) -> str:
    """Make report.html.

    Args:
        measured: One run.
        provenance: How it was made, if that is known.
        verdicts: What `validate` found, if it rests on the run.
        comparison: What `compare` found, likewise.
        drawings: Of the run, if it is drawn already.
    """
    measured = measured.with_names_of(MOST_NAME)
    document = measured.document
    if drawings is None:
        sections = [*measured_sections(measured), *judged_sections(verdicts, comparison)]
        drawings = _drawn(sections)
    warnings = gravest_first(document["warnings"])
    return _page(
        drawings,
        title=f"{document['path'][0]} ⇄ {document['path'][-1]}",
        answer=answer(dict(document)),
        doubts=doubts(dict(document)),
        subtitle=_subtitle(measured),
        warnings=warnings[:MOST_WARNINGS],
        n_by_severity=counted(warnings),
        n_more_warnings=max(0, len(warnings) - MOST_WARNINGS),
        provenance=provenance,
    )


def judged_page(
    verdicts: Mapping[str, Any] | None = None, comparison: Mapping[str, Any] | None = None
) -> str:
    """Make report.html of what rests on several runs: verdicts, a comparison, or both."""
    documents = [each for each in (verdicts, comparison) if each]
    warnings = gravest_first([row for each in documents for row in each["warnings"]])
    titles = [comparison_title(comparison) if comparison else "", "Claims" if verdicts else ""]
    return _page(
        _drawn([*judged_sections(verdicts, comparison)]),
        title="; ".join(filter(None, titles)),
        answer=[*comparison_answer(comparison), *verdicts_answer(verdicts)],
        doubts=[warning_text(row) for row in warnings[:1]],
        subtitle=replication(comparison) if comparison else "",
        warnings=warnings[:MOST_WARNINGS],
        n_by_severity=counted(warnings),
        n_more_warnings=max(0, len(warnings) - MOST_WARNINGS),
    )


def figure_page(figure: Figure) -> str:
    """Make a page of one figure."""
    section = PageSection("figure", figure.title, [figure])
    return _page(_drawn([section]), title=figure.title)


def _subtitle(measured: Measured) -> str:
    n_frames = format_count(measured.document["matching"]["n_frames"])
    n_points = len(measured.document["path"])
    blocks = next(iter(measured.blocks.values()), None)
    if blocks is None:
        return f"{n_frames} frames at {n_points} points"
    since = format_instant(blocks.start_ns).partition(".")[0].replace("T", " ")
    span = format_ns(len(blocks.n) * blocks.length_ns)
    return f"{n_frames} frames at {n_points} points, {since} UTC, {span}"


def _drawn(sections: Sequence[PageSection]) -> Drawings:
    figures = [figure for section in sections for figure in section.figures]
    with started() as converter:
        drawings = [converter.vega(_in_page(figure)) for figure in figures if figure.spec]
        stills = [still(drawing, at, converter) for at, drawing in enumerate(drawings)]
    return Drawings(
        [*_numbered(sections)],
        stills,
        packed(drawings),
        any(_has_directions(figure) for figure in figures),
    )


def _page(drawings: Drawings, **more: Any) -> str:  # noqa: ANN401 - the template's
    scripts = [(HERE / name).read_text("utf-8") for name in ("vega.js", "page.js")]
    page: str = _template().render(
        NOT_KNOWN | more,
        sections=drawings.sections,
        stills=drawings.stills,
        style=Markup((HERE / "page.css").read_text("utf-8")),  # noqa: S704 - our own file
        scripts=[Markup(script) for script in scripts],  # noqa: S704 - our own files
        hashes=" ".join(f"'sha256-{_digest(script)}'" for script in scripts),
        specs=drawings.specs,
        most_rows=MOST_ROWS,
        has_directions=drawings.has_directions,
    )
    return page


def _has_directions(figure: Figure) -> bool:
    """Tell whether there is anything to choose one direction of."""
    return bool(figure.direction) or DIRECTION in (figure.spec or {}).get("params", ())


def _numbered(
    sections: Sequence[PageSection],
) -> Iterator[tuple[PageSection, list[tuple[int | None, Figure]]]]:
    """Give each drawing a number, which its data has too."""
    n = 0
    for section in sections:
        figures: list[tuple[int | None, Figure]] = []
        for figure in section.figures:
            figures.append((n if figure.spec else None, replace(figure, spec=None)))
            n += bool(figure.spec)
        yield replace(section, figures=()), figures


def _in_page(figure: Figure) -> dict[str, Any]:
    """Hide a drawing from screen readers, which the table below it is for."""
    spec = figure.spec or {}
    return spec | {"config": spec.get("config", {}) | {"aria": False}}


@cache
def _template() -> Any:  # noqa: ANN401 - jinja2's
    pages = Environment(
        loader=FileSystemLoader(HERE),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    pages.filters |= {"shown": shown, "plain": printable}
    return pages.get_template("page.html")


def shown(text: str) -> str:
    """Make a stranger's text harmless and short: what is too long loses its middle."""
    plain = printable(str(text))
    return (
        plain
        if len(plain) <= MOST_TEXT
        else f"{plain[: MOST_TEXT // 2]}…{plain[-MOST_TEXT // 2 :]}"
    )


def packed(data: object) -> str:
    """Write data for a script element: deflated, for drawings repeat themselves, in base64."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    return b64encode(zlib.compress(text.encode(), 9)).decode()


def _digest(script: str) -> str:
    return b64encode(sha256(script.encode()).digest()).decode()
