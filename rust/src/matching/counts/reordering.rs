//! Reordering (RFC 4737): packets that arrive after one of their flow that was sent later; and the
//! variation from one packet of a flow to the next (IPDV, RFC 5481).

use crate::base::hashed::HashedMap;
use crate::base::histogram::Histogram;
use crate::matching::counts::segment_rows::{Arrived, SegmentRow, Waiting};
use crate::matching::observation::Observation;
use crate::matching::streams::PairKind;

/// Pairs of one segment and direction that wait to be put in order of arrival, flow by flow: what is
/// decided comes nearly in order within a flow, so that none is sorted.
#[derive(Debug)]
pub(crate) struct Reordering {
    flows: HashedMap<FlowOrder>,
    /// Arrivals of all flows, each between its neighbours in its flow.
    waiting: Vec<Arrival>,
    n_waiting: usize,
    /// The first unused place, see [`Arrival::after`].
    free: u32,
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
    kind: PairKind,
    /// Its number among those that are kept; 0: it is none.
    kept: u32,
    /// The place of the one that arrived before it in its flow.
    before: u32,
    /// And after it; of an unused place the next one.
    after: u32,
}

/// What is known of a flow.
#[derive(Debug)]
struct FlowOrder {
    newest: Newest,
    first: u32,
    last: u32,
    /// Those that wait are in order.
    is_in_order: bool,
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

const NOWHERE: u32 = u32::MAX;
/// Pairs that may wait without a look at what has settled: they are still in the cache.
const BATCH: usize = 1 << 12;
/// Pairs that may wait: beyond, order is worth less than memory.
const MOST: usize = 1 << 21;
/// Places that one moves back at once; a flow with farther ones is sorted when it settles.
const MOST_BACK: usize = 32;
/// Packets of a flow that are farther apart are no neighbours.
const MOST_APART_NS: i64 = 1_000_000_000;
/// Flows that may be remembered without a look at their age.
const FEW_FLOWS: usize = 1 << 15;

impl Default for Reordering {
    fn default() -> Self {
        Self {
            flows: HashedMap::default(),
            waiting: Vec::new(),
            n_waiting: 0,
            free: NOWHERE,
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
        let place = self.hold(Arrival {
            arrived_ns: down.t_ns,
            sent_ns: up.t_ns,
            took_ns: if is_exact {
                down.t_ns.saturating_sub(up.t_ns)
            } else {
                down.aligned_ns.saturating_sub(up.aligned_ns)
            },
            kind,
            kept,
            before: NOWHERE,
            after: NOWHERE,
        });
        self.n_waiting += 1;
        match self.flows.get_mut(&up.flow) {
            Some(flow) => flow.queue(place, &mut self.waiting),
            None => self.begin(up.flow, place),
        }
    }

    #[cold]
    fn begin(&mut self, flow: u64, place: u32) {
        let mut new = FlowOrder::NEW;
        new.queue(place, &mut self.waiting);
        self.flows.insert(flow, new);
    }

    #[inline]
    fn hold(&mut self, arrival: Arrival) -> u32 {
        if let Some(free) = self.waiting.get_mut(self.free as usize) {
            let place = std::mem::replace(&mut self.free, free.after);
            *free = arrival;
            return place;
        }
        self.waiting.push(arrival);
        u32::try_from(self.waiting.len() - 1).unwrap_or(NOWHERE)
    }

    /// Settles what arrived before `until_ns`, reference time, now and then.
    pub(crate) fn settle(&mut self, until_ns: i64) {
        // a look goes through all flows
        if self.n_waiting < self.full_at.max(self.flows.len() / 4) {
            return;
        }
        let until_ns = until_ns.saturating_add(self.ahead_ns);
        self.count(until_ns);
        if self.n_waiting > MOST {
            self.count(i64::MAX);
        }
        self.full_at = BATCH.max(2 * self.n_waiting);
        if self.flows.len() > self.many_at {
            let since_ns = until_ns.saturating_sub(MOST_APART_NS);
            let is_needed =
                |one: &FlowOrder| one.first != NOWHERE || one.newest.arrived_ns >= since_ns;
            self.flows.retain(|_, one| is_needed(one));
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
        for flow in self.flows.values_mut() {
            flow.put_in_order(&mut self.waiting);
            while let Some(one) = self.waiting.get_mut(flow.first as usize)
                && one.arrived_ns <= until_ns
            {
                let next = std::mem::replace(&mut one.after, self.free);
                self.free = std::mem::replace(&mut flow.first, next);
                self.n_waiting -= 1;
                let arrived = flow.newest.followed_by(one);
                if arrived.is_reordered
                    && let Some(n) = self.n_reordered.get_mut(one.kind as usize)
                {
                    *n += 1;
                }
                if let Some(size_ns) = arrived.variation_ns {
                    self.variation.add(size_ns);
                }
                let kept = std::mem::take(&mut one.kept);
                if kept > 0 {
                    self.kept.arrive(kept, arrived);
                }
            }
            flow.cut_before(&mut self.waiting);
        }
        let numbers = self.waiting.iter_mut().map(|one| &mut one.kept);
        self.kept.keep(numbers.filter(|number| **number > 0));
    }
}

impl FlowOrder {
    const NEW: Self = Self {
        newest: Newest::NOTHING,
        first: NOWHERE,
        last: NOWHERE,
        is_in_order: true,
    };

    /// Puts an arrival behind those before it.
    #[inline]
    fn queue(&mut self, place: u32, waiting: &mut [Arrival]) {
        let Some(one) = waiting.get(place as usize).copied() else {
            return;
        };
        let (mut before, mut n_back) = (self.last, 0);
        while self.is_in_order
            && let Some(other) = waiting.get(before as usize)
            && other.order() > one.order()
        {
            (before, n_back) = (other.before, n_back + 1);
            if n_back == MOST_BACK {
                (before, self.is_in_order) = (self.last, false);
            }
        }
        self.insert(place, before, waiting);
    }

    /// Puts a place behind another; behind none, it is the first.
    #[inline]
    fn insert(&mut self, place: u32, before: u32, waiting: &mut [Arrival]) {
        let after = match waiting.get_mut(before as usize) {
            Some(before) => std::mem::replace(&mut before.after, place),
            None => std::mem::replace(&mut self.first, place),
        };
        match waiting.get_mut(after as usize) {
            Some(after) => after.before = place,
            None => self.last = place,
        }
        if let Some(one) = waiting.get_mut(place as usize) {
            (one.before, one.after) = (before, after);
        }
    }

    fn put_in_order(&mut self, waiting: &mut [Arrival]) {
        if std::mem::replace(&mut self.is_in_order, true) {
            return;
        }
        let mut places = Vec::new();
        let mut place = self.first;
        while let Some(one) = waiting.get(place as usize) {
            places.push((one.order(), place));
            place = one.after;
        }
        places.sort_unstable();
        (self.first, self.last) = (NOWHERE, NOWHERE);
        for (_, place) in places {
            self.insert(place, self.last, waiting);
        }
    }

    /// Forgets what was before the first.
    fn cut_before(&mut self, waiting: &mut [Arrival]) {
        match waiting.get_mut(self.first as usize) {
            Some(first) => first.before = NOWHERE,
            None => self.last = NOWHERE,
        }
    }
}

impl Arrival {
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
