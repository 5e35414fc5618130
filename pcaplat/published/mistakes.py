"""What is wrong in a claims or study file, in a line: file, line, key, the nearest right name."""

import re
import tomllib
from collections.abc import Iterator
from typing import Any, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from pcaplat.errors import ClaimError, InputError
from pcaplat.published.checks import kind
from pcaplat.published.formula import nearest
from pcaplat.published.lines import Path, key_lines
from pcaplat.records import dataclass
from pcaplat.text import shortened

TYPES = {
    "string_type": "text",
    "bool_type": "true or false",
    "int_type": "a whole number",
    "list_type": "a list",
    "dict_type": "a table",
    "model_type": "a table",
    "model_attributes_type": "a table",
}
PATTERNS = {
    "id": "is made of small letters, digits and single hyphens",
    "name": "is made of small letters, digits and _, and begins with a letter",
}
MOST = 3
LINE = re.compile(r"\(at (?:line (\d+), column \d+|end of document)\)")


@dataclass(frozen=True)
class _Mistake:
    """One thing that is wrong; those with the least rank and line are told first."""

    rank: int
    line: int
    path: Path
    details: ErrorDetails


def explain_bytes(
    error: UnicodeDecodeError, where: str, raised: type[InputError] = ClaimError
) -> InputError:
    """Say on which line a file is no UTF-8."""
    line = error.object.count(b"\n", 0, error.start) + 1
    return raised(f"{where}:{line}: is no UTF-8 text, which TOML has to be")


def explain_syntax(
    error: tomllib.TOMLDecodeError, where: str, raised: type[InputError] = ClaimError
) -> InputError:
    """Say on which line a file is no TOML."""
    found = LINE.search(str(error))
    line = f":{found[1]}" if found and found[1] else ""
    return raised(f"{where}{line}: is no TOML: {LINE.sub('', str(error)).strip()}")


def explain(
    error: ValidationError,
    text: str,
    where: str,
    model: type[BaseModel],
    raised: type[InputError] = ClaimError,
) -> InputError:
    """Say what is wrong, the gravest first, and how many more mistakes there are."""
    lines, content = key_lines(text), tomllib.loads(text)
    found = sorted(
        (_mistake(details, lines) for details in error.errors()),
        key=lambda one: (one.rank, one.line),
    )
    told = [one for one in found if one.rank == found[0].rank][:MOST]
    more = len(found) - len(told)
    rest = f" (and {more} more)" if more else ""
    texts = []
    for one in told:
        place = shortened(_place(one.path, content))
        text = shortened(_text(one.details, one.path, model))
        texts.append(f"{where}:{one.line}: {f'{place}: ' if place else ''}{text}")
    return raised(f"{'; '.join(texts)}{rest}")


def _mistake(details: ErrorDetails, lines: dict[Path, int]) -> _Mistake:
    context = details.get("ctx", {})
    path = (*details["loc"], *context.get("keys", ()))
    # a misspelt key is unknown and the right one missing: the first says more
    rank = 0 if details["type"] == "extra_forbidden" else 1
    line = next((lines[p] for p in _upwards(path) if p in lines), 1)
    return _Mistake(rank, line, path, details)


def _upwards(path: Path) -> Iterator[Path]:
    return (path[:n] for n in range(len(path), 0, -1))


def _place(path: Path, content: Any) -> str:  # noqa: ANN401 - any TOML value
    """Write a path as claims[nsx-dfw-rtt].scope.near: items by their id or name, else by number."""
    words: list[str] = []
    for part in path:
        try:
            content = content[part]
        except (KeyError, IndexError, TypeError):
            content = None
        name = content.get("id") or content.get("name") if isinstance(content, dict) else None
        if isinstance(part, int):
            words[-1] += f"[{name if isinstance(name, str) else part}]"
        else:
            words.append(part)
    return ".".join(words)


def _text(details: ErrorDetails, path: Path, model: type[BaseModel]) -> str:
    given, context = details["input"], details.get("ctx", {})
    key = str(path[-1]) if path else ""
    match details["type"]:
        case "mistake":
            return details["msg"]
        case "extra_forbidden":
            return f"is unknown{nearest(key, list(_model_at(path[:-1], model).model_fields))}"
        case "literal_error":
            known = re.findall(r"'([^']*)'", context["expected"])
            return f"{given!r} is none of {', '.join(known)}{nearest(str(given), known)}"
        case kind_of_error if kind_of_error in TYPES:
            return f"is {kind(given)} and should be {TYPES[kind_of_error]}"
    return _text_of_bound(details["type"], key, given, context)


def _text_of_bound(kind_of_error: str, key: str, given: object, context: dict[str, Any]) -> str:
    n_items = f"{context.get('actual_length')} item(s)"
    texts = {
        "missing": "is missing",
        "string_pattern_mismatch": f"{given!r}: {PATTERNS.get(key, '')}",
        "string_too_short": "is empty",
        "greater_than": f"{given} should be more than {context.get('gt')}",
        "greater_than_equal": f"{given} should be at least {context.get('ge')}",
        "less_than_equal": f"{given} should be at most {context.get('le')}",
        "too_short": f"has {n_items}, and needs {context.get('min_length')}",
        "too_long": f"has {n_items}, and takes {context.get('max_length')}",
    }
    return texts[kind_of_error]


def _model_at(path: Path, model: type[BaseModel]) -> type[BaseModel]:
    for part in path:
        if isinstance(part, str) and part in model.model_fields:
            model = next(_models(model.model_fields[part].annotation), model)
    return model


def _models(annotation: Any) -> Iterator[type[BaseModel]]:  # noqa: ANN401 - a type
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for inner in get_args(annotation):
        yield from _models(inner)
