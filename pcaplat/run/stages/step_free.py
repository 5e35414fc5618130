"""Spilled pairs as if no clock had been set, and the steps of the clocks in their place.

    clocks + spilled pairs → the pairs without steps, clocks whose steps lie between two packets

Alignment knows a step to the times between which it must be. Here every pair of frames is put on
one side of it, by the time at the point whose clock was not set: pairs in a row change sides once,
where it leaves their latencies least unlike.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from itertools import chain
from pathlib import Path

import numpy as np

from pcaplat.model.arrays import Bools, Floats, Ints, distinct_columns
from pcaplat.model.clocks import Clocks, Step, offset_centre
from pcaplat.model.matched import LinkCounts, Matched, TripCounts
from pcaplat.model.matches.spilled_rows import ROW, ends
from pcaplat.model.path import Findings
from pcaplat.model.points import Pair
from pcaplat.records import dataclass
from pcaplat.stages.align.steps import with_steps
from pcaplat.stages.attribute import clock_between

PAIR = np.dtype([("t_ns", "<i8"), ("raw_ns", "<i8")])
"""A spilled half of a round trip, as rust/src/matching/exchange/round_trips.rs writes it."""

PAIR_OF_KIND = np.dtype([*PAIR.descr, ("kind", "<i8")])
"""A spilled pair of a link and direction, as rust/src/matching/counts/segment_way.rs writes it."""

CHUNK = 1 << 20
"""Pairs that are looked at at once."""

AROUND_NS = 50_000_000
"""Pairs so far from where a step must be tell what is usual there."""

ROUNDS = 4
"""Where sides and what is usual are found from each other, so many times."""

Records = np.ndarray[tuple[int], np.dtype[np.void]]
Against = tuple[Pair, int]
"""Upstream and downstream point, and which of their clocks was set."""

Setting = tuple[Pair, int, int]
"""The same, and which step of that clock."""


@dataclass(frozen=True)
class Place:
    """From which time on, at the other point, pairs come after a step; the pairs on either side."""

    from_ns: int
    last_before_ns: int
    first_after_ns: int
    is_sure: bool


def without_steps(
    clocks: Clocks,
    findings: Findings,
    links: Sequence[Pair],
    matched: Matched,
) -> Clocks:
    """Take the steps of clocks out of all spilled pairs, in their files.

    Args:
        clocks: How the clocks relate.
        findings: What the survey found.
        links: The segments (near, far).
        matched: What the core counted, and its files.

    Returns:
        The clocks, with their steps where pairs say.
    """
    if not clocks.steps:
        return clocks
    # crossings begin as rows do
    rows = [*matched.rows, *matched.crossed]
    files = [*_files(links, matched.links, rows), *_of_trips(links, matched.trips)]
    steps = Steps(clocks, findings)
    near: dict[Setting, list[Records]] = {}
    for pairs, ends_of in chain.from_iterable(map(_chunks, files)):
        for setting, found in steps.near(pairs, ends_of):
            near.setdefault(setting, []).append(found)
    places = {setting: steps.place(setting, np.concatenate(of)) for setting, of in near.items()}
    known = {setting: place for setting, place in places.items() if place}
    for pairs, ends_of in chain.from_iterable(map(_chunks, files)):
        pairs["raw_ns"] -= steps.share(pairs, ends_of, known)
    placed = steps.placed(known)
    return clocks.at_knots(with_steps(clocks.knots_ns, placed), placed)


File = tuple[str, "Pair | None", np.dtype[np.void]]
"""Its path, the two points that it is about if it is about two only, and its rows."""


def _files(
    links: Sequence[Pair], measured: Sequence[Sequence[LinkCounts]], rows: Sequence[str]
) -> Iterator[File]:
    """All files of pairs that one packet makes each."""
    for (near, far), both in zip(links, measured, strict=True):
        for up_down, counts in zip(((near, far), (far, near)), both, strict=True):
            for paths in (counts.spills, *(end.spills for end in counts.ends)):
                yield from ((path, up_down, PAIR_OF_KIND) for path in paths)
    yield from ((path, None, ROW) for path in rows)


def _of_trips(links: Sequence[Pair], trips: TripCounts) -> Iterator[File]:
    """The files of requests and responses: packets forward, and packets in reverse."""
    for (near, far), (forward, reverse, _) in zip(links, trips.spills, strict=True):
        yield from ((path, (near, far), PAIR) for path in forward)
        yield from ((path, (far, near), PAIR) for path in reverse)


def _chunks(file: File) -> Iterator[tuple[Records, Ints]]:
    """Pairs that can be written to, and the points of each: upstream, downstream."""
    path, up_down, kind = file
    if not Path(path).stat().st_size:
        return
    pairs = np.memmap(path, dtype=kind, mode="r+")
    for start in range(0, len(pairs), CHUNK):
        chunk = pairs[start : start + CHUNK]
        if up_down is None:
            up, down, _ = ends(chunk["points"])
            yield chunk, np.stack([up, down])
        else:
            yield chunk, np.broadcast_to(np.array(up_down)[:, None], (2, len(chunk)))
    pairs.flush()


@dataclass(frozen=True)
class Steps:
    """The steps of all clocks, as pairs of frames show them."""

    clocks: Clocks
    findings: Findings
    _known_ns: dict[Against, Ints] = field(default_factory=dict[Against, Ints])

    def near(self, pairs: Records, points: Ints) -> Iterator[tuple[Setting, Records]]:
        """Give the pairs about each step, by the points they are of."""
        for up_down, mine in _by_points(points):
            rows = np.flatnonzero(mine)
            for clock in self._clocks_of(up_down):
                x = self._other_ns((up_down, clock), pairs[rows])
                by = np.argsort(x, kind="stable")
                for setting, step in self._of(up_down, clock):
                    before_ns, after_ns = self._reach((up_down, clock), step, AROUND_NS)
                    first = np.searchsorted(x, before_ns, sorter=by)
                    about = rows[by[first : np.searchsorted(x, after_ns, "right", sorter=by)]]
                    if len(about):
                        found = np.empty(len(about), PAIR)
                        found["t_ns"], found["raw_ns"] = (
                            pairs["t_ns"][about],
                            pairs["raw_ns"][about],
                        )
                        yield setting, found

    def share(self, pairs: Records, points: Ints, places: Mapping[Setting, Place]) -> Ints:
        """How much of each difference the steps make."""
        total = np.zeros(len(pairs), np.int64)
        for up_down, mine in _by_points(points):
            rows = np.flatnonzero(mine)
            for clock in self._clocks_of(up_down):
                total[rows] += self._set_ns((up_down, clock), pairs[rows], places)
        return total

    def place(self, setting: Setting, pairs: Records) -> Place | None:
        """Where the pairs change sides: there their latencies are least unlike."""
        _, clock, number = setting
        against = setting[:2]
        step = self.clocks.steps[clock][number]
        pairs = pairs[np.argsort(self._other_ns(against, pairs), kind="stable")]
        x, latency = self._other_ns(against, pairs), self._latencies(setting, pairs)
        first, last = np.searchsorted(x, self._reach(against, step, 0), side="right").tolist()
        if not 0 < first <= last < len(x):
            return None
        size = float(self._size(against, step))
        start = int(np.clip(np.searchsorted(x, self._at_ns(against)[number]), first, last))
        at, is_sure = _change(latency, size, (first, last), start)
        return Place(
            int(x[at - 1] + (x[at] - x[at - 1] + 1) // 2), int(x[at - 1]), int(x[at]), is_sure
        )

    def placed(self, places: Mapping[Setting, Place]) -> dict[int, list[Step]]:
        """The steps, each between the last pair before it and the first after it."""
        return {
            clock: [self._placed(clock, number, places) for number in range(len(of))]
            for clock, of in self.clocks.steps.items()
        }

    def _placed(self, clock: int, number: int, places: Mapping[Setting, Place]) -> Step:
        step = self.clocks.steps[clock][number]
        mine = {key: one for key, one in places.items() if key[1:] == (clock, number)}
        if not mine or not all(one.is_sure for one in mine.values()):
            return step
        before = max(self._aligned(key[:2], one.last_before_ns) for key, one in mine.items())
        after = min(self._aligned(key[:2], one.first_after_ns) for key, one in mine.items())
        return replace(step, before_ns=min(before, after), after_ns=max(before, after))

    def _clocks_of(self, up_down: Pair) -> list[int]:
        """The clocks whose steps show between two points; both of one clock show none."""
        domains = sorted({self.clocks.domain[point] for point in up_down})
        return [clock for clock in domains if clock in self.clocks.steps] if domains[1:] else []

    def _of(self, up_down: Pair, clock: int) -> list[tuple[Setting, Step]]:
        return [((up_down, clock, n), step) for n, step in enumerate(self.clocks.steps[clock])]

    def _set_ns(self, of: Against, pairs: Records, places: Mapping[Setting, Place]) -> Ints:
        """How far the steps of one clock have set the difference of each pair."""
        steps = self._of(*of)
        at_ns = self._at_ns(of).copy()
        for number, (setting, _) in enumerate(steps):
            at_ns[number] = places[setting].from_ns if setting in places else at_ns[number]
        by = np.argsort(at_ns, kind="stable")
        sizes_ns = np.array([self._size(of, step) for _, step in steps], np.int64)
        so_far_ns = np.append(0, np.cumsum(sizes_ns[by]))
        n_before = np.searchsorted(at_ns, self._other_ns(of, pairs), "right", sorter=by)
        return np.asarray(so_far_ns[n_before])

    def _size(self, of: Against, step: Step) -> int:
        """By how much a step changes the difference downstream − upstream."""
        (_, down), clock = of
        return step.size_ns if self.clocks.domain[down] == clock else -step.size_ns

    def _other(self, of: Against) -> int:
        """The point whose clock was not set."""
        (up, down), clock = of
        return up if self.clocks.domain[down] == clock else down

    def _other_ns(self, of: Against, pairs: Records) -> Ints:
        is_up = self._other(of) == of[0][0]
        return np.asarray(pairs["t_ns"] + (0 if is_up else pairs["raw_ns"]))

    def _latencies(self, setting: Setting, pairs: Records) -> Floats:
        """As if no clock had been set but this one now: those after the step are off by it."""
        (up, down), clock, number = setting
        of = setting[:2]
        is_after = self._other_ns(of, pairs) >= self._at_ns(of)[number]
        own_ns = np.where(is_after, self._size(of, self.clocks.steps[clock][number]), 0)
        raw_ns = pairs["raw_ns"] + own_ns
        for other in self._clocks_of((up, down)):
            raw_ns -= self._set_ns(((up, down), other), pairs, {})
        is_reverse = self.findings.places[up] > self.findings.places[down]
        near, far = (down, up) if is_reverse else (up, down)
        between = clock_between(self.findings, self.clocks.relation(near, far), near, far)
        if is_reverse:
            return (raw_ns + between.at(pairs["t_ns"] + pairs["raw_ns"])).astype(np.float64)
        return (raw_ns - between.at(pairs["t_ns"])).astype(np.float64)

    def _reach(self, of: Against, step: Step, more_ns: int) -> Pair:
        """Between which times, at the other point, a step must be, and so much more."""
        before, after = step.before_ns - more_ns, step.after_ns + more_ns
        return self._raw(of, before), self._raw(of, after)

    def _at_ns(self, of: Against) -> Ints:
        """When the clock was set, at the other point."""
        if of not in self._known_ns:
            at_ns = [self._raw(of, step.t_ns) for step in self.clocks.steps[of[1]]]
            self._known_ns[of] = np.array(at_ns, np.int64)
        return self._known_ns[of]

    def _raw(self, of: Against, t_ns: int) -> int:
        """A time on the clock of the point that was not set."""
        other = self._other(of)
        relation = self.clocks.relation(self.clocks.root(other), other)
        x = (relation.t_ns - relation.t_ns[0]).astype(np.float64)
        beside = relation.offset_ns - relation.base_ns
        return t_ns + relation.base_ns + round(float(np.interp(t_ns - relation.t_ns[0], x, beside)))

    def _aligned(self, of: Against, raw_ns: int) -> int:
        other = self._other(of)
        centre = offset_centre(self.clocks, other, self.clocks.root(other))
        return raw_ns - (int(centre.at(np.array([raw_ns]))[0]) if centre else 0)


def _by_points(points: Ints) -> Iterator[tuple[Pair, Bools]]:
    """Rows by their two points."""
    for up, down in distinct_columns(points)[0].T.tolist():
        yield (up, down), (points[0] == up) & (points[1] == down)


def _change(latency: Floats, size: float, within: Pair, at: int) -> tuple[int, bool]:
    """Which row is the first after a step, and whether the rows on either side leave no doubt."""
    first, last = within
    for _ in range(ROUNDS):
        usual = float(np.median(np.concatenate([latency[:at], latency[at:] - size])))
        # how much better a row fits after the step than before it, summed up to each row
        better = np.abs(latency - usual) - np.abs(latency - size - usual)
        cost = np.concatenate([[0.0], np.cumsum(better)])[first : last + 1]
        at = first + int(np.argmin(cost))
    is_sure = better[at - 1] < -abs(size) / 2 and better[at] > abs(size) / 2
    return at, bool(is_sure)
