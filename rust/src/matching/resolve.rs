//! From the sights of one identity to trajectories: what is one packet, what are copies of it, and
//! what cannot be told.

use super::Sight;
use super::assign::Cluster;
use super::copies::{Folded, Rules};
use super::crowd::{crowd_of, points_are_distinct};
use super::direction::Votes;
use super::leftovers::join_leftovers;
use super::piece::{Piece, Sink};
use super::recurrence::Recurrence;
use crate::plan::{Direction, Plan};
use std::sync::Arc;

/// Decides group after group.
pub(super) struct Resolver {
    plan: Arc<Plan>,
    votes: Votes,
    /// No band is wider: sights of one packet at neighbours are closer than this.
    gap_ns: i64,
    folded: Folded,
    recurrence: Recurrence,
}

impl Resolver {
    pub(super) fn new(plan: Arc<Plan>, gap_ns: i64) -> Self {
        Self {
            plan,
            votes: Votes::default(),
            gap_ns,
            folded: Folded::default(),
            recurrence: Recurrence::default(),
        }
    }

    /// Decides all sights of one identity.
    pub(super) fn resolve(&mut self, sights: &mut [Sight], sink: &mut dyn Sink) {
        let Some(direction) = self.votes.direction(&self.plan, sights) else {
            self.folded.clear();
            return sights
                .iter()
                .for_each(|one| sink.ambiguous(one, Direction::Forward, &self.folded));
        };
        if direction == Direction::Reverse {
            for sight in sights.iter_mut() {
                sight.aligned_ns = self.plan.aligned_ns(direction, sight.point, sight.t_ns);
            }
        }
        let plan = Arc::clone(&self.plan);
        let component = |sight: &Sight| plan.component.get(usize::from(sight.point)).copied();
        sights.sort_unstable_by_key(|sight| (component(sight), sight.aligned_ns, sight.frame));
        let is_near = |a: &Sight, b: &Sight| {
            component(a) == component(b) && later_ns(a, b) <= plan.horizon_ns
        };
        for run in sights.chunk_by_mut(is_near) {
            self.resolve_run(run, direction, sink);
        }
    }

    fn resolve_run(&mut self, run: &mut [Sight], direction: Direction, sink: &mut dyn Sink) {
        self.folded.clear();
        let flow = run.first().map_or(0, |sight| sight.flow);
        // of a flow whose packets are equal, one sight a point may still be of two packets
        let recurring = self.recurrence.rate_of(flow);
        let is_alone = points_are_distinct(run);
        if is_alone && recurring.is_none() {
            return self.join(run, direction, sink);
        }
        let mut kept = if is_alone {
            run.to_vec()
        } else {
            self.fold(run, direction, recurring.is_some())
        };
        self.recurrence.note(&kept, self.plan.horizon_ns);
        let (pieces, rate) = match (points_are_distinct(&kept), recurring) {
            (true, None) => return self.join(&mut kept, direction, sink),
            (true, Some(rate)) => (self.usual(&mut kept, direction), rate),
            (false, _) => self.cluster(&mut kept, direction, recurring.unwrap_or(0.0)),
        };
        for piece in join_leftovers(&self.plan, direction, rate, pieces) {
            piece.hand_to(sink, direction, &self.folded);
        }
    }

    /// Of one sight a point: what the bands say is one packet.
    fn usual(&self, run: &mut [Sight], direction: Direction) -> Vec<Piece> {
        run.sort_unstable_by_key(|sight| self.plan.place(direction, sight.point));
        let pieces = run.chunk_by(|up, down| self.admits(direction, up, down));
        pieces.map(|sights| Piece::new(sights.to_vec())).collect()
    }

    /// Of several sights a point: what the bands tell, and how densely the identity is seen.
    fn cluster(
        &self,
        kept: &mut [Sight],
        direction: Direction,
        least_rate: f64,
    ) -> (Vec<Piece>, f64) {
        let mut crowd = crowd_of(kept, self.gap_ns);
        crowd.rate = crowd.rate.max(least_rate);
        let mut pieces = Vec::new();
        for cluster in kept.chunk_by_mut(|a, b| later_ns(a, b) <= self.gap_ns) {
            Cluster::new(&self.plan, direction, crowd, cluster).assign(&mut pieces);
        }
        (pieces, crowd.rate)
    }

    /// Takes copies out of a run.
    fn fold(&mut self, run: &[Sight], direction: Direction, repeats: bool) -> Vec<Sight> {
        let mut folded = std::mem::take(&mut self.folded);
        let copies_at = |sights: &[Sight]| {
            let point = sights.first().map(|sight| sight.point);
            point.map_or_else(Default::default, |point| self.plan.copies_at(point))
        };
        let rules = Rules {
            copies: &copies_at,
            fits: &|one, other| self.fits(direction, one, other),
            place: &|sight| self.plan.place(direction, sight.point),
            repeats,
        };
        let kept = folded.fold(run, &rules);
        self.folded = folded;
        kept
    }

    /// One sight a point: one packet, as far as neighbours are close enough.
    fn join(&self, run: &mut [Sight], direction: Direction, sink: &mut dyn Sink) {
        run.sort_unstable_by_key(|sight| self.plan.place(direction, sight.point));
        let wide_ns = self.plan.wide_ns.unsigned_abs();
        for packet in run.chunk_by(|a, b| b.aligned_ns.abs_diff(a.aligned_ns) <= wide_ns) {
            sink.trajectory(packet, direction, &self.folded);
        }
    }

