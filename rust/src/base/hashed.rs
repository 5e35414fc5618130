//! Maps whose keys are hashes already: identities, flows, address pairs.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, Hasher};
use std::sync::LazyLock;

use crate::base::hash::{Seed, product, word};

/// A map from a hash.
pub type HashedMap<V> = HashMap<u64, V, Placing>;

/// A set of hashes.
pub type HashedSet = HashSet<u64, Placing>;

/// Where a key is placed. Keys are made of what packets say, by rules that everybody can read: placed by
/// themselves, packets could be made whose keys are all in one place, and each would be looked for among all
/// others. Nothing but the place depends on it.
#[derive(Clone, Copy, Debug)]
pub struct Placing(Seed);

/// Another one in every process.
static SECRET: LazyLock<Placing> = LazyLock::new(|| Placing(Seed::secret()));

impl Default for Placing {
    fn default() -> Self {
        *SECRET
    }
}

impl BuildHasher for Placing {
    type Hasher = PlaceHasher;

    #[inline]
    fn build_hasher(&self) -> PlaceHasher {
        let [place, mask] = self.0.parts();
        PlaceHasher { place, mask }
    }
}

/// A place, after the keys so far.
#[derive(Clone, Copy, Debug)]
pub struct PlaceHasher {
    place: u64,
    mask: u64,
}

impl Hasher for PlaceHasher {
    #[inline]
    fn finish(&self) -> u64 {
        self.place
    }

    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks();
        for word in words {
            self.write_u64(u64::from_ne_bytes(*word));
        }
        if !rest.is_empty() {
            self.write_u64(word(rest, 0, rest.len()));
        }
    }

    #[inline]
    fn write_u64(&mut self, key: u64) {
        self.place = product(self.place ^ key, self.mask);
    }

    #[inline]
    fn write_u32(&mut self, key: u32) {
        self.write_u64(u64::from(key));
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// The lowest bits choose a map's bucket.
    const BITS: u64 = 0xffff;

    #[test]
    fn keys_of_one_place_are_placed_apart() {
        for unlike in [0, 16, 40] {
            let n_places = |seed: u64| {
                let placing = Placing(Seed::new(seed));
                let places = (0..1000_u64).map(|n| placing.hash_one(n << unlike) & BITS);
                places.collect::<BTreeSet<_>>().len()
            };
            // of one seed in a hundred, multiples of some power of two are nearer together
            let n_seeds = (0..1000).filter(|seed| n_places(*seed) > 900).count();
            assert!(n_seeds > 980);
        }
    }

    #[test]
    fn another_seed_is_another_place() {
        let places = (0..1000).map(|seed| Placing(Seed::new(seed)).hash_one(7_u64));
        assert_eq!(places.collect::<BTreeSet<_>>().len(), 1000);
    }

    #[test]
    fn nobody_can_foresee_a_place() {
        let of_all = Placing(Seed::PUBLIC).hash_one(7_u64);
        assert_ne!(Placing::default().hash_one(7_u64), of_all);
        assert_ne!(Seed::secret(), Seed::secret());
    }
}
