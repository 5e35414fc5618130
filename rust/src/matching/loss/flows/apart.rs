//! Flows of which a point saw nothing, while others saw many of their packets before it and after. They take a link
//! past it that nobody captures, or a filter left them out: nothing shows that they pass it, and of losses before it
//! and behind it, nothing shows which they are. Where long flows do so, short ones may.

use crate::base::hash::mixed;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// Fewer packets of a flow a capture may have dropped together.
const ENOUGH: u64 = 8;
/// A point that misses some packets of all flows misses all of one by no greater chance.
const CHANCE: f64 = 1e-4;
/// So large a share of its packets, at least, and so many, such flows have where it is no accident.
const LEAST_SHARE: f64 = 0.01;
const LEAST_PACKETS: u64 = 10;
/// Of further points it is not kept.
const MOST_POINTS: u16 = 128;
const N_BITS: u32 = 20;

/// Which points saw something of which flow, one way: a bit for each point and a hash of the flow. Where flows share
/// a bit, a point seems to have seen them all.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct SeenFlows(Vec<Vec<u64>>);

impl SeenFlows {
    #[inline]
    pub(crate) fn add(&mut self, flow: u64, point: u16) {
        if point >= MOST_POINTS {
            return;
        }
        let at = usize::from(point);
        if self.0.len() <= at {
            self.0.resize(at + 1, Vec::new());
        }
        let Some(words) = self.0.get_mut(at) else {
            return;
        };
        if words.is_empty() {
            words.resize((1 << N_BITS) / u64::BITS as usize, 0);
        }
        let (word, bit) = place(flow);
        if let Some(word) = words.get_mut(word) {
            *word |= bit;
        }
    }

    pub(crate) fn has(&self, flow: u64, point: u16) -> bool {
        let (word, bit) = place(flow);
        let words = self.0.get(usize::from(point));
        let word = words.and_then(|words| words.get(word));
        point >= MOST_POINTS || word.is_some_and(|word| word & bit != 0)
    }

    /// Adds what another partition saw.
    pub(crate) fn merge(&mut self, other: Self) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), Vec::new());
        }
        for (own, more) in self.0.iter_mut().zip(other.0) {
            if own.is_empty() {
                *own = more;
                continue;
            }
            for (word, bits) in own.iter_mut().zip(more) {
                *word |= bits;
            }
        }
    }
}

fn place(flow: u64) -> (usize, u64) {
    let at = (mixed(flow) >> (u64::BITS - N_BITS)) as usize;
    let bits = u64::BITS as usize;
    (at / bits, 1 << (at % bits))
}

/// What a point saw and missed of the flows that it saw, in one direction, and how many packets of each other flow
/// jumped it.
#[derive(Clone, Debug, Default)]
pub(crate) struct FlowsPast {
    pub(crate) n_seen: u64,
    pub(crate) n_missed: u64,
    /// Of all that jumped it, those of times in which it paused.
    pub(crate) n_paused: u64,
    pub(crate) unseen: HashMap<u64, u64>,
}

impl FlowsPast {
    #[expect(clippy::cast_precision_loss, reason = "a share needs no more")]
    pub(crate) fn missed_frac(&self) -> f64 {
        self.n_missed as f64 / (self.n_missed + self.n_seen).max(1) as f64
    }

    /// Whether flows go past it, if it or one beside it misses so much of the others.
    #[expect(clippy::cast_precision_loss, reason = "a chance needs no more")]
    pub(crate) fn is_passed_by(&self, missed_frac: f64) -> bool {
        let is_apart = |n: &&u64| **n >= ENOUGH && missed_frac.powf(**n as f64) < CHANCE;
        let n: u64 = self.unseen.values().filter(is_apart).sum();
        // flows that begin and end in a pause jump it too
        let n = n.min((n + self.n_missed).saturating_sub(self.n_paused));
        n >= LEAST_PACKETS && n as f64 >= LEAST_SHARE * (n + self.n_seen + self.n_missed) as f64
    }

