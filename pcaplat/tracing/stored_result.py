"""A result's folder, of whose tables only the row groups are read that may hold the answer."""

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path, PurePath
from typing import Any

from pcaplat.errors import InputError, PcaplatError
from pcaplat.records import dataclass
from pcaplat.study.summary_file import saved_document
from pcaplat.tables.columns import Row

FRAME_NUMBER = re.compile(r"0*[1-9][0-9]{0,17}")
"""A number that the tables' 64 bits hold, whatever it is."""

MOST_AT_ONCE = 128
"""Values in one question: the row groups between the least and the greatest are read."""

NEEDED = {
    "packets": {"file", "frame", "status", "trajectory_id"},
    "matches": {"up_file", "down_file", "latency_ns", "trajectory_id"},
    "lost": {"file", "frame", "near", "far"},
}
"""Columns that every version has written."""

TEXTS = {
    *("point", "file", "status", "layers", "src", "dst", "direction", "kind", "matched_by"),
    *(f"{end}_{of}" for end in ("up", "down") for of in ("point", "file")),
    *("identity", "near", "far", "told_by"),
}
"""Columns of texts, in all tables."""

Expression = Any
"""A condition of pyarrow, which ships no types."""


@dataclass(frozen=True)
class FrameName:
    """A frame: its file, as the tables call it, and its number within it."""

    file: str
    frame: int


@dataclass(frozen=True)
class RowGroup:
    """A row group of packets.parquet, by its statistics: its frames, if it is of one file alone."""

    number: int
    is_whole: bool
    first: int
    last: int


