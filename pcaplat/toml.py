"""TOML texts of strangers: read as tomllib reads them, but what costs more than its length.

Names of many parts, values within values and numbers of many digits are no part of any file of
ours; tomllib needs the square of their length for them, or a stack as deep.
"""

import re
import tomllib
from collections.abc import Callable
from decimal import Decimal
from typing import Any

MOST_DEPTH = 64
"""Tables and lists within each other, and parts of a name."""

MOST_EXPONENT = 400
"""No float has more digits before or behind its point."""

STRING = re.compile(
    r'"""(?:[^\\]|\\.)*?"{3,5}'
    r"|'''.*?'{3,5}"
    r'|"(?:[^"\\\n]|\\.)*"'
    r"|'[^'\n]*'",
    re.DOTALL,
)
"""A text between quotes, of one line or of several."""

PARTS = re.compile(rf"{STRING.pattern}|#[^\n]*|[\[\]{{}}\"']", re.DOTALL)
"""Where brackets mean nothing, brackets, and the quotes of a text that does not end."""

UNENDED = {"[": "Unclosed array", "{": "Unclosed inline table"}

AT_END = " (at end of document)"
"""How tomllib ends what it says of a value that does not end."""

COSTLY = {
    "a name of too many parts": re.compile(
        rf'(?<![\w"-])(?:[\w"-]++[ \t]*+\.[ \t]*+){{{MOST_DEPTH}}}'
    ),
    "too many digits": re.compile(r"(?<![\w.+-])[+-]?[\d_]{100}"),
}
"""What tomllib reads in the square of its length."""


def read_toml(
    text: str, *, parse_float: Callable[[str], float | Decimal] = float
) -> dict[str, Any]:
    """Read a TOML text.

    Args:
        text: The text, its lines ended by line feeds.
        parse_float: What makes a number of the digits of a float.

    Raises:
        TOMLDecodeError: It is none, or holds what no file of ours does.

    Example:
        >>> read_toml("a.b = [1, 2.5]")
        {'a': {'b': [1, 2.5]}}
    """
    plain = STRING.sub('""', text)
    for what, pattern in COSTLY.items():
        if found := pattern.search(plain):
            raise _refused(what, plain, found.start())
    try:
        content = tomllib.loads(text, parse_float=parse_float)
    except RecursionError:
        raise tomllib.TOMLDecodeError("values within values, too deep") from None
    except tomllib.TOMLDecodeError as problem:
        raise _begun(problem, text) from None
    _check(content)
    return content


def _begun(problem: tomllib.TOMLDecodeError, text: str) -> tomllib.TOMLDecodeError:
    """Of what does not end before the text does, say on which line it begins."""
    if not str(problem).endswith(AT_END):
        return problem
    open_at: list[int] = []
    for found in PARTS.finditer(text):
        match found[0]:
            case "[" | "{":
                open_at.append(found.start())
            case "]" | "}":
                del open_at[-1:]
            case '"' | "'":
                open_at.append(found.start())
                break
    if not open_at:
        return problem
    at = open_at[-1]
    what = UNENDED.get(text[at], "Unterminated string")
    line, column = text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)
    return tomllib.TOMLDecodeError(f"{what} (at line {line}, column {column})")


def _refused(what: str, plain: str, at: int) -> tomllib.TOMLDecodeError:
    """Say it as tomllib does; lines within texts are not counted there."""
    return tomllib.TOMLDecodeError(f"{what}: {plain[at : at + 20]}…")


def _check(content: dict[str, Any]) -> None:
    """Look at all values, level by level: as deep as they are, no deeper than the stack."""
    level: list[Any] = [content]
    for _ in range(MOST_DEPTH):
        inner: list[Any] = []
        for one in level:
            for value in one.values() if isinstance(one, dict) else one:
                if isinstance(value, dict | list):
                    inner.append(value)
                elif isinstance(value, int) and not -(1 << 63) <= value < 1 << 63:
                    raise tomllib.TOMLDecodeError("a whole number of more than 64 bits")
                elif isinstance(value, Decimal) and abs(value.adjusted()) > MOST_EXPONENT:
                    raise tomllib.TOMLDecodeError(f"a number with the exponent {value.adjusted()}")
        level = inner
    if level:
        raise tomllib.TOMLDecodeError("values within values, too deep")
