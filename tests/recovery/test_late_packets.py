"""Packets that one link holds for milliseconds to seconds: slow, and none of them lost."""

from __future__ import annotations

import math
import subprocess
import sys
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
from scipy.stats import poisson  # type: ignore[import-untyped]

import pcaplat
from tests.recovery.simulator import (
    Clock,
    Link,
    Outcome,
    Point,
    Scenario,
    Score,
    Traffic,
    Truth,
    run,
)
from tests.recovery.simulator.effects import (
    EFFECTS,
    NO_NUMBERS,
    at,
    base,
    links,
    only,
    together,
    traffic,
    weak,
)
from tests.support.networks import START_NS, Edges, Network, Packet, both_ways, datagram, walk

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.recovery.simulator.effects import Contrast
    from tests.recovery.simulator.truth import Hop

MS, SECOND = 1_000_000, 1_000_000_000
EDGE_NS = 15_000
MIX = (("tcp", 0.5), ("udp", 0.3), ("icmp", 0.2))
PACKETS_A_TRANSACTION = 2.2
LATE_NS = (5 * MS, 30 * MS, 200 * MS, 3 * SECOND)
SHARES = (0.001, 0.01, 0.05)
N_POINTS = (2, 3, 6)
CLOCKS = (
    *(Clock(), Clock(5_000_003, 11.0), Clock(-2 * SECOND, -17.0)),
    *(Clock(700_001, 4.0), Clock(37 * SECOND, 25.0), Clock(-90_001, -6.0)),
)


@dataclass(frozen=True)
class Case:
    """A path whose middle link holds a share of the packets for so long."""

    n_points: int
    share: float
    late_ns: int
    has_one_clock: bool
    shares: tuple[tuple[str, float], ...] = MIX
    lost_share: float = 0.0
    missed_share: float = 0.0
    seed: int = 1
    copied: tuple[float, ...] = ()
    """How much each point sees twice, as a switch that mirrors both of its ports does."""

    def __str__(self) -> str:
        clock = "one clock" if self.has_one_clock else "own clocks"
        kinds = "+".join(kind for kind, _ in self.shares)
        worse = f", {self.lost_share:.0%} lost" if self.lost_share else ""
        worse += f", {self.missed_share:.0%} not captured" if self.missed_share else ""
        worse += f", {'-'.join(f'{one:.0%}' for one in self.copied)} twice" if self.copied else ""
        late = f"{self.share:.1%} by {self.late_ns / MS:,.0f} ms"
        return f"{self.n_points} points, {late}, {clock}, {kinds}{worse}"

    @property
    def n_packets(self) -> int:
        """So many that several are held in either direction."""
        return 12_000 if self.share < 0.005 else 3_000

    def scenario(self) -> Scenario:
        """None is held in the last half of the time, so that all are there before it ends."""
        gap_ns = max(200_000, round(5 * self.late_ns * PACKETS_A_TRANSACTION / self.n_packets))
        middle = (self.n_points - 1) // 2
        every = [Link(lost_share=self.lost_share) for _ in range(self.n_points - 1)]
        lasts_ns = round(gap_ns * self.n_packets / PACKETS_A_TRANSACTION)
        every[middle] = replace(
            every[middle], held_share=self.share, held_ns=self.late_ns, held_until_ns=lasts_ns // 2
        )
        points = tuple(
            Point(
                f"p{at}",
                Clock() if self.has_one_clock else CLOCKS[at],
                missed_share=self.missed_share if 0 < at < self.n_points - 1 else 0.0,
                copied_share=self.copied[at] if self.copied else 0.0,
            )
            for at in range(self.n_points)
        )
        talk = Traffic(self.n_packets, gap_ns=gap_ns, shares=self.shares)
        return Scenario(points, tuple(every), talk, seed=self.seed)


@dataclass(frozen=True)
class Row:
    """A segment as it was told, beside the truth."""

    told: dict[str, Any]
    hop: Hop
    late_ns: int
    covered_ns: tuple[int, int]
    has_ends: bool
    """Whether it is the whole path."""

    @property
    def name(self) -> str:
        """To read in a failure."""
        return f"{self.told['near']}-{self.told['far']} {self.told['direction']}"

    @property
    def n_late(self) -> int:
        """How many were held on it."""
        return int((self.hop.packets_ns >= self.late_ns).sum())

    @property
    def slack_ns(self) -> float:
        """What the clocks leave open of a latency, and what the reference's rate makes of it."""
        rate_ns = 0.0 if self.told["clock_half_width_ns"] == 0 else 30e-6 * self.late_ns
        return float(self.told["clock_half_width_ns"] or 0) + 1 + rate_ns

    @property
    def n_lost(self) -> tuple[int, int]:
        """Bounds: who was lost within the waiting time of the end is not counted (RFC 7680)."""
        waited_ns = self.told.get("loss_threshold_ns") or 0
        first_ns, last_ns = self.covered_ns
        return (
            self.hop.n_lost((first_ns, last_ns - round(waited_ns)), -EDGE_NS),
            self.hop.n_lost(self.covered_ns, EDGE_NS),
        )


