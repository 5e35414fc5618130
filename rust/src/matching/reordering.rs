//! Reordering (RFC 4737): packets that arrive after one of their flow that was sent later; and the
//! variation from one packet of a flow to the next (IPDV, RFC 5481).

use super::Sight;
use super::ranges::Kind;
use crate::hashed::HashedMap;
use crate::histogram::Histogram;

/// Pairs of one segment and direction that wait to be put in order of arrival.
#[derive(Debug)]
pub(super) struct Reordering {
    waiting: Vec<Arrival>,
    newest: HashedMap<Newest>,
    n_reordered: Reordered,
    variation: Histogram,
    /// Sort when so many wait; twice of what had to go on waiting.
    full_at: usize,
    /// Look for flows to forget when there are so many.
    many_at: usize,
    /// What the downstream clock was ahead of the reference at the last arrival.
    ahead_ns: i64,
}

#[derive(Clone, Copy, Debug)]
struct Arrival {
    arrived_ns: i64,
    sent_ns: i64,
    /// How long it took; between clocks but for a constant.
    took_ns: i64,
    flow: u64,
    kind: Kind,
}

/// What was sent last of a flow, of what arrived.
#[derive(Clone, Copy, Debug)]
struct Newest {
    sent_ns: i64,
    arrived_ns: i64,
    /// The last whole packet among them: when it arrived, and how long it took.
    packet: Option<(i64, i64)>,
}

/// How many were reordered: whole packets; of packets that were cut or joined on the way those that
/// start with the byte, and those that end with it.
pub(super) type Reordered = [u64; 3];

/// Pairs that are sorted at once.
const BATCH: usize = 1 << 15;
/// Pairs that may wait: beyond, order is worth less than memory.
const MOST: usize = 64 * BATCH;
/// Packets of a flow that are farther apart are no neighbours.
const MOST_APART_NS: i64 = 1_000_000_000;
/// Flows that may be remembered without a look at their age.
const FEW_FLOWS: usize = BATCH;

impl Default for Reordering {
    fn default() -> Self {
        Self {
            waiting: Vec::new(),
            newest: HashedMap::default(),
            n_reordered: [0; 3],
            variation: Histogram::default(),
            full_at: BATCH,
            many_at: FEW_FLOWS,
            ahead_ns: 0,
        }
    }
}

impl Reordering {
    /// Order is each point's own: alignment may wobble by more than packets are apart.
    #[inline]
    pub(super) fn push(&mut self, up: &Sight, down: &Sight, kind: Kind, is_exact: bool) {
        self.ahead_ns = down.t_ns.saturating_sub(down.aligned_ns);
        self.waiting.push(Arrival {
            arrived_ns: down.t_ns,
            sent_ns: up.t_ns,
            took_ns: if is_exact {
                down.t_ns.saturating_sub(up.t_ns)
            } else {
                down.aligned_ns.saturating_sub(up.aligned_ns)
            },
            flow: up.flow,
            kind,
        });
    }

    /// Settles what arrived before `until_ns`, reference time, now and then.
    pub(super) fn settle(&mut self, until_ns: i64) {
        if self.waiting.len() < self.full_at {
            return;
        }
        let until_ns = until_ns.saturating_add(self.ahead_ns);
        self.count(until_ns);
        if self.waiting.len() > MOST {
            self.count(i64::MAX);
        }
        self.full_at = BATCH.max(2 * self.waiting.len());
        if self.newest.len() > self.many_at {
            let since_ns = until_ns.saturating_sub(MOST_APART_NS);
            self.newest.retain(|_, one| one.arrived_ns >= since_ns);
            self.many_at = FEW_FLOWS.max(2 * self.newest.len());
        }
    }

    /// How many of all pairs were reordered, and the sizes of the variation.
    pub(super) fn finish(&mut self) -> (Reordered, Histogram) {
        self.count(i64::MAX);
        (self.n_reordered, std::mem::take(&mut self.variation))
    }

