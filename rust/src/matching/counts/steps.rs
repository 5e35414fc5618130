//! The steps of a packet from point to point: one after the other on a line, and several from a point
//! where a packet has several receivers.

use crate::matching::observation::Observation;
use crate::plan::Along;

/// Upstream and downstream observation of each step; observations are in order of place.
///
/// An observation follows the last one before it from which its point is reached: what several receivers
/// got did not pass from one to the other.
pub(crate) fn steps<'a>(
    along: &'a Along,
    observations: &'a [Observation],
) -> impl Iterator<Item = (&'a Observation, &'a Observation)> {
    let downs = observations.iter().enumerate().skip(1);
    downs.filter_map(move |(at, down)| {
        let before = observations.get(..at)?;
        let leads = |up: &&Observation| along.leads(up.point, down.point);
        // of what one sender sent to one receiver there is one way, whatever is known of the links
        let nearest = || before.last().filter(|up| up.directed);
        Some((before.iter().rev().find(leads).or_else(nearest)?, down))
    })
}

/// A packet without one of its observations and what followed that one; and these.
pub(crate) fn parted_at<'a>(
    steps: impl Iterator<Item = (&'a Observation, &'a Observation)>,
    observations: &[Observation],
    first: &Observation,
) -> [Vec<Observation>; 2] {
    let mut after = vec![*first];
    let is_of =
        |part: &[Observation], one: &Observation| part.iter().any(|of| of.frame == one.frame);
    for (up, down) in steps {
        if is_of(&after, up) {
            after.push(*down);
        }
    }
    let before = observations.iter().filter(|one| !is_of(&after, one));
    [before.copied().collect(), after]
}

/// Where a packet with several receivers was not seen, of the points that those before it came to.
#[derive(Debug, Default)]
pub(crate) struct TreeEnds {
    /// What was first seen behind branches, each with what followed it: what came before may be another part.
    pub(crate) behind: Vec<Vec<Observation>>,
    /// Branches that it did not take: its way up to the branch, and where that leads.
    pub(crate) missing: Vec<(Vec<Observation>, u16)>,
}

impl TreeEnds {
    pub(crate) fn of(along: &Along, tree: &[(u16, u16)], observations: &[Observation]) -> Self {
        let is_behind = |part: &Vec<Observation>| {
            let first = part.first().map(|one| one.point);
            tree.iter().any(|(_, down)| Some(*down) == first)
        };
        let parts = parts_of_tree(along, observations).into_iter();
        Self {
            behind: parts.filter(is_behind).collect(),
            missing: missing_branches(along, tree, observations),
        }
    }
}

/// Observations by the first one that they followed: several receivers may have got a packet together that was
/// not seen on its way to them.
fn parts_of_tree(along: &Along, observations: &[Observation]) -> Vec<Vec<Observation>> {
    let mut parts: Vec<Vec<Observation>> = Vec::new();
    for observation in observations {
        let leads = |part: &&mut Vec<Observation>| {
            let first = part.first();
            first.is_some_and(|first| along.leads(first.point, observation.point))
        };
        match parts.iter_mut().find(leads) {
            Some(part) => part.push(*observation),
            None => parts.push(vec![*observation]),
        }
    }
    parts
}

fn missing_branches(
    along: &Along,
    tree: &[(u16, u16)],
    observations: &[Observation],
) -> Vec<(Vec<Observation>, u16)> {
    let is_seen = |point: u16| observations.iter().any(|one| one.point == point);
    let is_passed = |point: u16| observations.iter().any(|one| along.leads(point, one.point));
    let from = |up: u16| tree.iter().filter(move |(one, _)| *one == up);
    let mut found = Vec::new();
    for observation in observations {
        let downs = from(observation.point).map(|(_, down)| *down);
        let missing = downs.filter(|down| !is_seen(*down) && !is_passed(*down));
        found.extend(missing.map(|down| (way_to(along, observations, observation), down)));
    }
    found
}

