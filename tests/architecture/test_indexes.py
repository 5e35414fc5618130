"""Each list of kinds is whole: what lies in its folder stands in its index."""

import os
import re
from importlib import import_module
from inspect import signature
from pathlib import Path

import pytest

from pcaplat.cli import COMMANDS
from pcaplat.metrics.registry import METRICS
from pcaplat.outputs import OUTPUTS, outputs_with
from pcaplat.points import load_profile, profile_names
from pcaplat.run.engines import ENGINES
from tests.conftest import ROOT

PACKAGE = ROOT / "pcaplat"
UNFINISHED = re.compile(r"\b(TOD[O]|FIXM[E]|XX[X]|NotImplementedErro[r])\b")
HOMES = re.compile(r"(?<![\w.])/(work|root|home)/")
SKIPPED = {"target", "out", "dist", "data", "__pycache__"}


def modules(folder: Path) -> set[str]:
    return {path.stem for path in folder.glob("*.py")} - {"__init__"}


def test_every_output_is_in_the_index() -> None:
    assert modules(PACKAGE / "outputs") == {*OUTPUTS.values(), "report", "folder"}
    shows = ("show", "show_merge", "show_validate", "show_trace")
    assert {*outputs_with(*shows, "save", "save_rows")} == {*OUTPUTS}
    assert {*outputs_with("save")} == {*outputs_with("files")}


def test_every_command_with_a_format_has_a_report() -> None:
    reports = PACKAGE / "outputs" / "reports"
    folders = {path.parent.name for path in reports.glob("*/__init__.py")}
    own = {
        name
        for name in COMMANDS
        if "format_" in signature(import_module(f"pcaplat.cli.{COMMANDS[name]}").command).parameters
    }
    assert modules(reports) | folders == own - {"read"}


def test_every_command_is_in_the_index() -> None:
    shared = {"coercion", "help", "options", "progress"}
    assert modules(PACKAGE / "cli") - shared == set(COMMANDS.values())


def test_every_metric_is_in_the_index() -> None:
    for file in modules(PACKAGE / "metrics"):
        offered = getattr(import_module(f"pcaplat.metrics.{file}"), "METRICS", ())
        if file != "registry":
            assert {one.name for one in offered} == {
                n for n, home in METRICS.items() if home == file
            }


def test_every_engine_is_in_the_index() -> None:
    # those are of tasks: an executor is given as it is, and has no name
    of_tasks = {"executor", "extents", "slices", "tasks", "unfinished"}
    assert modules(PACKAGE / "run" / "engines") == set(ENGINES.values()) | of_tasks


def test_every_profile_can_be_loaded() -> None:
    in_folder = {path.stem for path in (ROOT / "capture_points").glob("*.toml")}
    assert in_folder == set(profile_names())
    for name in in_folder:
        assert load_profile(name).points


@pytest.mark.parametrize("folder", ["file", "wire"])
def test_every_rust_format_and_layer_is_in_its_index(folder: str) -> None:
    index = (ROOT / "rust" / "src" / folder / "mod.rs").read_text("utf-8")
    for path in (ROOT / "rust" / "src" / folder).glob("*.rs"):
        assert path.stem == "mod" or re.search(rf"\b{path.stem}\b", index), path


def test_files_are_finished() -> None:
    for pattern in ("pcaplat/**/*.py", "tests/**/*.py", "bench/**/*.py", "rust/src/**/*.rs"):
        for path in sorted(ROOT.glob(pattern)):
            unfinished = UNFINISHED.search(path.read_text("utf-8"))
            assert not unfinished, f"{path}: {unfinished}"


def test_only_the_border_names_pyo3() -> None:
    """And attributes that let it read and make the core's structs."""
    folder = ROOT / "rust" / "src"
    derived = re.compile(r'#\[cfg_attr\(\s*feature = "python",.*?\)\]\n', re.DOTALL)
    named = {
        path.relative_to(folder).parts[0].removesuffix(".rs")
        for path in folder.rglob("*.rs")
        if re.search(r"\bpyo3\b", derived.sub("", path.read_text("utf-8")))
    }
    assert named == {"py"}


def test_no_path_of_a_machine_is_written_down() -> None:
    kinds = {".py", ".rs", ".md", ".toml", ".lock", ".json", ".in", ""}
    for folder, subfolders, names in os.walk(ROOT):
        subfolders[:] = [n for n in subfolders if not n.startswith(".") and n not in SKIPPED]
        for path in (Path(folder) / name for name in names):
            if path.suffix in kinds and not path.name.startswith("."):
                found = HOMES.search(path.read_text("utf-8", errors="replace"))
                assert not found, f"{path}: {found}"
