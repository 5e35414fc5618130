//! The least latencies: what bounds the clocks.

use crate::matching::observation::FrameId;

/// The least latency residual of a time bin: the pair that bounds the clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MinDelay {
    /// Residual about the survey's centre, ns.
    pub residual_ns: i64,
    /// Reference time of the upstream observation.
    pub aligned_ns: i64,
    /// Its own time.
    pub up_ns: i64,
    /// Raw difference, downstream minus upstream.
    pub raw_ns: i64,
    /// The frames, upstream and downstream.
    pub frames: [FrameId; 2],
    /// Pairs in the bin.
    pub n: u64,
}

impl MinDelay {
    /// Keeps the lesser of two in the slot, which counts both.
    pub(crate) fn join(self, slot: &mut Option<Self>) {
        let order = |one: &Self| (one.residual_ns, one.raw_ns, one.aligned_ns, one.frames);
        match slot {
            Some(least) if order(least) <= order(&self) => least.n += self.n,
            Some(least) => {
                let n = least.n + self.n;
                *least = Self { n, ..self };
            }
            None => *slot = Some(self),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn least(residual_ns: i64, aligned_ns: i64) -> MinDelay {
        MinDelay {
            residual_ns,
            aligned_ns,
            up_ns: 0,
            raw_ns: residual_ns,
            frames: [FrameId::new(0, 1), FrameId::new(1, 1)],
            n: 1,
        }
    }

    #[test]
    fn the_least_is_kept_whatever_the_order() {
        let all = [least(5, 1), least(3, 9), least(3, 2), least(7, 0)];
        for turn in 0..4 {
            let mut slot = None;
            for index in 0..4 {
                all[(index + turn) % 4].join(&mut slot);
            }
            assert_eq!(slot, Some(MinDelay { n: 4, ..all[2] }));
        }
    }
}
