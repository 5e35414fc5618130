//! From the observations of one identity to trajectories: what is one packet, what are copies of it, and
//! what cannot be told.

pub(crate) mod assign;
pub(crate) mod components;
pub(crate) mod copies;
pub(crate) mod density;
pub(crate) mod direction;
pub(crate) mod join_pieces;
pub(crate) mod known_losses;
pub(crate) mod piece;
pub(crate) mod posterior;
pub(crate) mod recurrence;
pub(crate) mod train_delay;
pub(crate) mod trellis;
pub(crate) mod undecided;

use crate::matching::evidence::{By, Evidence};
use crate::matching::late::alone::{alone_anywhere_ns, is_one};
use crate::matching::observation::Observation;
use crate::matching::resolve::assign::Cluster;
use crate::matching::resolve::copies::doubling::sees_twice;
use crate::matching::resolve::copies::{CopyRules, Folded};
use crate::matching::resolve::density::{density_of, points_are_distinct};
use crate::matching::resolve::direction::undirected::put_by_direction;
use crate::matching::resolve::direction::{Votes, may_differ};
use crate::matching::resolve::join_pieces::join_leftovers;
use crate::matching::resolve::known_losses::lost_untold;
use crate::matching::resolve::piece::{Piece, Sink};
use crate::matching::resolve::recurrence::Recurrence;
use crate::matching::resolve::undecided::undecided;
use crate::plan::{Band, Direction, Plan, Topology};
use std::sync::Arc;

/// Decides group after group.
pub(crate) struct Resolver {
    plan: Arc<Plan>,
    topology: Topology,
    votes: Votes,
    /// No band is wider: observations of one packet at neighbours are closer than this.
    gap_ns: i64,
    /// Observations that are alone, and no farther apart, are one packet wherever they were seen.
    plain_ns: i64,
    /// Some point sees nearly everything twice.
    is_doubled: bool,
    has_shared_clocks: bool,
    folded: Folded,
    recurrence: Recurrence,
    /// How often identities like the present one were known to come again before it.
    recurring: Option<f64>,
    /// What is decided is a decoy.
    is_again: bool,
    /// Observations in which there was nothing to decide.
    n_plain: u64,
}

impl Resolver {
    pub(crate) fn new(plan: Arc<Plan>, gap_ns: i64) -> Self {
        Self {
            topology: Topology::new(&plan),
            plain_ns: alone_anywhere_ns(&plan).min(plan.horizon_ns),
            is_doubled: plan.copies.iter().any(sees_twice),
            has_shared_clocks: plan.has_shared_clocks(),
            plan,
            votes: Votes::default(),
            gap_ns,
            folded: Folded::default(),
            recurrence: Recurrence::default(),
            recurring: None,
            is_again: false,
            n_plain: 0,
        }
    }

    /// Decides all observations of one identity.
    pub(crate) fn resolve(&mut self, observations: &mut [Observation], sink: &mut dyn Sink) {
        if !may_differ(&self.plan, observations) {
            let direction = self.votes.direction(&self.plan, observations);
            return self.resolve_part(observations, direction, sink);
        }
        let mut rest = observations;
        for (direction, n) in put_by_direction(&self.plan, rest) {
            let (part, others) = rest.split_at_mut(n);
            self.resolve_part(part, direction, sink);
            rest = others;
        }
    }

    /// Decides those that go one way, or nobody knows which.
    #[inline]
    fn resolve_part(
        &mut self,
        observations: &mut [Observation],
        direction: Option<Direction>,
        sink: &mut dyn Sink,
    ) {
        sink.begin(observations);
        match direction {
            Some(direction) => self.resolve_one_way(observations, direction, sink),
            None => self.leave_wayless(observations, sink),
        }
        sink.finish(observations, self.recurring);
    }

    fn resolve_one_way(
        &mut self,
        observations: &mut [Observation],
        direction: Direction,
        sink: &mut dyn Sink,
    ) {
        if direction.is_reverse() {
            for observation in observations.iter_mut() {
                observation.aligned_ns =
                    self.plan
                        .aligned_ns(direction, observation.point, observation.t_ns);
            }
        }
        let first = observations.first();
        self.recurring = first.and_then(|first| self.recurrence.rate_of(first));
        if self.recurring.is_none() && self.is_plain(observations) {
            self.folded.clear();
            self.n_plain += observations.len() as u64;
            self.put_along(observations, direction);
            return sink.trajectory(observations, direction, &self.folded);
        }
        self.resolve_directed(observations, direction, sink);
    }

