//! One partition of the flows: its window, its decisions, its counts.

use super::checks::Earliest;
use super::copies::{COPIES_WITHIN_NS, Folded};
use super::decoys::{Decoys, Harvested};
use super::late::{Leftovers, delay_ns};
use super::losses::Losses;
use super::outcome::{Outbox, Outcome};
use super::piece::Sink;
use super::ranges::{Alias, Cut, Ending, Fate, Lost, Ranges, Said};
use super::resolve::Resolver;
use super::tally::{Keep, Tally};
use super::totals::Totals;
use super::trips::Trips;
use super::window::Window;
use super::{Counts, FrameId, Sight, Status};
use crate::base::error::Result;
use crate::plan::{Band, Direction, Plan};
use std::path::Path;
use std::sync::Arc;

pub(super) struct Partition {
    horizon_ns: i64,
    window: Window,
    resolver: Resolver,
    ranges: Ranges,
    decoys: Decoys,
    books: Books,
    scratch: Vec<Sight>,
}

/// Everything that is written down about decided sights.
struct Books {
    plan: Arc<Plan>,
    earliest: Earliest,
    tally: Tally,
    trips: Trips,
    counts: Counts,
    leftovers: Leftovers,
    outbox: Option<Outbox>,
}

/// What a partition brings home.
pub(super) struct Harvest {
    pub(super) totals: Totals,
    pub(super) losses: Losses,
    pub(super) counts: Counts,
    pub(super) earliest: Earliest,
    pub(super) decoys: Harvested,
    pub(super) leftovers: Leftovers,
}

impl Harvest {
    /// Adds what another brings home.
    pub(super) fn merge(&mut self, other: Self) {
        self.totals.merge(other.totals);
        self.losses.merge(other.losses);
        self.counts.merge(other.counts);
        self.earliest.merge(other.earliest);
        self.decoys.merge(other.decoys);
        self.leftovers.join(other.leftovers);
    }
}

impl Partition {
    pub(super) fn new(
        plan: &Arc<Plan>,
        directory: &Path,
        index: usize,
        outbox: Option<Outbox>,
        keep: Keep,
    ) -> Result<Self> {
        let bands = plan.bands.iter().flatten();
        let widest_ns = bands
            .map(Band::near_ns)
            .map(|(least_ns, most_ns)| most_ns.max(least_ns.saturating_neg()))
            .max();
        let gap_ns = widest_ns.unwrap_or(0).clamp(1_000, plan.wide_ns.max(1_000));
        Ok(Self {
            horizon_ns: plan.horizon_ns,
            window: Window::new(plan.horizon_ns, gap_ns.max(COPIES_WITHIN_NS)),
            resolver: Resolver::new(Arc::clone(plan), gap_ns),
            ranges: Ranges::new(plan),
            decoys: Decoys::new(plan),
            books: Books {
                plan: Arc::clone(plan),
                earliest: Earliest::default(),
                tally: Tally::new(Arc::clone(plan), directory, index, keep)?,
                trips: Trips::new(plan, directory, index)?,
                counts: Counts::of_points(plan.n_points()),
                leftovers: Leftovers::of_partition(plan, directory, index)?,
                outbox,
            },
            scratch: Vec::new(),
        })
    }

    pub(super) fn insert(&mut self, sights: &[Sight], aliases: Vec<Alias>) {
        self.ranges.know(aliases);
        for sight in sights {
            self.window.insert(sight);
        }
    }

    /// Decides everything to which nothing newer than `watermark_ns` can belong.
    pub(super) fn sweep(&mut self, watermark_ns: i64) {
        let Self {
            resolver,
            ranges,
            decoys,
            books,
            ..
        } = self;
        let mut intake = Intake {
            ranges,
            decoys,
            books,
        };
        self.window
            .sweep(watermark_ns, &mut self.scratch, &mut |sights| {
                intake.decoys.begin(sights);
                resolver.resolve(sights, &mut intake);
                intake.decoys.finish(resolver, sights);
            });
        // what is still to be decided has arrived within a horizon of the watermark, and is aligned
        // for its own direction within another
        let mut settled_ns = watermark_ns;
        if watermark_ns < i64::MAX {
            settled_ns = watermark_ns.saturating_sub(self.horizon_ns.saturating_mul(2));
        }
        self.ranges.settle(settled_ns, &mut self.books);
        let told_ns = settled_ns.saturating_sub(self.ranges.lag_ns());
        self.books.tally.settle(told_ns);
        self.books.trips.settle(told_ns);
        // at once: others' outcomes wait for these
        if let Some(outbox) = &mut self.books.outbox {
            outbox.send();
        }
    }

    pub(super) fn finish(mut self) -> Result<Harvest> {
        self.sweep(i64::MAX);
        let (mut totals, losses) = self.books.tally.finish()?;
        totals.trips = self.books.trips.finish()?;
        Ok(Harvest {
            totals,
            losses,
            counts: self.books.counts,
            earliest: self.books.earliest,
            decoys: self.decoys.harvest(),
            leftovers: self.books.leftovers.finish()?,
        })
    }
}

/// What whole-packet matching decided: where bytes may be in other packets, they are looked for.
struct Intake<'a> {
    ranges: &'a mut Ranges,
    decoys: &'a mut Decoys,
    books: &'a mut Books,
}

