//! Packets that every point of a line saw: they cross the same segments, which are looked up once for all.

use crate::matching::counts::segment_way::SegmentWays;
use crate::matching::observation::Observation;
use crate::plan::{Along, Direction, Topology};

/// A line of points one way, and what lies between them.
#[derive(Debug)]
pub(crate) struct CompletePath {
    points: Vec<u16>,
    /// Segments, and the whole path if it is more than one: by the places of their ends among the points, and
    /// their own among the ways.
    pub(crate) pairs: Vec<(usize, usize, usize)>,
    /// All of these segments, see [`crate::plan::LinkCrossing::bit`].
    pub(crate) crossed: u128,
}

impl CompletePath {
    /// None where the points are no line.
    fn of(along: &Along, topology: &Topology, ways: &SegmentWays) -> Option<Self> {
        let (ups, downs): (Vec<u16>, Vec<u16>) = along.neighbours.iter().copied().unzip();
        let is_line = !ups.is_empty() && ups.iter().skip(1).eq(downs.iter().rev().skip(1).rev());
        if !is_line {
            return None;
        }
        let points: Vec<u16> = ups.first().into_iter().chain(&downs).copied().collect();
        let last = points.len() - 1;
        let is_whole = |(up, down): (u16, u16)| {
            let crossing = topology.between(up, down);
            crossing.is_some_and(|one| topology.is_whole(one.link))
        };
        let ends = (*points.first()?, *points.last()?);
        let steps = (0..last).map(|at| (at, at + 1));
        let whole = Some((0, last)).filter(|_| last > 1 && is_whole(ends));
        let placed = |(up, down): (usize, usize)| {
            let way = ways.place_of(*points.get(up)?, *points.get(down)?)?;
            Some((up, down, way))
        };
        let pairs: Option<Vec<_>> = steps.chain(whole).map(placed).collect();
        let pairs = pairs?;
        let crossed = pairs.iter().filter_map(|(.., way)| ways.crossing(*way));
        Some(Self {
            points,
            crossed: crossed.fold(0, |all, one| all | one.bit()),
            pairs,
        })
    }

    /// Whether a packet was seen at each of its points, in their order.
    #[inline]
    pub(crate) fn is_of(&self, observations: &[Observation]) -> bool {
        let mut both = observations.iter().zip(&self.points);
        observations.len() == self.points.len() && both.all(|(one, point)| one.point == *point)
    }
}

/// Those of all routes, each way.
#[derive(Debug)]
pub(crate) struct CompletePaths(Vec<[Option<CompletePath>; 2]>);

impl CompletePaths {
    pub(crate) fn new(topology: &Topology, ways: &SegmentWays) -> Self {
        let of = |direction| CompletePath::of(topology.along(direction), topology, ways);
        let of_route = |route| [true, false].map(|way| of(Direction::on(route, way)));
        Self(topology.routes().map(of_route).collect())
    }

    /// The path that a packet passed, if each of its points saw it.
    #[inline]
    pub(crate) fn of(
        &self,
        observations: &[Observation],
        direction: Direction,
    ) -> Option<&CompletePath> {
        let of_route = self.0.get(usize::from(direction.route()))?;
        let path = of_route.get(direction.index())?.as_ref()?;
        path.is_of(observations).then_some(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matching::testing::{fork, observation, path};
    use crate::plan::Plan;

    fn complete(plan: &Plan, direction: Direction, points: &[u16]) -> Option<Vec<(usize, usize)>> {
        let folder = std::env::temp_dir().join(format!("complete-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let ways = SegmentWays::new(plan, &folder, 0).unwrap();
        let paths = CompletePaths::new(&Topology::new(plan), &ways);
        std::fs::remove_dir_all(folder).unwrap();
        let seen: Vec<_> = points.iter().map(|at| observation(1, *at, 0)).collect();
        let found = paths.of(&seen, direction)?;
        Some(
            found
                .pairs
                .iter()
                .map(|(up, down, _)| (*up, *down))
                .collect(),
        )
    }

    #[test]
    fn a_packet_that_all_points_saw_crosses_all_segments_and_the_whole() {
        let whole = path(3);
        let plan = Plan {
            links: vec![(0, 1), (1, 2)],
            whole: None,
            ..path(3)
        };
        let (forward, reverse) = (Direction::Forward, Direction::Reverse);
        let steps = vec![(0, 1), (1, 2)];
        let all = vec![(0, 1), (1, 2), (0, 2)];
        assert_eq!(complete(&plan, reverse, &[2, 1, 0]), Some(steps));
        assert_eq!(complete(&whole, forward, &[0, 1, 2]), Some(all));
        for points in [&[0, 1][..], &[0, 2], &[2, 1, 0], &[]] {
            assert_eq!(complete(&whole, forward, points), None, "{points:?}");
        }
        assert_eq!(complete(&fork(), forward, &[0, 1, 3]), None, "no line");
    }
}
