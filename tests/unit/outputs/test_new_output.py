"""A new output is one file and one word: it serves every command for which it makes sense."""

import io
import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any, TextIO

import pytest

from pcaplat.cli import run
from pcaplat.outputs import OUTPUTS, formats, result_files, show, write
from pcaplat.outputs.report import Report
from tests.conftest import ROOT
from tests.support.results import ResultByHand, as_result

SAMPLE = sorted(str(path) for path in (ROOT / "samples" / "vxlan").glob("host1-*.pcap"))
WITH_REPORT = ("merge", "compare", "validate", "rfc2544", "audit", "lint")


def show_names(report: Report, stream: TextIO) -> None:
    sections = [type(section).__name__ for section in report.on("screen")]
    stream.write(f"{sections[0]} of {report.document.get('schema')}\n")


@pytest.fixture
def added(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Give the module of an output that is there for one test."""
    module = ModuleType("pcaplat.outputs.added")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setitem(OUTPUTS, "added", "added")
    return module


def test_what_shows_a_report_serves_every_command(
    added: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    vars(added)["show"] = show_names
    assert "added" not in formats("read")
    for name in WITH_REPORT:
        assert run([name, "--help"]) == 0
        assert "|added" in capsys.readouterr().out.replace("\n", ""), name
    assert run(["audit", "--format", "added"]) == 0
    assert capsys.readouterr().out == "Title of pcaplat.audit/1\n"
    assert run(["lint", *SAMPLE, "--format", "added"]) == 0
    assert capsys.readouterr().out == "Paragraph of pcaplat.lint/1\n"
    stream = io.StringIO()
    show("added", "merge", as_result(ResultByHand()), stream)
    assert stream.getvalue().startswith("Paragraph of ")


def test_what_shows_one_commands_finding_serves_that_one(added: ModuleType) -> None:
    def show_merge(result: Any, stream: TextIO) -> None:  # noqa: ANN401 - as a format has it
        json.dump([row["n"] for row in result.document["segments"]], stream)

    vars(added)["show_merge"] = show_merge
    assert [name for name in WITH_REPORT if "added" in formats(name)] == ["merge"]
    stream = io.StringIO()
    show("added", "merge", as_result(ResultByHand()), stream)
    assert len(json.loads(stream.getvalue())) == len(ResultByHand().document["segments"])


def test_what_saves_files_is_written_with_a_result(added: ModuleType, tmp_path: Path) -> None:
    def save(result: Any, directory: Path) -> None:  # noqa: ANN401 - as a format has it
        (directory / "added.txt").write_text(str(len(result.document["segments"])))

    vars(added).update(save=save, files=lambda: ["added.txt"])
    assert not any("added" in formats(name) for name in (*WITH_REPORT, "read"))
    assert result_files()[-1] == "summary.json"
    for _ in range(2):
        write(as_result(ResultByHand()), tmp_path / "out", overwrite=True)
        assert (tmp_path / "out" / "added.txt").read_text().isdigit()


def test_what_saves_rows_serves_read(added: ModuleType, tmp_path: Path) -> None:
    def save_rows(batches: Any, stream: Any) -> None:  # noqa: ANN401 - as a format has it
        stream.write(f"{sum(batch.num_rows for batch in batches)}\n".encode())

    vars(added)["save_rows"] = save_rows
    target = tmp_path / "rows.added"
    assert run(["read", SAMPLE[0], "-o", str(target)]) == 0
    assert int(target.read_text()) > 0
    assert "added" not in formats("read")
