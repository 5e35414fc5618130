//! What a partition counts of the packets it decided.

pub(crate) mod byte_latency;
pub mod causality;
pub(crate) mod complete_path;
pub(crate) mod match_rows;
pub(crate) mod min_delay;
pub(crate) mod openings;
pub(crate) mod reordering;
pub mod segment_rows;
pub(crate) mod segment_way;
pub(crate) mod steps;
pub mod totals;
pub mod undecided;

use crate::base::error::Result;
use crate::identity::traffic_kind::TrafficKind;
use crate::matching::counts::byte_latency::ByteLatencies;
use crate::matching::counts::causality::Earliest;
use crate::matching::counts::complete_path::{CompletePath, CompletePaths};
use crate::matching::counts::match_rows::Rows;
use crate::matching::counts::min_delay::LeastDelays;
use crate::matching::counts::openings::Openings;
use crate::matching::counts::segment_rows::{SegmentRow, SegmentRows};
use crate::matching::counts::segment_way::SegmentWays;
use crate::matching::counts::steps::{TreeEnds, steps};
use crate::matching::counts::totals::Totals;
use crate::matching::counts::undecided::UndecidedTally;
use crate::matching::evidence::By;
use crate::matching::late::Leftover;
use crate::matching::loss::{End, Losses};
use crate::matching::observation::Observation;
use crate::matching::resolve::copies::Folded;
use crate::matching::streams::{Cut, Fate, PairKind};
use crate::plan::{Direction, LinkCrossing, Plan, Topology};
use std::path::Path;
use std::sync::Arc;

/// What is kept of single packets.
#[derive(Clone, Copy, Debug, Default)]
pub struct Keep {
    /// Every pair, and every frame's outcome.
    pub rows: bool,
    /// What breakdowns are made of.
    pub crossings: bool,
}

impl Keep {
    /// Whether every packet that was not seen again is kept.
    pub(crate) fn ends(self) -> bool {
        self.rows || self.crossings
    }
}

/// The counts of one partition in the making.
pub(crate) struct Tally {
    plan: Arc<Plan>,
    totals: Totals,
    losses: Losses,
    ways: SegmentWays,
    least: LeastDelays,
    ends: ByteLatencies,
    crossings: SegmentRows,
    pub(crate) rows: Rows,
    pub(crate) openings: Openings,
    topology: Arc<Topology>,
    complete: Arc<CompletePaths>,
    /// Several points have one clock.
    has_shared_clocks: bool,
}

/// What became of a late packet from one point to another.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LateStep {
    pub(crate) is_overtaken: bool,
    /// Copies that were made between them.
    pub(crate) n_copies: u64,
}

/// Two parts of a packet, joined after the window.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LatePair<'a> {
    pub(crate) up: &'a Observation,
    pub(crate) down: &'a Observation,
    pub(crate) direction: Direction,
    /// The packet's first observation.
    pub(crate) first: &'a Observation,
    pub(crate) step: LateStep,
    /// Other points saw it before the one that it left.
    pub(crate) was_seen_before: bool,
    /// Other points saw it behind the one that it reached.
    pub(crate) is_seen_behind: bool,
    /// The probability that they are two packets.
    pub(crate) doubt: f64,
}

impl Tally {
    /// Counts in files that are named after a partition.
    pub(crate) fn new(
        plan: Arc<Plan>,
        directory: &Path,
        partition: impl std::fmt::Display + Copy,
        keep: Keep,
    ) -> Result<Self> {
        let topology = Arc::new(Topology::new(&plan));
        let ways = SegmentWays::new(&plan, directory, partition)?;
        Ok(Self {
            totals: Totals::of_links(plan.links.len()),
            losses: Losses::default(),
            complete: Arc::new(CompletePaths::new(&topology, &ways)),
            ways,
            least: LeastDelays::new(&plan),
            ends: ByteLatencies::new(directory, partition),
            crossings: SegmentRows::new(directory, partition, keep)?,
            rows: Rows::new(directory, partition, keep.rows)?,
            openings: Openings::default(),
            topology,
            has_shared_clocks: plan.has_shared_clocks(),
            plan,
        })
    }

    /// What is counted so far.
    pub(crate) fn totals(&self) -> &Totals {
        &self.totals
    }

    /// Whether each point of a line saw a packet, in the order of its way.
    #[inline]
    pub(crate) fn is_complete(&self, observations: &[Observation], direction: Direction) -> bool {
        self.complete.of(observations, direction).is_some()
    }