    /// Leaves equal packets that may go either way: they are no pairs, and may be some in both directions.
    fn leave_wayless(&mut self, observations: &mut [Observation], sink: &mut dyn Sink) {
        self.folded.clear();
        let ways = [Direction::Forward, Direction::Reverse];
        for direction in ways.into_iter().filter(|_| self.may_count(observations)) {
            let alone = |one: &Observation| {
                let aligned_ns = self.plan.aligned_ns(direction, one.point, one.t_ns);
                Piece::new(vec![Observation { aligned_ns, ..*one }])
            };
            let pieces: Vec<Piece> = observations.iter().map(alone).collect();
            for (crossing, tally) in undecided(&self.plan, &self.topology, direction, &pieces) {
                sink.undecided(crossing, tally, None);
            }
            // each of them goes that way, and is lost on it, or does not
            for piece in &pieces {
                let is_at_entry = |one: &Observation| Some(one.point) == self.plan.entry(direction);
                let has_entered = piece.observations.iter().any(is_at_entry);
                sink.lost_untold(&piece.observations, direction, (has_entered, false));
            }
        }
        for one in observations {
            one.evidence.add(Evidence::NO_WAY);
            sink.ambiguous(one, Direction::Forward, &self.folded);
        }
    }

    /// Whether packets like these are in figures of segments, where they are decided: what is in none of them
    /// leaves none of them open.
    fn may_count(&self, observations: &[Observation]) -> bool {
        observations.first().is_some_and(|one| {
            self.plan.has_way(one.pair, one.directed)
                || one.flow != one.pair && self.has_shared_clocks
        })
    }

    /// Whether there is nothing to decide: each point saw it once, and all of them within the time of one
    /// packet. Most packets are so; what the rest of this file would say of them is the same.
    #[inline]
    fn is_plain(&self, observations: &[Observation]) -> bool {
        let Some(first) = observations.first().filter(|_| !self.is_doubled) else {
            return false;
        };
        if self.comes_again(first) {
            return false;
        }
        let component = self.component(first);
        let (mut from_ns, mut to_ns) = (first.aligned_ns, first.aligned_ns);
        for one in observations {
            (from_ns, to_ns) = (from_ns.min(one.aligned_ns), to_ns.max(one.aligned_ns));
            if self.component(one) != component {
                return false;
            }
        }
        to_ns.saturating_sub(from_ns) <= self.plain_ns && points_are_distinct(observations)
    }

    /// Whether the survey saw that most packets come again that go this way.
    fn comes_again(&self, one: &Observation) -> bool {
        self.plan.again_after_ns(one.pair, one.toward).is_some()
    }

    /// Puts observations of one packet in the order of the points that it passed: most are in that order, or
    /// in the opposite one.
    #[inline]
    fn put_along(&self, observations: &mut [Observation], direction: Direction) {
        let place = |one: &Observation| self.plan.place(direction, one.point);
        let is_before = |one: &Observation, next: &Observation| place(one) < place(next);
        if observations.is_sorted_by(is_before) {
            return;
        }
        observations.reverse();
        if !observations.is_sorted_by(is_before) {
            observations.sort_unstable_by_key(|one| (place(one), one.aligned_ns, one.frame));
        }
    }

    /// Observations of packets that each point saw once, all within the time of one packet.
    pub(crate) fn n_plain(&self) -> u64 {
        self.n_plain
    }

    /// Decides observations of one identity that were decided before, less some, by what was known then;
    /// learns nothing from them.
    pub(crate) fn match_again(
        &mut self,
        observations: &mut [Observation],
        (direction, recurring): (Direction, Option<f64>),
        sink: &mut dyn Sink,
    ) {
        self.recurring = recurring;
        self.is_again = true;
        self.resolve_directed(observations, direction, sink);
        self.is_again = false;
    }

    fn resolve_directed(
        &mut self,
        observations: &mut [Observation],
        direction: Direction,
        sink: &mut dyn Sink,
    ) {
        // stable, for each file's are in order mostly: such runs need only be merged
        observations.sort_by_key(|one| (self.component(one), one.aligned_ns, one.frame));
        let mut rest = observations;
        while !rest.is_empty() {
            let (run, others) = rest.split_at_mut(self.run_length(rest));
            self.resolve_run(run, direction, sink);
            rest = others;
        }
    }

    fn component(&self, observation: &Observation) -> Option<u16> {
        let of_point = self.plan.component.get(usize::from(observation.point));
        of_point.copied()
    }

    /// How many of the first observations may be of one packet.
    fn run_length(&self, observations: &[Observation]) -> usize {
        let is_near = |two: &&[Observation]| {
            matches!(two, [a, b] if self.component(a) == self.component(b)
                && later_ns(a, b) <= self.plan.horizon_ns)
        };
        1 + observations.windows(2).take_while(is_near).count()
    }

