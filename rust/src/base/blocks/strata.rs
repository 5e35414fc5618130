//! Sums of latencies by kind of traffic and by time: what tells how sure the mean of mixed traffic is.
//!
//! A kind may be all of a run, or a burst in it. So each keeps cells of time of its own: equal ones, in
//! which it was seen, at most [`MOST_CELLS`] of them, as short as that allows. The length is a block of the
//! run halved a few times, and cells lie within blocks. It is the greatest that all of a kind's packets
//! need, whatever their order: neither threads nor slices change a figure. Where kinds are too many, those
//! whose numbers differ in their lowest bits only are one: there, too, all packets decide.

use serde::{Deserialize, Serialize};

/// Of a block of a run, the shortest cells.
pub const CELLS_OF_BLOCK_BITS: u32 = 12;

/// Cells of a kind; not fewer than a run has blocks, which are the longest cells.
const MOST_CELLS: usize = 256;

/// Kinds that are kept apart by their lowest bits.
const MOST_KINDS: usize = 64;

/// How many bits these are.
const LOWEST_BITS: u32 = 3;

/// Sums of one kind in one cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cell {
    /// Where it begins, in shortest cells from the run's begin.
    pub at: u32,
    /// Latencies.
    pub n: u32,
    /// Their sum; two that wrap add up as others do.
    pub sum_ns: i64,
    /// The sum of their squares.
    pub sum_of_squares: u128,
}

impl Cell {
    fn of(at: u32, latency_ns: i64) -> Self {
        let size = u128::from(latency_ns.unsigned_abs());
        Self {
            at,
            n: 1,
            sum_ns: latency_ns,
            sum_of_squares: size * size,
        }
    }

    fn add(&mut self, other: &Self) {
        self.n = self.n.saturating_add(other.n);
        self.sum_ns = self.sum_ns.wrapping_add(other.sum_ns);
        self.sum_of_squares = self.sum_of_squares.saturating_add(other.sum_of_squares);
    }
}

/// The cells of one kind, ascending.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Stratum {
    cells: Vec<Cell>,
    /// How often the shortest cells were doubled.
    n_doubled: u32,
}

impl Stratum {
    /// The last cell, if a place is in it.
    #[inline]
    fn present_at(&mut self, at: u32) -> Option<&mut Cell> {
        let at = at >> self.n_doubled << self.n_doubled;
        self.cells.last_mut().filter(|last| last.at == at)
    }

    fn add(&mut self, one: Cell) {
        let at = one.at >> self.n_doubled << self.n_doubled;
        let one = Cell { at, ..one };
        match self.cells.last_mut() {
            Some(last) if last.at == at => return last.add(&one),
            Some(last) if last.at > at => self.insert(&one),
            _ => self.cells.push(one),
        }
        self.shorten();
    }

    /// Packets come roughly by time.
    #[cold]
    fn insert(&mut self, one: &Cell) {
        match self.cells.binary_search_by_key(&one.at, |cell| cell.at) {
            Ok(place) => {
                if let Some(cell) = self.cells.get_mut(place) {
                    cell.add(one);
                }
            }
            Err(place) => self.cells.insert(place, *one),
        }
    }

    /// Doubles the length of cells until they are few enough.
    #[inline]
    fn shorten(&mut self) {
        while self.cells.len() > MOST_CELLS && self.n_doubled < CELLS_OF_BLOCK_BITS {
            self.double();
        }
    }

    fn double(&mut self) {
        self.n_doubled += 1;
        let n_doubled = self.n_doubled;
        for cell in &mut self.cells {
            cell.at = cell.at >> n_doubled << n_doubled;
        }
        self.cells.dedup_by(|other, kept| {
            let is_same = other.at == kept.at;
            if is_same {
                kept.add(other);
            }
            is_same
        });
    }

    fn merge(&mut self, mut other: Self) {
        while self.n_doubled < other.n_doubled {
            self.double();
        }
        while other.n_doubled < self.n_doubled {
            other.double();
        }
        for cell in &other.cells {
            self.insert(cell);
        }
        self.shorten();
    }
}

/// The cells of all kinds, by their numbers.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Strata {
    of_kind: Vec<Stratum>,
    n_kinds: usize,
    /// Kinds are told apart without their lowest bits.
    is_coarse: bool,
}

impl Strata {
    /// Counts a latency of a kind, where it began in the run, in shortest cells.
    #[inline]
    pub fn add(&mut self, kind: u16, at: u32, latency_ns: i64) {
        let place = self.place_of(kind.into());
        let present = self.of_kind.get_mut(place);
        match present.and_then(|stratum| stratum.present_at(at)) {
            Some(cell) => cell.add(&Cell::of(at, latency_ns)),
            None => self.add_elsewhere(kind, at, latency_ns),
        }
    }

    /// Counts one in another cell than the last of its kind.
    #[inline(never)]
    fn add_elsewhere(&mut self, kind: u16, at: u32, latency_ns: i64) {
        self.of_kind(usize::from(kind))
            .add(Cell::of(at, latency_ns));
        if self.n_kinds > MOST_KINDS && !self.is_coarse {
            self.coarsen();
        }
    }

