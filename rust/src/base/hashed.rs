//! Maps whose keys are hashes already: identities, flows, address pairs.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

/// A map from a hash.
pub type HashedMap<V> = HashMap<u64, V, BuildHasherDefault<AlreadyHashed>>;

/// A set of hashes.
pub type HashedSet = HashSet<u64, BuildHasherDefault<AlreadyHashed>>;

/// Passes a key on as its own hash.
#[derive(Clone, Copy, Debug, Default)]
pub struct AlreadyHashed(u64);

impl Hasher for AlreadyHashed {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    #[inline]
    fn write_u64(&mut self, key: u64) {
        self.0 = key;
    }

    #[inline]
    fn write_u32(&mut self, key: u32) {
        self.0 = self.0.rotate_left(32) ^ u64::from(key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::hash::Hash;

    #[test]
    fn a_key_is_its_own_hash() {
        let mut hasher = AlreadyHashed::default();
        0x0123_4567_89ab_cdef_u64.hash(&mut hasher);
        assert_eq!(hasher.finish(), 0x0123_4567_89ab_cdef);
    }
}
