"""The rules of the design, as assertions: where things live, and who may import whom."""

import ast
import os
import re
from collections.abc import Iterator
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
ORDER = (
    "errors < units, text < tables < model < points, instruments < statistics < metrics < published"
    " < diagnostics < stages < breakdowns, traffic < run < linting < study"
    " < comparing, validating, benchmarking, auditing < outputs < cli < __init__, __main__"
)
"""Each room may import what stands before it: never what stands after it, nor beside it."""
RANK = {room: at for at, rooms in enumerate(ORDER.split(" < ")) for room in rooms.split(", ")}
CORE = {"model", "statistics", "stages", "run"}
"""Who may ask the native core."""
UNFINISHED = re.compile(r"\b(TOD[O]|FIXM[E]|XX[X]|NotImplementedErro[r])\b")
HOMES = re.compile(r"(?<![\w.])/(work|root|home)/")
SKIPPED = {"target", "out", "dist", "data", "__pycache__"}
SOURCES = [
    path
    for pattern in ("pcaplat/**/*.py", "tests/**/*.py", "bench/**/*.py", "rust/src/**/*.rs")
    for path in sorted(ROOT.glob(pattern))
]


def part(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imported_parts(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module == "pcaplat":
            names = [f"pcaplat.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module or ""]
        for name in names:
            if name == "pcaplat" or name.startswith("pcaplat."):
                yield name.removeprefix("pcaplat").lstrip(".").split(".")[0]


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=str)
def test_imports_go_one_way(path: Path) -> None:
    room = part(path)
    for other in set(imported_parts(path)) - {room, ""}:
        is_before = room in CORE if other == "_native" else RANK[other] < RANK[room]
        assert is_before, f"{path.relative_to(ROOT)} must not import pcaplat.{other}"


def test_stages_do_not_import_each_other() -> None:
    for path in sorted((PACKAGE / "stages").rglob("*.py")):
        stage = path.relative_to(PACKAGE / "stages").parts[0].removesuffix(".py")
        named = set(re.findall(r"pcaplat\.stages\.(\w+)", path.read_text("utf-8")))
        assert stage == "__init__" or named <= {stage}, f"{path.relative_to(ROOT)}: {named}"


def test_the_import_rule_sees_an_import() -> None:
    here = set(imported_parts(Path(__file__)))
    assert {"cli", "outputs", "points"} <= here


def modules(folder: Path) -> set[str]:
    return {path.stem for path in folder.glob("*.py")} - {"__init__"}


def test_every_output_is_in_the_index() -> None:
    assert modules(PACKAGE / "outputs") == {*OUTPUTS.values(), "report", "folder"}
    assert {*outputs_with("show", "show_validate", "save", "save_rows")} == set(OUTPUTS)
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
    assert modules(PACKAGE / "cli") - {"options"} == set(COMMANDS.values())


def test_every_metric_is_in_the_index() -> None:
    for file in modules(PACKAGE / "metrics"):
        offered = getattr(import_module(f"pcaplat.metrics.{file}"), "METRICS", ())
        if file != "registry":
            assert {one.name for one in offered} == {
                n for n, home in METRICS.items() if home == file
            }


def test_every_engine_is_in_the_index() -> None:
    assert modules(PACKAGE / "run" / "engines") == set(ENGINES.values())


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


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_files_are_finished(path: Path) -> None:
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
