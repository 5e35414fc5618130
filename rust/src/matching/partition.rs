//! One partition of the flows: its window, its decisions, its counts.

use crate::base::error::Result;
use crate::matching::counts::causality::Earliest;
use crate::matching::counts::steps::parted_at;
use crate::matching::counts::totals::Totals;
use crate::matching::counts::undecided::UndecidedTally;
use crate::matching::counts::{Keep, Tally};
use crate::matching::decoys::{DecoySample, Decoys};
use crate::matching::exchange::Trips;
use crate::matching::late::leftovers::is_known;
use crate::matching::late::{Leftovers, delay_ns};
use crate::matching::loss::Losses;
use crate::matching::observation::{FrameId, Observation};
use crate::matching::outcome::{Counts, Outbox, Outcome, Status};
use crate::matching::resolve::Resolver;
use crate::matching::resolve::copies::{COPIES_WITHIN_NS, Folded};
use crate::matching::resolve::piece::Sink;
use crate::matching::streams::{Alias, Cut, Ending, Fate, Lost, Ranges, Said};
use crate::matching::window::{AlignedTime, Window};
use crate::plan::{Band, Direction, LinkCrossing, Plan};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub(crate) struct Partition {
    horizon_ns: i64,
    window: Window,
    resolver: Resolver,
    ranges: Ranges,
    decoys: Decoys,
    recorder: Recorder,
    scratch: Vec<Observation>,
}

/// Everything that is written down about decided observations.
struct Recorder {
    plan: Arc<Plan>,
    earliest: Earliest,
    tally: Tally,
    trips: Trips,
    counts: Counts,
    leftovers: Leftovers,
    outbox: Option<Outbox>,
}

/// What a partition brings home, or several.
#[derive(Serialize, Deserialize)]
pub(crate) struct PartitionResult {
    pub(crate) totals: Totals,
    pub(crate) losses: Losses,
    pub(crate) counts: Counts,
    pub(crate) earliest: Earliest,
    pub(crate) decoys: DecoySample,
    /// See [`Resolver::n_plain`].
    pub(crate) n_plain: u64,
    pub(crate) leftovers: Leftovers,
    /// Files of the outcomes of single frames, if others have some of the same captures, with the
    /// captures' indices.
    pub(crate) outcomes: Vec<(usize, PathBuf)>,
}

impl PartitionResult {
    /// Of no partition.
    pub(crate) fn none(plan: &Plan, directory: &Path) -> Self {
        Self::of_counts(plan, directory, Counts::of_points(plan.n_points()))
    }

    /// Of frames that came to no partition.
    pub(crate) fn of_counts(plan: &Plan, directory: &Path, counts: Counts) -> Self {
        Self {
            totals: Totals::of_links(plan.links.len()),
            losses: Losses::default(),
            counts,
            earliest: Earliest::default(),
            decoys: DecoySample::default(),
            n_plain: 0,
            leftovers: Leftovers::none(directory),
            outcomes: Vec::new(),
        }
    }

    /// Adds what another brings home.
    pub(crate) fn merge(&mut self, other: Self) {
        self.totals.merge(other.totals);
        self.losses.merge(other.losses);
        self.counts.merge(other.counts);
        self.earliest.merge(other.earliest);
        self.decoys.join(other.decoys);
        self.n_plain += other.n_plain;
        self.leftovers.join(other.leftovers);
        self.outcomes.extend(other.outcomes);
    }
}

