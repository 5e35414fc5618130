"""Formulas: exact, and their rounding range holds whatever was rounded to what is printed."""

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pcaplat.published.formula import FormulaError, MissingError, Sheet, parse
from pcaplat.published.rounding import agrees, half_step, overlaps, round_to, rounding_range

ROWS = ["a", "b"]
COLUMNS = ["x", "y"]
SHEET = Sheet(
    {("a", "x"): Fraction(3), ("a", "y"): Fraction(1, 10), ("b", "x"): Fraction(5)}, ("a", "b")
)
DECIMALS = st.decimals("0.01", "999", places=2)
SHARES = st.fractions(-1, 1)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("x * 0.1 - y", Fraction(2, 10)),
        ("-x + 1e3", Fraction(997)),
        ("min(x, y, 2) / max(x, 4)", Fraction(1, 40)),
        ("mean(x)", Fraction(4)),
        ("mean(x, x > 3)", Fraction(5)),
        ('x / at("b", x)', Fraction(3, 5)),
    ],
)
def test_values(text: str, value: Fraction) -> None:
    assert parse(text, COLUMNS, ROWS).value(SHEET, "a") == value


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x +",
        "x ** 2",
        "z",
        "x.real",
        "__import__('os')",
        "'x'",
        "True",
        "x if y else 1",
        "[x]",
        "mean()",
        "0x10",
        "1e999999",
        "1j",
        "x\0",
        "-" * 501 + "x",
        "-" * 400 + "x.y",
    ],
)
def test_what_is_no_formula(text: str) -> None:
    with pytest.raises(FormulaError):
        parse(text, COLUMNS, ROWS)


def test_what_is_not_printed_is_missing() -> None:
    with pytest.raises(MissingError, match="y"):
        parse("mean(y)", COLUMNS, ROWS).value(SHEET, "a")


@given(DECIMALS, DECIMALS, SHARES, SHARES)
def test_the_rounding_range_holds_every_input_that_rounds_to_the_printed(
    x: Decimal, y: Decimal, x_share: Fraction, y_share: Fraction
) -> None:
    formula = parse("(x - y) / y * 100", COLUMNS, ["a"])
    cells = {("a", "x"): Fraction(x), ("a", "y"): Fraction(y)}
    steps = {("a", "x"): half_step(x), ("a", "y"): half_step(y)}
    lo, hi = rounding_range(formula, Sheet(cells, ("a",)), steps, "a")
    shares = {("a", "x"): x_share, ("a", "y"): y_share}
    before = {place: cells[place] + shares[place] * steps[place] for place in cells}
    assert lo <= formula.value(Sheet(before, ("a",)), "a") <= hi


@given(st.fractions(-1000, 1000), st.integers(0, 4))
def test_a_number_agrees_with_its_own_rounding_and_with_no_other(
    value: Fraction, n_decimals: int
) -> None:
    rounded = round_to(value, Decimal(1).scaleb(-n_decimals))
    step = Decimal(1).scaleb(-n_decimals)
    assert agrees(value, (rounded, rounded))
    assert overlaps(value, value, (rounded, rounded))
    for other in (rounded + step, rounded - step):
        is_tie = abs(value - Fraction(other)) == half_step(other)
        assert agrees(value, (other, other)) is is_tie
