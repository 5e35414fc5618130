//! TCP timestamps: the first packet that shows a value, and the first of the other direction that
//! echoes it (RFC 7323 §3; K. Nichols, pping). What is sent again has another value, or is left out.

use crate::base::hash::{fold, two};
use crate::base::hashed::HashedMap;
use crate::identity::stream_bytes::StreamBytes;
use crate::matching::exchange::round_trips::{Counter, ExchangeKind};
use crate::matching::exchange::timed_message::{TimedMessage, Trajectory};
use crate::matching::observation::Observation;
use crate::plan::{Direction, Plan};
use std::rc::Rc;
use std::sync::Arc;

/// An echo comes within this. Less than the time in which the kept bits of the fastest clocks, one
/// tick a microsecond, come again.
const MOST_APART_NS: i64 = 2_000_000_000;
/// Values that may be open without a look at their age.
const FEW_OPEN: usize = 1 << 14;

/// Values of all flows.
pub(crate) struct Timestamps {
    plan: Arc<Plan>,
    open: HashedMap<OpenValue>,
    many_at: usize,
}

/// A value that was shown, or echoed.
struct OpenValue {
    since_ns: i64,
    /// The first packet that shows it.
    shown: Option<Rc<TimedMessage>>,
    echo: Option<Rc<TimedMessage>>,
    /// Bytes that show it, from the first of them on: apart from each other, in any order.
    sent: Vec<(i64, i64)>,
    sent_from: u32,
    /// Bytes were sent again within one tick, or a packet may be another.
    is_spoilt: bool,
}

impl Timestamps {
    pub(crate) fn new(plan: &Arc<Plan>) -> Self {
        Self {
            plan: Arc::clone(plan),
            open: HashedMap::default(),
            many_at: FEW_OPEN,
        }
    }

    /// Takes a segment, as it was nearest the path's first point.
    #[inline]
    pub(crate) fn note(
        &mut self,
        nearest: &Observation,
        packet: &mut Trajectory<'_>,
        counter: &mut Counter,
    ) {
        if nearest.message.tsval() == 0 {
            return;
        }
        let direction = packet.direction;
        let shown = self.key(nearest, direction, nearest.message.tsval());
        let echoed = self.key(nearest, direction.turned(), nearest.message.tsecr());
        if shown.is_none() && echoed.is_none() {
            return;
        }
        let Some(half) = packet.half(&self.plan) else {
            return;
        };
        let at_ns = half.aligned_ns;
        if let Some(key) = shown {
            let open = self.opened(key, at_ns, counter);
            open.is_spoilt |= packet.is_ambiguous;
            open.send(nearest.range);
            let known_ns = open.shown.as_ref().map(|one| one.aligned_ns);
            if known_ns.is_none_or(|known_ns| at_ns < known_ns) {
                open.shown = Some(Rc::clone(&half));
            }
        }
        if let Some(key) = echoed {
            let open = self.opened(key, at_ns, counter);
            open.is_spoilt |= packet.is_ambiguous;
            let known_ns = open.echo.as_ref().map(|one| one.aligned_ns);
            if known_ns.is_none_or(|known_ns| at_ns < known_ns) {
                open.echo = Some(half);
            }
        }
    }

    /// Values are known by flow and who showed them; `None` where others stand for it.
    #[inline]
    fn key(&self, nearest: &Observation, shows: Direction, value: u32) -> Option<u64> {
        let key = fold(nearest.flow, two(u32::from(shows.is_reverse()), value));
        (value != 0 && self.plan.is_paired(key)).then_some(key)
    }

    fn opened(&mut self, key: u64, at_ns: i64, counter: &mut Counter) -> &mut OpenValue {
        let open = self.open.entry(key).or_insert_with(|| OpenValue::at(at_ns));
        if open.since_ns.abs_diff(at_ns) > MOST_APART_NS.unsigned_abs() {
            std::mem::replace(open, OpenValue::at(at_ns)).close(counter);
        }
        open
    }

    /// Closes what can have no echo later than `until_ns`, reference time, now and then.
    pub(crate) fn settle(&mut self, until_ns: i64, counter: &mut Counter) {
        if until_ns != i64::MAX && self.open.len() < self.many_at {
            return;
        }
        let since_ns = until_ns.saturating_sub(MOST_APART_NS);
        let over = self.open.extract_if(|_, one| one.since_ns < since_ns);
        over.for_each(|(_, one)| one.close(counter));
        self.many_at = FEW_OPEN.max(2 * self.open.len());
    }
}

impl OpenValue {
    fn at(since_ns: i64) -> Self {
        Self {
            since_ns,
            shown: None,
            echo: None,
            sent: Vec::new(),
            sent_from: 0,
            is_spoilt: false,
        }
    }

    /// Notes bytes, which come to be known in any order; what comes twice was sent again.
    fn send(&mut self, range: StreamBytes) {
        let Some(length) = range.length().filter(|_| range.has_bytes()) else {
            self.is_spoilt |= range.has_bytes();
            return;
        };
        if self.sent.is_empty() {
            self.sent_from = range.start();
        }
        let start = i64::from(range.start().wrapping_sub(self.sent_from).cast_signed());
        let mut whole = (start, start.saturating_add(i64::from(length)));
        self.is_spoilt |= self.sent.iter().any(|of| of.0 < whole.1 && whole.0 < of.1);
        self.sent.retain(|of| {
            let touches = of.0 == whole.1 || of.1 == whole.0;
            if touches {
                whole = (whole.0.min(of.0), whole.1.max(of.1));
            }
            !touches
        });
        self.sent.push(whole);
    }

    fn close(self, counter: &mut Counter) {
        let (Some(shown), Some(echo)) = (self.shown, self.echo) else {
            return;
        };
        // what only acknowledges is echoed whenever there is something to say
        if shown.only_acknowledges() {
            return;
        }
        if self.is_spoilt {
            counter.leave_out(ExchangeKind::Timestamp);
        } else {
            counter.count(ExchangeKind::Timestamp, &shown, &echo, true);
        }
    }
}

#[cfg(test)]
mod tests;
