"""Options as Python gives them: what can mean nothing is refused, by its name."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import pcaplat
from pcaplat.cli import run
from pcaplat.errors import InputError
from tests.unit.diagnostics.lint_by_hand import CLEAN

NO_LIST, NO_TEXT, NO_NUMBER = "is no list", "is no text", "is no whole number"
PAIRED = "write it like"
WRONG: list[tuple[str, Any, str]] = [
    ("path", "near,far", NO_LIST),
    ("path", [1, 2], NO_TEXT),
    ("same_clock", "a,,b", "an empty name"),
    ("same_clock", None, NO_LIST),
    ("same_clock", ["near", "far"], "one point, and no group of points"),
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
    *(("slices", one, NO_NUMBER) for one in (0, -1, "3", 1_025, 10**8)),
    ("window_ns", 0, NO_NUMBER),
    ("window_ns", "1s", NO_NUMBER),
    ("window_ns", 2**63, NO_NUMBER),
    ("slowest", -1, NO_NUMBER),
    ("slowest", "3", NO_NUMBER),
    *(("clock_accuracy", [("near", one)], PAIRED) for one in (-5, 1.5, None)),
    *(("clock_accuracy", {"near": one}, PAIRED) for one in (-5, 1.5, None)),
    ("clock_accuracy", ["near=100ns"], PAIRED),
    *(("stamped_at", [("near", one)], PAIRED) for one in ("last bit", "LAST-BIT", None)),
    *(("link_rate", [("near", one)], PAIRED) for one in ("fast", 0, -1, 1e9, float("nan"), 2**64)),
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


@pytest.mark.parametrize("one", ["5 parsecs", "100"])
@pytest.mark.parametrize("name", ["clock_accuracy", "link_rate"])
def test_text_of_no_value_is_refused(name: str, one: str, captures: list[str]) -> None:
    wrong: dict[str, Any] = {name: {"near": one}}
    with pytest.raises(InputError, match=r"^--.*write it like") as told:
        pcaplat.merge(captures, **wrong)
    assert str(told.value).count(f"near={one}") == 1


def test_a_rate_without_the_moment_that_timestamps_mark_is_told(captures: list[str]) -> None:
    def codes(**options: Any) -> list[tuple[str, str | None]]:  # noqa: ANN401 - any option
        with pcaplat.merge(captures, same_clock="all", **options) as result:
            return [(one["code"], one["point"]) for one in result.document["warnings"]]

    rate = {"near": "10Gbit/s"}
    assert codes(link_rate=rate) == [*codes(), ("link-rate-unused", "near")]
    for moment in ("first-bit", "last-bit", "host"):
        assert codes(link_rate=rate, stamped_at={"near": moment}) == codes()


def test_options_in_terms_of_python_are_those_of_the_command_line(captures: list[str]) -> None:
    def found(**options: Any) -> dict[str, Any]:  # noqa: ANN401 - any option
        with pcaplat.merge(captures, **options) as result:
            return result.document

    assert found(same_clock="all") == found(same_clock=["all"])
    assert found(same_clock="near,far") == found(same_clock=[["near", "far"]])
    assert found(same_clock=["near,far"]) == found(same_clock=[["near", "far"]])
    pairs = [("near", 100), ("far", 1500)]
    assert found(clock_accuracy={"near": "100ns", "far": "1.5us"}) == found(clock_accuracy=pairs)
    assert found(link_rate={"near": "10Gbit/s"}) == found(link_rate=[("near", 10**10)])
    stamped = {"near": "last-bit"}
    assert found(stamped_at=stamped) == found(stamped_at=[*stamped.items()])
    t_ns = found()["clocks"][0]["at_ns"] // 1000 * 1000
    at = datetime.fromtimestamp(t_ns // 10**9, UTC).replace(microsecond=t_ns % 10**9 // 1000)
    text = f"{t_ns // 10**9}.{t_ns % 10**9:09}"
    assert found(start=at) == found(start=at.replace(tzinfo=None)) == found(start=text)


def test_one_capture_is_a_list_of_one(captures: list[str]) -> None:
    for given in (captures[0], Path(captures[0])):
        with pytest.raises(InputError, match="one capture point alone"):
            pcaplat.merge(given)


def test_numbers_of_other_kinds_are_numbers(captures: list[str]) -> None:
    numpy = pytest.importorskip("numpy")
    with pcaplat.merge(captures, sample=numpy.int64(2), window_ns=numpy.int64(10**6)) as result:
        assert result.document["matching"]["n_frames"] < 606


@pytest.mark.parametrize("given", [[], None])
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
