//! Which late packets were overtaken (RFC 4737): a packet of their flow that was sent after them
//! arrived before them.

use crate::base::hashed::HashedMap;
use crate::matching::late::decided::Decided;
use crate::matching::late::leftover::Leftover;
use crate::matching::late::verdict::joints;
use crate::matching::observation::Observation;

/// A late packet on its way from one point to another: reference times, ns.
#[derive(Clone, Copy, Debug)]
struct Passage {
    sent: i64,
    arrived: i64,
    /// When the first of the packets of its flow arrived that were sent later.
    overtaken: i64,
}

/// Late packets by flow and way, in the order in which they were sent.
#[derive(Debug, Default)]
pub(crate) struct LateOrder(HashedMap<Vec<Passage>>);

impl LateOrder {
    /// Takes the parts of what may be a late packet.
    pub(crate) fn add(&mut self, parts: &[Leftover]) {
        let Some(first) = parts.first() else { return };
        let passages = self.0.entry(first.flow_way()).or_default();
        passages.extend(joints(parts).map(|(up, down)| Passage {
            sent: up.aligned_ns,
            arrived: down.aligned_ns,
            overtaken: i64::MAX,
        }));
    }

    /// All are known.
    pub(crate) fn sort(&mut self) {
        for passages in self.0.values_mut() {
            passages.sort_unstable_by_key(|one| (one.sent, one.arrived));
        }
    }

    /// Takes a packet that was not late.
    pub(crate) fn note(&mut self, decided: &Decided) {
        let Some(passages) = self.0.get_mut(&decided.flow_way) else {
            return;
        };
        let n_before = passages.partition_point(|one| one.sent < decided.aligned_ns);
        let before = n_before.checked_sub(1).and_then(|at| passages.get_mut(at));
        if let Some(before) = before {
            before.overtaken = before.overtaken.min(decided.aligned_ns);
        }
    }

    /// All that was not late is known: what follows one late packet follows those before it.
    pub(crate) fn settle(&mut self) {
        for passages in self.0.values_mut() {
            let mut least_ns = i64::MAX;
            for one in passages.iter_mut().rev() {
                one.overtaken = one.overtaken.min(least_ns);
                // another late one may be overtaken by it
                least_ns = one.overtaken.min(one.arrived);
            }
        }
    }

    /// Whether a late packet was overtaken on its way.
    pub(crate) fn is_overtaken(
        &self,
        parts: &[Leftover],
        (up, down): (&Observation, &Observation),
    ) -> bool {
        let of_flow = parts.first().and_then(|one| self.0.get(&one.flow_way()));
        let passages = of_flow.map_or(&[][..], Vec::as_slice);
        let at = passages.partition_point(|one| one.sent < up.aligned_ns);
        let own = passages.get(at..).unwrap_or(&[]).iter();
        let mut own = own.take_while(|one| one.sent == up.aligned_ns);
        own.any(|one| one.arrived == down.aligned_ns && one.overtaken < down.aligned_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matching::testing::observation;
    use crate::plan::Direction;

    fn late(sent: i64, arrived: i64) -> Vec<Leftover> {
        let seen = [observation(1, 0, sent), observation(1, 1, arrived)];
        let part = |one| Leftover::of(&[one], Direction::Forward, None, false).unwrap();
        seen.map(part).to_vec()
    }

    fn overtaken(packets: &[(i64, i64)], others: &[i64]) -> Vec<bool> {
        let all: Vec<_> = packets.iter().map(|(sent, at)| late(*sent, *at)).collect();
        let mut order = LateOrder::default();
        for parts in &all {
            order.add(parts);
        }
        order.sort();
        for aligned_ns in others {
            order.note(&Decided {
                key: 0,
                flow_way: all[0][0].flow_way(),
                aligned_ns: *aligned_ns,
            });
        }
        order.settle();
        let is_overtaken =
            |parts: &Vec<Leftover>| joints(parts).all(|joint| order.is_overtaken(parts, joint));
        all.iter().map(is_overtaken).collect()
    }

    #[test]
    fn a_packet_is_overtaken_by_what_was_sent_later_and_arrived_before() {
        assert_eq!(overtaken(&[(100, 500)], &[]), [false]);
        assert_eq!(overtaken(&[(100, 500)], &[50, 600]), [false]);
        assert_eq!(overtaken(&[(100, 500)], &[50, 300, 600]), [true]);
    }

    #[test]
    fn late_packets_may_stay_in_order_or_overtake_each_other() {
        assert_eq!(overtaken(&[(100, 500), (110, 510)], &[]), [false, false]);
        assert_eq!(overtaken(&[(100, 500), (110, 490)], &[]), [true, false]);
        let both = overtaken(&[(100, 500), (110, 510)], &[505]);
        assert_eq!(both, [false, true]);
    }
}
