"""The rules of the design: rooms in one order, functions and folders that fit in the eye."""

import re
from collections import Counter
from pathlib import Path

import pytest

from tests.architecture.source_code import PYTHON, RUST, TYPES, function_lines, room, sources, used
from tests.conftest import ROOT

ORDER = {
    PYTHON: "errors, records < units, text, toml < tables < model < points, instruments"
    " < statistics < metrics < published < diagnostics < stages < breakdowns, traffic, plots"
    " < run < linting, digesting < study"
    " < capturing, comparing, validating, benchmarking, auditing, tracing < outputs"
    " < cli < __init__, __main__",
    RUST: "base < file < wire < stamp, location, identity < plan < reading < survey"
    " < matching < traffic < export, attribute < py < lib",
}
"""A room may use what stands before it: never what stands after it, nor beside it."""
ASK_THE_CORE = {"model", "statistics", "stages", "run", "digesting", "capturing"}
LISTS = {"cli", "file", "metrics", "outputs", "stamp", "wire"}
"""Folders with one file a kind, however many kinds there are."""
TO_BE_SHORTENED = {"matching"}
"""One in six of its functions has more than MANY_LINES."""
MOST_LINES, MANY_LINES, MOST_FRAC_OF_MANY, MOST_ENTRIES = 40, 20, 0.1, 15
LANGUAGES = pytest.mark.parametrize("top", [PYTHON, RUST], ids=["python", "rust"])


@LANGUAGES
def test_a_room_uses_only_rooms_before_it(top: Path) -> None:
    groups = ORDER[top].split(" < ")
    rank = {name: at for at, group in enumerate(groups) for name in group.split(", ")}
    for path, text in sources(top).items():
        own = room(path)
        for other in used(path, text) - {own}:
            is_before = rank.get(other, len(rank)) < rank[own]
            if other == "_native":
                is_before = own in ASK_THE_CORE
            assert is_before, f"{path.relative_to(ROOT)} must not use {other}"


def test_the_rule_sees_what_is_used() -> None:
    text = "import pcaplat.cli.merge\nfrom pcaplat.run import job\nfrom pcaplat import errors"
    assert used(PYTHON / "model" / "path.py", text) == {"cli", "run", "errors"}
    text = "use crate::py::x;\nuse super::super::plan::Plan;\nuse super::y;"
    assert used(RUST / "base" / "hash.rs", text) == {"py", "plan"}
    assert used(RUST / "base" / "hash.rs", "use crate::{py::x, plan};") == {"{"}


def test_stages_do_not_know_each_other() -> None:
    for path in sorted((PYTHON / "stages").rglob("*.py")):
        own = path.relative_to(PYTHON / "stages").parts[0].removesuffix(".py")
        others = {*re.findall(r"pcaplat\.stages\.(\w+)", path.read_text("utf-8"))} - {own}
        assert not others, f"{path.relative_to(ROOT)} must not use {others}"


@LANGUAGES
def test_functions_fit_in_the_eye(top: Path) -> None:
    found = {path: function_lines(path, text) for path, text in sources(top).items()}
    assert [str(path) for path, lines in found.items() if max(lines, default=0) > MOST_LINES] == []
    every = [n for path, lines in found.items() if room(path) not in TO_BE_SHORTENED for n in lines]
    assert sum(n > MANY_LINES for n in every) <= MOST_FRAC_OF_MANY * len(every)


@LANGUAGES
def test_folders_fit_in_the_eye(top: Path) -> None:
    for folder in {path.parent for path in sources(top)} - {PYTHON}:
        entries = {each.stem for each in folder.iterdir() if each.stem[0] not in "._"} - {"mod"}
        is_list = folder.name in LISTS
        assert is_list or len(entries) <= MOST_ENTRIES, f"{folder}: {sorted(entries)}"


@LANGUAGES
def test_a_type_has_a_name_of_its_own(top: Path) -> None:
    names = Counter[str]()
    for text in sources(top).values():
        names.update(TYPES[top].findall(text))
    assert {name for name, n in names.items() if n > 1} == set()


def test_the_border_is_typed() -> None:
    stub = (PYTHON / "_native.pyi").read_text("utf-8")
    assert not re.search(r"\bAny\b|dict\[str, object\]", stub)
