//! The least latencies: what bounds the clocks.

use crate::matching::counts::totals::Bins;
use crate::matching::observation::{FrameId, Observation};
use crate::plan::{Direction, N_BINS, Plan};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The least latency residual of a time bin: the pair that bounds the clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
    /// The residual next to the least, ns: how far that is alone; the greatest number if it is.
    pub second_ns: i64,
}

impl MinDelay {
    #[inline]
    fn of(up: &Observation, down: &Observation) -> Self {
        Self {
            residual_ns: residual_ns(up, down),
            aligned_ns: up.aligned_ns,
            up_ns: up.t_ns,
            raw_ns: down.t_ns.saturating_sub(up.t_ns),
            frames: [up.frame, down.frame],
            n: 1,
            second_ns: i64::MAX,
        }
    }

    /// Keeps the lesser of two in the slot, which counts both.
    pub(crate) fn join(self, slot: &mut Option<Self>) {
        let order = |one: &Self| (one.residual_ns, one.raw_ns, one.aligned_ns, one.frames);
        let Some(least) = slot else {
            *slot = Some(self);
            return;
        };
        let n = least.n + self.n;
        let (first, other) = if order(least) <= order(&self) {
            (*least, self)
        } else {
            (self, *least)
        };
        let second_ns = first.second_ns.min(other.residual_ns);
        *least = Self {
            n,
            second_ns,
            ..first
        };
    }
}

#[inline]
fn residual_ns(up: &Observation, down: &Observation) -> i64 {
    down.aligned_ns.saturating_sub(up.aligned_ns)
}

/// Those of all pairs of points whose clocks are apart, in the making.
#[derive(Debug)]
pub(crate) struct LeastDelays {
    n_points: usize,
    /// Per direction and up × n + down.
    of_ends: [Vec<Option<Bins>>; 2],
    has_other_clocks: bool,
}

impl LeastDelays {
    pub(crate) fn new(plan: &Plan) -> Self {
        let n_points = plan.n_points();
        Self {
            n_points,
            of_ends: [(); 2].map(|()| vec![None; n_points * n_points]),
            has_other_clocks: plan.domain.windows(2).any(|two| two.first() != two.last()),
        }
    }

    /// Whether a packet says something of clocks. What is born on the way, and what was only guessed,
    /// bounds none: neighbour discovery travels both ways at once.
    #[inline]
    pub(crate) fn is_bound_by(&self, plan: &Plan, first: &Observation) -> bool {
        self.has_other_clocks && first.directed && plan.toward_is_forward.contains_key(&first.pair)
    }

    /// Notes what a pair between different clocks says about them.
    #[expect(clippy::inline_always, reason = "one straight way for each pair")]
    #[inline(always)]
    pub(crate) fn note(
        &mut self,
        plan: &Plan,
        direction: Direction,
        (up, down): (&Observation, &Observation),
    ) {
        if plan.same_clock(up.point, down.point) {
            return;
        }
        let (start_ns, width_ns) = plan.bins;
        let bin = up.aligned_ns.saturating_sub(start_ns) / width_ns.max(1);
        let place = usize::from(up.point) * self.n_points + usize::from(down.point);
        let of_ends = self.of_ends.get_mut(direction.index());
        let bins = of_ends.and_then(|of| of.get_mut(place));
        let (Ok(bin), Some(bins)) = (usize::try_from(bin), bins) else {
            return;
        };
        let bins = bins.get_or_insert_with(|| vec![None; N_BINS]);
        if let Some(slot) = bins.get_mut(bin.min(N_BINS - 1)) {
            match slot {
                // as most are
                Some(least) if least.second_ns < residual_ns(up, down) => least.n += 1,
                _ => MinDelay::of(up, down).join(slot),
            }
        }
    }

    /// Per (upstream, downstream, direction).
    pub(crate) fn finish(self) -> BTreeMap<(u16, u16, usize), Bins> {
        let n = self.n_points.max(1);
        let point = |index: usize| u16::try_from(index).unwrap_or(u16::MAX);
        let mut found = BTreeMap::new();
        for (side, of_ends) in self.of_ends.into_iter().enumerate() {
            for (place, bins) in of_ends.into_iter().enumerate() {
                if let Some(bins) = bins {
                    found.insert((point(place / n), point(place % n), side), bins);
                }
            }
        }
        found
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
            second_ns: i64::MAX,
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
            assert_eq!(
                slot,
                Some(MinDelay {
                    n: 4,
                    second_ns: 3,
                    ..all[2]
                })
            );
        }
    }
}
