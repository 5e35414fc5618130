//! Reordering (RFC 4737): packets that arrive after one of their flow that was sent later; and the
//! variation from one packet of a flow to the next (IPDV, RFC 5481).

use crate::base::hashed::HashedMap;
use crate::base::histogram::Histogram;
use crate::matching::counts::segment_rows::{Arrived, SegmentRow, Waiting};
use crate::matching::observation::Observation;
use crate::matching::streams::PairKind;

/// Pairs of one segment and direction that wait to be put in order of arrival: what is decided comes nearly
/// in this order, so that each has to pass few of those before it.
#[derive(Debug)]
pub(crate) struct Reordering {
    flows: HashedMap<Newest>,
    waiting: Vec<Arrival>,
    /// Those that wait are in order.
    is_in_order: bool,
    /// What is kept of them, if it is.
    pub(crate) kept: Waiting,
    n_reordered: Reordered,
    variation: Histogram,
    /// Look for what has settled when so many wait; twice of what had to go on waiting.
    full_at: usize,
    /// Look for flows to forget when there are so many.
    many_at: usize,
    /// What the downstream clock was ahead of the reference at the last arrival.
    ahead_ns: i64,
}

#[derive(Clone, Copy, Debug)]
struct Arrival {
    arrived_ns: i64,
    sent_ns: i64,
    /// How long it took; between clocks but for a constant.
    took_ns: i64,
    flow: u64,
    kind: PairKind,
    /// Its number among those that are kept; 0: it is none.
    kept: u32,
}

/// What was sent last of a flow, of what arrived.
#[derive(Clone, Copy, Debug)]
struct Newest {
    sent_ns: i64,
    arrived_ns: i64,
    /// The last whole packet among them: when it arrived, and how long it took.
    packet: Option<(i64, i64)>,
}

/// How many were reordered: whole packets; of packets that were cut or joined on the way those that
/// start with the byte, and those that end with it.
pub(crate) type Reordered = [u64; 3];

/// Pairs that may wait without a look at what has settled: they are still in the cache.
const BATCH: usize = 1 << 12;
/// Pairs that may wait: beyond, order is worth less than memory.
const MOST: usize = 1 << 21;
/// Places that one moves back at once; where one is farther, all are sorted when they settle.
const MOST_BACK: usize = 64;
/// Packets of a flow that are farther apart are no neighbours.
const MOST_APART_NS: i64 = 1_000_000_000;
/// Flows that may be remembered without a look at their age.
const FEW_FLOWS: usize = 1 << 15;

impl Default for Reordering {
    fn default() -> Self {
        Self {
            flows: HashedMap::default(),
            waiting: Vec::new(),
            is_in_order: true,
            kept: Waiting::default(),
            n_reordered: [0; 3],
            variation: Histogram::default(),
            full_at: BATCH,
            many_at: FEW_FLOWS,
            ahead_ns: 0,
        }
    }
}

impl Reordering {
    /// Order is each point's own: alignment may wobble by more than packets are apart.
    #[expect(clippy::inline_always, reason = "one straight way for each pair")]
    #[inline(always)]
    pub(crate) fn push(
        &mut self,
        up: &Observation,
        down: &Observation,
        kind: PairKind,
        is_exact: bool,
        crossing: Option<SegmentRow>,
    ) {
        self.ahead_ns = down.t_ns.saturating_sub(down.aligned_ns);
        let kept = crossing.map_or(0, |one| self.kept.add(one));
        self.hold(Arrival {
            arrived_ns: down.t_ns,
            sent_ns: up.t_ns,
            took_ns: if is_exact {
                down.t_ns.saturating_sub(up.t_ns)
            } else {
                down.aligned_ns.saturating_sub(up.aligned_ns)
            },
            flow: up.flow,
            kind,
            kept,
        });
    }

    /// Puts an arrival behind those before it.
    #[inline]
    fn hold(&mut self, one: Arrival) {
        let mut n_behind = 0;
        for other in self.waiting.iter().rev().take(MOST_BACK) {
            if other.order() <= one.order() {
                break;
            }
            n_behind += 1;
        }
        match n_behind {
            0 => self.waiting.push(one),
            _ => self.insert(n_behind, one),
        }
    }

