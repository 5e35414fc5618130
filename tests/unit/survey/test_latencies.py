"""Where latencies lie: centres and bands, on numbers of known truth."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from pcaplat.model.band import LEAST_ALONE_NS
from pcaplat.model.centre import NO_OFFSET, Centre
from pcaplat.stages.survey import survey
from pcaplat.stages.survey.delays.centres import band_of, fit_centre, follow
from pcaplat.stages.survey.delays.latencies import alone_ns
from pcaplat.stages.survey.observations import Observations
from tests.support.samples import START_NS, Walk, Watcher

if TYPE_CHECKING:
    from pcaplat.model.arrays import Ints
    from pcaplat.model.points import Pair

T_NS = START_NS + np.arange(3000, dtype=np.int64) * 1_000_000


def test_a_constant_offset_of_days_is_exact() -> None:
    d_ns = np.full(len(T_NS), 69 * 86_400 * 10**9 + 123_456_789, dtype=np.int64)
    centre = fit_centre(T_NS, d_ns)
    assert centre.at(T_NS).tolist() == d_ns.tolist()
    assert centre.at(T_NS[:1] - 10**12).tolist() == d_ns[:1].tolist()


@pytest.mark.parametrize("drift_ppm", [50, -50, 400])
def test_drift_is_followed_inside_and_beyond(drift_ppm: int) -> None:
    noise = np.random.default_rng(1).exponential(300, len(T_NS)).astype(np.int64)
    d_ns = 5_000_000_000 + (T_NS - START_NS) * drift_ppm // 1_000_000 + noise
    centre = fit_centre(T_NS, d_ns)
    beyond = np.array([START_NS - 10**10, T_NS[-1] + 10**10])
    for times in (T_NS, beyond):
        truth = 5_000_000_000 + (times - START_NS) * drift_ppm // 1_000_000 + 208  # median of noise
        assert np.max(np.abs(centre.at(times) - truth)) < 250
    assert centre.slope == pytest.approx(drift_ppm * 1e-6, rel=0.01)


def test_noise_alone_has_no_slope() -> None:
    noise = np.random.default_rng(2).exponential(5_000, len(T_NS)).astype(np.int64)
    assert fit_centre(T_NS, noise).slope == 0.0


def test_a_queue_that_fills_is_no_drift() -> None:
    """Probes sent at once wait for each other: differences grow as fast as time at the far end."""
    waits_ns = 5_000_000 * np.arange(100)
    at_far_ns = T_NS[0] + waits_ns
    assert fit_centre(at_far_ns, waits_ns).slope == 0.0
    assert fit_centre(at_far_ns, waits_ns // 200).slope == pytest.approx(0.005)


def test_a_step_of_the_clock_lies_between_two_packets() -> None:
    d_ns = np.where(np.arange(len(T_NS)) < 1500, 1_000, 501_000).astype(np.int64)
    centre = fit_centre(T_NS, d_ns)
    assert np.abs(centre.at(T_NS) - d_ns).max() <= 1


@pytest.mark.parametrize("n", [1, 2, 5])
def test_a_few_packets_make_one_knot(n: int) -> None:
    centre = fit_centre(T_NS[:n], np.full(n, 42, np.int64))
    assert len(centre.t_ns) == 1
    assert centre.at(T_NS).tolist() == [42] * len(T_NS)


def test_offsets_add_up_along_a_path() -> None:
    near = Centre(np.array([START_NS, START_NS + 10**9]), np.array([100, 1_100]), 1e-6)
    far = follow(near, T_NS[:1000], np.full(1000, 7_000, np.int64))
    # the near clock is 600 ns off in the middle; the far point sees that moment 7 µs later
    assert far.at(np.array([START_NS + 5 * 10**8 + 7_000])).tolist() == [7_600]
    assert far.slope == pytest.approx(1e-6, rel=1e-4)


@pytest.mark.parametrize("step_ns", [-300_000, -5_000_000, 2_000_000])
def test_a_step_of_the_near_clock_is_none_of_the_second(step_ns: int) -> None:
    true_ns = START_NS + np.arange(3000, dtype=np.int64) * 50_021
    near_ns = true_ns + np.where(np.arange(3000) >= 1_300, step_ns, 0)
    near = follow(NO_OFFSET, true_ns, near_ns - true_ns)
    far = follow(near, near_ns, true_ns + 7_000 - near_ns)
    doubtful_ns = near.doubtful()
    is_doubtful = np.zeros(3000, bool)
    for first_ns, last_ns in doubtful_ns.tolist():
        is_doubtful |= (true_ns >= first_ns) & (true_ns <= last_ns)
    residual_ns = near.at(near_ns) + far.at(true_ns + 7_000) - (near_ns - true_ns) - 7_000
    assert np.all(residual_ns[~is_doubtful] == 0)
    # only a clock that was set back says some times twice
    assert is_doubtful[1_300] == (step_ns < 0)
    assert is_doubtful.sum() <= 4 * abs(step_ns) / 50_021 + 4 * 31
    assert len(far.doubtful()) == 0


def test_where_a_clock_is_set_no_band_is_told() -> None:
    residual_ns = np.append(np.zeros(900, np.int64), np.full(100, -300_000))
    is_doubtful = residual_ns < 0
    band = band_of(residual_ns, 1, is_doubtful)
    assert (band.lo_ns, band.hi_ns) == (-302, 302)
    assert band.reach_ns == (-302, 302)
    assert band_of(residual_ns, 1, ~is_doubtful).lo_ns < -300_000, "most of them tell"


def test_the_band_is_the_middle_99_percent_and_half_as_much_on_either_side() -> None:
    residual_ns = np.arange(-50_000, 50_001, dtype=np.int64)
    band = band_of(residual_ns, resolution_ns=1000)
    assert band.lo_ns == -49_500 - (49_500 + 300 + 2_000)
    assert band.hi_ns == 49_500 + (49_500 + 300 + 2_000)


def test_pairs_of_two_packets_widen_no_band() -> None:
    chance = np.random.default_rng(1)
    packets_ns = chance.exponential(1_000, 7_000).astype(np.int64)
    pairs_ns = chance.integers(-300_000, 300_000, 3_000)
    again_ns = np.sort(chance.integers(0, 300_000, 6_000))
    both_ns = np.append(packets_ns, pairs_ns)

    def edges_ns(residual_ns: Ints, one_ns: Ints, other_ns: Ints, missed: float = 0.5) -> Pair:
        band = band_of(residual_ns, 1, again_ns=(one_ns, other_ns), missed_frac=missed)
        assert band.outside_frac < 0.01
        return band.lo_ns, band.hi_ns

    lo_ns, hi_ns = edges_ns(both_ns, again_ns, again_ns)
    assert -20_000 < lo_ns < 0 < hi_ns < 20_000
    assert band_of(both_ns, 1).hi_ns > 250_000, "no packet comes again"
    assert edges_ns(both_ns, again_ns, again_ns[::3])[1] > 250_000, "too few do at a point"
    assert edges_ns(both_ns, again_ns, again_ns + 300_000)[1] > 250_000, "after other times"
    assert edges_ns(both_ns, again_ns, again_ns, 0.1)[1] > 250_000, "points miss too few"
    late_ns = np.append(packets_ns, np.abs(pairs_ns))
    assert edges_ns(late_ns, again_ns, again_ns)[1] > 250_000, "packets are late"
    assert edges_ns(-late_ns, again_ns, again_ns)[0] < -250_000, "or early"


def test_a_bands_density_is_relative_to_a_uniform_one() -> None:
    residual_ns = np.random.default_rng(3).normal(0, 500, 20_000).astype(np.int64)
    band = band_of(residual_ns, 1)
    density = np.array(band.density)
    assert density.mean() == pytest.approx(1.0)
    assert np.all(density > 0)
    middles = band.lo_ns + (np.arange(len(density)) + 0.5) * (band.hi_ns - band.lo_ns) / len(
        density
    )
    normal = np.exp(-((middles / 500) ** 2) / 2)
    normal *= len(density) / normal.sum()
    is_likely = normal > 0.5
    assert np.max(np.abs(density / normal - 1)[is_likely]) < 0.5
    assert np.mean(np.abs(density / normal - 1)[is_likely]) < 0.1


@pytest.mark.parametrize("n", [1, 2, 31, 33])
def test_of_few_packets_the_density_is_one_about_them(n: int) -> None:
    band = band_of(np.arange(n, dtype=np.int64), 1)
    density = np.array(band.density)
    assert density.mean() == pytest.approx(1.0)
    at = (n // 2 - band.lo_ns) * len(density) // (band.hi_ns - band.lo_ns)
    assert density[at] > 10 * density[0] > 0


@pytest.mark.parametrize("resolution_ns", [1, 1_000, 10_000])
def test_what_every_packet_takes_is_likelier_than_anything_else(resolution_ns: int) -> None:
    """All in the band's middle: on the edge of two bins it was of neither."""
    band = band_of(np.zeros(500, np.int64), resolution_ns)
    density = np.array(band.density)
    at = -band.lo_ns * len(density) // (band.hi_ns - band.lo_ns)
    assert density[at] == pytest.approx(density.max(), rel=0.01)
    assert density[at] == pytest.approx(density[at - 1])


