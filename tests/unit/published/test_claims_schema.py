"""The JSON Schema of claims files: what ships passes, what is misspelt does not."""

import json
import re
import tomllib
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from pcaplat.published import published_names
from pcaplat.published.schema import claims_schema
from tests.conftest import ROOT

SCHEMA = json.loads(claims_schema())
TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
    "null": (type(None),),
    "integer": (int,),
    "number": (int, float),
}
MISTAKES = ROOT / "tests" / "data" / "claims" / "mistakes"
BEYOND = re.compile(
    "formula|given-twice|reversed|scope-|relative-|traversals-of|bound-is-inf|bound-is-vast|bound-is-missing|"
    "at-most-and|unit-of-another|document-missing|file-|cell-|has-no-name|lost-and|no-truth"
)
"""What no schema of this kind can say, and only `load_published` does."""


def is_valid(value: Any, schema: dict[str, Any]) -> bool:  # noqa: ANN401 - any JSON
    if "$ref" in schema:
        return is_valid(value, SCHEMA["$defs"][schema["$ref"].rpartition("/")[2]])
    if "anyOf" in schema:
        return any(is_valid(value, one) for one in schema["anyOf"])
    return all(
        KEYWORDS[key](wanted, value, schema)
        for key, wanted in schema.items()
        if key in KEYWORDS and isinstance(value, OF[key])
    )


def is_of_type(wanted: Any, value: Any, _: dict[str, Any]) -> bool:  # noqa: ANN401 - any JSON
    names = [wanted] if isinstance(wanted, str) else wanted
    kinds = tuple(kind for name in names for kind in TYPES[name])
    return isinstance(value, kinds) and (bool in kinds or not isinstance(value, bool))


def has_no_other(wanted: Any, value: Any, schema: dict[str, Any]) -> bool:  # noqa: ANN401 - any JSON
    more = set(value) - set(schema.get("properties", ()))
    return all(is_valid(value[name], wanted) for name in more) if wanted else not more


Check = Callable[[Any, Any, dict[str, Any]], bool]
KEYWORDS: dict[str, Check] = {
    "type": is_of_type,
    "enum": lambda wanted, value, _: value in wanted,
    "pattern": lambda wanted, value, _: re.search(wanted, value) is not None,
    "minLength": lambda wanted, value, _: bool(len(value) >= wanted),
    "minItems": lambda wanted, value, _: bool(len(value) >= wanted),
    "maxItems": lambda wanted, value, _: bool(len(value) <= wanted),
    "minimum": lambda wanted, value, _: bool(value >= wanted),
    "exclusiveMinimum": lambda wanted, value, _: bool(value > wanted),
    "items": lambda wanted, value, _: all(is_valid(item, wanted) for item in value),
    "required": lambda wanted, value, _: set(wanted) <= set(value),
    "properties": lambda wanted, value, _: all(
        is_valid(value[name], wanted[name]) for name in wanted if name in value
    ),
    "additionalProperties": has_no_other,
}
OF: dict[str, Any] = dict.fromkeys(KEYWORDS, object)
OF |= {"pattern": str, "minLength": str, "minItems": list, "maxItems": list, "items": list}
OF |= {"minimum": (int, float), "exclusiveMinimum": (int, float)}
OF |= dict.fromkeys(("required", "properties", "additionalProperties"), dict)
ABOUT = {"$schema", "$defs", "$ref", "anyOf", "title", "description", "default"}


def keywords(schema: Any) -> Iterator[str]:  # noqa: ANN401 - any JSON
    for key, inner in schema.items():
        yield key
        if key in ("properties", "$defs"):
            for one in inner.values():
                yield from keywords(one)
        elif isinstance(inner, dict) and key != "default":
            yield from keywords(inner)


def test_every_keyword_of_the_schema_is_understood_here() -> None:
    assert set(keywords(SCHEMA)) <= set(KEYWORDS) | ABOUT


@pytest.mark.parametrize("name", published_names())
def test_what_ships_passes(name: str) -> None:
    assert is_valid(tomllib.loads((ROOT / "claims" / f"{name}.toml").read_text("utf-8")), SCHEMA)


@pytest.mark.parametrize(
    "name",
    [path.stem for path in sorted(MISTAKES.glob("*.toml")) if not BEYOND.search(path.stem)],
)
def test_a_mistake_that_a_schema_can_see_does_not(name: str) -> None:
    assert not is_valid(tomllib.loads((MISTAKES / f"{name}.toml").read_text("utf-8")), SCHEMA)