/// What saw a packet on its way to a point, and that: what other receivers got is not on it.
fn way_to(along: &Along, observations: &[Observation], end: &Observation) -> Vec<Observation> {
    let is_on_way = |one: &&Observation| along.leads(one.point, end.point);
    let before = observations.iter().filter(is_on_way);
    before.chain([end]).copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matching::observation::FrameId;
    use crate::matching::testing::{observation, path};
    use crate::plan::{Direction, Plan, Topology};

    /// Point 0, then 1, then each of 2, 3 and 4.
    fn tree() -> Plan {
        Plan {
            links: vec![(0, 1), (1, 2), (1, 3), (1, 4), (0, 4)],
            whole: Some(4),
            ..path(5)
        }
    }

    fn seen(points: &[u16]) -> Vec<Observation> {
        points
            .iter()
            .map(|point| observation(1, *point, 0))
            .collect()
    }

    fn stepped(plan: &Plan, points: &[u16], directed: bool) -> Vec<(u16, u16)> {
        let topology = Topology::new(plan);
        let with = |observation: Observation| Observation {
            directed,
            ..observation
        };
        let observations: Vec<Observation> = seen(points).into_iter().map(with).collect();
        let found = steps(topology.along(Direction::Forward), &observations);
        found.map(|(up, down)| (up.point, down.point)).collect()
    }

    #[test]
    fn on_a_line_one_follows_the_other() {
        for directed in [true, false] {
            let found = stepped(&path(4), &[0, 1, 3], directed);
            assert_eq!(found, [(0, 1), (1, 3)]);
        }
    }

    #[test]
    fn receivers_do_not_follow_one_another() {
        let found = stepped(&tree(), &[0, 1, 2, 3, 4], false);
        assert_eq!(found, [(0, 1), (1, 2), (1, 3), (1, 4)]);
        // point 1 missed it
        assert_eq!(stepped(&tree(), &[0, 2, 4], false), [(0, 2), (0, 4)]);
        assert_eq!(stepped(&tree(), &[2, 3], false), []);
        assert_eq!(stepped(&tree(), &[2, 3], true), [(2, 3)]);
    }

    #[test]
    fn what_receivers_got_together_is_a_part_for_each() {
        let plan = tree();
        let topology = Topology::new(&plan);
        let along = topology.along(Direction::Forward);
        let branches = [(1, 2), (1, 3), (1, 4)];
        let behind = |points: &[u16]| -> Vec<Vec<u16>> {
            let ends = TreeEnds::of(along, &branches, &seen(points));
            let points = |part: &Vec<Observation>| part.iter().map(|one| one.point).collect();
            ends.behind.iter().map(points).collect()
        };
        assert_eq!(behind(&[2, 3, 4]), [[2], [3], [4]]);
        assert_eq!(behind(&[0, 1, 3]), [[0; 0]; 0]);
        let deeper = TreeEnds::of(along, &[(0, 1), (1, 2)], &seen(&[1, 2, 3]));
        assert_eq!(deeper.behind.len(), 1);
    }

    #[test]
    fn a_packet_is_parted_where_it_was_too_slow() {
        let plan = tree();
        let topology = Topology::new(&plan);
        let along = topology.along(Direction::Forward);
        let parted = |points: &[u16], at: usize| {
            let number = |(number, one): (u64, Observation)| Observation {
                frame: FrameId::new(0, number),
                ..one
            };
            let packet: Vec<Observation> = (0..).zip(seen(points)).map(number).collect();
            let parts = parted_at(steps(along, &packet), &packet, packet.get(at).unwrap());
            parts.map(|part| part.iter().map(|one| one.point).collect::<Vec<u16>>())
        };
        assert_eq!(parted(&[0, 1, 2, 3], 1), [vec![0], vec![1, 2, 3]]);
        assert_eq!(parted(&[0, 1, 2, 3], 2), [vec![0, 1, 3], vec![2]]);
        assert_eq!(parted(&[0, 1, 2, 3], 3), [vec![0, 1, 2], vec![3]]);
    }

    #[test]
    fn a_branch_that_was_not_taken_is_missing() {
        let plan = tree();
        let topology = Topology::new(&plan);
        let along = topology.along(Direction::Forward);
        let branches = [(0, 1), (1, 2), (1, 3), (1, 4)];
        let missing = |points: &[u16]| -> Vec<(Vec<u16>, u16)> {
            let found = missing_branches(along, &branches, &seen(points)).into_iter();
            let points = |way: Vec<Observation>| way.iter().map(|one| one.point).collect();
            found.map(|(way, down)| (points(way), down)).collect()
        };
        assert_eq!(missing(&[0, 1, 2, 3, 4]), []);
        assert_eq!(missing(&[0, 1, 3, 4]), [(vec![0, 1], 2)]);
        assert_eq!(missing(&[0]), [(vec![0], 1)]);
        let all = [2, 3, 4].map(|down| (vec![0, 1], down));
        assert_eq!(missing(&[0, 1]), all);
        assert_eq!(
            missing(&[0, 3]),
            [],
            "point 1 missed it, and nobody knows what it sent on"
        );
    }

    #[test]
    fn what_another_receiver_got_is_not_on_the_way_to_a_branch() {
        let plan = Plan {
            links: vec![(0, 1), (0, 2), (2, 3), (2, 4), (0, 4)],
            ..tree()
        };
        let topology = Topology::new(&plan);
        let along = topology.along(Direction::Forward);
        let branches = [(0, 1), (0, 2), (2, 3), (2, 4)];
        let found = missing_branches(along, &branches, &seen(&[0, 1, 2, 4]));
        let [(way, down)] = found.as_slice() else {
            panic!("{found:?}");
        };
        let points: Vec<u16> = way.iter().map(|one| one.point).collect();
        assert_eq!((points, *down), (vec![0, 2], 3));
    }
}