def test_one_spike_does_not_widen_the_band() -> None:
    residual_ns = np.append(np.zeros(1000, np.int64), 9_000_000)
    assert band_of(residual_ns, 1).hi_ns == 302


class TestPathOfThree:
    WALK = Walk(
        (Watcher("a"), Watcher("b", 37_000_000_000, 20, missed_share=0.1), Watcher("c")),
        n_packets=4000,
    )
    FOUND = survey(*WALK.sample(), ["a", "b", "c"])

    def test_centres_hold_offset_drift_and_usual_delay(self) -> None:
        a, _, c = self.FOUND.along
        t_ns = np.array([START_NS + 10**8])
        forward, reverse = (centres[c].at(t_ns)[0] for centres in self.FOUND.centres)
        # two hops: 6 µs and two tails (median 671 ns) there, 10 µs and two tails back
        assert forward == pytest.approx(6_671, abs=60)
        assert reverse == pytest.approx(-10_671, abs=60)
        assert self.FOUND.centres[0][a].at(t_ns)[0] == 0

    def test_bands_name_upstream_first_and_count_what_was_missed(self) -> None:
        a, b, c = self.FOUND.along
        forward, reverse = self.FOUND.bands
        assert set(forward) == {(a, b), (b, c), (a, c)}
        assert set(reverse) == {(b, a), (c, b), (c, a)}
        assert forward[a, b].lost_frac == pytest.approx(0.1, abs=0.02)
        assert forward[a, b].phantom_frac == 0
        assert forward[b, c].phantom_frac == pytest.approx(0.1, abs=0.02)
        assert forward[a, c].lost_frac == 0

    def test_what_was_lost_and_sent_again_as_it_was_is_not_hidden(self) -> None:
        sample, points = self.WALK.sample()
        # a and c saw half of it once more, and b did not
        is_again = (sample.source[:, 0] != 1) & (sample.packets.key % 2 == 0)
        again = sample.packets.at(is_again)
        again = replace(again, t_ns=again.t_ns + 200_000_000)
        both = Observations(
            **{
                one.name: np.concatenate(
                    [getattr(some, one.name) for some in (sample.packets, again)]
                )
                for one in fields(Observations)
            }
        )
        source = np.concatenate((sample.source, sample.source[is_again]))
        found = survey(replace(sample, packets=both, source=source), points, ["a", "b", "c"])
        a, b, c = found.along
        forward, _ = found.bands
        assert forward[a, b].lost_frac == pytest.approx(0.4, abs=0.02)
        assert forward[a, c].lost_frac == 0

    def test_what_is_cut_on_the_way_is_not_missing(self) -> None:
        sample, points = self.WALK.sample()
        key, at_a = sample.packets.key, sample.source[:, 0] == 0
        # two thirds are of 9,000 bytes and get another key where they were cut: all but at a
        is_long = key % 3 != 0
        tcp_bytes = np.where(is_long & at_a, 9_000, np.where(is_long, 1_480, 32))
        packets = replace(
            sample.packets, key=np.where(is_long & ~at_a, key ^ 1, key), tcp_bytes=tcp_bytes
        )
        found = survey(replace(sample, packets=packets), points, ["a", "b", "c"])
        a, b, c = found.along
        forward, reverse = found.bands
        for band in (forward[a, b], reverse[c, b]):
            assert band.lost_frac == pytest.approx(0.1, abs=0.03)
        for band in (forward[a, c], reverse[c, a], reverse[b, a]):
            assert band.lost_frac < 0.003
        assert forward[a, b].phantom_frac < 0.003

    def test_bands_hold_the_residuals(self) -> None:
        a, b, _ = self.FOUND.along
        band = self.FOUND.bands[0][a, b]
        # a tail of 400 ns about its median of 277 ns: from -277 to 1,823 at 99.5 %
        assert -2_000 < band.lo_ns < -277
        assert 1_823 < band.hi_ns < 4_000


