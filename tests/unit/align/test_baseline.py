"""Lines between bounds: the drifts that fit are those that a search of all drifts finds."""

import numpy as np
import pytest

from pcaplat.stages.align.baseline import MOST_DRIFT, WANDER, fit_drift

SPAN_NS = 1e10


@pytest.mark.parametrize("seed", range(20))
def test_the_drifts_that_fit_are_those_that_leave_room(seed: int) -> None:
    random = np.random.default_rng(seed)
    x, y = (np.sort(random.uniform(0, SPAN_NS, n)) for n in (40, 60))
    drift = random.uniform(-1e-4, 1e-4)
    f = np.rint(drift * x + random.exponential(5e4, 40))
    r = np.rint(drift * y - random.exponential(5e4, 60))
    found, least, most, room = fit_drift(x, f, y, r)
    tried = np.linspace(drift - 3e-5, drift + 3e-5, 3001)
    gap = (f - np.outer(tried, x)).min(axis=1) - (r - np.outer(tried, y)).max(axis=1)
    fitting, step = tried[gap >= 0], tried[1] - tried[0]
    assert least == pytest.approx(fitting[0], abs=step)
    assert most == pytest.approx(fitting[-1], abs=step)
    assert room >= gap.max()
    assert found == (0 if least <= 0 <= most else (least + most) / 2)


def test_bounds_that_cross_have_no_room_and_any_drift_nearby() -> None:
    x = y = np.linspace(0, SPAN_NS, 50)
    bent = 1e5 * np.sin(x / SPAN_NS * 9)
    found, least, most, room = fit_drift(x, bent + 10, y, bent - 10)
    assert room < 0
    assert (least, most) == (found - WANDER, found + WANDER)


def test_a_drift_beyond_any_clocks_is_cut() -> None:
    x = y = np.linspace(0, SPAN_NS, 50)
    _, least, most, _ = fit_drift(x, x * 0 + 1e12, y, y * 0 - 1e12)
    assert (least, most) == (-MOST_DRIFT, MOST_DRIFT)
