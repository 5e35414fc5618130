"""The intervals of a summary hold the truth as often as they say; more in docs/coverage.md."""

import pytest

from tests.coverage_studies import SHAPES, SIZES, STATISTICS, Counts, Shape, study


def shares(counts: Counts, name: str, *, is_approximate: bool) -> tuple[int, float]:
    n = counts.printed[name, is_approximate]
    return n, counts.held[name, is_approximate] / n if n else 1.0


@pytest.mark.parametrize("shape", SHAPES[::2], ids=lambda shape: shape.name)
def test_a_few_runs_hold_the_truth(shape: Shape) -> None:
    counts = study(shape, 2_000, range(60), shape.truth())
    for name in ("mean", "p50", "two-way"):
        n, share = shares(counts, name, is_approximate=False)
        # 60 runs: four standard errors below 95 %
        assert n < 50 or share >= 0.84, name
    n, share = shares(counts, "p999", is_approximate=False)
    assert n == 0, "two packets beyond a quantile tell no interval"


def test_clocks_are_in_one_way_intervals_and_not_in_two_way_ones() -> None:
    (clocks,) = (shape for shape in SHAPES if shape.clock_ns)
    apart = study(clocks, 1_000, range(20), clocks.truth())
    assert shares(apart, "mean", is_approximate=False)[1] == 1
    one = Shape(clocks.name, clocks.latency_ns, clocks.time)
    same = study(one, 1_000, range(20), one.truth())
    assert apart.printed["two-way", False] == same.printed["two-way", False]


@pytest.mark.slow
@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name)
def test_a_thousand_runs_hold_the_truth(shape: Shape, n: int) -> None:
    counts = study(shape, n, range(1000), shape.truth())
    is_exact = shape.clock_ns == 0 and shape.step_ns == 1
    for name in STATISTICS:
        n_plain, share = shares(counts, name, is_approximate=False)
        # where the gate lets some runs through and not others, those look better than they are
        if n_plain >= 200:
            assert share >= (0.92 if n_plain >= 900 else 0.9), name
            assert share <= 0.98 or not is_exact, name
