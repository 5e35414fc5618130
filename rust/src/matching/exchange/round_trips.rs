//! What paired requests and responses say: each segment's share of the round trip, and the whole of
//! it as the path's ends saw it.

use crate::base::blocks::Blocks;
use crate::base::error::Result;
use crate::base::spill::Spill;
use crate::matching::exchange::timed_message::TimedMessage;
use crate::plan::Plan;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What a request and its response are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum ExchangeKind {
    /// The last segment of a request, and the first of a response that starts where the request had
    /// acknowledged, and acknowledges all of it.
    Turn,
    /// SYN, and SYN with ACK.
    Handshake,
    /// A segment, and the first that acknowledges just its end.
    Ack,
    /// ICMP echo.
    Echo,
    /// DNS over UDP.
    Dns,
    /// Two datagrams of a flow that takes turns.
    Datagrams,
    /// A value of TCP's timestamps, and its echo.
    Timestamp,
}

/// Names of the kinds, by discriminant.
pub const KINDS: [&str; 7] = [
    "tcp-transaction",
    "tcp-handshake",
    "tcp-ack",
    "icmp-echo",
    "dns",
    "udp-transaction",
    "tcp-timestamp",
];

/// What all pairs of all kinds came to.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Shares {
    /// By kind: pairs of which one half was sent again, or is not known for sure.
    pub n_left_out: [u64; KINDS.len()],
    /// Per link, by kind, between points that share a clock.
    pub links: Vec<[Blocks; KINDS.len()]>,
    /// By kind, direction of the request, and end of the path: the time from request to response.
    pub seen: [[[Blocks; 2]; 2]; KINDS.len()],
    /// Per link, between points that do not: files of times and raw differences forward, the same
    /// in reverse, and kinds.
    pub spills: Vec<[Vec<PathBuf>; 3]>,
}

impl Shares {
    pub(crate) fn of_links(n: usize) -> Self {
        Self {
            links: (0..n).map(|_| Default::default()).collect(),
            spills: vec![Default::default(); n],
            ..Self::default()
        }
    }

    pub(crate) fn merge(&mut self, other: Self) {
        for (total, n) in self.n_left_out.iter_mut().zip(other.n_left_out) {
            *total += n;
        }
        let theirs = other.seen.into_iter().flatten().flatten();
        let theirs = other.links.into_iter().flatten().chain(theirs);
        let seen = self.seen.iter_mut().flatten().flatten();
        for (total, one) in self.links.iter_mut().flatten().chain(seen).zip(theirs) {
            total.merge(one);
        }
        let spills = self.spills.iter_mut().flatten();
        for (paths, more) in spills.zip(other.spills.into_iter().flatten()) {
            paths.extend(more);
        }
    }
}

/// Counts pairs of one partition.
pub(crate) struct Counter {
    plan: Arc<Plan>,
    shares: Shares,
    spills: Vec<Option<[Spill; 3]>>,
    /// First and last point of the path.
    ends: Option<(u16, u16)>,
}

impl Counter {
    pub(crate) fn new(plan: Arc<Plan>, directory: &Path, partition: usize) -> Result<Self> {
        let spill = |index: usize, name: &str| {
            Spill::create(directory, &format!("trip-{index}-{name}-{partition}"))
        };
        let mut spills = Vec::new();
        for (index, (near, far)) in plan.links.iter().enumerate() {
            let is_apart = !plan.same_clock(*near, *far);
            spills.push(if is_apart {
                let [to, back, kind] = ["forward", "reverse", "kind"];
                Some([spill(index, to)?, spill(index, back)?, spill(index, kind)?])
            } else {
                None
            });
        }
        let whole = plan.whole.or((plan.links.len() == 1).then_some(0));
        let ends = whole.and_then(|index| plan.links.get(index).copied());
        Ok(Self {
            shares: Shares::of_links(plan.links.len()),
            spills,
            ends,
            plan,
        })
    }

    /// Counts a pair that cannot be used.
    pub(crate) fn leave_out(&mut self, kind: ExchangeKind) {
        if let Some(n) = self.shares.n_left_out.get_mut(kind as usize) {
            *n += 1;
        }
    }

    /// Counts a request and its response; what passed between them only if it is known which is which.
    pub(crate) fn count(
        &mut self,
        kind: ExchangeKind,
        request: &TimedMessage,
        response: &TimedMessage,
        is_told: bool,
    ) {
        if request.took_ns(response).is_some_and(|ns| ns < 0) {
            return self.leave_out(kind);
        }
        let (to, back) = if request.direction.is_reverse() {
            (response, request)
        } else {
            (request, response)
        };
        let block = self.plan.blocks.block_of(to.aligned_ns);
        self.count_shares(kind, (to, back), block);
        if is_told {
            self.count_seen(kind, request, response, block);
        }
    }

    /// Counts what each segment added, there and back.
    fn count_shares(
        &mut self,
        kind: ExchangeKind,
        (to, back): (&TimedMessage, &TimedMessage),
        block: usize,
    ) {
        for (index, (near, far)) in self.plan.links.iter().enumerate() {
            let place = |point: u16| self.plan.place(to.direction, point);
            // a route may pass a segment against the path
            let (to, back) = if place(*near) <= place(*far) {
                (to, back)
            } else {
                (back, to)
            };
            let there = took(to, *near, *far).zip(took(back, *far, *near));
            let Some(((sent, there_ns), (left, back_ns))) = there else {
                continue;
            };
            if let Some(Some([forward, reverse, kinds])) = self.spills.get_mut(index) {
                forward.write([sent, there_ns]);
                reverse.write([left, back_ns]);
                kinds.write([i64::from(kind as u8)]);
            } else if let Some(of_link) = self.shares.links.get_mut(index)
                && let Some(counted) = of_link.get_mut(kind as usize)
            {
                counted.add(block, there_ns.saturating_add(back_ns));
            }
        }
    }

    /// The time from request to response as both ends of the path saw it, where both did.
    fn count_seen(
        &mut self,
        kind: ExchangeKind,
        request: &TimedMessage,
        response: &TimedMessage,
        block: usize,
    ) {
        let took_ns = |point: u16| Some(response.at(point)?.saturating_sub(request.at(point)?));
        let Some((first, last)) = self.ends else {
            return;
        };
        let (Some(at_first), Some(at_last)) = (took_ns(first), took_ns(last)) else {
            return;
        };
        let of_kind = self.shares.seen.get_mut(kind as usize);
        let ends = of_kind.and_then(|of| of.get_mut(request.direction.index()));
        for (counted, took_ns) in ends.into_iter().flatten().zip([at_first, at_last]) {
            counted.add(block, took_ns);
        }
    }

    pub(crate) fn finish(mut self) -> Result<Shares> {
        for (paths, spills) in self.shares.spills.iter_mut().zip(self.spills) {
            for (path, spill) in paths.iter_mut().zip(spills.into_iter().flatten()) {
                path.push(spill.finish()?);
            }
        }
        Ok(self.shares)
    }
}

/// When a message was at a point, and how long after it at another.
fn took(message: &TimedMessage, from: u16, to: u16) -> Option<(i64, i64)> {
    let at_ns = message.at(from)?;
    Some((at_ns, message.at(to)?.saturating_sub(at_ns)))
}
