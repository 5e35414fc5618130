"""Kinds of values that options have: what Python may give is checked, what is typed is read."""

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from operator import index
from os import PathLike
from typing import Any

from pcaplat.breakdowns import parse_all
from pcaplat.errors import InputError, OptionError
from pcaplat.model.files.stamping import (
    CONVENTIONS,
    parse_clock_accuracy,
    parse_link_rate,
    parse_stamped_at,
)
from pcaplat.records import dataclass
from pcaplat.units import parse_duration_ns, parse_instant, parse_share

LARGEST = 2**63 - 1
MOST_PORT = 65535
MOST_SLICES = 1_024
"""Whoever reads a capture fills a buffer for each of them, of 256 kB."""


@dataclass(frozen=True)
class ValueKind:
    """One kind of value.

    `typed` is what the command line makes of what is typed, within `least` and `most`; `parse`
    makes of that what Python gives, and `check` refuses what Python should not give. Both are told
    the option's name, for their messages.
    """

    typed: Any
    check: Callable[[str, Any], object]
    parse: Callable[[str, Any], object]
    least: int | None = None
    most: int | None = None
    take: Callable[[str, Any], Any] = lambda _, given: given
    """Makes of what reads well in Python what the others are written for."""


def check_text(option: str, given: object) -> None:
    """Refuse what is no text, and neither left out."""
    check_texts(option, [] if given is None else [given])


def check_texts(option: str, given: object) -> None:
    """Refuse what is no list of texts."""
    for one in check_list(option, given):
        if not isinstance(one, str):
            raise OptionError(f"{option} {one!r}: is no text")


def check_list(option: str, given: object) -> Collection[Any]:
    """Give a list back, and refuse a text, which would be taken letter by letter."""
    if isinstance(given, str) or not isinstance(given, Collection):
        raise OptionError(f"{option} {given!r}: is no list; put it into [ ]")
    return given


def parse_names(option: str, text: str) -> list[str]:
    """Read "A,B,C".

    Example:
        >>> parse_names("--path", "vnic, uplink")
        ['vnic', 'uplink']
    """
    found = [name.strip() for name in text.split(",")]
    if not all(found):
        raise OptionError(f"{option} {text}: an empty name; write it like {option} vnic,uplink")
    return found


def parse_groups(option: str, texts: Sequence[str]) -> list[list[str]] | list[str]:
    """Read every "A,B", or "all"; names are looked up also where "all" stands beside them.

    Example:
        >>> parse_groups("--same-clock", ["a,b", "c,d"]), parse_groups("--same-clock", ["all"])
        ([['a', 'b'], ['c', 'd']], ['all'])
    """
    groups = [parse_names(option, text) for text in texts]
    groups = [["all"] if [name.lower() for name in group] == ["all"] else group for group in groups]
    if all(group == ["all"] for group in groups):
        return ["all"] if groups else []
    for group in groups:
        if len(set(group)) == 1 and group != ["all"]:
            raise InputError.clock_of_nobody(",".join(group))
    return groups


def take_groups(option: str, given: object) -> object:
    """Take "all", or "A,B" for one group, by themselves or in a list, besides lists of names.

    Example:
        >>> take_groups("--same-clock", "all"), take_groups("--same-clock", "a,b")
        (['all'], [['a', 'b']])
        >>> take_groups("--same-clock", ["a,b", ["c", "d"]])
        [['a', 'b'], ['c', 'd']]

    Raises:
        OptionError: A list has names where groups are to be.
    """
    if isinstance(given, str):
        return parse_groups(option, [given])
    if not isinstance(given, list | tuple):
        return given
    texts = [group for group in given if isinstance(group, str)]
    if "all" in texts:
        return ["all"]
    if alone := [text for text in texts if "," not in text]:
        names = ",".join(alone)
        raise OptionError(
            f"{option} {list(given)!r}: {alone[0]!r} is one point, and no group of points; "
            f'write ["{names}"] or [{alone!r}] for one group, or "all"'
        )
    return [parse_names(option, one) if isinstance(one, str) else one for one in given]


def take_instant(_: str, given: object) -> object:
    """Take a datetime; without a zone it is UTC, as text is.

    Example:
        >>> take_instant("--from", datetime(2026, 11, 20, 12, 0, 0, 250_000))
        '2026-11-20T12:00:00.250000'
    """
    return given.isoformat() if isinstance(given, datetime) else given


def take_captures(given: object) -> object:
    """Take one capture by itself."""
    return [given] if isinstance(given, str | PathLike) else given


