//! Packets that may be one half of a transaction: a request, or its response.

use crate::identity::message::MessageKind;
use crate::identity::stream_bytes::StreamBytes;
use crate::matching::observation::Observation;
use crate::plan::{Direction, Plan};
use std::rc::Rc;

/// A packet, sender to receiver.
pub(crate) struct Trajectory<'a> {
    pub(crate) observations: &'a [Observation],
    pub(crate) direction: Direction,
    /// It may be another packet.
    pub(crate) is_ambiguous: bool,
    /// Made when it is first asked for: most packets are no half of anything.
    half: Option<Rc<TimedMessage>>,
}

impl<'a> Trajectory<'a> {
    pub(crate) fn new(
        observations: &'a [Observation],
        direction: Direction,
        is_ambiguous: bool,
    ) -> Self {
        Self {
            observations,
            direction,
            is_ambiguous,
            half: None,
        }
    }

    /// The observation nearest the path's first point. All that a packet says is taken from there, so that
    /// requests and responses are compared where they are known alike.
    #[inline]
    pub(crate) fn nearest(&self) -> Option<&'a Observation> {
        if self.direction.is_reverse() {
            self.observations.last()
        } else {
            self.observations.first()
        }
    }

    /// The half that it is, one for all who ask.
    pub(crate) fn half(&mut self, plan: &Plan) -> Option<Rc<TimedMessage>> {
        if self.half.is_none() {
            let nearest = self.nearest()?;
            let mut seen: Vec<_> = self
                .observations
                .iter()
                .map(|one| (one.point, one.t_ns))
                .collect();
            if self.direction.is_reverse() {
                seen.reverse();
            }
            self.half = Some(Rc::new(TimedMessage {
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

/// When an observation was, were its packet to go forward: requests and responses are compared by it.
pub(crate) fn reference_ns(plan: &Plan, observation: &Observation) -> i64 {
    plan.aligned_ns(Direction::Forward, observation.point, observation.t_ns)
}

/// How long captures of points that saw a packet, or the time that was asked for, had run before it.
pub(crate) fn quiet_ns(plan: &Plan, observations: &[Observation]) -> i64 {
    let asked_ns = plan.range.0;
    let each = observations.iter().filter_map(|one| {
        let (begin_ns, _) = plan.point_covers.get(usize::from(one.point))?;
        let begin_ns = asked_ns.max(*begin_ns);
        Some(reference_ns(plan, one).saturating_sub(begin_ns))
    });
    each.max().unwrap_or(0)
}

/// One packet of a transaction, as far as it was seen.
#[derive(Debug)]
pub(crate) struct TimedMessage {
    pub(crate) direction: Direction,
    pub(crate) part: MessageKind,
    /// What it acknowledges: where a response to it starts.
    pub(crate) heard: u32,
    pub(crate) range: StreamBytes,
    /// Reference time, where it was nearest the path's first point.
    pub(crate) aligned_ns: i64,
    /// Point and capture time of each observation, from the path's first point on.
    seen: Box<[(u16, i64)]>,
}

impl TimedMessage {
    /// When a point saw it.
    pub(crate) fn at(&self, point: u16) -> Option<i64> {
        let found = self.seen.iter().find(|(of, _)| *of == point);
        found.map(|(_, t_ns)| *t_ns)
    }

    /// The point nearest the path's first.
    pub(crate) fn nearest(&self) -> Option<u16> {
        self.seen.first().map(|(point, _)| *point)
    }

    /// It acknowledges, and carries nothing.
    pub(crate) fn only_acknowledges(&self) -> bool {
        self.part == MessageKind::Ack && !self.range.has_bytes()
    }

    /// How long after it another came, at the first point that saw both.
    pub(crate) fn took_ns(&self, other: &Self) -> Option<i64> {
        self.seen.iter().find_map(|(point, from_ns)| {
            let to_ns = other.at(*point)?;
            Some(to_ns.saturating_sub(*from_ns))
        })
    }
}
