"""Whatever is done to a claims file: it loads, or one line says where it is wrong."""

import re

from hypothesis import given
from hypothesis import strategies as st

from pcaplat.errors import ClaimError
from pcaplat.published import parse_published
from tests.conftest import ROOT

WHOLE = (ROOT / "claims" / "vds-ipfix.toml").read_text("utf-8")
LINES = WHOLE.splitlines()
WORDS = sorted(set(re.findall(r'"[^"\n]*"|[\w.%-]+|[\[\]{}=,]', WHOLE)))
VALUES = ["true", "-1", "0", "1e40", "nan", "[]", "{}", "[[1]]", '""', '"\\u0000"', "2026-11-20"]
PLACES = st.integers(0, len(LINES) - 1)


def message(text: str) -> str:
    try:
        parse_published(text.encode(), "x")
    except ClaimError as error:
        return str(error)
    return ""


def told(text: str) -> None:
    said = message(text)
    line = re.match(r"x:(\d+): .", said)
    # tomllib does not say where the text ends too early
    assert not said or line or said.startswith("x: is no TOML")
    assert not line or 1 <= int(line[1]) <= text.count("\n") + 1


@given(PLACES, st.sampled_from(WORDS), st.sampled_from([*WORDS, *VALUES]))
def test_a_word_for_another(place: int, word: str, other: str) -> None:
    lines = [line.replace(word, other) if n >= place else line for n, line in enumerate(LINES)]
    told("\n".join(lines))


@given(PLACES, st.sampled_from(VALUES))
def test_another_value(place: int, value: str) -> None:
    key, _, _ = LINES[place].partition(" = ")
    told("\n".join([*LINES[:place], f"{key} = {value}", *LINES[place + 1 :]]))


@given(PLACES, st.integers(1, 5))
def test_lines_left_out(place: int, n: int) -> None:
    told("\n".join(LINES[:place] + LINES[place + n :]))


@given(st.integers(0, len(WHOLE)), st.integers(0, 40), st.text(max_size=3))
def test_text_put_in_the_place_of_other(at: int, n: int, text: str) -> None:
    told(WHOLE[:at] + text.encode("utf-8", "replace").decode() + WHOLE[at + n :])
