//! Which points follow each other, for packets of one direction.

use super::super::Sight;
use crate::plan::{Direction, Plan};

/// The neighbours along one direction.
#[derive(Debug)]
pub(super) struct Ways {
    /// Neighbours (upstream, downstream), from the sender's side on.
    pub(super) links: Vec<(u16, u16)>,
    /// Points two or more apart that are no neighbours, nearer ones first.
    pub(super) leaps: Vec<(u16, u16)>,
    /// Where the whole path is entered and left, if it is more than one segment.
    pub(super) whole: Option<(u16, u16)>,
    place: Vec<i64>,
    /// Per point: something is upstream of it, and downstream.
    has_more: Vec<(bool, bool)>,
}

impl Ways {
    pub(super) fn new(plan: &Plan, direction: Direction) -> Self {
        let along = |(near, far): &(u16, u16)| match direction {
            Direction::Forward => (*near, *far),
            Direction::Reverse => (*far, *near),
        };
        let points = 0..u16::try_from(plan.n_points()).unwrap_or(u16::MAX);
        let place: Vec<i64> = points
            .clone()
            .map(|point| plan.place(direction, point))
            .collect();
        let at = |point: u16| place.get(usize::from(point)).copied();
        let segments = plan.links.iter().enumerate();
        let segments = segments.filter(|(index, _)| Some(*index) != plan.whole);
        let mut links: Vec<_> = segments.map(|(_, ends)| along(ends)).collect();
        links.sort_unstable_by_key(|(up, down)| (at(*up), at(*down)));
        let mut leaps: Vec<(u16, u16)> = Vec::new();
        let mut farther = links.clone();
        while !farther.is_empty() {
            let onward = |(up, over): &(u16, u16)| {
                let (up, over) = (*up, *over);
                let next = links.iter().filter(move |(from, _)| *from == over);
                next.map(move |(_, down)| (up, *down))
            };
            farther = farther.iter().flat_map(onward).collect();
            farther.sort_unstable_by_key(|(up, down)| (at(*up), at(*down)));
            farther.dedup();
            farther.retain(|leap| !links.contains(leap) && !leaps.contains(leap));
            leaps.extend(&farther);
        }
        let whole = plan.whole.and_then(|whole| plan.links.get(whole));
        let has_more = points.map(|point| {
            let has_up = links.iter().any(|(_, down)| *down == point);
            (has_up, links.iter().any(|(up, _)| *up == point))
        });
        Self {
            whole: whole.map(along),
            has_more: has_more.collect(),
            links,
            leaps,
            place,
        }
    }

    /// Whether a packet was seen wherever its path leads: nothing of it is to be looked for.
    pub(super) fn is_complete(&self, sights: &[Sight]) -> bool {
        let (Some(first), Some(last)) = (sights.first(), sights.last()) else {
            return true;
        };
        let has_more = |sight: &Sight| self.has_more.get(usize::from(sight.point));
        has_more(first).is_none_or(|(has_up, _)| !has_up)
            && has_more(last).is_none_or(|(_, has_down)| !has_down)
            && sights.windows(2).all(|two| !self.is_jump(two))
    }

    /// Whether two sights of one packet leave out a point between them.
    pub(super) fn is_jump(&self, two: &[Sight]) -> bool {
        match two {
            [up, down] => !self.links.contains(&(up.point, down.point)),
            _ => false,
        }
    }

    /// Whether a point is between two others.
    pub(super) fn is_between(&self, point: u16, up: u16, down: u16) -> bool {
        let at = |point: u16| self.place.get(usize::from(point));
        at(up) < at(point) && at(point) < at(down)
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::{path, sight};
    use super::*;

    fn seen(points: &[u16]) -> Vec<Sight> {
        points.iter().map(|point| sight(1, *point, 0)).collect()
    }

    #[test]
    fn ways_lead_from_the_sender_on() {
        let forward = Ways::new(&path(4), Direction::Forward);
        assert_eq!(forward.links, [(0, 1), (1, 2), (2, 3)]);
        assert_eq!(forward.leaps, [(0, 2), (1, 3), (0, 3)]);
        assert_eq!(forward.whole, Some((0, 3)));
        let reverse = Ways::new(&path(4), Direction::Reverse);
        assert_eq!(reverse.links, [(3, 2), (2, 1), (1, 0)]);
        assert_eq!(reverse.leaps, [(3, 1), (2, 0), (3, 0)]);
        assert!(reverse.is_between(2, 3, 1) && !reverse.is_between(3, 3, 1));
    }

    #[test]
    fn complete_is_every_point_without_a_jump() {
        let ways = Ways::new(&path(4), Direction::Forward);
        assert!(ways.is_complete(&seen(&[0, 1, 2, 3])));
        for part in [&[0_u16, 1, 2][..], &[1, 2, 3], &[0, 1, 3], &[0, 3], &[2]] {
            assert!(!ways.is_complete(&seen(part)), "{part:?}");
        }
    }

    #[test]
    fn a_path_that_forks_has_ways_through_each_branch() {
        let mut plan = path(4);
        plan.position = vec![0, 1, 2, 3];
        plan.links = vec![(0, 1), (0, 2), (1, 3), (2, 3), (0, 3)];
        plan.whole = Some(4);
        let ways = Ways::new(&plan, Direction::Forward);
        assert_eq!(ways.leaps, [(0, 3)]);
        assert!(ways.is_complete(&seen(&[0, 2, 3])) && ways.is_complete(&seen(&[0, 1, 3])));
    }
}