    /// How much a packet of a flow that jumped it shows that it did not capture for a time. A flow that it saw nothing of
    /// may go past it: all its packets show as much as one.
    #[expect(clippy::cast_precision_loss, reason = "a share needs no more")]
    pub(crate) fn evidence_of(&self, flow: u64) -> f64 {
        let n_unseen = self.unseen.get(&flow);
        n_unseen.map_or(1.0, |n| 1.0 / *n as f64)
    }
}

/// Per direction, a bit for each point that flows go past.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PassedBy([u128; 2]);

impl PassedBy {
    pub(crate) fn add(&mut self, point: u16, side: usize) {
        if let Some(points) = self.0.get_mut(side).filter(|_| point < MOST_POINTS) {
            *points |= 1 << point;
        }
    }

    /// Those that saw nothing of a flow.
    pub(crate) fn apart(&self, seen: &SeenFlows, flow: u64, side: usize) -> u128 {
        let points = self.0.get(side).copied().unwrap_or(0);
        let apart = (0..MOST_POINTS).filter(|at| points >> at & 1 == 1 && !seen.has(flow, *at));
        apart.fold(0, |all, at| all | 1 << at)
    }

    /// Whether one of them is this point.
    pub(crate) fn is_apart(
        &self,
        seen: &SeenFlows,
        (flow, side): (u64, usize),
        point: u16,
    ) -> bool {
        let points = self.0.get(side).copied().unwrap_or(0);
        point < MOST_POINTS && points >> point & 1 == 1 && !seen.has(flow, point)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FLOW: u64 = 7 << 44;

    /// Flows of so many packets went past a point that saw so many of others.
    fn is_passed_by(n_flows: u64, n: u64, missed_frac: f64) -> bool {
        let past = FlowsPast {
            n_seen: 1_000,
            n_missed: 0,
            n_paused: 0,
            unseen: (0..n_flows).map(|flow| (flow, n)).collect(),
        };
        past.is_passed_by(missed_frac)
    }

    #[test]
    fn flows_go_past_a_point_where_all_of_each_would_hardly_be_missed() {
        assert!(is_passed_by(10, 8, 0.0) && is_passed_by(10, 30, 0.5));
        assert!(is_passed_by(1, 2_000, 0.99));
        assert!(!is_passed_by(100, 7, 0.0), "dropped together");
        assert!(
            !is_passed_by(10, 10, 0.5) && !is_passed_by(10, 200, 0.99),
            "by chance"
        );
        assert!(!is_passed_by(1, 9, 0.0), "too few");
    }

    #[test]
    fn a_flow_is_apart_from_points_that_others_go_past_and_that_saw_nothing_of_it() {
        let (mut passed_by, mut seen) = (PassedBy::default(), SeenFlows::default());
        passed_by.add(3, 0);
        passed_by.add(5, 0);
        seen.add(FLOW, 5);
        assert_eq!(passed_by.apart(&seen, FLOW, 0), 1 << 3);
        assert_eq!(passed_by.apart(&seen, FLOW, 1), 0);
        let is_apart = |point| passed_by.is_apart(&seen, (FLOW, 0), point);
        assert_eq!(
            [3, 4, 5, MOST_POINTS].map(is_apart),
            [true, false, false, false]
        );
    }

    #[test]
    fn parts_of_what_points_saw_add_up() {
        let (mut one, mut other) = (SeenFlows::default(), SeenFlows::default());
        one.add(FLOW, 0);
        other.add(FLOW, 2);
        other.add(FLOW << 1, 0);
        one.merge(other);
        let has = |point| one.has(FLOW, point);
        assert_eq!(
            [0, 1, 2, 3, MOST_POINTS].map(has),
            [true, false, true, false, true]
        );
        assert!(one.has(FLOW << 1, 0) && !one.has(FLOW << 1, 2));
    }
}
