//! What the leftovers of one packet ID are: parts of one slow packet, or of several.

use crate::matching::evidence::Evidence;
use crate::matching::late::clock_steps::ClockSteps;
use crate::matching::late::leftover::{Leftover, N_VALUES};
use crate::matching::late::occasions::occasions;
use crate::matching::late::shortest::{ShortestRoutes, can_follow};
use crate::matching::late::sorted_runs::SameKey;
use crate::matching::observation::Observation;
use crate::plan::{Direction, Plan, Topology};

/// What is known of the path, and of the clocks and delays along it.
#[derive(Debug)]
pub(crate) struct Surveyed<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) topology: Topology,
    steps: ClockSteps,
    shortest: ShortestRoutes,
}

impl<'a> Surveyed<'a> {
    pub(crate) fn of(plan: &'a Plan) -> Self {
        Self {
            plan,
            topology: Topology::new(plan),
            steps: ClockSteps::of(plan),
            shortest: ShortestRoutes::default(),
        }
    }

    /// Whether causality allows that parts are one packet, in this order.
    pub(crate) fn can_be_one(&self, parts: &[Leftover]) -> bool {
        let can_follow = |two: &[Leftover]| match two {
            [up, down] => can_follow(self.plan, up.direction, (&up.last, &down.first)),
            _ => false,
        };
        parts.windows(2).all(can_follow)
    }

    /// Whether a packet may have been at both points, in this order, that fast. Of what is alone in the
    /// window, and was received after it was sent, the odds alone say so.
    pub(super) fn may_follow(
        &self,
        direction: Direction,
        ends: (&Observation, &Observation),
    ) -> bool {
        are_alone(self.plan, ends) && can_follow(self.plan, direction, ends)
            || self.shortest.may_follow(self.plan, direction, ends)
    }
}

/// What leftovers of one packet ID may be.
#[derive(Debug)]
pub(crate) enum Kinship {
    /// Parts of one packet that was slow, in the order of its path.
    Slow(Vec<Leftover>),
    /// Parts that would be one packet had it been faster than any: two packets, unless many do so.
    Reversed(Vec<Leftover>),
    /// Parts of one packet, in the order of its path, whose times a clock that was being set moved.
    Moved(Vec<Leftover>),
    /// A single part.
    Alone(Leftover),
    /// Parts of several packets: one of them, after what time another came, if that shows, and how many
    /// begin late, and end early.
    Several {
        one: Leftover,
        apart_ns: u64,
        n_begun: usize,
        n_ended: usize,
    },
}

impl Kinship {
    /// Judges leftovers of one packet ID.
    pub(crate) fn of(at: &Surveyed<'_>, parts: &[Leftover]) -> Option<Self> {
        let plan = at.plan;
        let first = *parts.first()?;
        if parts.len() == 1 {
            return Some(Self::Alone(first));
        }
        let parts = in_order(plan, parts);
        let several = Self::Several {
            one: first,
            apart_ns: apart_ns(&parts),
            n_begun: parts.len() - n_ended(&parts),
            n_ended: n_ended(&parts),
        };
        if !are_along_one_way(&at.topology, &parts) {
            return Some(several);
        }
        if at.steps.explain(plan, &parts) {
            return Some(Self::Moved(parts));
        }
        let is_open = joints(&parts).all(|(up, down)| is_undecided(plan, up, down));
        let n_possible = joints(&parts)
            .filter(|ends| at.may_follow(first.direction, *ends))
            .count();
        Some(if is_open && n_possible == parts.len() - 1 {
            Self::Slow(parts)
        } else if is_open && n_possible == 0 {
            Self::Reversed(parts)
        } else {
            several
        })
    }
}

fn n_ended(parts: &[Leftover]) -> usize {
    parts.iter().filter(|part| part.lost.is_some()).count()
}

/// The shortest time after which one point saw another of several packets; 0 if none saw two.
fn apart_ns(parts: &[Leftover]) -> u64 {
    let seen = parts.iter().map(|part| &part.first);
    let mut seen: Vec<(u16, i64)> = seen.map(|one| (one.point, one.aligned_ns)).collect();
    seen.sort_unstable();
    let apart = seen.windows(2).filter_map(|two| match two {
        [(point, one_ns), (same, next_ns)] if point == same => Some(next_ns.abs_diff(*one_ns)),
        _ => None,
    });
    apart.min().unwrap_or(0)
}

/// Parts in the order of the first one's path.
fn in_order(plan: &Plan, parts: &[Leftover]) -> Vec<Leftover> {
    let mut parts = parts.to_vec();
    if let Some(direction) = parts.first().map(|first| first.direction) {
        parts.sort_by_key(|part| plan.place(direction, part.first.point));
    }
    parts
}

