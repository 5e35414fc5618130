"""HTML: report.html, one file that needs neither network nor JavaScript."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pcaplat.outputs.page.template import Drawings
    from pcaplat.run.result import Result


def files() -> list[str]:
    """Name what `save` writes."""
    return ["report.html"]


def draw(result: "Result") -> "Drawings":
    """Draw what report.html shows, before the large tables take their memory."""
    from pcaplat.outputs.page.template import drawings_of

    return drawings_of(result.plot.measured)


def save(result: "Result", directory: Path, drawings: "Drawings | None" = None) -> None:
    """Write report.html into a folder."""
    from pcaplat.outputs.page.template import report_page

    page = report_page(result.plot.measured, result.provenance, drawings=drawings)
    (directory / "report.html").write_text(page, "utf-8")


def save_compare(document: Mapping[str, Any], directory: Path) -> None:
    """Write report.html of a comparison into a folder."""
    from pcaplat.outputs.page.template import judged_page

    (directory / "report.html").write_text(judged_page(comparison=document), "utf-8")


def save_validate(document: Mapping[str, Any], directory: Path) -> None:
    """Write report.html of verdicts into a folder."""
    from pcaplat.outputs.page.template import judged_page

    (directory / "report.html").write_text(judged_page(verdicts=document), "utf-8")
