"""Options as Python gives them, checked before a file is opened; the command line reads texts."""

from collections.abc import Collection, Mapping
from operator import index
from typing import Any

from pcaplat.errors import OptionError
from pcaplat.model.stamping import CONVENTIONS

TEXTS = {
    "reference": "--reference",
    "bpf": "--filter",
    "bpf_outer": "--filter-outer",
    "start": "--from",
    "end": "--to",
}
LISTS = {"same_clock": "--same-clock", "vxlan_ports": "--vxlan-port"}
LISTS_OF_TEXT = {"path": "--path", "decode": "--decode"}
LEAST = {"sample": ("--sample", 1), "window_ns": ("--window", 1), "slowest": ("--slowest", 0)}
PAIRS: Mapping[str, tuple[str, Collection[str] | int, str]] = {
    "clock_accuracy": ("--clock-accuracy", 0, '("uplink", 100)'),
    "stamped_at": ("--stamped-at", CONVENTIONS, '("uplink", "last-bit")'),
    "link_rate": ("--link-rate", 1, '("uplink", 10**10)'),
}
"""Of points: the values there are, or the least; and how one is written."""

LARGEST = 2**63 - 1


def check_options(given: Mapping[str, Any]) -> None:
    """Refuse what is of another kind than it should be.

    Args:
        given: Options of `pcaplat.merge`, by name.

    Raises:
        OptionError: One of them can mean nothing.

    Example:
        >>> check_options({"sample": 10, "path": ["vnic", "uplink"], "start": None})
    """
    for name, option in LISTS.items():
        check_list(option, given.get(name, ()))
    for name, option in LISTS_OF_TEXT.items():
        check_texts(option, given.get(name) or ())
    for name, option in TEXTS.items():
        check_texts(option, [given[name]] if given.get(name) is not None else [])
    _check_numbers(given)
    _check_pairs(given)


def _check_numbers(given: Mapping[str, Any]) -> None:
    for name, (option, least) in LEAST.items():
        value = given.get(name)
        if value is not None and not _is_whole(value, least):
            raise OptionError(f"{option} {value!r}: is no whole number from {least} on")


def _check_pairs(given: Mapping[str, Any]) -> None:
    for name, (option, values, example) in PAIRS.items():
        for one in check_list(option, given.get(name, ())):
            if not _is_pair(one, values):
                raise OptionError(f"{option} {one!r}: write it like {example}")


def check_texts(what: str, given: object) -> None:
    """Refuse what is no list of texts.

    Raises:
        OptionError: It is none.
    """
    for one in check_list(what, given):
        if not isinstance(one, str):
            raise OptionError(f"{what} {one!r}: is no text")


def check_list(what: str, given: object) -> Collection[Any]:
    """Give a list back, and refuse a text, which would be taken letter by letter.

    Raises:
        OptionError: It is no list.
    """
    if isinstance(given, str) or not isinstance(given, Collection):
        raise OptionError(f"{what} {given!r}: is no list; put it into [ ]")
    return given


def _is_pair(one: object, values: Collection[str] | int) -> bool:
    match one:
        case (str(), value):
            return _is_whole(value, values) if isinstance(values, int) else value in values
    return False


def _is_whole(value: object, least: int) -> bool:
    try:
        return least <= index(value) <= LARGEST  # type: ignore[arg-type] # that is the question
    except TypeError:
        return False
