//! Runs: observations of one identity that follow each other so closely that some may be of one packet.
//!
//! Where a run ends, and where one without an end is cut, is told by its observations alone.

use crate::matching::observation::Observation;

/// Observations of one run after which it is cut, with a gap or without.
pub(crate) const LONG_RUN: usize = 4096;
/// Horizons after which a run is cut at a gap, though it has no end.
const LONG_HORIZONS: i64 = 4;

/// When observations are of different runs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RunRules {
    /// Those that are farther apart are.
    pub(crate) horizon_ns: i64,
    /// Those that are farther apart are never the same packet, so that a long run may be cut there.
    pub(crate) gap_ns: i64,
}

impl RunRules {
    /// How many of the first observations, in order of time, are one run.
    pub(crate) fn length(&self, observations: &[Observation]) -> usize {
        let is_one = |two: &&[Observation]| gap_ns(two) <= self.horizon_ns;
        let n_more = observations.windows(2).take_while(is_one).count();
        observations.len().min(1 + n_more)
    }

    /// Of the times of a run that goes on behind these, in order, how many of the first are decided without the
    /// others. Of the times from `complete` on, some may be missing yet.
    pub(crate) fn cut(&self, times_ns: &[i64], complete: usize) -> Option<usize> {
        let long_ns = self.horizon_ns.saturating_mul(LONG_HORIZONS);
        let is_crowded = times_ns.len() > LONG_RUN;
        if !is_crowded && span_ns(times_ns) <= long_ns {
            return None;
        }
        let is_gap = |two: &[i64]| span_ns(two) > self.gap_ns;
        let told = times_ns.get(..complete).unwrap_or(times_ns);
        let before = told.windows(2).rposition(is_gap);
        let at_gap = before.map(|before| before + 1);
        at_gap.or_else(|| is_crowded.then(|| widest_gap(times_ns)))
    }
}

/// How many times are before the widest gap of the later half, where a cut parts fewest packets.
fn widest_gap(times_ns: &[i64]) -> usize {
    let half = times_ns.len() / 2;
    let later = times_ns.get(half..).unwrap_or_default();
    let widest = later
        .windows(2)
        .enumerate()
        .max_by_key(|(_, two)| span_ns(two));
    let widest = widest.filter(|(_, two)| span_ns(two) > 0);
    widest.map_or(times_ns.len(), |(before, _)| half + before + 1)
}

fn span_ns(times_ns: &[i64]) -> i64 {
    match times_ns {
        [first, .., last] => last.saturating_sub(*first),
        _ => 0,
    }
}

fn gap_ns(two: &[Observation]) -> i64 {
    match two {
        [one, next] => next.aligned_ns.saturating_sub(one.aligned_ns),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matching::testing::observation;

    const RULES: RunRules = RunRules {
        horizon_ns: 100,
        gap_ns: 10,
    };

    fn at(times_ns: &[i64]) -> Vec<Observation> {
        let times_ns = times_ns.iter();
        times_ns.map(|at_ns| observation(1, 0, *at_ns)).collect()
    }

    #[test]
    fn a_run_ends_where_nothing_follows_within_the_horizon() {
        assert_eq!(RULES.length(&at(&[0, 100, 200, 301, 302])), 3);
        assert_eq!(RULES.length(&at(&[7])), 1);
        assert_eq!(RULES.length(&[]), 0);
    }

    #[test]
    fn a_long_run_is_cut_at_its_last_gap() {
        assert_eq!(RULES.cut(&[0, 90, 180, 270, 360, 400], 6), None);
        assert_eq!(RULES.cut(&[0, 90, 180, 270, 360, 401, 410], 7), Some(5));
        assert_eq!(RULES.cut(&[0, 90, 180, 270, 360, 401, 410], 5), Some(4));
        let dense: Vec<i64> = (0..500).collect();
        assert_eq!(RULES.cut(&dense, 500), None);
        let crowd = vec![0; LONG_RUN + 1];
        assert_eq!(RULES.cut(&crowd, 0), Some(LONG_RUN + 1));
    }

    #[test]
    fn a_crowd_without_such_a_gap_is_cut_at_the_widest_of_its_later_half() {
        let mut crowd = vec![0; LONG_RUN / 2];
        crowd.extend(vec![9; LONG_RUN / 4]);
        crowd.extend(vec![12; LONG_RUN / 4]);
        crowd.extend([13, 13]);
        assert_eq!(RULES.cut(&crowd, 0), Some(LONG_RUN / 4 * 3));
    }
}
