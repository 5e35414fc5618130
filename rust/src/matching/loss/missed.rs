//! Misses: packets that passed a point, for they were seen before it and after, and are not in its
//! capture.

use crate::base::blocks::{MOMENTS_OF_BLOCK_BITS, N_BLOCKS};
use crate::base::hash::mixed;
use crate::matching::counts::LatePair;
use crate::matching::loss::flows::apart::{FlowsPast, PassedBy, SeenFlows};
use crate::matching::loss::flows::flow_of;
use crate::matching::loss::flows::times::FlowTimes;
use crate::matching::loss::host_segments::{HostSegments, Passing};
use crate::matching::loss::onward_bits;
use crate::matching::loss::pair_segments::{DirectedPair, PairSegments};
use crate::matching::loss::pauses::{Pauses, SeenThen};
use crate::matching::observation::Observation;
use crate::plan::{Along, Capturing, Direction, Plan, Topology};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};

/// Two observations of one packet, one after the other, that are no neighbours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct Jump {
    way: DirectedPair,
    /// One way.
    flow: u64,
    leap: Leap,
    /// The points that were capturing then.
    capturing: Capturing,
}

/// From where to where packets jumped, and the direction that they went in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(crate) struct Leap {
    up: u16,
    down: u16,
    direction: Direction,
}

/// The packets that jumped in a moment, and those of one of their flows, chosen by chance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Then {
    n: u64,
    flow: u64,
    n_of_flow: u64,
}

impl Then {
    fn add(&mut self, other: &Self, moment: u32) {
        self.n += other.n;
        let rank = |one: &Self| (mixed(one.flow ^ u64::from(moment)), one.flow);
        if self.n_of_flow == 0 || rank(other) < rank(self) {
            (self.flow, self.n_of_flow) = (other.flow, other.n_of_flow);
        } else if self.flow == other.flow {
            self.n_of_flow += other.n_of_flow;
        }
    }
}

/// What a point made of packets that others saw before and after it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Missed {
    /// Of those, the ones it saw too.
    pub n_seen: u64,
    /// And those it missed: no whole number where they may have been missed by a parallel point.
    pub n_missed: f64,
    /// Others of flows or addresses of which it saw nothing, which may as well have gone another way.
    pub n_maybe_missed: f64,
    /// Of those that it missed, the ones of times in which it paused.
    pub n_paused: f64,
}

impl Missed {
    /// The share that it missed while it did not pause; 0 where none is known.
    pub(crate) fn share(&self) -> f64 {
        let n_missed = self.n_missed - self.n_paused;
        if n_missed > 0.0 {
            n_missed / self.n_known()
        } else {
            0.0
        }
    }

    /// How many are known to have passed then.
    #[expect(clippy::cast_precision_loss, reason = "a share needs no more")]
    pub(crate) fn n_known(&self) -> f64 {
        self.n_missed - self.n_paused + self.n_seen as f64
    }
}

/// Jumps of which the same points may have missed a packet.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Alike {
    leap: Leap,
    capturing: Capturing,
    /// The segments that packets of their addresses cross, and whether it is known that they cross them.
    crossed: u128,
    is_known: bool,
    /// The branches of forks that their flows do not take, while they take others.
    shut: u128,
    /// A bit for each point that they are apart from.
    apart: u128,
}

impl Alike {
    fn is_apart(&self, point: u16) -> bool {
        let bits = self.apart.checked_shr(u32::from(point));
        bits.is_some_and(|bits| bits & 1 == 1)
    }

    /// The points that their packets passed unseen.
    fn passed(&self, topology: &Topology) -> Vec<u16> {
        let Leap {
            up,
            down,
            direction,
        } = self.leap;
        let along = topology.along(direction);
        let is_open = |up: u16, down: u16| {
            let crossing = topology.between(up, down);
            crossing.is_some_and(|one| self.shut & one.bit() == 0)
        };
        let is_passed = |point: &u16| {
            let is_crossed = topology.bits_at(along, *point) & self.crossed != 0;
            let ends = [(up, *point), (*point, down)];
            self.capturing.has(*point)
                && is_crossed
                && ends.iter().all(|ends| along.is_led(*ends, is_open))
        };
        self.leap.points(topology).filter(is_passed).collect()
    }
}

impl Leap {
    /// The same of packets of the opposite direction.
    pub(super) fn back(self) -> Self {
        Self {
            up: self.down,
            down: self.up,
            direction: self.direction.turned(),
        }
    }

    /// The points that lie between.
    fn points(self, topology: &Topology) -> impl Iterator<Item = u16> {
        let along = topology.along(self.direction);
        topology
            .points()
            .filter(move |point| along.passes(self.up, *point, self.down))
    }