    /// Whether two sights lie as those of one packet usually do.
    fn fits(&self, direction: Direction, one: &Sight, other: &Sight) -> bool {
        let place = |sight: &Sight| self.plan.place(direction, sight.point);
        if place(one) < place(other) {
            self.admits(direction, one, other)
        } else {
            self.admits(direction, other, one)
        }
    }

    fn admits(&self, direction: Direction, up: &Sight, down: &Sight) -> bool {
        let band = self.plan.band(direction, up.point, down.point);
        band.is_some_and(|band| band.admits(later_ns(up, down)))
    }
}

fn later_ns(one: &Sight, other: &Sight) -> i64 {
    other.aligned_ns.saturating_sub(one.aligned_ns)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{SEGMENT_NS, Taken, path, sight};
    use super::*;
    use crate::matching::copies::COPIES_WITHIN_NS;

    fn resolve(mut plan: Plan, mut sights: Vec<Sight>) -> Taken {
        plan.toward_is_forward.insert(0, true);
        let mut taken = Taken::default();
        Resolver::new(Arc::new(plan), 1000).resolve(&mut sights, &mut taken);
        let n_out = taken.trajectories.iter().map(Vec::len).sum::<usize>();
        assert_eq!(
            n_out + taken.copies.len() + taken.ambiguous.len(),
            sights.len()
        );
        taken
    }

    fn points(taken: &Taken) -> Vec<Vec<u16>> {
        let of = |packet: &Vec<Sight>| packet.iter().map(|one| one.point).collect();
        let mut all: Vec<Vec<u16>> = taken.trajectories.iter().map(of).collect();
        all.sort();
        all
    }

    #[test]
    fn one_packet_goes_from_sender_to_receiver() {
        let seen = vec![sight(1, 2, 40), sight(1, 0, 90), sight(1, 1, 0)];
        assert_eq!(points(&resolve(path(3), seen)), [[0, 1, 2]]);
    }

    #[test]
    fn a_reverse_packet_is_aligned_as_such() {
        let back = |point: u16| {
            let t_ns = i64::from(2 - point) * SEGMENT_NS;
            Sight {
                t_ns,
                aligned_ns: t_ns - i64::from(point) * SEGMENT_NS,
                pair: 9,
                ..sight(1, point, 0)
            }
        };
        let taken = resolve(path(3), vec![back(0), back(1), back(2)]);
        assert_eq!(taken.directions, [Direction::Reverse]);
        assert_eq!(points(&taken), [[2, 1, 0]]);
        assert!(
            taken.trajectories[0]
                .iter()
                .all(|one| one.aligned_ns == 2 * SEGMENT_NS)
        );
    }

    #[test]
    fn far_apart_is_not_one_packet() {
        let beyond_the_window = vec![sight(1, 0, 0), sight(1, 1, 100_001), sight(1, 2, 100_002)];
        assert_eq!(
            points(&resolve(path(3), beyond_the_window)),
            [vec![0], vec![1, 2]]
        );
        let beyond_the_horizon = vec![
            sight(1, 0, 0),
            sight(1, 1, 2),
            sight(1, 0, 900_000),
            sight(1, 1, 900_001),
        ];
        let taken = resolve(path(3), beyond_the_horizon);
        assert_eq!(points(&taken), [[0, 1], [0, 1]]);
        assert!(taken.copies.is_empty());
    }

    #[test]
    fn points_that_share_no_packet_are_never_joined() {
        let mut plan = path(4);
        plan.component = vec![0, 0, 1, 1];
        let seen = (0..4).map(|point| sight(1, point, 0)).collect();
        assert_eq!(points(&resolve(plan, seen)), [[0, 1], [2, 3]]);
    }

    #[test]
    fn copies_share_their_originals_trajectory() {
        let taken = resolve(
            path(3),
            vec![
                sight(1, 0, 0),
                sight(1, 1, 3),
                sight(1, 1, 500),
                sight(1, 2, 5),
            ],
        );
        assert_eq!(points(&taken), [[0, 1, 2]]);
        let frame = |t_ns| sight(1, 1, t_ns).frame;
        assert_eq!(taken.copies, [(frame(3), frame(500))]);
    }

    #[test]
    fn a_retransmission_is_another_packet_and_no_copy() {
        let mut plan = path(2);
        plan.horizon_ns = 10 * COPIES_WITHIN_NS;
        let again_ns = 2 * COPIES_WITHIN_NS;
        let seen = vec![
            sight(1, 0, 0),
            sight(1, 0, again_ns),
            sight(1, 1, again_ns + 4),
        ];
        let taken = resolve(plan, seen);
        assert_eq!(points(&taken), [vec![0], vec![0, 1]]);
    }

    #[test]
    fn the_same_bytes_in_one_band_are_ambiguous() {
        let seen = vec![
            sight(1, 0, 0),
            sight(1, 0, 34),
            sight(1, 1, 9),
            sight(1, 1, 41),
        ];
        let taken = resolve(path(2), seen);
        assert_eq!(taken.ambiguous.len(), 4);
        assert!(taken.copies.is_empty());
    }

    #[test]
    fn stamps_at_the_ends_of_time_are_resolved() {
        let seen = vec![
            sight(1, 0, i64::MIN),
            sight(1, 1, i64::MAX),
            sight(1, 0, i64::MAX),
        ];
        assert_eq!(points(&resolve(path(2), seen)), [vec![0], vec![0, 1]]);
    }
}