@dataclass
class Measured:
    """A merge of a case, beside the truth."""

    outcome: Outcome
    result: pcaplat.Result
    late_ns: int

    @cached_property
    def truth(self) -> Truth:
        """What happened."""
        return Truth(self.outcome)

    @cached_property
    def score(self) -> Score:
        """How right the pairs are."""
        return Score(self.truth, self.result)

    @cached_property
    def rows(self) -> list[Row]:
        """Every segment of whole packets, the whole path among them."""
        found, n_points = [], len(self.outcome.records)
        for told, near, far, forward in self.score.segments():
            if told["class"] == "packet":
                hop = self.truth.hop(near, far, forward=forward)
                ends = {near, far} == {0, n_points - 1}
                covered_ns = self._covered_ns(range(n_points) if ends else (near, far))
                found.append(Row(told, hop, self.late_ns, covered_ns, ends))
        return found

    def _covered_ns(self, points: Sequence[int]) -> tuple[int, int]:
        times_ns = [self.outcome.records[at].frames["time_ns"] for at in points]
        return max(int(t[0]) for t in times_ns), min(int(t[-1]) for t in times_ns)

    def n_open(self, row: Row) -> int:
        """Packets that arrived and are called ambiguous, because another one is the same."""
        is_forward = row.told["direction"] == "forward"
        at = self.score.point_of[row.told["far" if is_forward else "near"]]
        frames = np.arange(*self.truth.starts[at : at + 2])
        pieces = self.truth.joined("first")[frames]
        is_mine = self.outcome.journey.pieces["forward"][pieces] == is_forward
        is_open = self.score.status[frames] == "ambiguous"
        return int((is_open & is_mine & self.truth.is_identical[pieces]).sum())

    def late_steps(self) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        """Frames of packets from the last point before they were held to the first behind it."""
        edges, times_ns = self.truth.edges, self.truth.joined("time_ns")
        is_late = times_ns[edges.down] - times_ns[edges.up] >= self.late_ns
        return edges.up[is_late], edges.down[is_late]


