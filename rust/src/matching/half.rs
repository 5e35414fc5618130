//! Packets that may be one half of a transaction: a request, or its response.

use super::Sight;
use crate::identity::message::MessageKind;
use crate::identity::stream_bytes::StreamBytes;
use crate::plan::{Direction, Plan};
use std::rc::Rc;

/// A packet, sender to receiver.
pub(super) struct Trajectory<'a> {
    sights: &'a [Sight],
    pub(super) direction: Direction,
    /// It may be another packet.
    pub(super) is_ambiguous: bool,
    /// Made when it is first asked for: most packets are no half of anything.
    half: Option<Rc<Half>>,
}

impl<'a> Trajectory<'a> {
    pub(super) fn new(sights: &'a [Sight], direction: Direction, is_ambiguous: bool) -> Self {
        Self {
            sights,
            direction,
            is_ambiguous,
            half: None,
        }
    }

    /// The sight nearest the path's first point. All that a packet says is taken from there, so that
    /// requests and responses are compared where they are known alike.
    #[inline]
    pub(super) fn nearest(&self) -> Option<&'a Sight> {
        if self.direction.is_reverse() {
            self.sights.last()
        } else {
            self.sights.first()
        }
    }

    /// The half that it is, one for all who ask.
    pub(super) fn half(&mut self, plan: &Plan) -> Option<Rc<Half>> {
        if self.half.is_none() {
            let nearest = self.nearest()?;
            let mut seen: Vec<_> = self
                .sights
                .iter()
                .map(|one| (one.point, one.t_ns))
                .collect();
            if self.direction.is_reverse() {
                seen.reverse();
            }
            self.half = Some(Rc::new(Half {
                direction: self.direction,
                part: nearest.message.kind,
                heard: nearest.message.number,
                range: nearest.range,
                aligned_ns: reference_ns(plan, nearest),
                seen: seen.into(),
            }));
        }
        self.half.clone()
    }
}

/// When a sight was, were its packet to go forward: requests and responses are compared by it.
pub(super) fn reference_ns(plan: &Plan, sight: &Sight) -> i64 {
    plan.aligned_ns(Direction::Forward, sight.point, sight.t_ns)
}

/// One packet of a transaction, as far as it was seen.
#[derive(Debug)]
pub(super) struct Half {
    pub(super) direction: Direction,
    pub(super) part: MessageKind,
    /// What it acknowledges: where a response to it starts.
    pub(super) heard: u32,
    pub(super) range: StreamBytes,
    /// Reference time, where it was nearest the path's first point.
    pub(super) aligned_ns: i64,
    /// Point and capture time of each sight, from the path's first point on.
    seen: Box<[(u16, i64)]>,
}

impl Half {
    /// When a point saw it.
    pub(super) fn at(&self, point: u16) -> Option<i64> {
        let found = self.seen.iter().find(|(of, _)| *of == point);
        found.map(|(_, t_ns)| *t_ns)
    }

    /// The point nearest the path's first.
    pub(super) fn nearest(&self) -> Option<u16> {
        self.seen.first().map(|(point, _)| *point)
    }

    /// It acknowledges, and carries nothing.
    pub(super) fn only_acknowledges(&self) -> bool {
        self.part == MessageKind::Ack && !self.range.has_bytes()
    }

    /// How long after it another came, at the first point that saw both.
    pub(super) fn took_ns(&self, other: &Self) -> Option<i64> {
        self.seen.iter().find_map(|(point, from_ns)| {
            let to_ns = other.at(*point)?;
            Some(to_ns.saturating_sub(*from_ns))
        })
    }
}
