//! Mergeable log-linear histograms of signed nanoseconds, as `HdrHistogram` lays them out: exact below
//! 2^11 ns, then 2^10 bins per power of two, so a value is off by at most 2^-11 (0.049 %) of itself.
//! Values are kept as they are while they are few, so that figures of few packets are exact.

use crate::base::blocks::Sums;
use serde::{Deserialize, Serialize};

/// So many values are kept as they are; of more there are bins alone.
pub const FEW: usize = 1 << 12;

/// Bits kept of a value.
const PRECISION_BITS: u32 = 11;
const HALF: i64 = 1 << (PRECISION_BITS - 1);

/// The bin of a value; bins of negative values mirror those of positive ones.
#[must_use]
pub fn bin(value_ns: i64) -> i32 {
    let magnitude = value_ns.unsigned_abs();
    let shift = (64 - magnitude.leading_zeros()).saturating_sub(PRECISION_BITS);
    let index = i64::from(shift) * HALF + i64::try_from(magnitude >> shift).unwrap_or(0);
    let index = i32::try_from(index).unwrap_or(i32::MAX);
    if value_ns < 0 { -index } else { index }
}

/// The middle of a bin, ns.
#[must_use]
pub fn middle_ns(bin: i32) -> f64 {
    let index = i64::from(bin.unsigned_abs());
    let shift = (index / HALF - 1).max(0);
    let low = (index - shift * HALF) << shift;
    let width = 1_i64 << shift;
    #[expect(
        clippy::cast_precision_loss,
        reason = "a bin keeps 11 bits of its value"
    )]
    let middle = low as f64 + (width - 1) as f64 / 2.0;
    if bin < 0 { -middle } else { middle }
}

/// Counts per bin, or of each value while they are few, with the exact count, sum, minimum and
/// maximum beside them. Whether they are few is a matter of their number, not of their order.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Histogram {
    few: Vec<i64>,
    positive: Vec<u64>,
    negative: Vec<u64>,
    /// Number of values.
    pub n: u64,
    /// Their sum, exact.
    pub sum_ns: i128,
    /// Sum of their squares, in integers: it is the same in any order.
    pub sum_of_squares: u128,
    /// The smallest.
    pub min_ns: i64,
    /// The largest.
    pub max_ns: i64,
}

impl Histogram {
    /// Of values that are counted already: their sums, the least and the greatest of them, and each of them
    /// while they are few, or else how many are in which bin.
    pub(super) fn of(
        sums: &Sums,
        (min_ns, max_ns): (i64, i64),
        few: impl Iterator<Item = i64>,
        bins: impl Iterator<Item = (i32, u32)>,
    ) -> Self {
        let mut new = Self {
            few: few.collect(),
            n: sums.n,
            sum_ns: sums.sum_ns,
            sum_of_squares: sums.sum_of_squares,
            min_ns,
            max_ns,
            ..Self::default()
        };
        bins.for_each(|(bin, n)| new.count(bin, n.into()));
        new
    }

    /// Counts one value.
    #[inline]
    pub fn add(&mut self, value_ns: i64) {
        if self.n == 0 {
            (self.min_ns, self.max_ns) = (value_ns, value_ns);
        }
        self.n += 1;
        self.sum_ns += i128::from(value_ns);
        let size = u128::from(value_ns.unsigned_abs());
        self.sum_of_squares = self.sum_of_squares.saturating_add(size * size);
        self.min_ns = self.min_ns.min(value_ns);
        self.max_ns = self.max_ns.max(value_ns);
        if self.is_of_few() {
            self.few.push(value_ns);
            return;
        }
        self.spread();
        self.count(bin(value_ns), 1);
    }

    fn is_of_few(&self) -> bool {
        self.n <= FEW as u64
    }

    /// Counts by bins from now on.
    #[inline]
    fn spread(&mut self) {
        if !self.few.is_empty() {
            self.spread_few();
        }
    }

    #[cold]
    fn spread_few(&mut self) {
        for value_ns in std::mem::take(&mut self.few) {
            self.count(bin(value_ns), 1);
        }
    }

    fn count(&mut self, bin: i32, n: u64) {
        let side = if bin < 0 {
            &mut self.negative
        } else {
            &mut self.positive
        };
        let index = bin.unsigned_abs() as usize;
        if index >= side.len() {
            side.resize(index + 1, 0);
        }
        if let Some(count) = side.get_mut(index) {
            *count += n;
        }
    }

