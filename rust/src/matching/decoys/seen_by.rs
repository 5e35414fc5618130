//! Which points miss packets: patterns of the points that did not see one.

use crate::base::hash::mixed;
use crate::base::hashed::HashedMap;
use crate::matching::observation::Observation;
use crate::plan::{Direction, Plan, Topology};

/// The first packets are counted, then one in so many.
const FIRST: u64 = 4096;
const ONE_IN: u64 = 8;
/// Flows and patterns are kept up to so many.
const MOST_FLOWS: usize = 1 << 16;
const MOST_PATTERNS: usize = 1 << 12;

/// Per direction, what was missed of packets.
#[derive(Debug)]
pub(crate) struct Missing {
    topology: Topology,
    /// First and last place of the packets of a flow, one way.
    reach: HashedMap<(i64, i64)>,
    n_packets: [(u64, u64); 2],
    /// Points that did not see an incomplete packet, as often as that was so.
    patterns: [Vec<u128>; 2],
    /// Points before, or behind, each: what is drawn where none was incomplete.
    halves: [Vec<u128>; 2],
}

impl Missing {
    pub(crate) fn new(plan: &Plan) -> Self {
        Self {
            topology: Topology::new(plan),
            reach: HashedMap::default(),
            n_packets: [(0, 0); 2],
            patterns: [Vec::new(), Vec::new()],
            halves: [Direction::Forward, Direction::Reverse].map(|way| halves(plan, way)),
        }
    }

    /// Whether every point on its way saw a packet, as far as its flow goes; counts some of them, and
    /// tells of those and of the ones `asked` for.
    pub(crate) fn note(
        &mut self,
        plan: &Plan,
        observations: &[Observation],
        direction: Direction,
        asked: bool,
    ) -> bool {
        let (Some(first), Some(last)) = (observations.first(), observations.last()) else {
            return false;
        };
        let n_counted = self.n_packets.get(direction.index()).map_or(0, |(n, _)| *n);
        let is_counted =
            n_counted < FIRST || mixed(first.frame.packed().unsigned_abs()).is_multiple_of(ONE_IN);
        if !is_counted && !asked {
            return false;
        }
        let ends = [first, last].map(|one| plan.place(direction, one.point));
        let way = first.flow ^ u64::from(first.toward);
        let is_known = self.reach.contains_key(&way) || self.reach.len() < MOST_FLOWS;
        if !is_known {
            return false;
        }
        let reach = self.reach.entry(way).or_insert((ends[0], ends[1]));
        *reach = (reach.0.min(ends[0]), reach.1.max(ends[1]));
        let is_linked = |two: &[Observation]| matches!(two, [up, down] if self.topology.between(up.point, down.point).is_some());
        let is_complete = observations.len() > 1
            && *reach == (ends[0], ends[1])
            && observations.windows(2).all(is_linked);
        if is_counted && reach.0 < reach.1 {
            self.count(plan, observations, direction, is_complete);
        }
        is_complete
    }

    fn count(
        &mut self,
        plan: &Plan,
        observations: &[Observation],
        direction: Direction,
        is_complete: bool,
    ) {
        let side = direction.index();
        let Some(((n, n_incomplete), patterns)) = self
            .n_packets
            .get_mut(side)
            .zip(self.patterns.get_mut(side))
        else {
            return;
        };
        *n += 1;
        if !is_complete {
            *n_incomplete += 1;
            let all = mask(0..u16::try_from(plan.n_points()).unwrap_or(u16::MAX));
            let pattern = all & !mask(observations.iter().map(|one| one.point));
            let place = usize::try_from(*n_incomplete).unwrap_or(0) % MOST_PATTERNS;
            match patterns.get_mut(place) {
                Some(old) => *old = pattern,
                None => patterns.push(pattern),
            }
        }
    }

    /// Packets that were counted, and those of them that were incomplete.
    pub(crate) fn n_packets(&self) -> [(u64, u64); 2] {
        self.n_packets
    }

    /// Points that a packet may be missed by.
    pub(crate) fn drawn(&self, direction: Direction, chance: u64) -> u128 {
        let of = |both: &[Vec<u128>; 2]| {
            let all = both.get(direction.index())?;
            let at = usize::try_from(chance % (all.len().max(1) as u64)).unwrap_or(0);
            all.get(at).copied()
        };
        of(&self.patterns).or_else(|| of(&self.halves)).unwrap_or(0)
    }
}

fn halves(plan: &Plan, direction: Direction) -> Vec<u128> {
    let points = || 0..u16::try_from(plan.n_points()).unwrap_or(u16::MAX);
    let place = |point: u16| plan.place(direction, point);
    let before = points().map(|at| mask(points().filter(|one| place(*one) < place(at))));
    let behind = points().map(|at| mask(points().filter(|one| place(*one) > place(at))));
    before.chain(behind).filter(|half| *half != 0).collect()
}

/// A bit per point; paths of more than 128 points share bits.
fn mask(points: impl Iterator<Item = u16>) -> u128 {
    points.fold(0, |all, point| all | 1 << (point % 128))
}
