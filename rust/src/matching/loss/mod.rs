//! Losses: where packets were last seen, of address pairs that go farther otherwise.

pub(crate) mod allocate;
pub(crate) mod arrivals;
pub(crate) mod flows;
pub(crate) mod host_segments;
pub(crate) mod loss_rows;
pub(crate) mod lost_packets;
pub mod missed;
pub(crate) mod pair_segments;
pub(crate) mod pauses;
pub(crate) mod segment_loss;
#[cfg(test)]
mod testing;

use crate::base::blocks::MOMENTS_OF_BLOCK_BITS;
use crate::matching::late::{Leftover, WaitingTimes};
use crate::matching::loss::arrivals::Arrivals;
use crate::matching::loss::flows::apart::{PassedBy, SeenFlows};
use crate::matching::loss::flows::end_times::EndTimes;
use crate::matching::loss::flows::flow_of;
use crate::matching::loss::flows::times::FlowTimes;
use crate::matching::loss::host_segments::HostSegments;
use crate::matching::loss::lost_packets::ToldBy;
use crate::matching::loss::missed::{Missed, Misses, WaysTaken};
use crate::matching::loss::pair_segments::{DirectedPair, PairSegments};
use crate::matching::loss::pauses::{Pauses, SeenThen, unmirrored_at};
use crate::matching::observation::Observation;
use crate::plan::{Direction, LinkCrossing, Plan, Topology};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;

/// Where packets of an address pair ended before their path did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each may be so without the others"
)]
pub(crate) struct End {
    pub(crate) way: DirectedPair,
    /// Nothing but where others of their addresses go says that they went in this direction.
    pub(crate) is_guessed: bool,
    /// Their flow, one way. Of several ways it mostly takes one.
    pub(crate) flow: u64,
    /// The point before the last one that saw them.
    pub(crate) from: Option<u16>,
    /// The last one.
    pub(crate) point: u16,
    pub(crate) direction: Direction,
    /// They had entered the whole path at its beginning.
    pub(crate) had_entered: bool,
    /// They were cut or joined since: they entered in packets of other bytes, and those that arrive so count by their
    /// bytes alone.
    pub(crate) was_cut: bool,
    /// Of streams that may be cut and joined, it is not told which bytes they carry.
    pub(crate) is_untold: bool,
    /// The point at which all that led on from there ends, if its mirror was losing frames when they
    /// were to be there.
    pub(crate) unmirrored: Option<u16>,
    /// Of a packet with several receivers: the point that it did not come to.
    pub(crate) branch: Option<u16>,
    /// The moment of their last observation.
    pub(crate) moment: u32,
    /// The segments that lead on from the last point, of those that were waited for long enough, by
    /// [`crate::plan::LinkCrossing::bit`].
    pub(crate) waited_for: u128,
}

impl End {
    /// Where a packet ended; `None` if nothing leads on from there that was waited for long enough.
    fn of(
        (plan, topology): (&Plan, &Topology),
        left: &Leftover,
        waits: &WaitingTimes,
    ) -> Option<Self> {
        let (last, direction) = (&left.last, left.direction);
        let along = topology.along(direction);
        let is_waited_for = |crossing: &LinkCrossing| {
            let until_ns = last.aligned_ns.saturating_add(waits.of(*crossing));
            let (start_ns, end_ns) = plan.cover_of(crossing.link);
            start_ns <= last.aligned_ns && until_ns <= end_ns
        };
        let is_branch = |down: &u16| left.branch.is_none_or(|branch| branch == *down);
        let onward = || along.onward(last.point).filter(is_branch);
        let onward_links = onward().filter_map(|down| topology.between(last.point, down));
        let waited_for = onward_links.filter(is_waited_for);
        let waited_for = waited_for.fold(0, |all, crossing| all | crossing.bit());
        let had_entered = whole_left(topology, left).is_some_and(|whole| {
            let until_ns = last.aligned_ns.saturating_add(waits.of(whole));
            is_waited_for(&whole) && is_watched(topology, left, until_ns)
        });
        // where nothing leads on, it has arrived, at whichever end of the path
        let may_be_lost = onward().next().is_some() && (waited_for != 0 || had_entered);
        may_be_lost.then_some(Self {
            way: DirectedPair::of(last),
            is_guessed: left.is_guessed(plan),
            flow: flow_of(last),
            from: left.from,
            point: last.point,
            direction,
            had_entered,
            was_cut: had_entered && was_cut(topology, left),
            is_untold: last.range.has_bytes() && left.lost.is_none_or(|lost| lost.bytes == 0),
            unmirrored: unmirrored_at(plan, topology, last, direction),
            branch: left.branch,
            moment: plan.blocks.moment_of(last.aligned_ns),
            waited_for,
        })
    }