@pytest.mark.parametrize(("back_ns", "n_set"), [(2_000_000, 1), (0, 0), (-2_000_000, 0)])
def test_a_clock_is_set_where_both_directions_move_alike(back_ns: int, n_set: int) -> None:
    """A route moves one direction alone, or both against each other."""
    is_after = np.arange(len(T_NS)) >= 1_500
    there, back = (np.where(is_after, by_ns, 0).astype(np.int64) for by_ns in (2_000_000, back_ns))
    centre = follow(NO_OFFSET, T_NS, there, (T_NS, back))
    assert len(centre.set_ns) == n_set
    assert np.abs(centre.at(T_NS + there) - there).max() <= 1


def test_what_passes_while_the_near_clock_is_set_tells_nothing() -> None:
    set_ns = np.array([[T_NS[1_000], T_NS[1_200]]])
    near = replace(NO_OFFSET, set_ns=set_ns)
    d_ns = np.full(len(T_NS), 7_000, np.int64)
    d_ns[1_000:1_201] += 500_000
    assert np.all(follow(near, T_NS, d_ns).at(T_NS) == 7_000)


def test_what_is_alone_is_one_packet_while_hardly_any_come_again_and_are_missed() -> None:
    again_ns = np.arange(1, 1_001) * 10
    assert alone_ns(again_ns, 10_000, phantom_frac=0.01) == 10 * (0.0005 / 0.01 * 10_000 + 1)
    assert alone_ns(again_ns, 10_000, phantom_frac=0.1) == 10 * (0.0005 / 0.1 * 10_000 + 1)
    assert alone_ns(again_ns, 10_000, phantom_frac=0.0) == LEAST_ALONE_NS
    assert alone_ns(again_ns[:0], 10_000, phantom_frac=0.1) == LEAST_ALONE_NS
    assert alone_ns(again_ns + LEAST_ALONE_NS, 10, phantom_frac=0.1) == LEAST_ALONE_NS
