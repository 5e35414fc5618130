"""The report of a folder that `merge -o` wrote, with the verdicts and the comparison in it."""

import json
from pathlib import Path
from typing import Any

from pcaplat.outputs.folder import new_file
from pcaplat.plots.figure import Measured
from pcaplat.study.sources import saved_run
from pcaplat.tables.columns import Row

REPORT = "report.html"


def write_report(folder: Path) -> Path:
    """Write report.html anew from the other files of a folder.

    Raises:
        InputError: The folder is not what `merge -o` wrote.
    """
    from pcaplat.outputs.page.template import report_page

    run = saved_run(folder)
    documents = (
        _document(folder, name) for name in ("provenance.json", "verdicts.json", "comparison.json")
    )
    measured = Measured(run.document, run.blocks, _clock_bands(folder))
    with new_file(folder / REPORT) as stream:
        stream.write(report_page(measured, *documents).encode())
    return folder / REPORT


def _document(folder: Path, name: str) -> dict[str, Any] | None:
    path = folder / name
    return dict(json.loads(path.read_text("utf-8"))) if path.exists() else None


def _clock_bands(folder: Path) -> list[Row]:
    import pyarrow.parquet as pq

    path = folder / "clock_bands.parquet"
    return list(pq.read_table(path).to_pylist()) if path.exists() else []
