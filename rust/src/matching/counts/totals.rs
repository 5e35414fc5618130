//! Counts: latencies per segment and direction, loss, copies, reordering.

use crate::base::blocks::{Blocks, Place};
use crate::base::histogram::Histogram;
use crate::identity::traffic_kind::TrafficKind;
pub use crate::matching::counts::min_delay::MinDelay;
use crate::matching::counts::reordering::Reordered;
use crate::matching::counts::segment_rows::SegmentRowFiles;
use crate::matching::counts::undecided::UndecidedTally;
use crate::matching::exchange::round_trips::Shares;
use crate::matching::late::WaitingTimes;
use crate::matching::loss::allocate::Allocated;
use crate::matching::loss::missed::Missed;
use crate::matching::loss::segment_loss::LinkLoss;
use crate::plan::{LinkCrossing, N_BINS};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Counts of one segment and direction.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct LinkTally {
    /// Pairs.
    pub n: u64,
    /// Their latencies, between points that share a clock, block by block of time.
    pub blocks: Blocks,
    /// What the latency of a packet was more than that of the one before it in its flow, its size.
    pub variation: Histogram,
    /// Copies made on the way.
    pub n_duplicated: u64,
    /// Packets that arrived after a later one of their flow (RFC 4737).
    pub n_reordered: u64,
    /// Packets that entered and were never seen again.
    pub n_lost: u64,
    /// How many times the variance of as many independent losses `n_lost` has.
    pub lost_spread: f64,
    /// Of those lost, the ones that were lost before a fork, nobody knows on which branch.
    pub n_lost_divided: u64,
    /// The same, block by block of time; empty if none was.
    pub lost_blocks: Vec<u64>,
    /// Of streams that may be cut and joined: bytes seen at both ends.
    pub matched_bytes: u64,
    /// Bytes of such that entered and were never seen again.
    pub lost_bytes: u64,
    /// Of packets in pieces, by the byte that is timed: the first, the last.
    pub ends: [EndTally; 2],
    /// What took far longer than usual.
    pub late: LateTally,
    /// Pairs of which it is not known which they are.
    pub undecided: UndecidedTally,
    /// What all pairs took, between points that share no clock: more than usual.
    pub took_sum_ns: i128,
    /// What the slowest pair took; between points that share no clock, more than usual.
    pub(crate) slowest_ns: Option<i64>,
    /// The waiting time after which a packet is lost.
    pub loss_threshold_ns: i64,
}

/// Counts of pairs that took far longer than usual.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LateTally {
    /// Pairs.
    pub n: u64,
    /// What they took, all together; between points that share no clock, more than usual.
    pub sum_ns: i128,
    /// Pairs that came after the waiting time that was asked for, and are lost.
    pub n_too_late: u64,
}

/// Counts of the first bytes, or the last, of packets that were cut or joined on the way.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct EndTally {
    /// Pairs.
    pub n: u64,
    /// Their latencies, between points that share a clock.
    pub histogram: Histogram,
    /// Bytes that were not seen again, of packets of which others were.
    pub n_lost: u64,
    /// Bytes that arrived after a packet of their flow that was sent later.
    pub n_reordered: u64,
    /// Copies of the packets that came out, beyond those of the ones that went in.
    pub n_duplicated: u64,
    /// Files of raw differences, between points that do not.
    pub spills: Vec<PathBuf>,
}

/// Least residuals by time bin.
pub type Bins = Vec<Option<MinDelay>>;

/// What was counted of all packets.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Totals {
    /// Per link, forward and reverse.
    pub links: Vec<[LinkTally; 2]>,
    /// Per (upstream, downstream, direction) of different clocks: least residuals.
    pub least: BTreeMap<(u16, u16, usize), Bins>,
    /// Files of raw differences per link and direction.
    pub spills: Vec<[Vec<PathBuf>; 2]>,
    /// Per point, forward and reverse: packets that others saw before and after it.
    pub missed: Vec<[Missed; 2]>,
    /// Files of all pairs, if rows are kept.
    pub rows: Vec<PathBuf>,
    /// What breakdowns are made of, if it is kept.
    pub crossings: SegmentRowFiles,
    /// Requests and their responses.
    pub trips: Shares,
    /// Frames of packets of which nothing tells which way they went: they are of no segment.
    pub n_without_direction: u64,
}

impl LinkTally {
    /// Counts a latency, of which kind of traffic it was, and when.
    #[inline]
    pub(crate) fn time(&mut self, kind: TrafficKind, place: Place, latency_ns: i64) {
        self.blocks.add_of_kind(kind.number(), place, latency_ns);
    }

