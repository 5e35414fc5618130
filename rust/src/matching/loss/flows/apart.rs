//! Flows of which a point saw nothing, while others saw many of their packets before it and after. They take a link
//! past it that nobody captures, or a filter left them out: nothing shows that they pass it, and of losses before it
//! and behind it, nothing shows which they are.

use crate::base::hash::mixed;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// A single packet of a flow is missed as any other.
const ENOUGH: u64 = 2;
/// A point that misses some packets of all flows misses all of one by no greater chance.
const CHANCE: f64 = 1e-4;
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

/// Packets that jumped a point, of one flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct FlowPast {
    pub(crate) flow: u64,
    pub(crate) point: u16,
}

/// By flow, a bit for each point that it is apart from.
#[derive(Debug, Default)]
pub(crate) struct Apart(HashMap<u64, u128>);

impl Apart {
    /// Of how many packets of flows that a point saw nothing of jumped it, and the share that it misses of others.
    pub(crate) fn of(past: impl IntoIterator<Item = (FlowPast, (u64, f64))>) -> Self {
        let mut found = Self::default();
        for (FlowPast { flow, point }, (n, missed_frac)) in past {
            #[expect(clippy::cast_precision_loss, reason = "a chance needs no more")]
            let chance = missed_frac.powf(n as f64);
            if n >= ENOUGH && chance < CHANCE {
                *found.0.entry(flow).or_default() |= 1 << point;
            }
        }
        found
    }

    /// The points that a flow is apart from, a bit for each.
    pub(crate) fn points(&self, flow: u64) -> u128 {
        self.0.get(&flow).copied().unwrap_or(0)
    }

    pub(crate) fn has(&self, flow: u64, point: u16) -> bool {
        point < MOST_POINTS && self.points(flow) >> point & 1 == 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FLOW: u64 = 7 << 44;

    fn past(n: u64, missed_frac: f64) -> Apart {
        let past = FlowPast {
            flow: FLOW,
            point: 3,
        };
        Apart::of([(past, (n, missed_frac))])
    }

    #[test]
    fn a_flow_is_apart_where_all_of_it_would_hardly_be_missed() {
        let is_apart = |n, missed_frac| past(n, missed_frac).has(FLOW, 3);
        assert!(is_apart(2, 0.0) && is_apart(30, 0.5) && is_apart(2_000, 0.99));
        assert!(!is_apart(1, 0.0) && !is_apart(10, 0.5) && !is_apart(200, 0.99));
        assert!(!past(8, 0.0).has(FLOW, 2) && !past(8, 0.0).has(FLOW + 1, 3));
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
