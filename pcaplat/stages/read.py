"""Read: a capture becomes one row per frame.

    capture → packets

What could not be decoded is a value in the row, never an exception. See docs/method/read.md.
"""

from collections.abc import Iterator, Sequence
from glob import glob, has_magic
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from pcaplat import _native
from pcaplat.errors import InputError
from pcaplat.model.files.libpcap import packaged_libpcap
from pcaplat.model.files.row_conditions import conjuncts, row_condition
from pcaplat.tables import DETAILS, PACKETS
from pcaplat.text import plain_name

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa


BATCH_ROWS = 65_536
"""Rows of an Arrow batch."""
CHEAPEST = "frame"
"""The column that takes least to make."""

CapturedFrame: TypeAlias = _native.CapturedFrame
"""A frame's bytes, its layers, and where each of them starts."""


def decode(frame: bytes, link: int) -> _native.DecodedFrame:
    """Decode one frame: its layers, and where each of them starts."""
    return _native.decode(frame, link)


def frames_at(path: str | PathLike[str], numbers: Sequence[int]) -> list[CapturedFrame]:
    """Read the frames of these numbers, as they were captured; the file is read up to the last.

    Raises:
        InputError: The file is no capture.
        OSError: It cannot be opened.
    """
    return _native.frames_at(path, numbers, _native.Settings())


def read(
    captures: str | PathLike[str] | Sequence[str | PathLike[str]],
    *,
    points: Sequence[str] | None = None,
    files: Sequence[str] | None = None,
    bpf: str | None = None,
    bpf_outer: str | None = None,
    vxlan_ports: Sequence[int] = (),
    decode: Sequence[str] = (),
    details: bool = False,
    batch_rows: int = BATCH_ROWS,
) -> _native.PacketStream:
    """Read the frames of one or more captures.

    Args:
        captures: Paths; compressed files are read as they are.
        points: Name of the capture point of each path; the path by default.
        files: What each path is called in the column `file`; the path by default.
        bpf: Only packets whose innermost packet passes, in libpcap's filter language.
        bpf_outer: Only frames that pass as they were captured.
        vxlan_ports: UDP ports that carry VXLAN, besides 4789 and 8472.
        decode: What is decoded as what, as in `udp.port=8472:vxlan`; goes before what is built in.
        details: Give the further columns of pcaplat.tables.DETAILS too.
        batch_rows: Rows of one Arrow batch.

    Returns:
        A one-shot Arrow stream (`__arrow_c_stream__`) of the packets table
        (pcaplat.tables.PACKETS): `polars.DataFrame(stream)`,
        `pyarrow.RecordBatchReader.from_stream(stream)`. Without a match there is no trajectory and
        no aligned time, and `status` is `unmatched` or `undecoded`. When it is read to its end, its
        `damage()` lists the damage of the files: (file, byte, what). If a file disappears
        meanwhile, reading raises Arrow's own error, and `check()` raises the cause.

    Raises:
        InputError: A filter or a `decode` cannot be understood, or a file is no capture.
        OSError: A file cannot be opened.

    Example:
        >>> import polars
        >>> packets = polars.DataFrame(read("samples/vxlan/host1-up.pcap"))
        >>> packets["layers"].mode().to_list()
        ['ethernet/ipv4/udp/vxlan/ethernet/ipv4/tcp']
    """
    given = [captures] if isinstance(captures, str | PathLike) else captures
    origins = _origins([fspath(one) for one in given], points, files)
    settings = _settings(bpf, bpf_outer, vxlan_ports, decode)
    return _native.PacketStream(origins, settings, batch_rows=batch_rows, details=details)


def _origins(
    paths: Sequence[str], points: Sequence[str] | None = None, files: Sequence[str] | None = None
) -> list[tuple[str, str, list[str], list[None], None]]:
    """Say of each path how its file and its point are called."""
    harmless = list(map(plain_name, paths))
    names = list(points) if points is not None else harmless
    called = list(files) if files is not None else harmless
    rows = zip(paths, called, names, strict=True)
    return [(path, file, [name], [None], None) for path, file, name in rows]


def scan(
    captures: str | PathLike[str] | Sequence[str | PathLike[str]],
    *,
    bpf: str | None = None,
    bpf_outer: str | None = None,
    vxlan_ports: Sequence[int] = (),
    decode: Sequence[str] = (),
    details: bool = False,
) -> "pl.LazyFrame":
    """Give the packets table of captures as a lazy frame, read when it is collected.

    Columns that nobody asks for are not made. Conditions on addresses, ports, protocol, tunnel,
    time, frame number and length are checked before there is a row, others batch by batch. Files
    that conditions on `file` and `point` rule out are not opened; `head` stops the reading.

    Args:
        captures: Paths, or one with `*`, `?` or `[...]` for all that match.
        bpf: As for `read`, and so the others.
        bpf_outer: Only frames that pass as they were captured.
        vxlan_ports: UDP ports that carry VXLAN, besides 4789 and 8472.
        decode: What is decoded as what, as in `udp.port=8472:vxlan`.
        details: Offer the columns of pcaplat.tables.DETAILS too; unused ones cost nothing.

    Raises:
        InputError: No file matches; when it is collected: a filter cannot be understood, or a file
            is no capture.
        OSError: When it is collected: a file cannot be opened.

    Example:
        >>> import polars as pl
        >>> scan("samples/vxlan/host1-*.pcap").filter(pl.col("protocol") == 17).select(
        ...     pl.len()
        ... ).collect().item()
        80
    """
    from polars.io.plugins import register_io_source  # noqa: PLC0415 - slow, seldom needed

    paths = _matching(captures)
    schema = PACKETS.schema() | (DETAILS.schema() if details else {})

    def source(
        columns: list[str] | None, condition: "pl.Expr | None", n_rows: int | None, size: int | None
    ) -> "Iterator[pl.DataFrame]":
        names = [*schema] if columns is None else columns
        used = {*names, *(condition.meta.root_names() if condition is not None else ())}
        # the first rows are those of all files: a condition comes after them
        asked = conjuncts(condition) if n_rows is None else []
        chosen = _not_ruled_out(paths, asked)
        if chosen:
            stream = _native.PacketStream(
                _origins(chosen),
                _settings(bpf, bpf_outer, vxlan_ports, decode),
                batch_rows=size or BATCH_ROWS,
                details=bool(used & {*DETAILS.names}),
                # rows without a column have no number
                columns=[name for name in schema if name in used] or [CHEAPEST],
                condition=row_condition(asked),
            )
            yield from _narrowed(batches_of(stream), names, condition, n_rows)

    return register_io_source(source, schema=schema, is_pure=True)


