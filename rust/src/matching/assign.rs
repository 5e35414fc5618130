//! Identical packets: walks the points, extending what can be told (posterior.rs).

use super::Sight;
use super::crowd::{Crowd, densities_of_copies, density};
use super::matchings::MOST_FRAMES;
use super::piece::Piece;
use super::posterior::{Candidate, LEAST_LOST, LEAST_PHANTOM, Verdict, likely_pairs};
use super::shift::{Seen, shifted};
use crate::plan::{Direction, Plan};
use std::ops::Range;

/// An unfinished trajectory: indices of its sights.
struct Open {
    sights: Vec<usize>,
    is_ended: bool,
    /// If it ended in doubt: how likely it went on, unknown in which frame.
    continued: f64,
}

/// Sights of one identity that are close together, several of them at one point.
pub(super) struct Cluster<'a> {
    plan: &'a Plan,
    direction: Direction,
    crowd: Crowd,
    /// In order of place and time.
    sights: &'a [Sight],
    open: Vec<Open>,
    is_doubtful: Vec<bool>,
    /// Sights that continue others, and how likely that is.
    likely: Vec<(usize, f64)>,
    /// Per sight, the density of copies there.
    copied: Vec<f64>,
}

impl<'a> Cluster<'a> {
    pub(super) fn new(
        plan: &'a Plan,
        direction: Direction,
        crowd: Crowd,
        sights: &'a mut [Sight],
    ) -> Self {
        sights.sort_unstable_by_key(|sight| {
            (
                plan.place(direction, sight.point),
                sight.aligned_ns,
                sight.frame,
            )
        });
        let is_doubtful = vec![false; sights.len()];
        Self {
            plan,
            direction,
            crowd,
            sights,
            open: Vec::new(),
            is_doubtful,
            likely: Vec::new(),
            copied: densities_of_copies(plan, sights),
        }
    }

    /// Makes pieces of trajectories of what the bands tell.
    pub(super) fn assign(mut self, to: &mut Vec<Piece>) {
        let mut start = 0;
        for at_point in self.sights.chunk_by(|a, b| a.point == b.point) {
            let frames = start..start + at_point.len();
            start = frames.end;
            self.extend(frames);
        }
        self.likely.sort_unstable_by_key(|(frame, _)| *frame);
        let is_doubtful = |index: Option<&usize>| {
            index.is_some_and(|index| self.is_doubtful.get(*index) == Some(&true))
        };
        to.extend(self.open.iter().map(|one| {
            Piece {
                sights: one
                    .sights
                    .iter()
                    .filter_map(|index| self.told(*index))
                    .collect(),
                has_doubtful_start: is_doubtful(one.sights.first()),
                has_doubtful_end: one.is_ended,
            }
        }));
    }

    /// Offers the frames of one point to the open trajectories.
    fn extend(&mut self, frames: Range<usize>) {
        let mut verdict = likely_pairs(&self.candidates(&frames));
        self.doubt_shifted(&frames, &mut verdict);
        self.likely.append(&mut verdict.likely);
        let mut is_taken = vec![false; frames.len()];
        for (one, frame) in verdict.pairs {
            match self.open.get_mut(one) {
                Some(one) if !one.is_ended => {
                    one.sights.push(frame);
                    mark(&mut is_taken, frame - frames.start);
                }
                _ => mark(&mut self.is_doubtful, frame),
            }
        }
        for (one, continued) in verdict.doubtful_open {
            let Some(one) = self.open.get_mut(one) else {
                continue;
            };
            one.is_ended = true;
            one.continued = one.continued.max(continued);
            one.sights
                .last()
                .iter()
                .for_each(|last| mark(&mut self.is_doubtful, **last));
        }
        verdict
            .doubtful_frames
            .into_iter()
            .for_each(|frame| mark(&mut self.is_doubtful, frame));
        for (frame, _) in frames.zip(is_taken).filter(|(_, is_taken)| !is_taken) {
            self.open.push(Open {
                sights: vec![frame],
                is_ended: false,
                continued: 0.0,
            });
        }
    }

    /// A sight with what it is matched by.
    fn told(&self, index: usize) -> Option<Sight> {
        let mut sight = *self.sights.get(index)?;
        let found = self
            .likely
            .binary_search_by_key(&index, |(frame, _)| *frame);
        if let Some((_, likely)) = found.ok().and_then(|at| self.likely.get(at)) {
            sight.evidence.likely(*likely);
        }
        Some(sight)
    }

    fn last_of(&self, open: usize) -> Option<(usize, &Sight)> {
        let last = *self.open.get(open)?.sights.last()?;
        Some((last, self.sights.get(last)?))
    }

