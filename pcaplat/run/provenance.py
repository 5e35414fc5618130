"""How a result was made: version, command, and the files that were read, with their digests."""

import hashlib
import os
import platform
import shlex
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from pathlib import Path
from typing import Any

from pcaplat.model.files.captures import Capture
from pcaplat.model.files.object_stores import shown
from pcaplat.run.options import MergeOptions, Option, options_of
from pcaplat.tables.columns import Row
from pcaplat.text import plain_name

SCHEMA = "pcaplat.provenance/1"


def provenance_of(options: MergeOptions, captures: Sequence[Capture]) -> Row:
    """Say how a result was made.

    Args:
        options: What `merge` was given; the command that would give the same is made of it.
        captures: The files that were read.

    Returns:
        The document `pcaplat.provenance/1`; files that cannot be read again, such as standard
        input, have no digest.
    """
    with ThreadPoolExecutor() as readers:
        files = [*readers.map(_file_row, captures)]
    return {
        "schema": SCHEMA,
        "version": version("pcaplat"),
        "python": platform.python_version(),
        "platform": f"{platform.system()} {platform.machine()}",
        "command": command_of(options),
        "captures": files,
    }


def command_of(options: MergeOptions) -> str:
    """Give the command that does the same; what is no text in it is escaped."""
    words = ["pcaplat", "merge", *_typed_options(options), *_paths(options)]
    return plain_name(shlex.join(words))


def _file_row(capture: Capture) -> Row:
    row: Row = {"file": capture.name, "size_bytes": None, "sha256": None}
    path = Path(capture.path)
    if not path.is_file():
        return row
    try:
        with path.open("rb") as stream:
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
            return row | {"size_bytes": os.fstat(stream.fileno()).st_size, "sha256": digest}
    except OSError:
        # gone since it was read: the result stands
        return row


def _paths(options: MergeOptions) -> list[str]:
    captures = options.captures
    if isinstance(captures, str | os.PathLike):
        captures = [captures]
    return [shown(os.fspath(one)) for one in captures]


def _typed_options(options: MergeOptions) -> Iterator[str]:
    """Give the options that differ from their defaults, as they are typed."""
    defaults = MergeOptions([])
    for argument, option in options_of(MergeOptions).items():
        given = getattr(options, argument)
        if option.name and given != getattr(defaults, argument):
            yield from typed(option, argument, given)


def typed(option: Option, argument: str, given: Any) -> list[str]:  # noqa: ANN401 - of any option
    """Give an option as it is typed: its name before each of its values; the name of a flag."""
    name = f"{option.name}"
    if isinstance(given, bool):
        return [name]
    if argument == "sample":
        return [name, f"1/{given}"]
    if argument.endswith("_ns"):
        return [name, f"{given}ns"]
    if argument == "path":
        return [name, ",".join(given)]
    if isinstance(given, str | int):
        return [name, f"{given}"]
    return [text for one in given for text in (name, _value(argument, one))]


def _value(argument: str, one: Any) -> str:  # noqa: ANN401 - of any option
    """Write one of several values."""
    if isinstance(one, str | int):
        return f"{one}"
    if argument == "same_clock":
        return ",".join(one)
    point, value = one
    unit = {"clock_accuracy": "ns", "link_rate": "bit/s"}.get(argument, "")
    return f"{point}={value}{unit}"