def _matching(captures: str | PathLike[str] | Sequence[str | PathLike[str]]) -> list[str]:
    """Give the files that are meant, in order."""
    given = [captures] if isinstance(captures, str | PathLike) else captures
    found: list[str] = []
    for name in [fspath(one) for one in given]:
        is_pattern = has_magic(name) and not Path(name).exists()
        files = sorted(glob(name)) if is_pattern else [name]  # noqa: PTH207 - may be absolute
        if not files:
            raise InputError(f"{name}: no file matches; check the pattern")
        found += files
    return found


def _not_ruled_out(paths: Sequence[str], asked: "Sequence[pl.Expr]") -> list[str]:
    """Leave out files whose every row a condition refuses by the names of file and point."""
    import polars as pl  # noqa: PLC0415 - slow, seldom needed

    names = [*map(plain_name, paths)]
    rows = pl.DataFrame({"path": paths, "file": names, "point": names})
    by_name = [one for one in asked if {*one.meta.root_names()} <= {"file", "point"}]
    return rows.filter(*by_name)["path"].to_list() if by_name else [*paths]


def _narrowed(
    batches: "Iterator[pa.RecordBatch]",
    names: Sequence[str],
    condition: "pl.Expr | None",
    n_rows: int | None,
) -> "Iterator[pl.DataFrame]":
    """Keep what is asked for of each batch."""
    import polars as pl  # noqa: PLC0415 - slow, seldom needed

    n_left = n_rows
    for batch in batches:
        frame = pl.DataFrame(batch)
        frame = frame if n_left is None else frame.head(n_left)
        n_left = None if n_left is None else n_left - frame.height
        kept = frame if condition is None else frame.filter(condition)
        yield kept.select(names)
        if n_left == 0:
            return


def batches_of(stream: _native.PacketStream) -> "Iterator[pa.RecordBatch]":
    """Give the batches of a stream.

    Raises:
        InputError: A file has become something else since it was opened.
        OSError: A file is no longer there.

    Example:
        >>> [batch.num_rows for batch in batches_of(read("samples/vxlan/host1-up.pcap"))]
        [328]
    """
    import pyarrow as pa  # noqa: PLC0415 - slow to import

    try:
        yield from pa.RecordBatchReader.from_stream(stream)
    except pa.ArrowException:
        stream.check()
        raise


def follow(
    capture: str | PathLike[str],
    *,
    point: str | None = None,
    file: str | None = None,
    bpf: str | None = None,
    bpf_outer: str | None = None,
    vxlan_ports: Sequence[int] = (),
    decode: Sequence[str] = (),
    details: bool = False,
) -> _native.Follow:
    """Read the frames of a capture that is still being written.

    A thread reads and waits for more where the file ends. When another file takes its place, as
    after a rotation, or the file begins anew, reading goes on with that; frame numbers then start
    at 1 again. A pipe is read to its end.

    Args:
        capture: A path, of a pipe too; "-" for standard input.
        point: Name of the capture point; the path by default.
        file: What the capture is called in the column `file`; the path by default.
        bpf: As for `read`, and so the others.
        bpf_outer: Only frames that pass as they were captured.
        vxlan_ports: UDP ports that carry VXLAN, besides 4789 and 8472.
        decode: What is decoded as what, as in `udp.port=8472:vxlan`.
        details: Give the further columns of pcaplat.tables.DETAILS too.

    Returns:
        `rows()` waits for rows and gives those that came since the last call, as `read` does, or
        None when there will be no more; `damage()` lists what was found to be wrong since: (byte,
        what). Ctrl-C interrupts the waiting.

    Raises:
        InputError: A filter or a `decode` cannot be understood; from `rows`: it is no capture.
        OSError: From `rows`: it cannot be opened.

    Example:
        >>> import polars
        >>> following = follow("samples/vxlan/host1-up.pcap")
        >>> packets = polars.DataFrame(following.rows())
        >>> packets["frame"][0]
        1
    """
    path = fspath(capture)
    settings = _settings(bpf, bpf_outer, vxlan_ports, decode)
    name = plain_name(path)
    return _native.Follow(path, file or name, point or name, settings, details=details)


def _settings(
    bpf: str | None, bpf_outer: str | None, vxlan_ports: Sequence[int], decode: Sequence[str]
) -> _native.Settings:
    tunnels = [f"udp.port={port}:vxlan" for port in vxlan_ports]
    libpcap = packaged_libpcap() if bpf or bpf_outer else None
    every = [*tunnels, *decode]
    return _native.Settings(filter=bpf, filter_outer=bpf_outer, decode=every, libpcap=libpcap)