/// Leftovers of one packet ID that may be of the same packets.
#[derive(Debug)]
pub(crate) struct Relatives {
    /// Those together that are near in time.
    pub(crate) occasions: Vec<Vec<Leftover>>,
    /// What began, and may be of a packet that ended before on any occasion.
    pub(crate) untold: Vec<Leftover>,
}

/// Leftovers of one packet ID, those together that may be of the same packets: of a packet with several
/// receivers, what one branch misses, and what came behind that branch.
pub(crate) fn relatives(at: &Surveyed<'_>, same: &SameKey<'_, N_VALUES>) -> Vec<Relatives> {
    let by_time = |parts: Vec<Leftover>| {
        let (untold, parts) = parts.into_iter().partition(Leftover::is_untold);
        let may_be_one = |some: &[Leftover]| may_be_parts(at, some);
        Relatives {
            occasions: occasions(parts, same.around, at.plan.n_points(), may_be_one),
            untold,
        }
    };
    let groups = of_branches(&at.topology, same).into_iter();
    groups.map(by_time).collect()
}

/// Whether parts may be one packet by where they were seen.
fn may_be_parts(at: &Surveyed<'_>, some: &[Leftover]) -> bool {
    are_along_one_way(&at.topology, &in_order(at.plan, some))
}

/// Ends at one branch, with what came behind it after them. Of several branches, the end that is nearest in time counts.
fn of_branches(topology: &Topology, same: &SameKey<'_, N_VALUES>) -> Vec<Vec<Leftover>> {
    let parts: Vec<Leftover> = same.records.iter().map(Leftover::from_record).collect();
    let branch_of = |one: &Leftover| one.branch.map(|branch| (one.direction, branch));
    let nearest = |one: &Leftover| {
        let is_behind = |end: &&Leftover| {
            let at = one.first.point;
            let leads = |from| from == at || topology.along(end.direction).leads(from, at);
            end.branch.is_some_and(leads)
        };
        let apart_ns = |end: &&Leftover| end.last.aligned_ns.abs_diff(one.first.aligned_ns);
        let ends = parts.iter().filter(is_behind);
        ends.min_by_key(apart_ns).and_then(branch_of)
    };
    let (mut branches, mut found) = (Vec::new(), Vec::<Vec<Leftover>>::new());
    for one in &parts {
        let branch = branch_of(one).or_else(|| nearest(one));
        let at = branches.iter().position(|of| *of == branch);
        if let Some(group) = at.and_then(|at| found.get_mut(at)) {
            group.push(*one);
        } else {
            branches.push(branch);
            found.push(vec![*one]);
        }
    }
    found
}

/// Within the window it was decided before, with all that lay there, but for what is alone and late.
pub(super) fn is_undecided(plan: &Plan, up: &Observation, down: &Observation) -> bool {
    down.aligned_ns.abs_diff(up.aligned_ns) > plan.wide_ns.unsigned_abs()
        || down.evidence.is(Evidence::SLOW_OR_TWO)
}

/// Whether nothing but one packet or two lay in the window.
pub(crate) fn is_alone(plan: &Plan, parts: &[Leftover]) -> bool {
    joints(parts).all(|ends| are_alone(plan, ends))
}

fn are_alone(plan: &Plan, (up, down): (&Observation, &Observation)) -> bool {
    let wide_ns = plan.wide_ns.unsigned_abs();
    down.evidence.is(Evidence::SLOW_OR_TWO) && down.aligned_ns.abs_diff(up.aligned_ns) <= wide_ns
}

/// Whether parts may be of one packet by where they were seen, each behind the one before it.
fn are_along_one_way(topology: &Topology, parts: &[Leftover]) -> bool {
    let Some(first) = parts.first() else {
        return false;
    };
    let along = topology.along(first.direction);
    let follow = |two: &[Leftover]| match two {
        [up, down] => along.leads(up.last.point, down.first.point),
        _ => false,
    };
    let is_one_way = |part: &Leftover| {
        part.is_joinable
            && part.direction == first.direction
            && part.first.toward == first.first.toward
    };
    parts.windows(2).all(follow) && parts.iter().all(is_one_way) && may_be_one(parts)
}

/// False where a file says that two parts are of different packets.
pub(super) fn may_be_one(parts: &[Leftover]) -> bool {
    let ends = |part: &Leftover| [part.first, part.last];
    parts.windows(2).all(|two| match two {
        [up, down] => ends(up)
            .iter()
            .all(|one| ends(down).iter().all(|other| one.may_be(other))),
        _ => true,
    })
}

