"""The border between the core and Python: no `unsafe` but in one folder, no panic that passes."""

from __future__ import annotations

import re
from dataclasses import fields, is_dataclass
from importlib import import_module

import pytest

from pcaplat import _native
from pcaplat.model.band import Band, Copies
from pcaplat.model.latencies.exchanges import TIMESTAMPS
from pcaplat.model.matched import (
    DecoyCounts,
    EndCounts,
    Latencies,
    LinkCounts,
    MissedCounts,
    OpenTriangle,
    TriangleCounts,
    TripCounts,
)
from pcaplat.model.matches.reasons import MEANINGS
from pcaplat.model.matches.traffic import CountedTraffic, TrafficPlan
from pcaplat.model.plan import Plan
from pcaplat.model.points import Node
from pcaplat.model.sampled import FileFacts, FragmentCounts, StampFacts, StampOrder
from pcaplat.stages.attribute import CUT
from tests.conftest import ROOT

RUST = ROOT / "rust" / "src"
UNSAFE = re.compile(r"\bunsafe\s*(\{|extern|fn|impl)|\(unsafe_code")
BEHIND = re.compile(r"\binterruptible\(|\bcontained\(|\bcount\(py,")
"""`count` of attributed.rs is interruptible; the test below looks."""
READ_NOTHING = {
    "__arrow_c_stream__": "hands over Batches, whose next() is contained",
    "__len__": "a count",
    "autocorrelation_of": "arithmetic on numbers that the core counted",
    "beta_cdf": "numbers of our own",
    "beta_quantile": "numbers of our own",
    "check": "an error that was kept",
    "damage": "what was kept",
    "counts": "what was counted by threads that are contained",
    "distinct_of": "numbers of our own",
    "decode": "one frame of a developer's own; pyo3 makes an exception of a panic",
    "finish": "waits for threads that are contained",
    "formats": "names",
    "gamma_quantile": "numbers of our own",
    "__reduce__": "options as octets",
    "from_bytes": "options from the octets of a process of ours",
    "is_full": "a flag",
    "extent_bytes": "a number of our own",
    "settings": "options",
    "left_out": "a count",
    "new": "starts what is contained, or keeps options",
    "sessions": "what was kept",
    "stop": "a flag",
    "student_cdf": "numbers of our own",
    "student_quantile": "numbers of our own",
    "resamples": "numbers of our own",
    "random_order": "numbers of our own",
    "traffic": "what was counted while batches were read",
}
"""What Python can call that does not itself read a stranger's bytes, and why that is so."""


def called_by_python() -> dict[str, str]:
    """Name and body of every function that Python can call."""
    found: dict[str, str] = {}
    for path in sorted((RUST / "py").rglob("*.rs")):
        text = path.read_text("utf-8")
        for piece in re.split(r"(?m)^#\[pyfunction\]$", text)[1:]:
            found |= _functions(piece, "", 1)
        for piece in re.split(r"(?m)^#\[pymethods\]$", text)[1:]:
            found |= _functions(piece.partition("\n}\n")[0], "    ", 99)
    return found


def _functions(text: str, indent: str, most: int) -> dict[str, str]:
    pattern = rf"(?ms)^{indent}(?:pub\((?:super|in crate::py)\) )?fn (\w+)(.*?)^{indent}\}}$"
    return dict(re.findall(pattern, text)[:most])


def test_unsafe_code_is_in_one_folder() -> None:
    named = {
        path.parent.relative_to(RUST).as_posix()
        for path in RUST.rglob("*.rs")
        if UNSAFE.search(path.read_text("utf-8"))
    }
    assert named == {"file/libpcap"}
    assert 'unsafe_code = "deny"' in (ROOT / "rust" / "Cargo.toml").read_text("utf-8")


