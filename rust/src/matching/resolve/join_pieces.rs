//! What the bands left over of identical packets: pieces of trajectories, joined where a packet that
//! was unusually fast or slow explains them better than a loss and a packet from nowhere do.

use crate::matching::observation::Observation;
use crate::matching::resolve::density::{copied_frac, goes_on};
use crate::matching::resolve::piece::Piece;
use crate::matching::resolve::posterior::{Candidate, LEAST_LOST, LEAST_PHANTOM, likely_pairs};
use crate::plan::{Direction, Plan, per_us};
use std::collections::BTreeMap;
use std::ops::Bound;

/// Share of packets that take much longer or shorter than the band allows, if none was seen to.
const LEAST_FAR: f64 = 1e-4;

/// An end that so many starts may continue abstains, however many more there are.
const ENOUGH: usize = 16;

/// Joins the pieces of one identity within the window, and marks those that might be joined.
pub(crate) fn join_leftovers(
    plan: &Plan,
    direction: Direction,
    rate: f64,
    mut pieces: Vec<Piece>,
) -> Vec<Piece> {
    // a posterior takes frames in order of time
    pieces.sort_by_key(|piece| piece.observations.first().map(|first| first.aligned_ns));
    let verdict = likely_pairs(&candidates(plan, direction, rate, &pieces));
    for (index, likely) in verdict.likely {
        let tail = pieces.get_mut(index);
        if let Some(first) = tail.and_then(|piece| piece.observations.first_mut()) {
            first.evidence.likely(likely);
        }
    }
    for (index, _) in verdict.doubtful_open {
        if let Some(piece) = pieces.get_mut(index) {
            piece.has_doubtful_end = true;
        }
    }
    for (index, _) in verdict.doubtful_frames {
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
            .and_then(|piece| piece.observations.first().copied())
    };
    pairs.sort_by_key(|(_, second)| {
        start_of(*second).map(|observation| std::cmp::Reverse(observation.aligned_ns))
    });
    for (first, second) in pairs {
        let Some(tail) = pieces
            .get_mut(second)
            .map(|piece| std::mem::replace(piece, Piece::new(Vec::new())))
        else {
            continue;
        };
        if let Some(head) = pieces.get_mut(first) {
            head.observations.extend(tail.observations);
            head.has_doubtful_end = tail.has_doubtful_end;
        }
    }
    pieces.retain(|piece| !piece.observations.is_empty());
    pieces
}

/// Every end that some later start may continue, within the window.
fn candidates(plan: &Plan, direction: Direction, rate: f64, pieces: &[Piece]) -> Vec<Candidate> {
    let starts = starts(plan, direction, pieces);
    let mut skipped = SkippedPoints::of((plan, direction), pieces);
    let mut found = Vec::new();
    for (open, piece) in pieces.iter().enumerate() {
        let end = piece
            .observations
            .last()
            .filter(|_| !piece.has_doubtful_end);
        let Some(last) = end else { continue };
        let beyond = nearest_beyond(plan, direction, last, &starts);
        let goes_nowhere = match piece.observations.as_slice() {
            [alone] => copied_frac(plan, alone, piece.copied),
            _ => 0.0,
        };
        found.extend(beyond.into_iter().filter_map(|(head, frame)| {
            let copied = pieces.get(frame).map_or(0.0, |piece| piece.copied);
            let one = candidate(plan, direction, rate, (open, last), (frame, head))?;
            let goes_on = skipped.goes_on((last.point, head.point));
            Some(Candidate {
                weight: one.weight * goes_on,
                lost: one.lost.max(goes_nowhere).max(1.0 - goes_on),
                phantom: one.phantom + copied,
                ..one
            })
        }));
    }
    put_in_order(pieces, &mut found);
    found
}

/// How likely a packet went on that points between did not see.
struct SkippedPoints<'a> {
    plan: &'a Plan,
    direction: Direction,
    /// Those that saw packets of its identity.
    passed: Vec<u16>,
    known: BTreeMap<(u16, u16), f64>,
}

