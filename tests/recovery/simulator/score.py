"""How right a merge was: its pairs, its statuses and its figures against the truth."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl

from tests.recovery.simulator.truth import CLASSES, Truth

if TYPE_CHECKING:
    import pcaplat
    from tests.recovery.simulator.pieces import Flags
    from tests.recovery.simulator.scenario import Numbers
    from tests.recovery.simulator.truth import Hop

# clocks that are unsure by some us leave open what happened at the very ends
EDGE_NS = 15_000


class Counts(NamedTuple):
    """Steps of wire segments from point to point: how many there are, and what became of them."""

    n: int
    n_found: int
    n_ambiguous: int

    @property
    def recall(self) -> float:
        """The share that was found."""
        return self.n_found / self.n if self.n else 1.0

    @property
    def ambiguous(self) -> float:
        """The share that was called ambiguous."""
        return self.n_ambiguous / self.n if self.n else 0.0


class Figures(NamedTuple):
    """One segment and direction: reported less true."""

    mean_ns: float
    p50_ns: float
    p99_ns: float
    mean_beyond_ns: float  # what no interval explains
    n: int
    n_lost: int
    n_duplicated: int
    n_reordered: int
    n_truly_lost: int
    n_truly_duplicated: int
    n_truly_reordered: int
    n_lost_bytes: int
    is_lost_frac_within: bool  # the true one, in its interval


@dataclass
class Score:
    """A merge beside the truth."""

    truth: Truth
    result: pcaplat.Result

    def _numbers(self, table: pl.DataFrame, prefix: str = "") -> Numbers:
        """Frames, as numbers over all points."""
        outcome = self.truth.outcome
        found = np.full(len(table), -1, np.int64)
        files = table[f"{prefix}file"].cast(pl.String)
        names = {file: Path(file).name.split(".")[0] for file in files.unique()}
        frame = table[f"{prefix}frame"].to_numpy() - 1
        for name, place in outcome.files.items():
            mine = files.is_in([file for file in names if names[file] == name]).to_numpy()
            number = self.truth.starts[place.points] + place.rows
            found[mine] = number[frame[mine]]
        return found

    @cached_property
    def _packets(self) -> tuple[pl.DataFrame, Numbers]:
        """Every frame as it was reported, and its number."""
        columns = ("point", "file", "frame", "status", "trajectory_id")
        table = self.result.packets.select(columns).collect()
        return table, self._numbers(table)

    @cached_property
    def pairs(self) -> tuple[Numbers, Numbers]:
        """The frames that were said to carry the same packet."""
        table = self.result.matches.collect()
        whole = self.truth.whole
        return whole[self._numbers(table, "up_")], whole[self._numbers(table, "down_")]

    @cached_property
    def n_shared(self) -> Numbers:
        """Per pair, how many wire segments are really in both frames."""
        truth, (up, down) = self.truth, self.pairs
        point = np.searchsorted(truth.starts, down, "right") - 1
        each, start = truth.joined("n_pieces")[up], truth.joined("start")[up]
        at_point = np.searchsorted(truth.starts, up, "right") - 1
        shift = np.cumsum([0, *(len(r.members) for r in truth.outcome.records)])
        members = np.concatenate([r.members for r in truth.outcome.records])
        row = np.repeat(np.arange(len(up)), each)
        within = np.arange(len(row)) - np.repeat(np.cumsum(each) - each, each)
        piece = members[(start + shift[at_point])[row] + within]
        is_shared = (truth.seen[piece, point[row]] == down[row]) & (
            truth.seen[piece, at_point[row]] == up[row]
        )
        # what the network doubled goes its own way from there
        is_double = truth.outcome.journey.pieces["copy_of"] >= 0
        first = members[truth.joined("start")[down] + shift[point]]
        is_shared |= is_double[piece] & (first[row] == piece)
        return np.bincount(row, is_shared, len(up)).astype(np.int64)

    def intervals_ns(self) -> list[tuple[float, float, int]]:
        """Per pair the latency's interval that was reported, and how long it really took."""
        bounds = self.result.matches.select("latency_lo_ns", "latency_hi_ns").collect()
        up, down = self.pairs
        true_ns = self.truth.joined("time_ns")[down] - self.truth.joined("time_ns")[up]
        return [(*row, int(ns)) for row, ns in zip(bounds.iter_rows(), true_ns, strict=True)]

    @cached_property
    def n_wrong(self) -> int:
        """Wire segments in pairs of frames that share none."""
        n_pieces, (up, down) = self.truth.joined("n_pieces"), self.pairs
        least = np.minimum(n_pieces[up], n_pieces[down])
        return int(least[self.n_shared == 0].sum())

    @property
    def precision(self) -> float:
        """The share of what was paired that was paired rightly."""
        n_right = int(self.n_shared.sum())
        return n_right / (n_right + self.n_wrong) if n_right + self.n_wrong else 1.0

    @cached_property
    def _steps(self) -> Numbers:
        """Pairs as single numbers."""
        up, down = self.pairs
        return up * int(self.truth.starts[-1]) + down

    @cached_property
    def found(self) -> Flags:
        """Per true step whether it was found."""
        edges = self.truth.edges
        return np.isin(edges.up * int(self.truth.starts[-1]) + edges.down, self._steps)

    @property
    def n_jumps(self) -> int:
        """Right pairs that leave out a point which saw the packet."""
        edges = self.truth.edges
        steps = self._steps[self.n_shared > 0]
        return int((~np.isin(steps, edges.up * int(self.truth.starts[-1]) + edges.down)).sum())

    @cached_property
    def status(self) -> Any:  # noqa: ANN401 - an array of strings
        """Per frame what became of it."""
        table, numbers = self._packets
        found = np.full(int(self.truth.starts[-1]), "", dtype="U12")
        found[numbers] = table["status"].to_numpy()
        return found

    @cached_property
    def trajectory(self) -> Numbers:
        """Per frame its trajectory, or -1."""
        table, numbers = self._packets
        found = np.full(int(self.truth.starts[-1]), -1, np.int64)
        found[numbers] = table["trajectory_id"].fill_null(-1).to_numpy()
        return found

    def counts(self) -> dict[str, Counts]:
        """Per class of traffic, and for `all`."""
        edges = self.truth.edges
        of_class = self.truth.class_of[edges.piece]
        unsure = (self.status[edges.up] == "ambiguous") | (self.status[edges.down] == "ambiguous")
        unsure &= ~self.found
        given = {"all": np.ones(len(of_class), bool)}
        given |= {name: of_class == at for at, name in enumerate(CLASSES)}
        return {
            name: Counts(int(mine.sum()), int(self.found[mine].sum()), int(unsure[mine].sum()))
            for name, mine in given.items()
            if mine.any()
        }

    @property
    def n_copies_missed(self) -> int:
        """Copies that were not called so, and originals that were."""
        return int(((self.status == "duplicate") != self.truth.joined("is_copy")).sum())

    @cached_property
    def point_of(self) -> dict[str, int]:
        """Per point of the result the point that most of its frames are of."""
        table, numbers = self._packets
        point = np.searchsorted(self.truth.starts, numbers, "right") - 1
        named = pl.DataFrame({"name": table["point"], "point": point})
        counted = named.group_by("name", "point").len().sort("len")
        return dict(zip(counted["name"].to_list(), counted["point"].to_list(), strict=True))

    @property
    def path(self) -> list[int]:
        """The path found, as numbers of points."""
        return [self.point_of[name] for name in self.result.document["path"]]

    def segments(self) -> list[tuple[dict[str, Any], int, int, bool]]:
        """Rows of the summary with the points they are about and the direction, in true terms."""
        rows = []
        for row in self.result.document["segments"]:
            near, far = self.point_of[row["near"]], self.point_of[row["far"]]
            forward = row["direction"] == "forward"
            hops = self.truth.outcome.scenario.hop_of
            if hops[near] > hops[far]:
                near, far, forward = far, near, not forward
            rows.append((row, near, far, forward))
        return rows

    @cached_property
    def figures(self) -> list[Figures]:
        """Segments and classes whose packets are many enough to compare."""
        covered_ns, made = self.truth.covered_ns(), []
        for row, near, far, forward in self.segments():
            hop = self.truth.hop(near, far, forward=forward)
            true_ns = hop.latencies_ns[row["class"]]
            if len(true_ns) >= 100 and row["mean_ns"] is not None:
                made.append(_figures(row, hop, true_ns, covered_ns))
        return made

    def worst_ns(self, figure: str) -> float:
        """The largest error of a figure over all segments."""
        return max((abs(getattr(row, figure)) for row in self.figures), default=0.0)


