//! Whether three points agree: equal packets are matched again without a point in the middle, and what
//! then is one packet at its neighbours must have been one through it (docs/method/match.md).

use crate::matching::decoys::equal_packets::{Draw, EqualPackets};
use crate::matching::observation::{FrameId, Observation};
use crate::matching::resolve::Resolver;
use crate::matching::resolve::copies::Folded;
use crate::matching::resolve::piece::Sink;
use crate::plan::Direction;
use std::collections::BTreeMap;

/// Upstream, middle and downstream point.
pub type Three = (u16, u16, u16);

/// What was matched without the middle point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Closed {
    /// Pairs of packets that the middle point saw.
    pub n: u64,
    /// Those of them that join other frames than the way through the middle does.
    pub n_open: u64,
    /// The first of those.
    pub open: Option<OpenTriangle>,
}

/// A pair that was made without the middle point, and the frame at one end that it should have had.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct OpenTriangle {
    /// Its upstream frame.
    pub up: FrameId,
    /// Its downstream frame.
    pub down: FrameId,
    /// What stands there on the way through the middle point of one of the two.
    pub through: FrameId,
}

impl Closed {
    fn merge(&mut self, other: Self) {
        self.n += other.n;
        self.n_open += other.n_open;
        let firsts = [self.open, other.open].into_iter().flatten();
        self.open = firsts.min();
    }
}

/// The check of one identity.
#[derive(Debug)]
pub(crate) struct Triangle<'a> {
    packets: &'a EqualPackets,
    /// Its frames and copies of these: packet, and place on its way.
    places: Vec<(FrameId, usize, usize)>,
}

impl<'a> Triangle<'a> {
    pub(crate) fn of(packets: &'a EqualPackets) -> Self {
        Self {
            packets,
            places: packets.of_frames(),
        }
    }

    /// Matches the packets again without one of the points in the middle.
    pub(crate) fn check(
        &self,
        resolver: &mut Resolver,
        draw: Draw,
        packets: &EqualPackets,
        found: &mut BTreeMap<Three, Closed>,
    ) {
        let Some(middle) = self.middle(draw) else {
            return;
        };
        let without = packets
            .observations
            .iter()
            .filter(|one| one.point != middle)
            .copied();
        let mut left: Vec<Observation> = without.collect();
        let mut again = Again {
            triangle: self,
            middle,
            found,
        };
        resolver.match_again(
            &mut left,
            (packets.direction, packets.recurring),
            &mut again,
        );
    }

    /// One of the points that packets passed between two others.
    fn middle(&self, draw: Draw) -> Option<u16> {
        let between =
            |way: &Vec<(u16, FrameId)>| way.get(1..way.len().saturating_sub(1)).map(<[_]>::to_vec);
        let ways = self.packets.members.iter().map(|member| &member.way);
        let mut middles: Vec<u16> = ways
            .filter_map(between)
            .flatten()
            .map(|(point, _)| point)
            .collect();
        middles.sort_unstable();
        middles.dedup();
        let at = usize::try_from(draw.0 % (middles.len().max(1) as u64)).ok()?;
        middles.get(at).copied()
    }

    fn place_of(&self, frame: FrameId) -> Option<(usize, usize)> {
        let at = self.places.partition_point(|(one, ..)| *one < frame);
        let found = self.places.get(at).filter(|(one, ..)| *one == frame);
        found.map(|(_, packet, at)| (*packet, *at))
    }

    /// The frame that stands beyond the middle, two steps on from an observation, at a certain point.
    fn beyond(
        &self,
        observation: &Observation,
        middle: u16,
        point: u16,
        is_down: bool,
    ) -> Option<FrameId> {
        let (packet, at) = self.place_of(observation.frame)?;
        let way = &self.packets.members.get(packet)?.way;
        let on = |n: usize| {
            if is_down {
                at.checked_add(n)
            } else {
                at.checked_sub(n)
            }
        };
        let is_through = way.get(on(1)?)?.0 == middle;
        way.get(on(2)?)
            .filter(|(other, _)| is_through && *other == point)
            .map(|(_, frame)| *frame)
    }

    /// Compares a pair that was made without the middle point with the ways through it.
    fn compare(
        &self,
        up: &Observation,
        middle: u16,
        down: &Observation,
    ) -> Option<(Three, Closed)> {
        let ahead = self.beyond(up, middle, down.point, true);
        let through = ahead.or_else(|| self.beyond(down, middle, up.point, false))?;
        let packet_of =
            |observation: &Observation| self.place_of(observation.frame).map(|(packet, _)| packet);
        let is_open = packet_of(up) != packet_of(down);
        let open = OpenTriangle {
            up: up.frame,
            down: down.frame,
            through,
        };
        let closed = Closed {
            n: 1,
            n_open: u64::from(is_open),
            open: is_open.then_some(open),
        };
        Some(((up.point, middle, down.point), closed))
    }
}

/// Takes what is matched without a point.
struct Again<'a> {
    triangle: &'a Triangle<'a>,
    middle: u16,
    found: &'a mut BTreeMap<Three, Closed>,
}

impl Sink for Again<'_> {
    fn trajectory(&mut self, observations: &[Observation], _: Direction, _: &Folded) {
        for two in observations.windows(2) {
            if let [up, down] = two
                && let Some((three, closed)) = self.triangle.compare(up, self.middle, down)
            {
                self.found.entry(three).or_default().merge(closed);
            }
        }
    }

    fn unfinished(&mut self, observations: &[Observation], direction: Direction, folded: &Folded) {
        self.trajectory(observations, direction, folded);
    }

    fn ambiguous(&mut self, _: &Observation, _: Direction, _: &Folded) {}
}
