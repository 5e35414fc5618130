//! What was lost on a link in one direction, and parts of it.

use crate::base::blocks::N_BLOCKS;
use crate::matching::loss::missed::Missed;
use crate::matching::streams::Lost;

/// What was lost on a link in one direction.
#[derive(Clone, Debug)]
pub(crate) struct LinkLoss {
    /// In all.
    pub(crate) lost: Lost,
    /// Packets, block by block of time; empty if none.
    pub(crate) blocks: Vec<u64>,
    /// What the variance of the packets is more than that of as many independent losses.
    pub(crate) more_variance: f64,
}

impl Default for LinkLoss {
    fn default() -> Self {
        Self {
            lost: Lost::default(),
            blocks: Vec::new(),
            more_variance: 0.0,
        }
    }
}

impl LinkLoss {
    /// Adds what was last seen in a block of time.
    pub(crate) fn add(&mut self, lost: Lost, block: usize) {
        self.lost.add(lost);
        if self.blocks.is_empty() && lost.packets > 0 {
            self.blocks.resize(N_BLOCKS, 0);
        }
        if let Some(n) = self.blocks.get_mut(block) {
            *n += lost.packets;
        }
    }

    /// How many times the variance of as many independent losses that of the packets is.
    pub(crate) fn spread(&self) -> f64 {
        1.0 + self.more_variance.max(0.0) / real(self.lost.packets.max(1))
    }

    /// Adds all of another.
    pub(crate) fn join(&mut self, other: &Self) {
        self.lost.add(other.lost);
        self.more_variance += other.more_variance;
        if self.blocks.len() < other.blocks.len() {
            self.blocks.resize(other.blocks.len(), 0);
        }
        for (n, more) in self.blocks.iter_mut().zip(&other.blocks) {
            *n += more;
        }
    }

    /// Parts in proportion to the weights of each block of time: whole numbers that add up.
    pub(crate) fn divided(&self, weights_in: &dyn Fn(usize) -> Vec<f64>) -> Vec<Self> {
        let expected = self.expected(weights_in);
        let weights: Vec<f64> = if self.blocks.is_empty() {
            weights_in(0)
        } else {
            expected.iter().map(|part| part.iter().sum()).collect()
        };
        let total: f64 = weights.iter().sum();
        let mut before = 0.0;
        let mut parts = Vec::new();
        for (weight, expected) in weights.iter().zip(&expected) {
            let (from, to) = (before / total, (before + weight) / total);
            before += weight;
            let part = |n: u64| rounded(real(n) * to) - rounded(real(n) * from);
            let scaled = self.scaled(&part);
            let blocks = in_whole_numbers(expected, scaled.lost.packets);
            parts.push(Self { blocks, ..scaled });
        }
        parts
    }

    /// What each part has of the packets of each block.
    fn expected(&self, weights_in: &dyn Fn(usize) -> Vec<f64>) -> Vec<Vec<f64>> {
        let mut expected = vec![vec![0.0; self.blocks.len()]; weights_in(0).len()];
        for (block, n) in self.blocks.iter().enumerate().filter(|(_, n)| **n > 0) {
            let weights = weights_in(block);
            let total: f64 = weights.iter().sum();
            for (part, weight) in expected.iter_mut().zip(weights) {
                if let Some(share) = part.get_mut(block) {
                    *share = real(*n) * weight / total;
                }
            }
        }
        expected
    }

    /// Leaves what the downstream point would have witnessed to be lost on this link, had it seen
    /// every packet that it witnesses; `farther` got lost beyond that point, which saw it.
    pub(crate) fn take_missed(&mut self, missed: &Missed, farther: Lost) {
        let share = missed.share();
        if share <= 0.0 {
            return;
        }
        let left = |n: u64, farther: u64| (1.0 - share) * real(n) - share * real(farther);
        let (n, n_farther) = (self.lost.packets, farther.packets);
        let estimate = left(n, n_farther).max(0.0);
        // of which of the others were missed; of how often that is
        let more_variance = self.more_variance * (1.0 - share).powi(2)
            + share * (real(n_farther) - estimate)
            + share * (1.0 - share) / missed.n_known() * (real(n) + real(n_farther)).powi(2);
        let mut lost = Lost {
            packets: rounded(estimate),
            bytes: rounded(left(self.lost.bytes, farther.bytes)),
            ends: self.lost.ends,
        };
        for (end, more) in lost.ends.iter_mut().zip(farther.ends) {
            *end = rounded(left(*end, more));
        }
        *self = self.scaled(&|_| lost.packets);
        self.lost = lost;
        self.more_variance = more_variance;
    }

