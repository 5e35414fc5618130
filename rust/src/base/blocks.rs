//! Latencies block by block of time: what tells how alike neighbours are.
//!
//! Equal blocks of a run's time each keep count, sum and sum of squares, exact, and a histogram; while
//! latencies are few, the latencies themselves. They merge by addition, so that neither threads nor
//! the order of files change a figure.

mod open_block;
pub mod strata;

use crate::base::histogram::{FEW, Histogram, bin, middle_ns};
use open_block::OpenBlock;
use serde::{Deserialize, Serialize};
use strata::{CELLS_OF_BLOCK_BITS, Strata};

/// How many blocks a run has.
pub const N_BLOCKS: usize = 256;

/// The moments of a block.
pub const MOMENTS_OF_BLOCK_BITS: u32 = 8;

/// Bits of a bin in a code: the bins of [`crate::base::histogram`], positive and negative.
const BIN_BITS: u32 = 18;
const HALF_BINS: i32 = 1 << (BIN_BITS - 1);

/// Codes that are put in order at once.
const BATCH: usize = 1 << 13;

/// When the first block begins, on the path's first clock, and how long each is.
#[derive(Clone, Copy, Debug, Default)]
#[cfg_attr(feature = "python", derive(pyo3::FromPyObject))]
pub struct Grid {
    /// Begin of the first.
    pub start_ns: i64,
    /// Length of each.
    pub length_ns: i64,
}

impl Grid {
    /// The block of an instant; what is outside is in the first or the last.
    #[must_use]
    #[inline]
    pub fn block_of(&self, aligned_ns: i64) -> usize {
        let block = aligned_ns.saturating_sub(self.start_ns) / self.length_ns.max(1);
        usize::try_from(block).unwrap_or(0).min(N_BLOCKS - 1)
    }

    /// The moment of an instant: blocks are divided into equal ones.
    #[must_use]
    #[inline]
    pub fn moment_of(&self, aligned_ns: i64) -> u32 {
        self.place_of(aligned_ns).cell >> (CELLS_OF_BLOCK_BITS - MOMENTS_OF_BLOCK_BITS)
    }

    /// Where an instant is, in shortest cells from the begin; they lie within blocks.
    #[must_use]
    #[inline]
    pub fn place_of(&self, aligned_ns: i64) -> Place {
        const END: u64 = (N_BLOCKS as u64) << CELLS_OF_BLOCK_BITS;
        let since_ns = aligned_ns.saturating_sub(self.start_ns).max(0);
        let (since_ns, length_ns) = (
            since_ns.unsigned_abs(),
            self.length_ns.max(1).unsigned_abs(),
        );
        let cell = match cells_before(since_ns, length_ns) {
            cell @ ..END => cell,
            // the last moment
            _ => END - (1 << CELLS_OF_BLOCK_BITS) + cells_before(length_ns - 1, length_ns),
        };
        Place {
            block: usize::try_from(cell >> CELLS_OF_BLOCK_BITS).unwrap_or(0),
            cell: u32::try_from(cell).unwrap_or(0),
        }
    }
}

/// How many of the shortest cells lie before a time after the begin, of blocks of a length.
#[inline]
fn cells_before(since_ns: u64, length_ns: u64) -> u64 {
    if let Some(cells) = since_ns.checked_mul(1 << CELLS_OF_BLOCK_BITS) {
        return cells / length_ns;
    }
    let cells = u128::from(since_ns) << CELLS_OF_BLOCK_BITS;
    u64::try_from(cells / u128::from(length_ns)).unwrap_or(u64::MAX)
}

/// Where a latency begins in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Its block.
    pub block: usize,
    /// Its shortest cell, from the run's begin.
    pub cell: u32,
}

/// Count, sum and sum of squares of a block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sums {
    /// Latencies.
    pub n: u64,
    /// Their sum.
    pub sum_ns: i128,
    /// The sum of their squares, in integers: it is the same in any order.
    pub sum_of_squares: u128,
}

impl Sums {
    fn of(latency_ns: i64) -> Self {
        let size = u128::from(latency_ns.unsigned_abs());
        Self {
            n: 1,
            sum_ns: i128::from(latency_ns),
            sum_of_squares: size * size,
        }
    }

