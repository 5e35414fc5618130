//! Points whose mirror copies nearly all packets, as one of both directions of all ports does: what such a
//! point saw once is the first observation or the second, and its capture missed the other.
//!
//! Or both are packets, which equal each other, and one of them was lost on the way to it.

use crate::matching::observation::Observation;
use crate::matching::resolve::Resolver;
use crate::matching::resolve::copies::{Folded, NEARLY_ALL};
use crate::matching::resolve::density::points_are_distinct;
use crate::matching::resolve::piece::{Piece, Sink};
use crate::plan::{Copies, Direction};

/// Whether a point sees nearly everything twice.
pub(crate) fn sees_twice(copies: &Copies) -> bool {
    copies.copied_frac >= NEARLY_ALL
}

impl Resolver {
    /// The second observations of a packet instead of the first, with what they are copies of, where more of
    /// those lie as one packet does: one of its points saw the second only.
    pub(in crate::matching::resolve) fn seconds_seen(
        &self,
        direction: Direction,
        kept: &[Observation],
        folded: &Folded,
    ) -> Option<(Vec<Observation>, Folded)> {
        let is_asked = !folded.is_empty()
            && points_are_distinct(kept)
            && kept.iter().any(|one| self.is_one_of_two(one, folded));
        let n_unusual = |kept: &[Observation]| self.n_unusual(direction, kept);
        let seconds = is_asked.then(|| folded.seconds_of(kept));
        seconds.filter(|(seconds, _)| {
            let (_, rest) = self.seconds_alone(direction, kept, folded);
            n_unusual(seconds) < n_unusual(kept) && n_unusual(seconds) <= n_unusual(&rest)
        })
    }

    /// Parts of a packet with second observations of which the first is missing: when the packet was there is
    /// not known. Each is apart from the rest, and whether it belongs to it is open.
    pub(in crate::matching::resolve) fn without_seconds(
        &self,
        direction: Direction,
        kept: &[Observation],
    ) -> Option<Vec<Piece>> {
        if !self.is_doubled || self.n_unusual(direction, kept) == 0 {
            return None;
        }
        let (seconds, rest) = self.seconds_alone(direction, kept, &self.folded);
        if seconds.is_empty() {
            return None;
        }
        let place = |one: &Observation| self.plan.place(direction, one.point);
        let is_before = |one: &Observation, other: &Observation| place(one) < place(other);
        let (first, last) = (rest.first()?, rest.last()?);
        let whole = Piece {
            has_doubtful_start: seconds.iter().any(|one| is_before(one, first)),
            has_doubtful_end: seconds.iter().any(|one| is_before(last, one)),
            ..Piece::new(rest.clone())
        };
        let apart = seconds.iter().map(|one| Piece {
            has_doubtful_start: true,
            has_doubtful_end: true,
            ..Piece::new(vec![*one])
        });
        Some(std::iter::once(whole).chain(apart).collect())
    }

    /// Of one packet's observations those that lie as second ones do of which the first is missing; and the
    /// others, along the way.
    fn seconds_alone(
        &self,
        direction: Direction,
        kept: &[Observation],
        folded: &Folded,
    ) -> (Vec<Observation>, Vec<Observation>) {
        let along = self.along(direction, kept);
        let is_second = |one: &Observation| {
            let mut others = along.iter().filter(|other| other.point != one.point);
            self.is_one_of_two(one, folded)
                && others.any(|other| self.lies_as_second(direction, one, other))
        };
        along.iter().partition(|one| is_second(one))
    }

    /// Of two observations one is missing at the next such point: if they were two packets that equal each
    /// other, one may be lost.
    pub(in crate::matching::resolve) fn note_one_of_two(
        &self,
        kept: &[Observation],
        direction: Direction,
        sink: &mut dyn Sink,
    ) {
        if self.folded.is_empty() || !points_are_distinct(kept) {
            return;
        }
        let is_at_entry = |one: &Observation| Some(one.point) == self.plan.entry(direction);
        let has_entered = kept.iter().any(is_at_entry);
        for two in self.along(direction, kept).windows(2) {
            if let [up, down] = two
                && self.folded.copies_of(up).next().is_some()
                && self.is_one_of_two(down, &self.folded)
            {
                sink.lost_untold(&[*up], direction, (has_entered, false));
            }
        }
    }

    /// Whether a point that sees nearly everything twice saw it once.
    fn is_one_of_two(&self, one: &Observation, folded: &Folded) -> bool {
        sees_twice(&self.plan.copies_at(one.point)) && folded.copies_of(one).next().is_none()
    }

