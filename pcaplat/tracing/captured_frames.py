"""The bytes of a result's frames, from the captures that it was made of."""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

from pcaplat.errors import PcaplatError
from pcaplat.records import dataclass
from pcaplat.stages.read import CapturedFrame, frames_at
from pcaplat.tables.columns import Row
from pcaplat.tracing.headers import Header, fields_of
from pcaplat.tracing.stored_result import FrameName


@dataclass(frozen=True)
class CapturedHeaders:
    """Headers by frame, and what could not be read."""

    by_frame: Mapping[FrameName, list[Header]]
    problems: Sequence[str]


def headers_of(rows: Sequence[Row]) -> CapturedHeaders:
    """Read the headers of some rows of packets.parquet from their captures, all files at once.

    A capture that is gone, or is another file by now, is a problem to be told, and no headers.
    """
    of_file: dict[str, dict[int, Row]] = {}
    for row in rows:
        of_file.setdefault(row["file"], {})[row["frame"]] = row
    found: dict[FrameName, list[Header]] = {}
    problems = []
    with ThreadPoolExecutor() as readers:
        for file, headers in zip(
            of_file, readers.map(_read, of_file, of_file.values()), strict=True
        ):
            if headers is None:
                problems.append(
                    f"{file}: is not there, or is another file than the one that was merged, so "
                    "changes of its headers are not shown"
                )
            else:
                found |= {FrameName(file, frame): own for frame, own in headers.items()}
    return CapturedHeaders(found, problems)


def _read(file: str, rows: Mapping[int, Row]) -> dict[int, list[Header]] | None:
    """Read the headers of some frames of a file; None where these are not its frames."""
    try:
        frames = frames_at(file, [*rows])
    except (OSError, PcaplatError):
        return None
    if [frame.number for frame in frames] != sorted(rows):
        return None
    are_these = all(_is_of(frame, rows[frame.number]) for frame in frames)
    return {frame.number: _headers(frame) for frame in frames} if are_these else None


def _is_of(frame: CapturedFrame, row: Row) -> bool:
    lengths = (len(frame.data), frame.wire_bytes)
    return lengths == (row["captured_bytes"], row["wire_bytes"])


def _headers(frame: CapturedFrame) -> list[Header]:
    layers = frame.layers.split("/") if frame.layers else []
    places = zip(layers, frame.starts, strict=True)
    return [(layer, fields_of(frame.data, layer, start)) for layer, start in places]