    fn add(&mut self, other: &Self) {
        self.n += other.n;
        self.sum_ns += other.sum_ns;
        self.sum_of_squares = self.sum_of_squares.saturating_add(other.sum_of_squares);
    }
}

/// The blocks of one segment and direction.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Blocks {
    sums: Vec<Sums>,
    /// The least and the greatest of all latencies.
    range_ns: Option<(i64, i64)>,
    /// Block and latency, while they are few in all.
    few: Vec<(u32, i64)>,
    /// Latencies in all.
    n: usize,
    /// The latest block: packets come roughly by time.
    open: OpenBlock,
    /// Block and bin of latencies of earlier ones that were not put in order yet.
    waiting: Vec<u32>,
    /// Block and bin, ascending, and how many latencies lie there.
    occupied: Vec<(u32, u32)>,
    /// The same by kind of traffic, where that is known.
    strata: Strata,
}

impl Blocks {
    /// Counts a latency.
    #[expect(clippy::inline_always, reason = "one straight way for each pair")]
    #[inline(always)]
    pub fn add(&mut self, block: usize, latency_ns: i64) {
        if self.sums.is_empty() {
            self.sums.resize(N_BLOCKS, Sums::default());
        }
        if let Some(sums) = self.sums.get_mut(block) {
            sums.add(&Sums::of(latency_ns));
        }
        let (least_ns, greatest_ns) = self.range_ns.unwrap_or((latency_ns, latency_ns));
        self.range_ns = Some((least_ns.min(latency_ns), greatest_ns.max(latency_ns)));
        let block = u32::try_from(block).unwrap_or(0);
        self.n += 1;
        if self.n <= FEW {
            self.few.push((block, latency_ns));
            return;
        }
        self.spread();
        self.count(block, bin(latency_ns));
    }

    /// Counts a latency of a kind of traffic.
    #[expect(clippy::inline_always, reason = "one straight way for each pair")]
    #[inline(always)]
    pub fn add_of_kind(&mut self, kind: u16, place: Place, latency_ns: i64) {
        self.add(place.block, latency_ns);
        self.strata.add(kind, place.cell, latency_ns);
    }

    /// What is counted by kind of traffic.
    #[must_use]
    pub fn strata(&self) -> &Strata {
        &self.strata
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
        for (block, ns) in std::mem::take(&mut self.few) {
            self.count(block, bin(ns));
        }
    }

    #[inline]
    fn count(&mut self, block: u32, bin: i32) {
        if block != self.open.block() {
            if block < self.open.block() {
                return self.count_before(block, bin);
            }
            put_in(&mut self.occupied, self.open.close(block));
        }
        self.open.count(bin);
    }

    /// Counts one in an earlier block than the latest.
    #[inline(never)]
    fn count_before(&mut self, block: u32, bin: i32) {
        self.waiting.push(code(block, bin));
        if self.waiting.len() >= BATCH {
            self.put_in_order();
        }
    }

    /// Puts in order what waits.
    fn put_in_order(&mut self) {
        sort(&mut self.waiting);
        let same = self.waiting.chunk_by(|one, other| one == other);
        let counted = same.filter_map(|run| {
            let n = u32::try_from(run.len()).unwrap_or(u32::MAX);
            Some((*run.first()?, n))
        });
        put_in(&mut self.occupied, counted.collect());
        self.waiting.clear();
    }

    /// Puts in place what was counted last.
    fn settle(&mut self) {
        self.put_in_order();
        let counted = self.open.close(self.open.block());
        put_in(&mut self.occupied, counted);
    }

    /// Adds all counts of others.
    pub fn merge(&mut self, mut other: Self) {
        self.n += other.n;
        self.strata.merge(std::mem::take(&mut other.strata));
        if self.n <= FEW {
            self.few.append(&mut other.few);
        } else {
            other.spread();
            self.spread();
        }
        other.settle();
        self.settle();
        let ranges = [self.range_ns, other.range_ns].into_iter().flatten();
        self.range_ns =
            ranges.reduce(|(least, greatest), (low, high)| (least.min(low), greatest.max(high)));
        if self.sums.is_empty() {
            self.sums = other.sums;
            self.occupied = other.occupied;
            return;
        }
        for (sums, more) in self.sums.iter_mut().zip(&other.sums) {
            sums.add(more);
        }
        put_in(&mut self.occupied, other.occupied);
    }

