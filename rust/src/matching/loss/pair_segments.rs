//! Which segments packets of each address pair crossed, each way. Pairs may be many, and are remembered to the
//! end; the sets of segments that they cross are few.

use crate::base::hashed::HashedMap;
use crate::matching::observation::Observation;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// An address pair, one way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(crate) struct DirectedPair {
    pub(crate) pair: u64,
    /// Its packets are from the smaller address.
    pub(crate) toward: bool,
}

impl DirectedPair {
    pub(crate) fn of(observation: &Observation) -> Self {
        Self {
            pair: observation.pair,
            toward: observation.toward,
        }
    }

    /// The opposite one.
    pub(crate) fn back(self) -> Self {
        Self {
            toward: !self.toward,
            ..self
        }
    }
}

/// Of every address pair the segments that its packets crossed, by [`crate::matching::loss::link_bit`].
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct PairSegments {
    /// The first is empty.
    sets: Vec<u128>,
    number_of: HashMap<u128, u32>,
    /// The numbers of the sets of a pair: of packets from the greater address, and from the smaller one.
    of_pair: HashedMap<[u32; 2]>,
    /// What other partitions saw: joined, the maps would take twice their memory.
    others: Vec<Self>,
}

impl Default for PairSegments {
    fn default() -> Self {
        Self {
            sets: vec![0],
            number_of: HashMap::from([(0, 0)]),
            of_pair: HashedMap::default(),
            others: Vec::new(),
        }
    }
}

impl PairSegments {
    /// Notes segments that a packet of a pair crossed.
    #[inline]
    pub(crate) fn add(&mut self, DirectedPair { pair, toward }: DirectedPair, segments: u128) {
        if segments == 0 {
            return;
        }
        let mut ways = self.of_pair.get(&pair).copied().unwrap_or_default();
        if let Some(set) = ways.get_mut(usize::from(toward)) {
            let before = self.sets.get(*set as usize).copied().unwrap_or(0);
            if before | segments != before {
                *set = self.number(before | segments);
                self.of_pair.insert(pair, ways);
            }
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

    /// The segments that packets of a pair crossed, either way; 0 if none did.
    pub(crate) fn of(&self, pair: u64) -> u128 {
        [false, true]
            .map(|toward| self.of_way(DirectedPair { pair, toward }))
            .into_iter()
            .fold(0, |all, one| all | one)
    }

    /// Those that its packets of one way crossed.
    pub(crate) fn of_way(&self, way: DirectedPair) -> u128 {
        let sets = self.of_pair.get(&way.pair).copied();
        let [away, toward] = self.ways(sets.unwrap_or_default());
        let own = if way.toward { toward } else { away };
        let others = self.others.iter().map(|other| other.of_way(way));
        others.fold(own, |all, one| all | one)
    }

    fn ways(&self, sets: [u32; 2]) -> [u128; 2] {
        sets.map(|set| self.sets.get(set as usize).copied().unwrap_or(0))
    }

    /// All ways with what packets of them crossed.
    pub(crate) fn all(&self) -> impl Iterator<Item = (DirectedPair, u128)> {
        let parts = move || std::iter::once(self).chain(&self.others);
        let pairs = parts().enumerate().flat_map(move |(number, part)| {
            let is_known = move |pair| {
                parts()
                    .take(number)
                    .any(|one| one.of_pair.contains_key(pair))
            };
            part.of_pair.keys().filter(move |pair| !is_known(*pair))
        });
        pairs.flat_map(|&pair| {
            let ways = [false, true].map(|toward| DirectedPair { pair, toward });
            ways.map(|way| (way, self.of_way(way)))
        })
    }

    /// Adds what another partition saw.
    pub(crate) fn join(&mut self, mut other: Self) {
        self.others.append(&mut other.others);
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
        pairs.into_iter().for_each(|(pair, all)| {
            let way = DirectedPair { pair, toward: true };
            crossed.add(way, all);
        });
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

        let crossed = one.all().filter(|(_, segments)| *segments != 0);
        let mut of_ways: Vec<_> = crossed.map(|(way, all)| (way.pair, all)).collect();
        of_ways.sort_unstable();
        assert_eq!(of_ways, [(1, 0b11), (2, 0b101 | 1 << 127), (4, 0b01)]);
    }

    #[test]
    fn a_pair_takes_one_entry_and_a_set_one_for_all_pairs() {
        let both = (0..10_000).flat_map(|pair| [(pair, 0b01), (pair, 0b10)]);
        let crossed: PairSegments = both.collect();
        assert_eq!(
            (crossed.n_pairs(), crossed.sets),
            (10_000, vec![0, 0b01, 0b11])
        );
    }
}
