"""Links that take milliseconds and hardly vary: what goes the other way is no outlier."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from pcaplat.stages.survey import survey
from pcaplat.stages.survey.delays.relations import shared
from pcaplat.stages.survey.observations import unique_observations
from tests.recovery.simulator import Clock, Link, Point, Scenario, Traffic, run
from tests.recovery.simulator.score import Score
from tests.recovery.simulator.truth import Truth
from tests.recovery.test_recovery import merged
from tests.support.samples import Walk, Watcher, observations

if TYPE_CHECKING:
    from pathlib import Path

MS = 1_000_000


@pytest.mark.parametrize("share", [0.1, 0.3, 0.5, 0.55, 0.7, 0.9])
@pytest.mark.parametrize("takes_ns", [MS, 10 * MS, 100 * MS])
def test_both_directions_are_seen(share: float, takes_ns: int) -> None:
    watchers = (Watcher("a"), Watcher("b"), Watcher("c", 5_000 * MS))
    walk = Walk(watchers, takes_ns, takes_ns, 20_000, gap_ns=takes_ns // 10, forward_share=share)
    found = survey(*walk.sample())
    assert [found.name(point) for point in found.along] in (["a", "b", "c"], ["c", "b", "a"])
    assert found.warnings == []
    assert all(one.n > 50 for one in found.order_evidence)
    for one in found.order_evidence:
        assert one.distance_ns == pytest.approx(2 * takes_ns, rel=0.1)


def test_one_response_to_several_requests_counts() -> None:
    keys, at_ns = [1, 2, 3, 4], [0, MS, 2 * MS, 13 * MS]
    later_ns = [t_ns + 10 * MS for t_ns in at_ns[:3]] + [at_ns[3] - 10 * MS]
    near = observations(keys, at_ns, is_toward=[True, True, True, False])
    far = replace(observations(keys, later_ns), is_toward=near.is_toward)
    both, _ = shared(*unique_observations([near, far]))
    assert both.d_ns.tolist() == [10 * MS] * 3 + [-10 * MS]


def test_what_is_far_from_all_that_go_its_way_is_still_an_outlier() -> None:
    keys = list(range(200))
    at_ns = [number * MS for number in keys]
    is_toward = [number % 4 > 0 for number in keys]
    takes_ns = [10 * MS if toward else -10 * MS for toward in is_toward]
    takes_ns[77] = 210 * MS
    near = observations(keys, at_ns, is_toward=is_toward)
    far = observations(
        keys, [a + b for a, b in zip(at_ns, takes_ns, strict=True)], is_toward=is_toward
    )
    both, _ = shared(*unique_observations([near, far]))
    assert len(both) == 199
    assert set(both.d_ns.tolist()) == {10 * MS, -10 * MS}


@pytest.mark.parametrize("jitter_ns", [1_000, 50_000])
def test_packets_over_a_long_link_are_all_told(jitter_ns: int, tmp_path: Path) -> None:
    points = (Point("vm"), Point("up", Clock(7_000 * MS, 20)), Point("far", Clock(-100 * MS, -5)))
    links = (Link(5_000, 9_000, 800), Link(20 * MS, 20 * MS, jitter_ns))
    traffic = Traffic(2_000, gap_ns=300_000, constant_share=0.5, idents="zero")
    outcome = run(Scenario(points, links, traffic))
    result = merged(outcome, tmp_path)
    score = Score(Truth(outcome), result)
    assert (score.n_wrong, score.counts()["all"].recall) == (0, 1.0)
    assert all(row["n"] > 500 for row in result.document["path_evidence"])