def test_whatever_reads_captures_is_behind_the_catch_of_panics() -> None:
    bodies = called_by_python()
    assert {"sample", "learn", "match_files", "attribute", "write_merged", "rows"} <= set(bodies)
    counting = (RUST / "py" / "attributed.rs").read_text("utf-8").partition("\nfn count<")[2]
    assert "interruptible(" in counting.partition("\n}\n")[0]
    exposed = {name for name, body in bodies.items() if not BEHIND.search(body)}
    assert exposed <= set(READ_NOTHING), exposed - set(READ_NOTHING)


def test_batches_and_threads_are_contained() -> None:
    for name in (
        "export/packets/mod.rs",
        "export/packets/follow.rs",
        "py/interruptible.rs",
        "file/capturing/mod.rs",
    ):
        assert "contained(" in (RUST / name).read_text("utf-8"), name


def test_every_function_of_the_module_is_enumerated() -> None:
    module = (RUST / "py" / "mod.rs").read_text("utf-8")
    added = set(re.findall(r"wrap_pyfunction!\((?:\w+::)*(\w+),", module))
    assert added
    assert added <= set(called_by_python())


def fields_of_core(name: str) -> set[str]:
    """Names of the fields of one of the core's structs, which is the only one of its name."""
    start = f"pub struct {name} {{\n"
    texts = (path.read_text("utf-8") for path in RUST.rglob("*.rs"))
    (text,) = (text for text in texts if start in text)
    body = text.partition(start)[2].partition("\n}\n")[0]
    return set(re.findall(r"(?m)^    pub (\w+): ", body))


@pytest.mark.parametrize(
    "kind", [Plan, Band, Copies, Node, TrafficPlan], ids=lambda kind: kind.__name__
)
def test_what_the_core_reads_has_the_names_of_its_structs(kind: type) -> None:
    assert {one.name for one in fields(kind)} == fields_of_core(kind.__name__)


GIVEN = {
    Latencies: ("Blocks", {"histogram", "blocks"}),
    EndCounts: ("EndTally", set()),
    LinkCounts: ("LinkTally", {"spills", "histogram"}),
    MissedCounts: ("Missed", set()),
    TriangleCounts: ("Closed", set()),
    OpenTriangle: ("OpenTriangle", set()),
    DecoyCounts: ("DecoyCounts", {"n_turns", "one_in"}),
    TripCounts: ("Shares", {"one_in"}),
    StampFacts: ("StampFacts", set()),
    StampOrder: ("StampOrder", set()),
    FragmentCounts: ("FragmentCounts", set()),
    FileFacts: ("FileFacts", set()),
    CountedTraffic: ("Counted", set()),
}
"""Dataclasses that the core makes, the struct of each, and what is put beside its fields."""


@pytest.mark.parametrize("kind", GIVEN, ids=lambda kind: kind.__name__)
def test_what_the_core_makes_has_the_names_of_its_structs(kind: type) -> None:
    name, more = GIVEN[kind]
    assert {one.name for one in fields(kind)} == (fields_of_core(name) | more) - {"declared"}


def test_every_dataclass_that_the_core_makes_is_there() -> None:
    """And none of another name; that fields agree, each merge shows."""
    made = re.compile(r'"([\w.]+)"\s*[.,]\s*"([A-Z]\w+)"')
    texts = [path.read_text("utf-8") for path in (RUST / "py").glob("*.rs")]
    names = {found for text in texts for found in made.findall(text)}
    assert {("matched", "Matched"), ("latencies.segments", "Distribution")} <= names
    for module, name in names:
        assert is_dataclass(getattr(import_module(f"pcaplat.model.{module}"), name))


def test_every_name_that_the_core_counts_by_is_given_once() -> None:
    assert set(_native.REASONS) == set(MEANINGS)
    assert {status for status, _ in _native.REASONS} < set(_native.STATUSES)
    for names in (_native.STATUSES, _native.PAIR_KINDS, _native.MATCHED_BY, _native.IDENTITIES):
        assert len(set(names)) == len(names)
    assert TIMESTAMPS in _native.TRIP_KINDS
    assert set(CUT) < set(_native.PAIR_KINDS)
