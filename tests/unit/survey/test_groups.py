"""Two groups of differences: directions where no packet is answered."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from pcaplat.stages.survey.delays.relations import Shared
from pcaplat.stages.survey.path_order.groups import two_groups

if TYPE_CHECKING:
    from collections.abc import Sequence

OFFSET_NS = 37_000_000_000


def shared(
    take_ns: Sequence[int], n: int = 40, drift_ppm: float = 0.0, jitter_ns: int = 300
) -> Shared:
    """Packets of as many address pairs, one way each; below 0 they come back."""
    chance = np.random.default_rng(len(take_ns))
    pair = np.arange(n * len(take_ns)) % len(take_ns)
    t_ns = np.arange(len(pair)) * 50_000
    away_ns = np.array(take_ns)[pair]
    waited_ns = np.rint(chance.exponential(jitter_ns, len(pair))).astype(np.int64)
    d_ns = OFFSET_NS + away_ns + np.sign(away_ns) * waited_ns
    d_ns += np.rint(t_ns * drift_ppm * 1e-6).astype(np.int64)
    some = np.ones(len(pair), np.bool_)
    return Shared(t_ns, d_ns, pair, pair, pair % 3 == 0, some, some, 0 * pair, 0 * pair)


@pytest.mark.parametrize("drift_ppm", [0.0, 30.0, -30.0])
def test_the_greater_differences_go_there(drift_ppm: float) -> None:
    takes_ns = (5_000, 5_100, -6_000, 5_050, -6_200, -6_100)
    found = two_groups(shared(takes_ns, drift_ppm=drift_ppm))
    assert found == {(at, at % 3 == 0): ns > 0 for at, ns in enumerate(takes_ns)}


@pytest.mark.parametrize(
    "takes_ns",
    [(5_000, 5_100, 5_050, 5_070), (5_000, 6_000, 7_000, 8_000), (5_000, 5_100, 5_050, -6_000)],
    ids=["one group", "sizes", "one against the rest"],
)
def test_what_is_no_two_groups_tells_nothing(takes_ns: tuple[int, ...]) -> None:
    assert two_groups(shared(takes_ns)) is None


def test_of_few_packets_nothing_is_told() -> None:
    assert two_groups(shared((5_000, 5_100, -6_000, -6_100), n=3)) is None
    assert two_groups(shared((5_000, -6_000), n=0)) is None