    /// Puts one before so many others.
    fn insert(&mut self, n_behind: usize, one: Arrival) {
        if self.is_in_order && n_behind < MOST_BACK {
            self.waiting.insert(self.waiting.len() - n_behind, one);
        } else {
            self.is_in_order = false;
            self.waiting.push(one);
        }
    }

    /// Settles what arrived before `until_ns`, reference time, now and then.
    pub(crate) fn settle(&mut self, until_ns: i64) {
        if self.waiting.len() < self.full_at {
            return;
        }
        let until_ns = until_ns.saturating_add(self.ahead_ns);
        self.count(until_ns);
        if self.waiting.len() > MOST {
            self.count(i64::MAX);
        }
        self.full_at = BATCH.max(2 * self.waiting.len());
        if self.flows.len() > self.many_at {
            let since_ns = until_ns.saturating_sub(MOST_APART_NS);
            self.flows.retain(|_, one| one.arrived_ns >= since_ns);
            self.many_at = FEW_FLOWS.max(2 * self.flows.len());
        }
    }

    /// How many of all pairs were reordered, and the sizes of the variation.
    pub(crate) fn finish(&mut self) -> (Reordered, Histogram) {
        self.count(i64::MAX);
        (self.n_reordered, std::mem::take(&mut self.variation))
    }

    /// Counts, among those that arrived by `until_ns`, the ones sent before one that arrived
    /// earlier in the same flow (RFC 4737).
    fn count(&mut self, until_ns: i64) {
        if !std::mem::replace(&mut self.is_in_order, true) {
            self.waiting.sort_by_key(Arrival::order);
        }
        let n_settled = self
            .waiting
            .partition_point(|one| one.arrived_ns <= until_ns);
        for one in self.waiting.drain(..n_settled) {
            let arrived = match self.flows.get_mut(&one.flow) {
                Some(newest) => newest.followed_by(&one),
                None => begin(&mut self.flows, &one),
            };
            if arrived.is_reordered
                && let Some(n) = self.n_reordered.get_mut(one.kind as usize)
            {
                *n += 1;
            }
            if let Some(size_ns) = arrived.variation_ns {
                self.variation.add(size_ns);
            }
            if one.kept > 0 {
                self.kept.arrive(one.kept, arrived);
            }
        }
        let numbers = self.waiting.iter_mut().map(|one| &mut one.kept);
        self.kept.keep(numbers.filter(|number| **number > 0));
    }
}

#[cold]
fn begin(flows: &mut HashedMap<Newest>, one: &Arrival) -> Arrived {
    let newest = flows.entry(one.flow).or_insert(Newest::NOTHING);
    newest.followed_by(one)
}

impl Arrival {
    #[inline]
    fn order(&self) -> (i64, i64) {
        (self.arrived_ns, self.sent_ns)
    }
}

impl Newest {
    const NOTHING: Self = Self {
        sent_ns: i64::MIN,
        arrived_ns: i64::MIN,
        packet: None,
    };

    /// Takes the next to arrive, and says what it is after those before it.
    #[inline]
    fn followed_by(&mut self, one: &Arrival) -> Arrived {
        let mut arrived = Arrived {
            is_reordered: one.sent_ns < self.sent_ns,
            variation_ns: None,
        };
        if arrived.is_reordered {
            return arrived;
        }
        (self.sent_ns, self.arrived_ns) = (one.sent_ns, one.arrived_ns);
        if one.kind == PairKind::Packet {
            let before = self.packet.replace((one.arrived_ns, one.took_ns));
            let near = before.filter(|(arrived_ns, _)| {
                one.arrived_ns.saturating_sub(*arrived_ns) <= MOST_APART_NS
            });
            arrived.variation_ns =
                near.map(|(_, took_ns)| one.took_ns.saturating_sub(took_ns).saturating_abs());
        }
        arrived
    }
}

#[cfg(test)]
mod tests;
