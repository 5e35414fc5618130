//! When each flow took each branch of a fork. A flow mostly takes one, and takes another one from some moment on:
//! what is lost of it before the fork was on its way to the one that it took then.

use crate::base::blocks::N_BLOCKS;
use crate::base::hashed::HashedMap;
use serde::{Deserialize, Serialize};

/// By flow and branch: the spans of time in which packets came through, a bit for each.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct FlowTimes(HashedMap<u64>);

/// Blocks of a span of time.
const BLOCKS: usize = N_BLOCKS / u64::BITS as usize;

impl FlowTimes {
    /// Notes a packet of a flow, one way, that took these branches.
    pub(crate) fn add(&mut self, flow: u64, branches: u128, block: usize) {
        for branch in bits(branches) {
            *self.0.entry(key(flow, branch)).or_default() |= 1 << (block / BLOCKS);
        }
    }

    /// Those of the branches that the flow took at any time.
    pub(crate) fn ever(&self, flow: u64, branches: u128) -> u128 {
        self.within(flow, branches, u64::MAX)
    }

    /// Those that it may have taken in a block of time: the ones of its nearest packets, in the same span and in those
    /// before and after. If it changed its branch from one to the next, nobody knows when.
    pub(crate) fn taken(&self, flow: u64, branches: u128, block: usize) -> u128 {
        let all = bits(branches).fold(0, |all, branch| all | self.spans(flow, branch));
        self.within(flow, branches, nearest(all, block / BLOCKS))
    }

    fn within(&self, flow: u64, branches: u128, spans: u64) -> u128 {
        let taken = bits(branches).filter(|branch| self.spans(flow, *branch) & spans != 0);
        taken.fold(0, |all, branch| all | 1 << branch)
    }

    fn spans(&self, flow: u64, branch: u32) -> u64 {
        self.0.get(&key(flow, branch)).copied().unwrap_or(0)
    }

    /// Adds what another partition saw.
    pub(crate) fn merge(&mut self, other: Self) {
        for (key, spans) in other.0 {
            *self.0.entry(key).or_default() |= spans;
        }
    }
}

/// Of spans: one, the last before it, and the first after it.
fn nearest(spans: u64, span: usize) -> u64 {
    let own = 1 << span;
    let before = spans & (own - 1);
    let after = spans & !(own | (own - 1));
    let last = before.checked_ilog2().map_or(0, |last| 1 << last);
    spans & own | last | after & after.wrapping_neg()
}

fn key(flow: u64, branch: u32) -> u64 {
    const MIX: u64 = 0xd6e8_feb8_6659_fd93;
    flow ^ MIX.wrapping_mul(u64::from(branch) + 1)
}

fn bits(mut set: u128) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let bit = set.trailing_zeros();
        (set != 0).then(|| {
            set &= set - 1;
            bit
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEFT: u128 = 1 << 3;
    const RIGHT: u128 = 1 << 90;
    const BOTH: u128 = LEFT | RIGHT;

    fn taken(times: &FlowTimes, blocks: &[usize]) -> Vec<u128> {
        let taken = |block: &usize| times.taken(7, BOTH, *block);
        blocks.iter().map(taken).collect()
    }

    #[test]
    fn a_flow_takes_the_branch_of_its_packets_then_or_of_the_nearest() {
        let (mut times, mut other) = (FlowTimes::default(), FlowTimes::default());
        times.add(7, LEFT, 20);
        times.add(7, LEFT, 60);
        other.add(7, RIGHT, 100);
        other.add(7, RIGHT, 255);
        other.add(8, LEFT, 255);
        times.merge(other);
        assert_eq!(taken(&times, &[0, 20, 40]), [LEFT; 3]);
        assert_eq!(taken(&times, &[60, 80, 100]), [BOTH; 3], "it moved between");
        assert_eq!(taken(&times, &[104, 200, 255]), [RIGHT; 3]);
        assert_eq!((times.taken(8, BOTH, 0), times.ever(7, BOTH)), (LEFT, BOTH));
        assert_eq!((times.taken(9, BOTH, 0), times.ever(9, BOTH)), (0, 0));
    }

    #[test]
    fn a_flow_takes_a_branch_that_it_comes_back_to() {
        let mut times = FlowTimes::default();
        let is_moved = |block: usize| (100..160).contains(&block);
        let branch = |block: usize| if is_moved(block) { RIGHT } else { LEFT };
        (0..N_BLOCKS).for_each(|block| times.add(7, branch(block), block));
        let spans = [0, 95, 99, 100, 104, 155, 159, 160, 164, 255];
        let (left, right) = ([LEFT, LEFT, BOTH, BOTH], [RIGHT, RIGHT, BOTH, BOTH]);
        let expected = [&left[..], &right, &left[..2]].concat();
        assert_eq!(taken(&times, &spans), expected);
        times.add(7, LEFT, 130);
        assert_eq!(taken(&times, &[130]), [BOTH]);
    }
}
