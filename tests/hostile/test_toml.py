"""TOML of strangers: a line that says what is wrong, in a time that grows as the text does."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from pcaplat.errors import InputError
from pcaplat.points import load_profile
from pcaplat.published import load_published
from pcaplat.study.file import load_study

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

KINDS: dict[str, Callable[[int], str]] = {
    "keys": lambda n: "".join(f"key{at} = {at}\n" for at in range(n)),
    "tables": lambda n: "".join(f"[table{at}]\nkey = 1\n" for at in range(n)),
    "items": lambda n: "[[claims]]\nid = 1\n" * n,
    "values": lambda n: f"claims = [{'1.5, ' * n}]\n",
    "lines of a text": lambda n: 'title = """' + "a line\n" * n + '"""\n' + "key = 1\n",
    "comments": lambda n: "# nothing\n" * n + "key = 1\n",
    "a long name": lambda n: f"{'a' * n} = 1\n",
    "dots": lambda n: ".".join("a" * n) + " = 1\n",
    "quoted dots": lambda n: ".".join(['"a"'] * n) + " = 1\n",
    "a header of dots": lambda n: f"[{'.'.join('a' * n)}]\nkey = 1\n",
    "lists in lists": lambda n: f"key = {'[' * n}{']' * n}\n",
    "lists that do not end": lambda n: f"key = {'[' * n}\n",
    "tables in tables": lambda n: f"key = {'{a = ' * n}1{'}' * n}\n",
    "digits": lambda n: f"key = {'7' * n}\n",
    "digits of a base": lambda n: f"key = 0x{'f' * n}\n",
    "an exponent": lambda n: f"key = 1e{n}00000\n",
    "quotes": lambda n: "key = " + '"' * n + "\n",
}
LOADERS = {"claims": load_published, "study": load_study, "profile": load_profile}
N = 8_000
"""At 40,000 they all hold too, in minutes."""


def seconds_to_refuse(load: Callable[[str], object], path: Path, text: str) -> float:
    path.write_text(text)
    start = time.process_time()
    with pytest.raises(InputError) as told:
        load(str(path))
    assert "\n" not in str(told.value)
    assert len(str(told.value)) < N // 2, "it quotes too much of the file"
    return time.process_time() - start


@pytest.mark.parametrize(
    ("value", "what"),
    [
        ("[1, 2,", "Unclosed array"),
        ('[1, "]", # ]\n 2,', "Unclosed array"),
        ("{a = [1, 2]", "Unclosed inline table"),
        ("[[1], [2]", "Unclosed array"),
        ('"""a line\nanother [', "Unterminated string"),
    ],
)
@pytest.mark.parametrize("loader", ["claims", "study"])
def test_what_does_not_end_is_told_with_the_line_it_begins_on(
    loader: str, value: str, what: str, tmp_path: Path
) -> None:
    path = tmp_path / "some.toml"
    path.write_text(f'title = "[x]"  # [ "\n\nkey = {value}')
    with pytest.raises(InputError, match=rf"some\.toml:3: is no TOML: {what}"):
        LOADERS[loader](str(path))


@pytest.mark.parametrize("loader", LOADERS)
@pytest.mark.parametrize("kind", KINDS)
def test_any_text_is_refused_in_linear_time(kind: str, loader: str, tmp_path: Path) -> None:
    load, path = LOADERS[loader], tmp_path / "some.toml"
    few_s = seconds_to_refuse(load, path, KINDS[kind](N // 4))
    many_s = seconds_to_refuse(load, path, KINDS[kind](N))
    # four times as much; quadratic would be sixteen
    assert many_s <= 8 * few_s + 0.5
