//! Times in which a point did not capture: pauses, as between two files of which one is missing, and frames that a
//! mirror lost by its own numbers.

use crate::base::blocks::N_BLOCKS;
use crate::matching::observation::Observation;
use crate::plan::{Direction, Plan, Topology};
use serde::{Deserialize, Serialize};

const N_WORDS: usize = N_BLOCKS / u64::BITS as usize;
/// A point that misses some packets at any time misses all of a time by no greater chance.
const CHANCE: f64 = 1e-6;

/// Blocks of time, a bit for each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct BlockSet([u64; N_WORDS]);

impl BlockSet {
    #[inline]
    fn add(&mut self, block: usize) {
        let bits = u64::BITS as usize;
        if let Some(word) = self.0.get_mut(block / bits) {
            *word |= 1 << (block % bits);
        }
    }

    fn has(&self, block: usize) -> bool {
        let bits = u64::BITS as usize;
        let word = self.0.get(block / bits);
        word.is_some_and(|word| word >> (block % bits) & 1 == 1)
    }
}

/// Per point: the blocks of time in which it saw packets that others saw too.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Awake(Vec<BlockSet>);

impl Awake {
    #[inline]
    pub(crate) fn add(&mut self, point: u16, block: usize) {
        let at = usize::from(point);
        if self.0.len() <= at {
            self.0.resize(at + 1, BlockSet::default());
        }
        if let Some(blocks) = self.0.get_mut(at) {
            blocks.add(block);
        }
    }

    /// Adds what another partition saw.
    pub(crate) fn merge(&mut self, other: &Self) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), BlockSet::default());
        }
        for (own, more) in self.0.iter_mut().zip(&other.0) {
            for (word, bits) in own.0.iter_mut().zip(more.0) {
                *word |= bits;
            }
        }
    }
}

/// Per point: the blocks of time in which it paused, in whole or in part.
#[derive(Debug, Default)]
pub(crate) struct Pauses(Vec<BlockSet>);

impl Pauses {
    /// Of how many packets jumped a point in each block, and the share that it misses of all.
    pub(crate) fn of(awake: &Awake, jumped: &[([u64; N_BLOCKS], f64)]) -> Self {
        let none = BlockSet::default();
        let of_point = |(point, (n, missed_frac)): (usize, &([u64; N_BLOCKS], f64))| {
            let mut found = BlockSet::default();
            for (from, to) in gaps(awake.0.get(point).unwrap_or(&none)) {
                let n: u64 = n.iter().take(to).skip(from).sum();
                #[expect(clippy::cast_precision_loss, reason = "a chance needs no more")]
                if n > 0 && missed_frac.powf(n as f64) < CHANCE {
                    // it began and ended within the blocks beside
                    (from.saturating_sub(1)..=to).for_each(|block| found.add(block));
                }
            }
            found
        };
        Self(jumped.iter().enumerate().map(of_point).collect())
    }

    pub(crate) fn has(&self, point: u16, block: usize) -> bool {
        let blocks = self.0.get(usize::from(point));
        blocks.is_some_and(|blocks| blocks.has(block))
    }
}

/// From where to before where blocks are missing.
fn gaps(blocks: &BlockSet) -> Vec<(usize, usize)> {
    let mut found: Vec<(usize, usize)> = Vec::new();
    for block in (0..N_BLOCKS).filter(|block| !blocks.has(*block)) {
        match found.last_mut() {
            Some((_, to)) if *to == block => *to += 1,
            _ => found.push((block, block + 1)),
        }
    }
    found
}

/// The only point that leads on, where the path ends, if frames of its mirror are missing then.
pub(crate) fn unmirrored_at(
    plan: &Plan,
    topology: &Topology,
    last: &Observation,
    direction: Direction,
) -> Option<u16> {
    if plan.mirror_gaps.iter().all(|(gaps, _)| gaps.is_empty()) {
        return None;
    }
    let along = topology.along(direction);
    let down = along.onward(last.point).next()?;
    let is_only = along.onward(last.point).all(|other| other == down);
    let is_end = is_only && along.onward(down).next().is_none();
    let band = plan.band(direction, last.point, down)?;
    let (gaps, _) = plan.mirror_gaps.get(usize::from(down))?;
    let aligned_ns = |t_ns: i64| plan.aligned_ns(direction, down, t_ns);
    let earliest_ns = last.aligned_ns.saturating_add(band.lo_ns);
    let latest_ns = last.aligned_ns.saturating_add(band.hi_ns);
    let at = gaps.partition_point(|(_, after_ns)| aligned_ns(*after_ns) < earliest_ns);
    let is_missing = gaps
        .get(at)
        .is_some_and(|(before_ns, _)| aligned_ns(*before_ns) <= latest_ns);
    (is_end && is_missing).then_some(down)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paused(awake: impl Iterator<Item = usize>, n: u64, missed_frac: f64) -> Vec<usize> {
        let mut seen = Awake::default();
        awake.for_each(|block| seen.add(1, block));
        let jumped = [([0; N_BLOCKS], 0.0), ([n; N_BLOCKS], missed_frac)];
        let pauses = Pauses::of(&seen, &jumped);
        (0..N_BLOCKS)
            .filter(|block| pauses.has(1, *block))
            .collect()
    }

    #[test]
    fn a_point_pauses_where_it_has_nothing_of_many_packets() {
        let but_some = |from, to| (0..N_BLOCKS).filter(move |at| !(from..to).contains(at));
        assert_eq!(paused(but_some(10, 13), 5, 0.1), [9, 10, 11, 12, 13]);
        assert_eq!(
            paused(but_some(250, 256), 5, 0.1),
            [249, 250, 251, 252, 253, 254, 255]
        );
        assert!(
            paused(but_some(10, 11), 5, 0.1).is_empty(),
            "it may miss five"
        );
        assert!(paused(but_some(10, 13), 20, 0.99).is_empty(), "it samples");
        assert!(paused(0..N_BLOCKS, 50, 0.1).is_empty());
        assert!(
            paused(but_some(10, 13), 0, 0.0).is_empty(),
            "nothing passed"
        );
    }
}