    /// Whether one of them follows the other: where they are parallel, it is not known which one packets passed.
    pub(super) fn is_line(self, topology: &Topology) -> bool {
        let along = topology.along(self.direction);
        let are_beside = |one: u16| {
            let mut others = self.points(topology);
            others.any(|other| other != one && along.are_beside(one, other))
        };
        !self.points(topology).any(are_beside)
    }

    /// Where the path forks, the branches that a flow did not take, if it took others.
    fn shut(self, topology: &Topology, flow_times: &FlowTimes, flow: u64) -> u128 {
        let forks = std::iter::once(self.up).chain(self.points(topology));
        let branches = forks.map(|fork| onward_bits(topology, self.direction, fork));
        let shut = branches.map(|all| match flow_times.ever(flow, all) {
            0 => 0,
            taken => all & !taken,
        });
        shut.fold(0, |all, one| all | one)
    }

    /// A bit for each link that leads to one of them from where packets jumped.
    pub(super) fn entries(self, topology: &Topology) -> u128 {
        let to = self.points(topology);
        let links = to.filter_map(|point| topology.between(self.up, point));
        links.fold(0, |all, one| all | one.bit())
    }

    /// A bit for each link at one of them.
    pub(super) fn bits_between(self, topology: &Topology) -> u128 {
        let along = topology.along(self.direction);
        let points = self.points(topology);
        points.fold(0, |all, point| all | topology.bits_at(along, point))
    }
}

/// Which segments packets crossed: of address pairs, of flows where the path forks, and of hosts.
pub(crate) struct WaysTaken<'a> {
    pub(crate) crossed: &'a PairSegments,
    pub(crate) flow_times: &'a FlowTimes,
    pub(crate) seen_flows: &'a SeenFlows,
    pub(crate) passed_by: &'a PassedBy,
    pub(crate) pauses: &'a Pauses,
    pub(crate) hosts: &'a HostSegments,
}

/// What points saw and missed between two observations of a packet.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Misses {
    /// Per point and direction.
    n_seen: Vec<[u64; 2]>,
    jumped: HashMap<Jump, u64>,
    /// By moment.
    jumped_then: HashMap<(Leap, Capturing, u32), Then>,
}

impl Misses {
    /// Notes the way of a packet, sender to receiver.
    pub(crate) fn note(
        &mut self,
        topology: &Topology,
        observations: &[Observation],
        direction: Direction,
    ) {
        self.note_passed(observations, direction);
        for two in observations.windows(2) {
            let [up, down] = two else { continue };
            self.note_jump(topology, (up, down), direction);
        }
    }

    /// Notes the points that saw it on its way.
    #[inline]
    pub(crate) fn note_passed(&mut self, observations: &[Observation], direction: Direction) {
        if let [_, between @ .., _] = observations {
            for observation in between {
                self.add_seen(observation.point, direction.index(), 1);
            }
        }
    }

    fn note_jump(
        &mut self,
        topology: &Topology,
        (up, down): (&Observation, &Observation),
        direction: Direction,
    ) {
        let crossing = topology.between(up.point, down.point);
        if crossing.is_none_or(|one| topology.is_whole(one.link)) {
            let leap = Leap {
                up: up.point,
                down: down.point,
                direction,
            };
            let jump = Jump {
                way: DirectedPair::of(up),
                flow: flow_of(up),
                leap,
                capturing: topology.capturing((up.aligned_ns, down.aligned_ns)),
            };
            let moment = topology.moment_of(up.aligned_ns);
            let one = Then {
                n: 1,
                flow: jump.flow,
                n_of_flow: 1,
            };
            let then = self.jumped_then.entry((leap, jump.capturing, moment));
            then.or_default().add(&one, moment);
            *self.jumped.entry(jump).or_default() += 1;
        }
    }

    /// Notes that two parts of a packet are one, each of which was noted before.
    pub(crate) fn note_joint(&mut self, topology: &Topology, pair: &LatePair<'_>) {
        let LatePair {
            up,
            down,
            direction,
            ..
        } = *pair;
        for (observation, is_between) in [(up, pair.was_seen_before), (down, pair.is_seen_behind)] {
            self.add_seen(observation.point, direction.index(), u64::from(is_between));
        }
        self.note_jump(topology, (up, down), direction);
    }

    #[inline]
    fn add_seen(&mut self, point: u16, side: usize, n: u64) {
        let at = usize::from(point);
        if self.n_seen.len() <= at {
            self.n_seen.resize(at + 1, [0; 2]);
        }
        if let Some(total) = self.n_seen.get_mut(at).and_then(|both| both.get_mut(side)) {
            *total += n;
        }
    }

