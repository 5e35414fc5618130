//! After what time packet IDs come again: numbers of leftovers by the time to the nearest packet of their
//! packet ID, in powers of two.
//!
//! Two packets look like one that was slow by the time after which the second came. What comes again much later
//! than that explains nothing.

/// The shortest time that is told from none: the first part has all below 2^17 ns, 131 µs.
const LEAST_BITS: u32 = 16;
/// The last part has all above 2^31 ns, 2.1 s.
const N_PARTS: usize = 16;

/// How many came again after what time.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Intervals([u32; N_PARTS]);

impl Intervals {
    pub(crate) fn one(interval_ns: u64) -> Self {
        let mut intervals = Self::default();
        if let Some(n) = intervals.0.get_mut(part_of(interval_ns)) {
            *n = 1;
        }
        intervals
    }

    pub(crate) fn add(&mut self, more: &Self, weight: u32) {
        for (n, more) in self.0.iter_mut().zip(more.0) {
            *n = n.saturating_add(more.saturating_mul(weight));
        }
    }

    pub(crate) fn n(&self) -> f64 {
        self.0.iter().map(|n| f64::from(*n)).sum()
    }

    /// How many came again within this time, or within two to four times this time.
    pub(crate) fn n_within(&self, time_ns: u64) -> f64 {
        let parts = self.0.iter().take(part_of(time_ns) + 2);
        parts.map(|n| f64::from(*n)).sum()
    }
}

fn part_of(interval_ns: u64) -> usize {
    let bits = interval_ns.checked_ilog2().unwrap_or(0);
    (bits.saturating_sub(LEAST_BITS) as usize).min(N_PARTS - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn of(intervals_ns: &[u64]) -> Intervals {
        let mut all = Intervals::default();
        for interval_ns in intervals_ns {
            all.add(&Intervals::one(*interval_ns), 1);
        }
        all
    }

    #[test]
    fn what_came_again_at_up_to_twice_the_time_counts() {
        for time_ns in [1, 100_000, MS, 20 * MS, 3_000 * MS, u64::MAX / 2] {
            for interval_ns in [0, time_ns / 2, time_ns, time_ns * 2] {
                assert!(of(&[interval_ns]).n_within(time_ns) > 0.0, "{interval_ns}");
            }
        }
    }

    #[test]
    fn what_came_again_after_more_than_four_times_the_time_does_not() {
        let all = of(&[200 * MS, 400 * MS, 30 * MS]);
        for (time_ms, n) in [(1, 0.0), (20, 1.0), (40, 1.0), (500, 3.0)] {
            assert!((all.n_within(time_ms * MS) - n).abs() < 0.5, "{time_ms}");
        }
    }
}
