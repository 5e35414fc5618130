"""What was chosen of how to measure: whoever reads a verdict sees it beside it."""

import itertools
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from pcaplat.metrics.runs import Scenario
from pcaplat.run.options import MergeOptions, options_of
from pcaplat.run.provenance import typed

Choice = str | int | float

OPTIONS = {argument: one for argument, one in options_of(MergeOptions).items() if one.name}

OF_RESULTS = {one.name for one in OPTIONS.values() if one.chooses or one.key}
"""Of a result that was written, only what changes its figures is repeated."""


def choices_of(options: Mapping[str, Any], warm_up_ns: int | None = None) -> dict[str, Choice]:
    """List options of a merge that were given, by their names without dashes, as they are typed.

    Example:
        >>> choices_of({"filter": "udp", "path": ["a", "b"]}, 3)
        {'filter': 'udp', 'path': 'a,b', 'warm_up': '3ns'}
    """
    given = {argument: value for argument, value in options.items() if value}
    found = {_key(argument): _told(argument, value) for argument, value in given.items()}
    return found | ({} if warm_up_ns is None else {"warm_up": f"{warm_up_ns}ns"})


def choices_of_command(command: str) -> dict[str, Choice]:
    """Read them from the command that a result was made by.

    Example:
        >>> choices_of_command("pcaplat merge --filter 'udp port 7' --path a,b a.pcap b.pcap")
        {'filter': 'udp port 7', 'path': 'a,b'}
    """
    found: dict[str, Choice] = {}
    words = shlex.split(command)
    for name, value in itertools.pairwise(words):
        if name in OF_RESULTS:
            key = _bare(name)
            found[key] = f"{found[key]}, {value}" if key in found else value
    return found


def choices_of_runs(scenarios: Sequence[Scenario]) -> dict[str, Choice]:
    """Join those of all runs; where they differ, each value stands with its scenarios."""
    runs = [(one.name, run.choices or {}) for one in scenarios for run in one.runs]
    names = dict.fromkeys(name for _, chosen in runs for name in chosen)
    return {name: _joined([(of, chosen.get(name)) for of, chosen in runs]) for name in names}


def _joined(values: Sequence[tuple[str, Choice | None]]) -> Choice:
    of_value: dict[Choice | None, dict[str, None]] = {}
    for scenario, value in values:
        of_value.setdefault(value, {})[scenario] = None
    if len(of_value) == 1:
        (only,) = of_value
        return only or ""
    parts = (f"{value or 'not given'} ({', '.join(of)})" for value, of in of_value.items())
    return "; ".join(parts)


def _key(argument: str) -> str:
    option = OPTIONS.get(argument)
    return _bare(option.name or argument) if option else argument


def _bare(name: str) -> str:
    return name.strip("-").replace("-", "_")


def _told(argument: str, value: Any) -> Choice:  # noqa: ANN401 - of any option
    """Write an option's value; of Python's own ones, one of JSON's."""
    option = OPTIONS.get(argument)
    if option is None or option.name is None:
        return value if isinstance(value, str | int | float) else str(value)
    words = typed(option, argument, option.kind.take(option.name, value))
    return ", ".join(word for word in words if word != option.name) or True
