//! One partition of the flows: its window, its decisions, its counts.

use super::outcome::Outcome;
use super::resolve::{COPIES_WITHIN_NS, Folded, Resolver, Sink};
use super::tally::Tally;
use super::window::{HashedMap, Window};
use super::{FrameId, Sight, Status};
use crate::error::Result;
use crate::plan::{Direction, Plan};
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::Sender;

/// The counts of all partitions.
pub struct Matched {
    /// One per partition.
    pub tallies: Vec<Tally>,
    /// Frames per point and status.
    pub counts: Vec<[u64; 7]>,
}

pub(super) struct Partition {
    window: Window,
    resolver: Resolver,
    books: Books,
    scratch: Vec<Sight>,
}

/// Everything that is written down about decided sights.
pub(super) struct Books {
    pub(super) tally: Tally,
    pub(super) counts: Vec<[u64; 7]>,
    reordering: Reordering,
    outcomes: Option<Sender<Vec<Outcome>>>,
    batch: Vec<Outcome>,
}

impl Partition {
    pub(super) fn new(
        plan: &Arc<Plan>,
        directory: &Path,
        index: usize,
        outcomes: Option<Sender<Vec<Outcome>>>,
    ) -> Result<Self> {
        let widest = plan.bands.iter().flatten().map(|band| band.hi_ns.saturating_sub(band.lo_ns)).max();
        let gap_ns = widest.unwrap_or(0).clamp(1_000, plan.wide_ns.max(1_000));
        let keep_rows = outcomes.is_some();
        Ok(Self {
            window: Window::new(plan.horizon_ns, gap_ns.max(COPIES_WITHIN_NS)),
            resolver: Resolver::new(Arc::clone(plan), gap_ns),
            books: Books {
                tally: Tally::new(Arc::clone(plan), directory, index, keep_rows)?,
                counts: vec![[0; 7]; plan.n_points()],
                reordering: Reordering::new(plan.links.len(), plan.horizon_ns),
                outcomes,
                batch: Vec::new(),
            },
            scratch: Vec::new(),
        })
    }

    pub(super) fn insert(&mut self, sights: &[Sight]) {
        for sight in sights {
            self.window.insert(sight);
        }
    }

    pub(super) fn sweep(&mut self, watermark_ns: i64) {
        let (resolver, books) = (&mut self.resolver, &mut self.books);
        self.window.sweep(watermark_ns, &mut self.scratch, &mut |sights| resolver.resolve(sights, books));
        books.send();
    }

    pub(super) fn finish(mut self) -> Result<(Tally, Vec<[u64; 7]>)> {
        self.sweep(i64::MAX);
        self.books.reordering.finish(&mut self.books.tally);
        self.books.tally.finish()?;
        Ok((self.books.tally, self.books.counts))
    }
}

impl Sink for Books {
    fn trajectory(&mut self, sights: &[Sight], direction: Direction, folded: &Folded) {
        self.tally.count(sights, direction, folded, &mut self.reordering);
        self.reordering.settle(&mut self.tally);
        let (status, id) = match sights {
            [first, _, ..] => (Status::Matched, Some(first.frame)),
            _ => (Status::Unmatched, None),
        };
        for sight in sights {
            self.decide(sight, status, id, folded);
        }
    }

    fn ambiguous(&mut self, sight: &Sight, folded: &Folded) {
        self.decide(sight, Status::Ambiguous, None, folded);
    }
}

impl Books {
    fn decide(&mut self, sight: &Sight, status: Status, id: Option<FrameId>, folded: &Folded) {
        self.note(sight, status, id);
        for (copy, original) in folded {
            if *original == sight.frame {
                self.note(copy, Status::Duplicate, id);
            }
        }
    }

    fn note(&mut self, sight: &Sight, status: Status, trajectory: Option<FrameId>) {
        if let Some(count) = self.counts.get_mut(usize::from(sight.point)).and_then(|of| of.get_mut(status as usize)) {
            *count += 1;
        }
        if self.outcomes.is_some() {
            self.batch.push(Outcome { frame: sight.frame, status, trajectory });
        }
    }

