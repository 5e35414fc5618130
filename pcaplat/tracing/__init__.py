"""Trace: one packet at every point, from a result's folder; or the packets of its connection.

The folder's tables are large: of each only the row groups are read that may hold the packet, and
of the captures only up to its frames. docs/measure/trace.md says what the document holds.
"""

from collections.abc import Sequence
from os import PathLike
from pathlib import Path

from pcaplat.errors import InputError
from pcaplat.tables.columns import Row
from pcaplat.tracing.flow import flow_around
from pcaplat.tracing.journey import journeys_of, packets_of
from pcaplat.tracing.stored_result import FrameName, StoredResult

SCHEMA = "pcaplat.trace/1"
MOST_PACKETS = 40
"""Of a flow, and of those that were lost, so that a page holds them."""


def trace(
    folder: str | PathLike[str],
    frame: str | None = None,
    *,
    slowest: int = 0,
    lost: bool = False,
    flow: bool = False,
    most: int = MOST_PACKETS,
) -> Row:
    """Follow packets along the path: each point, each segment's latency, and changed headers.

    Args:
        folder: What `merge -o` wrote, or `pcaplat.write`.
        frame: FILE:FRAME, one of the packet's frames; FILE is a capture or its point.
        slowest: Number of the slowest packets of each segment.
        lost: The packets that were lost.
        flow: The packets of the first packet's connection too, those that are nearest to it.
        most: How many packets of a flow, or that were lost, are given at most.

    Returns:
        The document `pcaplat.trace/1`, as `pcaplat trace --format json` prints it.

    Raises:
        InputError: There is no such frame, or the folder is none of a result.

    Example:
        >>> import pcaplat, tempfile
        >>> folder = Path(tempfile.mkdtemp(), "out")
        >>> with pcaplat.merge(sorted(Path("samples/vxlan").glob("*.pcap"))) as result:
        ...     pcaplat.write(result, folder)
        >>> [packet] = trace(folder, "host1-vm:3")["packets"]
        >>> [seen["point"] for seen in packet["sightings"]]
        ['host1-vm', 'host1-up', 'sw-a', 'sw-b', 'host2-up', 'host2-vm']
    """
    result = StoredResult(Path(folder))
    frames, n_chosen = _chosen(result, frame, slowest, is_lost=lost, most=most)
    packets, problems = packets_of(result, journeys_of(result, frames))
    ladder = None
    if flow and frames:
        ladder, more = flow_around(result, frames[0], most)
        problems += more
    return {
        "schema": SCHEMA,
        "path": result.path,
        "n_chosen": n_chosen,
        "why_none": None if frames else _why_none(result, is_lost=lost),
        "packets": packets,
        "flow": ladder,
        "warnings": [
            {"code": "capture-not-read", "text": text} for text in dict.fromkeys(problems)
        ],
    }


def _chosen(
    result: StoredResult, frame: str | None, slowest: int, *, is_lost: bool, most: int
) -> tuple[Sequence[FrameName], int]:
    """Give the frames that packets are followed from, and of how many they are."""
    if [frame is not None, slowest > 0, is_lost].count(True) != 1:
        raise InputError("name one: FILE:FRAME, --slowest N or --lost")
    if frame is not None:
        return [result.frame_named(frame)], 1
    if slowest:
        found = _slowest(result, slowest)
        return found, len(found)
    if not result.knows_losses:
        raise InputError(
            f"{result.folder}: has no lost.parquet, so it is not known which packets were lost; "
            "make the folder again with merge -o"
        )
    found = result.lost_frames()
    return found[:most], len(found)


def _why_none(result: StoredResult, *, is_lost: bool) -> str:
    if not is_lost:
        return "No packet has a latency on any segment"
    if result.has_losses:
        return "Packets were lost, and it is not known which: no frame of theirs was captured"
    return "No packet was lost"


def _slowest(result: StoredResult, n: int) -> list[FrameName]:
    """Give the slowest packets of each segment, by one of their frames."""
    import polars as pl  # noqa: PLC0415 - slow to import, seldom needed

    from pcaplat.run.rows.slowest import rank_slowest  # noqa: PLC0415 - needs polars

    matches = pl.scan_parquet(result.folder / "matches.parquet")
    try:
        found = rank_slowest(matches, result.summary, n)
    except pl.exceptions.PolarsError as problem:
        raise InputError.unreadable_result(str(result.folder), str(problem)) from problem
    firsts = found.unique("trajectory_id", keep="first", maintain_order=True)
    names = zip(firsts["up_file"].to_list(), firsts["up_frame"].to_list(), strict=True)
    return [FrameName(*name) for name in names]