/// Where parts of one packet are joined: its last observation before, the first one after.
pub(crate) fn joints(parts: &[Leftover]) -> impl Iterator<Item = (&Observation, &Observation)> {
    let two = parts.windows(2);
    two.filter_map(|two| match two {
        [up, down] => Some((&up.last, &down.first)),
        _ => None,
    })
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::matching::observation::FrameId;
    use crate::matching::streams::Lost;
    use crate::matching::testing::{observation, path};

    pub(in crate::matching::late) const LATE_NS: i64 = 1_000_000;

    pub(in crate::matching::late) fn part(points: &[(u16, i64)]) -> Leftover {
        let observations: Vec<Observation> = points
            .iter()
            .map(|(p, ns)| observation(1, *p, *ns))
            .collect();
        let lost = Lost::of(&observations);
        let left = Leftover::of(&observations, Direction::Forward, lost, false).unwrap();
        Leftover {
            is_joinable: true,
            ..left
        }
    }

    fn told(parts: &[Leftover]) -> &'static str {
        let records: Vec<_> = parts.iter().map(Leftover::record).collect();
        let same = SameKey {
            records: &records,
            around: [None; 2],
        };
        let plan = path(4);
        let at = Surveyed::of(&plan);
        let Some(parts) = relatives(&at, &same)
            .pop()
            .and_then(|mut all| all.occasions.pop())
        else {
            return "nothing";
        };
        match Kinship::of(&at, &parts) {
            Some(Kinship::Slow(_)) => "slow",
            Some(Kinship::Moved(_)) => "moved",
            Some(Kinship::Reversed(_)) => "reversed",
            Some(Kinship::Alone(_)) => "alone",
            Some(Kinship::Several { .. }) => "several",
            None => "nothing",
        }
    }

    #[test]
    fn parts_along_the_path_after_the_window_may_be_one_packet() {
        let head = part(&[(0, 0), (1, 5)]);
        assert_eq!(told(&[]), "nothing");
        assert_eq!(told(&[head]), "alone");
        assert_eq!(told(&[part(&[(2, LATE_NS), (3, LATE_NS)]), head]), "slow");
        assert_eq!(told(&[head, part(&[(3, LATE_NS)])]), "slow");
        let slow_twice = [head, part(&[(2, LATE_NS)]), part(&[(3, 2 * LATE_NS)])];
        assert_eq!(told(&slow_twice), "slow");
    }

    #[test]
    fn parts_within_the_window_are_open_only_if_they_were_alone_in_it() {
        let (head, mut tail) = (part(&[(0, 0), (1, 5)]), part(&[(2, 50_000)]));
        assert_eq!(told(&[head, tail]), "several");
        assert!(!is_alone(&path(4), &[head, tail]));
        tail.first.evidence.add(Evidence::SLOW_OR_TWO);
        assert_eq!(told(&[head, tail]), "slow");
        assert!(is_alone(&path(4), &[head, tail]));
    }

    #[test]
    fn what_a_file_calls_other_packets_is_several() {
        let named = |points: &[(u16, i64)], packet_id: u64| {
            let mut part = part(points);
            for end in [&mut part.first, &mut part.last] {
                (end.packet_id, end.frame) = (packet_id, FrameId::new(0, 1));
            }
            part
        };
        let head = named(&[(0, 0), (1, 5)], 7);
        assert_eq!(told(&[head, named(&[(2, LATE_NS)], 7)]), "slow");
        assert_eq!(told(&[head, named(&[(2, LATE_NS)], 0)]), "slow");
        assert_eq!(told(&[head, named(&[(2, LATE_NS)], 8)]), "several");
    }

    #[test]
    fn what_arrives_before_it_left_is_two_packets() {
        let head = part(&[(0, 0), (1, 5)]);
        assert_eq!(told(&[head, part(&[(2, -LATE_NS)])]), "reversed");
        let both = [head, part(&[(2, -LATE_NS)]), part(&[(3, LATE_NS)])];
        assert_eq!(told(&both), "several");
    }

    #[test]
    fn what_a_point_saw_twice_is_several_packets() {
        let head = part(&[(0, 0), (1, 5)]);
        assert_eq!(
            told(&[head, part(&[(1, LATE_NS), (2, LATE_NS)])]),
            "several"
        );
        assert_eq!(told(&[head, part(&[(0, LATE_NS)])]), "several");
        assert_eq!(told(&[head, part(&[(2, 50_000)])]), "several");
        let in_doubt = Leftover {
            is_joinable: false,
            ..part(&[(2, LATE_NS)])
        };
        assert_eq!(told(&[head, in_doubt]), "several");
        let back = Leftover {
            direction: Direction::Reverse,
            ..part(&[(2, LATE_NS)])
        };
        assert_eq!(told(&[head, back]), "several");
    }
}
