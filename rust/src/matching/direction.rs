//! Which way a packet goes: from the survey, else from what fits better.

use super::Sight;
use crate::hashed::HashedMap;
use crate::plan::{Direction, Plan};

/// What single packets said about flows whose addresses the survey did not see.
#[derive(Debug, Default)]
pub(super) struct Votes {
    of_flow: HashedMap<i32>,
}

impl Votes {
    /// Direction of the packets of one identity.
    pub(super) fn direction(&mut self, plan: &Plan, sights: &[Sight]) -> Option<Direction> {
        let first = sights.first()?;
        if let Some(toward_is_forward) = plan.toward_is_forward.get(&first.pair) {
            return Some(Direction::of(first.toward == *toward_is_forward));
        }
        let forward_ns = misfit_ns(plan, sights, Direction::Forward);
        let reverse_ns = misfit_ns(plan, sights, Direction::Reverse);
        let is_forward = forward_ns <= reverse_ns;
        if !first.directed {
            return Some(Direction::of(is_forward));
        }
        let toward_is_forward = self.voted(first.flow).or_else(|| {
            if forward_ns == reverse_ns {
                return None;
            }
            let toward_is_forward = first.toward == is_forward;
            *self.of_flow.entry(first.flow).or_default() += if toward_is_forward { 1 } else { -1 };
            Some(toward_is_forward)
        });
        Some(toward_is_forward.map_or(Direction::Forward, |to| Direction::of(first.toward == to)))
    }

    fn voted(&self, flow: u64) -> Option<bool> {
        const ENOUGH_VOTES: u32 = 3;
        let votes = self.of_flow.get(&flow).copied().unwrap_or(0);
        (votes.unsigned_abs() >= ENOUGH_VOTES).then_some(votes > 0)
    }
}

/// How far the first sights at each point are from where a packet of that direction would be.
fn misfit_ns(plan: &Plan, sights: &[Sight], direction: Direction) -> u64 {
    let at = |sight: &Sight| plan.aligned_ns(direction, sight.point, sight.t_ns);
    let mut firsts: Vec<(u16, i64)> = sights.iter().map(|one| (one.point, at(one))).collect();
    firsts.sort_unstable();
    firsts.dedup_by_key(|(point, _)| *point);
    firsts.sort_unstable_by_key(|(point, _)| plan.place(direction, *point));
    firsts
        .windows(2)
        .map(two_apart_ns)
        .fold(0, u64::saturating_add)
}

fn two_apart_ns(two: &[(u16, i64)]) -> u64 {
    match two {
        [(_, a), (_, b)] => b.abs_diff(*a),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{SEGMENT_NS, path, sight};
    use super::*;

    fn group(first: Sight, raw_ns: [i64; 3]) -> Vec<Sight> {
        let at = |(point, t_ns)| Sight {
            point,
            t_ns,
            aligned_ns: t_ns,
            ..first
        };
        (0..).zip(raw_ns).map(at).collect()
    }

    #[test]
    fn the_survey_knows() {
        let mut plan = path(3);
        plan.toward_is_forward.insert(7, false);
        let away = Sight {
            pair: 7,
            toward: false,
            ..sight(1, 0, 0)
        };
        let toward = Sight {
            toward: true,
            ..away
        };
        let mut votes = Votes::default();
        assert_eq!(votes.direction(&plan, &[away]), Some(Direction::Forward));
        assert_eq!(votes.direction(&plan, &[toward]), Some(Direction::Reverse));
        assert_eq!(votes.direction(&plan, &[]), None);
    }

    #[test]
    fn what_fits_decides_and_votes_for_what_does_not_tell() {
        let plan = path(3);
        let mut votes = Votes::default();
        let there = Sight {
            flow: 5,
            toward: false,
            ..sight(1, 0, 0)
        };
        let back = Sight {
            toward: true,
            ..there
        };
        let forward = group(there, [0, SEGMENT_NS, 2 * SEGMENT_NS]);
        let reverse = group(back, [2 * SEGMENT_NS, SEGMENT_NS, 0]);
        assert_eq!(
            votes.direction(&plan, &[back]),
            Some(Direction::Forward),
            "nothing is known"
        );
        for _ in 0..2 {
            assert_eq!(votes.direction(&plan, &forward), Some(Direction::Forward));
            assert_eq!(votes.direction(&plan, &reverse), Some(Direction::Reverse));
        }
        assert_eq!(votes.direction(&plan, &[back]), Some(Direction::Reverse));
        assert_eq!(votes.direction(&plan, &[there]), Some(Direction::Forward));
        let of_another = Sight { flow: 6, ..back };
        assert_eq!(
            votes.direction(&plan, &[of_another]),
            Some(Direction::Forward)
        );
    }

    #[test]
    fn what_has_no_direction_casts_no_vote() {
        let plan = path(3);
        let mut votes = Votes::default();
        let born_on_the_way = Sight {
            directed: false,
            ..sight(1, 0, 0)
        };
        for _ in 0..5 {
            let back = group(born_on_the_way, [2 * SEGMENT_NS, SEGMENT_NS, 0]);
            assert_eq!(votes.direction(&plan, &back), Some(Direction::Reverse));
        }
        assert!(votes.of_flow.is_empty());
    }
}
