"""The rules of the design, as assertions: where things live, and who may import whom."""

import ast
import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from pcaplat.cli import COMMANDS
from pcaplat.engines import ENGINES
from pcaplat.outputs import OUTPUTS, SAVED, SHOWN, output
from pcaplat.points import load_profile, profile_names
from tests.conftest import ROOT

PACKAGE = ROOT / "pcaplat"
LEAVES = {"errors", "printable", "tables", "units"}
STUDIES = {"errors", "scenario", "study_errors", "study_file"}
TYPES = {"blocks", "captures", "clocks", "path", "segments", "trips"}
MAY_IMPORT = {
    "__init__": {
        "benchmarks",
        *("audits", "comparisons", "errors", "lints", "outputs", "points", "published", "stages"),
        *("study", "verdicts"),
    },
    "__main__": {"cli"},
    "asked": {"readings"},
    "audits": {"errors", "published"},
    "benchmarks": {
        "declared",
        "errors",
        "scenario",
        "scenario_files",
        "studies",
        "study",
        "trials",
    },
    "bins": {"path"},
    "blocks": {"bins", "path", "tables", "time_range"},
    "breakdowns": {
        *("blocks", "breakdowns", "bursts", "columns", "errors", "intervals", "match_table"),
        *("path", "readings", "scenario", "spill", "systematic", "tables", "units"),
    },
    "bursts": {"blocks", "intervals", "loss", "readings"},
    "cli": {
        "benchmarks",
        *("", "audits", "captures", "cli", "comparisons", "errors", "outputs", "points", "spill"),
        *("declared", "printable", "stages"),
        *("lints", "studies"),
        *("study", "study_errors", "study_file", "units", "verdicts"),
    },
    "comparisons": {"intervals", "scenario_files", "stages", "studies", *STUDIES},
    "capture_facts": {
        "captures",
        "declared",
        "doubts",
        "errors",
        "found_points",
        "late_stamps",
        "path",
        "stamps",
        "units",
    },
    "captures": {"errors", "path", "pipes", "printable"},
    "checked": {"declared", "errors"},
    "carrier_doubts": {"captures", "doubts", "late_stamps", "path", "units"},
    "clocks": {"path"},
    "closure": {"doubts", "path", "units"},
    "columns": {"errors"},
    "dialogue_doubts": {"captures", "doubts", "path", "units"},
    "doubts": {"path"},
    "effects": {"figures", "intervals", "loss", "readings", "scenario"},
    "engines": {"_native", "engines", *LEAVES},
    "errors": set(),
    "found_points": {"captures", "errors", "late_stamps", "path", "printable"},
    "late_stamps": {"captures"},
    "instruments": {"errors", "instruments"},
    "cost_figures": {
        *("asked", "instruments", "intervals", "rate_figures", "rates", "readings", "scenario"),
    },
    "trips": {"blocks", "columns", "path", "segments"},
    "witnesses": {
        *("asked", "figures", "instruments", "intervals", "rates", "readings", "scenario", "units"),
    },
    "identity_doubts": {"captures", "doubts", "path", "units"},
    "figures": {"asked", "bursts", "cost_figures", "intervals", "rate_figures"}
    | {"quantile_readings", "readings", "scenario", "systematic"},
    "intervals": {"_native"},
    "loss": {"_native", "intervals"},
    "lints": {
        *("capture_facts", "captures", "doubts", "job", "looked", "path", "points", "spill"),
        *("stages", "errors"),
    },
    "looked": {
        *("capture_facts", "captures", "carrier_doubts", "dialogue_doubts", "found_points"),
        *("identity_doubts", "job", "order_doubts", "path", "place_doubts", "stages"),
    },
    "place_doubts": {"captures", "doubts", "path", "points", "units"},
    "systematic": {"blocks", "declared", "scenario", "units"},
    "declared": {"errors", "units"},
    "false_matches": {"_native"},
    "match_table": {"captures", "clocks", "path", "spill"},
    "order_doubts": {"captures", "doubts", "late_stamps", "path", "units"},
    "odd_runs": {"figures", "intervals", "readings", "scenario"},
    "outputs": {
        *("blocks", "breakdowns", "traffic", "trips", "outputs", "reasons", "study"),
        *LEAVES,
    },
    "path": set(),
    "pipes": set(),
    "printable": set(),
    "reasons": set(),
    "points": {"captures", "declared", "errors", "points", "printable"},
    "published": {"errors", "published"},
    "readings": {"blocks", "intervals", "loss", "path", "scenario"},
    "quantile_readings": {"bins", "blocks", "intervals", "readings"},
    "rate_figures": {"asked", "blocks", "rates", "readings", "scenario"},
    "rates": {"path"},
    "result": {
        *(
            "_native",
            "breakdowns",
            "match_table",
            "slowest",
            "spill",
            "stages",
            "time_range",
            "traffic",
        ),
        *TYPES,
        *LEAVES,
    },
    "scenario": {"blocks", "instruments", "rates"},
    "scenario_files": {"rates", "blocks", "captures", "study", *STUDIES},
    "segments": {"blocks", "clocks", "path"},
    "slowest": {"tables"},
    "stamps": {"captures", "path", "units"},
    "stages": {
        *("_native", "doubts", "effects", "figures", "intervals", "loss", "published", "readings"),
        "systematic",
        *("asked", "false_matches", "odd_runs", "rate_figures", "scenario", "stages", "time_range"),
        *("quantile_readings", "reasons", "witnesses"),
        *TYPES - {"captures"},
        *LEAVES,
    },
    "step_free": {"clocks", "path", "spill", "stages"},
    "studies": {"instruments", "scenario_files", *STUDIES},
    "study_errors": {"errors"},
    "spill": set(),
    "job": {"_native", "checked", "declared", "engines", "points", "spill", *TYPES, *LEAVES},
    "study": {
        *(
            "breakdowns",
            "capture_facts",
            "checked",
            "closure",
            "found_points",
            "identity_doubts",
            "job",
            "looked",
            "points",
            "result",
            "spill",
        ),
        *("false_matches", "stages", "step_free", "time_range"),
        *TYPES,
        *LEAVES,
    },
    "study_file": {"declared", "errors", "instruments", "published", "study_errors", "units"},
    "tables": {"columns"},
    "traffic": {"blocks", "columns", "match_table", "path", "spill", "traffic"},
    "time_range": {"errors", "path", "units"},
    "trials": {"blocks", "intervals", "loss", "path", "readings", "scenario", "trials"}
    | {"quantile_readings"},
    "units": {"errors"},
    "verdicts": {"published", "scenario_files", "stages", "studies", *STUDIES},
}
MAX_LINES = 300
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
    foreign = set(imported_parts(path)) - MAY_IMPORT[part(path)]
    assert not foreign, f"{path.relative_to(ROOT)} must not import {foreign}"


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
    assert modules(PACKAGE / "outputs") == set(OUTPUTS.values())
    assert all(hasattr(output(name), "show") for name in SHOWN)
    assert all(hasattr(output(name), "save") for name in SAVED)


def test_every_command_is_in_the_index() -> None:
    assert modules(PACKAGE / "cli") == set(COMMANDS.values())


def test_every_engine_is_in_the_index() -> None:
    assert modules(PACKAGE / "engines") == set(ENGINES.values())


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
def test_files_are_short_and_finished(path: Path) -> None:
    text = path.read_text("utf-8")
    assert text.count("\n") < MAX_LINES
    unfinished = UNFINISHED.search(text)
    assert not unfinished, f"{path}: {unfinished}"


def test_only_the_border_names_pyo3() -> None:
    folder = ROOT / "rust" / "src"
    named = {
        path.relative_to(folder).parts[0].removesuffix(".rs")
        for path in folder.rglob("*.rs")
        if re.search(r"\bpyo3\b", path.read_text("utf-8"))
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
