//! The list of lost packets: a row for each of them and every segment that it may have been lost on.
//!
//! A packet is lost on the segment after the point that saw it last; if the point behind that misses
//! packets, it may have been lost farther on, each time as likely as packets are lost there. The rows
//! of a segment weigh as many packets together as it lost.

use crate::base::error::Result;
use crate::base::spill::{Spill, numbers};
use crate::matching::counts::segment_rows::{Ended, SegmentRowFiles, points};
use crate::matching::late::sorted_runs::SortedRuns;
use crate::matching::loss::Losses;
use crate::matching::loss::allocate::{Allocated, Allocation, Candidates, at};
use crate::matching::observation::FrameId;
use crate::plan::{Direction, LinkCrossing, Plan};
use std::collections::BTreeMap;
use std::path::Path;

/// Values of one row: frame, points and direction of the segment, the point that saw the frame and how
/// the loss is told, time, weight.
const VALUES: usize = 5;
/// What is less likely is left out: points that miss packets would list each on every segment behind it.
const LEAST_CHANCE: f64 = 1e-4;
/// Weights are added as whole numbers, so that their order changes nothing.
const PARTS_OF_ONE: f64 = 4_294_967_296.0;

/// How it is known that a packet was lost; the numbers are those of the rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum ToldBy {
    /// It was not seen again.
    #[default]
    Packet = 0,
    /// Fewer of several equal packets were seen again: nobody knows which of them was lost.
    EqualPackets = 1,
}

/// Their names, by number.
pub const TOLD_BY: [&str; 2] = ["packet", "equal-packets"];

impl ToldBy {
    /// By its number.
    pub(crate) fn of(number: i64) -> Self {
        if number == Self::Packet as i64 {
            Self::Packet
        } else {
            Self::EqualPackets
        }
    }
}

/// Writes the list, in the order of frames.
pub(crate) fn list_lost(
    plan: &Plan,
    losses: &Losses,
    (n_pairs, allocated): (&[[u64; 2]], &Allocated),
    directory: &Path,
    files: &mut SegmentRowFiles,
) -> Result<()> {
    let mut list = LostPackets::new(plan, losses, (n_pairs, allocated));
    for path in &files.ended {
        Ended::read(path, &mut |one| list.weigh(one))?;
    }
    let mut sorted = SortedRuns::new(directory, "lost-packets-sorted".into());
    for path in &files.ended {
        Ended::read(path, &mut |one| {
            list.rows(one).for_each(|row| sorted.push(row));
        })?;
    }
    let mut to = Spill::create(directory, "lost-packets")?;
    sorted.read(&mut |same| {
        same.records.iter().for_each(|row| to.write(*row));
        Ok(())
    })?;
    sorted.remove();
    files.lost_packets = Some(to.finish()?);
    Ok(())
}

/// What the list is made from.
struct LostPackets<'a> {
    losses: &'a Losses,
    allocated: &'a Allocated,
    books: Allocation<'a>,
    /// Per link and direction: what share of the packets that enter it is lost.
    loss_rate: Vec<[f64; 2]>,
    /// What the chances of all packets add up to, in parts of one.
    chances: Vec<[u128; 2]>,
}

impl<'a> LostPackets<'a> {
    fn new(
        plan: &'a Plan,
        losses: &'a Losses,
        (n_pairs, allocated): (&'a [[u64; 2]], &'a Allocated),
    ) -> Self {
        let of_link = |(index, n): (usize, &[u64; 2])| {
            [0, 1].map(|side| {
                let crossing = LinkCrossing { link: index, side };
                let n_lost = n_lost(allocated, crossing);
                n_lost / (n_lost + n.get(side).map_or(0.0, |n| real(*n))).max(1.0)
            })
        };
        Self {
            losses,
            allocated,
            books: Allocation::new(plan, losses, n_pairs, &allocated.points),
            loss_rate: n_pairs.iter().enumerate().map(of_link).collect(),
            chances: vec![[0; 2]; n_pairs.len()],
        }
    }

    /// Adds the chances of a packet to those of all.
    fn weigh(&mut self, one: &Ended) {
        for (crossing, chance) in self.where_lost(one) {
            if let Some(all) = at(&mut self.chances, crossing) {
                *all += in_parts(chance);
            }
        }
    }

    /// The rows of a packet, when the chances of all are known.
    fn rows(&self, one: &Ended) -> impl Iterator<Item = [i64; VALUES]> {
        let found = self.where_lost(one).into_iter();
        found.filter_map(|(crossing, chance)| {
            let weight = chance * self.counted(crossing);
            let (up, down) = self.books.topology.ends(crossing)?;
            let (frame, t_ns) = one.last;
            let segment = points(up, down, Direction::of(crossing.side == 0));
            let told = i64::from(one.end.point) | (one.told_by as i64) << 16;
            let row = [frame, segment, told, t_ns, weight.to_bits().cast_signed()];
            (weight > 0.0).then_some(row)
        })
    }

    /// As much of each chance is counted as makes all of them what the segment lost.
    #[expect(clippy::cast_precision_loss, reason = "a share needs no more")]
    fn counted(&self, crossing: LinkCrossing) -> f64 {
        let of_link = self.chances.get(crossing.link);
        let all = of_link.and_then(|both| both.get(crossing.side));
        let all = all.map_or(0.0, |all| *all as f64 / PARTS_OF_ONE);
        (n_lost(self.allocated, crossing) / all.max(f64::MIN_POSITIVE)).min(1.0)
    }

