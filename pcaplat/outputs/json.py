"""JSON: summary.json, exactly, on standard output too."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from pcaplat.study import Result


def show(result: "Result", stream: TextIO) -> None:
    """Write summary.json."""
    # ASCII only, so that no name in it can steer a terminal; NaN is no JSON and would be a bug
    json.dump(result.document, stream, indent=2, ensure_ascii=True, allow_nan=False)
    stream.write("\n")


def save(result: "Result", directory: Path) -> None:
    """Write summary.json into a folder."""
    with (directory / "summary.json").open("w", encoding="ascii") as stream:
        show(result, stream)