impl Intake<'_> {
    fn take(&mut self, sights: &[Sight], direction: Direction, folded: &Folded, ending: Ending) {
        if ending != Ending::Ambiguous {
            let is_told = ending == Ending::Known;
            self.decoys.note(sights, direction, folded, is_told);
        }
        if self.ranges.wants(sights, direction) {
            return self.ranges.hold(sights, direction, folded, ending);
        }
        let status = match sights {
            _ if ending == Ending::Ambiguous => Status::Ambiguous,
            [_, _, ..] => Status::Matched,
            _ => Status::Unmatched,
        };
        let is_known = ending == Ending::Known;
        let lost = sights.last().filter(|_| is_known).map(Lost::whole);
        let fate = Fate {
            status,
            lost,
            has_entered: false,
        };
        self.books.packet(sights, direction, folded, fate);
    }
}

impl Sink for Intake<'_> {
    fn trajectory(&mut self, sights: &[Sight], direction: Direction, folded: &Folded) {
        self.take(sights, direction, folded, Ending::Known);
    }

    fn unfinished(&mut self, sights: &[Sight], direction: Direction, folded: &Folded) {
        self.take(sights, direction, folded, Ending::Unfinished);
    }

    fn ambiguous(&mut self, sight: &Sight, direction: Direction, folded: &Folded) {
        self.take(
            std::slice::from_ref(sight),
            direction,
            folded,
            Ending::Ambiguous,
        );
    }

    fn lost_untold(&mut self, sights: &[Sight], direction: Direction, has_entered: bool) {
        if let Some(last) = sights.last()
            && !self.ranges.wants(sights, direction)
        {
            let lost = Lost::whole(last);
            self.books
                .leftovers
                .take_lost(sights, direction, lost, has_entered);
        }
    }
}

impl Said for Books {
    fn pair(&mut self, cut: &Cut<'_>) {
        self.tally.count_cut(cut);
        let direction = self.plan.between(cut.up.point, cut.down.point);
        self.tally.rows.keep_cut(cut, direction);
    }

    fn whole_path(&mut self, cut: &Cut<'_>) {
        self.tally.count_cut(cut);
    }

    fn packet(&mut self, sights: &[Sight], direction: Direction, folded: &Folded, fate: Fate) {
        if let Some(n) = self.n_in_time(sights, direction) {
            return self.part(sights, n, direction, folded, fate);
        }
        self.tally.count(sights, direction, folded);
        if sights
            .first()
            .is_some_and(|one| self.plan.has_way(one.pair, one.directed))
        {
            self.tally.note_early(sights, direction, &mut self.earliest);
        }
        let is_ambiguous = fate.status == Status::Ambiguous;
        self.trips.note(sights, direction, is_ambiguous);
        let is_open = if self
            .tally
            .note_branches(sights, direction, &mut self.leftovers)
        {
            false
        } else {
            self.leftovers.take(sights, direction, folded, &fate)
        };
        let id = sights.first().map(|first| first.frame);
        let id = id.filter(|_| fate.status == Status::Matched);
        for sight in sights {
            if !is_open {
                self.counts.note(&self.plan, sight, fate.status);
            }
            self.decide(sight, fate.status, id, folded);
        }
    }
}

impl Books {
    /// How many points saw a packet before it came later than was asked to be waited for it.
    fn n_in_time(&self, sights: &[Sight], direction: Direction) -> Option<usize> {
        let most_ns = self.plan.lost_after_ns?;
        let is_too_late = |two: &[Sight]| match two {
            [up, down] => delay_ns(&self.plan, direction, up, down) > most_ns,
            _ => false,
        };
        Some(sights.windows(2).position(is_too_late)? + 1)
    }

    /// Takes a packet that came too late as two: one that is lost, and the rest.
    fn part(
        &mut self,
        sights: &[Sight],
        n: usize,
        direction: Direction,
        folded: &Folded,
        fate: Fate,
    ) {
        let (before, after) = sights.split_at(n);
        if let ([.., up], [down, ..]) = (before, after) {
            self.tally.count_too_late(up, down);
        }
        let status = |part: &[Sight]| match part {
            [_] => Status::Unmatched,
            _ => fate.status,
        };
        let lost = Fate {
            status: status(before),
            lost: before.last().map(Lost::whole),
            ..fate
        };
        self.packet(before, direction, folded, lost);
        let rest = Fate {
            status: status(after),
            ..fate
        };
        self.packet(after, direction, folded, rest);
    }

    fn decide(&mut self, sight: &Sight, status: Status, id: Option<FrameId>, folded: &Folded) {
        self.put(sight, status, id);
        if !folded.is_empty() {
            for copy in folded.copies_of(sight) {
                self.counts.note(&self.plan, copy, Status::Duplicate);
                self.put(copy, Status::Duplicate, id);
            }
        }
    }

    fn put(&mut self, sight: &Sight, status: Status, trajectory: Option<FrameId>) {
        if let Some(outbox) = &mut self.outbox {
            outbox.push(Outcome {
                frame: sight.frame,
                status,
                trajectory,
            });
        }
    }
}