def _figures(
    row: dict[str, Any], hop: Hop, true_ns: Numbers, covered_ns: tuple[int, int]
) -> Figures:
    mean_ns = row["mean_ns"] - float(true_ns.mean())
    p50_ns, p99_ns = np.quantile(true_ns, (0.5, 0.99), method="inverted_cdf")
    known_ns = (row["clock_half_width_ns"] or 0.0) + 1
    # what was seen last less than the waiting time before the end is neither lost nor counted
    waited_ns = max(EDGE_NS, int(row["loss_threshold_ns"] or 0))
    of_class, margins_ns = row["class"], (-waited_ns, 0, EDGE_NS)
    bounds = [hop.n_lost(covered_ns, margin_ns, of_class) for margin_ns in margins_ns]
    bytes_lost = [hop.n_lost_bytes(covered_ns, margin_ns) for margin_ns in margins_ns]
    n_truly_duplicated = hop.duplicated[of_class]
    # what arrived and was not captured there was not lost
    n_arrived = len(true_ns) / hop.captured_frac
    return Figures(
        mean_ns,
        row["p50_ns"] - float(p50_ns),
        row["p99_ns"] - float(p99_ns),
        max(0.0, abs(mean_ns) - known_ns),
        row["n"] - len(true_ns),
        _beyond(row["n_lost"], bounds),
        row["n_duplicated"] - n_truly_duplicated,
        row["n_reordered"] - hop.reordered[of_class],
        bounds[1],
        n_truly_duplicated,
        hop.reordered[of_class],
        _beyond(row["lost_bytes"], bytes_lost),
        _is_within(bounds[1] / (n_arrived + bounds[1]), row),
    )


def _is_within(lost_frac: float, row: dict[str, Any]) -> bool:
    low, high = row["lost_lo_frac"], row["lost_hi_frac"]
    # none of all is no less than the quantile of a distribution that begins there
    return low is not None and bool(low - 1e-9 <= lost_frac <= high)


def _beyond(found: int, bounds: list[int]) -> int:
    """How far a count is outside of what the edges of the time leave open."""
    return found - min(max(found, bounds[0]), bounds[2])
