"""Conditions on rows of the packets table that the core tells before there is a row.

A polars expression becomes one as far as it can: what is left out of it lets more rows through, and
polars asks the whole of it again. The classes' fields are those of the core's enum
(rust/src/export/packets/condition.rs).
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from io import StringIO
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any, TypeAlias

from pcaplat.records import dataclass

if TYPE_CHECKING:
    import polars as pl

NUMBERS = (
    "frame",
    "t_ns",
    "stamp_ns",
    "src_port",
    "dst_port",
    "protocol",
    "tunnel_id",
    "wire_bytes",
    "captured_bytes",
)
ADDRESSES = ("src", "dst")
LEAST, MOST = -(2**63), 2**63 - 1
COMPARISONS: dict[str, Callable[[int], list[tuple[int, int]]]] = {
    "Eq": lambda value: [(value, value)],
    "NotEq": lambda value: [(LEAST, value - 1), (value + 1, MOST)],
    "Lt": lambda value: [(LEAST, value - 1)],
    "LtEq": lambda value: [(LEAST, value)],
    "Gt": lambda value: [(value + 1, MOST)],
    "GtEq": lambda value: [(value, MOST)],
}
"""Of each comparison with a number, the spans that fulfil it."""
NANOSECONDS = ["Nanoseconds", None]
"""How polars writes down the kind of an instant in ns without a zone."""


@dataclass(frozen=True)
class All:
    """All of some conditions."""

    all: "Sequence[RowCondition]"


@dataclass(frozen=True)
class AnyOf:
    """At least one of some conditions."""

    any: "Sequence[RowCondition]"


@dataclass(frozen=True)
class Within:
    """A column of numbers is within bounds."""

    number: str
    least: int
    most: int


@dataclass(frozen=True)
class Among:
    """A column of numbers has one of some values."""

    number: str
    among: frozenset[int]


@dataclass(frozen=True)
class Address:
    """A column of addresses has one of some, or none of them."""

    address: str
    among: frozenset[str]
    is_among: bool


RowCondition: TypeAlias = All | AnyOf | Within | Among | Address
Node: TypeAlias = Mapping[str, Any]


def conjuncts(condition: "pl.Expr | None") -> "list[pl.Expr]":
    """Take an expression apart into those that must all hold.

    Example:
        >>> import polars as pl
        >>> [str(one) for one in conjuncts((pl.col("frame") > 3) & pl.col("file").is_null())]
        ['[(col("frame")) > (dyn int: 3)]', 'col("file").is_null()']
    """
    import polars as pl  # noqa: PLC0415 - slow, seldom needed

    if condition is None:
        return []
    node = _node_of(condition)
    parts = [*_parts(node, "And", "LogicalAnd")] if node else []
    if len(parts) < 2:  # noqa: PLR2004 - it is one
        return [condition]
    return [pl.Expr.deserialize(StringIO(json.dumps(part)), format="json") for part in parts]


def row_condition(asked: "Sequence[pl.Expr]") -> RowCondition | None:
    """Give what the core can tell of expressions that must all hold; None: nothing.

    Example:
        >>> import polars as pl
        >>> row_condition([pl.col("dst_port") < 1024, pl.col("layers").is_null()])
        Within(number='dst_port', least=-9223372036854775808, most=1023)
    """
    found = [_condition(node) for one in asked if (node := _node_of(one))]
    known = [one for one in found if one]
    return All(known) if len(known) > 1 else next(iter(known), None)


def _node_of(expression: "pl.Expr") -> Node | None:
    """Give an expression as polars writes it down; None where it cannot be, or is too deep."""
    try:
        node = json.loads(expression.meta.serialize(format="json"))
    except (RecursionError, ValueError, TypeError):
        return None
    except Exception as problem:
        # what polars cannot write down, such as a function of the user's
        if type(problem).__module__.startswith("polars"):
            return None
        raise
    return node if isinstance(node, dict) else None


def _parts(node: Node, *operators: str) -> Iterator[Node]:
    """Give what an operator joins, in order, whatever depth it stands at."""
    waiting = [node]
    while waiting:
        one = waiting.pop()
        match one:
            case {"BinaryExpr": {"left": left, "op": op, "right": right}} if op in operators:
                waiting += [right, left]
            case _:
                yield one


def _condition(node: Node) -> RowCondition | None:
    match node:
        case {"BinaryExpr": {"op": "And" | "LogicalAnd"}}:
            found = [_condition(part) for part in _parts(node, "And", "LogicalAnd")]
            known = [one for one in found if one]
            return All(known) if known else None
        case {"BinaryExpr": {"op": "Or" | "LogicalOr"}}:
            found = [_condition(part) for part in _parts(node, "Or", "LogicalOr")]
            known = [one for one in found if one]
            return AnyOf(known) if len(known) == len(found) else None
        case {"BinaryExpr": {"left": left, "op": str() as op, "right": right}}:
            return _comparison(left, op, right)
        case {"Function": {"input": [column, *rest], "function": {"Boolean": dict() as how}}}:
            return _function(_name(column), rest, how)
    return None


def _function(name: str | None, rest: Sequence[Node], how: Node) -> RowCondition | None:
    match how, rest:
        case {"IsBetween": {"closed": closed}}, [low, high] if name in NUMBERS:
            least, most = _integer(low), _integer(high)
            if least is None or most is None:
                return None
            above, below = closed not in {"Both", "Left"}, closed not in {"Both", "Right"}
            return _spans(name, [(least + above, most - below)])
        case {"IsIn": {"nulls_equal": False}}, [{"Literal": _} as values]:
            return _among(name, _values(values), is_among=True)
    return None


def _comparison(left: Node, op: str, right: Node) -> RowCondition | None:
    name = _name(left)
    if name in ADDRESSES and op in {"Eq", "NotEq"}:
        match right:
            case {"Literal": {"Scalar": {"String": str() as text}}}:
                return _among(name, [text], is_among=op == "Eq")
    value = _integer(right)
    if name not in NUMBERS or value is None or op not in COMPARISONS:
        return None
    return _spans(name, COMPARISONS[op](value))


def _spans(name: str, spans: Sequence[tuple[int, int]]) -> RowCondition:
    found = [
        Within(name, max(least, LEAST), min(most, MOST))
        for least, most in spans
        if least <= MOST and most >= LEAST
    ]
    return found[0] if len(found) == 1 else AnyOf(found)


def _among(name: str | None, values: Sequence[object], *, is_among: bool) -> RowCondition | None:
    known = [one for one in values if one is not None]
    numbers = frozenset(one for one in known if type(one) is int)
    texts = frozenset(one for one in known if isinstance(one, str) and _is_written_so(one))
    if name in NUMBERS and len(numbers) == len({*known}):
        return Among(name, numbers)
    if name in ADDRESSES and len(texts) == len({*known}):
        return Address(name, texts, is_among)
    return None


def _is_written_so(text: str) -> bool:
    """Whether the table would write an address in just this way."""
    try:
        address = ip_address(text)
    except ValueError:
        return False
    return str(address) == text and getattr(address, "ipv4_mapped", None) is None


def _name(node: Node) -> str | None:
    """Give the column that is meant, of instants in ns the integers behind them."""
    match node:
        case {"Column": str() as name}:
            return name
        case {"Cast": {"expr": {"Column": "t_ns" | "stamp_ns" as name}, "dtype": kind}} if kind == {
            "Literal": {"Datetime": NANOSECONDS}
        }:
            return str(name)
    return None


def _integer(node: Node) -> int | None:
    match node:
        case {"Literal": {"Scalar": {"Datetime": [int() as value, *kind]}}} if kind == NANOSECONDS:
            return value
        case {"Literal": {"Dyn": {"Int": int() as value}}}:
            return value if LEAST <= value <= MOST else None
        case {"Literal": {"Scalar": dict() as scalar}}:
            [(kind, value)] = scalar.items()
            is_whole = kind.startswith(("Int", "UInt")) and type(value) is int
            return value if is_whole and LEAST <= value <= MOST else None
    return None


def _values(node: Node) -> list[object]:
    import polars as pl  # noqa: PLC0415 - slow, seldom needed

    literal = pl.Expr.deserialize(StringIO(json.dumps(node)), format="json")
    found = pl.select(literal).item()
    return found.to_list() if isinstance(found, pl.Series) else [object()]
