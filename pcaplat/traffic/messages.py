"""Messages: how many requests are under way at a time, where all of them are of one size.

A message is as long as the first one of its sender. In TCP the stream is counted, by its sequence
numbers, so that what is sent again, or was not captured, changes no count; in UDP a datagram is a
message. The first one ends where it is pushed (RFC 9293 §3.9.1), or where the other end speaks.
"""

import numpy as np
import polars as pl

from pcaplat.model.arrays import Bools, Ints
from pcaplat.records import dataclass

SIDES = ("a", "b")
FAR_BYTES = 1 << 24
"""Sequence numbers farther apart are of two connections that have the same ports."""

NONE, UDP = -1, 17
STREAM = ("seq", "at", "high", "size", "n_odd")
"""What is kept of each side: the end of its last segment, by its number and by its place in the
stream; the highest place; the size of a message, and how often there was another."""

CLIENT = ("begun", "out", "most", "least", "waited", "until", "asked_ns")
"""What is kept of each side, were it the client: messages begun; requests under way, the most and
the least of them, their sum over time, that when the last began, and when that was."""

STATE = ("was_a", "was_ns", *(f"{name}_{side}" for side in SIDES for name in (*STREAM, *CLIENT)))

STATE_BEFORE = {name: NONE if name.startswith(("was", "seq", "size")) else 0 for name in STATE}

State = dict[str, Ints]


@dataclass(frozen=True)
class Groups:
    """Rows of connections, those of one after those of another: `of` never falls."""

    of: Ints
    n: int

    def before(self, values: Ints, start: Ints) -> Ints:
        """Give what the row before had; of first rows `start`, by connection."""
        is_first = np.diff(self.of, prepend=NONE) != 0
        return np.where(is_first, start[self.of], np.roll(values, 1))

    def summed(self, values: Ints, start: Ints) -> Ints:
        """Give the running sum, from `start` on."""
        sums = np.concatenate([np.zeros(1, np.int64), np.cumsum(values)])
        starts = np.searchsorted(self.of, np.arange(self.n))
        return np.asarray(sums[1:] - sums[starts][self.of] + start[self.of])

    def highest(self, values: Ints, start: Ints) -> Ints:
        """Give the running maximum of values that are not negative, at least `start`."""
        apart = self.of * (int(values.max(initial=0)) + 1)
        return np.maximum(np.maximum.accumulate(values + apart) - apart, start[self.of])

    def last(self, values: Ints, start: Ints) -> Ints:
        """Give the last value of each connection; of one without rows `start`."""
        starts, ends = (
            np.searchsorted(self.of, np.arange(self.n), side=side) for side in ("left", "right")
        )
        found = start.copy()
        found[ends > starts] = values[ends[ends > starts] - 1]
        return found

    def first(self, values: Ints, rows: Ints, start: Ints) -> tuple[Ints, Ints]:
        """Give the first value among some rows, and its row, of each connection without `start`."""
        found, row = start.copy(), np.where(start == NONE, len(self.of), NONE)
        of, at = np.unique(self.of[rows], return_index=True)
        at, of = at[start[of] == NONE], of[start[of] == NONE]
        found[of], row[of] = values[rows[at]], rows[at]
        return found, row

    def only(self, rows: Ints) -> "Groups":
        """Leave out all other rows."""
        return Groups(self.of[rows], self.n)


def take(data: pl.DataFrame, state: State, groups: Groups) -> pl.DataFrame:
    """Leave out frames that bring nothing new, add what was before each, and move `state` on.

    Args:
        data: Frames with payload, by connection and time.
        state: By connection (STATE); changed.
        groups: The connection of each frame.
    """
    is_a = data["is_a"].to_numpy()
    is_new, high = np.zeros(len(data), np.bool_), np.zeros(len(data), np.int64)
    for side, own in _sides(is_a):
        at, start = np.flatnonzero(own), state[f"high_{side}"]
        high[at] = _advance(data[at], state, groups.only(at), side)
        is_new[at] = high[at] > groups.only(at).before(high[at], start)
    at = np.flatnonzero(is_new)
    moved = _Moved(data[at], groups.only(at), state)
    return moved.count(high[at])


def _sides(is_a: Bools) -> list[tuple[str, Bools]]:
    return list(zip(SIDES, (is_a, ~is_a), strict=True))


