//! Latencies as they are kept: counted by size, and block by block of time.

use super::blocks::{Blocks, Place};
use super::histogram::Histogram;
use serde::{Deserialize, Serialize};

/// Latencies, and the same block by block.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Latencies {
    /// All of them.
    pub histogram: Histogram,
    /// By the time at the upstream point.
    pub blocks: Blocks,
}

impl Latencies {
    /// Counts a latency, and in which block of time it was.
    #[inline]
    pub fn add(&mut self, block: usize, latency_ns: i64) {
        self.histogram.add(latency_ns);
        self.blocks.add(block, latency_ns);
    }

    /// Counts a latency of a kind of traffic.
    #[inline]
    pub fn add_of_kind(&mut self, kind: u16, place: Place, latency_ns: i64) {
        self.histogram.add(latency_ns);
        self.blocks.add_of_kind(kind, place, latency_ns);
    }

    /// Adds all counts of others.
    pub fn merge(&mut self, other: Self) {
        self.histogram.merge(&other.histogram);
        self.blocks.merge(other.blocks);
    }
}
