//! Whether three points agree: equal packets are matched again without a point in the middle, and what
//! then is one packet at its neighbours must have been one through it (docs/stages/match.md).

use super::copies::Folded;
use super::missing::mixed;
use super::piece::Sink;
use super::resolve::Resolver;
use super::{FrameId, Sight};
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
    pub open: Option<Open>,
}

/// A pair that was made without the middle point, and the frame at one end that it should have had.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Open {
    /// Its upstream frame.
    pub up: FrameId,
    /// Its downstream frame.
    pub down: FrameId,
    /// What stands there on the way through the middle point of one of the two.
    pub through: FrameId,
}

impl Closed {
    pub(super) fn merge(&mut self, other: Self) {
        self.n += other.n;
        self.n_open += other.n_open;
        let firsts = [self.open, other.open].into_iter().flatten();
        self.open = firsts.min();
    }
}

/// A frame's packet, and its place on that packet's way.
type Place = (FrameId, usize, usize);

/// The check, of one partition.
#[derive(Debug, Default)]
pub(super) struct Closure {
    found: BTreeMap<Three, Closed>,
    /// Ways of the identity that is decided at present.
    ways: Vec<Vec<(u16, FrameId)>>,
    /// Their frames, and copies of these; in order once all are known.
    places: Vec<Place>,
}

impl Closure {
    /// Before the sights of an identity are decided.
    pub(super) fn begin(&mut self) {
        self.ways.clear();
        self.places.clear();
    }

    /// What was decided to be one packet.
    pub(super) fn note(&mut self, sights: &[Sight], folded: &Folded) {
        let packet = self.ways.len();
        for (at, sight) in sights.iter().enumerate() {
            let copies = folded.copies_of(sight).map(|copy| copy.frame);
            let frames = std::iter::once(sight.frame).chain(copies);
            self.places.extend(frames.map(|frame| (frame, packet, at)));
        }
        let way = sights.iter().map(|sight| (sight.point, sight.frame));
        self.ways.push(way.collect());
    }

    /// After they are decided: matches them again without one of the points in the middle.
    pub(super) fn finish(&mut self, resolver: &mut Resolver, sights: &[Sight], way: Direction) {
        let Some(middle) = self.middle_of(sights) else {
            return;
        };
        self.places.sort_unstable();
        let without = sights.iter().filter(|one| one.point != middle).copied();
        let mut left: Vec<Sight> = without.collect();
        let mut again = Again {
            closure: self,
            middle,
        };
        resolver.match_again(&mut left, way, &mut again);
    }

    pub(super) fn harvest(self) -> BTreeMap<Three, Closed> {
        self.found
    }

    /// One of the points that packets passed between two others, drawn by their identity.
    fn middle_of(&self, sights: &[Sight]) -> Option<u16> {
        let between =
            |way: &Vec<(u16, FrameId)>| way.get(1..way.len().saturating_sub(1)).map(<[_]>::to_vec);
        let mut middles: Vec<u16> = self
            .ways
            .iter()
            .filter_map(between)
            .flatten()
            .map(|(point, _)| point)
            .collect();
        middles.sort_unstable();
        middles.dedup();
        let chance = mixed(sights.first()?.key);
        let at = usize::try_from(chance % (middles.len().max(1) as u64)).ok()?;
        middles.get(at).copied()
    }

    fn place_of(&self, frame: FrameId) -> Option<(usize, usize)> {
        let at = self.places.partition_point(|(one, ..)| *one < frame);
        let found = self.places.get(at).filter(|(one, ..)| *one == frame);
        found.map(|(_, packet, at)| (*packet, *at))
    }

    /// The frame that stands beyond the middle, two steps on from a sight, at a certain point.
    fn beyond(&self, sight: &Sight, middle: u16, point: u16, is_down: bool) -> Option<FrameId> {
        let (packet, at) = self.place_of(sight.frame)?;
        let way = self.ways.get(packet)?;
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
    fn compare(&mut self, up: &Sight, middle: u16, down: &Sight) {
        let ahead = self.beyond(up, middle, down.point, true);
        let Some(through) = ahead.or_else(|| self.beyond(down, middle, up.point, false)) else {
            return;
        };
        let packet_of = |sight: &Sight| self.place_of(sight.frame).map(|(packet, _)| packet);
        let is_open = packet_of(up) != packet_of(down);
        let open = Open {
            up: up.frame,
            down: down.frame,
            through,
        };
        let closed = Closed {
            n: 1,
            n_open: u64::from(is_open),
            open: is_open.then_some(open),
        };
        let ends = (up.point, middle, down.point);
        self.found.entry(ends).or_default().merge(closed);
    }
}

/// Takes what is matched without a point.
struct Again<'a> {
    closure: &'a mut Closure,
    middle: u16,
}

impl Sink for Again<'_> {
    fn trajectory(&mut self, sights: &[Sight], _: Direction, _: &Folded) {
        for two in sights.windows(2) {
            if let [up, down] = two {
                self.closure.compare(up, self.middle, down);
            }
        }
    }

    fn unfinished(&mut self, sights: &[Sight], direction: Direction, folded: &Folded) {
        self.trajectory(sights, direction, folded);
    }

    fn ambiguous(&mut self, _: &Sight, _: Direction, _: &Folded) {}
}
