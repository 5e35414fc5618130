//! From the sights of one identity to trajectories: what is one packet, what are copies of it, and
//! what cannot be told.

use super::posterior::{Candidate, likely_pairs};
use super::window::HashedMap;
use super::{FrameId, Sight};
use crate::plan::{Direction, Plan};
use std::sync::Arc;

/// Copies of a frame at one point lie within this (docs/stages/match.md, copies).
pub(super) const COPIES_WITHIN_NS: i64 = 2_000_000;

/// A later copy, and the frame it is a copy of.
pub(super) type Folded = Vec<(Sight, FrameId)>;

/// Takes what is decided.
pub(super) trait Sink {
    /// One packet, sender to receiver; a single sight was matched nowhere.
    fn trajectory(&mut self, sights: &[Sight], direction: Direction, folded: &Folded);
    /// A sight that may belong to more than one packet and stands in no match.
    fn ambiguous(&mut self, sight: &Sight, folded: &Folded);
}

/// Decides group after group.
pub(super) struct Resolver {
    plan: Arc<Plan>,
    /// What single packets said about address pairs that the survey did not see.
    votes: HashedMap<i32>,
    /// No band is wider: sights of one packet at neighbours are closer than this.
    gap_ns: i64,
    folded: Folded,
}

/// An unfinished trajectory: indices of its sights.
struct Open {
    sights: Vec<usize>,
    is_ended: bool,
}

impl Resolver {
    pub(super) fn new(plan: Arc<Plan>, gap_ns: i64) -> Self {
        Self { plan, votes: HashedMap::default(), gap_ns, folded: Vec::new() }
    }

    /// Decides all sights of one identity.
    pub(super) fn resolve(&mut self, sights: &mut [Sight], sink: &mut dyn Sink) {
        let Some(direction) = self.direction(sights) else { return };
        if direction == Direction::Reverse {
            for sight in sights.iter_mut() {
                sight.aligned_ns = self.plan.aligned_ns(direction, sight.point, sight.t_ns);
            }
        }
        let plan = Arc::clone(&self.plan);
        let component = |sight: &Sight| plan.component.get(usize::from(sight.point)).copied();
        sights.sort_unstable_by_key(|sight| (component(sight), sight.aligned_ns, sight.frame));
        let horizon_ns = plan.horizon_ns;
        let apart = |a: &Sight, b: &Sight| {
            component(a) != component(b) || b.aligned_ns - a.aligned_ns > horizon_ns
        };
        for run in sights.chunk_by_mut(|a, b| !apart(a, b)) {
            self.resolve_run(run, direction, sink);
        }
    }

    fn resolve_run(&mut self, run: &mut [Sight], direction: Direction, sink: &mut dyn Sink) {
        self.folded.clear();
        if points_are_distinct(run) {
            return self.join(run, direction, sink);
        }
        let mut kept = self.fold_copies(run);
        if points_are_distinct(&kept) {
            return self.join(&mut kept, direction, sink);
        }
        let gap_ns = self.gap_ns;
        for cluster in kept.chunk_by_mut(|a, b| b.aligned_ns - a.aligned_ns <= gap_ns) {
            if points_are_distinct(cluster) && cluster.len() > 1 {
                self.join_within_bands(cluster, direction, sink);
            } else {
                self.assign(cluster, direction, sink);
            }
        }
    }

    /// Direction of the group's packets: from the survey, else from what fits better.
    fn direction(&mut self, sights: &[Sight]) -> Option<Direction> {
        const ENOUGH_VOTES: i32 = 3;
        let first = sights.first()?;
        let either = |is_forward| if is_forward { Direction::Forward } else { Direction::Reverse };
        if let Some(toward_is_forward) = self.plan.toward_is_forward.get(&first.pair) {
            return Some(either(first.toward == *toward_is_forward));
        }
        if !first.directed {
            return Some(either(self.misfit(sights, Direction::Forward) <= self.misfit(sights, Direction::Reverse)));
        }
        let votes = self.votes.get(&first.pair).copied().unwrap_or(0);
        if votes.abs() >= ENOUGH_VOTES {
            return Some(either(first.toward == (votes > 0)));
        }
        let (forward, reverse) =
            (self.misfit(sights, Direction::Forward), self.misfit(sights, Direction::Reverse));
        if forward != reverse {
            let toward_is_forward = first.toward == (forward < reverse);
            *self.votes.entry(first.pair).or_default() += if toward_is_forward { 1 } else { -1 };
        }
        Some(either(forward <= reverse))
    }

