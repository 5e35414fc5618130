"""Messages say what, where, the evidence, and what to do; the tree is as it is drawn."""

import inspect
import re

import pytest

from pcaplat import errors
from pcaplat.errors import (
    ClaimError,
    EngineError,
    EvidenceError,
    InputError,
    OptionError,
    OutputError,
    PcaplatError,
    PointError,
    TableError,
)
from pcaplat.study import errors as study_errors


def test_the_drawn_tree_is_the_tree() -> None:
    drawn = set(re.findall(r"\b([A-Z]\w+Error)\b(?= *(?:\(also|\n| {2,}))", errors.__doc__ or ""))
    defined = {
        name
        for module in (errors, study_errors)
        for name, thing in inspect.getmembers(module, inspect.isclass)
        if issubclass(thing, PcaplatError)
    }
    assert drawn | {"PcaplatError"} == defined


@pytest.mark.parametrize("kind", [ClaimError, OptionError, OutputError, PointError, TableError])
def test_unusable_input_is_a_value_error_too(kind: type[Exception]) -> None:
    assert issubclass(kind, InputError)
    assert issubclass(kind, ValueError)


@pytest.mark.parametrize("kind", [EvidenceError, EngineError])
def test_missing_evidence_is_no_wrong_input(kind: type[Exception]) -> None:
    assert issubclass(kind, PcaplatError)
    assert not issubclass(kind, InputError)


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (
            OutputError.not_empty("out", "notes.txt"),
            (
                "out: is not empty (it holds notes.txt); choose another folder, or replace the "
                "results in it with --overwrite"
            ),
        ),
        (
            OutputError.written_by_another("out"),
            "out: another run is writing into it; choose another folder, or wait for that",
        ),
        (
            OutputError.not_a_folder("out"),
            "out: is a file; give the name of a folder, new or empty",
        ),
        (
            ClaimError.unknown("nsx", ["vds-ipfix"]),
            "'nsx' is neither a .toml file nor one that ships with pcaplat; there are: vds-ipfix",
        ),
        (
            PointError.unknown("esx", ["esxi", "lab"]),
            "'esx' is no capture-point profile; did you mean esxi? There are: esxi, lab",
        ),
        (
            TableError.wrong_column("packets", "t_ns", "is missing"),
            "table packets: column t_ns: is missing; see pcaplat.tables",
        ),
    ],
)
def test_messages(error: PcaplatError, text: str) -> None:
    assert str(error) == text
