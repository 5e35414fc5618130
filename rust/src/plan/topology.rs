//! The path as a graph: which segment lies between two points, who follows whom, where the whole
//! begins and ends.

use super::{Direction, Plan};
use crate::base::blocks::Grid;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// A link, and the way it is crossed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LinkCrossing {
    /// Index into the plan's links.
    pub link: usize,
    /// 0 from the near point to the far one, 1 back.
    pub side: usize,
}

impl LinkCrossing {
    /// One bit per segment and direction; paths with more than 64 segments share bits.
    #[must_use]
    pub fn bit(self) -> u128 {
        1_u128 << ((2 * self.link + self.side) % 128)
    }
}

/// Points that were capturing at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Capturing(u128);

impl Capturing {
    /// Whether a point was; of points beyond the first 128 it is not kept.
    #[must_use]
    pub fn has(self, point: u16) -> bool {
        self.0
            .checked_shr(u32::from(point))
            .is_none_or(|bits| bits & 1 == 1)
    }
}

/// Which points may follow which.
#[derive(Debug)]
pub struct Topology {
    n_points: usize,
    /// Per point: start and end of the time that it covers.
    covers: Vec<(i64, i64)>,
    blocks: Grid,
    links: Vec<(u16, u16)>,
    whole: Option<usize>,
    /// Per near × n + far.
    of_ends: Vec<Option<usize>>,
    /// Per route, forward and reverse.
    along: Vec<[Along; 2]>,
    branches: u128,
}

/// What lies along one direction.
#[derive(Debug)]
pub struct Along {
    /// Neighbours (upstream, downstream), from the sender's side on.
    pub neighbours: Vec<(u16, u16)>,
    /// Points two or more apart that are no neighbours, nearer ones first.
    pub leaps: Vec<(u16, u16)>,
    /// Where the whole path is entered and left, if it is more than one segment.
    pub whole: Option<(u16, u16)>,
    place: Vec<i64>,
    /// Per point: those that neighbours lead to from it, on and on.
    behind: Vec<Vec<bool>>,
}

impl Topology {
    /// The graph of a plan.
    #[must_use]
    pub fn new(plan: &Plan) -> Self {
        let n_points = plan.n_points();
        let mut of_ends = vec![None; n_points * n_points];
        for (index, (near, far)) in plan.links.iter().enumerate() {
            if let Some(slot) = of_ends.get_mut(usize::from(*near) * n_points + usize::from(*far)) {
                *slot = Some(index);
            }
        }
        let along: Vec<[Along; 2]> = (0..=u16::try_from(plan.routes.len()).unwrap_or(0))
            .map(|route| [true, false].map(|way| Along::new(plan, Direction::on(route, way))))
            .collect();
        let mut topology = Self {
            n_points,
            covers: plan.point_covers.clone(),
            links: plan.links.clone(),
            whole: plan.whole,
            of_ends,
            branches: 0,
            blocks: plan.blocks,
            along,
        };
        let along = topology.along.iter().flatten();
        topology.branches = along.fold(0, |all, one| all | topology.branches_along(one));
        topology
    }

    fn branches_along(&self, along: &Along) -> u128 {
        let is_branch = |(up, _): &&(u16, u16)| along.onward(*up).nth(1).is_some();
        let branches = along.neighbours.iter().filter(is_branch);
        let crossings = branches.filter_map(|(up, down)| self.between(*up, *down));
        crossings.fold(0, |all, one| all | one.bit())
    }

    /// What lies along a direction.
    #[must_use]
    pub fn along(&self, direction: Direction) -> &Along {
        static NOTHING: Along = Along {
            neighbours: Vec::new(),
            leaps: Vec::new(),
            whole: None,
            place: Vec::new(),
            behind: Vec::new(),
        };
        let route = self.along.get(usize::from(direction.route()));
        let along = route.and_then(|both| both.get(direction.index()));
        along.unwrap_or(&NOTHING)
    }

    /// The points that were capturing from one reference time to another, in whichever order.
    #[must_use]
    pub fn capturing(&self, (one_ns, other_ns): (i64, i64)) -> Capturing {
        let (from_ns, until_ns) = (one_ns.min(other_ns), one_ns.max(other_ns));
        let is_not = |(start_ns, end_ns): &(i64, i64)| *start_ns > from_ns || *end_ns < until_ns;
        let points = self.covers.iter().take(128).enumerate();
        let not = points.filter(|(_, cover)| is_not(cover));
        Capturing(not.fold(u128::MAX, |all, (point, _)| all & !(1 << point)))
    }