    /// The block of time of their last observation.
    pub(crate) fn block(&self) -> usize {
        (self.moment >> MOMENTS_OF_BLOCK_BITS) as usize
    }
}

/// The whole path, if a packet entered it at its beginning, and did not leave it at its end.
fn whole_left(topology: &Topology, left: &Leftover) -> Option<LinkCrossing> {
    let along = topology.along(left.direction);
    let (up, down) = along.whole?;
    let goes_to = |branch: u16| branch == down || along.leads(branch, down);
    let is_on_way = left.branch.is_none_or(goes_to);
    let has_entered = left.entered_in_another || left.first.point == up;
    let is_left = has_entered && left.last.point != down && is_on_way;
    is_left.then(|| topology.between(up, down)).flatten()
}

/// Whether a packet entered the whole path in packets of other bytes.
fn was_cut(topology: &Topology, left: &Leftover) -> bool {
    let entry = topology.along(left.direction).whole.map(|(up, _)| up);
    let is_seen = Some(left.first.point) == entry;
    left.entered_in_another && !is_seen && left.told_by == ToldBy::Packet
}

/// Whether the points that a packet passed unseen, and those that it would have come to, were capturing
/// then: those that arrive count on the whole path by the same rule.
fn is_watched(topology: &Topology, left: &Leftover, until_ns: i64) -> bool {
    let along = topology.along(left.direction);
    let (first, last) = (&left.first, &left.last);
    let from = left.from.unwrap_or(first.point);
    let span_ns = (first.aligned_ns, last.aligned_ns);
    let came = [(first.point, from), (from, last.point)];
    let has_come = came
        .iter()
        .all(|ends| topology.is_watched(along, *ends, span_ns));
    let to = |(_, end): (u16, u16)| (last.point, end);
    let ahead_ns = (last.aligned_ns, until_ns);
    let is_ahead = |ends| topology.is_watched(along, ends, ahead_ns);
    has_come && along.whole.map(to).is_some_and(is_ahead)
}

/// What became of the packets of each address pair. Pairs may be many, ends are few.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Losses {
    pub(crate) crossed: PairSegments,
    pub(crate) arrivals: Arrivals,
    /// Of flows, one way, where the path forks.
    flow_times: FlowTimes,
    seen_flows: SeenFlows,
    seen_then: SeenThen,
    pub(crate) ended: EndTimes,
    pub(crate) misses: Misses,
    /// Address pairs of which some packet did not pass the whole path.
    with_parts: HashSet<DirectedPair>,
    /// Known when all is noted.
    #[serde(skip)]
    hosts: HostSegments,
    #[serde(skip)]
    passed_by: PassedBy,
    #[serde(skip)]
    pauses: Pauses,
    /// Segments to points that miss much: what flows took of them does not show when.
    #[serde(skip)]
    hidden: u128,
}

impl Losses {
    /// Notes the way of a packet, and the segments that it crossed.
    pub(crate) fn note_way(
        &mut self,
        topology: &Topology,
        observations: &[Observation],
        direction: Direction,
        crossed: u128,
    ) {
        self.note_crossed(topology, observations, crossed);
        if observations.last().is_some_and(|last| last.directed) {
            self.misses.note(topology, observations, direction);
            self.note_seen(topology, observations, direction);
        }
    }