    /// Whether an observation does not lie as one of the same packet as another does, but a gap of copies
    /// earlier it would.
    fn lies_as_second(&self, direction: Direction, one: &Observation, other: &Observation) -> bool {
        let copies = self.plan.copies_at(one.point);
        let is_down =
            self.plan.place(direction, other.point) < self.plan.place(direction, one.point);
        let (up, down) = if is_down { (other, one) } else { (one, other) };
        let Some(band) = self.plan.band(direction, up.point, down.point) else {
            return false;
        };
        let residual_ns = down.aligned_ns.saturating_sub(up.aligned_ns);
        let as_first_ns = |gap_ns: i64| {
            let earlier_ns = if is_down { -gap_ns } else { gap_ns };
            residual_ns.saturating_add(earlier_ns)
        };
        let gaps_ns = [
            copies.lo_ns,
            copies.lo_ns.midpoint(copies.hi_ns),
            copies.hi_ns,
        ];
        let mut as_first = gaps_ns.into_iter().map(as_first_ns);
        !band.is_frequent(residual_ns) && as_first.any(|ns| band.is_frequent(ns))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matching::testing::{Taken, observation, path};
    use crate::plan::Plan;
    use std::sync::Arc;

    const GAP_NS: i64 = 20_000;

    /// What is made of observations where all points but some see everything twice: points and times of
    /// trajectories, what is ambiguous, and how many copies there are.
    type Made = (Vec<Vec<(u16, i64)>>, Vec<(u16, i64)>, usize);

    fn made(single: &[usize], seen: &[(u16, i64)]) -> Made {
        let twice = Copies {
            copied_frac: 1.0,
            lo_ns: GAP_NS - 100,
            hi_ns: GAP_NS + 100,
        };
        let copies_at = |point: usize| {
            if single.contains(&point) {
                Copies::default()
            } else {
                twice
            }
        };
        let mut plan = Plan {
            copies: (0..3).map(copies_at).collect(),
            ..path(3)
        };
        plan.toward_is_forward.insert(0, true);
        let observations = seen.iter().map(|(point, ns)| observation(1, *point, *ns));
        let mut observations: Vec<Observation> = observations.collect();
        let mut taken = Taken::default();
        Resolver::new(Arc::new(plan), 1_000).resolve(&mut observations, &mut taken);
        let at = |one: &Observation| (one.point, one.aligned_ns);
        let of = |all: &Vec<Observation>| all.iter().map(at).collect();
        (
            taken.trajectories.iter().map(of).collect(),
            taken.ambiguous.iter().map(at).collect(),
            taken.copies.len(),
        )
    }

    #[test]
    fn what_all_points_see_twice_is_one_packet_and_its_copies() {
        let seen = [0, 1, 2].map(|point| [(point, 0), (point, GAP_NS)]);
        let first = vec![(0, 0), (1, 0), (2, 0)];
        assert_eq!(made(&[], seen.as_flattened()), (vec![first], vec![], 3));
    }

    #[test]
    fn where_a_point_saw_the_second_alone_the_others_second_counts() {
        let seen = [(0, 0), (0, GAP_NS), (1, GAP_NS), (2, 0), (2, GAP_NS)];
        let second = vec![(0, GAP_NS), (1, GAP_NS), (2, GAP_NS)];
        assert_eq!(made(&[], &seen), (vec![second], vec![], 2));
    }

    #[test]
    fn where_others_see_once_the_second_alone_has_no_time() {
        let between = [(0, 0), (1, GAP_NS), (2, 0)];
        let around = vec![(0, 0), (2, 0)];
        assert_eq!(
            made(&[0, 2], &between),
            (vec![around], vec![(1, GAP_NS)], 0)
        );
        // before and behind
        for place in [0, 2] {
            let seen = [(place, GAP_NS), (1, 0)];
            let (found, ambiguous, _) = made(&[1], &seen);
            assert!(found.is_empty());
            assert_eq!(ambiguous.len(), 2);
        }
    }

    #[test]
    fn what_was_slow_and_came_twice_is_slow() {
        let seen = [(0, 0), (0, GAP_NS), (1, GAP_NS), (1, 2 * GAP_NS)];
        let slow = vec![(0, 0), (1, GAP_NS)];
        assert_eq!(made(&[], &seen), (vec![slow], vec![], 2));
    }
}
