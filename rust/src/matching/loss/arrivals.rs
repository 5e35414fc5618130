//! How many packets crossed each segment, block by block of time, where the path forks. Packets of two addresses may
//! take one branch now and another later: what is lost before the fork was on its way to those that they took then.

use crate::base::blocks::N_BLOCKS;
use crate::plan::LinkCrossing;
use serde::{Deserialize, Serialize};

/// By segment and direction, [`LinkCrossing::bit`], and block of time.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Arrivals(Vec<Vec<u64>>);

impl Arrivals {
    /// Adds a packet that crossed these segments.
    pub(crate) fn add(&mut self, crossed: u128, block: usize) {
        let mut left = crossed;
        while left != 0 {
            self.add_to(left.trailing_zeros() as usize, block, 1);
            left &= left - 1;
        }
    }

    fn add_to(&mut self, bit: usize, block: usize, n: u64) {
        if self.0.len() <= bit {
            self.0.resize(bit + 1, Vec::new());
        }
        if let Some(blocks) = self.0.get_mut(bit) {
            blocks.resize(N_BLOCKS, 0);
            if let Some(total) = blocks.get_mut(block) {
                *total += n;
            }
        }
    }

    pub(crate) fn of(&self, crossing: LinkCrossing, block: usize) -> u64 {
        let blocks = self.0.get(crossing.bit().trailing_zeros() as usize);
        blocks
            .and_then(|blocks| blocks.get(block))
            .copied()
            .unwrap_or(0)
    }

    /// Adds what another partition saw.
    pub(crate) fn merge(&mut self, other: Self) {
        for (bit, blocks) in other.0.into_iter().enumerate() {
            for (block, n) in blocks.into_iter().enumerate().filter(|(_, n)| *n > 0) {
                self.add_to(bit, block, n);
            }
        }
    }
}
