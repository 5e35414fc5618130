//! A block of time whose latencies are being counted, each by its bin.

use super::code;
use serde::{Deserialize, Serialize};

/// Counts of so many bins are made at once: a multiple of `NEAR`.
const STEP: i32 = 1 << 6;

/// Counts that are looked at together.
const NEAR: usize = 16;

/// The counts of one block: latencies of a block lie near each other, so that there is one for each bin from
/// the least to the greatest.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct OpenBlock {
    block: u32,
    /// The first bin that is counted.
    first: i32,
    counts: Vec<u32>,
}

impl OpenBlock {
    pub(super) fn block(&self) -> u32 {
        self.block
    }

    /// Counts one latency.
    #[inline]
    pub(super) fn count(&mut self, bin: i32) {
        let place = bin.wrapping_sub(self.first).cast_unsigned() as usize;
        match self.counts.get_mut(place) {
            Some(n) => *n = n.saturating_add(1),
            None => self.count_beyond(bin),
        }
    }

    /// Counts one in a bin that no count is there for yet.
    #[cold]
    fn count_beyond(&mut self, bin: i32) {
        let floor = bin.div_euclid(STEP) * STEP;
        if self.counts.is_empty() {
            self.first = floor;
        }
        let n_before = usize::try_from(self.first.saturating_sub(floor)).unwrap_or(0);
        self.counts.splice(..0, std::iter::repeat_n(0, n_before));
        self.first = self.first.min(floor);
        let n_until = usize::try_from(floor - self.first + STEP).unwrap_or(0);
        self.counts.resize(self.counts.len().max(n_until), 0);
        let place = usize::try_from(bin - self.first).unwrap_or(0);
        if let Some(n) = self.counts.get_mut(place) {
            *n += 1;
        }
    }

    /// Goes on with another block, and gives block and bin, ascending, and counts of this one.
    #[cold]
    pub(super) fn close(&mut self, next: u32) -> Vec<(u32, u32)> {
        let mut counted = Vec::new();
        let (near, _) = self.counts.as_chunks::<NEAR>();
        for (first, counts) in (self.first..).step_by(NEAR).zip(near) {
            // most are of few near each other
            if counts.iter().fold(0, |all, n| all | n) > 0 {
                let bins = (first..).zip(counts).filter(|(_, n)| **n > 0);
                counted.extend(bins.map(|(bin, n)| (code(self.block, bin), *n)));
            }
        }
        self.counts.clear();
        self.block = next;
        counted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_are_counted_in_whichever_order_they_come() {
        let mut open = OpenBlock::default();
        let bins = [7, -3, 5_000, 7, -100_000, 100_000, -3, 7];
        for bin in bins {
            open.count(bin);
        }
        let expected = [(-100_000, 1), (-3, 2), (7, 3), (5_000, 1), (100_000, 1)];
        assert_eq!(open.close(3), expected.map(|(bin, n)| (code(0, bin), n)));
        open.count(-1);
        assert_eq!((open.block(), open.close(3)), (3, vec![(code(3, -1), 1)]));
        assert!(open.close(4).is_empty());
    }
}
