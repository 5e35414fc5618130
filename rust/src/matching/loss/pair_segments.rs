//! Which segments packets of each address pair crossed. Pairs may be many, and are remembered to the
//! end; the sets of segments that they cross are few.

use crate::base::hashed::HashedMap;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// Of every address pair the segments that its packets crossed, by [`crate::matching::loss::link_bit`].
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct PairSegments {
    sets: Vec<u128>,
    number_of: HashMap<u128, u32>,
    /// The number of the pair's set.
    of_pair: HashedMap<u32>,
    /// What other partitions saw: joined, the maps would take twice their memory.
    others: Vec<Self>,
}

impl PairSegments {
    /// Notes segments that a packet of a pair crossed.
    #[inline]
    pub(crate) fn add(&mut self, pair: u64, segments: u128) {
        if segments == 0 {
            return;
        }
        let known = self.of_pair.get(&pair);
        let before = known.and_then(|set| self.sets.get(*set as usize));
        let all = before.copied().unwrap_or(0) | segments;
        if before != Some(&all) {
            let number = self.number(all);
            self.of_pair.insert(pair, number);
        }
    }

    fn number(&mut self, segments: u128) -> u32 {
        let next = u32::try_from(self.sets.len()).unwrap_or(u32::MAX);
        let number = *self.number_of.entry(segments).or_insert(next);
        if number == next {
            self.sets.push(segments);
        }
        number
    }

    /// The segments that packets of a pair crossed; 0 if none did.
    pub(crate) fn of(&self, pair: u64) -> u128 {
        let own = self.of_pair.get(&pair);
        let own = own.and_then(|set| self.sets.get(*set as usize)).copied();
        let others = self.others.iter().map(|other| other.of(pair));
        others.fold(own.unwrap_or(0), |all, one| all | one)
    }

    /// Adds what another partition saw.
    pub(crate) fn join(&mut self, other: Self) {
        self.others.push(other);
    }

    #[cfg(test)]
    pub(crate) fn n_pairs(&self) -> usize {
        self.of_pair.len()
    }
}

#[cfg(test)]
impl FromIterator<(u64, u128)> for PairSegments {
    fn from_iter<T: IntoIterator<Item = (u64, u128)>>(pairs: T) -> Self {
        let mut crossed = Self::default();
        pairs
            .into_iter()
            .for_each(|(pair, all)| crossed.add(pair, all));
        crossed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_add_up_over_packets_and_partitions() {
        let mut one = PairSegments::from_iter([(1, 0b01), (2, 0b01), (1, 0b10), (3, 0), (1, 0b01)]);
        one.join(PairSegments::from_iter([(2, 0b100), (4, 0b01)]));
        one.join(PairSegments::from_iter([(2, 1 << 127)]));
        let all = [0, 1, 2, 3, 4].map(|pair| one.of(pair));
        assert_eq!(all, [0, 0b11, 0b101 | 1 << 127, 0, 0b01]);
    }

    #[test]
    fn a_pair_takes_one_entry_and_a_set_one_for_all_pairs() {
        let both = (0..10_000).flat_map(|pair| [(pair, 0b01), (pair, 0b10)]);
        let crossed: PairSegments = both.collect();
        assert_eq!(
            (crossed.n_pairs(), crossed.sets),
            (10_000, vec![0b01, 0b11])
        );
    }
}
