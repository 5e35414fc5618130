//! Transactions: a request and its response, paired once, on what they are themselves, and looked up
//! at every point that saw both. What was sent again, or is not known for sure, is left out
//! (Karn and Partridge, SIGCOMM 1987).
//!
//! A request says by what number it will be answered; order matters to no pair but those of datagrams
//! (see [`crate::matching::exchange::datagrams`]). Where there is much traffic, some of the numbers stand for all.

pub(crate) mod datagrams;
pub mod round_trips;
pub(crate) mod tcp_timestamps;
pub(crate) mod timed_message;

use crate::base::error::Result;
use crate::base::hash::{fold, two};
use crate::base::hashed::HashedMap;
use crate::identity::message::MessageKind;
use crate::identity::opener::Opener;
use crate::matching::exchange::datagrams::{DatagramExchanges, Sent};
use crate::matching::exchange::round_trips::{Counter, ExchangeKind, Shares};
use crate::matching::exchange::tcp_timestamps::Timestamps;
use crate::matching::exchange::timed_message::{TimedMessage, Trajectory, quiet_ns, reference_ns};
use crate::matching::observation::Observation;
use crate::plan::{Direction, Plan};
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

/// An answer comes within this; what is sent again, too.
const MOST_APART_NS: i64 = 2_000_000_000;
/// Transactions that may be open without a look at their age.
const FEW_OPEN: usize = 1 << 14;

/// Pairs requests with responses.
pub(crate) struct Trips {
    plan: Arc<Plan>,
    open: HashedMap<OpenRequest>,
    /// Who asks: by TCP connection.
    openers: HashedMap<Opener>,
    turns: DatagramExchanges,
    timestamps: Timestamps,
    counter: Counter,
    /// Look for transactions to close when there are so many.
    many_at: usize,
}

/// A request that may be answered, or an answer that came to be known first.
struct OpenRequest {
    flow: u64,
    since_ns: i64,
    request: Option<Rc<TimedMessage>>,
    /// The first that answers, and that of them which brings the earliest bytes.
    first: Option<Rc<TimedMessage>>,
    reply: Option<Rc<TimedMessage>>,
    /// One half was sent again, or may be of another packet.
    is_spoilt: bool,
}

impl Trips {
    pub(crate) fn new(plan: &Arc<Plan>, directory: &Path, partition: usize) -> Result<Self> {
        Ok(Self {
            plan: Arc::clone(plan),
            open: HashedMap::default(),
            openers: HashedMap::default(),
            turns: DatagramExchanges::new(plan.paired_one_in),
            timestamps: Timestamps::new(plan),
            counter: Counter::new(Arc::clone(plan), directory, partition)?,
            many_at: FEW_OPEN,
        })
    }

    /// Takes a packet, sender to receiver.
    #[inline]
    pub(crate) fn note(
        &mut self,
        observations: &[Observation],
        direction: Direction,
        is_ambiguous: bool,
    ) {
        let packet = &mut Trajectory::new(observations, direction, is_ambiguous);
        let Some(nearest) = packet.nearest() else {
            return;
        };
        let message = nearest.message;
        match message.kind {
            MessageKind::None => {}
            MessageKind::Syn | MessageKind::SynAck | MessageKind::Ack => {
                self.segment(nearest, packet);
            }
            MessageKind::EchoRequest | MessageKind::Query => {
                self.ask(nearest, message.number, packet);
            }
            MessageKind::EchoReply | MessageKind::Response => {
                self.answer(nearest, message.number, packet);
            }
            MessageKind::Datagram => {
                let sent = Sent {
                    at_ns: reference_ns(&self.plan, nearest),
                    quiet_ns: || quiet_ns(&self.plan, observations),
                    is_ambiguous,
                };
                let half = || packet.half(&self.plan);
                self.turns.push(nearest, direction, sent, half);
            }
        }
    }

    fn segment(&mut self, nearest: &Observation, packet: &mut Trajectory<'_>) {
        self.timestamps.note(nearest, packet, &mut self.counter);
        self.note_opener(nearest, packet);
        let asks = match nearest.message.kind {
            MessageKind::Syn => true,
            MessageKind::Ack => nearest.range.has_bytes(),
            _ => false,
        };
        if asks && let Some(end) = nearest.range.end() {
            self.ask(nearest, end, packet);
        }
        if nearest.message.kind != MessageKind::Syn {
            self.answer(nearest, nearest.message.number, packet);
        }
    }

    /// A connection's requests come from the end that opened it.
    #[inline]
    fn note_opener(&mut self, nearest: &Observation, packet: &Trajectory<'_>) {
        let side = packet.direction.is_reverse();
        let at_ns = nearest.aligned_ns;
        let kind = nearest.message.kind;
        if kind == MessageKind::Ack && !nearest.range.has_bytes() {
            return;
        }
        let opener = self.openers.entry(nearest.flow).or_default();
        match kind {
            MessageKind::Syn => opener.open(side, at_ns),
            MessageKind::SynAck => opener.open(!side, at_ns),
            _ => {
                let quiet_ns = || quiet_ns(&self.plan, packet.observations);
                opener.speak(side, at_ns, quiet_ns, nearest.message.sender);
            }
        }
    }

