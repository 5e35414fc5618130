//! How observations of one identity lie: at which points, how densely, and as likely as what.

use crate::matching::observation::Observation;
use crate::matching::resolve::posterior::LEAST_PHANTOM;
use crate::matching::resolve::trellis::MOST_FRAMES;
use crate::plan::{Band, Copies, Direction, Plan, per_us};

/// How observations of one identity lie.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Density {
    /// Those that are farther apart are no observations of one packet.
    pub(crate) gap_ns: i64,
    /// How many there are, per µs.
    pub(crate) rate: f64,
}

impl Density {
    /// How many other observations lie about one, per µs: what is usual for the run, or more.
    #[expect(clippy::cast_precision_loss, reason = "a density needs few digits")]
    pub(crate) fn at(&self, here: &[Observation], index: usize) -> f64 {
        let Some(at_ns) = here.get(index).map(|one| one.aligned_ns) else {
            return self.rate;
        };
        let from_ns = at_ns.saturating_sub(self.gap_ns);
        let to_ns = at_ns.saturating_add(self.gap_ns);
        let from = here.partition_point(|one| one.aligned_ns < from_ns);
        let to = here.partition_point(|one| one.aligned_ns <= to_ns);
        let n_others = (to - from).saturating_sub(1) as f64;
        self.rate.max(n_others / 2.0 * per_us(self.gap_ns))
    }
}

/// Density of a residual, per µs, times the probability not to be lost.
pub(crate) fn density(band: &Band, residual_ns: i64) -> f64 {
    (1.0 - band.lost_frac) * band.density_per_us(residual_ns)
}

/// How likely a packet that points on its way did not see is still on it: they missed it, or it was
/// lost, which is more likely where points miss few.
pub(crate) fn goes_on(
    plan: &Plan,
    direction: Direction,
    passed: &[u16],
    (up, down): (u16, u16),
) -> f64 {
    let place = |point: u16| plan.place(direction, point);
    let between = |point: &&u16| (place(up) + 1..place(down)).contains(&place(**point));
    let mut likely = 1.0_f64;
    for point in passed.iter().filter(between) {
        let before = plan.band(direction, up, *point);
        let after = plan.band(direction, *point, down);
        let (Some(before), Some(after)) = (before, after) else {
            continue;
        };
        let not_seen = likely * before.lost_frac + 1.0 - likely;
        let missed = likely * after.phantom_frac.max(LEAST_PHANTOM);
        likely = if missed < not_seen {
            missed / not_seen
        } else {
            1.0
        };
    }
    likely
}

/// Per observation, the density of copies of an earlier one there; observations in order of point and time.
pub(crate) fn densities_of_copies(plan: &Plan, observations: &[Observation]) -> Vec<f64> {
    let mut found = Vec::with_capacity(observations.len());
    for here in observations.chunk_by(|a, b| a.point == b.point) {
        let copies = here.first().map(|one| plan.copies_at(one.point));
        let copies = copies.unwrap_or_default();
        found.extend((0..here.len()).map(|at| density_of_copies(here, at, copies)));
    }
    found
}

/// How likely an observation is to be a copy, which goes nowhere, where copies have some density.
pub(crate) fn copied_frac(plan: &Plan, observation: &Observation, density: f64) -> f64 {
    if density > 0.0 {
        plan.copies_at(observation.point).copied_frac
    } else {
        0.0
    }
}

fn density_of_copies(here: &[Observation], at: usize, copies: Copies) -> f64 {
    let Some(copy) = here.get(at).filter(|_| copies.copied_frac > 0.0) else {
        return 0.0;
    };
    let gap_ns = |one: &Observation| copy.t_ns.saturating_sub(one.t_ns);
    let before = here.iter().take(at).rev();
    let near = before
        .take_while(|one| gap_ns(one) <= copies.hi_ns)
        .take(MOST_FRAMES);
    near.map(|one| copies.density_at(gap_ns(one)))
        .fold(0.0, f64::max)
}

/// How dense the observations of a run are, at the point that saw most.
#[expect(clippy::cast_precision_loss, reason = "a density needs few digits")]
pub(crate) fn density_of(run: &[Observation], gap_ns: i64) -> Density {
    let mut points: Vec<u16> = run.iter().map(|observation| observation.point).collect();
    points.sort_unstable();
    let n_each = points.chunk_by(|a, b| a == b).map(<[u16]>::len);
    let n_more = n_each.max().unwrap_or(1).saturating_sub(1) as f64;
    let span_ns = match run {
        [first, .., last] => last.aligned_ns.saturating_sub(first.aligned_ns),
        _ => 0,
    };
    let rate = n_more * per_us(span_ns.max(gap_ns));
    Density { gap_ns, rate }
}

/// Whether every point saw several of what is no copy.
pub(crate) fn repeats(kept: &[Observation]) -> bool {
    let mut points: Vec<u16> = kept.iter().map(|observation| observation.point).collect();
    points.sort_unstable();
    let mut n_each = points.chunk_by(|a, b| a == b).map(<[u16]>::len);
    n_each.clone().count() > 1 && n_each.all(|n| n > 1)
}

#[inline]
pub(crate) fn points_are_distinct(observations: &[Observation]) -> bool {
    match observations {
        [] | [_] => true,
        [one, other] => one.point != other.point,
        [one, other, third] => {
            one.point != other.point && one.point != third.point && other.point != third.point
        }
        _ => distinct_among_many(observations),
    }
}

fn distinct_among_many(observations: &[Observation]) -> bool {
    let mut seen = 0_u128;
    for observation in observations {
        let bit = 1_u128.checked_shl(observation.point.into()).unwrap_or(0);
        if bit == 0 {
            return distinct_by_sorting(observations);
        }
        if seen & bit != 0 {
            return false;
        }
        seen |= bit;
    }
    true
}

#[cold]
fn distinct_by_sorting(observations: &[Observation]) -> bool {
    let mut points: Vec<u16> = observations
        .iter()
        .map(|observation| observation.point)
        .collect();
    points.sort_unstable();
    points.is_sorted_by(|a, b| a != b)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matching::testing::observation;

    #[test]
    fn of_more_points_than_bits_those_are_told_apart() {
        let all: Vec<_> = (0..300).map(|point| observation(1, point, 0)).collect();
        assert!(points_are_distinct(&all));
        for twice in [0, 127, 128, 299] {
            let mut all = all.clone();
            all.push(observation(1, twice, 1));
            assert!(!points_are_distinct(&all), "{twice}");
        }
        assert!(points_are_distinct(&[]) && points_are_distinct(&all[..1]));
    }
}
