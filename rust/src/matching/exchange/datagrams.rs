//! Datagrams that take turns: request and response where each is one datagram between two of the
//! other direction.

use crate::base::hash::fold;
use crate::base::hashed::HashedMap;
use crate::identity::opener::{Opener, Presumed};
use crate::matching::exchange::round_trips::{Counter, ExchangeKind};
use crate::matching::exchange::timed_message::TimedMessage;
use crate::matching::observation::Observation;
use crate::plan::Direction;
use std::rc::Rc;

/// Datagrams that are put in order at once.
const BATCH: usize = 1 << 14;
/// Datagrams that may wait: beyond, order is worth less than memory.
const MOST: usize = 16 * BATCH;
/// An answer comes within this.
const MOST_APART_NS: i64 = 2_000_000_000;
/// Flows that may be remembered without a look at their age.
const FEW_FLOWS: usize = BATCH;
/// Where there is much traffic, spans of time of 2^26 ns stand for all.
const SPAN_BITS: u32 = 26;

/// Datagrams of all flows.
pub(crate) struct DatagramExchanges {
    one_in: u32,
    waiting: Vec<WaitingDatagram>,
    /// Who asks, of flows whose ports do not tell.
    openers: HashedMap<Opener>,
    flows: HashedMap<DatagramFlow>,
    full_at: usize,
    many_at: usize,
}

/// When a datagram was sent, reference time, for how long its captures had run before, and whether it
/// may be another one.
pub(crate) struct Sent<Q: FnOnce() -> i64> {
    pub(crate) at_ns: i64,
    pub(crate) quiet_ns: Q,
    pub(crate) is_ambiguous: bool,
}

struct WaitingDatagram {
    flow: u64,
    /// What its ports say.
    client: Option<bool>,
    half: Rc<TimedMessage>,
    is_ambiguous: bool,
}

/// The last two runs of a flow, each of one direction.
struct DatagramFlow {
    /// Which side asks.
    client: Option<Presumed>,
    span: i64,
    before: Option<Run>,
    last: Run,
}

struct Run {
    /// The datagram, if it is the only one, and no other.
    only: Option<Rc<TimedMessage>>,
    direction: Direction,
    at_ns: i64,
}

impl DatagramExchanges {
    pub(crate) fn new(one_in: u32) -> Self {
        Self {
            one_in: one_in.max(1),
            waiting: Vec::new(),
            openers: HashedMap::default(),
            flows: HashedMap::default(),
            full_at: BATCH,
            many_at: FEW_FLOWS,
        }
    }

    /// Takes a datagram.
    pub(crate) fn push(
        &mut self,
        nearest: &Observation,
        direction: Direction,
        sent: Sent<impl FnOnce() -> i64>,
        half: impl FnOnce() -> Option<Rc<TimedMessage>>,
    ) {
        let (side, role) = (direction.is_reverse(), nearest.message.sender);
        let client = role.client(side);
        if client.is_none() {
            let opener = self.openers.entry(nearest.flow).or_default();
            opener.speak(side, sent.at_ns, sent.quiet_ns, role);
        }
        let chosen = fold(0, span(sent.at_ns).cast_unsigned());
        if self.one_in == 1 || (chosen >> 20).is_multiple_of(u64::from(self.one_in)) {
            self.waiting.extend(half().map(|half| WaitingDatagram {
                flow: nearest.flow,
                client,
                half,
                is_ambiguous: sent.is_ambiguous,
            }));
        }
    }

    /// Settles what was sent before `until_ns`, reference time, now and then.
    pub(crate) fn settle(&mut self, until_ns: i64, counter: &mut Counter) {
        let is_end = until_ns == i64::MAX;
        if !is_end && self.waiting.len() < self.full_at {
            return;
        }
        let is_full = self.waiting.len() > MOST;
        self.waiting.sort_by_key(|one| one.half.aligned_ns);
        let settled = self
            .waiting
            .partition_point(|one| is_full || one.half.aligned_ns <= until_ns);
        for one in self.waiting.drain(..settled) {
            let opener = self.openers.get(&one.flow);
            let told = one.client.map(|side| Presumed {
                side,
                is_told: true,
            });
            let client = told.or_else(|| opener?.presumed());
            take(&mut self.flows, one, client, self.one_in > 1, counter);
        }
        self.full_at = BATCH.max(2 * self.waiting.len());
        if is_end {
            for (_, mut flow) in self.flows.drain() {
                flow.close(counter);
            }
        } else if self.flows.len() + self.openers.len() > self.many_at {
            let since_ns = until_ns.saturating_sub(MOST_APART_NS);
            self.openers.retain(|_, one| one.last_ns() >= since_ns);
            self.flows.retain(|_, flow| {
                let is_alive = flow.last.at_ns >= since_ns;
                if !is_alive {
                    flow.close(counter);
                }
                is_alive
            });
            self.many_at = FEW_FLOWS.max(2 * (self.flows.len() + self.openers.len()));
        }
    }
}

fn take(
    flows: &mut HashedMap<DatagramFlow>,
    one: WaitingDatagram,
    client: Option<Presumed>,
    is_chosen: bool,
    counter: &mut Counter,
) {
    let direction = one.half.direction;
    let (at_ns, span) = (one.half.aligned_ns, span(one.half.aligned_ns));
    let run = Run {
        only: Some(one.half).filter(|_| !one.is_ambiguous),
        direction,
        at_ns,
    };
    let Some(flow) = flows.get_mut(&one.flow) else {
        let first = Run {
            // what began before the span may not be alone
            only: run.only.filter(|_| !is_chosen),
            ..run
        };
        let flow = DatagramFlow {
            client,
            span,
            before: None,
            last: first,
        };
        flows.insert(one.flow, flow);
        return;
    };
    flow.client = client;
    if is_chosen && flow.span != span {
        (flow.span, flow.before) = (span, None);
        flow.last = Run { only: None, ..run };
    } else if flow.last.direction == direction {
        flow.last = Run { only: None, ..run };
    } else {
        flow.close(counter);
        flow.before = Some(std::mem::replace(&mut flow.last, run));
    }
}

fn span(at_ns: i64) -> i64 {
    at_ns >> SPAN_BITS
}

impl DatagramFlow {
    /// Counts the last two runs, if they are request and response.
    fn close(&mut self, counter: &mut Counter) {
        let Some(client) = self.client else {
            return;
        };
        if client.side == self.last.direction.is_reverse() {
            return;
        }
        let Some(before) = self.before.take() else {
            return;
        };
        match (&before.only, &self.last.only) {
            (Some(request), Some(response)) if request.nearest() == response.nearest() => {
                let apart_ns = response.aligned_ns.saturating_sub(request.aligned_ns);
                if apart_ns <= MOST_APART_NS {
                    counter.count(ExchangeKind::Datagrams, request, response, client.is_told);
                }
            }
            _ => counter.leave_out(ExchangeKind::Datagrams),
        }
    }
}