    fn ask(&mut self, nearest: &Observation, number: u32, packet: &mut Trajectory<'_>) {
        let Some(key) = self.key(nearest, packet.direction, number) else {
            return;
        };
        let Some(half) = packet.half(&self.plan) else {
            return;
        };
        let open = self.opened(key, nearest.flow, half.aligned_ns);
        open.is_spoilt |= packet.is_ambiguous || open.request.is_some();
        open.request.get_or_insert(half);
    }

    fn answer(&mut self, nearest: &Observation, number: u32, packet: &mut Trajectory<'_>) {
        let Some(key) = self.key(nearest, packet.direction.turned(), number) else {
            return;
        };
        let Some(half) = packet.half(&self.plan) else {
            return;
        };
        let at_ns = half.aligned_ns;
        let open = self.opened(key, nearest.flow, at_ns);
        open.is_spoilt |= packet.is_ambiguous;
        let first = open.first.as_ref();
        if first.is_none_or(|one| at_ns < one.aligned_ns) {
            open.first = Some(Rc::clone(&half));
        }
        // pure acknowledgments come again without being sent again
        if !half.only_acknowledges() {
            let known = open.reply.as_ref().map(|one| {
                let ahead = one.range.start().wrapping_sub(half.range.start());
                (ahead.cast_signed(), one.aligned_ns)
            });
            open.is_spoilt |= known.is_some_and(|(ahead, _)| ahead == 0);
            if known.is_none_or(|(ahead, since_ns)| (ahead, since_ns) > (0, at_ns)) {
                open.reply = Some(half);
            }
        }
    }

    /// Requests are known by flow, direction and number; `None` where others stand for it.
    #[inline]
    fn key(&self, nearest: &Observation, asker: Direction, number: u32) -> Option<u64> {
        let is_echo = matches!(
            nearest.message.kind,
            MessageKind::EchoRequest | MessageKind::EchoReply
        );
        let asker = u32::from(is_echo) << 1 | u32::from(asker.is_reverse());
        let key = fold(nearest.flow, two(asker, number));
        self.plan.is_paired(key).then_some(key)
    }

    /// The transaction of a key; one that is long over is closed first.
    fn opened(&mut self, key: u64, flow: u64, at_ns: i64) -> &mut OpenRequest {
        let fresh = || OpenRequest::at(flow, at_ns);
        let open = self.open.entry(key).or_insert_with(fresh);
        if open.since_ns.abs_diff(at_ns) > MOST_APART_NS.unsigned_abs() {
            std::mem::replace(open, fresh()).close(&self.openers, &mut self.counter);
        }
        open
    }

    /// Closes what can have no answer later than `until_ns`, reference time, now and then.
    pub(crate) fn settle(&mut self, until_ns: i64) {
        self.turns.settle(until_ns, &mut self.counter);
        self.timestamps.settle(until_ns, &mut self.counter);
        if self.open.len() + self.openers.len() < self.many_at {
            return;
        }
        let since_ns = until_ns.saturating_sub(MOST_APART_NS);
        let (openers, counter) = (&self.openers, &mut self.counter);
        let over = self.open.extract_if(|_, one| one.since_ns < since_ns);
        over.for_each(|(_, one)| one.close(openers, counter));
        // what is open still asks who did
        let since_ns = since_ns.saturating_sub(MOST_APART_NS);
        self.openers.retain(|_, one| one.last_ns() >= since_ns);
        self.many_at = FEW_OPEN.max(2 * (self.open.len() + self.openers.len()));
    }

    pub(crate) fn finish(mut self) -> Result<Shares> {
        self.turns.settle(i64::MAX, &mut self.counter);
        self.timestamps.settle(i64::MAX, &mut self.counter);
        for (_, one) in self.open {
            one.close(&self.openers, &mut self.counter);
        }
        self.counter.finish()
    }
}

impl OpenRequest {
    fn at(flow: u64, since_ns: i64) -> Self {
        Self {
            flow,
            since_ns,
            request: None,
            first: None,
            reply: None,
            is_spoilt: false,
        }
    }

    fn close(self, openers: &HashedMap<Opener>, counter: &mut Counter) {
        let (Some(request), Some(first)) = (self.request, self.first) else {
            return;
        };
        let client = openers.get(&self.flow).and_then(Opener::presumed);
        let is_asked = client.is_some_and(|one| one.side == request.direction.is_reverse());
        let heard = request.heard;
        let reply = self
            .reply
            .filter(|one| one.part == MessageKind::Ack && one.range.start() == heard);
        let is_reply_first = reply
            .as_ref()
            .is_some_and(|one| one.aligned_ns <= first.aligned_ns);
        let (kind, answer) = match (request.part, reply) {
            (MessageKind::Syn, _) if first.part == MessageKind::SynAck => {
                (ExchangeKind::Handshake, first)
            }
            (MessageKind::EchoRequest, _) => (ExchangeKind::Echo, first),
            (MessageKind::Query, _) => (ExchangeKind::Dns, first),
            (MessageKind::Ack, Some(reply)) if is_asked => (ExchangeKind::Turn, reply),
            // the next request, which its client took its time for
            (MessageKind::Ack, Some(_)) if is_reply_first => return,
            (MessageKind::Ack, _) => (ExchangeKind::Ack, first),
            _ => return,
        };
        if self.is_spoilt {
            counter.leave_out(kind);
        } else {
            let is_told = kind != ExchangeKind::Turn || client.is_some_and(|one| one.is_told);
            counter.count(kind, &request, &answer, is_told);
        }
    }
}

#[cfg(test)]
mod tests;