impl Partition {
    pub(crate) fn new(
        plan: &Arc<Plan>,
        directory: &Path,
        index: usize,
        outbox: Option<Outbox>,
        keep: Keep,
    ) -> Result<Self> {
        let gap_ns = gap_ns(plan);
        Ok(Self {
            horizon_ns: plan.horizon_ns,
            window: Window::new(plan.horizon_ns, gap_ns.max(COPIES_WITHIN_NS), along(plan)),
            resolver: Resolver::new(Arc::clone(plan), gap_ns),
            ranges: Ranges::new(plan),
            decoys: Decoys::new(plan),
            recorder: Recorder {
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

    pub(crate) fn insert(&mut self, observations: &[Observation], aliases: Vec<Alias>) {
        self.ranges.know(aliases);
        for observation in observations {
            self.recorder.tally.openings.note(observation);
            self.window.insert(observation);
        }
    }

    /// Decides everything to which nothing newer than `watermark_ns` can belong.
    pub(crate) fn sweep(&mut self, watermark_ns: i64) {
        let Self {
            resolver,
            ranges,
            decoys,
            recorder,
            ..
        } = self;
        let mut intake = Intake {
            ranges,
            decoys,
            recorder,
        };
        self.window
            .sweep(watermark_ns, &mut self.scratch, &mut |observations| {
                resolver.resolve(observations, &mut intake);
            });
        // what is still to be decided has arrived within a horizon of the watermark, and is aligned
        // for its own direction within another
        let mut settled_ns = watermark_ns;
        if watermark_ns < i64::MAX {
            settled_ns = watermark_ns.saturating_sub(self.horizon_ns.saturating_mul(2));
        }
        self.ranges.settle(settled_ns, &mut self.recorder);
        let told_ns = settled_ns.saturating_sub(self.ranges.lag_ns());
        self.recorder.tally.settle(told_ns);
        self.recorder.trips.settle(told_ns);
        // at once: others' outcomes wait for these
        if let Some(outbox) = &mut self.recorder.outbox {
            outbox.send();
        }
    }

    pub(crate) fn finish(mut self) -> Result<PartitionResult> {
        self.sweep(i64::MAX);
        let (mut totals, losses) = self.recorder.tally.finish()?;
        totals.trips = self.recorder.trips.finish()?;
        Ok(PartitionResult {
            totals,
            losses,
            counts: self.recorder.counts,
            earliest: self.recorder.earliest,
            decoys: self.decoys.into_sample(),
            n_plain: self.resolver.n_plain(),
            leftovers: self.recorder.leftovers.finish()?,
            outcomes: Vec::new(),
        })
    }
}

/// Aligns observations of packets of which the plan says where they go.
fn along(plan: &Arc<Plan>) -> AlignedTime {
    let plan = Arc::clone(plan);
    Box::new(move |one| {
        let direction = plan.direction_of(one.pair, one.toward)?;
        Some(if direction.is_reverse() {
            plan.aligned_ns(direction, one.point, one.t_ns)
        } else {
            one.aligned_ns
        })
    })
}

/// No observations of one packet at neighbours are farther apart.
pub(crate) fn gap_ns(plan: &Plan) -> i64 {
    let bands = plan.bands.iter().flatten();
    let widest_ns = bands
        .map(Band::near_ns)
        .map(|(least_ns, most_ns)| most_ns.max(least_ns.saturating_neg()))
        .max();
    widest_ns.unwrap_or(0).clamp(1_000, plan.wide_ns.max(1_000))
}

/// What whole-packet matching decided: where bytes may be in other packets, they are looked for.
struct Intake<'a> {
    ranges: &'a mut Ranges,
    decoys: &'a mut Decoys,
    recorder: &'a mut Recorder,
}

impl Intake<'_> {
    fn take(
        &mut self,
        observations: &[Observation],
        direction: Direction,
        folded: &Folded,
        ending: Ending,
    ) {
        if ending != Ending::Ambiguous {
            let is_told = ending == Ending::Known;
            self.decoys.note(observations, direction, folded, is_told);
        }
        let is_complete = self.recorder.tally.is_complete(observations, direction);
        if !is_complete && self.ranges.wants(observations, direction) {
            return self.ranges.hold(observations, direction, folded, ending);
        }
        let status = match observations {
            _ if ending == Ending::Ambiguous => Status::Ambiguous,
            [_, _, ..] => Status::Matched,
            _ => Status::Unmatched,
        };
        let is_known = ending == Ending::Known;
        let lost = Lost::of(observations).filter(|_| is_known);
        let fate = Fate {
            status,
            lost,
            untold_bytes: 0,
            has_entered: false,
        };
        self.recorder.packet(observations, direction, folded, fate);
    }
}

impl Sink for Intake<'_> {
    fn begin(&mut self, observations: &[Observation]) {
        self.decoys.begin(observations);
    }

    fn finish(&mut self, observations: &[Observation], recurring: Option<f64>) {
        self.decoys.finish(observations, recurring);
    }

    fn trajectory(&mut self, observations: &[Observation], direction: Direction, folded: &Folded) {
        self.take(observations, direction, folded, Ending::Known);
    }

    fn unfinished(&mut self, observations: &[Observation], direction: Direction, folded: &Folded) {
        self.take(observations, direction, folded, Ending::Unfinished);
    }

    fn ambiguous(&mut self, observation: &Observation, direction: Direction, folded: &Folded) {
        self.take(
            std::slice::from_ref(observation),
            direction,
            folded,
            Ending::Ambiguous,
        );
    }

    fn lost_untold(
        &mut self,
        observations: &[Observation],
        direction: Direction,
        (has_entered, is_certain): (bool, bool),
    ) {
        let (Some(last), Some(whole)) = (observations.last(), Lost::of(observations)) else {
            return;
        };
        let recorder = &mut *self.recorder;
        // losses of streams are counted by bytes, which packets of equal bytes share
        if is_certain && !self.ranges.wants(observations, direction) {
            recorder
                .leftovers
                .take_lost(observations, direction, whole, has_entered);
        } else {
            recorder
                .tally
                .count_maybe_lost(last, direction, has_entered);
        }
    }

    fn undecided(
        &mut self,
        crossing: LinkCrossing,
        tally: UndecidedTally,
        one: Option<&Observation>,
    ) {
        self.recorder.tally.count_undecided(crossing, tally);
        if let Some(one) = one {
            self.recorder.tally.note_crossed(crossing, one);
        }
    }
}

impl Said for Recorder {
    fn pair(&mut self, cut: &Cut<'_>) {
        self.tally.count_cut(cut);
        let direction = self.plan.between(cut.up.point, cut.down.point);
        self.tally.rows.keep_cut(cut, direction);
    }