impl<'a> SkippedPoints<'a> {
    fn of((plan, direction): (&'a Plan, Direction), pieces: &[Piece]) -> Self {
        let seen = pieces.iter().flat_map(|piece| &piece.observations);
        let mut passed: Vec<u16> = seen.map(|one| one.point).collect();
        passed.sort_unstable_by_key(|point| (plan.place(direction, *point), *point));
        passed.dedup();
        Self {
            plan,
            direction,
            passed,
            known: BTreeMap::new(),
        }
    }

    fn goes_on(&mut self, ends: (u16, u16)) -> f64 {
        let known = self.known.entry(ends);
        *known.or_insert_with(|| goes_on(self.plan, self.direction, &self.passed, ends))
    }
}

/// The earliest starts within the window, at points beyond that of an end.
fn nearest_beyond<'a>(
    plan: &Plan,
    direction: Direction,
    last: &Observation,
    starts: &BTreeMap<i64, Vec<(&'a Observation, usize)>>,
) -> Vec<(&'a Observation, usize)> {
    let earliest_ns = last.aligned_ns.saturating_sub(plan.early_ns());
    let latest_ns = last.aligned_ns.saturating_add(plan.wide_ns);
    let beyond = (
        Bound::Excluded(plan.place(direction, last.point)),
        Bound::Unbounded,
    );
    let mut near: Vec<(&Observation, usize)> = Vec::new();
    for here in starts.range(beyond).map(|(_, here)| here) {
        let from = here.partition_point(|(head, _)| head.aligned_ns < earliest_ns);
        let rest = here.iter().skip(from).take(ENOUGH);
        near.extend(rest.take_while(|(head, _)| head.aligned_ns <= latest_ns));
    }
    near.sort_unstable_by_key(|(head, index)| (head.aligned_ns, *index));
    near.truncate(ENOUGH);
    near
}

/// Orders are known of what was seen last at one point: the one where most were.
fn put_in_order(pieces: &[Piece], found: &mut [Candidate]) {
    let ended_at = |one: &Candidate| Some(pieces.get(one.open)?.observations.last()?.point);
    let mut points: Vec<u16> = found.iter().filter_map(ended_at).collect();
    points.sort_unstable();
    let most = points.chunk_by(|a, b| a == b).max_by_key(|same| same.len());
    let most = most.and_then(|same| same.first().copied());
    for one in found {
        one.is_ordered = ended_at(one) == most;
    }
}

/// By place along the way, the first observations of pieces that may continue another, in order of time,
/// with their pieces.
fn starts<'a>(
    plan: &Plan,
    direction: Direction,
    pieces: &'a [Piece],
) -> BTreeMap<i64, Vec<(&'a Observation, usize)>> {
    let place = |observation: &Observation| plan.place(direction, observation.point);
    let heads = pieces.iter().enumerate();
    let heads = heads.filter_map(|(index, piece)| Some((piece.observations.first()?, index)));
    let heads: Vec<(&Observation, usize)> = heads.collect();
    let least = heads.iter().map(|(head, _)| place(head)).min();
    let is_doubtful = |index: usize| {
        pieces
            .get(index)
            .is_some_and(|piece| piece.has_doubtful_start)
    };
    let mut starts: BTreeMap<i64, Vec<(&Observation, usize)>> = BTreeMap::new();
    let may_continue =
        |(head, index): &(&Observation, usize)| Some(place(head)) > least && !is_doubtful(*index);
    for (head, index) in heads.into_iter().filter(may_continue) {
        starts.entry(place(head)).or_default().push((head, index));
    }
    for here in starts.values_mut() {
        here.sort_unstable_by_key(|(head, index)| (head.aligned_ns, *index));
    }
    starts
}