class StoredResult:
    """What `merge -o` wrote into a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._tables: dict[str, Any] = {}
        if not folder.is_dir():
            raise InputError.no_result(str(folder))
        for name in ("summary.json", "packets.parquet", "matches.parquet"):
            if not (folder / name).is_file():
                raise InputError.no_result_in(str(folder), name)

    @cached_property
    def summary(self) -> Row:
        """The summary."""
        with self.reading():
            return saved_document(self.folder)
        return {}

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Say of what cannot be read that it is no result.

        Raises:
            InputError: What was read in this context is damaged, or lacks a column.
        """
        try:
            yield
        except PcaplatError:
            raise
        except (ValueError, KeyError, OSError) as problem:
            if isinstance(problem, OSError) and problem.errno is not None:
                raise
            raise InputError.unreadable_result(str(self.folder), str(problem)) from problem

    @cached_property
    def path(self) -> list[str]:
        """The points in forward order."""
        return [*self.summary["path"]]

    def behind(self, point: str, direction: str | None) -> list[str]:
        """Give the points that a packet reaches next behind a point."""
        near, far = ("far", "near") if direction == "reverse" else ("near", "far")
        return [edge[far] for edge in self.summary["edges"] if edge[near] == point and direction]

    def between(self, one: str, other: str) -> set[str]:
        """Give the points on all ways between two points, whichever is nearer the path's first."""
        ways = self._onward(one) & self._onward(other, "reverse")
        return ways | (self._onward(other) & self._onward(one, "reverse"))

    def _onward(self, point: str, direction: str = "forward") -> set[str]:
        found: set[str] = set()
        ends = {point}
        while ends:
            ends = {next_ for end in ends for next_ in self.behind(end, direction)} - found
            found |= ends
        return found

    def frame_named(self, text: str) -> FrameName:
        """Read FILE:FRAME; FILE is a capture's path, its name, its stem, or its point.

        Raises:
            InputError: No capture is called so, or more than one.
        """
        name, _, number = text.rpartition(":")
        if not name or not FRAME_NUMBER.fullmatch(number):
            raise InputError(f"{text!r} is no frame; write it like uplink.pcap:1234, last")
        files = {row["file"] for row in self.summary["captures"]}
        found = {name} & files or {file for file in files if PurePath(file).name == name}
        found = found or {file for file in files if PurePath(file).name.split(".")[0] == name}
        found = found or {row["file"] for row in self.summary["captures"] if row["point"] == name}
        if len(found) != 1:
            which = "is more than one capture" if found else "is no capture of this result"
            known = ", ".join(sorted(found or files))
            raise InputError(f"{name}: {which}; there are: {known}")
        return FrameName(found.pop(), int(number))

    def packets_at(self, frames: Iterable[FrameName]) -> list[Row]:
        """Give the rows of packets.parquet of some frames."""
        return [*self._rows_of("packets", frames, ("file", "frame"))]

    def matches_of(self, trajectories: Iterable[int]) -> list[Row]:
        """Give the rows of matches.parquet of some trajectories, each from its sender on."""
        found = (self.rows("matches", one) for one in _among("trajectory_id", trajectories))
        return [row for rows in found for row in rows]

    def matches_at(self, frames: Iterable[FrameName], end: str) -> list[Row]:
        """Give the rows without a trajectory whose `end`, up or down, is one of the frames."""
        import pyarrow.compute as pc  # noqa: PLC0415 - slow to import, seldom needed

        is_cut = pc.field("trajectory_id").is_null()
        return [*self._rows_of("matches", frames, (f"{end}_file", f"{end}_frame"), is_cut)]

    def copies_of(self, rows: Sequence[Row], within_ns: int) -> list[Row]:
        """Give the later copies of some packets at the points of their frames."""
        import pyarrow.compute as pc  # noqa: PLC0415 - likewise

        if not self.summary["matching"]["n_duplicate"]:
            return []
        found: list[FrameName] = []
        for point in dict.fromkeys(row["point"] for row in rows):
            here = sorted(
                (row["t_ns"], row["trajectory_id"]) for row in rows if row["point"] == point
            )
            is_copy = (pc.field("status") == "duplicate") & (pc.field("point") == point)
            for start in range(0, len(here), MOST_AT_ONCE):
                times, wholes = zip(*here[start : start + MOST_AT_ONCE], strict=True)
                t_ns = pc.field("t_ns")
                is_near = (t_ns >= times[0] - within_ns) & (t_ns <= times[-1] + within_ns)
                is_it = is_copy & is_near & pc.field("trajectory_id").isin(wholes)
                # nearly always there are none, and all columns would be read for nothing
                names = self.rows("packets", is_it, ["file", "frame"])
                found += [FrameName(row["file"], row["frame"]) for row in names]
        return self.packets_at(found)

    @property
    def knows_losses(self) -> bool:
        """Whether lost.parquet is there."""
        return (self.folder / "lost.parquet").is_file()

    def lost_frames(self) -> list[FrameName]:
        """Give the frames of packets that were lost, in the table's order, each once."""
        import pyarrow.compute as pc  # noqa: PLC0415 - likewise

        rows = self.rows("lost", pc.field("frame").is_valid(), ["file", "frame"])
        return [*dict.fromkeys(FrameName(row["file"], row["frame"]) for row in rows)]

    @property
    def has_losses(self) -> bool:
        """Whether any packet was lost, known or not."""
        import pyarrow.compute as pc  # noqa: PLC0415 - likewise

        return bool(self.rows("lost", pc.field("near").is_valid(), ["near"], most=1))

    def losses_at(self, frames: Iterable[FrameName]) -> list[Row]:
        """Give the rows of lost.parquet of some frames; none where it is missing."""
        return [*self._rows_of("lost", frames, ("file", "frame"))] if self.knows_losses else []

    def _rows_of(
        self,
        table: str,
        frames: Iterable[FrameName],
        names: tuple[str, str],
        besides: Expression = None,
    ) -> Iterator[Row]:
        import pyarrow.compute as pc  # noqa: PLC0415 - likewise

        of_file: dict[str, set[int]] = {}
        for one in frames:
            of_file.setdefault(one.file, set()).add(one.frame)
        for file, numbers in of_file.items():
            is_of = pc.field(names[0]) == file
            for is_it in _among(names[1], numbers):
                where = is_of & is_it if besides is None else is_of & is_it & besides
                yield from self.rows(table, where)

    def bytes_before(self, file: str, frames: Iterable[int]) -> dict[int, int] | None:
        """Count the captured bytes of all frames of a file before some of them.

        Returns:
            By the frame's number; None where not every frame of the file has a row.
        """
        import pyarrow.parquet as pq  # noqa: PLC0415 - slow to import, seldom needed

        wanted = sorted(frames)
        table = pq.ParquetFile(self.folder / "packets.parquet", read_dictionary=["file"])
        found: dict[int, int] = {}
        n_before = bytes_before = 0
        for group in _groups_of(table.metadata, file, wanted[-1]):
            if len(found) == len(wanted):
                break
            is_passed = group.is_whole and not any(group.first <= at <= group.last for at in wanted)
            if is_passed:
                columns = table.read_row_group(group.number, ["captured_bytes"])
                lengths = columns["captured_bytes"].to_numpy()
                is_next = group.first == n_before + 1 and group.last == n_before + len(lengths)
            else:
                columns = table.read_row_group(group.number, ["file", "frame", "captured_bytes"])
                numbers, lengths = _of_file(columns, file)
                is_next = [*numbers] == [*range(n_before + 1, n_before + 1 + len(numbers))]
                for at in wanted:
                    if n_before < at <= n_before + len(lengths):
                        found[at] = bytes_before + int(lengths[: at - n_before - 1].sum())
            if not is_next:
                return None
            n_before += len(lengths)
            bytes_before += int(lengths.sum())
        return found if len(found) == len(wanted) else None

    def rows(
        self, table: str, where: Expression, columns: list[str] | None = None, most: int = 0
    ) -> list[Row]:
        """Give the rows of a table that meet a condition; the first `most`, if that is not 0."""
        with self.reading():
            found = self._table(table)
            if most:
                return found.head(most, filter=where, columns=columns).to_pylist()  # type: ignore[no-any-return]
            return found.to_table(filter=where, columns=columns).to_pylist()  # type: ignore[no-any-return]
        return []

    def _table(self, name: str) -> Any:  # noqa: ANN401 - pyarrow has no types
        """Open a table once, for its row groups are told only by reading its end."""
        import pyarrow.dataset as ds  # noqa: PLC0415 - likewise

        if name not in self._tables:
            # a row group's texts are few and often repeated: only those of the answer are made
            texts = ds.ParquetFileFormat(dictionary_columns=TEXTS)
            found = ds.dataset(self.folder / f"{name}.parquet", format=texts)
            if missing := NEEDED[name] - {*found.schema.names}:
                raise ValueError(f"{name}.parquet has no column {min(missing)}")
            self._tables[name] = found
        return self._tables[name]