    fn whole_path(&mut self, cut: &Cut<'_>, is_leapt: bool) {
        self.tally.count_cut_path(cut, is_leapt);
    }

    fn packet(
        &mut self,
        observations: &[Observation],
        direction: Direction,
        folded: &Folded,
        fate: Fate,
    ) {
        if let Some(step) = self.too_late(observations, direction) {
            return self.part(observations, step, direction, folded, fate);
        }
        self.tally.count(observations, direction, folded);
        if observations
            .first()
            .is_some_and(|one| self.plan.has_way(one.pair, one.directed))
        {
            self.tally
                .note_early(observations, direction, &mut self.earliest);
        }
        self.tally.count_untold(observations, direction, &fate);
        let is_ambiguous = fate.status == Status::Ambiguous;
        self.trips.note(observations, direction, is_ambiguous);
        let is_open = match self.tally.tree_ends(observations, direction) {
            Some(tree) => {
                let is_known = is_known(observations, &fate);
                self.leftovers
                    .take_of_tree(observations, direction, folded, &tree, is_known)
            }
            None => self.leftovers.take(observations, direction, folded, &fate),
        };
        let id = observations.first().map(|first| first.frame);
        let id = id.filter(|_| fate.status == Status::Matched);
        for observation in observations {
            if !is_open {
                self.counts.note(&self.plan, observation, fate.status);
            }
            let of_copies = id.or(is_open.then_some(observation.frame));
            self.decide(observation, fate.status, (id, of_copies), folded);
        }
    }
}

impl Recorder {
    /// The first step that took a packet longer than was asked to be waited for it.
    fn too_late(
        &self,
        observations: &[Observation],
        direction: Direction,
    ) -> Option<(Observation, Observation)> {
        let most_ns = self.plan.lost_after_ns?;
        let mut steps = self.tally.steps(observations, direction);
        steps
            .find(|(up, down)| delay_ns(&self.plan, direction, up, down) > most_ns)
            .map(|(up, down)| (*up, *down))
    }

    /// Takes a packet that came too late as two: one that is lost, and the rest.
    fn part(
        &mut self,
        observations: &[Observation],
        (up, down): (Observation, Observation),
        direction: Direction,
        folded: &Folded,
        fate: Fate,
    ) {
        self.tally.count_too_late(&up, &down);
        let steps = self.tally.steps(observations, direction);
        let [before, after] = parted_at(steps, observations, &down);
        let status = |part: &[Observation]| match part {
            [_] => Status::Unmatched,
            _ => fate.status,
        };
        let lost = Fate {
            status: status(&before),
            lost: Lost::of(&before),
            untold_bytes: 0,
            ..fate
        };
        self.packet(&before, direction, folded, lost);
        let rest = Fate {
            status: status(&after),
            ..fate
        };
        self.packet(&after, direction, folded, rest);
    }

    fn decide(
        &mut self,
        observation: &Observation,
        status: Status,
        (id, of_copies): (Option<FrameId>, Option<FrameId>),
        folded: &Folded,
    ) {
        self.put(observation, status, id);
        if !folded.is_empty() {
            for copy in folded.copies_of(observation) {
                self.counts.note(&self.plan, copy, Status::Duplicate);
                self.put(copy, Status::Duplicate, of_copies);
            }
        }
    }

    fn put(&mut self, observation: &Observation, status: Status, trajectory: Option<FrameId>) {
        if let Some(outbox) = &mut self.outbox {
            outbox.push(Outcome {
                frame: observation.frame,
                status: Some(status),
                trajectory,
            });
        }
    }
}
