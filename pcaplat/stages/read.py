"""Read: a capture becomes one row per frame.

    capture → packets

What could not be decoded is a value in the row, never an exception. See docs/stages/read.md.
"""

from collections.abc import Sequence
from os import PathLike, fspath

from pcaplat import _native


def read(
    captures: str | PathLike[str] | Sequence[str | PathLike[str]],
    *,
    points: Sequence[str] | None = None,
    files: Sequence[str] | None = None,
    bpf: str | None = None,
    bpf_outer: str | None = None,
    vxlan_ports: Sequence[int] = (),
    batch_rows: int = 65_536,
) -> _native.PacketStream:
    """Read the frames of one or more captures.

    Args:
        captures: Paths; compressed files are read as they are.
        points: Name of the capture point of each path; the path by default.
        files: What each path is called in the column `file`; the path by default.
        bpf: Only packets whose innermost packet passes, in libpcap's filter language.
        bpf_outer: Only frames that pass as they were captured.
        vxlan_ports: UDP ports that carry VXLAN, besides 4789 and 8472.
        batch_rows: Rows of one Arrow batch.

    Returns:
        A one-shot Arrow stream (`__arrow_c_stream__`) of the packets table
        (pcaplat.tables.PACKETS): `polars.DataFrame(stream)`,
        `pyarrow.RecordBatchReader.from_stream(stream)`. Without a match there is no trajectory and
        no aligned time, and `status` is `unmatched` or `undecoded`. When it is read to its end, its
        `damage()` lists what was wrong with the files: (file, byte, what).

    Raises:
        InputError: A filter cannot be understood, or a file is no capture.
        OSError: A file cannot be opened.

    Example:
        >>> import polars
        >>> packets = polars.DataFrame(read("samples/vxlan/host1-up.pcap"))
        >>> packets["layers"].mode().to_list()
        ['ethernet/ipv4/udp/vxlan/ethernet/ipv4/tcp']
    """
    given = [captures] if isinstance(captures, str | PathLike) else captures
    paths = [fspath(one) for one in given]
    names = list(points) if points is not None else paths
    settings = _native.Settings(
        filter=bpf, filter_outer=bpf_outer, udp_ports=[(port, "vxlan") for port in vxlan_ports]
    )
    called = list(files) if files is not None else paths
    rows = zip(paths, called, names, strict=True)
    origins = [(path, file, [name], [None]) for path, file, name in rows]
    return _native.PacketStream(origins, settings, batch_rows=batch_rows)