    /// The sums of all blocks; none where nothing was counted.
    #[must_use]
    pub fn sums(&self) -> &[Sums] {
        &self.sums
    }

    /// All of them, whichever their block, once all is put in order by a merge.
    #[must_use]
    pub fn histogram(&self) -> Histogram {
        let mut all = Sums::default();
        self.sums.iter().for_each(|sums| all.add(sums));
        let few = self.few.iter().map(|(_, latency_ns)| *latency_ns);
        let bins = self.occupied.iter().map(|(code, n)| (bin_of(*code), *n));
        Histogram::of(&all, self.range_ns.unwrap_or_default(), few, bins)
    }

    /// Block, latency in ns and count, ascending, once all is put in order by a merge: of few each
    /// latency, else the middles of bins.
    #[must_use]
    pub fn values(&self) -> Vec<(usize, f64, u32)> {
        let mut few = self.few.clone();
        few.sort_unstable();
        let same = few.chunk_by(|one, other| one == other);
        let mut values: Vec<_> = same.filter_map(counted).collect();
        let binned = self.occupied.iter();
        values.extend(
            binned.map(|(code, n)| ((code >> BIN_BITS) as usize, middle_ns(bin_of(*code)), *n)),
        );
        values
    }
}

/// Sorts codes digit by digit, the lowest first: each time the order so far is kept among equals.
fn sort(codes: &mut Vec<u32>) {
    const DIGIT_BITS: u32 = 11;
    const N_DIGITS: usize = 1 << DIGIT_BITS;
    if codes.len() < N_DIGITS {
        return codes.sort_unstable();
    }
    let mut sorted = vec![0; codes.len()];
    for shift in (0..u32::BITS).step_by(DIGIT_BITS as usize) {
        let digit = |code: u32| (code >> shift) as usize % N_DIGITS;
        let mut places = [0_usize; N_DIGITS];
        for code in codes.iter() {
            if let Some(n) = places.get_mut(digit(*code)) {
                *n += 1;
            }
        }
        let mut n_before = 0;
        for place in &mut places {
            n_before += std::mem::replace(place, n_before);
        }
        for code in codes.iter() {
            if let Some(place) = places.get_mut(digit(*code))
                && let Some(slot) = sorted.get_mut(*place)
            {
                *slot = *code;
                *place += 1;
            }
        }
        std::mem::swap(codes, &mut sorted);
    }
}

/// Adds counts of bins, ascending, to others: mostly at their end.
fn put_in(occupied: &mut Vec<(u32, u32)>, counted: Vec<(u32, u32)>) {
    let Some((least, _)) = counted.first() else {
        return;
    };
    let from = occupied.partition_point(|(code, _)| code < least);
    let mut behind = occupied.split_off(from);
    let is_last = behind.is_empty();
    behind.extend(counted);
    if !is_last {
        // two ascending runs: a merge
        behind.sort_by_key(|(code, _)| *code);
        behind.dedup_by(add_if_same);
    }
    occupied.append(&mut behind);
}

/// Block, latency and count of latencies that are the same.
fn counted(same: &[(u32, i64)]) -> Option<(usize, f64, u32)> {
    let (block, latency_ns) = same.first()?;
    let n = u32::try_from(same.len()).unwrap_or(u32::MAX);
    #[expect(clippy::cast_precision_loss, reason = "exact up to 104 days")]
    Some((*block as usize, *latency_ns as f64, n))
}

/// Adds the count of the same bin.
fn add_if_same((code, n): &mut (u32, u32), kept: &mut (u32, u32)) -> bool {
    let is_same = *code == kept.0;
    if is_same {
        kept.1 = kept.1.saturating_add(*n);
    }
    is_same
}