    /// Counts how long a pair took, and whether that is longer than most.
    #[inline]
    pub(crate) fn note_delay(&mut self, took_ns: i64, is_late: bool) {
        self.slowest_ns = self.slowest_ns.max(Some(took_ns));
        if is_late {
            self.late.n += 1;
            self.late.sum_ns += i128::from(took_ns);
        }
    }

    /// Takes what was counted in order of arrival.
    pub(crate) fn put_in_order(&mut self, (reordered, variation): (Reordered, Histogram)) {
        let [n_packets, n_ends @ ..] = reordered;
        self.n_reordered += n_packets;
        self.variation = variation;
        for (end, n) in self.ends.iter_mut().zip(n_ends) {
            end.n_reordered = n;
        }
    }
}

impl LateTally {
    fn merge(&mut self, other: Self) {
        self.n += other.n;
        self.sum_ns += other.sum_ns;
        self.n_too_late += other.n_too_late;
    }
}

impl LinkTally {
    fn merge(&mut self, other: Self) {
        self.n += other.n;
        self.blocks.merge(other.blocks);
        self.variation.merge(&other.variation);
        self.n_duplicated += other.n_duplicated;
        self.n_reordered += other.n_reordered;
        self.n_lost += other.n_lost;
        self.matched_bytes += other.matched_bytes;
        self.lost_bytes += other.lost_bytes;
        self.slowest_ns = self.slowest_ns.max(other.slowest_ns);
        self.late.merge(other.late);
        self.undecided.merge(other.undecided);
        self.took_sum_ns += other.took_sum_ns;
        for (total, one) in self.ends.iter_mut().zip(other.ends) {
            total.merge(one);
        }
    }
}

impl EndTally {
    pub(crate) fn merge(&mut self, other: Self) {
        self.n += other.n;
        self.histogram.merge(&other.histogram);
        self.n_lost += other.n_lost;
        self.n_reordered += other.n_reordered;
        self.n_duplicated += other.n_duplicated;
        self.spills.extend(other.spills);
    }
}

impl Totals {
    pub(crate) fn of_links(n: usize) -> Self {
        Self {
            links: (0..n).map(|_| Default::default()).collect(),
            spills: vec![Default::default(); n],
            trips: Shares::of_links(n),
            ..Self::default()
        }
    }

    /// Adds what another partition counted.
    pub(crate) fn merge(&mut self, other: Self) {
        for (total, one) in self
            .links
            .iter_mut()
            .flatten()
            .zip(other.links.into_iter().flatten())
        {
            total.merge(one);
        }
        for (key, bins) in other.least {
            let total = self.least.entry(key).or_insert_with(|| vec![None; N_BINS]);
            for (slot, least) in total.iter_mut().zip(bins) {
                if let Some(least) = least {
                    least.join(slot);
                }
            }
        }
        for (paths, more) in self
            .spills
            .iter_mut()
            .flatten()
            .zip(other.spills.into_iter().flatten())
        {
            paths.extend(more);
        }
        self.rows.extend(other.rows);
        self.crossings.merge(other.crossings);
        self.trips.merge(other.trips);
        self.n_without_direction += other.n_without_direction;
    }

    /// Pairs per link and direction.
    pub(crate) fn n_pairs(&self) -> Vec<[u64; 2]> {
        let of_link =
            |both: &[LinkTally; 2]| [0, 1].map(|side| both.get(side).map_or(0, |one| one.n));
        self.links.iter().map(of_link).collect()
    }

    /// Says how long was waited for packets.
    pub(crate) fn set_thresholds(&mut self, waits: &WaitingTimes) {
        for (index, both) in self.links.iter_mut().enumerate() {
            for (side, tally) in both.iter_mut().enumerate() {
                tally.loss_threshold_ns = waits.of(LinkCrossing { link: index, side });
            }
        }
    }

    /// Adds the losses of all partitions.
    pub(crate) fn add_losses(&mut self, allocated: Allocated) {
        self.missed = allocated.points;
        let uncertain = allocated.uncertain.iter().flatten();
        for (total, one) in self.links.iter_mut().flatten().zip(uncertain) {
            total.undecided.n_maybe_lost += one.more;
            total.undecided.n_maybe_late += one.fewer;
            total.n_lost_divided = one.divided;
        }
        for (total, loss) in self
            .links
            .iter_mut()
            .flatten()
            .zip(allocated.links.into_iter().flatten())
        {
            let spread = loss.spread();
            let LinkLoss { lost, blocks, .. } = loss;
            total.n_lost += lost.packets;
            total.lost_spread = spread;
            total.lost_blocks = blocks;
            total.lost_bytes += lost.bytes;
            for (end, n) in total.ends.iter_mut().zip(lost.ends) {
                end.n_lost += n;
            }
        }
    }
}

#[cfg(test)]
mod tests;
