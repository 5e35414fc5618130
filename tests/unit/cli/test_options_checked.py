"""Options as Python gives them: what can mean nothing is refused, by its name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import pcaplat
from pcaplat.cli import run
from pcaplat.errors import InputError
from tests.unit.diagnostics.lint_by_hand import CLEAN

if TYPE_CHECKING:
    from pathlib import Path

NO_LIST, NO_TEXT, NO_NUMBER = "is no list", "is no text", "is no whole number"
PAIRED = "write it like"
WRONG: list[tuple[str, Any, str]] = [
    ("path", "near,far", NO_LIST),
    ("path", [1, 2], NO_TEXT),
    ("same_clock", "all", NO_LIST),
    ("same_clock", None, NO_LIST),
    ("same_clock", [[]], "one point alone shares its clock with nobody"),
    ("decode", "udp.port=80:vxlan", NO_LIST),
    ("by", "flow", NO_LIST),
    ("by", [5], NO_TEXT),
    ("vxlan_ports", 4_789, NO_LIST),
    ("reference", 5, NO_TEXT),
    ("reference", "", "there is no such capture point"),
    ("start", 1_700_000_000, NO_TEXT),
    ("end", 1.5, NO_TEXT),
    ("bpf", b"tcp", NO_TEXT),
    ("sample", 0, NO_NUMBER),
    ("sample", "1/2", NO_NUMBER),
    ("window_ns", 0, NO_NUMBER),
    ("window_ns", "1s", NO_NUMBER),
    ("window_ns", 2**63, NO_NUMBER),
    ("slowest", -1, NO_NUMBER),
    ("slowest", "3", NO_NUMBER),
    *(("clock_accuracy", [("near", one)], PAIRED) for one in ("100ns", -5, 1.5, None)),
    ("clock_accuracy", {"near": 100}, PAIRED),
    ("clock_accuracy", ["near=100ns"], PAIRED),
    *(("stamped_at", [("near", one)], PAIRED) for one in ("last bit", "LAST-BIT", None)),
    *(("link_rate", [("near", one)], PAIRED) for one in ("10G", 0, -1, 1e9, float("nan"), 2**64)),
]
"""Option, value, and what is said of it."""


@pytest.fixture(scope="module")
def captures(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    return CLEAN.save(tmp_path_factory.mktemp("captures"))


@pytest.mark.parametrize(("name", "value", "text"), WRONG)
def test_what_can_mean_nothing_is_refused(
    name: str, value: object, text: str, captures: list[str]
) -> None:
    wrong: dict[str, Any] = {name: value}
    with pytest.raises(InputError, match=f"^--.*{text}") as told:
        pcaplat.merge(captures, **wrong)
    option = str(told.value).split()[0]
    usual = {"bpf": "--filter", "start": "--from", "end": "--to"}
    assert option == usual.get(name, option)
    if name in {"path", "same_clock", "decode", "stamped_at", "link_rate", "clock_accuracy"}:
        with pytest.raises(InputError, match=f"^--.*{text}"):
            pcaplat.lint(captures, **wrong)


def test_numbers_of_other_kinds_are_numbers(captures: list[str]) -> None:
    numpy = pytest.importorskip("numpy")
    with pcaplat.merge(captures, sample=numpy.int64(2), window_ns=numpy.int64(10**6)) as result:
        assert result.document["matching"]["n_frames"] < 606


@pytest.mark.parametrize("given", ["near.pcap", [], None])
def test_captures_are_a_list(given: Any) -> None:  # noqa: ANN401 - whatever one may give
    for verb in (pcaplat.merge, pcaplat.lint):
        with pytest.raises(InputError, match="is no list of captures"):
            verb(given)


@pytest.mark.parametrize("option", ["--reference", "--profile", "--from", "--path", "--window"])
def test_an_empty_value_is_not_passed_over(
    option: str, captures: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """What a script leaves empty by mistake."""
    assert run(["merge", *captures, option, ""]) == 2
    assert capsys.readouterr().err.startswith("pcaplat: ")


def test_names_on_the_path_are_as_harmless_as_those_of_points(tmp_path: Path) -> None:
    near, far = CLEAN.save(tmp_path)
    named = [f"a\u202eb={near}", f"far={far}"]
    for verb in (pcaplat.merge, pcaplat.lint):
        assert verb(named, path=["a\u202eb", "far"])
