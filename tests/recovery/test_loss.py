"""Loss per segment where captures drop packets and the path forks: what was lost, and no more."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import pcaplat
from tests.recovery.simulator.effects import at, base, links, parallel, together, traffic
from tests.recovery.simulator.outcome import run
from tests.recovery.simulator.score import Score
from tests.recovery.simulator.truth import Truth

if TYPE_CHECKING:
    from pathlib import Path

    from tests.recovery.simulator.effects import Contrast
    from tests.recovery.simulator.scenario import Scenario

LOST = 0.02
SEEDS = (1, 2, 3)
DIRECTED = traffic(shares=(("tcp", 0.3), ("bulk", 0.2), ("udp", 0.4), ("icmp", 0.1)))
LOSSY = together(DIRECTED, links(lost_share=LOST))
DROPPING = together(LOSSY, at(("leaf", "spine"), missed_share=0.2))
EFFECTS: dict[str, Contrast] = {
    "a straight path": DROPPING,
    "ECMP": together(DROPPING, parallel("flow")),
    "LAG": together(DROPPING, parallel("packet")),
}


@dataclass(frozen=True)
class Loss:
    """A segment's loss as it was told, and as it was among all that entered, seen or not."""

    ends: tuple[str, str]
    told: float
    true: float
    is_held: bool

    @property
    def stage(self) -> tuple[str, ...]:
        """The ends, whichever of parallel points they are."""
        return tuple(name.rstrip("01") for name in self.ends)


def losses_of(scenario: Scenario, folder: Path) -> tuple[list[Loss], dict[str, dict[str, Any]]]:
    """Measure a scenario; its segments' losses, and the rows of its points."""
    outcome = run(scenario)
    with pcaplat.merge(outcome.save(folder)) as result:
        document = result.document
    rows = [row for row in document["segments"] if row["class"] == "packet"]
    found = [_loss(Truth(outcome), row) for row in rows]
    return found, {row["point"]: row for row in document["points"]}


def scored(scenario: Scenario, folder: Path) -> Score:
    outcome = run(scenario)
    files = [str(file) for file in outcome.save(folder)]
    return Score(Truth(outcome), pcaplat.merge(files, same_clock=["all"]))


def _loss(truth: Truth, row: dict[str, Any]) -> Loss:
    journey, scenario = truth.outcome.journey, truth.outcome.scenario
    names = [point.name for point in scenario.points]
    is_forward = row["direction"] == "forward"
    near, far = (names.index(str(row[end])) for end in ("near", "far"))
    up, down = (near, far) if is_forward else (far, near)
    hops = scenario.hop_of
    mine = (truth.forward == is_forward) & (journey.times_ns[:, hops[up]] >= 0)
    for point in (up, down):
        branch = scenario.points[point].branch
        mine &= True if branch is None else journey.branch == branch
    true = float((journey.times_ns[mine, hops[down]] < 0).mean())
    is_held = row["lost_lo_frac"] <= true <= row["lost_hi_frac"]
    return Loss((names[near], names[far]), row["lost_frac"], true, is_held)


@pytest.mark.parametrize("name", EFFECTS)
def test_capture_drops_change_no_loss_by_more_than_sampling(name: str, tmp_path: Path) -> None:
    """Every third loss was in excess before: what a point dropped of what got lost farther on."""
    found: list[Loss] = []
    for seed in SEEDS:
        folder = tmp_path / str(seed)
        folder.mkdir()
        found += losses_of(EFFECTS[name](base(3_000, seed)), folder)[0]
    for stage in {one.stage for one in found}:
        off = [one.told - one.true for one in found if one.stage == stage]
        told = np.mean([one.told for one in found if one.stage == stage])
        # six runs and directions of 1,200 packets at least, two thirds of them seen twice
        allowed = 3 * (0.08 if stage == ("vm", "far") else LOST) ** 0.5 / (6 * 800) ** 0.5
        assert abs(np.mean(off)) < allowed, (stage, told)
    assert np.mean([one.is_held for one in found]) > 0.9


def test_points_say_what_they_missed(tmp_path: Path) -> None:
    """Of a fifth; the ends of the path cannot know, and a point that misses nothing says 0."""
    _, points = losses_of(DROPPING(base(3_000, 4)), tmp_path)
    for name in ("leaf", "spine"):
        assert abs(points[name]["missed_frac"] - 0.2) < 3 * (0.16 / 2_000) ** 0.5
        assert points[name]["n_missed"] > 400
    assert (points["up"]["n_missed"], points["up"]["missed_frac"]) == (0, 0.0)
    for name in ("vm", "far"):
        assert (points[name]["n_missed"], points[name]["missed_frac"]) == (None, None)


EQUAL = {
    "pure ACKs": traffic(idents="zero", shares=(("bulk", 1.0),)),
    "resent byte for byte": traffic(
        idents="zero", has_tcp_stamps=False, shares=(("tcp", 0.5), ("bulk", 0.5))
    ),
}


@pytest.mark.parametrize("name", EQUAL)
def test_losses_of_equal_packets_are_counted_if_not_told(name: str, tmp_path: Path) -> None:
    """A fifth and a seventh were missing where it was in doubt which packets they were."""
    score = scored(together(EQUAL[name], links(lost_share=0.01))(base(4_000, 2)), tmp_path)
    n_lost = sum(one.n_truly_lost for one in score.figures)
    assert n_lost > 200
    assert score.counts()["all"].n_ambiguous > 20
    assert sum(abs(one.n_lost) for one in score.figures) <= 0.02 * n_lost
    assert score.n_wrong == 0


@pytest.mark.parametrize(
    "effect", [links(held_share=0.02), at(("leaf", "spine"), missed_share=0.2)]
)
def test_equal_packets_of_which_none_was_lost(effect: Contrast, tmp_path: Path) -> None:
    """Overtaken and missed, some end in doubt."""
    score = scored(together(EQUAL["pure ACKs"], effect)(base(4_000, 3)), tmp_path)
    assert len(score.figures) > 0
    assert [one.n_lost for one in score.figures] == [0] * len(score.figures)


def test_nothing_lost_stays_nothing(tmp_path: Path) -> None:
    """Drops of the captures alone are no loss of any segment."""
    drops = together(DIRECTED, at(("leaf", "spine"), missed_share=0.2))
    found, _ = losses_of(drops(base(2_000, 5)), tmp_path)
    assert {one.told for one in found} == {0.0}