    /// Takes back what packets that were all late together would explain as well.
    fn doubt_shifted(&self, frames: &Range<usize>, verdict: &mut Verdict) {
        let doubtful = shifted(self.seen(frames, &verdict.pairs), self.reach_ns(frames));
        let mut index = 0..;
        verdict.pairs.retain(|(open, frame)| {
            let is_doubtful = index
                .next()
                .is_some_and(|index| doubtful.binary_search(&index).is_ok());
            if is_doubtful {
                verdict.doubtful_open.push((*open, 1.0));
                verdict.doubtful_frames.push(*frame);
            }
            !is_doubtful
        });
    }

    /// What was made of each open trajectory and each frame of a point.
    fn seen(&self, frames: &Range<usize>, pairs: &[(usize, usize)]) -> Vec<Seen> {
        let at_ns = |frame: usize| self.sights.get(frame).map(|sight| sight.aligned_ns);
        let up_ns = |open: usize| self.last_of(open).map(|(_, sight)| sight.aligned_ns);
        let mut is_taken = vec![false; frames.len()];
        let mut is_left: Vec<bool> = self.open.iter().map(|one| !one.is_ended).collect();
        let mut seen = Vec::with_capacity(frames.len());
        for (index, (open, frame)) in pairs.iter().enumerate() {
            if let (Some(up_ns), Some(down_ns)) = (up_ns(*open), at_ns(*frame)) {
                seen.push(Seen::pair(index, up_ns, down_ns));
            }
            mark(&mut is_taken, frame - frames.start);
            is_left
                .iter_mut()
                .skip(*open)
                .take(1)
                .for_each(|flag| *flag = false);
        }
        let left = (0..).zip(is_left).filter(|(_, is_left)| *is_left);
        seen.extend(left.filter_map(|(open, _)| up_ns(open).map(Seen::lost)));
        let free = frames
            .clone()
            .zip(is_taken)
            .filter(|(_, is_taken)| !is_taken);
        seen.extend(free.filter_map(|(frame, _)| at_ns(frame).map(Seen::phantom)));
        seen
    }

    /// The farthest from its usual time that any packet is expected at a point.
    fn reach_ns(&self, frames: &Range<usize>) -> (i64, i64) {
        let point = self.sights.get(frames.start).map_or(0, |one| one.point);
        let before = self.sights.get(..frames.start).unwrap_or(&[]);
        let ups = before
            .chunk_by(|a, b| a.point == b.point)
            .filter_map(<[Sight]>::first);
        let bands = ups.filter_map(|up| self.plan.band(self.direction, up.point, point));
        bands.fold((0, 0), |(least, most), band| {
            (least.min(band.reach_ns.0), most.max(band.reach_ns.1))
        })
    }

    fn candidates(&self, frames: &Range<usize>) -> Vec<Candidate> {
        let here = self.sights.get(frames.clone()).unwrap_or(&[]);
        let Some(point) = here.first().map(|sight| sight.point) else {
            return Vec::new();
        };
        let phantom_frac = self.plan.phantom_frac(self.direction, point);
        let mut found = Vec::new();
        for (open, one) in self.open.iter().enumerate() {
            let Some((last, up)) = self.last_of(open) else {
                continue;
            };
            let Some(band) = self.plan.band(self.direction, up.point, point) else {
                continue;
            };
            let residual_ns = |down: &Sight| down.aligned_ns.saturating_sub(up.aligned_ns);
            let start = here.partition_point(|down| residual_ns(down) < band.lo_ns);
            let rest = here.get(start..).unwrap_or(&[]).iter().enumerate();
            let admitted = rest.take_while(|(_, down)| residual_ns(down) <= band.hi_ns);
            for (after, down) in admitted.take(MOST_FRAMES + 1) {
                let frame = frames.start + start + after;
                let phantom = phantom_frac.max(LEAST_PHANTOM) + band.outside_frac;
                found.push(Candidate {
                    open,
                    frame,
                    weight: density(band, residual_ns(down))
                        * (1.0 - one.continued).max(LEAST_LOST),
                    lost: (band.lost_frac.max(LEAST_LOST) + band.outside_frac)
                        .max(self.copied_frac(last))
                        .max(one.continued),
                    phantom: phantom * self.crowd.at(here, start + after)
                        + self.copied.get(frame).copied().unwrap_or(0.0),
                    overtaken: band.overtaken(),
                    sent_ns: up.aligned_ns,
                });
            }
        }
        found
    }

    /// How likely a sight is to be a copy, which goes nowhere.
    fn copied_frac(&self, sight: usize) -> f64 {
        let is_copy_like = self.copied.get(sight).is_some_and(|density| *density > 0.0);
        let point = self.sights.get(sight).map(|sight| sight.point);
        let copies = point.filter(|_| is_copy_like);
        copies.map_or(0.0, |point| self.plan.copies_at(point).copied_frac)
    }
}

fn mark(flags: &mut [bool], index: usize) {
    if let Some(flag) = flags.get_mut(index) {
        *flag = true;
    }
}

#[cfg(test)]
mod tests;