    /// Adds what another partition noted.
    pub(crate) fn merge(&mut self, other: Self) {
        for (point, both) in (0..).zip(other.n_seen) {
            for (side, n) in both.into_iter().enumerate() {
                self.add_seen(point, side, n);
            }
        }
        for (jump, n) in other.jumped {
            *self.jumped.entry(jump).or_default() += n;
        }
        for (at, then) in other.jumped_then {
            self.jumped_then.entry(at).or_default().add(&then, at.2);
        }
    }

    /// The ways none of whose packets crossed a segment at a point that they jumped, and how many packets did so.
    pub(crate) fn unseen(
        &self,
        topology: &Topology,
        crossed: &PairSegments,
    ) -> HashMap<(DirectedPair, Leap), u64> {
        let (mut found, mut between) = (HashMap::new(), HashMap::new());
        for (Jump { way, leap, .. }, n) in &self.jumped {
            let between = *between
                .entry(*leap)
                .or_insert_with(|| leap.bits_between(topology));
            if crossed.of(way.pair) & between == 0 {
                *found.entry((*way, *leap)).or_default() += n;
            }
        }
        found
    }

    /// Which points flows go past.
    pub(super) fn passed_by(
        &self,
        topology: &Topology,
        mut past: HashMap<(u16, Direction), FlowsPast>,
        pauses: &Pauses,
    ) -> PassedBy {
        for (at, moment, then) in self.past_points(topology) {
            let (point, side) = at;
            let of_point = past.get_mut(&(point, Direction::of(side == 0)));
            if let Some(of_point) = of_point.filter(|_| pauses.has(at, moment)) {
                of_point.n_paused += then.n;
            }
        }
        let mut found = PassedBy::default();
        for ((point, direction), of_point) in &past {
            let along = topology.along(*direction);
            let is_beside = |other: &u16| along.are_beside(*point, *other);
            let beside = topology.points().filter(is_beside);
            let beside = beside.filter_map(|other| past.get(&(other, *direction)));
            let missed_frac = beside.map(FlowsPast::missed_frac).fold(0.0, f64::max);
            if of_point.is_passed_by(missed_frac) {
                found.add(*point, direction.index());
            }
        }
        found
    }

    /// Of address pairs that pass the points otherwise.
    pub(super) fn flows_past(
        &self,
        topology: &Topology,
        crossed: &PairSegments,
        seen: &SeenFlows,
    ) -> HashMap<(u16, Direction), FlowsPast> {
        let mut between: HashMap<Leap, Vec<(u16, u128)>> = HashMap::new();
        let mut past: HashMap<(u16, Direction), FlowsPast> = HashMap::new();
        for (jump, n) in &self.jumped {
            let (flow, leap) = (jump.flow, jump.leap);
            let along = topology.along(leap.direction);
            let with_bits = |point: u16| (point, topology.bits_at(along, point));
            let points = between.entry(leap);
            let points = points.or_insert_with(|| leap.points(topology).map(with_bits).collect());
            let crossed = crossed.of(jump.way.pair);
            let is_passed =
                |(point, bits): &&(u16, u128)| jump.capturing.has(*point) && crossed & bits != 0;
            for (point, _) in points.iter().filter(is_passed) {
                let of_point = past.entry((*point, leap.direction)).or_default();
                let has_other = |(other, _): &(u16, u128)| {
                    along.are_beside(*point, *other) && seen.has(flow, *other)
                };
                if seen.has(flow, *point) {
                    of_point.n_missed += n;
                } else if !points.iter().any(has_other) {
                    *of_point.unseen.entry(flow).or_default() += n;
                }
            }
        }
        for ((point, direction), of_point) in &mut past {
            of_point.n_seen = self.n_seen(*point, direction.index());
        }
        past
    }

    /// How many jumps are alike: from where to where, of pairs that cross the same segments; of those that sent a
    /// packet or two, other pairs of their hosts.
    fn alike(&self, topology: &Topology, of: &WaysTaken<'_>) -> BTreeMap<Alike, u64> {
        let mut alike = BTreeMap::new();
        for (jump, n) in &self.jumped {
            let Jump { way, leap, .. } = *jump;
            let share = of.hosts.pass_between(topology, of.crossed, (way, leap));
            let crossed = if share == Passing::Nothing {
                of.crossed.of(way.pair)
            } else {
                leap.bits_between(topology)
            };
            let key = Alike {
                leap,
                capturing: jump.capturing,
                crossed,
                is_known: share != Passing::Some,
                shut: leap.shut(topology, of.flow_times, jump.flow),
                apart: of
                    .passed_by
                    .apart(of.seen_flows, jump.flow, leap.direction.index()),
            };
            *alike.entry(key).or_default() += n;
        }
        alike
    }

