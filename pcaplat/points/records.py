"""A TOML table becomes a dataclass, or a message that says which key is wrong and how."""

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields
from difflib import get_close_matches
from types import NoneType, UnionType
from typing import Any, get_args, get_origin, get_type_hints

from pcaplat.errors import PointError
from pcaplat.points.schema import CHOICES, Clock, Encapsulation
from pcaplat.text import shortened

NESTED = {"clock": Clock, "encaps": Encapsulation}


def record(kind: type[Any], where: str, row: object) -> Any:  # noqa: ANN401 - one of the four
    """Make a dataclass of a TOML table; say which key is unknown, missing or wrong."""
    if not isinstance(row, Mapping):
        raise PointError(f"{where}: is no table")
    check_keys(kind, where, row)
    for item in fields(kind):
        is_needed = item.default is MISSING and item.default_factory is MISSING
        if is_needed and item.name not in row:
            raise PointError.wrong_key(where, item.name, "is missing")
    return kind(**values_of(kind, where, row))


def check_keys(kind: type[Any], where: str, row: Mapping[str, Any]) -> None:
    """Refuse a key that the dataclass has not."""
    known = [item.name for item in fields(kind)]
    for key in row:
        if key not in known:
            raise PointError.wrong_key(where, shortened(key), f"is unknown{near(key, known)}")


def values_of(kind: type[Any], where: str, row: Mapping[str, Any]) -> dict[str, Any]:
    """Check the types and words of a table's values, and make dataclasses of tables in it."""
    types = get_type_hints(kind)
    values = {key: _nested(f"{where}: {key}", key, value) for key, value in row.items()}
    for key, value in values.items():
        if not _fits(value, types[key]):
            reason = f"is {_described(value)} and should be {_type_name(types[key])}"
            raise PointError.wrong_key(where, key, reason)
        for word in (value if isinstance(value, list) else [value]) if key in CHOICES else ():
            if word not in CHOICES[key]:
                choices = ", ".join(CHOICES[key])
                hint = near(word, CHOICES[key])
                raise PointError(
                    f"{where}: {key}: {shortened(repr(word))} is none of {choices}{hint}"
                )
    return values


def _nested(where: str, key: str, value: object) -> object:
    if key not in NESTED or not isinstance(value, list | Mapping):
        return value
    if isinstance(value, list):
        return [record(NESTED[key], where, row) for row in value]
    return record(NESTED[key], where, value)


def near(word: object, known: Sequence[str]) -> str:
    """Name the known word that a wrong one is most like, as the end of a message."""
    found = get_close_matches(str(word), known, 1)
    return f"; did you mean {found[0]}?" if found else ""


def _fits(value: object, wanted: Any) -> bool:  # noqa: ANN401 - a type
    origin, inside = get_origin(wanted), get_args(wanted)
    if origin is UnionType:
        return any(_fits(value, one) for one in inside)
    if origin is list:
        return isinstance(value, list) and all(_fits(one, inside[0]) for one in value)
    if origin is tuple:
        return isinstance(value, tuple)
    if origin is Mapping:
        return isinstance(value, Mapping) and all(_fits(one, str) for one in value.values())
    if wanted is int:
        return isinstance(value, int) and not isinstance(value, bool) and value >= 0
    return isinstance(value, wanted) and value != ""


def _described(value: object) -> str:
    if isinstance(value, list):
        kinds = sorted({type(one).__name__ for one in value})
        return f"list of {' and '.join(kinds)}" if kinds else "an empty list"
    return "empty" if value == "" else type(value).__name__


def _type_name(wanted: Any) -> str:  # noqa: ANN401 - a type
    inside = [_type_name(one) for one in get_args(wanted) if one is not NoneType]
    if get_origin(wanted) is UnionType:
        return " or ".join(inside)
    name = getattr(wanted, "__name__", str(wanted))
    name = "int from 0 on" if wanted is int else name
    return f"{name} of {inside[-1]}" if inside else name