    /// Notes the way of a packet that each point of it saw.
    #[inline]
    pub(crate) fn note_complete(
        &mut self,
        topology: &Topology,
        observations: &[Observation],
        direction: Direction,
        crossed: u128,
    ) {
        self.note_crossed(topology, observations, crossed);
        if observations.last().is_some_and(|last| last.directed) {
            self.misses.note_passed(observations, direction);
            self.note_seen(topology, observations, direction);
        }
    }

    #[inline]
    fn note_seen(
        &mut self,
        topology: &Topology,
        observations: &[Observation],
        direction: Direction,
    ) {
        const BETWEEN_TWO: usize = 3;
        if topology.points().len() < BETWEEN_TWO {
            return;
        }
        let mut before = observations.first();
        for one in observations {
            self.seen_flows.add(flow_of(one), one.point);
            // in the moment of the point before it, as what jumped this one
            let at_ns = before.map_or(one.aligned_ns, |before| before.aligned_ns);
            let moment = topology.moment_of(at_ns);
            self.seen_then.add((one.point, direction.index()), moment);
            before = Some(one);
        }
    }

    /// Notes the segments that a packet crossed.
    pub(crate) fn note_crossed(
        &mut self,
        topology: &Topology,
        observations: &[Observation],
        crossed: u128,
    ) {
        if let Some(last) = observations.last() {
            self.crossed.add(DirectedPair::of(last), crossed);
            if topology.forks() {
                let flow = flow_of(last);
                let block = topology.block_of(last.aligned_ns);
                self.arrivals.add(crossed, block);
                let branches = crossed & topology.branches();
                self.flow_times.add(flow, branches, block);
            }
        }
    }

    /// The segments that packets like those that ended crossed: at a fork, those of their flow at the time, if it
    /// crossed any from there; or else those of other packets of their hosts.
    pub(crate) fn crossed_of(&self, topology: &Topology, end: &End) -> u128 {
        let own = self.crossed.of_way(end.way);
        let back = || self.crossed.of_way(end.way.back());
        // of a direction that is guessed, the way that packets themselves went tells
        let of_pair = if end.is_guessed { own } else { own | back() };
        let onward = onward_bits(topology, end.direction, end.point);
        if of_pair & onward == 0 {
            return of_pair | self.hosts.crossed(end, onward, back());
        }
        // with several receivers, its packets take several branches at once
        if topology.forks() && end.branch.is_none() {
            self.of_flow_then(topology, end, of_pair)
        } else {
            of_pair
        }
    }

    /// Of segments, where the path forks those that a flow took when one of its packets ended; and the whole path if
    /// they lead to its end.
    fn of_flow_then(&self, topology: &Topology, end: &End, of_pair: u128) -> u128 {
        let mut found = of_pair;
        for point in topology.points() {
            let branches = onward_bits(topology, end.direction, point);
            let of_pair = of_pair & branches;
            let taken = if branches & self.hidden == 0 {
                self.flow_times.taken(end.flow, of_pair, end.block())
            } else {
                self.flow_times.ever(end.flow, of_pair)
            };
            if taken != 0 {
                found &= !branches | taken;
            }
        }
        let is_elsewhere =
            leads_to_end(topology, end, of_pair) && !leads_to_end(topology, end, found);
        let whole = whole_bit(topology, end.direction);
        found & !if is_elsewhere { whole } else { 0 }
    }

    /// Where nothing says that they were to go on: the segments that they may have been to cross.
    pub(crate) fn maybe_crossed_of(&self, topology: &Topology, end: &End) -> u128 {
        if self.crossed_of(topology, end) & onward_bits(topology, end.direction, end.point) == 0 {
            self.hosts.maybe_crossed(end)
        } else {
            0
        }
    }

