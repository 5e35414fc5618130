//! Pairs that cannot be told: how many there are, and bounds of what they took.

use serde::{Deserialize, Serialize};

/// Pairs of which it is not known which they are, and bounds of what they took: between points that
/// share no clock, more than usual.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UndecidedTally {
    /// Pairs.
    pub n: u64,
    /// Packets that may be lost, and are not counted as lost: they, or what seems to continue them, may
    /// be copies.
    pub n_maybe_lost: u64,
    /// Bytes of TCP that may be lost, and are not counted as lost: they may stand in one of several pairs.
    pub maybe_lost_bytes: u64,
    /// Packets that are counted as lost, and may be late.
    pub n_maybe_late: u64,
    /// The least that they took all together, but for slow ones that may be no pairs.
    pub least_sum_ns: i128,
    /// Pairs in it.
    pub least_n: u64,
    /// The most that they took all together, but for fast ones that may be no pairs.
    pub most_sum_ns: i128,
    /// Pairs in it.
    pub most_n: u64,
    /// The least that one of them took.
    pub least_ns: i64,
    /// The most.
    pub most_ns: i64,
}

impl UndecidedTally {
    /// Of one pair that took so long, if it is one, and if not, is counted as lost or not. Whether it is in a mean of
    /// all is open: it makes that greater if it is slower than usual, and lesser if not.
    pub(crate) fn one(took_ns: i64, is_slow: bool, is_lost: bool) -> Self {
        let sum_ns = |is_in: bool| if is_in { i128::from(took_ns) } else { 0 };
        Self {
            n: 1,
            n_maybe_lost: u64::from(!is_lost),
            n_maybe_late: u64::from(is_lost),
            maybe_lost_bytes: 0,
            least_sum_ns: sum_ns(!is_slow),
            least_n: u64::from(!is_slow),
            most_sum_ns: sum_ns(is_slow),
            most_n: u64::from(is_slow),
            least_ns: took_ns,
            most_ns: took_ns,
        }
    }

    /// Adds what another group or partition has.
    pub(crate) fn merge(&mut self, other: Self) {
        let n_maybe_lost = self.n_maybe_lost + other.n_maybe_lost;
        let n_maybe_late = self.n_maybe_late + other.n_maybe_late;
        let maybe_lost_bytes = self.maybe_lost_bytes + other.maybe_lost_bytes;
        if self.n == 0 {
            *self = other;
        } else if other.n > 0 {
            self.add(other);
        }
        (self.n_maybe_lost, self.n_maybe_late) = (n_maybe_lost, n_maybe_late);
        self.maybe_lost_bytes = maybe_lost_bytes;
    }

    fn add(&mut self, other: Self) {
        self.n += other.n;
        self.least_sum_ns += other.least_sum_ns;
        self.least_n += other.least_n;
        self.most_sum_ns += other.most_sum_ns;
        self.most_n += other.most_n;
        self.least_ns = self.least_ns.min(other.least_ns);
        self.most_ns = self.most_ns.max(other.most_ns);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_that_may_be_lost_add_up_without_pairs_too() {
        let lost = UndecidedTally {
            n_maybe_lost: 2,
            ..UndecidedTally::default()
        };
        let mut all = UndecidedTally::default();
        let pairs = [false, true].map(|is_lost| UndecidedTally::one(7, !is_lost, is_lost));
        for other in [[lost, lost], pairs].concat() {
            all.merge(other);
        }
        assert_eq!((all.n, all.n_maybe_lost, all.n_maybe_late), (2, 5, 1));
        assert_eq!((all.least_ns, all.most_ns), (7, 7));
        // one of the two was slow, and the other not
        assert_eq!((all.least_sum_ns, all.least_n), (7, 1));
        assert_eq!((all.most_sum_ns, all.most_n), (7, 1));
    }
}