    /// The segments that a packet may have been lost on, each with its chance.
    fn where_lost(&self, one: &Ended) -> BTreeMap<LinkCrossing, f64> {
        let end = &one.end;
        let crossed = self.losses.crossed_of(&self.books.topology, end);
        let mut found = BTreeMap::new();
        // of what is lost somewhere past a point that would not have had it, the whole path is all that is known
        let is_hidden = !self.books.past_hidden(end, crossed).is_empty();
        for either in self.books.where_lost(end, crossed) {
            if let Candidates::Whole(whole, ..) = either {
                found.extend(is_hidden.then_some((whole, self.past_gaps(one))));
                continue;
            }
            let (next, shares) = self.books.weighed(&either, end.block());
            let all: f64 = shares.iter().sum();
            for (next, share) in next.into_iter().zip(shares) {
                let Some(next) = next else { continue };
                let likely = self.onward(one, crossed, next);
                let sum: f64 = likely.iter().map(|(_, likelihood)| likelihood).sum();
                for (crossing, likelihood) in likely.into_iter().filter(|_| sum > 0.0) {
                    let chance = self.past_gaps(one) * share / all * likelihood / sum;
                    *found.entry(crossing).or_default() += chance;
                }
            }
        }
        found
    }

    /// How likely it is that a packet was lost on a segment, or was missed by the point behind it and
    /// lost on one farther on.
    fn onward(&self, one: &Ended, crossed: u128, next: LinkCrossing) -> Vec<(LinkCrossing, f64)> {
        let mut found = vec![(next, self.loss_rate(next))];
        let along = self.books.topology.along(one.end.direction);
        let mut missed = BTreeMap::new();
        self.miss(&mut missed, next, 1.0);
        for (up, _) in &along.neighbours {
            let Some(unseen) = missed.remove(up) else {
                continue;
            };
            let from = along.onward(*up);
            let from = from.filter_map(|down| self.books.topology.between(*up, down));
            let goes_on =
                |crossing: &LinkCrossing| self.books.goes_on(&one.end, crossed, *crossing);
            let segments = Candidates::Of(from.filter(goes_on).collect());
            let (segments, shares) = self.books.weighed(&segments, one.end.block());
            let all: f64 = shares.iter().sum();
            for (segment, share) in segments.into_iter().flatten().zip(shares) {
                let entered = unseen * share / all;
                found.push((segment, entered * self.loss_rate(segment)));
                self.miss(&mut missed, segment, entered);
            }
        }
        found
    }

    /// Notes what the point at the end of a segment misses of what entered that.
    fn miss(&self, missed: &mut BTreeMap<u16, f64>, crossing: LinkCrossing, entered: f64) {
        let ends = self.books.topology.ends(crossing);
        let Some((_, down)) = ends else { return };
        let share = self.books.missed(down, crossing.side).share();
        if entered * share > LEAST_CHANCE {
            *missed.entry(down).or_default() += entered * share;
        }
    }

    fn loss_rate(&self, crossing: LinkCrossing) -> f64 {
        let of_link = self.loss_rate.get(crossing.link);
        let rate = of_link.and_then(|both| both.get(crossing.side));
        rate.copied().unwrap_or(0.0)
    }

    /// Of what ended while its mirror was losing frames, the share that counts as lost.
    fn past_gaps(&self, one: &Ended) -> f64 {
        let gap = one.end.unmirrored.map(usize::from);
        let share = gap.and_then(|point| self.allocated.past_gaps_frac.get(point));
        share.copied().unwrap_or(1.0)
    }
}

fn n_lost(allocated: &Allocated, crossing: LinkCrossing) -> f64 {
    let of_link = allocated.links.get(crossing.link);
    let loss = of_link.and_then(|both| both.get(crossing.side));
    loss.map_or(0.0, |loss| real(loss.lost.packets))
}

#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
fn real(n: u64) -> f64 {
    n as f64
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a chance is none below 0"
)]
fn in_parts(chance: f64) -> u128 {
    (chance * PARTS_OF_ONE).round() as u128
}

/// A lost packet on a segment, as it was listed.
pub(crate) struct LostPacket {
    /// Where it was seen last, or one of those that are equal to it.
    pub(crate) frame: FrameId,
    pub(crate) told_by: ToldBy,
    /// Upstream and downstream point of the segment, and whether that is crossed in reverse.
    pub(crate) segment: (u16, u16, bool),
    /// The probability, less what the segment's count does not have in.
    pub(crate) weight: f64,
}

/// Reads the list, in the order of frames.
///
/// # Errors
/// It cannot be read.
pub(crate) fn read_lost(path: &Path) -> Result<impl Iterator<Item = Result<LostPacket>> + use<>> {
    let rows = numbers::<VALUES>(path)?;
    Ok(rows.map(|row| row.map(lost_packet)))
}

fn lost_packet([frame, points, told, _, weight]: [i64; VALUES]) -> LostPacket {
    let point = |shift: u32| u16::try_from(points >> shift & 0xffff).unwrap_or(u16::MAX);
    LostPacket {
        frame: FrameId::from_packed(frame),
        told_by: ToldBy::of(told >> 16),
        segment: (point(0), point(16), points >> 32 & 1 == 1),
        weight: f64::from_bits(weight.cast_unsigned()),
    }
}

#[cfg(test)]
mod tests;