    /// What each point missed, per direction: of pairs of addresses that pass it otherwise. What
    /// one of several parallel points missed is divided as what they saw is, where the flow takes none of them
    /// or several.
    pub(crate) fn count(&self, plan: &Plan, of: &WaysTaken<'_>) -> Vec<[Missed; 2]> {
        let topology = Topology::new(plan);
        let new = |point| {
            [0, 1].map(|side| Missed {
                n_seen: self.n_seen(point, side),
                ..Missed::default()
            })
        };
        let mut found: Vec<[Missed; 2]> = topology.points().map(new).collect();
        for (alike, n) in self.alike(&topology, of) {
            let direction = alike.leap.direction;
            let (along, side) = (topology.along(direction), direction.index());
            for (point, share) in self.shares(along, &alike.passed(&topology), side) {
                let missed = found.get_mut(usize::from(point));
                if let Some(missed) = missed.and_then(|both| both.get_mut(side)) {
                    let of = if alike.is_known && !alike.is_apart(point) {
                        &mut missed.n_missed
                    } else {
                        &mut missed.n_maybe_missed
                    };
                    *of += share * portion(n, 1);
                }
            }
        }
        for (at, moment, then) in self.past_points(&topology) {
            let missed = found.get_mut(usize::from(at.0));
            let missed = missed.and_then(|both| both.get_mut(at.1));
            if let Some(missed) = missed.filter(|_| of.pauses.has(at, moment)) {
                missed.n_paused = (missed.n_paused + portion(then.n, 1)).min(missed.n_missed);
            }
        }
        found
    }

    /// How many packets jumped which point, in which direction and moment; where points are parallel, nobody knows
    /// which.
    fn past_points(&self, topology: &Topology) -> Vec<((u16, usize), u32, Then)> {
        let mut found = Vec::new();
        for ((leap, capturing, moment), then) in &self.jumped_then {
            if leap.is_line(topology) {
                let points = leap.points(topology).filter(|at| capturing.has(*at));
                let side = leap.direction.index();
                found.extend(points.map(|point| ((point, side), *moment, *then)));
            }
        }
        found.sort_unstable_by_key(|(at, moment, then)| (*at, *moment, then.flow, then.n));
        found
    }

    /// When points paused. Flows that go past a point are no pause.
    pub(super) fn pauses(
        &self,
        topology: &Topology,
        seen_then: &SeenThen,
        past: &HashMap<(u16, Direction), FlowsPast>,
    ) -> Pauses {
        let mut pauses = Pauses::default();
        let all = self.past_points(topology);
        for of_point in all.chunk_by(|one, other| one.0 == other.0) {
            let Some(((point, side), ..)) = of_point.first().copied() else {
                continue;
            };
            let past = past.get(&(point, Direction::of(side == 0)));
            let past = past.filter(|past| !past.unseen.is_empty());
            let mut missed = vec![0.0; N_BLOCKS << MOMENTS_OF_BLOCK_BITS];
            for (_, moment, then) in of_point {
                if let Some(n) = missed.get_mut(*moment as usize) {
                    *n += match past {
                        Some(past) => past.evidence_of(then.flow) * portion(then.n_of_flow, 1),
                        None => portion(then.n, 1),
                    };
                }
            }
            let n: u64 = of_point.iter().map(|(.., then)| then.n).sum();
            let missed_frac = portion(n, n + self.n_seen(point, side));
            pauses.find(seen_then, (point, side), &missed, missed_frac);
        }
        pauses
    }

    fn n_seen(&self, point: u16, side: usize) -> u64 {
        let both = self.n_seen.get(usize::from(point));
        both.and_then(|both| both.get(side)).copied().unwrap_or(0)
    }

    /// Of what passed these points unseen, the share of each: that of what it saw, of parallel ones.
    fn shares(&self, along: &Along, passed: &[u16], side: usize) -> Vec<(u16, f64)> {
        let n_seen = |point: u16| self.n_seen(point, side).max(1);
        let share = |point: &u16| {
            let beside = passed
                .iter()
                .filter(|other| along.are_beside(*point, **other));
            let all = beside.map(|other| n_seen(*other)).sum();
            (*point, portion(n_seen(*point), all))
        };
        passed.iter().map(share).collect()
    }
}