    fn send(&mut self) {
        if let Some(outcomes) = &self.outcomes
            && !self.batch.is_empty()
        {
            // The collector hangs up only when writing failed, and then says so itself.
            let _ = outcomes.send(std::mem::take(&mut self.batch));
        }
    }
}

/// Pairs that wait to be put in order of arrival, per segment and direction.
pub(super) struct Reordering {
    horizon_ns: i64,
    arrivals: Vec<[Arrivals; 2]>,
    is_full: bool,
}

#[derive(Default)]
struct Arrivals {
    waiting: Vec<Arrival>,
    latest_ns: i64,
    newest_sent_ns: HashedMap<i64>,
}

#[derive(Clone, Copy)]
struct Arrival {
    arrived_ns: i64,
    sent_ns: i64,
    flow: u64,
}

/// Pairs that are sorted at once.
const BATCH: usize = 1 << 15;

impl Reordering {
    fn new(n_links: usize, horizon_ns: i64) -> Self {
        Self { horizon_ns, arrivals: (0..n_links).map(|_| <[Arrivals; 2]>::default()).collect(), is_full: false }
    }

    pub(super) fn push(&mut self, link: usize, side: usize, up: &Sight, down: &Sight) {
        let Some(arrivals) = self.arrivals.get_mut(link).and_then(|both| both.get_mut(side)) else { return };
        arrivals.waiting.push(Arrival { arrived_ns: down.aligned_ns, sent_ns: up.aligned_ns, flow: up.flow });
        arrivals.latest_ns = arrivals.latest_ns.max(down.aligned_ns);
        self.is_full |= arrivals.waiting.len() >= BATCH;
    }

    fn settle(&mut self, tally: &mut Tally) {
        if !self.is_full {
            return;
        }
        self.is_full = false;
        for (link, both) in self.arrivals.iter_mut().enumerate() {
            for (side, arrivals) in both.iter_mut().enumerate() {
                if arrivals.waiting.len() >= BATCH {
                    let until_ns = arrivals.latest_ns.saturating_sub(2 * self.horizon_ns);
                    note(tally, link, side, arrivals.settle(until_ns));
                    // A heap that no time orders is settled whole: memory stays bounded.
                    if arrivals.waiting.len() > 64 * BATCH {
                        note(tally, link, side, arrivals.settle(i64::MAX));
                    }
                    arrivals.forget(until_ns);
                }
            }
        }
    }

    fn finish(&mut self, tally: &mut Tally) {
        for (link, both) in self.arrivals.iter_mut().enumerate() {
            for (side, arrivals) in both.iter_mut().enumerate() {
                note(tally, link, side, arrivals.settle(i64::MAX));
            }
        }
    }
}

fn note(tally: &mut Tally, link: usize, side: usize, n_reordered: u64) {
    if let Some(counts) = tally.links.get_mut(link).and_then(|both| both.get_mut(side)) {
        counts.n_reordered += n_reordered;
    }
}

impl Arrivals {
    /// Counts, among those that arrived before `until_ns`, the ones sent before one that arrived
    /// earlier in the same flow (RFC 4737 §3.3).
    fn settle(&mut self, until_ns: i64) -> u64 {
        self.waiting.sort_unstable_by_key(|one| (one.arrived_ns, one.sent_ns));
        let settled = self.waiting.partition_point(|one| one.arrived_ns < until_ns);
        let mut n_reordered = 0;
        for one in self.waiting.drain(..settled) {
            let newest = self.newest_sent_ns.entry(one.flow).or_insert(one.sent_ns);
            if one.sent_ns < *newest {
                n_reordered += 1;
            } else {
                *newest = one.sent_ns;
            }
        }
        n_reordered
    }

    /// Flows that sent nothing for long cannot be reordered any more.
    fn forget(&mut self, until_ns: i64) {
        if self.newest_sent_ns.len() > 1 << 18 {
            self.newest_sent_ns.retain(|_, newest| *newest >= until_ns);
        }
    }
}