    /// Adds all counts of others.
    pub fn merge(&mut self, other: Self) {
        if other.is_coarse && !self.is_coarse {
            self.coarsen();
        }
        for (kind, stratum) in other.of_kind.into_iter().enumerate() {
            if !stratum.cells.is_empty() {
                self.of_kind(kind).merge(stratum);
            }
        }
        if self.n_kinds > MOST_KINDS && !self.is_coarse {
            self.coarsen();
        }
    }

    #[cold]
    fn coarsen(&mut self) {
        let all = std::mem::take(&mut self.of_kind);
        *self = Self {
            is_coarse: true,
            ..Self::default()
        };
        for (kind, stratum) in all.into_iter().enumerate() {
            if !stratum.cells.is_empty() {
                self.of_kind(kind).merge(stratum);
            }
        }
    }

    /// Where a kind is.
    #[inline]
    fn place_of(&self, kind: usize) -> usize {
        if self.is_coarse {
            kind >> LOWEST_BITS << LOWEST_BITS
        } else {
            kind
        }
    }

    fn of_kind(&mut self, kind: usize) -> &mut Stratum {
        let kind = self.place_of(kind);
        if kind >= self.of_kind.len() {
            self.of_kind.resize_with(kind + 1, Stratum::default);
        }
        #[expect(clippy::indexing_slicing, reason = "there are more just above")]
        let stratum = &mut self.of_kind[kind];
        self.n_kinds += usize::from(stratum.cells.is_empty());
        stratum
    }

    /// All kinds' cells: kinds ascending, and each in order of time.
    pub fn cells(&self) -> impl Iterator<Item = (usize, &Cell)> {
        self.of_kind
            .iter()
            .enumerate()
            .flat_map(|(kind, one)| one.cells.iter().map(move |cell| (kind, cell)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A kind all the time, one in a burst, and one of which little is seen; out of order.
    fn latencies() -> Vec<(u16, u32, i64)> {
        let places = (0..20_000_u32).map(|i| i.wrapping_mul(7919) % 20_000);
        places
            .map(|i| match i % 10 {
                0 => (3, 400_000 + i / 7, i64::from(i) - 9_000),
                1 if i < 300 => (127, i * 3_000, -5),
                _ => (5, i * 52, i64::from(i % 977)),
            })
            .collect()
    }

    fn counted(some: &[(u16, u32, i64)]) -> Strata {
        let mut strata = Strata::default();
        for (kind, at, latency_ns) in some {
            strata.add(*kind, *at, *latency_ns);
        }
        strata
    }

    fn all(strata: &Strata) -> Vec<(usize, Cell)> {
        strata.cells().map(|(kind, cell)| (kind, *cell)).collect()
    }

    #[test]
    fn parts_add_up_to_the_whole_in_any_order() {
        let some = latencies();
        let whole = all(&counted(&some));
        let mut sorted = some.clone();
        sorted.sort_by_key(|(_, at, _)| *at);
        assert_eq!(all(&counted(&sorted)), whole);
        for n_parts in [2, 7, 64] {
            let mut merged = Strata::default();
            for part in some.chunks(some.len() / n_parts).rev() {
                merged.merge(counted(part));
            }
            assert_eq!(all(&merged), whole);
        }
    }

    #[test]
    fn too_many_kinds_are_told_apart_without_their_lowest_bits() {
        let some: Vec<_> = (0..6_500_u32)
            .map(|i| (u16::try_from(i % 65).unwrap_or(0), i * 100, 1))
            .collect();
        let whole = all(&counted(&some));
        let mut kinds: Vec<usize> = whole.iter().map(|(kind, _)| *kind).collect();
        kinds.dedup();
        assert_eq!(kinds, [0, 8, 16, 24, 32, 40, 48, 56, 64]);
        let mut merged = Strata::default();
        for part in some.chunks(50).rev() {
            merged.merge(counted(part));
        }
        assert_eq!(all(&merged), whole);
        let few: Vec<_> = some
            .iter()
            .filter(|(kind, ..)| *kind < 64)
            .copied()
            .collect();
        let kept = counted(&few);
        assert!((0..64).all(|kind| kept.cells().any(|(of, _)| of == kind)));
    }

    #[test]
    fn a_burst_has_as_many_cells_as_what_is_seen_all_the_time() {
        let whole = counted(&latencies());
        let n_of = |kind: usize| whole.cells().filter(|(of, _)| *of == kind).count();
        for kind in [3, 5] {
            assert!(
                (MOST_CELLS / 2..=MOST_CELLS).contains(&n_of(kind)),
                "{kind}"
            );
        }
        assert_eq!(n_of(127), 30);
        let n: u32 = whole.cells().map(|(_, cell)| cell.n).sum();
        let sum_ns: i64 = whole.cells().map(|(_, cell)| cell.sum_ns).sum();
        let counted = latencies();
        assert_eq!(n as usize, counted.len());
        assert_eq!(sum_ns, counted.iter().map(|(_, _, ns)| *ns).sum::<i64>());
    }
}