    fn resolve_run(&mut self, run: &mut [Observation], direction: Direction, sink: &mut dyn Sink) {
        self.folded.clear();
        // of a flow whose packets are equal, one observation a point may still be of two packets
        let recurring = self.recurring;
        let is_alone = points_are_distinct(run);
        if is_alone && recurring.is_none() && !self.is_doubled {
            return self.join(run, direction, sink);
        }
        let mut kept = if is_alone {
            run.to_vec()
        } else {
            self.fold(run, direction, recurring.is_some())
        };
        self.note_one_of_two(&kept, direction, sink);
        if !self.is_again {
            self.recurrence.note(&kept, self.plan.horizon_ns);
        }
        let is_one = points_are_distinct(&kept);
        if is_one && let Some(mut pieces) = self.without_seconds(direction, &kept) {
            return self.hand_out(&mut pieces, direction, sink);
        }
        let comes_again = kept.first().is_some_and(|one| self.comes_again(one));
        if is_one && (recurring.is_none() || comes_again) {
            return self.join(&mut kept, direction, sink);
        }
        if self.is_uncharted(direction, &kept) {
            let equal = kept.iter();
            return equal.for_each(|one| sink.ambiguous(one, direction, &self.folded));
        }
        let (pieces, rate) = match (is_one, recurring) {
            (true, Some(rate)) => (self.usual(&mut kept, direction), rate),
            _ => self.cluster(&mut kept, direction, recurring.unwrap_or(0.0)),
        };
        let mut pieces = join_leftovers(&self.plan, direction, rate, pieces);
        self.hand_out(&mut pieces, direction, sink);
    }

    /// Says what became of each piece, what was lost of those that cannot be told, and what may be pairs.
    fn hand_out(&self, pieces: &mut [Piece], direction: Direction, sink: &mut dyn Sink) {
        let all_lost = lost_untold(&self.plan, direction, pieces);
        for piece in pieces.iter() {
            piece.hand_to(sink, direction, &self.folded);
        }
        let first = pieces.first();
        let one = first.and_then(|piece| piece.observations.first());
        if !first.is_some_and(|piece| self.may_count(&piece.observations)) {
            return;
        }
        for (crossing, tally) in undecided(&self.plan, &self.topology, direction, pieces) {
            sink.undecided(crossing, tally, one);
        }
        for lost in all_lost {
            if let Some(piece) = pieces.get(lost.piece) {
                let about = (lost.has_entered, lost.is_certain);
                sink.lost_untold(&piece.observations, direction, about);
            }
        }
    }

    /// Whether several points saw it, and no packet that can be told from others says where such
    /// packets lie between any two of them.
    fn is_uncharted(&self, direction: Direction, kept: &[Observation]) -> bool {
        let mut points: Vec<u16> = kept.iter().map(|one| one.point).collect();
        points.sort_unstable_by_key(|point| self.plan.place(direction, *point));
        points.dedup();
        let is_guessed = |up: u16, down: u16| {
            let band = self.plan.band(direction, up, down);
            band.is_none_or(Band::is_guessed)
        };
        let downs = |at: usize| points.iter().skip(at + 1);
        let mut ups = points.iter().enumerate();
        points.len() > 1 && ups.all(|(at, up)| downs(at).all(|down| is_guessed(*up, *down)))
    }

    /// Of one observation a point: what the bands say is one packet.
    fn usual(&self, run: &mut [Observation], direction: Direction) -> Vec<Piece> {
        run.sort_unstable_by_key(|observation| self.plan.place(direction, observation.point));
        for observation in run.iter_mut() {
            observation.evidence.by = By::UsualTime;
        }
        let pieces = run.chunk_by(|up, down| self.admits(direction, up, down));
        pieces
            .map(|observations| Piece::new(observations.to_vec()))
            .collect()
    }

    /// Of several observations a point: what the bands tell, and how densely the identity is seen.
    fn cluster(
        &self,
        kept: &mut [Observation],
        direction: Direction,
        least_rate: f64,
    ) -> (Vec<Piece>, f64) {
        let mut crowd = density_of(kept, self.gap_ns);
        crowd.rate = crowd.rate.max(least_rate);
        let mut pieces = Vec::new();
        for cluster in kept.chunk_by_mut(|a, b| later_ns(a, b) <= self.gap_ns) {
            Cluster::new(&self.plan, direction, crowd, cluster).assign(&mut pieces);
        }
        (pieces, crowd.rate)
    }

