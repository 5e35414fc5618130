//! When each flow took each branch of a fork. A flow mostly takes one, and takes another one from some moment on:
//! what is lost of it before the fork was on its way to the one that it took then.

use crate::base::blocks::N_BLOCKS;
use crate::base::hashed::HashedMap;
use serde::{Deserialize, Serialize};

/// By flow and branch: the first and the last block of time in which packets came through.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct FlowTimes(HashedMap<Span>);

/// Of blocks: the first and the last one.
type Span = [u8; 2];

const _: () = assert!(N_BLOCKS <= 1 << u8::BITS);

impl FlowTimes {
    /// Notes a packet of a flow, one way, that took these branches.
    pub(crate) fn add(&mut self, flow: u64, branches: u128, block: usize) {
        let block = u8::try_from(block).unwrap_or(u8::MAX);
        for branch in bits(branches) {
            self.widen(key(flow, branch), [block; 2]);
        }
    }

    fn widen(&mut self, key: u64, [first, last]: Span) {
        let span = self.0.entry(key).or_insert([first, last]);
        *span = [span[0].min(first), span[1].max(last)];
    }

    /// Those of the branches that the flow took in a block of time. If it took none of them: those that it took last
    /// before, and first after it.
    pub(crate) fn taken(&self, flow: u64, branches: u128, block: usize) -> u128 {
        let spans: Vec<(u128, Span)> = bits(branches)
            .filter_map(|branch| Some((1 << branch, *self.0.get(&key(flow, branch))?)))
            .collect();
        let of = |is_meant: &dyn Fn(&Span) -> bool| {
            let meant = spans.iter().filter(|(_, span)| is_meant(span));
            meant.fold(0, |all, (bit, _)| all | bit)
        };
        let is_before = |[_, last]: &Span| usize::from(*last) < block;
        let is_after = |[first, _]: &Span| usize::from(*first) > block;
        let then = of(&|span| !is_before(span) && !is_after(span));
        if then != 0 {
            return then;
        }
        let spans = || spans.iter().map(|(_, span)| span);
        let latest = spans()
            .filter(|span| is_before(span))
            .map(|[_, last]| last)
            .max();
        let earliest = spans()
            .filter(|span| is_after(span))
            .map(|[first, _]| first)
            .min();
        of(&|span| {
            is_before(span) && latest == Some(&span[1])
                || is_after(span) && earliest == Some(&span[0])
        })
    }

    /// Adds what another partition saw.
    pub(crate) fn merge(&mut self, other: Self) {
        for (key, span) in other.0 {
            self.widen(key, span);
        }
    }
}

fn key(flow: u64, branch: u32) -> u64 {
    const MIX: u64 = 0x9e37_79b9_7f4a_7c15;
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
    fn a_flow_takes_a_branch_from_its_first_packet_there_to_its_last() {
        let (mut times, mut other) = (FlowTimes::default(), FlowTimes::default());
        times.add(7, LEFT, 20);
        times.add(7, LEFT, 10);
        other.add(7, RIGHT, 30);
        other.add(7, RIGHT, 255);
        other.add(8, LEFT, 255);
        times.merge(other);
        assert_eq!(taken(&times, &[10, 15, 20]), [LEFT; 3]);
        assert_eq!(taken(&times, &[30, 100, 255]), [RIGHT; 3]);
        assert_eq!(taken(&times, &[0, 25]), [LEFT, BOTH], "the nearest");
        assert_eq!(times.taken(8, BOTH, 0), LEFT);
    }

    #[test]
    fn a_flow_that_takes_both_takes_either() {
        let mut times = FlowTimes::default();
        for block in 10..20 {
            times.add(7, if block % 2 == 0 { LEFT } else { RIGHT }, block);
        }
        assert_eq!(
            taken(&times, &[9, 10, 14, 15, 19, 20]),
            [LEFT, LEFT, BOTH, BOTH, RIGHT, RIGHT]
        );
    }
}