    /// Adds all counts of another histogram.
    pub fn merge(&mut self, other: &Self) {
        if other.n == 0 {
            return;
        }
        if self.n == 0 {
            (self.min_ns, self.max_ns) = (other.min_ns, other.max_ns);
        }
        self.n += other.n;
        self.sum_ns += other.sum_ns;
        self.sum_of_squares = self.sum_of_squares.saturating_add(other.sum_of_squares);
        self.min_ns = self.min_ns.min(other.min_ns);
        self.max_ns = self.max_ns.max(other.max_ns);
        if self.is_of_few() {
            self.few.extend_from_slice(&other.few);
            return;
        }
        self.spread();
        for value_ns in &other.few {
            self.count(bin(*value_ns), 1);
        }
        other.bins().for_each(|(bin, n)| self.count(bin, n));
    }

    /// Ascending values with their counts: as they are while they are few, else the middles of bins.
    #[must_use]
    pub fn values(&self) -> Vec<(f64, u64)> {
        if !self.is_of_few() {
            let mut values = Vec::new();
            self.bins()
                .for_each(|(bin, n)| values.push((middle_ns(bin), n)));
            return values;
        }
        let mut few = self.few.clone();
        few.sort_unstable();
        let same = few.chunk_by(|one, other| one == other);
        #[expect(clippy::cast_precision_loss, reason = "exact up to 104 days")]
        same.filter_map(|run| Some((*run.first()? as f64, run.len() as u64)))
            .collect()
    }

    /// The occupied bins in ascending order of value, with their counts.
    fn bins(&self) -> impl Iterator<Item = (i32, u64)> + '_ {
        let signed = |index: usize| i32::try_from(index).unwrap_or(i32::MAX);
        let negative = self.negative.iter().enumerate().rev();
        let negative = negative.map(move |(index, n)| (-signed(index), *n));
        let positive = self.positive.iter().enumerate();
        let positive = positive.map(move |(index, n)| (signed(index), *n));
        negative.chain(positive).filter(|(_, n)| *n > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bin_is_within_its_error() {
        let mut value = 1_i64;
        while value < i64::MAX / 3 {
            for value in [value, -value, value + 1, 3 * (value / 2)] {
                #[expect(clippy::cast_precision_loss, reason = "compared with a tolerance")]
                let exact = value as f64;
                let error = (middle_ns(bin(value)) - exact).abs();
                assert!(error <= exact.abs() / 2048.0, "{value} is off by {error}");
            }
            value = value * 2 - value / 3 + 1;
        }
    }

    #[test]
    fn small_values_are_exact_and_bins_ascend() {
        for value in -2047..2048 {
            assert!(
                (middle_ns(bin(value)) - f64::from(i32::try_from(value).unwrap())).abs() < 1e-9
            );
            assert!(bin(value) < bin(value + 1));
        }
        for value in (0..40).map(|power| 1_i64 << power) {
            assert!(bin(value) <= bin(value + value / 512 + 1));
        }
    }

    #[test]
    fn merging_equals_counting_together() {
        for n in [FEW / 2, FEW - 1, FEW, FEW + 1, 2 * FEW] {
            merging_equals_counting(n);
        }
    }

    fn merging_equals_counting(n: usize) {
        let values: Vec<i64> = (0..i64::try_from(n).unwrap())
            .map(|i| (i * 7919 % 100_003) - 20_000)
            .collect();
        let (mut whole, mut left, mut right) = (
            Histogram::default(),
            Histogram::default(),
            Histogram::default(),
        );
        for (i, value) in values.iter().enumerate() {
            whole.add(*value);
            if i % 3 == 0 {
                left.add(*value);
            } else {
                right.add(*value);
            }
        }
        left.merge(&right);
        assert_eq!(left.values(), whole.values());
        assert_eq!(
            (left.n, left.sum_ns, left.min_ns, left.max_ns),
            (whole.n, whole.sum_ns, whole.min_ns, whole.max_ns)
        );
    }

    #[test]
    fn values_are_exact_while_they_are_few() {
        let mut histogram = Histogram::default();
        for i in 0..FEW {
            histogram.add(194_000 + i64::from(i >= FEW / 2));
        }
        let half = FEW as u64 / 2;
        assert_eq!(histogram.values(), [(194_000.0, half), (194_001.0, half)]);
        histogram.add(194_000);
        assert_eq!(
            histogram.values(),
            [(middle_ns(bin(194_000)), 2 * half + 1)]
        );
    }
}