fn candidate(
    plan: &Plan,
    direction: Direction,
    rate: f64,
    (open, last): (usize, &Observation),
    (frame, first): (usize, &Observation),
) -> Option<Candidate> {
    let band = plan.band(direction, last.point, first.point)?;
    let far_frac = band.far_frac.max(LEAST_FAR);
    // where packets are later than the window is wide, these may be two of them
    let phantom_frac = plan.phantom_frac(direction, first.point) + plan.beyond_frac;
    Some(Candidate {
        open,
        frame,
        weight: (1.0 - band.lost_frac) * far_frac * per_us(plan.wide_ns.saturating_mul(2)),
        lost: (band.lost_frac + plan.beyond_frac).max(LEAST_LOST),
        phantom: phantom_frac.max(LEAST_PHANTOM) * rate,
        overtaken: band.overtaken(),
        sent_ns: last.aligned_ns,
        is_ordered: false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matching::testing::{observation, path};

    /// Two in a window, per µs.
    const RATE: f64 = 0.01;

    fn joined(plan: &Plan, pieces: &[&[(u16, i64)]]) -> Vec<(Vec<u16>, bool)> {
        let piece = |seen: &&[(u16, i64)]| {
            Piece::new(
                seen.iter()
                    .map(|(point, at_ns)| observation(1, *point, *at_ns))
                    .collect(),
            )
        };
        let pieces = pieces.iter().map(piece).collect();
        let mut all: Vec<(Vec<u16>, bool)> = join_leftovers(plan, Direction::Forward, RATE, pieces)
            .into_iter()
            .map(|piece| {
                (
                    piece.observations.iter().map(|one| one.point).collect(),
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
    fn where_packets_are_later_than_the_window_two_in_it_may_be_late_ones() {
        let mut plan = path(2);
        plan.usual_ns = 1_000;
        let at = |plan: &Plan, up_ns, down_ns| joined(plan, &[&[(0, up_ns)], &[(1, down_ns)]]);
        let one = [(vec![0, 1], false)];
        assert_eq!(
            [at(&plan, 0, 9_000), at(&plan, 9_000, 0)],
            [one.clone(), one]
        );
        plan.beyond_frac = 2e-4;
        assert_eq!(at(&plan, 0, 9_000), [(vec![0], true), (vec![1], false)]);
        // what is early is not even in doubt
        assert_eq!(at(&plan, 9_000, 0), [(vec![0], false), (vec![1], false)]);
    }

    #[test]
    fn what_a_point_between_would_have_seen_is_no_packet() {
        let seen = [(0, 60_000), (1, 60_001), (2, 60_002)];
        let across = |plan: &Plan| joined(plan, &[&[(0, 0)], &[(2, 9_000)], &seen]);
        let mut plan = path(3);
        for band in plan.bands.iter_mut().flatten() {
            band.lost_frac = 1e-3;
        }
        // of so few in the window it is at most in doubt
        let two = [(vec![0], true), (vec![0, 1, 2], false), (vec![2], false)];
        assert_eq!(across(&plan), two);
        // nobody knows whether a point captured that saw none of its identity
        let unseen = joined(&plan, &[&[(0, 0)], &[(2, 9_000)]]);
        assert_eq!(unseen, [(vec![0, 2], false)]);
    }

    #[test]
    fn a_copy_may_be_of_a_packet_that_is_there() {
        let pieces = |copied| {
            let alone = |point, at_ns| Piece::new(vec![observation(1, point, at_ns)]);
            let late = Piece {
                copied,
                ..alone(1, 9000)
            };
            vec![alone(0, 0), late]
        };
        let n_left = |copied| {
            let pieces = pieces(copied);
            join_leftovers(&path(2), Direction::Forward, RATE, pieces).len()
        };
        assert_eq!((n_left(0.0), n_left(0.5)), (1, 2));
    }

    #[test]
    fn what_nothing_can_continue_is_lost() {
        let found = joined(&path(2), &[&[(0, 0)], &[(1, 200_000)]]);
        assert_eq!(found, [(vec![0], false), (vec![1], false)]);
    }
}