    /// Counts, among those that arrived by `until_ns`, the ones sent before one that arrived
    /// earlier in the same flow (RFC 4737).
    fn count(&mut self, until_ns: i64) {
        self.waiting
            .sort_unstable_by_key(|one| (one.arrived_ns, one.sent_ns));
        let settled = self
            .waiting
            .partition_point(|one| one.arrived_ns <= until_ns);
        for one in self.waiting.drain(..settled) {
            let newest = self.newest.entry(one.flow).or_insert(Newest {
                sent_ns: i64::MIN,
                arrived_ns: i64::MIN,
                packet: None,
            });
            if one.sent_ns < newest.sent_ns {
                if let Some(n) = self.n_reordered.get_mut(one.kind as usize) {
                    *n += 1;
                }
                continue;
            }
            (newest.sent_ns, newest.arrived_ns) = (one.sent_ns, one.arrived_ns);
            if one.kind != Kind::Packet {
                continue;
            }
            let before = newest.packet.replace((one.arrived_ns, one.took_ns));
            if let Some((arrived_ns, took_ns)) = before
                && one.arrived_ns.saturating_sub(arrived_ns) <= MOST_APART_NS
            {
                let more_ns = one.took_ns.saturating_sub(took_ns);
                self.variation.add(more_ns.saturating_abs());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::sight;
    use super::*;

    /// RFC 4737 as it is written, by one flow, in order of arrival.
    fn reference(sent: &[i64]) -> u64 {
        let later_before = |i: usize| sent[..i].iter().any(|before| *before > sent[i]);
        (0..sent.len()).map(|i| u64::from(later_before(i))).sum()
    }

    /// Numbers below `n`, in an order of the seed's choosing.
    fn permutation(n: i64, seed: &mut u64) -> Vec<i64> {
        let mut all: Vec<i64> = (0..n).collect();
        for i in (1..all.len()).rev() {
            *seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            all.swap(i, usize::try_from(*seed >> 33).unwrap() % (i + 1));
        }
        all
    }

    #[test]
    fn the_variation_is_that_of_neighbours_in_a_flow() {
        let mut reordering = Reordering::default();
        let far = 10 * MOST_APART_NS;
        // two flows in turns, and a packet long after
        let sent = [
            (1, 0, 100),
            (2, 1000, 500),
            (1, 2000, 130),
            (2, 3000, 500),
            (1, 4000, 90),
            (1, far, 7),
        ];
        for (flow, sent_ns, took_ns) in sent {
            push(&mut reordering, flow, sent_ns, sent_ns + took_ns);
        }
        let (n_reordered, variation) = reordering.finish();
        let bins: Vec<(i32, u64)> = variation.bins().collect();
        assert_eq!(n_reordered, [0; 3]);
        assert_eq!(bins, [(0, 1), (30, 1), (40, 1)]);
    }

    fn push(reordering: &mut Reordering, flow: u64, sent_ns: i64, arrived_ns: i64) {
        let up = Sight {
            flow,
            ..sight(1, 0, sent_ns)
        };
        reordering.push(&up, &sight(1, 1, arrived_ns), Kind::Packet, true);
    }

    #[test]
    fn bytes_are_in_order_with_whole_packets() {
        // a packet after the first piece of two that are joined behind it, and one that overtakes both
        let mut reordering = Reordering::default();
        let arrivals = [
            (Kind::Packet, 20, 100),
            (Kind::FirstByte, 10, 110),
            (Kind::Overlap, 15, 110),
            (Kind::LastByte, 30, 110),
            (Kind::Packet, 25, 120),
            (Kind::LastByte, 24, 130),
            (Kind::Packet, 40, 140),
        ];
        for (kind, sent_ns, arrived_ns) in arrivals {
            let (up, down) = (sight(1, 0, sent_ns), sight(1, 1, arrived_ns));
            reordering.push(&up, &down, kind, true);
        }
        let (n_reordered, variation) = reordering.finish();
        assert_eq!(n_reordered, [1, 1, 1]);
        // of packets alone: the third came 20 ns later than the first, and was sent as much later
        assert_eq!(variation.bins().collect::<Vec<_>>(), [(20, 1)]);
    }

    #[test]
    fn counts_equal_the_definition() {
        let mut seed = 1;
        for n in [1, 2, 3, 10, 50, 200] {
            let (one, other) = (permutation(n, &mut seed), permutation(n, &mut seed));
            let mut reordering = Reordering::default();
            // decided in any order
            for i in permutation(n, &mut seed) {
                let at = usize::try_from(i).unwrap();
                push(&mut reordering, 1, one[at], 1000 + i);
                push(&mut reordering, 2, other[at], 1000 + i);
            }
            assert_eq!(
                reordering.finish().0[0],
                reference(&one) + reference(&other),
                "{one:?} {other:?}"
            );
        }
    }

    #[test]
    fn order_is_each_points_own() {
        let wobbling = |point, t_ns, aligned_ns| Sight {
            t_ns,
            ..sight(1, point, aligned_ns)
        };
        let mut reordering = Reordering::default();
        for (t_ns, up_ns, down_ns) in [(10, 13, 512), (11, 12, 513)] {
            let (up, down) = (wobbling(0, t_ns, up_ns), wobbling(1, 500 + t_ns, down_ns));
            reordering.push(&up, &down, Kind::Packet, true);
        }
        assert_eq!(reordering.finish().0[0], 0);
    }

    #[test]
    fn batches_change_nothing() {
        let n = 5 * i64::try_from(BATCH).unwrap();
        let mut seed = 7;
        let mut sent: Vec<i64> = Vec::new();
        for block in 0..n / 8 {
            sent.extend(permutation(8, &mut seed).iter().map(|i| block * 8 + i));
        }
        let expected: u64 = sent.chunks(8).map(reference).sum();
        let mut reordering = Reordering::default();
        let mut most = 0;
        for (arrived_ns, sent_ns) in (0..).zip(&sent) {
            push(&mut reordering, 1, *sent_ns, arrived_ns);
            reordering.settle(arrived_ns - 100);
            most = most.max(reordering.waiting.len());
        }
        assert_eq!(reordering.finish().0[0], expected);
        assert!(most <= 2 * BATCH, "{most}");
    }

    #[test]
    fn what_no_time_orders_is_bounded() {
        let mut reordering = Reordering::default();
        for i in 0..3 * i64::try_from(MOST).unwrap() {
            push(&mut reordering, 1, i, i);
            reordering.settle(i64::MIN);
        }
        assert!(reordering.waiting.len() <= 2 * MOST);
        assert_eq!(reordering.finish().0[0], 0);
    }

    #[test]
    fn old_flows_are_forgotten() {
        let mut reordering = Reordering::default();
        for i in 0..8 * i64::try_from(FEW_FLOWS).unwrap() {
            let t_ns = i * MOST_APART_NS / 100;
            push(&mut reordering, i.unsigned_abs(), t_ns, t_ns);
            reordering.settle(t_ns - 100);
        }
        assert!(reordering.newest.len() < 2 * FEW_FLOWS);
    }
}
