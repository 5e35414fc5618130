"""One object of options: whatever takes options of a merge takes those declared, as declared."""

from __future__ import annotations

from dataclasses import fields
from inspect import getdoc, signature
from typing import TYPE_CHECKING, Any

import pytest
from typer.main import get_command

import pcaplat
from pcaplat.cli import application, run
from pcaplat.run.options import LintOptions, MergeOptions, ReportOptions, options_of
from pcaplat.study.file import FORMS, WHOLE

if TYPE_CHECKING:
    from collections.abc import Callable

EVERY = options_of(MergeOptions)


def offered(command: str) -> dict[str, str]:
    """Options of a command, and their help."""
    found = get_command(application()).commands[command]  # type: ignore[attr-defined] # a group has them
    return {item.opts[0]: item.help for item in found.params if item.param_type_name == "option"}


@pytest.mark.parametrize(
    ("verb", "options"), [(pcaplat.merge, MergeOptions), (pcaplat.lint, LintOptions)]
)
def test_a_verb_takes_its_options_and_tells_what_they_mean(
    verb: Callable[..., object], options: type
) -> None:
    parameters = signature(verb).parameters
    assert list(parameters) == [field.name for field in fields(options)]
    text = " ".join((getdoc(verb) or "").split())
    for name, option in options_of(options).items():
        assert parameters[name].kind is parameters[name].KEYWORD_ONLY
        assert f"{name}: {option.meaning}" in text


def test_what_is_misspelt_is_told_of_the_verb() -> None:
    wrong: dict[str, Any] = {"smaple": 2}
    with pytest.raises(TypeError, match=r"^merge\(\) got an unexpected .* 'smaple'"):
        pcaplat.merge([], **wrong)
    with pytest.raises(TypeError, match=r"^lint\(\) got an unexpected .* 'smaple'"):
        pcaplat.lint([], **wrong)


@pytest.mark.parametrize("command", ["merge", "compare", "validate", "rfc2544"])
def test_every_named_option_is_on_the_command_line(command: str) -> None:
    found = offered(command)
    for name, option in EVERY.items():
        if option.name and (command == "merge" or name not in options_of(ReportOptions)):
            assert found[option.name] == option.help


def test_every_key_of_a_study_file_is_an_option() -> None:
    keys = {option.key: option.kind for option in EVERY.values() if option.key}
    assert keys.keys() <= WHOLE.model_fields.keys()
    assert {*keys.values()} <= FORMS.keys()


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (
            ["merge", "--slowest", "-1"],
            "--slowest: invalid value '-1': expected a whole number, 0 or",
        ),
        (["merge", "--slowest", "1" * 30], "expected a whole number, 0 or more"),
        (
            ["merge", "--vxlan-port", "x"],
            "--vxlan-port: invalid value 'x': expected a whole number fr",
        ),
        (
            ["merge", "--format", "jso"],
            "--format: invalid value 'jso': expected one of table, json, ",
        ),
        (["merge", "--format", "jso"], "did you mean json?"),
        (["merge", "--window", "x"], "--window: 'x' is no duration"),
        (["capture", "-o", "none", "--duration", "x"], "--duration: 'x' is no duration"),
        (["capture", "-o", "none", "--live", "x"], "--live: 'x' is no duration"),
        (["compare", "--confidence", "x"], "--confidence: invalid value 'x': expected a number"),
        (["wireshark", "foo"], "install: invalid value 'foo': expected install"),
        (["wireshark"], "missing argument 'install'. Choose from: install; see"),
    ],
)
def test_a_value_that_is_none_is_told_with_its_option(
    words: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    command, *more = words
    assert run([command, *([] if command == "wireshark" else ["a", "b"]), *more]) == 2
    said = capsys.readouterr().err
    assert says in said
    assert "Input should" not in said
    assert "Value error" not in said
