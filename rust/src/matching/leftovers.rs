//! What the bands left over of identical packets: pieces of trajectories, joined where a packet that
//! was unusually fast or slow explains them better than a loss and a packet from nowhere do.

use super::Sight;
use super::copies::Folded;
use super::posterior::{Candidate, probable_pairs};
use super::resolve::Sink;
use crate::plan::{Direction, Plan};

/// Share of packets that take longer or shorter than the survey's band (docs/stages/match.md).
const OUTSIDE_FRAC: f64 = 0.01;

/// An end that so many starts may continue abstains, however many more there are.
const ENOUGH: usize = 64;

/// A trajectory, or a part of one.
#[derive(Clone, Debug)]
pub(super) struct Piece {
    /// From the sender's side on.
    pub(super) sights: Vec<Sight>,
    /// Its first sight may continue more than one other piece.
    pub(super) has_doubtful_start: bool,
    /// Its last sight may be continued by more than one other.
    pub(super) has_doubtful_end: bool,
}

impl Piece {
    pub(super) fn new(sights: Vec<Sight>) -> Self {
        Self {
            sights,
            has_doubtful_start: false,
            has_doubtful_end: false,
        }
    }

    /// Says what became of the packet.
    pub(super) fn hand_to(&self, sink: &mut dyn Sink, direction: Direction, folded: &Folded) {
        match self.sights.as_slice() {
            [alone] if self.has_doubtful_start || self.has_doubtful_end => {
                sink.ambiguous(alone, direction, folded);
            }
            sights if self.has_doubtful_end => sink.unfinished(sights, direction, folded),
            sights => sink.trajectory(sights, direction, folded),
        }
    }
}

/// Joins the pieces of one identity within the window, and marks those that might be joined.
pub(super) fn join_leftovers(
    plan: &Plan,
    direction: Direction,
    mut pieces: Vec<Piece>,
) -> Vec<Piece> {
    let verdict = probable_pairs(&candidates(plan, direction, &pieces));
    for index in verdict.doubtful_open {
        if let Some(piece) = pieces.get_mut(index) {
            piece.has_doubtful_end = true;
        }
    }
    for index in verdict.doubtful_frames {
        if let Some(piece) = pieces.get_mut(index) {
            piece.has_doubtful_start = true;
        }
    }
    join(pieces, verdict.pairs)
}

/// Appends each second piece to its first; a piece may stand between two others.
fn join(mut pieces: Vec<Piece>, mut pairs: Vec<(usize, usize)>) -> Vec<Piece> {
    // from the receiver's side on: what is appended is complete then
    let start_of = |index: usize| {
        pieces
            .get(index)
            .and_then(|piece| piece.sights.first().copied())
    };
    pairs.sort_by_key(|(_, second)| {
        start_of(*second).map(|sight| std::cmp::Reverse(sight.aligned_ns))
    });
    for (first, second) in pairs {
        let Some(tail) = pieces
            .get_mut(second)
            .map(|piece| std::mem::replace(piece, Piece::new(Vec::new())))
        else {
            continue;
        };
        if let Some(head) = pieces.get_mut(first) {
            head.sights.extend(tail.sights);
            head.has_doubtful_end = tail.has_doubtful_end;
        }
    }
    pieces.retain(|piece| !piece.sights.is_empty());
    pieces
}

/// Every end that some later start may continue, within the window.
fn candidates(plan: &Plan, direction: Direction, pieces: &[Piece]) -> Vec<Candidate> {
    let starts = starts(plan, direction, pieces);
    let mut found = Vec::new();
    for (open, piece) in pieces.iter().enumerate() {
        let end = piece.sights.last().filter(|_| !piece.has_doubtful_end);
        let Some(last) = end else { continue };
        let earliest_ns = last.aligned_ns.saturating_sub(plan.wide_ns);
        let latest_ns = last.aligned_ns.saturating_add(plan.wide_ns);
        let from = starts.partition_point(|(head, _)| head.aligned_ns < earliest_ns);
        let near = starts.get(from..).unwrap_or(&[]).iter();
        let near = near.take_while(|(head, _)| head.aligned_ns <= latest_ns);
        let place = |sight: &Sight| plan.place(direction, sight.point);
        let beyond = near
            .filter(|(head, _)| place(head) > place(last))
            .take(ENOUGH);
        found.extend(
            beyond.filter_map(|(head, frame)| {
                candidate(plan, direction, (open, last), (*frame, head))
            }),
        );
    }
    found
}