@cache
def measured(case: Case, folder: Path, **options: Any) -> Measured:  # noqa: ANN401 - of merge
    """Simulate and merge; several tests ask about one merge."""
    scratch = folder / str(len(list(folder.iterdir())))
    scratch.mkdir()
    outcome = run(case.scenario())
    files = [str(file) for file in outcome.save(scratch)]
    same_clock = ["all"] if case.has_one_clock else []
    return Measured(outcome, pcaplat.merge(files, same_clock=same_clock, **options), case.late_ns)


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that lasts as long as the merges are kept."""
    return tmp_path_factory.mktemp("late")


FAST = tuple(
    Case(n_points, share, late_ns, has_one_clock)
    for n_points, share, late_ns, has_one_clock in (
        (2, 0.001, 30 * MS, True),
        (2, 0.01, 3 * SECOND, False),
        (2, 0.05, 5 * MS, True),
        (2, 0.05, 200 * MS, False),
        (3, 0.001, 5 * MS, False),
        (3, 0.01, 200 * MS, True),
        (3, 0.05, 30 * MS, False),
        (3, 0.001, 3 * SECOND, True),
        (6, 0.001, 200 * MS, False),
        (6, 0.01, 30 * MS, True),
        (6, 0.01, 5 * MS, False),
        (6, 0.05, 3 * SECOND, True),
    )
)
SAYING_AGAIN = only("bulk", "udp")
"""Receivers say the same acknowledgment again and again while data is late, equal to the byte."""
KINDS = (MIX, only("tcp"), only("udp"), only("icmp"))


def of_kinds(*kinds: tuple[tuple[str, float], ...]) -> tuple[Case, ...]:
    every = product(N_POINTS, SHARES, LATE_NS, (True, False), kinds)
    return tuple(Case(*chosen) for chosen in every)


def each(cases: Sequence[Case]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("case", cases, ids=str)


def lost_wrongly(found: Measured) -> dict[str, Any]:
    return {
        row.name: (row.told["n"], row.told["n_lost"]) for row in found.rows if row.told["n_lost"]
    }


def told_wrongly(found: Measured) -> dict[str, Any]:
    """Where n, max or mean is not that of all packets that came, early or late."""
    wrong = {}
    for row in found.rows:
        true_ns = row.hop.packets_ns
        told = [row.told[name] for name in ("n", "max_ns", "mean_ns")]
        true = [len(true_ns), int(true_ns.max()), float(true_ns.mean())]
        n_open = found.n_open(row)
        # a packet at the very end of the time may be counted or not
        slack = [1, row.slack_ns, row.slack_ns + (told[0] != true[0]) * true[2] / len(true_ns)]
        if n_open:
            # which of them took how long nobody can tell: the mean is within its interval
            ends = (row.told["mean_lo_ns"] or math.inf, row.told["mean_hi_ns"] or -math.inf)
            is_inside = ends[0] - row.slack_ns <= true[2] <= ends[1] + row.slack_ns
            slack[0], slack[2] = 1 + n_open, math.inf if is_inside else slack[2]
        if any(t is None or abs(t - u) > s for t, u, s in zip(told, true, slack, strict=True)):
            wrong[row.name] = (told, true)
    return wrong


def late_wrongly(found: Measured) -> dict[str, Any]:
    told = {row.name: (row.told.get("n_late"), row.n_late) for row in found.rows}
    return {name: two for name, two in told.items() if two[0] != two[1]}


def unmatched_late(found: Measured, but: np.ndarray[Any, Any] | None = None) -> int:
    """How many late packets are not matched to their own frame, but for some pieces."""
    n_frames = int(found.truth.starts[-1])
    (up, down), (late_up, late_down) = found.score.pairs, found.late_steps()
    assert len(late_up) > 0
    is_left = ~np.isin(late_up * n_frames + late_down, up * n_frames + down)
    if but is not None:
        is_left &= ~but[found.truth.joined("first")[late_up]]
    return int(is_left.sum())


def has_late_ones(found: Measured) -> bool:
    return any(row.n_late for row in found.rows)


COPIED = tuple(
    Case(len(copied), share, late_ns, has_one_clock, copied=copied)
    for copied, share, late_ns, has_one_clock in (
        ((0, 1), 0.01, 30 * MS, True),
        ((1, 0), 0.01, 200 * MS, False),
        ((0.3, 0), 0.05, 5 * MS, True),
        ((0, 0.3, 0), 0.01, 3 * SECOND, True),
        ((0, 1, 0), 0.01, 30 * MS, False),
        ((0.3, 0, 1), 0.05, 200 * MS, True),
        ((0, 0, 1, 0, 0.3, 0), 0.01, 5 * MS, True),
    )
)


@each(COPIED)
def test_late_packets_that_points_see_twice_are_counted_as_others(
    case: Case, scratch: Path
) -> None:
    found = measured(case, scratch)
    assert has_late_ones(found)
    assert lost_wrongly(found) == {}
    assert told_wrongly(found) == {}
    assert late_wrongly(found) == {}
    assert found.score.n_wrong == 0
    assert unmatched_late(found) == 0


@each(COPIED)
def test_copies_of_late_packets_are_of_their_packet(case: Case, scratch: Path) -> None:
    packets = measured(case, scratch).result.packets.collect()
    copies = packets.filter(pl.col("status") == "duplicate")
    originals = packets.filter(pl.col("status") == "matched")
    assert len(copies) > 0
    assert copies["trajectory_id"].null_count() == 0
    of_point = ["point", "trajectory_id"]
    assert len(copies.join(originals, of_point, "anti")) == 0


@each(FAST)
def test_no_late_packet_is_lost(case: Case, scratch: Path) -> None:
    found = measured(case, scratch)
    assert has_late_ones(found)
    assert lost_wrongly(found) == {}


@each(FAST)
def test_max_and_mean_have_late_packets_in(case: Case, scratch: Path) -> None:
    assert told_wrongly(measured(case, scratch)) == {}


@each(FAST)
def test_late_packets_are_counted_where_they_were_held(case: Case, scratch: Path) -> None:
    found = measured(case, scratch)
    assert late_wrongly(found) == {}


@each(FAST)
def test_every_late_packet_is_matched_to_its_own_frame(case: Case, scratch: Path) -> None:
    found = measured(case, scratch)
    assert found.score.n_wrong == 0
    assert unmatched_late(found) == 0


@each(FAST)
def test_nothing_that_was_found_is_later_than_the_waiting_time(case: Case, scratch: Path) -> None:
    """By default it is the slowest that was found, twenty times the usual at least."""
    for row in measured(case, scratch).rows:
        least_ns = max(row.told["max_ns"], 20 * row.told["p50_ns"] if not row.has_ends else 0)
        assert row.told["loss_threshold_ns"] >= least_ns - row.slack_ns


@pytest.mark.slow
@each(of_kinds(*KINDS))
def test_late_packets_of_any_kind(case: Case, tmp_path: Path) -> None:
    found = measured.__wrapped__(case, tmp_path)
    assert has_late_ones(found)
    assert lost_wrongly(found) == {}
    assert told_wrongly(found) == {}
    assert late_wrongly(found) == {}
    assert found.score.n_wrong == 0
    assert unmatched_late(found) == 0


def unaccounted(found: Measured) -> dict[str, Any]:
    """Where what was decided and what is told to be undecided are not all that came.

    The number of both is known; of the undecided, how many were late and what they took is bounded.
    """
    wrong = {}
    for row in found.rows:
        true_ns, told, slack_ns = row.hop.packets_ns, row.told, row.slack_ns
        n_open = told["n_undecided"]
        most_ns = max(told["max_ns"], told["undecided_max_ns"] or 0)
        ends = ("mean_lo_ns", "mean_hi_ns") if n_open else ("mean_ns", "mean_ns")
        least_ns, mean_most_ns = (told[name] for name in ends)
        is_right = (
            # a packet at the very end of the time may be counted or not
            abs(told["n"] + n_open - len(true_ns)) <= 1
            and told["n_late"] <= row.n_late <= told["n_late"] + n_open
            and told["max_ns"] - slack_ns <= true_ns.max() <= most_ns + slack_ns
            # no interval says nothing
            and (least_ns is None or least_ns - slack_ns <= true_ns.mean())
            and (mean_most_ns is None or true_ns.mean() <= mean_most_ns + slack_ns)
        )
        if not is_right:
            names = ("n", "n_undecided", "n_late", "max_ns", "undecided_max_ns", *ends)
            true = (len(true_ns), row.n_late, int(true_ns.max()), float(true_ns.mean()))
            wrong[row.name] = ([told[name] for name in names], true)
    return wrong


ABSTAINING = pytest.mark.xfail(
    strict=True, reason="issue 18: of a flow that says so much again, others are undecided too"
)


def check_equal_ones(found: Measured) -> None:
    """Of packets equal to the byte no capture shows which of them was late.

    Three leave within a microsecond, two arrive at once and one 3 s later: each of them may be the
    late one. So they abstain, but as many arrived as were sent: none is lost.
    """
    assert has_late_ones(found)
    assert lost_wrongly(found) == {}
    assert found.score.n_wrong == 0
    assert unaccounted(found) == {}
    assert unmatched_late(found, found.truth.is_identical) == 0


@each([Case(n, 0.05, 30 * MS, has_one_clock=True, shares=SAYING_AGAIN) for n in (2, 3)])
def test_late_packets_that_equal_others_are_accounted_for(case: Case, scratch: Path) -> None:
    check_equal_ones(measured(case, scratch))


@pytest.mark.slow
@pytest.mark.parametrize(
    "case",
    [
        pytest.param(case, id=str(case), marks=ABSTAINING if is_worst else [])
        for case in of_kinds(SAYING_AGAIN)
        for is_worst in [(case.n_points, case.share, case.late_ns) == (6, 0.05, 3 * SECOND)]
    ],
)
def test_any_late_packets_that_equal_others_are_accounted_for(case: Case, tmp_path: Path) -> None:
    check_equal_ones(measured.__wrapped__(case, tmp_path))


WORSE = tuple(
    Case(n_points, 0.01, late_ns, has_one_clock, lost_share=0.01, missed_share=missed, seed=seed)
    for n_points, late_ns, has_one_clock, missed, seed in (
        (2, 30 * MS, True, 0.0, 1),
        (2, 3 * SECOND, False, 0.0, 2),
        (3, 5 * MS, False, 0.01, 3),
        (3, 200 * MS, True, 0.01, 4),
        (6, 30 * MS, True, 0.01, 5),
        (6, 3 * SECOND, False, 0.01, 6),
    )
)


def in_doubt(found: Measured) -> int:
    """Packets that were lost behind a point that did not capture them: by two segments or more."""
    outcome = found.outcome
    times_ns, seen = outcome.journey.times_ns, found.truth.seen >= 0
    passed = times_ns >= 0
    is_lost = ~passed.all(axis=1) & seen.any(axis=1)
    n_hops = passed.shape[1]
    last = np.where(
        found.truth.forward,
        n_hops - 1 - passed[:, ::-1].argmax(axis=1),
        passed.argmax(axis=1),
    )
    return int((is_lost & ~seen[np.arange(len(seen)), last]).sum())


@each(WORSE)
def test_loss_beside_late_packets_is_counted_right(case: Case, scratch: Path) -> None:
    found = measured(case, scratch)
    open_n, total, bounds = in_doubt(found), 0, [0, 0]
    for row in found.rows:
        if not row.has_ends or case.n_points == 2:
            least, most = row.n_lost
            assert least - 1 <= row.told["n_lost"] <= most + open_n + 1, row.name
            total, bounds = total + row.told["n_lost"], [bounds[0] + least, bounds[1] + most]
    assert bounds[0] > 10 * (case.n_points - 1)
    assert bounds[0] - 2 <= total <= bounds[1] + open_n + 2


@each(WORSE)
def test_late_packets_beside_loss_are_counted_right(case: Case, scratch: Path) -> None:
    found = measured(case, scratch)
    for row in found.rows:
        assert row.n_late - row.told["n_late"] == 0, row.name
        assert row.told["max_ns"] == pytest.approx(row.hop.packets_ns.max(), abs=row.slack_ns)


@each(WORSE)
def test_late_packets_beside_loss_are_matched_to_their_own(case: Case, scratch: Path) -> None:
    found = measured(case, scratch)
    assert found.score.n_wrong == 0
    assert unmatched_late(found) == 0


@each([case for case in WORSE if case.missed_share])
def test_what_the_capture_dropped_is_counted_right_beside_late_packets(
    case: Case, scratch: Path
) -> None:
    found = measured(case, scratch)
    told = {row["point"]: row["n_missed"] for row in found.result.document["points"]}
    times_ns, seen = found.outcome.journey.times_ns, found.truth.seen >= 0
    for hop in range(1, case.n_points - 1):
        before, after = (seen[:, side].any(axis=1) for side in (slice(hop), slice(hop + 1, None)))
        n_missed = int(((times_ns[:, hop] >= 0) & ~seen[:, hop] & before & after).sum())
        assert n_missed > 10
        assert abs(told[f"p{hop}"] - n_missed) <= 1


DROPPING = tuple(
    Case(
        n_points,
        share,
        late_ns,
        has_one_clock,
        shares,
        lost_share=lost,
        missed_share=missed,
        seed=3,
    )
    for n_points, share, late_ns, has_one_clock, shares, lost, missed in (
        (2, 0.05, 30 * MS, False, MIX, 0.02, 0.02),
        (3, 0.05, 30 * MS, True, only("udp"), 0.01, 0.01),
        (6, 0.05, 30 * MS, True, MIX, 0.01, 0.02),
    )
)
"""Enough are late that the window is as wide, and every point drops some of its capture."""


@each(DROPPING)
def test_late_packets_of_which_none_is_sent_again_are_matched_whatever_points_drop(
    case: Case, tmp_path: Path
) -> None:
    scenario = case.scenario()
    points = tuple(replace(point, missed_share=case.missed_share) for point in scenario.points)
    outcome = run(replace(scenario, points=points))
    files = [str(file) for file in outcome.save(tmp_path)]
    same_clock = ["all"] if case.has_one_clock else []
    found = Measured(outcome, pcaplat.merge(files, same_clock=same_clock), case.late_ns)
    assert (found.score.n_wrong, unmatched_late(found)) == (0, 0)
    rows = found.result.matches.collect()
    assert "late" in rows["matched_by"].to_list()


LATE_ONE = Case(3, 0.01, 30 * MS, has_one_clock=True)


def test_what_is_later_than_the_declared_time_is_lost(scratch: Path) -> None:
    found = measured(LATE_ONE, scratch, lost_after="10ms")
    n_late = 0
    for row in found.rows:
        assert row.told["loss_threshold_ns"] == 10 * MS
        assert row.told["n_late"] == 0
        assert row.told["n_lost"] == row.n_late
        assert row.told["max_ns"] < 10 * MS
        n_late += row.n_late
    assert n_late > 0


def test_what_comes_within_the_declared_time_is_late(scratch: Path) -> None:
    found = measured(LATE_ONE, scratch, lost_after="100ms")
    assert {row.told["loss_threshold_ns"] for row in found.rows} == {100 * MS}
    assert (late_wrongly(found), lost_wrongly(found)) == ({}, {})


def test_the_command_line_takes_the_waiting_time(tmp_path: Path) -> None:
    files = run(LATE_ONE.scenario()).save(tmp_path)
    program = Path(sys.executable).parent / "pcaplat"
    command = [program, "merge", "--quiet", "--same-clock", "all", "--format", "json"]
    done = subprocess.run(
        [*map(str, command), "--lost-after", "10ms", *map(str, files)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, '"loss_threshold_ns": 10000000' in done.stdout) == (0, True)


def test_late_packets_are_warned_of(scratch: Path) -> None:
    found = measured(LATE_ONE, scratch)
    n_late = sum(row.n_late for row in found.rows if not row.has_ends)
    texts = [row["text"] for row in found.result.document["warnings"]]
    assert any("late" in text and str(n_late) in text for text in texts)


HELD = links(held_share=0.002, held_ns=30 * MS)
DROPPED = at(("leaf", "up", "vm"), missed_share=0.02)
WORSE_LOSS = together(links(lost_share=0.02), DROPPED)
ATTACKS: dict[str, Contrast] = {
    # an original that got lost, and its repetition that the point before it did not capture
    **{
        f"resent byte for byte after {after_ns // MS} ms": together(
            NO_NUMBERS,
            WORSE_LOSS,
            traffic(shares=only("tcp", "bulk"), retransmit_ns=after_ns),
        )
        for after_ns in (5 * MS, 30 * MS, 200 * MS, 3 * SECOND)
    },
    "resent byte for byte, and some late": together(
        NO_NUMBERS, WORSE_LOSS, HELD, traffic(shares=only("tcp", "bulk"), retransmit_ns=30 * MS)
    ),
    **{
        f"heartbeats every {gap_ns * 20 // MS} ms": together(
            EFFECTS["heartbeats"], WORSE_LOSS, traffic(gap_ns=gap_ns)
        )
        for gap_ns in (MS // 10, MS, 10 * MS)
    },
    "heartbeats, and some late": together(
        EFFECTS["heartbeats"], WORSE_LOSS, HELD, traffic(gap_ns=MS)
    ),
    "IP ID wraps": together(EFFECTS["IP ID wraps"], WORSE_LOSS, traffic(gap_ns=MS)),
    "IP ID wraps, and some late": together(
        EFFECTS["IP ID wraps"], WORSE_LOSS, HELD, traffic(gap_ns=MS)
    ),
    **{
        f"identities of {n:,} values": together(weak(n), WORSE_LOSS, traffic(gap_ns=MS))
        for n in (300, 3_000, 30_000)
    },
    "identities of 3,000 values, and some late": together(
        weak(3_000), WORSE_LOSS, HELD, traffic(gap_ns=MS)
    ),
    "pure ACKs": together(EFFECTS["pure ACKs, loss"], WORSE_LOSS),
}


@cache
def attacked(
    name: str,
    seed: int,
    folder: Path,
    n_packets: int = 4_000,
    same_clock: tuple[str, ...] = ("all",),
) -> Score:
    """Two tests ask about one merge."""
    scratch = folder / f"{len(list(folder.iterdir()))}"
    scratch.mkdir()
    outcome = run(ATTACKS[name](base(n_packets, seed)))
    files = [str(file) for file in outcome.save(scratch)]
    return Score(Truth(outcome), pcaplat.merge(files, same_clock=same_clock))


CROWDED = "resent byte for byte, and some late"
"""Its flows acknowledge the same byte again and again, within a microsecond."""


def late_and_wrong(score: Score) -> list[int]:
    """How late the packets of wrong pairs of packets would be that took more than a millisecond."""
    (up, down), times_ns = score.pairs, score.truth.joined("time_ns")
    took_ns = (times_ns[down] - times_ns[up])[score.n_shared == 0]
    return [ns for ns in took_ns.tolist() if abs(ns) > MS]


@pytest.mark.parametrize("name", ATTACKS)
def test_no_late_pair_is_made_of_packets_that_repeat(name: str, scratch: Path) -> None:
    score = attacked(name, 1, scratch)
    assert len(score.pairs[0]) > 1_000
    assert late_and_wrong(score) == []


def held_and_wrong(score: Score) -> list[int]:
    """Packets of wrong pairs that a link held."""
    truth, (up, down) = score.truth, score.pairs
    times_ns = truth.outcome.journey.times_ns
    is_reached = (times_ns[:, 1:] >= 0) & (times_ns[:, :-1] >= 0)
    is_held = (is_reached & (np.abs(np.diff(times_ns)) > MS)).any(axis=1)
    wrong = np.concatenate([up, down])[np.tile(score.n_shared == 0, 2)]
    is_wrong = np.isin(truth.seen, wrong).any(axis=1)
    return np.flatnonzero(is_held & is_wrong).tolist()


@pytest.mark.parametrize("name", ATTACKS)
def test_no_pair_is_wrong_for_what_is_late(name: str, scratch: Path) -> None:
    """Neither is another one taken where the own is late."""
    assert held_and_wrong(attacked(name, 1, scratch)) == []


@pytest.mark.parametrize("name", ATTACKS)
def test_other_pairs_are_wrong_only_where_that_is_told(name: str, scratch: Path) -> None:
    """Of two equal packets within 256 ns one is lost, and a point does not capture the other."""
    score = attacked(name, 1, scratch)
    told_frac = score.result.document["matching"]["false_match_upper_frac"]
    # the share that is told is an expectation: how many there are varies about it
    most = poisson.ppf(0.99, told_frac * len(score.pairs[0])) if name == CROWDED else 0
    assert score.n_wrong <= most


UNLUCKY = pytest.mark.xfail(
    reason="Of 2,072 late pairs of 16 seeds, 0.14 wrong ones are told as expected. This is one.",
    raises=AssertionError,
    strict=True,
)


def attack(name: str, seed: int) -> Any:  # noqa: ANN401 - pytest does not name what it takes
    is_unlucky = (name, seed) == ("identities of 3,000 values, and some late", 2)
    return pytest.param(name, seed, marks=[UNLUCKY] * is_unlucky)


@pytest.mark.slow
@pytest.mark.parametrize("same_clock", [("all",), ()], ids=["one clock", "not declared"])
@pytest.mark.parametrize(("name", "seed"), [attack(*one) for one in product(ATTACKS, range(2, 7))])
def test_no_late_pair_is_made_of_packets_that_repeat_at_length(
    name: str, seed: int, same_clock: tuple[str, ...], tmp_path: Path
) -> None:
    score = attacked.__wrapped__(name, seed, tmp_path, 20_000, same_clock)
    assert late_and_wrong(score) == []


CLIENT, SERVER, SCRIPT_SERVER = "10.0.0.1", "10.0.0.2", "10.0.0.3"
LINE = both_ways({("a", "b"): 4_000, ("b", "c"): 7_000})
WAY = ("a", "b", "c")


def chatter(n: int, gap_ns: int) -> list[Packet]:
    """Requests and answers of UDP, each unlike the others: what tells the path and its clocks."""
    made = []
    for turn in range(n):
        t_ns = START_NS + turn * gap_ns + turn * 7_919 % 1_009
        ends, ports, data = (CLIENT, SERVER), (40_000, 53), turn.to_bytes(4) * 8
        made.append(Packet(t_ns, (WAY,), datagram(ends, ports, turn + 1, data)))
        back = datagram(ends[::-1], ports[::-1], turn + 1, data)
        made.append(Packet(t_ns + 60_000 + turn % 89, (WAY[::-1],), back))
    return made


def script(n: int, t_ns: int, gap_ns: int) -> list[Packet]:
    """Requests without an IP ID, each unlike the others, and the same whenever it is run."""
    return [
        Packet(
            t_ns + at * gap_ns + at * 31 % 977,
            (WAY,),
            datagram((CLIENT, SCRIPT_SERVER), (45_000 + at % 7, 514), 0, at.to_bytes(4) * 12),
        )
        for at in range(n)
    ]


SCRIPTED = {
    # how many times it is run, packets of a run, how often b loses or a does not capture one
    "twice, single ones": (2, 600, 0.02, 0.02),
    "five times, single ones": (5, 300, 0.05, 0.05),
    "twice, most of them": (2, 60, 0.5, 0.5),
}


def scripted(name: str, after_ns: int, seed: int) -> Network:
    """What was lost behind a in one run, a did not capture in the next: once at each point."""
    n_runs, n, lost, missed = SCRIPTED[name]
    packets = chatter(1_500, 4 * after_ns // 1_500)
    first = len(packets)
    for turn in range(n_runs):
        packets += script(n, START_NS + (turn + 1) * after_ns // 2, after_ns // (3 * n))
    chance = np.random.default_rng(seed + 100)
    n_later = len(packets) - first
    is_missed, is_lost = chance.random(n_later) < missed, chance.random(n_later) < lost
    return walk(
        packets,
        Edges(LINE),
        seed,
        missed=lambda point, number: (
            number >= first and bool((is_missed if point == "a" else is_lost)[number - first])
        ),
    )


def outage(after_ns: int, seed: int) -> Network:
    """A whole run of the script is lost behind a; of the next, a captured nothing."""
    packets = chatter(1_500, 4 * after_ns // 1_500)
    first, n = len(packets), 40
    for turn in range(2):
        packets += script(n, START_NS + (turn + 1) * after_ns, 100_000)
    return walk(
        packets,
        Edges(LINE),
        seed,
        missed=lambda point, number: (
            first <= number < first + n if point != "a" else number >= first + n
        ),
    )


TREE = {("sender", "switch"): 4_000} | {("switch", f"r{at}"): 3_000 + at for at in range(1, 4)}


def group(late: dict[tuple[str, str], tuple[float, int]], seed: int = 1) -> Network:
    """Datagrams to groups of three receivers each; a fiftieth is lost on the way to the second."""
    ways = tuple(("sender", "switch", f"r{at}") for at in range(1, 4))
    chance = np.random.default_rng(seed)
    packets = []
    for number in range(6_000):
        ends = ("10.0.0.9", f"239.1.1.{number % 3 + 1}")
        frame = datagram(ends, (40_000 + number % 3, 5_001), number // 3 + 1, chance.bytes(200))
        packets.append(Packet(START_NS + number * 500_000, ways, frame))
    return walk(packets, Edges(TREE, lost={("switch", "r2"): 0.02}, late=late), seed)


@pytest.mark.one_in(5)
@pytest.mark.parametrize("same_clock", [["all"], []])
@pytest.mark.parametrize("late_ns", [30 * MS, 2 * SECOND])
@pytest.mark.parametrize(
    "edges", [[("switch", "r3")], [("switch", "r1"), ("switch", "r3")], [("sender", "switch")]]
)
def test_what_comes_late_to_one_of_several_receivers_is_not_lost(
    edges: list[tuple[str, str]], late_ns: int, same_clock: list[str], tmp_path: Path
) -> None:
    network = group(dict.fromkeys(edges, (0.005, late_ns)))
    result = pcaplat.merge(network.save(tmp_path), same_clock=same_clock)
    assert wrong_pairs(network, result) == []
    rows = {
        (row["near"], row["far"])[:: 1 if row["direction"] == "forward" else -1]: row
        for row in result.document["segments"]
    }
    assert rows.keys() >= TREE.keys()
    for edge in TREE:
        crossed, row = network.crossings()[edge], rows[edge]
        assert row["n"] == len(crossed)
        assert row["n_lost"] == sum(lost == edge for lost, _ in network.lost)
        if same_clock:
            assert row["n_late"] == sum(ns > late_ns for ns in crossed.values())
            assert row["max_ns"] == pytest.approx(max(crossed.values()), abs=20_000)


def wrong_pairs(network: Network, result: pcaplat.Result) -> list[tuple[int, int]]:
    """Pairs of different packets, by their numbers."""
    columns = ("up_file", "up_frame", "down_file", "down_frame")
    rows = result.matches.select(columns).collect().iter_rows()
    pairs = [(network.packet(up, a), network.packet(down, b)) for up, a, down, b in rows]
    assert len(pairs) > 1_000
    return [two for two in pairs if two[0] != two[1]]


@pytest.mark.parametrize("after_ns", [200 * MS, 3 * SECOND])
@pytest.mark.parametrize("name", SCRIPTED)
def test_what_a_script_sends_again_is_not_late(name: str, after_ns: int, tmp_path: Path) -> None:
    network = scripted(name, after_ns, 1)
    result = pcaplat.merge(network.save(tmp_path), same_clock=["all"])
    assert wrong_pairs(network, result) == []
    assert [row for row in result.document["segments"] if row.get("n_late")] == []


@pytest.mark.parametrize("after_ns", [30 * MS, 200 * MS, 3 * SECOND])
def test_what_a_script_sends_again_after_an_outage_is_not_late(
    after_ns: int, tmp_path: Path
) -> None:
    network = outage(after_ns, 1)
    result = pcaplat.merge(network.save(tmp_path), same_clock=["all"])
    assert wrong_pairs(network, result) == []


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 7))
@pytest.mark.parametrize("same_clock", [("all",), ()], ids=["one clock", "not declared"])
@pytest.mark.parametrize("name", SCRIPTED)
def test_what_a_script_sends_again_is_never_late(
    name: str, same_clock: tuple[str, ...], seed: int, tmp_path: Path
) -> None:
    after_ns = 200 * MS * 4**seed // 16
    network = scripted(name, after_ns, seed)
    result = pcaplat.merge(network.save(tmp_path), same_clock=same_clock)
    assert wrong_pairs(network, result) == []
