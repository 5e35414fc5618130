//! Openings of connections: which data are the first that a side sends. They wait for what is set up with
//! the connection, so that they are of a kind of their own.

use crate::base::hash::fold;
use crate::base::hashed::HashedMap;
use crate::identity::message::MessageKind;
use crate::identity::traffic_kind::TrafficKind;
use crate::matching::observation::Observation;

/// Data that come later after their SYN are like any.
const WITHIN_NS: i64 = 1_000_000_000;
/// Openings that may be remembered without a look at their age.
const FEW: usize = 1 << 15;

/// Where each side's data begin, by flow and side, and the earliest time of its SYN.
#[derive(Debug)]
pub(crate) struct Openings {
    opened_ns: HashedMap<i64>,
    many_at: usize,
}

impl Default for Openings {
    fn default() -> Self {
        Self {
            opened_ns: HashedMap::default(),
            many_at: FEW,
        }
    }
}

impl Openings {
    /// Keeps where data will begin. What is decided later has all its points' SYNs here: they arrived before it.
    #[inline]
    pub(crate) fn note(&mut self, observation: &Observation) {
        if matches!(
            observation.message.kind,
            MessageKind::Syn | MessageKind::SynAck
        ) {
            let opened_ns = self.opened_ns.entry(Self::place(observation));
            let opened_ns = opened_ns.or_insert(observation.aligned_ns);
            *opened_ns = observation.aligned_ns.min(*opened_ns);
        }
    }

    /// The kind of traffic that a packet is, by its first observation.
    #[inline]
    pub(crate) fn kind_of(&self, first: &Observation) -> TrafficKind {
        let kind = first.evidence.kind;
        if !kind.is_data() {
            return kind;
        }
        match self.opened_ns.get(&Self::place(first)) {
            Some(opened_ns) if first.aligned_ns.saturating_sub(*opened_ns) <= WITHIN_NS => {
                kind.first()
            }
            _ => kind,
        }
    }

    /// Forgets what no packet after `until_ns` can be the first data of.
    pub(crate) fn forget(&mut self, until_ns: i64) {
        if self.opened_ns.len() > self.many_at {
            let since_ns = until_ns.saturating_sub(2 * WITHIN_NS);
            self.opened_ns.retain(|_, opened_ns| *opened_ns >= since_ns);
            self.many_at = FEW.max(2 * self.opened_ns.len());
        }
    }

    fn place(observation: &Observation) -> u64 {
        let side = fold(observation.flow, u64::from(observation.toward));
        fold(side, u64::from(observation.range.start()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::identity::message::Message;
    use crate::identity::stream_bytes::StreamBytes;
    use crate::identity::traffic_kind::TrafficKind;
    use crate::matching::testing::observation;
    use crate::wire::Packet;

    const AT_NS: i64 = 5_000;

    fn sent(toward: bool, start: u32, n_bytes: u32, at_ns: i64) -> Observation {
        let mut packet = Packet::new();
        (packet.ip_version, packet.protocol) = (4, 6);
        let range = StreamBytes::new(start, n_bytes);
        let mut one = observation(1, 0, at_ns);
        (one.toward, one.range) = (toward, range);
        one.evidence.kind = TrafficKind::of(&packet, MessageKind::Ack, range);
        one
    }

    #[test]
    fn the_first_data_of_each_side_are_a_kind_of_their_own() {
        let mut openings = Openings::default();
        for (toward, kind) in [(true, MessageKind::Syn), (false, MessageKind::SynAck)] {
            let mut syn = sent(toward, 100 + u32::from(toward), 0, AT_NS);
            syn.message = Message::new(kind, 0);
            openings.note(&syn);
        }
        let is_first = |one: &Observation| openings.kind_of(one) == one.evidence.kind.first();
        assert!(is_first(&sent(true, 101, 10, AT_NS + 10)));
        assert!(is_first(&sent(false, 100, 10, AT_NS + WITHIN_NS)));
        for other in [
            sent(true, 111, 10, AT_NS + 20),
            sent(false, 101, 10, AT_NS + 20),
            sent(true, 101, 10, AT_NS + WITHIN_NS + 1),
        ] {
            assert_eq!(openings.kind_of(&other), other.evidence.kind);
        }
        let control = sent(true, 101, 0, AT_NS + 10);
        assert_eq!(openings.kind_of(&control), control.evidence.kind);
    }

    #[test]
    fn what_is_old_is_forgotten_once_there_is_much() {
        let mut openings = Openings::default();
        let mut syn = sent(true, 0, 0, 0);
        syn.message = Message::new(MessageKind::Syn, 0);
        for flow in 0..=FEW as u64 {
            openings.note(&Observation { flow, ..syn });
        }
        openings.forget(2 * WITHIN_NS);
        assert_eq!(openings.opened_ns.len(), FEW + 1);
        openings.many_at = FEW;
        openings.forget(2 * WITHIN_NS + 1);
        assert_eq!(openings.opened_ns.len(), 0);
    }
}