    /// Whether one of the ways between two points was capturing from one reference time to another. Of points
    /// that no packet of these two passes nothing is asked.
    #[must_use]
    pub fn is_watched(&self, along: &Along, (up, down): (u16, u16), span_ns: (i64, i64)) -> bool {
        let capturing = self.capturing(span_ns);
        let passed = || self.points().filter(|at| along.passes(up, *at, down));
        passed().all(|point| capturing.has(point)) || {
            let was_capturing = |point: u16| {
                let beside = passed().filter(|other| along.are_beside(point, *other));
                capturing.has(point) || self.were_capturing(beside, span_ns)
            };
            along.is_led((up, down), |_, to| to == down || was_capturing(to))
        }
    }

    /// Whether parallel points were capturing, as one that packets pass now here, now there: a branch that nothing
    /// took for a while has not stopped capturing.
    fn were_capturing(
        &self,
        parallel: impl Iterator<Item = u16>,
        (one_ns, other_ns): (i64, i64),
    ) -> bool {
        let covers = parallel.filter_map(|point| self.covers.get(usize::from(point)));
        let covers = covers.filter(|(start_ns, end_ns)| start_ns <= end_ns);
        let (start_ns, end_ns) = covers.fold((i64::MAX, i64::MIN), |all, one| {
            (all.0.min(one.0), all.1.max(one.1))
        });
        start_ns <= one_ns.min(other_ns) && end_ns >= one_ns.max(other_ns)
    }

    /// The block of time of an instant.
    #[must_use]
    pub fn block_of(&self, aligned_ns: i64) -> usize {
        self.blocks.block_of(aligned_ns)
    }

    /// The moment of an instant.
    #[must_use]
    #[inline]
    pub fn moment_of(&self, aligned_ns: i64) -> u32 {
        self.blocks.moment_of(aligned_ns)
    }

    /// The numbers of all routes, the path's first.
    pub fn routes(&self) -> impl Iterator<Item = u16> {
        (0..).take(self.along.len())
    }

    /// The link that leads from one point to another, if there is one.
    #[must_use]
    #[inline]
    pub fn between(&self, up: u16, down: u16) -> Option<LinkCrossing> {
        let link = |near: u16, far: u16| {
            let index = usize::from(near) * self.n_points + usize::from(far);
            self.of_ends.get(index).copied().flatten()
        };
        let forward = link(up, down).map(|link| LinkCrossing { link, side: 0 });
        forward.or_else(|| link(down, up).map(|link| LinkCrossing { link, side: 1 }))
    }

    /// Whether several points follow one, so that packets of one address pair may take several ways.
    #[must_use]
    #[inline]
    pub fn forks(&self) -> bool {
        self.branches != 0
    }

    /// The segments from a point that several follow, by [`LinkCrossing::bit`].
    #[must_use]
    #[inline]
    pub fn branches(&self) -> u128 {
        self.branches
    }

    /// Whether a link is the whole path, and no segment of it.
    #[must_use]
    #[inline]
    pub fn is_whole(&self, link: usize) -> bool {
        self.whole == Some(link)
    }

    /// The whole path, if it is more than one segment.
    #[must_use]
    pub fn whole(&self) -> Option<usize> {
        self.whole
    }

    /// The links but for the whole path.
    pub fn segments(&self) -> impl Iterator<Item = usize> {
        (0..self.links.len()).filter(|link| !self.is_whole(*link))
    }

    /// All points.
    #[must_use]
    pub fn points(&self) -> Range<u16> {
        0..u16::try_from(self.n_points).unwrap_or(u16::MAX)
    }

    /// A bit for each link that leads to a point, or on from it, along a direction.
    #[must_use]
    pub fn bits_at(&self, along: &Along, point: u16) -> u128 {
        let neighbours = along.neighbours.iter();
        let at = neighbours.filter(|(up, down)| *up == point || *down == point);
        let crossings = at.filter_map(|(up, down)| self.between(*up, *down));
        crossings.fold(0, |all, one| all | one.bit())
    }

    /// Upstream and downstream point.
    #[must_use]
    pub fn ends(&self, LinkCrossing { link, side }: LinkCrossing) -> Option<(u16, u16)> {
        let (near, far) = *self.links.get(link)?;
        Some(if side == 0 { (near, far) } else { (far, near) })
    }
}