    /// The blocks are scaled as the packets are.
    fn scaled(&self, part: &dyn Fn(u64) -> u64) -> Self {
        let packets = part(self.lost.packets);
        let share = real(packets) / real(self.lost.packets.max(1));
        let mut before = 0;
        let mut blocks = Vec::with_capacity(self.blocks.len());
        for n in &self.blocks {
            let (from, to) = (before, before + n);
            before = to;
            blocks.push(rounded(real(to) * share) - rounded(real(from) * share));
        }
        Self {
            lost: Lost {
                packets,
                bytes: part(self.lost.bytes),
                ends: self.lost.ends.map(part),
            },
            blocks,
            more_variance: self.more_variance,
        }
    }
}

/// Numbers in proportion to those expected, that add up to so many.
fn in_whole_numbers(expected: &[f64], n: u64) -> Vec<u64> {
    let all: f64 = expected.iter().sum();
    let mut before = 0.0;
    let mut found = Vec::with_capacity(expected.len());
    for one in expected {
        let (from, to) = (before, before + one);
        before = to;
        let up_to = |sum: f64| rounded(real(n) * sum / all.max(f64::MIN_POSITIVE));
        found.push(up_to(to) - up_to(from));
    }
    found
}

#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
fn real(n: u64) -> f64 {
    n as f64
}

/// The nearest whole number; 0 of what is less.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "casts saturate"
)]
fn rounded(n: f64) -> u64 {
    n.round() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loss(packets: u64) -> LinkLoss {
        let mut loss = LinkLoss::default();
        for at in 0..packets {
            let block = usize::try_from(at).unwrap() % N_BLOCKS;
            let one = Lost {
                packets: 1,
                bytes: 100,
                ends: [1, 0],
            };
            loss.add(one, block);
        }
        loss
    }

    fn n_in_blocks(loss: &LinkLoss) -> u64 {
        loss.blocks.iter().sum()
    }

    #[test]
    fn parts_are_whole_and_add_up() {
        for n in [0, 1, 7, 100, 1_001] {
            let parts = loss(n).divided(&|_| vec![1.0, 1.0, 5.0]);
            assert_eq!(parts.iter().map(|part| part.lost.packets).sum::<u64>(), n);
            assert_eq!(
                parts.iter().map(|part| part.lost.bytes).sum::<u64>(),
                100 * n
            );
            assert!(
                parts
                    .iter()
                    .all(|part| n_in_blocks(part) == part.lost.packets)
            );
        }
        let only = &loss(7).divided(&|_| vec![3.0])[0];
        assert_eq!((only.lost.packets, &only.blocks), (7, &loss(7).blocks));
    }

    #[test]
    fn parts_are_those_of_each_time() {
        let n = u64::try_from(N_BLOCKS).unwrap();
        let is_late = |block: usize| f64::from(u8::from(block >= N_BLOCKS / 4));
        let parts = loss(n).divided(&|block| vec![1.0 - is_late(block), is_late(block)]);
        assert_eq!(
            [0, 1].map(|at: usize| parts[at].lost.packets),
            [n / 4, 3 * n / 4]
        );
        assert_eq!(parts[0].blocks[..N_BLOCKS / 4], vec![1; N_BLOCKS / 4]);
        assert_eq!(parts[0].blocks[N_BLOCKS / 4..], vec![0; 3 * N_BLOCKS / 4]);
        assert_eq!(n_in_blocks(&parts[1]), 3 * n / 4);
    }

    #[test]
    fn what_was_missed_and_lost_farther_on_is_not_lost_here() {
        // 200 lost here and 400 farther on, of which the point missed a quarter
        let missed = Missed {
            n_seen: 7_500,
            n_missed: 2_500.0,
            ..Missed::default()
        };
        let mut here = loss(200 + 100);
        here.take_missed(&missed, loss(300).lost);
        assert_eq!(here.lost.packets, 150);
        assert_eq!((here.lost.bytes, here.lost.ends), (15_000, [150, 0]));
        assert_eq!(n_in_blocks(&here), 150);
        assert!((1.2..1.8).contains(&here.spread()), "{}", here.spread());
    }

    #[test]
    fn a_point_that_misses_nothing_changes_nothing() {
        let mut here = loss(300);
        here.take_missed(&Missed::default(), loss(300).lost);
        assert_eq!((here.lost.packets, here.spread()), (300, 1.0));
        assert_eq!(here.blocks, loss(300).blocks);
    }

    #[test]
    fn nothing_is_lost_less_than_never() {
        let missed = Missed {
            n_seen: 50,
            n_missed: 50.0,
            ..Missed::default()
        };
        let mut here = loss(10);
        here.take_missed(&missed, loss(300).lost);
        assert_eq!((here.lost.packets, n_in_blocks(&here)), (0, 0));
        assert!(here.spread() > 100.0);
    }
}