/// The first sights of pieces that may continue another, in order of time, with their pieces.
fn starts<'a>(plan: &Plan, direction: Direction, pieces: &'a [Piece]) -> Vec<(&'a Sight, usize)> {
    let place = |sight: &Sight| plan.place(direction, sight.point);
    let heads = pieces.iter().enumerate();
    let heads = heads.filter_map(|(index, piece)| Some((piece.sights.first()?, index)));
    let heads: Vec<(&Sight, usize)> = heads.collect();
    let least = heads.iter().map(|(head, _)| place(head)).min();
    let is_doubtful = |index: usize| {
        pieces
            .get(index)
            .is_some_and(|piece| piece.has_doubtful_start)
    };
    let mut starts: Vec<(&Sight, usize)> = heads
        .into_iter()
        .filter(|(head, index)| Some(place(head)) > least && !is_doubtful(*index))
        .collect();
    starts.sort_unstable_by_key(|(head, index)| (head.aligned_ns, *index));
    starts
}

#[expect(
    clippy::cast_precision_loss,
    reason = "a density of widths needs few digits"
)]
fn candidate(
    plan: &Plan,
    direction: Direction,
    (open, last): (usize, &Sight),
    (frame, first): (usize, &Sight),
) -> Option<Candidate> {
    let band = plan.band(direction, last.point, first.point)?;
    let width_ns = band.hi_ns.saturating_sub(band.lo_ns).max(1) as f64;
    let density = OUTSIDE_FRAC * width_ns / (2.0 * plan.wide_ns.max(1) as f64);
    Some(Candidate {
        open,
        frame,
        weight: (1.0 - band.lost_frac) * density.min(1.0),
        lost: band.lost_frac,
        phantom: band.phantom_frac,
    })
}

#[cfg(test)]
mod tests {
    use super::super::testing::{path, sight};
    use super::*;

    fn joined(plan: &Plan, pieces: &[&[(u16, i64)]]) -> Vec<(Vec<u16>, bool)> {
        let piece = |seen: &&[(u16, i64)]| {
            Piece::new(
                seen.iter()
                    .map(|(point, at_ns)| sight(1, *point, *at_ns))
                    .collect(),
            )
        };
        let pieces = pieces.iter().map(piece).collect();
        let mut all: Vec<(Vec<u16>, bool)> = join_leftovers(plan, Direction::Forward, pieces)
            .into_iter()
            .map(|piece| {
                (
                    piece.sights.iter().map(|one| one.point).collect(),
                    piece.has_doubtful_end,
                )
            })
            .collect();
        all.sort();
        all
    }

    #[test]
    fn a_slow_packet_is_found_again() {
        let found = joined(
            &path(4),
            &[
                &[(0, 0), (1, 5)],
                &[(2, 9000), (3, 9005)],
                &[(0, 60_000), (1, 60_001), (2, 60_002), (3, 60_003)],
            ],
        );
        assert_eq!(
            found,
            [(vec![0, 1, 2, 3], false), (vec![0, 1, 2, 3], false)]
        );
    }

    #[test]
    fn a_packet_may_be_slow_twice() {
        let found = joined(&path(3), &[&[(0, 0)], &[(1, 5000)], &[(2, 9000)]]);
        assert_eq!(found, [(vec![0, 1, 2], false)]);
    }

    #[test]
    fn two_that_may_be_either_are_neither() {
        let found = joined(
            &path(2),
            &[&[(0, 0)], &[(0, 100)], &[(1, 9000)], &[(1, 9100)]],
        );
        assert_eq!(
            found,
            [
                (vec![0], true),
                (vec![0], true),
                (vec![1], false),
                (vec![1], false)
            ]
        );
    }

    #[test]
    fn where_points_miss_packets_a_coincidence_is_no_packet() {
        let mut plan = path(2);
        for band in plan.bands.iter_mut().flatten() {
            (band.lost_frac, band.phantom_frac) = (0.2, 0.2);
        }
        assert_eq!(
            joined(&plan, &[&[(0, 0)], &[(1, 9000)]]),
            [(vec![0], true), (vec![1], false)]
        );
    }

    #[test]
    fn what_nothing_can_continue_is_lost() {
        let found = joined(&path(2), &[&[(0, 0)], &[(1, 200_000)]]);
        assert_eq!(found, [(vec![0], false), (vec![1], false)]);
    }
}