impl Along {
    fn new(plan: &Plan, direction: Direction) -> Self {
        let points = 0..u16::try_from(plan.n_points()).unwrap_or(u16::MAX);
        let place: Vec<i64> = points.map(|point| plan.place(direction, point)).collect();
        let at = |point: u16| place.get(usize::from(point)).copied();
        let along = |(near, far): &(u16, u16)| {
            if at(*near) <= at(*far) {
                (*near, *far)
            } else {
                (*far, *near)
            }
        };
        let segments = plan.links.iter().enumerate();
        let segments = segments.filter(|(index, _)| Some(*index) != plan.whole);
        let steps = plan.steps_of_route.get(&u64::from(direction.route()));
        let is_crossed = |(near, far): (u16, u16)| {
            steps.is_none_or(|steps| steps.contains(&(near, far)) || steps.contains(&(far, near)))
        };
        let segments = segments.filter(|(_, ends)| is_crossed(**ends));
        let mut neighbours: Vec<_> = segments.map(|(_, ends)| along(ends)).collect();
        neighbours.sort_unstable_by_key(|(up, down)| (at(*up), at(*down)));
        let whole = plan.whole.and_then(|whole| plan.links.get(whole));
        Self {
            leaps: leaps(&neighbours, &place),
            whole: whole.map(along),
            behind: behind(&neighbours, plan.n_points()),
            neighbours,
            place,
        }
    }

    /// The points that follow a point.
    pub fn onward(&self, up: u16) -> impl Iterator<Item = u16> {
        let from = self.neighbours.iter().filter(move |(from, _)| *from == up);
        from.map(|(_, down)| *down)
    }

    /// Whether a point follows another, on and on.
    #[must_use]
    pub fn leads(&self, up: u16, down: u16) -> bool {
        let of = self.behind.get(usize::from(up));
        of.and_then(|of| of.get(usize::from(down))) == Some(&true)
    }

    /// Whether a point is passed between two others.
    #[must_use]
    pub fn passes(&self, up: u16, point: u16, down: u16) -> bool {
        self.leads(up, point) && self.leads(point, down)
    }

    /// Whether a way leads from one point to another over such segments alone.
    #[must_use]
    pub fn is_led(&self, (up, down): (u16, u16), is_such: impl Fn(u16, u16) -> bool) -> bool {
        let (mut reached, mut at) = (vec![up], 0);
        while let Some(from) = reached.get(at).copied() {
            for next in self.onward(from).filter(|next| is_such(from, *next)) {
                if next == down {
                    return true;
                }
                if self.leads(next, down) && !reached.contains(&next) {
                    reached.push(next);
                }
            }
            at += 1;
        }
        false
    }

    /// Whether no packet passes both, or they are one.
    #[must_use]
    pub fn are_beside(&self, one: u16, other: u16) -> bool {
        one == other || !self.leads(one, other) && !self.leads(other, one)
    }

    /// Whether the place of a point is between those of two others.
    #[must_use]
    pub fn is_between(&self, point: u16, up: u16, down: u16) -> bool {
        let at = |point: u16| self.place.get(usize::from(point));
        at(up) < at(point) && at(point) < at(down)
    }

    /// Whether a packet that was seen at these points, one after the other, left none out.
    #[must_use]
    pub fn is_complete(&self, points: impl IntoIterator<Item = u16>) -> bool {
        let mut points = points.into_iter();
        let Some(first) = points.next() else {
            return true;
        };
        let mut last = first;
        for point in points {
            if self.is_jump(last, point) {
                return false;
            }
            last = point;
        }
        !self
            .neighbours
            .iter()
            .any(|(up, down)| *down == first || *up == last)
    }

    /// Whether two points, one after the other, leave out one between them.
    #[must_use]
    pub fn is_jump(&self, up: u16, down: u16) -> bool {
        !self.neighbours.contains(&(up, down))
    }
}

/// Ends of two neighbouring links or more that are no link themselves.
fn leaps(neighbours: &[(u16, u16)], place: &[i64]) -> Vec<(u16, u16)> {
    let at = |point: u16| place.get(usize::from(point)).copied();
    let mut leaps: Vec<(u16, u16)> = Vec::new();
    let mut farther = neighbours.to_vec();
    while !farther.is_empty() {
        let onward = |(up, over): &(u16, u16)| {
            let (up, over) = (*up, *over);
            let next = neighbours.iter().filter(move |(from, _)| *from == over);
            next.map(move |(_, down)| (up, *down))
        };
        farther = farther.iter().flat_map(onward).collect();
        farther.sort_unstable_by_key(|(up, down)| (at(*up), at(*down)));
        farther.dedup();
        farther.retain(|leap| !neighbours.contains(leap) && !leaps.contains(leap));
        leaps.extend(&farther);
    }
    leaps
}

