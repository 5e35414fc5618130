"""The notebook of the docs runs, cell by cell, and holds what it shows."""

import json
import subprocess
import sys

from tests.conftest import ROOT

NOTEBOOK = ROOT / "docs" / "measure" / "notebook.ipynb"


def test_every_cell_runs_and_shows_what_is_written() -> None:
    command = [sys.executable, str(ROOT / "docs" / "notebook.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_it_shows_a_result_and_tables() -> None:
    cells = json.loads(NOTEBOOK.read_text("utf-8"))["cells"]
    shown = [output["data"] for cell in cells for output in cell.get("outputs", ())]
    assert sum("text/html" in data for data in shown) >= 4
    assert "host1-vm" in "".join(shown[0]["text/html"])
