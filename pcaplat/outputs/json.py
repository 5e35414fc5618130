"""JSON: the document, exactly: a merge's is summary.json; packets as an object a line."""

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from pcaplat.outputs.report import Report
    from pcaplat.run.result import Result

NOT_ASCII = re.compile(r"[^\n\x20-\x7e]+")


def show(report: "Report", stream: TextIO) -> None:
    """Write the document as it is."""
    _write(report.document, stream)


def _write(document: Mapping[str, Any], stream: TextIO) -> None:
    # ASCII only, so that no name in it can steer a terminal; NaN is no JSON and would be a bug
    json.dump(document, stream, indent=2, ensure_ascii=True, allow_nan=False)
    stream.write("\n")


def files() -> list[str]:
    """Name what `save` writes."""
    return ["provenance.json", "summary.json"]


def prepare(result: "Result") -> None:
    """Read all captures again, for their digests."""
    _ = result.provenance


def save(result: "Result", directory: Path) -> None:
    """Write summary.json and provenance.json into a folder."""
    for name, document in zip(files(), (result.provenance, result.document), strict=True):
        with (directory / name).open("w", encoding="ascii") as stream:
            _write(document, stream)


def save_rows(batches: Iterable[Any], stream: IO[bytes]) -> None:
    """Write Arrow batches as one JSON object a line."""
    import polars as pl

    for batch in batches:
        # not straight into the stream: polars takes a pipe that was closed for an error of its own
        stream.write(NOT_ASCII.sub(_escaped, pl.DataFrame(batch).write_ndjson()).encode("ascii"))


def _escaped(found: re.Match[str]) -> str:
    """Write characters as JSON may: none of them reaches a terminal."""
    return json.dumps(found[0])[1:-1]
