"""How far packets of one flow stay in order between two points."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from pcaplat import _native
from pcaplat.model.arrays import Ints
from pcaplat.model.band import Band
from pcaplat.model.centre import Centre
from pcaplat.model.points import Pair
from pcaplat.stages.survey.delays.latencies import doubtful, passed_in, residuals
from pcaplat.stages.survey.delays.relations import Relations, Shared, between
from pcaplat.stages.survey.path_order.routes import Routes

PRIOR = 0.05
"""So many overtakings are thought of anywhere besides those seen, and besides those to be
expected."""


class Overtaken(NamedTuple):
    """Packets that arrived before the one of their flow that was sent before them.

    `n_expected` is how many would have, were each one's delay a matter of its own. Queues keep the
    order instead: a packet that is late holds up those behind it.
    """

    n: int = 0
    n_expected: float = 0.0

    def order_kept(self, elsewhere: "Overtaken") -> float:
        """Give 0 if as many overtake as expected, or too few might; towards 1 the rarer it is.

        What is seen elsewhere on the path counts as one packet that might have been overtaken.
        """
        usual = min(1.0, (elsewhere.n + PRIOR) / (elsewhere.n_expected + PRIOR))
        return 1 - min(1.0, (self.n + usual) / (self.n_expected + 1))


def overtaken(t_ns: Ints, residual_ns: Ints, flow: Ints) -> Overtaken:
    """Count neighbours that are Type-P-Reordered (RFC 4737).

    Args:
        t_ns: When each packet left, ns on one scale.
        residual_ns: How much later than usual each arrived.
        flow: What each belongs to; packets of different flows may take different ways.
    """
    by = np.lexsort((t_ns, flow))
    is_next = np.diff(flow[by]) == 0
    gap_ns = np.diff(t_ns[by])[is_next]
    gain_ns = -np.diff(residual_ns[by])[is_next]
    shuffled = residual_ns[_native.random_order(len(residual_ns))]
    any_gain_ns = np.sort(residual_ns - shuffled)
    n_below = np.searchsorted(any_gain_ns, gap_ns, "right")
    n_expected = float(np.sum(1 - n_below / max(len(any_gain_ns), 1)))
    return Overtaken(int(np.sum(gain_ns > gap_ns)), n_expected)


def together(found: Iterable[Overtaken]) -> Overtaken:
    """Add up."""
    n, n_expected = np.sum([Overtaken(), *found], axis=0)
    return Overtaken(int(n), float(n_expected))


def with_order(
    bands: tuple[dict[Pair, Band], dict[Pair, Band]],
    relations: Relations,
    centres: tuple[Sequence[Centre], Sequence[Centre]],
    routes: Routes,
) -> tuple[dict[Pair, Band], dict[Pair, Band]]:
    """Say of every band how far packets keep their order.

    Args:
        bands: Of every pair of points, upstream first, forward and reverse.
        relations: What pairs of points share: the more neighbours of a flow are in it, the more
            it tells.
        centres: Of every point, forward and reverse.
        routes: Which way address pairs go.
    """
    doubtful_ns = [doubtful(some) for some in centres]
    found: tuple[dict[Pair, Overtaken], dict[Pair, Overtaken]] = ({}, {})
    for up, down in dict.fromkeys([*bands[0], *bands[1]]):
        goes = routes.going(between(relations, up, down), (up, down))
        for side, both in enumerate(goes):
            of_ends = centres[side][up], centres[side][down]
            found[side][up, down] = _overtaken(both, of_ends, doubtful_ns[side])
    first, second = (_with_order(*one) for one in zip(bands, found, strict=True))
    return first, second


def _with_order(bands: dict[Pair, Band], found: Mapping[Pair, Overtaken]) -> dict[Pair, Band]:
    path = together(found[ends] for ends in bands)
    return {
        ends: replace(band, order_kept=found[ends].order_kept(path)) for ends, band in bands.items()
    }


def _overtaken(both: Shared, centres: tuple[Centre, Centre], doubtful_ns: Ints) -> Overtaken:
    sure = both.at(~passed_in(both, centres[0], doubtful_ns))
    return overtaken(sure.t_ns, residuals(sure, centres), sure.flow)
