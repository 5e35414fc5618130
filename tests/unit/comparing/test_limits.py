"""Limits for a build: how often one without a change fails, and that a plain one does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import binom  # type: ignore[import-untyped]

from pcaplat.comparing.limits import limit_rows, parse_limit
from pcaplat.metrics.contrasts import Contrast
from pcaplat.statistics.intervals import across

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pcaplat.metrics.metric import MetricQuery

N_RUNS, N_BUILDS = 4, 1000
PAIRS = [(f"p{at}", f"p{at + 1}") for at in range(10)] + [("p0", "p10")]


@dataclass
class Build:
    """Differences of a few rounds, of segments that change by so many ns; the path is apart."""

    chance: np.random.Generator
    changes_ns: Sequence[float]

    def __call__(self, query: MetricQuery, *, is_relative: bool = False) -> Contrast:
        assert not is_relative
        change_ns = self.changes_ns[PAIRS.index(query.ends or PAIRS[-1])]
        found = across((change_ns + 1000 * self.chance.normal(size=N_RUNS)).tolist())
        return Contrast(found, found.value)


def rows_of(
    seed: int, changes_ns: Sequence[float], whole: tuple[str, str] = PAIRS[-1]
) -> list[dict[str, Any]]:
    build = Build(np.random.default_rng(seed), changes_ns)
    return limit_rows(parse_limit("10ns"), PAIRS, whole, build, 0.95)


def verdicts(seed: int, changes_ns: Sequence[float]) -> list[str]:
    return [row["verdict"] for row in rows_of(seed, changes_ns)]


def test_a_build_without_a_change_seldom_fails_for_one_of_ten_segments() -> None:
    """One in twenty: the path in 2.5 %, all segments together in as many. It was one in four."""
    changes_ns = [0.0] * len(PAIRS)
    n_failed = sum("above" in verdicts(seed, changes_ns) for seed in range(N_BUILDS))
    assert n_failed <= binom.ppf(0.999, N_BUILDS, 0.05)


def test_where_the_whole_path_was_not_measured_no_segment_stands_for_it() -> None:
    """Of a path that forks, no packet passes both ends."""
    seeds = range(200)
    rows = [rows_of(seed, [0.0] * len(PAIRS), ("p0", "other"))[-1] for seed in seeds]
    by_chance = [row for row in rows if row["lo"] is not None and row["lo"] > 10]
    assert by_chance
    assert not any(row["verdict"] == "above" for row in by_chance)
    assert all("as one of 11 segments" in row["reason"] for row in by_chance)


def test_one_segment_that_is_plainly_slower_fails_a_build() -> None:
    changes_ns = [0.0] * len(PAIRS)
    changes_ns[3] = 50_000.0
    found = verdicts(1, changes_ns)
    assert found[3] == "above"
    assert found.count("above") == 1


def test_a_segment_that_chance_made_slower_says_so() -> None:
    changes_ns = [0.0] * len(PAIRS)
    rows = [row for seed in range(40) for row in rows_of(seed, changes_ns)[:-1]]
    by_chance = [row for row in rows if row["lo"] > 10]
    assert by_chance
    assert {row["verdict"] for row in by_chance} == {"undecided"}
    assert all("as one of 10 segments may by chance (Holm)" in row["reason"] for row in by_chance)