    /// Takes copies out of a run.
    fn fold(
        &mut self,
        run: &[Observation],
        direction: Direction,
        repeats: bool,
    ) -> Vec<Observation> {
        let mut folded = std::mem::take(&mut self.folded);
        let copies_at = |observations: &[Observation]| {
            let point = observations.first().map(|observation| observation.point);
            point.map_or_else(Default::default, |point| self.plan.copies_at(point))
        };
        let rules = CopyRules {
            copies: &copies_at,
            fits: &|one, other| self.fits(direction, one, other),
            place: &|observation| self.plan.place(direction, observation.point),
            repeats,
        };
        let mut kept = folded.fold(run, &rules);
        if let Some(seconds) = self.seconds_seen(direction, &kept, &folded) {
            (kept, folded) = seconds;
        }
        if self.is_mixed(direction, &kept, &folded) {
            folded.clear();
            self.folded = folded;
            return run.to_vec();
        }
        self.folded = folded;
        kept
    }

    /// How many observations do not lie as those of one packet usually do to the one before.
    fn n_unusual(&self, direction: Direction, kept: &[Observation]) -> usize {
        let is_unusual = |two: &&[Observation]| {
            let [up, down] = two else { return false };
            let band = self.plan.band(direction, up.point, down.point);
            band.is_none_or(|band| !band.is_frequent(later_ns(up, down)))
        };
        let along = self.along(direction, kept);
        along.windows(2).filter(is_unusual).count()
    }

    fn along(&self, direction: Direction, kept: &[Observation]) -> Vec<Observation> {
        let mut along = kept.to_vec();
        along.sort_unstable_by_key(|observation| self.plan.place(direction, observation.point));
        along
    }

    /// Whether a copy follows where its original does not: then what was folded is two packets, each
    /// of which some points missed, or a packet and its double, which is timed by itself. Not where
    /// all packets are seen twice: there it is a packet that was slow, or fast.
    fn is_mixed(&self, direction: Direction, kept: &[Observation], folded: &Folded) -> bool {
        if folded.is_empty() || !points_are_distinct(kept) {
            return false;
        }
        self.along(direction, kept).windows(2).any(|two| {
            let [up, down] = two else { return false };
            let is_copied = |copy: &Observation| self.admits(direction, copy, down);
            let is_copy = |copy: &Observation| self.admits(direction, up, copy);
            let mut ups = folded.copies_of(up).filter(|copy| !self.is_sure(up, copy));
            let mut downs = folded
                .copies_of(down)
                .filter(|copy| !self.is_sure(down, copy));
            !self.admits(direction, up, down) && (ups.any(is_copied) || downs.any(is_copy))
        })
    }

    /// Whether a point sees nearly everything twice, so far apart.
    fn is_sure(&self, original: &Observation, copy: &Observation) -> bool {
        let copies = self.plan.copies_at(copy.point);
        let gap_ns = copy.t_ns.saturating_sub(original.t_ns);
        sees_twice(&copies) && copies.admits(gap_ns)
    }

    /// One observation a point: one packet, as far as neighbours are close enough. Where much later ones may
    /// be another packet, the odds of late packets are asked.
    fn join(&self, run: &mut [Observation], direction: Direction, sink: &mut dyn Sink) {
        run.sort_unstable_by_key(|observation| self.plan.place(direction, observation.point));
        let mut before: Option<Observation> = None;
        for packet in run.chunk_by_mut(|a, b| is_one(&self.plan, direction, a, b)) {
            if let (Some(last), Some(first)) = (before, packet.first_mut())
                && later_ns(&last, first).unsigned_abs() <= self.plan.wide_ns.unsigned_abs()
            {
                first.evidence.add(Evidence::SLOW_OR_TWO);
            }
            sink.trajectory(packet, direction, &self.folded);
            before = packet.last().copied();
        }
    }

    /// Whether two observations lie as those of one packet usually do.
    fn fits(&self, direction: Direction, one: &Observation, other: &Observation) -> bool {
        let place = |observation: &Observation| self.plan.place(direction, observation.point);
        if place(one) < place(other) {
            self.admits(direction, one, other)
        } else {
            self.admits(direction, other, one)
        }
    }

    fn admits(&self, direction: Direction, up: &Observation, down: &Observation) -> bool {
        let band = self.plan.band(direction, up.point, down.point);
        band.is_some_and(|band| band.admits(later_ns(up, down)))
    }
}

fn later_ns(one: &Observation, other: &Observation) -> i64 {
    other.aligned_ns.saturating_sub(one.aligned_ns)
}

#[cfg(test)]
mod tests;
