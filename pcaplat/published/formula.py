"""Formulas over a table's own numbers, in exact fractions: nothing is rounded before the end.

A formula names columns of its row: `(vxlan_mhz - base_mhz) / base_mhz * 100`. It may use
`min`, `max`, `mean(x)` over the rows that are no totals, `mean(x, condition)` over those of them
where the condition holds, and `at("row", x)` for x in another row.
"""

import ast
import operator
import re
from collections.abc import Callable, Iterator, Mapping
from difflib import get_close_matches
from fractions import Fraction
from typing import Any

from pcaplat.records import dataclass

Cells = Mapping[tuple[str, str], Fraction]
"""(row, column) → the number as printed."""

OPERATORS: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Lt: operator.lt,
    ast.Gt: operator.gt,
}
NUMBER = re.compile(r"\d{1,30}(\.\d{1,30})?(e[+-]?\d\d?)?", re.ASCII)
MAX_LENGTH = 500
FUNCTIONS = {"min": (2, 9), "max": (2, 9), "mean": (1, 2), "at": (2, 2)}
"""How many arguments each takes, at least and at most."""


class FormulaError(ValueError):
    """A formula cannot be read."""


class MissingError(LookupError):
    """A number that a formula needs is not printed."""


@dataclass(frozen=True)
class Sheet:
    """The numbers of a table, and which rows its means run over."""

    cells: Cells
    body: tuple[str, ...]
    printed: Cells | None = None

    def varied(self, cells: Cells) -> "Sheet":
        """Give the same table with other numbers; conditions still hold where they held."""
        return Sheet(cells, self.body, self.printed or self.cells)

    @property
    def as_printed(self) -> "Sheet":
        """The table before its numbers were varied."""
        return Sheet(self.printed or self.cells, self.body)


@dataclass(frozen=True)
class Formula:
    """A formula that has been checked."""

    text: str
    tree: ast.expr

    def value(self, sheet: Sheet, row: str) -> Fraction:
        """Evaluate for one row.

        Raises:
            MissingError: A number it needs is not in the sheet.
            ZeroDivisionError: It divides by zero there.
        """
        return Fraction(_value(self.tree, self.text, sheet, row))


def parse(text: str, columns: list[str], rows: list[str]) -> Formula:
    """Read a formula over these columns and rows.

    Raises:
        FormulaError: It is no formula, or names what is not there.

    Example:
        >>> sheet = Sheet({("a", "x"): Fraction(3), ("b", "x"): Fraction(4)}, ("a", "b"))
        >>> parse("x / mean(x)", ["x"], ["a", "b"]).value(sheet, "a")
        Fraction(6, 7)
    """
    if len(text) > MAX_LENGTH:
        raise FormulaError(f"a formula of {len(text)} characters; at most {MAX_LENGTH}, please")
    try:
        tree = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError) as error:
        raise FormulaError(f"{text!r} is no formula: {error.args[0]}") from None
    for mistake in (*_wrong_numbers(tree, text), *_mistakes(tree, columns, rows)):
        raise FormulaError(f"{text!r}: {mistake}")
    return Formula(text, tree)


def nearest(name: str, known: list[str]) -> str:
    """Say which known name may have been meant."""
    near = get_close_matches(name, known, 1)
    return f"; did you mean {near[0]}?" if near else ""


def _wrong_numbers(tree: ast.expr, text: str) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and not isinstance(node.value, str):
            written = ast.get_source_segment(text, node) or ""
            if not NUMBER.fullmatch(written):
                yield f"{written} is no number here; write it like 1000, 0.5 or 1e9"


def _mistakes(node: ast.expr, columns: list[str], rows: list[str]) -> Iterator[str]:
    match node:
        case ast.Constant(value=int() | float()) if not isinstance(node.value, bool):
            return
        case ast.Name(id=name):
            if name not in columns:
                yield f"there is no column {name}{nearest(name, columns)}"
        case ast.UnaryOp(op=ast.USub(), operand=inner):
            yield from _mistakes(inner, columns, rows)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in OPERATORS:
            yield from _mistakes(left, columns, rows)
            yield from _mistakes(right, columns, rows)
        case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in OPERATORS:
            yield from _mistakes(left, columns, rows)
            yield from _mistakes(right, columns, rows)
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]):
            yield from _mistakes_of_call(name, args, columns, rows)
        case _:
            yield f"{ast.unparse(node)} is not allowed; use + - * / and {', '.join(FUNCTIONS)}"


def _mistakes_of_call(
    name: str, args: list[ast.expr], columns: list[str], rows: list[str]
) -> Iterator[str]:
    if name not in FUNCTIONS:
        yield f"there is no function {name}{nearest(name, list(FUNCTIONS))}"
        return
    least, most = FUNCTIONS[name]
    if not least <= len(args) <= most:
        yield f"{name} takes {least} to {most} arguments, not {len(args)}"
    for index, arg in enumerate(args):
        if name == "at" and index == 0:
            row = getattr(arg, "value", ast.unparse(arg))
            if row not in rows:
                yield f"there is no row {row}{nearest(str(row), rows)}"
        else:
            yield from _mistakes(arg, columns, rows)


def _value(node: ast.expr, text: str, sheet: Sheet, row: str) -> Fraction:
    match node:
        case ast.Constant():
            # through its digits: a float would round 0.1
            return Fraction(ast.get_source_segment(text, node) or "0")
        case ast.Name(id=name):
            if (row, name) not in sheet.cells:
                raise MissingError(name)
            return sheet.cells[row, name]
        case ast.UnaryOp(operand=inner):
            return -_value(inner, text, sheet, row)
        case (
            ast.BinOp(left=left, op=op, right=right)
            | ast.Compare(left=left, ops=[op], comparators=[right])
        ):
            left_value, right_value = (_value(side, text, sheet, row) for side in (left, right))
            return Fraction(OPERATORS[type(op)](left_value, right_value))
        case ast.Call(func=ast.Name(id=name), args=args):
            return _call(name, args, text, sheet, row)
    raise FormulaError(f"{text!r}: {ast.unparse(node)}")


def _call(name: str, args: list[ast.expr], text: str, sheet: Sheet, row: str) -> Fraction:
    match name, args:
        case "at", [ast.Constant(value=str(other)), inner]:
            return _value(inner, text, sheet, other)
        case "mean", [inner, *conditions]:
            printed = sheet.as_printed
            kept = [r for r in sheet.body if all(_value(c, text, printed, r) for c in conditions)]
            return sum((_value(inner, text, sheet, r) for r in kept), Fraction(0)) / len(kept)
    values = [_value(arg, text, sheet, row) for arg in args]
    return min(values) if name == "min" else max(values)
