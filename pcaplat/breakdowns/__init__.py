"""Breakdowns of a run: latencies per flow, size, codepoint, tunnel, window, or first packets.

What may be asked for is here; how it is counted is told in docs/method/summarize.md.
"""

from collections.abc import Sequence

from pcaplat.errors import OptionError
from pcaplat.records import dataclass
from pcaplat.tables.columns import Row
from pcaplat.units import parse_duration_ns

Breakdowns = dict[str, list[Row]]
"""Rows of pcaplat.tables.breakdowns, by the tables' names."""

KINDS = ("flow", "size", "dscp", "tunnel", "first", "window")


@dataclass(frozen=True)
class Breakdown:
    """What to break down by; `window_ns` None: about twenty windows."""

    kind: str
    window_ns: int | None = None


def parse_by(text: str) -> Breakdown:
    """Read one value of `--by`.

    Raises:
        OptionError: There is no such breakdown, or its duration cannot be read.

    Example:
        >>> parse_by("flow"), parse_by("window=1s")
        (Breakdown(kind='flow', window_ns=None), Breakdown(kind='window', window_ns=1000000000))
    """
    kind, has_value, value = text.strip().partition("=")
    if kind not in KINDS:
        from difflib import get_close_matches  # noqa: PLC0415 - for a mistake alone

        near = get_close_matches(kind.lower(), KINDS, 1)
        hint = f"did you mean {near[0]}?" if near else f"there are: {', '.join(KINDS)}, window=1s"
        raise OptionError(f"--by {text}: there is no such breakdown; {hint}")
    if not has_value:
        return Breakdown(kind)
    if kind != "window":
        raise OptionError(f"--by {text}: {kind} takes no value; write --by {kind}")
    window_ns = parse_duration_ns(value)
    if not window_ns:
        raise OptionError(f"--by {text}: a window must be longer than 0, like --by window=1s")
    return Breakdown(kind, window_ns)


def parse_all(texts: Sequence[str]) -> list[Breakdown]:
    """Read every value of `--by`; the same one twice is one.

    Example:
        >>> [asked.kind for asked in parse_all(["size", "flow", "size"])]
        ['size', 'flow']
    """
    found = list(dict.fromkeys(map(parse_by, texts)))
    if sum(asked.kind == "window" for asked in found) > 1:
        raise OptionError("--by window: is given with two lengths; choose one, like window=1s")
    return found
