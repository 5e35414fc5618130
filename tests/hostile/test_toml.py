"""TOML of strangers: a line that says what is wrong (bench/texts.py measures what it takes)."""

from __future__ import annotations

from importlib.util import module_from_spec, spec_from_file_location
from typing import TYPE_CHECKING

import pytest

from pcaplat.errors import InputError
from tests.conftest import ROOT

if TYPE_CHECKING:
    from pathlib import Path

SPEC = spec_from_file_location("texts", ROOT / "bench" / "texts.py")
assert SPEC
assert SPEC.loader
texts = module_from_spec(SPEC)
SPEC.loader.exec_module(texts)

N = 8_000


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
        texts.LOADERS[loader](str(path))


@pytest.mark.parametrize("loader", texts.LOADERS)
@pytest.mark.parametrize("kind", texts.KINDS)
def test_any_text_is_refused_in_a_line(kind: str, loader: str, tmp_path: Path) -> None:
    path = tmp_path / "some.toml"
    path.write_text(texts.KINDS[kind](N))
    with pytest.raises(InputError) as told:
        texts.LOADERS[loader](str(path))
    assert "\n" not in str(told.value)
    assert len(str(told.value)) < N // 2, "it quotes too much of the file"
