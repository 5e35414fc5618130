"""What the models of a claims file share: numbers as printed, words from a list, mistakes."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PlainValidator, WithJsonSchema
from pydantic_core import PydanticCustomError

from pcaplat.metrics.dimensions import UNITS
from pcaplat.metrics.registry import METRICS
from pcaplat.published.formula import nearest

MAX_EXPONENT = 30


class StrictModel(BaseModel):
    """A table of a claims file: no key that is not known, no value of another type."""

    model_config = ConfigDict(extra="forbid", strict=True)


def mistake(text: str, *keys: str | int) -> PydanticCustomError:
    """Say what is wrong at a key below the table that is being checked."""
    # the text goes in as a value: it may hold braces
    return PydanticCustomError("mistake", "{text}", {"text": text, "keys": keys})


def _number(value: object) -> Decimal:
    """Keep a number exactly as it is printed: 4.00 has two digits after the point."""
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        raise mistake(f"is {kind(value)} and should be a number")
    number = Decimal(value)
    if not number.is_finite():
        raise mistake(f"{value} is no number that could be printed")
    if max(abs(number.adjusted()), abs(int(number.as_tuple().exponent))) > MAX_EXPONENT:
        raise mistake(f"a number beyond 1e±{MAX_EXPONENT} is no measurement")
    return number


def _cell(value: object) -> object:
    if isinstance(value, list):
        return [_number(item) for item in value]
    return value if isinstance(value, str | bool) else _number(value)


def _metric(value: str) -> str:
    return _one_of(value, list(METRICS), "metric")


def _unit(value: str) -> str:
    return _one_of(value, list(UNITS), "unit")


def _one_of(value: object, known: Sequence[str], what: str) -> str:
    if isinstance(value, str) and value in known:
        return value
    near = nearest(str(value), list(known))
    raise mistake(f"{value!r} is no {what}{near or '; there are: ' + ', '.join(known)}")


def kind(value: object) -> str:
    """Name the TOML type of a value.

    Example:
        >>> kind(True), kind(Decimal("1.5")), kind([1])
        ('a truth value', 'a number', 'a list')
    """
    names = {bool: "a truth value", str: "text", list: "a list", dict: "a table"}
    names |= {int: "a number", Decimal: "a number"}
    return names.get(type(value), "a date or time")


Number = Annotated[Decimal, BeforeValidator(_number), WithJsonSchema({"type": "number"})]
NotNegative = Annotated[
    Decimal,
    BeforeValidator(_number),
    Field(ge=0),
    WithJsonSchema({"type": "number", "minimum": 0}),
]
Cell = Annotated[
    str | bool | Decimal | list[Decimal],
    PlainValidator(_cell),
    WithJsonSchema({"type": ["string", "boolean", "number", "array"], "items": {"type": "number"}}),
]
MetricName = Annotated[
    str, BeforeValidator(_metric), WithJsonSchema({"type": "string", "enum": list(METRICS)})
]
Unit = Annotated[
    str, BeforeValidator(_unit), WithJsonSchema({"type": "string", "enum": list(UNITS)})
]
Text = Annotated[str, Field(min_length=1)]
Identifier = Annotated[str, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")]
Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]