def parse_window_ns(option: str, text: str) -> int:
    """Read a duration that is not 0."""
    window_ns = parse_duration_ns(text)
    if not window_ns:
        raise InputError.no_time(option)
    return window_ns


def _parse_wait(option: str, text: str) -> str:
    """Refuse what is no duration before any work is done."""
    parse_window_ns(option, text)
    return text


def _check_wait(option: str, given: object) -> None:
    """Refuse what is no text of a duration."""
    check_text(option, given)
    if given is not None:
        parse_window_ns(option, str(given))


def _parse_instant(_: str, text: str) -> str:
    """Refuse what cannot be read before any work is done; its date needs the first frame."""
    parse_instant(text)
    return text


def _as_it_is(_: str, given: object) -> object:
    return given


def _check_nothing(option: str, given: object) -> None:
    """Take anything that is true or false."""


def _check_by(option: str, given: Sequence[str]) -> None:
    check_texts(option, given)
    parse_all(given)


def _number_from(least: int, most: int = LARGEST) -> Callable[[str, object], None]:
    until = "on" if most == LARGEST else f"to {most:,}"

    def check(option: str, given: object) -> None:
        if given is not None and not _is_whole(given, least, most):
            raise OptionError(f"{option} {given!r}: is no whole number from {least} {until}")

    return check


def _of_points(
    parse: Callable[[str], object], values: Collection[str] | int, example: str
) -> ValueKind:
    """Values by point, of `values` or not less than it, and how Python writes one."""

    def check(option: str, given: object) -> None:
        for one in check_list(option, given):
            if not _is_pair(one, values):
                raise OptionError(f"{option} {one!r}: write it like {example}")

    def take(_: str, given: object) -> object:
        pairs: Any = [*given.items()] if isinstance(given, Mapping) else given
        is_list = isinstance(pairs, Collection) and not isinstance(pairs, str)
        is_read = is_list and pairs and isinstance(values, int)
        return [_read_pair(parse, one) for one in pairs] if is_read else pairs

    return ValueKind(list[str] | None, check, lambda _, texts: [*map(parse, texts)], take=take)


def _read_pair(parse: Callable[[str], object], one: object) -> object:
    """Read a value by point that is text, as one of the command line."""
    match one:
        case (str(point), str(text)):
            return parse(f"{point}={text}")
    return one


def _is_pair(one: object, values: Collection[str] | int) -> bool:
    match one:
        case (str(), value):
            return _is_whole(value, values) if isinstance(values, int) else value in values
    return False


def _is_whole(value: object, least: int, most: int = LARGEST) -> bool:
    try:
        return least <= index(value) <= most  # type: ignore[arg-type] # that is the question
    except TypeError:
        return False


TEXT = ValueKind(str | None, check_text, _as_it_is)
PLACE = ValueKind(
    str | None,
    check_text,
    _as_it_is,
    take=lambda _, given: os.fspath(given) if isinstance(given, PathLike) else given,
)
TEXTS = ValueKind(
    list[str] | None,
    lambda option, given: check_texts(option, given or ()),
    lambda _, texts: tuple(texts),
)
NAMES = ValueKind(str | None, TEXTS.check, parse_names)
GROUPS = ValueKind(list[str] | None, check_list, parse_groups, take=take_groups)
CLOCK_ACCURACIES = _of_points(parse_clock_accuracy, 0, '("uplink", 100)')
STAMPED_AT = _of_points(parse_stamped_at, CONVENTIONS, '("uplink", "last-bit")')
LINK_RATES = _of_points(parse_link_rate, 1, '("uplink", 10**10)')
INSTANT = ValueKind(str | None, check_text, _parse_instant, take=take_instant)
SHARE = ValueKind(str | None, _number_from(1), lambda _, text: parse_share(text))
DURATION = ValueKind(str | None, _number_from(1), parse_window_ns)
WAIT = ValueKind(str | None, _check_wait, _parse_wait)
PORTS = ValueKind(list[int] | None, check_list, lambda _, ports: tuple(ports), 1, MOST_PORT)
COUNT = ValueKind(int, _number_from(0), _as_it_is, 0)
check_slices = _number_from(1, MOST_SLICES)
BREAKDOWNS = ValueKind(list[str] | None, _check_by, _as_it_is)
FLAG = ValueKind(bool, _check_nothing, _as_it_is)
NO_FLAG = ValueKind(bool, _check_nothing, lambda _, is_off: not is_off)
"""What is true unless the command line says no."""