    /// How far the first sights at each point are from where a packet of that direction would be.
    fn misfit(&self, sights: &[Sight], direction: Direction) -> u64 {
        let at = |sight: &Sight| self.plan.aligned_ns(direction, sight.point, sight.t_ns);
        let mut firsts: Vec<(u16, i64)> = sights.iter().map(|one| (one.point, at(one))).collect();
        firsts.sort_unstable();
        firsts.dedup_by_key(|(point, _)| *point);
        firsts.sort_unstable_by_key(|(point, _)| self.plan.place(direction, *point));
        firsts
            .windows(2)
            .map(two_apart)
            .fold(0, u64::saturating_add)
    }

    /// One sight a point: one packet, as far as neighbours are close enough.
    fn join(&mut self, run: &mut [Sight], direction: Direction, sink: &mut dyn Sink) {
        let (plan, wide_ns) = (Arc::clone(&self.plan), self.plan.wide_ns);
        run.sort_unstable_by_key(|sight| plan.place(direction, sight.point));
        for packet in run.chunk_by(|a, b| (b.aligned_ns - a.aligned_ns).abs() <= wide_ns) {
            sink.trajectory(packet, direction, &self.folded);
        }
    }

    /// The same for an identity that repeats: only the bands tell its packets apart.
    fn join_within_bands(&mut self, run: &mut [Sight], direction: Direction, sink: &mut dyn Sink) {
        let plan = Arc::clone(&self.plan);
        run.sort_unstable_by_key(|sight| plan.place(direction, sight.point));
        for packet in run.chunk_by(|a, b| self.admits(direction, a, b)) {
            sink.trajectory(packet, direction, &self.folded);
        }
    }

    fn admits(&self, direction: Direction, up: &Sight, down: &Sight) -> bool {
        let band = self.plan.band(direction, up.point, down.point);
        band.is_some_and(|band| band.admits(down.aligned_ns - up.aligned_ns))
    }

    /// Takes out later copies: of a packet that some point saw once and none saw far apart, or of a
    /// frame that is equal to the byte and numbered. "Same bytes soon after" alone is not a copy.
    fn fold_copies(&mut self, run: &[Sight]) -> Vec<Sight> {
        let mut by_point: Vec<Sight> = run.to_vec();
        by_point.sort_by_key(|sight| (sight.point, sight.t_ns, sight.frame));
        let points = || by_point.chunk_by(|a, b| a.point == b.point);
        let is_close = |sights: &[Sight]| {
            sights.windows(2).all(|two| matches!(two, [a, b] if b.t_ns - a.t_ns <= COPIES_WITHIN_NS))
        };
        let is_one_packet = points().any(|sights| sights.len() == 1) && points().all(is_close);
        let mut kept: Vec<Sight> = Vec::with_capacity(run.len());
        for sights in points() {
            let n_before = kept.len();
            for sight in sights {
                let original = kept.get(n_before..).unwrap_or(&[]).iter().rev().find(|original| {
                    sight.t_ns - original.t_ns <= COPIES_WITHIN_NS
                        && (is_one_packet
                            || (sight.copy_tag != 0 && sight.copy_tag == original.copy_tag))
                });
                match original {
                    Some(original) => self.folded.push((*sight, original.frame)),
                    None => kept.push(*sight),
                }
            }
        }
        kept.sort_unstable_by_key(|sight| (sight.aligned_ns, sight.frame));
        kept
    }

