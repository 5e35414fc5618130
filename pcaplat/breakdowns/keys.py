"""Keys: which flow, size, codepoint or tunnel each captured frame is of, as one number a frame."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from pcaplat.model.arrays import Ints
from pcaplat.model.matches.match_table import NUMBER_BITS

if TYPE_CHECKING:
    from numpy.typing import NDArray

NO_KEY, REST = -1, -2
"""Keys of frames that have no such thing, and of those beyond the most keys that are kept apart."""

MOST_KEYS = 100_000
"""Keys that are kept apart, in the order of files and frames; memory is bounded by them."""

FLOW = ["protocol", "src", "src_port", "dst", "dst_port"]
Label = tuple[object, ...]


class FrameKeys:
    """Four bytes a frame: its key, by file and number."""

    def __init__(self, n_files: int) -> None:
        self.of_file: list[NDArray[np.int32]] = [np.zeros(0, np.int32) for _ in range(n_files)]

    def place(self, file: int, numbers: Ints, keys: Ints) -> None:
        """Note the keys of some frames of a file."""
        n, n_needed = len(self.of_file[file]), int(numbers.max(initial=0)) + 1
        if n_needed > n:
            # by half, so that seldom
            more = np.full(max(n_needed, n + n // 2) - n, NO_KEY, np.int32)
            self.of_file[file] = np.concatenate([self.of_file[file], more])
        self.of_file[file][numbers] = keys

    def at(self, ids: Ints) -> Ints:
        """Give the keys of frames, by their ids."""
        keys = np.full(len(ids), NO_KEY, np.int64)
        file = ids >> NUMBER_BITS
        # of a frame that was not seen the id is below 0, and so is its file
        for one in np.unique(file[ids >= 0]):
            at = file == one
            keys[at] = self.of_file[one][ids[at] & ((1 << NUMBER_BITS) - 1)]
        return keys


class Labels:
    """Numbers of labels, as first seen; those of flows lie in pairs, one for each way round."""

    def __init__(self, columns: Sequence[str]) -> None:
        self.columns = list(columns)
        self.labels: list[Label] = []
        self._number: dict[Label, int] = {}

    def numbers(self, batch: pl.DataFrame) -> Ints:
        """Give a number for each row; null in the first column: none."""
        known = batch.select(self.columns)
        # by default any of equal rows stands for them, and so does its place
        each = known.unique(keep="first", maintain_order=True)
        numbers = pl.Series("number", [self._of(row) for row in each.iter_rows()], pl.Int64)
        each = each.with_columns(numbers)
        found = known.join(
            each, on=self.columns, how="left", nulls_equal=True, maintain_order="left"
        )
        return found["number"].to_numpy()

    def _of(self, label: Label) -> int:
        if label[0] is None:
            return NO_KEY
        if label not in self._number:
            if len(self.labels) >= MOST_KEYS:
                return REST
            n, turned = len(self.labels), _turned(label) if self.columns == FLOW else None
            if turned is not None:
                self._number[turned] = n + 1
            self._number[label] = n
            self.labels += [label] if turned is None else [label, turned]
        return self._number[label]


FIRST, LATER = 0, 1
TCP, SYN = 6, 2


class Firsts:
    """Which packet was the first of its flow and direction, at each point.

    Of TCP that is a SYN, with ACK or without, that was not sent before; of anything else what was
    seen first. An element on the path that keeps state makes it for this packet.
    """

    def __init__(self) -> None:
        self._seen: set[Label] = set()
        self.labels: list[Label] = []

    def numbers(self, batch: pl.DataFrame) -> Ints:
        """Give FIRST or LATER for each row; of flows beyond the most that are kept, REST."""
        is_tcp = pl.col("protocol") == TCP
        opens = ~is_tcp | (pl.col("tcp_flags").fill_null(0) & SYN != 0)
        # the same ports may open again, with another number
        known = batch.select(
            *("point", *FLOW),
            number=pl.when(is_tcp).then("tcp_seq"),
            may_open=opens.fill_null(value=False),
            row=pl.int_range(pl.len()),
        )
        found = np.full(len(batch), LATER, np.int64)
        found[known["protocol"].is_null().to_numpy()] = NO_KEY
        may_open = known.filter("may_open")
        each = may_open.unique(["point", *FLOW, "number"], keep="first", maintain_order=True)
        for *label, row in each.drop("may_open").iter_rows():
            found[row] = self._of(tuple(label))
        return found

    def _of(self, label: Label) -> int:
        if label in self._seen:
            return LATER
        if len(self._seen) >= MOST_KEYS:
            return REST
        self._seen.add(label)
        return FIRST


def _turned(flow: Label) -> Label:
    protocol, src, src_port, dst, dst_port = flow
    return protocol, dst, dst_port, src, src_port


def as_forward(keys: Ints, is_reverse: Ints) -> Ints:
    """Turn the flows of packets that go in reverse, so that both ways are one flow."""
    return np.where((is_reverse != 0) & (keys >= 0), keys ^ 1, keys)


def size_class(n_bytes: Ints) -> Ints:
    """Give the power of two that a size reaches.

    Example:
        >>> size_class(np.array([60, 64, 127, 128, 1514])).tolist()
        [5, 6, 6, 7, 10]
    """
    return np.asarray(np.frexp(n_bytes.astype(np.float64))[1] - 1, np.int64)
