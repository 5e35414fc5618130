//! Which points miss packets: patterns of the points that did not see one, in a sample of all packets.

use crate::base::hash::mixed;
use crate::base::hashed::HashedMap;
use crate::matching::observation::Observation;
use crate::plan::{Direction, Plan, Topology};
use serde::{Deserialize, Serialize};

/// Packets of the sample.
const MOST_PACKETS: usize = 1 << 14;
/// Patterns that are drawn from, per direction.
const MOST_PATTERNS: usize = 1 << 12;

/// The points that saw one packet.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct SeenBy {
    /// Its flow, one way.
    way: u64,
    direction: Direction,
    /// The places where it was seen first and last.
    ends: (i64, i64),
    /// Several points saw it, and each is next to the one before it.
    is_linked: bool,
    missed: u128,
}

impl SeenBy {
    pub(crate) fn of(
        plan: &Plan,
        topology: &Topology,
        observations: &[Observation],
        direction: Direction,
    ) -> Option<Self> {
        let (first, last) = (observations.first()?, observations.last()?);
        let is_next = |two: &[Observation]| matches!(two, [up, down] if topology.between(up.point, down.point).is_some());
        let all = mask(0..u16::try_from(plan.n_points()).unwrap_or(u16::MAX));
        Some(Self {
            way: first.flow ^ u64::from(first.toward),
            direction,
            ends: (
                plan.place(direction, first.point),
                plan.place(direction, last.point),
            ),
            is_linked: observations.len() > 1 && observations.windows(2).all(is_next),
            missed: all & !mask(observations.iter().map(|one| one.point)),
        })
    }
}

/// Packets that are the same ones in every run: those whose first frame has the least hash.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct SeenSample {
    /// Twice as many before those with the greatest hashes go; ascending once all are there.
    ranked: Vec<(u64, SeenBy)>,
    /// No packet of a greater hash is one of them.
    most: u64,
}

impl Default for SeenSample {
    fn default() -> Self {
        Self {
            ranked: Vec::new(),
            most: u64::MAX,
        }
    }
}

impl SeenSample {
    /// Takes a packet, if it is one of them; `seen` says what is to be known of it.
    #[inline]
    pub(crate) fn take(&mut self, first: &Observation, seen: impl FnOnce() -> Option<SeenBy>) {
        let rank = mixed(first.frame.packed().unsigned_abs());
        if rank > self.most {
            return;
        }
        self.ranked.extend(seen().map(|seen| (rank, seen)));
        if self.ranked.len() >= 2 * MOST_PACKETS {
            self.thin();
        }
    }

    /// Leaves those with the least hashes, in any order.
    #[cold]
    fn thin(&mut self) {
        if self.ranked.len() > MOST_PACKETS {
            let (_, last, _) = self
                .ranked
                .select_nth_unstable_by_key(MOST_PACKETS - 1, |(rank, _)| *rank);
            self.most = last.0;
            self.ranked.truncate(MOST_PACKETS);
        }
    }

    /// Adds those of another partition.
    pub(crate) fn join(&mut self, other: Self) {
        self.ranked.extend(other.ranked);
        self.thin();
    }

    /// Once all are there, in the order of their hashes.
    pub(crate) fn put_in_order(&mut self) {
        self.thin();
        self.ranked.sort_unstable_by_key(|(rank, _)| *rank);
    }

    fn seen(&self) -> impl Iterator<Item = &SeenBy> {
        self.ranked.iter().map(|(_, seen)| seen)
    }
}

/// What was missed, by all that is known in the end.
#[derive(Debug)]
pub(crate) struct Missing {
    /// First and last place of the packets of a flow, one way.
    reach: HashedMap<(i64, i64)>,
    /// Per direction: packets, and those that are incomplete.
    n_packets: [(u64, u64); 2],
    /// Points that did not see an incomplete packet, as often as that was so.
    patterns: [Vec<u128>; 2],
    /// Points before, or behind, each: what is drawn where none was incomplete.
    halves: [Vec<u128>; 2],
}

impl Missing {
    /// By a sample in order, and other packets of flows that are asked for.
    pub(crate) fn of<'a>(
        plan: &Plan,
        sample: &'a SeenSample,
        others: impl Iterator<Item = &'a SeenBy>,
    ) -> Self {
        let mut missing = Self {
            reach: HashedMap::default(),
            n_packets: [(0, 0); 2],
            patterns: [Vec::new(), Vec::new()],
            halves: [Direction::Forward, Direction::Reverse].map(|way| halves(plan, way)),
        };
        for seen in sample.seen().chain(others) {
            let reach = missing.reach.entry(seen.way).or_insert(seen.ends);
            *reach = (reach.0.min(seen.ends.0), reach.1.max(seen.ends.1));
        }
        for seen in sample.seen() {
            missing.count(seen);
        }
        missing
    }

    /// Whether every point on its way saw a packet, as far as its flow goes.
    pub(crate) fn is_complete(&self, seen: &SeenBy) -> bool {
        seen.is_linked && self.reach.get(&seen.way) == Some(&seen.ends)
    }

    fn count(&mut self, seen: &SeenBy) {
        let is_complete = self.is_complete(seen);
        let has_way = self
            .reach
            .get(&seen.way)
            .is_some_and(|(from, to)| from < to);
        let side = seen.direction.index();
        let counts = self.n_packets.get_mut(side).filter(|_| has_way);
        let Some(((n, n_incomplete), patterns)) = counts.zip(self.patterns.get_mut(side)) else {
            return;
        };
        *n += 1;
        if !is_complete {
            *n_incomplete += 1;
            if patterns.len() < MOST_PATTERNS {
                patterns.push(seen.missed);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matching::observation::FrameId;
    use crate::matching::testing::observation;

    fn seen(way: u64) -> SeenBy {
        SeenBy {
            way,
            direction: Direction::Forward,
            ends: (0, 1),
            is_linked: true,
            missed: 0,
        }
    }

    #[test]
    fn the_least_hashes_are_the_sample_however_packets_are_shared_out() {
        let frames: Vec<u64> = (1..=5 * MOST_PACKETS as u64).collect();
        let rank = |number: &u64| {
            let frame = FrameId::new(0, *number);
            mixed(frame.packed().unsigned_abs())
        };
        let mut expected = frames.clone();
        expected.sort_by_key(rank);
        expected.truncate(MOST_PACKETS);
        for n_parts in [1, 3] {
            let mut parts: Vec<SeenSample> = (0..n_parts).map(|_| SeenSample::default()).collect();
            for (at, number) in frames.iter().enumerate() {
                let mut first = observation(1, 0, 0);
                first.frame = FrameId::new(0, *number);
                parts[at % n_parts].take(&first, || Some(seen(*number)));
                assert!(parts[at % n_parts].ranked.len() < 2 * MOST_PACKETS);
            }
            let mut all = SeenSample::default();
            for part in parts {
                all.join(part);
            }
            all.put_in_order();
            assert!(all.seen().map(|one| one.way).eq(expected.iter().copied()));
        }
    }
}