#[inline]
fn code(block: u32, bin: i32) -> u32 {
    let bin = bin.saturating_add(HALF_BINS);
    (block << BIN_BITS) | u32::try_from(bin).unwrap_or(0)
}

fn bin_of(code: u32) -> i32 {
    i32::try_from(code & ((1 << BIN_BITS) - 1)).unwrap_or(0) - HALF_BINS
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn values() -> Vec<(usize, i64)> {
        (0..100_000_i64)
            .map(|i| {
                (
                    usize::try_from(i / 400).unwrap(),
                    (i * 7919 % 10_007) - 2000,
                )
            })
            .collect()
    }

    #[test]
    fn parts_add_up_to_the_whole_in_any_order() {
        let mut whole = Blocks::default();
        let mut parts = [Blocks::default(), Blocks::default(), Blocks::default()];
        let mut expected: BTreeMap<(usize, i32), u32> = BTreeMap::new();
        for (i, (block, value)) in values().into_iter().enumerate() {
            whole.add(block, value);
            parts[i % 3].add(block, value);
            *expected.entry((block, bin(value))).or_default() += 1;
        }
        let mut merged = Blocks::default();
        for part in parts.into_iter().rev() {
            merged.merge(part);
        }
        let mut alone = Blocks::default();
        alone.merge(whole);
        assert!(merged.values() == alone.values());
        assert_eq!(merged.sums(), alone.sums());
        let expected = expected
            .into_iter()
            .map(|((block, bin), n)| (block, middle_ns(bin), n));
        assert!(merged.values().into_iter().eq(expected));
        let sum: i128 = values().iter().map(|(_, value)| i128::from(*value)).sum();
        assert_eq!(merged.sums().iter().map(|s| s.sum_ns).sum::<i128>(), sum);
    }

    #[test]
    fn the_ends_of_time_and_of_numbers_are_kept() {
        let grid = Grid {
            start_ns: 1000,
            length_ns: 10,
        };
        let blocks = [i64::MIN, 999, 1000, 1009, 1010, 3559, 3560, i64::MAX];
        let blocks = blocks.map(|t_ns| grid.block_of(t_ns));
        assert_eq!(blocks, [0, 0, 0, 0, 1, 255, 255, 255]);
        for t_ns in [i64::MIN, 999, 1009, 3559, 3560, i64::MAX] {
            let place = grid.place_of(t_ns);
            assert_eq!(place.block, grid.block_of(t_ns));
            assert_eq!(place.cell as usize >> CELLS_OF_BLOCK_BITS, place.block);
            let block = grid.moment_of(t_ns) >> MOMENTS_OF_BLOCK_BITS;
            assert_eq!(block as usize, place.block);
        }
        assert_eq!(grid.place_of(1015).cell, (1 << CELLS_OF_BLOCK_BITS) * 3 / 2);
        let mut ends = Blocks::default();
        for value in [i64::MIN, i64::MAX, 0] {
            ends.add(255, value);
        }
        let mut all = Blocks::default();
        all.merge(ends);
        let counts = all.values().into_iter().map(|(_, _, n)| n);
        assert_eq!(counts.collect::<Vec<_>>(), [1, 1, 1]);
        assert_eq!(all.sums()[255].n, 3);
    }

    #[test]
    fn latencies_are_exact_while_they_are_few() {
        for n in [FEW / 2, FEW, FEW + 1, FEW + BATCH] {
            let mut whole = Blocks::default();
            let mut parts = [Blocks::default(), Blocks::default()];
            let mut expected: BTreeMap<(usize, i64), u32> = BTreeMap::new();
            for i in 0..n {
                let (block, value) = (i * N_BLOCKS / n, 194_000 + i64::try_from(i % 3).unwrap());
                whole.add(block, value);
                parts[i % 2].add(block, value);
                *expected.entry((block, value)).or_default() += 1;
            }
            let mut merged = Blocks::default();
            for part in parts.into_iter().rev() {
                merged.merge(part);
            }
            let mut alone = Blocks::default();
            alone.merge(whole);
            assert_eq!(merged.values(), alone.values());
            let is_exact = merged.values().len() == expected.len();
            assert_eq!(is_exact, n <= FEW);
        }
    }
}
