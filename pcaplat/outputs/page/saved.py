"""The report of a folder: of `merge -o`, with verdicts and comparison in it, or of these alone."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pcaplat.outputs.folder import new_file
from pcaplat.outputs.page.template import judged_page, report_page
from pcaplat.plots.figure import Measured
from pcaplat.study.sources import saved_run
from pcaplat.study.summary_file import SUMMARY
from pcaplat.tables.columns import Row

REPORT = "report.html"


def write_report(folder: Path) -> Path:
    """Write report.html anew from the other files of a folder.

    Raises:
        InputError: The folder is not what `merge -o`, `validate -o` or `compare -o` wrote.
    """
    judged = [_document(folder, name) for name in ("verdicts.json", "comparison.json")]
    is_of_runs = any(judged) and not (folder / SUMMARY).exists()
    page = judged_page(*judged) if is_of_runs else _page_of_run(folder, judged)
    with new_file(folder / REPORT) as stream:
        stream.write(page.encode())
    return folder / REPORT


def _page_of_run(folder: Path, judged: Sequence[dict[str, Any] | None]) -> str:
    run = saved_run(folder)
    measured = Measured(run.document, run.blocks, _clock_bands(folder))
    return report_page(measured, _document(folder, "provenance.json"), *judged)


def _document(folder: Path, name: str) -> dict[str, Any] | None:
    path = folder / name
    return dict(json.loads(path.read_text("utf-8"))) if path.exists() else None


def _clock_bands(folder: Path) -> list[Row]:
    import pyarrow.parquet as pq

    path = folder / "clock_bands.parquet"
    return list(pq.read_table(path).to_pylist()) if path.exists() else []