    /// Learns what all together say: what hosts say of address pairs of which nothing crossed a segment behind the
    /// point that saw them, which points flows go past, when points paused, and which points miss much.
    pub(crate) fn learn(&mut self, plan: &Plan) {
        const MUCH: f64 = 0.2;
        let topology = Topology::new(plan);
        self.ended.settle();
        self.hosts = HostSegments::of(&topology, self);
        let past = self
            .misses
            .flows_past(&topology, &self.crossed, &self.seen_flows);
        self.pauses = self.misses.pauses(&topology, &self.seen_then, &past);
        self.passed_by = self.misses.passed_by(&topology, past, &self.pauses);
        if !topology.forks() {
            return;
        }
        let points = self.missed(plan);
        let links = 0..plan.links.len();
        let crossings = links.flat_map(|link| [0, 1].map(|side| LinkCrossing { link, side }));
        let misses_much = |one: &LinkCrossing| {
            let down = topology.ends(*one).map(|(_, down)| usize::from(down));
            let missed = down.and_then(|down| points.get(down)?.get(one.side));
            missed.is_some_and(|missed| missed.share() > MUCH)
        };
        let hidden = crossings.filter(misses_much);
        self.hidden = hidden.fold(0, |all, one| all | one.bit());
    }

    /// What each point missed, per direction.
    pub(crate) fn missed(&self, plan: &Plan) -> Vec<[Missed; 2]> {
        let of = WaysTaken {
            crossed: &self.crossed,
            flow_times: &self.flow_times,
            seen_flows: &self.seen_flows,
            passed_by: &self.passed_by,
            pauses: &self.pauses,
            hosts: &self.hosts,
        };
        self.misses.count(plan, &of)
    }

    /// Whether a point may have captured nothing of packets that ended before it, if they passed it.
    pub(crate) fn is_hidden_at(&self, end: &End, point: u16) -> bool {
        let side = end.direction.index();
        let flow = (end.flow, side);
        self.passed_by.is_apart(&self.seen_flows, flow, point)
            || self.pauses.has((point, side), end.moment)
    }

    /// Whether nothing but what is sent to their receiver says that they were to go on.
    pub(crate) fn is_by_receiver(&self, topology: &Topology, end: &End) -> bool {
        let onward = onward_bits(topology, end.direction, end.point);
        let own = self.crossed.of(end.way.pair) & onward;
        own == 0 && self.hosts.to_receiver(end) & onward != 0
    }

    /// Notes a packet that did not pass the whole path.
    pub(crate) fn note_part(&mut self, one: &Observation) {
        self.with_parts.insert(DirectedPair::of(one));
    }

    /// Notes what was not seen after a packet's last observation. Returns where that was, if it was
    /// waited for long enough, so that something of it may be lost.
    pub(crate) fn note_end(
        &mut self,
        at: (&Plan, &Topology),
        left: &Leftover,
        waits: &WaitingTimes,
    ) -> Option<End> {
        let lost = left.lost?;
        let end = End::of(at, left, waits)?;
        self.ended.add(end, lost);
        Some(end)
    }

    /// Adds what another partition noted.
    pub(crate) fn merge(&mut self, other: Self) {
        self.crossed.join(other.crossed);
        self.arrivals.merge(other.arrivals);
        self.flow_times.merge(other.flow_times);
        self.seen_flows.merge(other.seen_flows);
        self.seen_then.merge(other.seen_then);
        self.ended.merge(other.ended);
        self.misses.merge(other.misses);
        self.with_parts.extend(other.with_parts);
    }
}

/// The segments that lead on from a point.
fn onward_bits(topology: &Topology, direction: Direction, point: u16) -> u128 {
    let onward = topology.along(direction).onward(point);
    let onward = onward.filter_map(|down| topology.between(point, down));
    onward.fold(0, |all, one| all | one.bit())
}

/// Whether such segments lead from where packets ended to the end of the whole path.
fn leads_to_end(topology: &Topology, end: &End, segments: u128) -> bool {
    let along = topology.along(end.direction);
    let is_such = |up: u16, down: u16| {
        let crossing = topology.between(up, down);
        crossing.is_some_and(|one| segments & one.bit() != 0)
    };
    let is_led = |(_, down): (u16, u16)| along.is_led((end.point, down), is_such);
    along.whole.is_some_and(is_led)
}

