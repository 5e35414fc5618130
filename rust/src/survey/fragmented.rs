//! Who talks to whom in fragments.

use crate::base::hashed::HashedMap;
use crate::identity::Identity;
use crate::reading::fragments::cut_by;
use crate::wire::Packet;
use serde::{Deserialize, Serialize};

/// Address pairs that are kept: fragments of more are matched as packets of their own.
const MOST_PAIRS: usize = 1 << 16;

/// Address pairs with packets in fragments.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Fragmented(HashedMap<u32>);

impl Fragmented {
    /// Takes a packet of a file.
    #[inline]
    pub(super) fn note(&mut self, packet: &Packet, identity: &Identity) {
        if packet.fragment == 0 {
            return;
        }
        let has_more = packet.fragment & 1 != 0;
        let n_bytes = if has_more {
            packet.transport_wire_bytes
        } else {
            u32::MAX
        };
        self.add(cut_by(packet, identity.pair), n_bytes);
    }

    fn add(&mut self, pair: u64, n_bytes: u32) {
        if self.0.len() < MOST_PAIRS || self.0.contains_key(&pair) {
            let least = self.0.entry(pair).or_insert(u32::MAX);
            *least = n_bytes.min(*least);
        }
    }

    /// Whether which pairs are known depends on which came first.
    pub(super) fn is_full(&self) -> bool {
        self.0.len() >= MOST_PAIRS
    }

    /// Adds those of another file.
    pub(super) fn join(&mut self, other: &Self) {
        for (pair, n_bytes) in other.pairs() {
            self.add(pair, n_bytes);
        }
    }

    /// The pairs, ascending, with the bytes of IP payload in the shortest fragment that another
    /// follows.
    pub(super) fn pairs(&self) -> Vec<(u64, u32)> {
        let mut pairs: Vec<(u64, u32)> = self.0.iter().map(|(pair, n)| (*pair, *n)).collect();
        pairs.sort_unstable();
        pairs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_bounded_and_keep_the_shortest() {
        let (mut one, mut other) = (Fragmented::default(), Fragmented::default());
        for pair in 0..2 * MOST_PAIRS as u64 {
            one.add(pair, 1480);
        }
        for n_bytes in [u32::MAX, 552, 1400] {
            other.add(7, n_bytes);
        }
        one.join(&other);
        let pairs = one.pairs();
        assert_eq!(pairs.len(), MOST_PAIRS);
        assert_eq!(pairs.get(6..8), Some(&[(6, 1480), (7, 552)][..]));
    }
}