fn behind(neighbours: &[(u16, u16)], n_points: usize) -> Vec<Vec<bool>> {
    let mut behind = vec![vec![false; n_points]; n_points];
    for (up, down) in neighbours {
        let of = behind.get_mut(usize::from(*up));
        if let Some(leads) = of.and_then(|of| of.get_mut(usize::from(*down))) {
            *leads = true;
        }
    }
    for middle in 0..n_points {
        let onward = behind.get(middle).cloned().unwrap_or_default();
        for from in &mut behind {
            if from.get(middle) == Some(&true) {
                from.iter_mut()
                    .zip(&onward)
                    .for_each(|(one, more)| *one |= more);
            }
        }
    }
    behind
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Points 0 to n − 1 in order, and the whole path.
    fn line(n: u16) -> Plan {
        let mut links: Vec<(u16, u16)> = (1..n).map(|far| (far - 1, far)).collect();
        links.push((0, n - 1));
        Plan {
            position: (0..u32::from(n)).collect(),
            whole: Some(links.len() - 1),
            links,
            ..Plan::default()
        }
    }

    fn fork() -> Plan {
        Plan {
            links: vec![(0, 1), (0, 2), (1, 3), (2, 3), (0, 3)],
            whole: Some(4),
            ..line(4)
        }
    }

    #[test]
    fn a_link_is_crossed_from_either_end() {
        let topology = Topology::new(&line(3));
        let crossing = |link, side| Some(LinkCrossing { link, side });
        assert_eq!(topology.between(1, 2), crossing(1, 0));
        assert_eq!(topology.between(2, 1), crossing(1, 1));
        assert_eq!(topology.between(2, 0), crossing(2, 1));
        assert_eq!(topology.between(1, 1), None);
        assert_eq!(topology.segments().collect::<Vec<_>>(), [0, 1]);
        assert_eq!(
            topology.ends(LinkCrossing { link: 1, side: 1 }),
            Some((2, 1))
        );
        assert_eq!(topology.ends(LinkCrossing { link: 3, side: 0 }), None);
    }

    #[test]
    fn neighbours_lead_from_the_sender_on() {
        let topology = Topology::new(&line(4));
        let forward = topology.along(Direction::Forward);
        assert_eq!(forward.neighbours, [(0, 1), (1, 2), (2, 3)]);
        assert_eq!(forward.leaps, [(0, 2), (1, 3), (0, 3)]);
        assert_eq!(forward.whole, Some((0, 3)));
        let reverse = topology.along(Direction::Reverse);
        assert_eq!(reverse.neighbours, [(3, 2), (2, 1), (1, 0)]);
        assert_eq!(reverse.leaps, [(3, 1), (2, 0), (3, 0)]);
        assert!(reverse.is_between(2, 3, 1) && !reverse.is_between(3, 3, 1));
        assert!(reverse.leads(3, 0) && !reverse.leads(0, 3));
    }

    #[test]
    fn complete_is_every_point_without_a_jump() {
        let topology = Topology::new(&line(4));
        let forward = topology.along(Direction::Forward);
        assert!(forward.is_complete([0, 1, 2, 3]));
        for part in [&[0_u16, 1, 2][..], &[1, 2, 3], &[0, 1, 3], &[0, 3], &[2]] {
            assert!(!forward.is_complete(part.iter().copied()), "{part:?}");
        }
    }

    #[test]
    fn a_path_that_forks_has_ways_through_each_branch() {
        let topology = Topology::new(&fork());
        let forward = topology.along(Direction::Forward);
        assert_eq!(forward.leaps, [(0, 3)]);
        assert!(forward.is_complete([0, 2, 3]) && forward.is_complete([0, 1, 3]));
        assert!(forward.are_beside(1, 2) && !forward.are_beside(0, 2));
        assert!(forward.passes(0, 1, 3) && !forward.passes(0, 1, 2));
        assert_eq!(forward.onward(0).collect::<Vec<_>>(), [1, 2]);
        assert!(topology.forks() && !Topology::new(&line(4)).forks());
    }
}