fn whole_bit(topology: &Topology, direction: Direction) -> u128 {
    let ends = topology.along(direction).whole;
    let whole = ends.and_then(|(up, down)| topology.between(up, down));
    whole.map_or(0, LinkCrossing::bit)
}

/// Whether all points of its part of the path were capturing.
pub(crate) fn is_covered(plan: &Plan, observation: &Observation) -> bool {
    let component = plan
        .component
        .get(usize::from(observation.point))
        .copied()
        .unwrap_or(0);
    let cover = plan.cover.get(usize::from(component));
    cover.is_some_and(|(start, end)| (*start..=*end).contains(&observation.aligned_ns))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::blocks::N_BLOCKS;
    use crate::identity::stream_bytes::StreamBytes;
    use crate::matching::loss::allocate::allocate;
    use crate::matching::loss::segment_loss::LinkLoss;
    use crate::matching::streams::Lost;
    use crate::matching::testing::{observation, path};

    fn bit(link: usize, side: usize) -> u128 {
        LinkCrossing { link, side }.bit()
    }

    /// Notes a forward packet of a pair that was seen at these points.
    fn note(losses: &mut Losses, plan: &Plan, pair: u64, points: &[u16], at_ns: i64) {
        let seen: Vec<Observation> = points
            .iter()
            .map(|point| Observation {
                pair,
                ..observation(1, *point, at_ns)
            })
            .collect();
        let is_crossed = |ends: &(u16, u16)| {
            seen.windows(2)
                .any(|two| (two[0].point, two[1].point) == *ends)
        };
        let mut crossed = 0;
        for (index, ends) in plan.links.iter().enumerate() {
            let is_whole = Some(index) == plan.whole
                && points.first() == Some(&ends.0)
                && points.last() == Some(&ends.1);
            if is_crossed(ends) || is_whole {
                crossed |= bit(index, 0);
            }
        }
        losses.note_crossed(&Topology::new(plan), &seen, crossed);
        if let Some(last) = seen.last() {
            note_end(losses, plan, &seen, Direction::Forward, last);
        }
    }

    fn note_end(
        losses: &mut Losses,
        plan: &Plan,
        seen: &[Observation],
        direction: Direction,
        last: &Observation,
    ) {
        let left = Leftover::of(seen, direction, Some(Lost::whole(last)), false).unwrap();
        let topology = Topology::new(plan);
        losses.note_end((plan, &topology), &left, &WaitingTimes::default());
    }

    fn allocated(losses: &Losses, plan: &Plan) -> Vec<[LinkLoss; 2]> {
        allocate(plan, losses, &vec![[1; 2]; plan.links.len()]).links
    }

    fn n_lost(losses: &Losses, plan: &Plan) -> Vec<[u64; 2]> {
        let all = allocated(losses, plan).into_iter();
        all.map(|both| both.map(|link| link.lost.packets)).collect()
    }

    #[test]
    fn a_loss_is_on_the_segment_after_the_last_observation() {
        let plan = path(4);
        let mut losses = Losses::default();
        note(&mut losses, &plan, 1, &[0, 1, 2, 3], 0);
        note(&mut losses, &plan, 1, &[0], 0);
        note(&mut losses, &plan, 1, &[0, 1, 2], 0);
        note(&mut losses, &plan, 1, &[0, 2], 0);
        note(&mut losses, &plan, 1, &[1], 0);
        assert_eq!(n_lost(&losses, &plan), [[1, 0], [1, 0], [2, 0], [3, 0]]);
    }

    #[test]
    fn a_pair_that_never_goes_there_loses_nothing_there() {
        let plan = path(3);
        let mut losses = Losses::default();
        note(&mut losses, &plan, 1, &[0, 1], 0);
        note(&mut losses, &plan, 2, &[0], 0);
        note(&mut losses, &plan, 3, &[0, 1, 2], 0);
        assert_eq!(n_lost(&losses, &plan), [[0, 0]; 3]);
    }

    #[test]
    fn what_one_partition_saw_crossing_another_may_have_lost() {
        let plan = path(3);
        let (mut one, mut other) = (Losses::default(), Losses::default());
        note(&mut one, &plan, 1, &[0, 1, 2], 0);
        note(&mut other, &plan, 1, &[0, 1], 0);
        one.merge(other);
        assert_eq!(n_lost(&one, &plan), [[0, 0], [1, 0], [1, 0]]);
    }

    #[test]
    fn outside_the_cover_nothing_is_lost() {
        let mut plan = path(2);
        plan.cover = vec![(100, 200)];
        let mut losses = Losses::default();
        note(&mut losses, &plan, 1, &[0, 1], 150);
        for at_ns in [99, 100, 200, 201, i64::MIN, i64::MAX] {
            note(&mut losses, &plan, 1, &[0], at_ns);
        }
        assert_eq!(n_lost(&losses, &plan), [[2, 0]]);
    }

    #[test]
    fn losses_are_kept_by_the_time_of_the_last_observation() {
        let mut plan = path(2);
        plan.blocks.length_ns = 10;
        let mut losses = Losses::default();
        note(&mut losses, &plan, 1, &[0, 1], 0);
        for at_ns in [5, 25, 29] {
            note(&mut losses, &plan, 1, &[0], at_ns);
        }
        let counted = allocated(&losses, &plan);
        let [forward, reverse] = &counted[0];
        assert_eq!(forward.blocks[..4], [1, 0, 2, 0]);
        assert_eq!(forward.blocks.len(), N_BLOCKS);
        assert!(reverse.blocks.is_empty());
    }

    #[test]
    fn directions_are_apart() {
        let plan = path(2);
        let mut losses = Losses::default();
        let far = [observation(1, 1, 0)];
        losses.note_crossed(&Topology::new(&plan), &far, bit(0, 1));
        note_end(&mut losses, &plan, &far, Direction::Reverse, &far[0]);
        losses.note_crossed(&Topology::new(&plan), &far, bit(0, 0));
        note_end(&mut losses, &plan, &far, Direction::Forward, &far[0]);
        let undirected = [Observation {
            directed: false,
            ..far[0]
        }];
        note_end(
            &mut losses,
            &plan,
            &undirected,
            Direction::Reverse,
            &undirected[0],
        );
        assert_eq!(n_lost(&losses, &plan), [[0, 1]]);
    }

    #[test]
    fn a_pair_whose_packets_arrive_takes_one_entry() {
        let plan = path(3);
        let mut losses = Losses::default();
        (0..1000).for_each(|pair| note(&mut losses, &plan, pair, &[0, 1, 2], 0));
        assert_eq!(
            (losses.crossed.n_pairs(), losses.ended.iter().count()),
            (1000, 0)
        );
    }

    /// It entered in one packet with others, which the first point has: on the whole path that one would
    /// count, so what was lost of it there are bytes.
    #[test]
    fn a_piece_of_what_entered_whole_is_a_lost_packet_behind_the_cut_alone() {
        let plan = path(3);
        let topology = Topology::new(&plan);
        let mut losses = Losses::default();
        note(&mut losses, &plan, 1, &[0, 1, 2], 0);
        let seen = [Observation {
            pair: 1,
            range: StreamBytes::new(1, 1_000),
            ..observation(1, 1, 0)
        }];
        let all = Some(Lost::whole(&seen[0]));
        let mut left = Leftover::of(&seen, Direction::Forward, all, false).unwrap();
        left.entered_in_another = true;
        losses.note_end((&plan, &topology), &left, &WaitingTimes::default());
        let lost: Vec<_> = allocated(&losses, &plan)
            .iter()
            .map(|[forward, _]| (forward.lost.packets, forward.lost.bytes))
            .collect();
        assert_eq!(lost, [(0, 0), (1, 1_000), (0, 1_000)]);
    }
}