def _among(column: str, values: Iterable[int]) -> Iterator[Expression]:
    """Give conditions that a column has one of some values, each for values near each other."""
    import pyarrow.compute as pc  # noqa: PLC0415 - likewise

    ordered = sorted(values)
    for start in range(0, len(ordered), MOST_AT_ONCE):
        some = ordered[start : start + MOST_AT_ONCE]
        # the range is what row groups are chosen by
        is_near = (pc.field(column) >= some[0]) & (pc.field(column) <= some[-1])
        yield is_near if len(some) == 1 else is_near & pc.field(column).isin(some)


def _groups_of(metadata: Any, file: str, last: int) -> Iterator[RowGroup]:  # noqa: ANN401 - pyarrow has no types
    """Give the row groups that may hold a file's frames up to the last that is wanted."""
    names = [metadata.schema.column(at).name for at in range(metadata.num_columns)]
    places = [names.index(name) for name in ("file", "frame")]
    for number in range(metadata.num_row_groups):
        group = metadata.row_group(number)
        of_file, of_frame = (group.column(place).statistics for place in places)
        if of_file.min <= file <= of_file.max and of_frame.min <= last:
            is_whole = of_file.min == of_file.max
            yield RowGroup(number, is_whole, of_frame.min, of_frame.max)


def _of_file(columns: Any, file: str) -> tuple[Any, Any]:  # noqa: ANN401 - likewise
    """Give numbers and lengths of a file's frames in a row group."""
    import pyarrow.compute as pc  # noqa: PLC0415 - likewise

    own = columns.filter(pc.equal(columns["file"].cast("string"), file))
    return own["frame"].to_numpy(), own["captured_bytes"].to_numpy()
