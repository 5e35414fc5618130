//! Chance that is the same in every run: the generator of M. E. O'Neill (PCG XSL RR 128/64, 2014),
//! drawn from as numpy does, number by number. To import numpy's own takes longer than all draws.

/// The generator.
#[derive(Clone, Debug)]
pub struct Chance {
    state: u128,
    increment: u128,
    /// The half of a draw that was not needed yet.
    left: Option<u32>,
}

const MULTIPLIER: u128 = 0x2360_ed05_1fc6_5da4_4385_df64_9fcc_f645;

/// A draw of 53 bits counts in these steps.
const STEP: f64 = f64::EPSILON / 2.0;

impl Chance {
    /// What numpy makes of the seed of resampling, 20261120.
    pub const OF_RESAMPLES: Self = Self {
        state: 0x83e0_3797_b6b8_ab30_5e98_ccbd_d38d_a8a7,
        increment: 0xe43c_c889_46f4_97f9_1ba3_6bc1_9a0b_1fe3,
        left: None,
    };

    /// What numpy makes of the seed 0.
    pub const OF_ORDERS: Self = Self {
        state: 0x1aa1_b534_5996_452d_0958_5eb7_a695_61e3,
        increment: 0x418d_dadb_3af7_1a82_5881_33bc_4478_73a9,
        left: None,
    };

    #[expect(
        clippy::cast_possible_truncation,
        reason = "halves and a few bits of it are meant"
    )]
    fn bits64(&mut self) -> u64 {
        self.state = self
            .state
            .wrapping_mul(MULTIPLIER)
            .wrapping_add(self.increment);
        let folded = (self.state >> 64) as u64 ^ self.state as u64;
        folded.rotate_right((self.state >> 122) as u32)
    }

    #[expect(clippy::cast_possible_truncation, reason = "halves are meant")]
    fn bits32(&mut self) -> u32 {
        self.left.take().unwrap_or_else(|| {
            let bits = self.bits64();
            self.left = Some((bits >> 32) as u32);
            bits as u32
        })
    }

    /// At least 0, below 1.
    #[expect(clippy::cast_precision_loss, reason = "53 bits are exact")]
    fn share(&mut self) -> f64 {
        (self.bits64() >> 11) as f64 * STEP
    }

    /// At most `most`: as many bits as that has, until they are no more.
    fn at_most(&mut self, most: u32) -> u32 {
        let mask = u32::MAX.unbounded_shr(most.leading_zeros());
        loop {
            let found = self.bits32() & mask;
            if found <= most {
                return found;
            }
        }
    }

    /// The numbers below `n` in an order of chance.
    #[must_use]
    pub fn order(mut self, n: u32) -> Vec<u32> {
        let mut order: Vec<u32> = (0..n).collect();
        for at in (1..n).rev() {
            let other = self.at_most(at);
            order.swap(at as usize, other as usize);
        }
        order
    }
}

/// How often each of `n` equal blocks stands in a resample of as many.
#[derive(Debug)]
pub struct Resampler {
    n: usize,
    chance: Chance,
    /// By blocks left and draws left: the chance that the next block is not drawn at all.
    none: Vec<f64>,
}

impl Resampler {
    /// Of `n` blocks.
    #[must_use]
    pub fn new(n: usize) -> Self {
        Self {
            n,
            chance: Chance::OF_RESAMPLES,
            none: vec![f64::NAN; n * (n + 1)],
        }
    }

    /// Adds the counts of the next resample.
    pub fn draw(&mut self, counts: &mut Vec<f64>) {
        let each = 1.0 / float(self.n);
        let (mut left, mut rest) = (self.n, 1.0);
        for block in 0..self.n {
            let is_last = block + 1 == self.n;
            let count = if left == 0 || is_last {
                left
            } else {
                self.binomial(block, left, each / rest)
            };
            counts.push(float(count));
            left -= count;
            rest -= each;
        }
    }

    /// By inversion, as numpy draws while few are expected.
    fn binomial(&mut self, block: usize, n: usize, share: f64) -> usize {
        let (p, is_rest) = if share <= 0.5 {
            (share, false)
        } else {
            (1.0 - share, true)
        };
        let (size, q) = (float(n), 1.0 - p);
        let known = self.none.get_mut(block * (self.n + 1) + n);
        let none = known.map_or(f64::NAN, |known| {
            if known.is_nan() {
                *known = (size * (-p).ln_1p()).exp();
            }
            *known
        });
        let expected = size * p;
        let bound = size.min(expected + 10.0 * (expected * q + 1.0).sqrt());
        let (mut found, mut each, mut draw) = (0.0, none, self.chance.share());
        while draw > each {
            found += 1.0;
            if found > bound.floor() {
                (found, each, draw) = (0.0, none, self.chance.share());
            } else {
                draw -= each;
                each = (size - found + 1.0) * p * each / (found * q);
            }
        }
        let found = whole(found);
        if is_rest { n - found } else { found }
    }
}

#[expect(clippy::cast_precision_loss, reason = "blocks are few")]
fn float(n: usize) -> f64 {
    n as f64
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "it counts blocks"
)]
fn whole(n: f64) -> usize {
    n as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resamples_have_as_many_blocks_as_there_are() {
        let (mut resampler, mut counts) = (Resampler::new(7), Vec::new());
        for n in 1..=100 {
            resampler.draw(&mut counts);
            assert_eq!(counts.len(), 7 * n);
            assert_eq!(whole(counts.iter().sum()), 7 * n);
        }
    }

    #[test]
    fn an_order_has_every_number_once() {
        let mut order = Chance::OF_ORDERS.order(1000);
        assert!(!order.is_sorted());
        order.sort_unstable();
        assert_eq!(order, (0..1000).collect::<Vec<_>>());
    }
}