    /// Counts a decided packet. What has no way was matched, and is in no figure of a segment.
    pub(crate) fn count(
        &mut self,
        observations: &[Observation],
        direction: Direction,
        folded: &Folded,
    ) {
        let Some(first) = observations.first() else {
            return;
        };
        let complete = Arc::clone(&self.complete);
        let path = complete.of(observations, direction);
        match path.filter(|_| self.plan.has_way(first.pair, first.directed)) {
            Some(path) => self.count_complete(path, observations, direction, folded),
            None => self.count_parts(first, observations, direction, folded),
        }
        if self.rows.are_kept() {
            self.keep_rows(first, observations, direction);
        }
    }

    fn keep_rows(
        &mut self,
        first: &Observation,
        observations: &[Observation],
        direction: Direction,
    ) {
        for (up, down) in steps(self.topology.along(direction), observations) {
            let with_path = self.plan.between(up.point, down.point);
            self.rows.keep(up, down, with_path, first);
        }
    }

    /// Counts a packet that each point of a line saw.
    fn count_complete(
        &mut self,
        path: &CompletePath,
        observations: &[Observation],
        direction: Direction,
        folded: &Folded,
    ) {
        let Some(first) = observations.first() else {
            return;
        };
        let bounds_clocks = self.least.is_bound_by(&self.plan, first);
        let kind = self.openings.kind_of(first);
        for (up, down, way) in &path.pairs {
            if let (Some(up), Some(down)) = (observations.get(*up), observations.get(*down)) {
                if bounds_clocks {
                    self.least.note(&self.plan, direction, (up, down));
                }
                self.count_on(*way, (up, down), kind, folded);
            }
        }
        self.losses
            .note_complete(&self.topology, observations, direction, path.crossed);
    }

    /// Counts a packet that some points may have missed.
    #[inline(never)]
    fn count_parts(
        &mut self,
        first: &Observation,
        observations: &[Observation],
        direction: Direction,
        folded: &Folded,
    ) {
        let topology = Arc::clone(&self.topology);
        let mut crossed = 0;
        if self.has_way(first, observations, direction) {
            let bounds_clocks = self.least.is_bound_by(&self.plan, first);
            let steps = || steps(topology.along(direction), observations);
            let is_step = |(up, down): (&Observation, &Observation)| {
                steps().any(|step| (step.0.frame, step.1.frame) == (up.frame, down.frame))
            };
            let whole = self.whole_of(observations).filter(|ends| !is_step(*ends));
            let kind = self.openings.kind_of(first);
            for pair in steps().chain(whole) {
                if bounds_clocks {
                    self.least.note(&self.plan, direction, pair);
                }
                crossed |= match self.whole_between(pair) {
                    Some(whole) if !self.is_watched(direction, observations) => whole.bit(),
                    _ => self.count_pair(pair, kind, folded),
                };
            }
        } else if observations.len() > 1 {
            self.totals.n_without_direction += observations.len() as u64;
        }
        self.losses
            .note_way(&self.topology, observations, direction, crossed);
    }