#[expect(clippy::cast_precision_loss, reason = "a share needs no more")]
fn portion(n: u64, of: u64) -> f64 {
    n as f64 / of as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matching::testing::{fork, observation, path};
    use crate::plan::LinkCrossing;

    /// Notes forward packets of a pair that were seen at these points.
    fn note(misses: &mut Misses, plan: &Plan, pair: u64, points: &[u16], n: u64) {
        let seen = |point: &u16| Observation {
            pair,
            ..observation(1, *point, 0)
        };
        let observations: Vec<Observation> = points.iter().map(seen).collect();
        for _ in 0..n {
            misses.note(&Topology::new(plan), &observations, Direction::Forward);
        }
    }

    /// Seen and missed per point, forward, where pair 1 crosses these links, and pair 2 all.
    fn counted(misses: &Misses, plan: &Plan, crossed: &[usize]) -> Vec<(u64, f64)> {
        counted_of(misses, plan, crossed, &FlowTimes::default())
    }

    fn counted_of(
        misses: &Misses,
        plan: &Plan,
        crossed: &[usize],
        flow_times: &FlowTimes,
    ) -> Vec<(u64, f64)> {
        let bit = |link: usize| LinkCrossing { link, side: 0 }.bit();
        let bits = |links: &[usize]| links.iter().fold(0, |all, at| all | bit(*at));
        let all: Vec<usize> = (0..plan.links.len()).collect();
        let crossed = PairSegments::from_iter([(1, bits(crossed)), (2, bits(&all))]);
        let of = WaysTaken {
            crossed: &crossed,
            flow_times,
            seen_flows: &SeenFlows::default(),
            passed_by: &PassedBy::default(),
            pauses: &Pauses::default(),
            hosts: &HostSegments::default(),
        };
        let found = misses.count(plan, &of);
        let found = found.into_iter();
        found.map(|[to, _]| (to.n_seen, to.n_missed)).collect()
    }

    #[test]
    fn a_packet_seen_before_and_after_was_missed_between() {
        let plan = path(4);
        let mut misses = Misses::default();
        note(&mut misses, &plan, 2, &[0, 1, 2, 3], 5);
        note(&mut misses, &plan, 2, &[0, 2, 3], 2);
        note(&mut misses, &plan, 2, &[0, 3], 1);
        note(&mut misses, &plan, 2, &[0, 1], 9);
        let found = counted(&misses, &plan, &[]);
        assert_eq!(found, [(0, 0.0), (5, 3.0), (7, 1.0), (0, 0.0)]);
    }

    #[test]
    fn a_pair_that_never_passes_is_not_missed() {
        let plan = path(3);
        let mut misses = Misses::default();
        note(&mut misses, &plan, 1, &[0, 2], 4);
        assert_eq!(counted(&misses, &plan, &[])[1], (0, 0.0));
        assert_eq!(counted(&misses, &plan, &[1])[1], (0, 4.0));
    }

    #[test]
    fn of_parallel_points_the_one_that_the_pair_passes_missed_it() {
        let plan = fork();
        let mut misses = Misses::default();
        note(&mut misses, &plan, 2, &[0, 1, 3], 30);
        note(&mut misses, &plan, 2, &[0, 2, 3], 10);
        note(&mut misses, &plan, 1, &[0, 3], 4);
        let found = counted(&misses, &plan, &[0, 2]);
        assert_eq!(found[1..3], [(30, 4.0), (10, 0.0)]);
        let found = counted(&misses, &plan, &[0, 1, 2, 3]);
        assert_eq!(found[1..3], [(30, 3.0), (10, 1.0)]);
    }

    #[test]
    fn of_parallel_points_the_one_that_the_flow_passes_missed_it() {
        let plan = fork();
        let topology = Topology::new(&plan);
        let mut misses = Misses::default();
        note(&mut misses, &plan, 2, &[0, 1, 3], 30);
        note(&mut misses, &plan, 2, &[0, 2, 3], 10);
        note(&mut misses, &plan, 1, &[0, 3], 4);
        let mut flow_times = FlowTimes::default();
        let flow = flow_of(&observation(1, 0, 0));
        let to = |point: u16| topology.between(0, point).unwrap().bit();
        flow_times.add(flow, to(2), 7);
        let found = counted_of(&misses, &plan, &[0, 1, 2, 3], &flow_times);
        assert_eq!(found[1..3], [(30, 0.0), (10, 4.0)]);
        flow_times.add(flow, to(1), 70);
        let found = counted_of(&misses, &plan, &[0, 1, 2, 3], &flow_times);
        assert_eq!(found[1..3], [(30, 3.0), (10, 1.0)]);
    }
}