    /// Several sights at a point: walks the points, extending what can be told (posterior.rs).
    fn assign(&self, cluster: &mut [Sight], direction: Direction, sink: &mut dyn Sink) {
        let plan = &self.plan;
        cluster.sort_unstable_by_key(|sight| {
            (plan.place(direction, sight.point), sight.aligned_ns, sight.frame)
        });
        let mut open: Vec<Open> = Vec::new();
        let mut is_doubtful = vec![false; cluster.len()];
        let mut start = 0;
        for at_point in cluster.chunk_by(|a, b| a.point == b.point) {
            let frames = start..start + at_point.len();
            start = frames.end;
            self.extend(cluster, frames, direction, &mut open, &mut is_doubtful);
        }
        for one in &open {
            let sights: Vec<Sight> =
                one.sights.iter().filter_map(|index| cluster.get(*index).copied()).collect();
            match (sights.as_slice(), one.sights.first()) {
                ([alone], Some(index)) if is_doubtful.get(*index) == Some(&true) => {
                    sink.ambiguous(alone, &self.folded);
                }
                _ => sink.trajectory(&sights, direction, &self.folded),
            }
        }
    }

    /// Offers the frames of one point to the open trajectories.
    fn extend(
        &self,
        cluster: &[Sight],
        frames: std::ops::Range<usize>,
        direction: Direction,
        open: &mut Vec<Open>,
        is_doubtful: &mut [bool],
    ) {
        let candidates = self.candidates(cluster, frames.clone(), direction, open);
        let verdict = likely_pairs(&candidates);
        for (one, frame) in verdict.pairs {
            if let Some(one) = open.get_mut(one) {
                one.sights.push(frame);
            }
        }
        for one in verdict.doubtful_open {
            if let Some(one) = open.get_mut(one) {
                one.is_ended = true;
                mark(is_doubtful, one.sights.last().copied());
            }
        }
        for frame in &verdict.doubtful_frames {
            mark(is_doubtful, Some(*frame));
        }
        let taken: Vec<usize> = open.iter().filter_map(|one| one.sights.last().copied()).collect();
        for frame in frames.filter(|frame| !taken.contains(frame)) {
            open.push(Open { sights: vec![frame], is_ended: false });
        }
    }

    fn candidates(
        &self,
        cluster: &[Sight],
        frames: std::ops::Range<usize>,
        direction: Direction,
        open: &[Open],
    ) -> Vec<Candidate> {
        let mut found = Vec::new();
        for (index, one) in open.iter().enumerate().filter(|(_, one)| !one.is_ended) {
            let Some(up) = one.sights.last().and_then(|last| cluster.get(*last)) else { continue };
            for frame in frames.clone() {
                let Some(down) = cluster.get(frame) else { continue };
                let Some(band) = self.plan.band(direction, up.point, down.point) else { continue };
                let residual_ns = down.aligned_ns - up.aligned_ns;
                if band.admits(residual_ns) {
                    found.push(Candidate {
                        open: index,
                        frame,
                        weight: (1.0 - band.lost_frac) * band.density_at(residual_ns),
                        lost: band.lost_frac,
                        phantom: band.phantom_frac,
                    });
                }
            }
        }
        found
    }
}

fn mark(flags: &mut [bool], index: Option<usize>) {
    if let Some(flag) = index.and_then(|index| flags.get_mut(index)) {
        *flag = true;
    }
}

fn two_apart(two: &[(u16, i64)]) -> u64 {
    match two {
        [(_, a), (_, b)] => b.abs_diff(*a),
        _ => 0,
    }
}

fn points_are_distinct(sights: &[Sight]) -> bool {
    match sights {
        [] | [_] => true,
        [a, b] => a.point != b.point,
        _ if sights.len() <= 64 => {
            let mut seen = 0_u128;
            let mut is_distinct = true;
            for sight in sights {
                let bit = 1_u128 << (sight.point % 128);
                is_distinct &= seen & bit == 0;
                seen |= bit;
            }
            is_distinct || sights.iter().any(|one| one.point >= 128) && distinct_by_sorting(sights)
        }
        _ => distinct_by_sorting(sights),
    }
}

fn distinct_by_sorting(sights: &[Sight]) -> bool {
    let mut points: Vec<u16> = sights.iter().map(|sight| sight.point).collect();
    points.sort_unstable();
    points.windows(2).all(|two| matches!(two, [a, b] if a != b))
}