    /// Both ends of a packet that was seen between them, if they are those of the whole path.
    fn whole_of<'o>(
        &self,
        observations: &'o [Observation],
    ) -> Option<(&'o Observation, &'o Observation)> {
        let [first, _, .., last] = observations else {
            return None;
        };
        let ends = (first, last);
        (observations.len() > 2 && self.whole_between(ends).is_some()).then_some(ends)
    }

    /// Whether every point that a packet passed was capturing then, so that the whole path counts it: its
    /// losses are counted in that time. A point that saw it was, wherever its capture is said to begin.
    fn is_watched(&self, direction: Direction, observations: &[Observation]) -> bool {
        self.steps(observations, direction)
            .all(|pair| self.is_step_watched(direction, pair))
    }

    fn is_step_watched(
        &self,
        direction: Direction,
        (up, down): (&Observation, &Observation),
    ) -> bool {
        let along = self.topology.along(direction);
        let (ends, span_ns) = ((up.point, down.point), (up.aligned_ns, down.aligned_ns));
        !along.is_jump(up.point, down.point) || self.topology.is_watched(along, ends, span_ns)
    }

    /// The whole path, if it lies between two observations.
    #[inline]
    fn whole_between(&self, (up, down): (&Observation, &Observation)) -> Option<LinkCrossing> {
        let crossing = self.topology.between(up.point, down.point)?;
        self.topology.is_whole(crossing.link).then_some(crossing)
    }

    /// Whether it is known which way a packet went: by its addresses, or because one clock says that
    /// it was at one point after the other. Frames without an IP packet, which have no flow but their
    /// addresses, are answered by others than they were sent to.
    fn has_way(
        &self,
        first: &Observation,
        observations: &[Observation],
        direction: Direction,
    ) -> bool {
        let mut steps = self.steps(observations, direction);
        self.plan.has_way(first.pair, first.directed)
            || first.flow != first.pair
                && steps.all(|(up, down)| {
                    up.t_ns <= down.t_ns && self.plan.same_clock(up.point, down.point)
                })
    }

    /// See [`steps`].
    pub(crate) fn steps<'o>(
        &'o self,
        observations: &'o [Observation],
        direction: Direction,
    ) -> impl Iterator<Item = (&'o Observation, &'o Observation)> {
        steps(self.topology.along(direction), observations)
    }

    /// What of its tree a packet with several receivers was not seen on; `None` of other packets.
    pub(crate) fn tree_ends(
        &self,
        observations: &[Observation],
        direction: Direction,
    ) -> Option<TreeEnds> {
        // on most paths no packet has several receivers
        let branches = Some(&self.plan.branches).filter(|all| !all.is_empty())?;
        let first = observations.first()?;
        let along = self.topology.along(direction);
        Some(TreeEnds::of(
            along,
            branches.get(&first.pair)?,
            observations,
        ))
    }

    /// Notes a packet that arrived before it left.
    pub(crate) fn note_early(
        &self,
        observations: &[Observation],
        direction: Direction,
        earliest: &mut Earliest,
    ) {
        if !self.has_shared_clocks || observations.is_sorted_by_key(|one| one.t_ns) {
            return;
        }
        for (up, down) in steps(self.topology.along(direction), observations) {
            earliest.note(&self.plan, up, down);
        }
    }

    /// Counts two parts of a packet as one, each of which was counted before.
    pub(crate) fn count_late(&mut self, late: &LatePair<'_>) {
        let mut down = *late.down;
        down.evidence.doubt_by(By::Late, late.doubt);
        let with_path = self.plan.between(late.up.point, late.down.point);
        self.rows.keep(late.up, &down, with_path, late.first);
        let two = (late.up, late.down);
        if self.whole_between(two).is_none() || self.is_step_watched(late.direction, two) {
            self.count_late_crossing(two, late.step);
        }
        self.losses.misses.note_joint(&self.topology, late);
    }

    /// Counts the whole path of a packet of several parts, if it was seen at both of its ends, and every
    /// point that it passed from part to part was capturing then.
    pub(crate) fn count_late_path<'o>(
        &mut self,
        two: (&Observation, &Observation),
        mut joints: impl Iterator<Item = (&'o Observation, &'o Observation)>,
        (direction, step): (Direction, LateStep),
    ) {
        if self.whole_between(two).is_some()
            && joints.all(|joint| self.is_step_watched(direction, joint))
        {
            self.count_late_crossing(two, step);
        }
    }

    fn count_late_crossing(&mut self, (up, down): (&Observation, &Observation), step: LateStep) {
        let kind = up.evidence.kind;
        let way = self.ways.place_of(up.point, down.point);
        let counted = way.and_then(|way| self.add_pair(way, (up, down), kind, step.n_copies));
        let Some(crossing) = counted else {
            return;
        };
        let LinkCrossing { link: index, side } = crossing;
        self.note_crossed(crossing, up);
        if let Some(tally) = at(&mut self.totals.links, index, side) {
            tally.n_reordered += u64::from(step.is_overtaken);
        }
        if self.crossings.are_crossings_kept() {
            let crossing = SegmentRow::new(up, down, Direction::of(side == 0), step.n_copies);
            self.crossings.cross(&crossing, step.is_overtaken);
        }
    }

    /// Counts a packet that came after the waiting time that was asked for.
    pub(crate) fn count_too_late(&mut self, up: &Observation, down: &Observation) {
        if let Some(LinkCrossing { link, side }) = self.topology.between(up.point, down.point)
            && let Some(tally) = at(&mut self.totals.links, link, side)
        {
            tally.late.n_too_late += 1;
        }
    }

    /// Notes that packets like this one cross a segment: those that end before it are lost there.
    pub(crate) fn note_crossed(&mut self, crossing: LinkCrossing, one: &Observation) {
        let one = std::slice::from_ref(one);
        self.losses
            .note_crossed(&self.topology, one, crossing.bit());
    }

    /// Counts pairs of which it is not known which they are.
    pub(crate) fn count_undecided(&mut self, crossing: LinkCrossing, undecided: UndecidedTally) {
        if let Some(tally) = at(&mut self.totals.links, crossing.link, crossing.side) {
            tally.undecided.merge(undecided);
        }
    }

    /// Counts a packet that may be lost behind a point, and is not counted as lost.
    pub(crate) fn count_maybe_lost(
        &mut self,
        last: &Observation,
        direction: Direction,
        has_entered: bool,
    ) {
        self.each_onward(last, direction, has_entered, |one| one.n_maybe_lost += 1);
    }

    /// Counts bytes that may be lost behind a point, and are not counted as lost.
    pub(crate) fn count_untold(
        &mut self,
        observations: &[Observation],
        direction: Direction,
        fate: &Fate,
    ) {
        if let Some(last) = observations.last().filter(|_| fate.untold_bytes > 0) {
            self.each_onward(last, direction, fate.has_entered, |one| {
                one.maybe_lost_bytes += fate.untold_bytes;
            });
        }
    }

    fn each_onward(
        &mut self,
        last: &Observation,
        direction: Direction,
        has_entered: bool,
        count: impl Fn(&mut UndecidedTally),
    ) {
        let along = self.topology.along(direction);
        let onward = along.onward(last.point).map(|down| (last.point, down));
        let whole = along
            .whole
            .filter(|(_, end)| has_entered && *end != last.point);
        for (up, down) in onward.chain(whole) {
            if let Some(LinkCrossing { link, side }) = self.topology.between(up, down)
                && let Some(tally) = at(&mut self.totals.links, link, side)
            {
                count(&mut tally.undecided);
            }
        }
    }

    /// Waits for what may be a slow packet as long as it took.
    pub(crate) fn wait_for(&mut self, up: &Observation, down: &Observation) {
        if let Some(LinkCrossing { link, side }) = self.topology.between(up.point, down.point)
            && let Some(tally) = at(&mut self.totals.links, link, side)
        {
            let took_ns = took_ns(&self.plan, up, down);
            tally.slowest_ns = tally.slowest_ns.max(Some(took_ns));
        }
    }

    /// Counts what may be a slow packet, or two packets, of which the first is counted as lost or not. Where points
    /// between saw nothing of it, that is all that is known of it.
    pub(crate) fn count_doubted(
        &mut self,
        (up, down): (&Observation, &Observation),
        is_lost: bool,
    ) {
        let Some(crossing) = self.topology.between(up.point, down.point) else {
            let direction = self.plan.between(up.point, down.point);
            return self.each_onward(up, direction, false, |one| {
                one.n_maybe_late += u64::from(is_lost);
                one.n_maybe_lost += u64::from(!is_lost);
            });
        };
        let took_ns = took_ns(&self.plan, up, down);
        let is_slow = down.aligned_ns > up.aligned_ns;
        self.count_undecided(crossing, UndecidedTally::one(took_ns, is_slow, is_lost));
    }

    /// The same over the whole path.
    pub(crate) fn count_doubted_path(&mut self, ends: (&Observation, &Observation), is_lost: bool) {
        if self.whole_between(ends).is_some() {
            self.count_doubted(ends, is_lost);
        }
    }

    /// Keeps where a packet ended, if something of it may be lost.
    pub(crate) fn keep_end(&mut self, end: Option<&End>, left: &Leftover) {
        if let Some(end) = end
            && left.lost.is_some_and(|lost| lost.packets > 0)
        {
            self.crossings.end(end, left);
        }
    }

    /// Counts two packets of a stream that was cut or joined between them, but for the ends of the whole path.
    pub(crate) fn count_cut(&mut self, cut: &Cut<'_>) {
        if self.whole_between((cut.up, cut.down)).is_none() {
            self.count_cut_crossing(cut);
        }
    }

    /// Counts two such packets at the ends of the whole path, if every point between was capturing then: one
    /// that saw bytes of them was.
    pub(crate) fn count_cut_path(&mut self, cut: &Cut<'_>, is_leapt: bool) {
        let direction = self.plan.between(cut.up.point, cut.down.point);
        if !is_leapt || self.is_step_watched(direction, (cut.up, cut.down)) {
            self.count_cut_crossing(cut);
        }
    }

    fn count_cut_crossing(&mut self, cut: &Cut<'_>) {
        let Some(crossing) = self.topology.between(cut.up.point, cut.down.point) else {
            return;
        };
        let LinkCrossing { link: index, side } = crossing;
        self.losses
            .note_crossed(&self.topology, std::slice::from_ref(cut.up), crossing.bit());
        if let Some(tally) = at(&mut self.totals.links, index, side) {
            tally.matched_bytes += cut.n_bytes;
        }
        let is_exact = self.plan.same_clock(cut.up.point, cut.down.point);
        self.ends.count((index, side), cut, is_exact);
        if let Some(way) = self.ways.of(cut.up, cut.down) {
            way.reordering
                .push(cut.up, cut.down, cut.kind, is_exact, None);
        }
    }

    /// Counts one pair of observations and returns the bit of the segment it crossed.
    fn count_pair(
        &mut self,
        (up, down): (&Observation, &Observation),
        kind: TrafficKind,
        folded: &Folded,
    ) -> u128 {
        let place = self.ways.place_of(up.point, down.point);
        let crossing = place.and_then(|place| self.count_on(place, (up, down), kind, folded));
        crossing.map_or(0, LinkCrossing::bit)
    }

    /// The same where the way between them is known.
    #[expect(clippy::inline_always, reason = "one straight way for each pair")]
    #[inline(always)]
    fn count_on(
        &mut self,
        way: usize,
        (up, down): (&Observation, &Observation),
        kind: TrafficKind,
        folded: &Folded,
    ) -> Option<LinkCrossing> {
        let n_copies = folded.n_made_between(up, down);
        let crossing = self.add_pair(way, (up, down), kind, n_copies)?;
        if let Some(way) = self.ways.at(way) {
            let with_path = Direction::of(crossing.side == 0);
            let row = || SegmentRow::new(up, down, with_path, n_copies);
            let row = self.crossings.are_crossings_kept().then(row);
            way.reordering
                .push(up, down, PairKind::Packet, way.is_exact, row);
        }
        Some(crossing)
    }

    /// Adds a pair to what is counted of its link, and returns that.
    #[expect(clippy::inline_always, reason = "one straight way for each pair")]
    #[inline(always)]
    fn add_pair(
        &mut self,
        way: usize,
        (up, down): (&Observation, &Observation),
        kind: TrafficKind,
        n_copies: u64,
    ) -> Option<LinkCrossing> {
        let way = self.ways.at(way)?;
        let LinkCrossing { link, side } = way.crossing;
        let tally = at(&mut self.totals.links, link, side)?;
        let raw_ns = down.t_ns.saturating_sub(up.t_ns);
        tally.n += 1;
        // either of them may be cut before it tells them
        let n_bytes = down.range.length().or(up.range.length());
        tally.matched_bytes += n_bytes.map_or(0, u64::from);
        tally.n_duplicated += n_copies;
        let mut took_ns = raw_ns;
        if way.is_exact {
            tally.time(kind, self.plan.blocks.place_of(up.aligned_ns), raw_ns);
        } else {
            took_ns = down.aligned_ns.saturating_sub(up.aligned_ns);
            way.spill([up.t_ns, raw_ns, kind.number().into()]);
            tally.took_sum_ns += i128::from(took_ns);
        }
        tally.note_delay(took_ns, way.is_late(took_ns));
        Some(way.crossing)
    }

    /// Puts in order what arrived before `until_ns`.
    pub(crate) fn settle(&mut self, until_ns: i64) {
        for way in self.ways.all() {
            way.reordering.settle(until_ns);
            self.crossings.take(&mut way.reordering.kept);
        }
        self.openings.forget(until_ns);
    }

    /// The counts but for the losses, which need those of all partitions.
    pub(crate) fn finish(mut self) -> Result<(Totals, Losses)> {
        for way in self.ways.all() {
            let LinkCrossing { link, side } = way.crossing;
            if let Some(tally) = at(&mut self.totals.links, link, side) {
                tally.put_in_order(way.reordering.finish());
            }
            self.crossings.take(&mut way.reordering.kept);
        }
        self.ways.finish(&mut self.totals.spills)?;
        self.totals.least = self.least.finish();
        self.ends.finish(&mut self.totals.links)?;
        self.totals.rows.extend(self.rows.finish()?);
        self.totals.crossings = self.crossings.finish()?;
        Ok((self.totals, self.losses))
    }
}

/// How long a packet took; between points of different clocks, more than usual.
fn took_ns(plan: &Plan, up: &Observation, down: &Observation) -> i64 {
    if plan.same_clock(up.point, down.point) {
        down.t_ns.saturating_sub(up.t_ns)
    } else {
        down.aligned_ns.saturating_sub(up.aligned_ns)
    }
}

fn at<T>(links: &mut [[T; 2]], index: usize, side: usize) -> Option<&mut T> {
    links.get_mut(index).and_then(|both| both.get_mut(side))
}

#[cfg(test)]
mod tests;
