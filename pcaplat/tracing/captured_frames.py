"""The bytes of a result's frames, from the captures that it was made of."""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from pcaplat.errors import PcaplatError
from pcaplat.records import dataclass
from pcaplat.stages.read import CapturedFrame, decode, frames_at
from pcaplat.tables.columns import Row
from pcaplat.tracing.headers import Header, fields_of
from pcaplat.tracing.pcap_records import records_at
from pcaplat.tracing.stored_result import FrameName, StoredResult


@dataclass(frozen=True)
class CapturedHeaders:
    """Headers by frame, and what could not be read."""

    by_frame: Mapping[FrameName, list[Header]]
    problems: Sequence[str]


def headers_of(result: StoredResult, rows: Sequence[Row]) -> CapturedHeaders:
    """Read the headers of some rows of packets.parquet from their captures, all files at once.

    A capture that is gone, or is another file by now, is a problem to be told, and no headers.
    """
    of_file: dict[str, dict[int, Row]] = {}
    for row in rows:
        of_file.setdefault(row["file"], {})[row["frame"]] = row
    found: dict[FrameName, list[Header]] = {}
    problems = []
    with ThreadPoolExecutor() as readers:
        read = readers.map(partial(_read, result), of_file, of_file.values())
        for file, headers in zip(of_file, read, strict=True):
            if headers is None:
                problems.append(
                    f"{file}: is not there, or is another file than the one that was merged, so "
                    "changes of its headers are not shown"
                )
            else:
                found |= {FrameName(file, frame): own for frame, own in headers.items()}
    return CapturedHeaders(found, problems)


def _read(
    result: StoredResult, file: str, rows: Mapping[int, Row]
) -> dict[int, list[Header]] | None:
    """Read the headers of some frames of a file; None where these are not its frames.

    Where each record lies can be told of most files; of others all before the last is read.
    """
    try:
        before = result.bytes_before(file, rows)
        records = records_at(file, rows, before) if before else {}
        if records:
            decoded = {number: decode(data, link) for number, (link, data) in records.items()}
            return {
                number: _headers(frame.layers, frame.starts, records[number][1])
                for number, frame in decoded.items()
            }
        frames = frames_at(file, [*rows])
    except (OSError, PcaplatError):
        return None
    if [frame.number for frame in frames] != sorted(rows):
        return None
    are_these = all(_is_of(frame, rows[frame.number]) for frame in frames)
    found = {frame.number: _headers(frame.layers, frame.starts, frame.data) for frame in frames}
    return found if are_these else None


def _is_of(frame: CapturedFrame, row: Row) -> bool:
    lengths = (len(frame.data), frame.wire_bytes)
    return lengths == (row["captured_bytes"], row["wire_bytes"])


def _headers(layers: str, starts: Sequence[int], data: bytes) -> list[Header]:
    names = layers.split("/") if layers else []
    places = zip(names, starts, strict=True)
    return [(layer, fields_of(data, layer, start)) for layer, start in places]