def _advance(data: pl.DataFrame, state: State, groups: Groups, side: str) -> Ints:
    """Give how far one side's stream had come with each of its frames."""
    n_bytes = data["n_bytes"].to_numpy()
    seq = data["seq"].fill_null(NONE).to_numpy()
    end = np.where(seq == NONE, NONE, (seq + n_bytes) % 2**32)
    before = groups.before(end, state[f"seq_{side}"])
    step = (end - before + 2**31) % 2**32 - 2**31
    is_other = (end == NONE) | (before == NONE) | (np.abs(step) > FAR_BYTES)
    at = groups.summed(np.where(is_other, n_bytes, step), state[f"at_{side}"])
    state[f"seq_{side}"] = groups.last(end, state[f"seq_{side}"])
    state[f"at_{side}"] = groups.last(at, state[f"at_{side}"])
    return groups.highest(np.maximum(at, 0), state[f"high_{side}"])


class _Moved:
    """Frames that bring something new."""

    def __init__(self, data: pl.DataFrame, groups: Groups, state: State) -> None:
        self.groups, self.state = groups, state
        self.is_a = data["is_a"].to_numpy()
        self.t_ns, self.n_bytes = data["t_ns"].to_numpy(), data["n_bytes"].to_numpy()
        self.is_datagram = (data["protocol"] == UDP).to_numpy()
        self.is_end = data["is_pushed"].to_numpy() | self.is_datagram
        self.was_a = groups.before(self.is_a.astype(np.int64), state["was_a"])
        self.was_ns = groups.before(self.t_ns, state["was_ns"])
        is_first = pl.Series(self.was_a == NONE)
        self.data = data.with_columns(
            before_is_a=pl.Series(self.was_a == 1).set(is_first, None),
            before_ns=pl.Series(self.was_ns).set(is_first, None),
        )

    def count(self, high: Ints) -> pl.DataFrame:
        """Count messages under way; give the frames."""
        begun, done = {}, {}
        for side, own in _sides(self.is_a):
            begun[side], done[side] = self._messages(side, own, high)
        for side, other in zip(SIDES, SIDES[::-1], strict=True):
            self._wait(side, begun[side], done[other])
        state, last = self.state, self.groups.last
        state["was_a"] = last(self.is_a.astype(np.int64), state["was_a"])
        state["was_ns"] = last(self.t_ns, state["was_ns"])
        return self.data

    def _messages(self, side: str, own: Bools, high: Ints) -> tuple[Ints, Ints]:
        """Give how many messages one side had begun, and ended, with each frame."""
        start, groups = self.state[f"high_{side}"], self.groups
        high = groups.highest(np.where(own, high, 0), start)
        is_told = (own & self.is_end) | (~own & (high > 0))
        size, since = groups.first(high, np.flatnonzero(is_told), self.state[f"size_{side}"])
        known = np.arange(len(own)) >= since[groups.of]
        each = np.where(known, size[groups.of], np.iinfo(np.int64).max)
        # a message is over where the other end speaks; so is a datagram
        is_over = ~own & (self.was_a == (side == "a"))
        odd = is_over & (high % each != 0)
        odd |= own & self.is_datagram & (self.n_bytes != each)
        n_odd = groups.summed(odd.astype(np.int64), self.state[f"n_odd_{side}"])
        self.state[f"n_odd_{side}"] = groups.last(n_odd, self.state[f"n_odd_{side}"])
        self.state[f"size_{side}"] = size
        self.state[f"high_{side}"] = groups.last(high, start)
        return -(-high // each), high // each

    def _wait(self, side: str, begun: Ints, done: Ints) -> None:
        """Count what is under way, were this side the client."""
        state, groups = self.state, self.groups
        out = begun - done
        np.maximum.at(state[f"most_{side}"], groups.of, out)
        np.minimum.at(state[f"least_{side}"], groups.of, out)
        passed_ns = np.where(self.was_a == NONE, 0, self.t_ns - self.was_ns)
        waited_ns = groups.before(out, state[f"out_{side}"]) * passed_ns
        waited = groups.summed(waited_ns, state[f"waited_{side}"])
        asks = np.flatnonzero(begun > groups.before(begun, state[f"begun_{side}"]))
        at_last = {"until": waited, "asked_ns": self.t_ns}
        for name, values in at_last.items():
            of_last = groups.only(asks).last(values[asks], state[f"{name}_{side}"])
            state[f"{name}_{side}"] = of_last
        for name, values in {"begun": begun, "out": out, "waited": waited}.items():
            state[f"{name}_{side}"] = groups.last(values, state[f"{name}_{side}"])
