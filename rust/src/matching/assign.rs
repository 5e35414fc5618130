//! Identical packets: walks the points, extending what can be told (posterior.rs).

use super::Sight;
use super::leftovers::Piece;
use super::posterior::{Candidate, likely_pairs};
use crate::plan::{Band, Direction, Plan};
use std::ops::Range;

/// An unfinished trajectory: indices of its sights.
struct Open {
    sights: Vec<usize>,
    is_ended: bool,
}

/// Sights of one identity that are close together, several of them at one point.
pub(super) struct Cluster<'a> {
    plan: &'a Plan,
    direction: Direction,
    /// In order of place and time.
    sights: &'a [Sight],
    open: Vec<Open>,
    is_doubtful: Vec<bool>,
}

impl<'a> Cluster<'a> {
    pub(super) fn new(plan: &'a Plan, direction: Direction, sights: &'a mut [Sight]) -> Self {
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
            sights,
            open: Vec::new(),
            is_doubtful,
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
        let is_doubtful = |index: Option<&usize>| {
            index.is_some_and(|index| self.is_doubtful.get(*index) == Some(&true))
        };
        to.extend(self.open.iter().map(|one| {
            Piece {
                sights: one
                    .sights
                    .iter()
                    .filter_map(|index| self.sights.get(*index).copied())
                    .collect(),
                has_doubtful_start: is_doubtful(one.sights.first()),
                has_doubtful_end: one.is_ended,
            }
        }));
    }

    /// Offers the frames of one point to the open trajectories.
    fn extend(&mut self, frames: Range<usize>) {
        let verdict = likely_pairs(&self.candidates(&frames));
        let mut is_taken = vec![false; frames.len()];
        for (one, frame) in verdict.pairs {
            if let Some(one) = self.open.get_mut(one) {
                one.sights.push(frame);
                mark(&mut is_taken, frame - frames.start);
            }
        }
        for one in verdict.doubtful_open {
            let Some(one) = self.open.get_mut(one) else {
                continue;
            };
            one.is_ended = true;
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
            });
        }
    }

    fn candidates(&self, frames: &Range<usize>) -> Vec<Candidate> {
        let here = self.sights.get(frames.clone()).unwrap_or(&[]);
        let Some(point) = here.first().map(|sight| sight.point) else {
            return Vec::new();
        };
        let mut found = Vec::new();
        for (open, one) in self
            .open
            .iter()
            .enumerate()
            .filter(|(_, one)| !one.is_ended)
        {
            let Some(up) = one.sights.last().and_then(|last| self.sights.get(*last)) else {
                continue;
            };
            let Some(band) = self.plan.band(self.direction, up.point, point) else {
                continue;
            };
            let residual_ns = |down: &Sight| down.aligned_ns.saturating_sub(up.aligned_ns);
            let start = here.partition_point(|down| residual_ns(down) < band.lo_ns);
            let rest = here
                .get(start..)
                .unwrap_or(&[])
                .iter()
                .zip(frames.start + start..);
            let admitted = rest.take_while(|(down, _)| residual_ns(down) <= band.hi_ns);
            found.extend(
                admitted.map(|(down, frame)| candidate(band, open, frame, residual_ns(down))),
            );
        }
        found
    }
}

fn candidate(band: &Band, open: usize, frame: usize, residual_ns: i64) -> Candidate {
    Candidate {
        open,
        frame,
        weight: (1.0 - band.lost_frac) * band.density_at(residual_ns),
        lost: band.lost_frac,
        phantom: band.phantom_frac,
    }
}

fn mark(flags: &mut [bool], index: usize) {
    if let Some(flag) = flags.get_mut(index) {
        *flag = true;
    }
}

#[cfg(test)]
mod tests {
    use super::super::copies::Folded;
    use super::super::testing::{Taken, path, sight};
    use super::*;

    fn assign(plan: &Plan, mut sights: Vec<Sight>) -> Taken {
        let (mut taken, mut pieces) = (Taken::default(), Vec::new());
        Cluster::new(plan, Direction::Forward, &mut sights).assign(&mut pieces);
        for piece in pieces {
            piece.hand_to(&mut taken, Direction::Forward, &Folded::default());
        }
        taken
    }

    #[test]
    fn identical_packets_apart_are_told_by_their_bands() {
        let plan = path(3);
        let sights = (0..10)
            .flat_map(|i| (0..3).map(move |point| sight(1, point, i * 700 + i64::from(point))));
        let taken = assign(&plan, sights.collect());
        assert_eq!(taken.trajectories.len(), 10);
        let is_one = |packet: &Vec<Sight>| {
            packet.len() == 3 && packet[2].aligned_ns - packet[0].aligned_ns == 2
        };
        assert!(taken.trajectories.iter().all(is_one));
    }

    #[test]
    fn a_point_that_missed_a_packet_is_skipped() {
        let plan = path(3);
        let taken = assign(
            &plan,
            vec![
                sight(1, 0, 0),
                sight(1, 0, 5000),
                sight(1, 2, 9),
                sight(1, 1, 5003),
            ],
        );
        let mut points: Vec<Vec<u16>> = taken
            .trajectories
            .iter()
            .map(|packet| packet.iter().map(|one| one.point).collect())
            .collect();
        points.sort();
        assert_eq!(points, [[0, 1], [0, 2]]);
    }

    #[test]
    fn heaps_are_ambiguous_and_stay_quick() {
        let plan = path(2);
        let sights = (0..8000).map(|i| sight(1, u16::from(i % 2 == 1), i * 10));
        let start = std::time::Instant::now();
        let taken = assign(&plan, sights.collect());
        assert_eq!(taken.ambiguous.len(), 8000);
        assert!(start.elapsed().as_secs() < 5, "{:?}", start.elapsed());
    }
}
