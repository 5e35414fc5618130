//! Leftovers of the whole capture: parts of one packet are joined, and what is left is lost.

use crate::base::error::Result;
use crate::matching::counts::totals::Totals;
use crate::matching::counts::{Keep, LatePair, LateStep, Tally};
use crate::matching::evidence::Evidence;
use crate::matching::late::decided::read_decided;
use crate::matching::late::equal_packets::{EqualDelays, is_within, pairs_in_number};
use crate::matching::late::leftover::{Leftover, N_VALUES};
use crate::matching::late::leftovers::Leftovers;
use crate::matching::late::odds::Odds;
use crate::matching::late::order::LateOrder;
use crate::matching::late::outcomes::Renamed;
use crate::matching::late::sorted_runs::SameKey;
use crate::matching::late::verdict::{Kinship, Relatives, Surveyed, is_alone, joints, relatives};
use crate::matching::late::waiting::{WaitingTimes, delay_ns};
use crate::matching::loss::Losses;
use crate::matching::observation::{FrameId, Observation};
use crate::matching::outcome::Status;
use crate::matching::partition::PartitionResult;
use crate::matching::resolve::posterior::NO_DOUBT;
use crate::plan::{Direction, Plan};
use std::path::Path;
use std::sync::Arc;

/// What was made of leftovers, besides what is counted of any packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LatePairs {
    /// Pairs that were joined over the whole capture.
    pub n: u64,
    /// As many would have been joined in the order that causality forbids.
    pub n_false: u64,
}

/// Where the files of a run lie, and how many captures there are.
#[derive(Clone, Copy)]
pub(crate) struct Folder<'a> {
    pub(crate) directory: &'a Path,
    pub(crate) keep: Keep,
    pub(crate) n_captures: usize,
}

/// Joins what is left of all partitions, counts it, and books what is lost.
pub(crate) fn settle(
    plan: &Arc<Plan>,
    folder: Folder<'_>,
    all: &mut PartitionResult,
) -> Result<LatePairs> {
    let none = Leftovers::none(folder.directory);
    let mut leftovers = std::mem::replace(&mut all.leftovers, none);
    let mut join = LateJoin {
        plan,
        at: Surveyed::of(plan),
        odds: Odds::new(leftovers.runs.n_records()),
        order: LateOrder::default(),
        renamed: Renamed::default(),
        tally: Tally::new(Arc::clone(plan), folder.directory, "late", folder.keep)?,
        found: LatePairs::default(),
        has_open: false,
        may_be_late: WaitingTimes::default(),
    };
    join.ask(&mut leftovers)?;
    if join.odds.is_asked() {
        join.look_up(&leftovers)?;
        join.weigh(&mut leftovers)?;
        join.count(&mut leftovers, folder.keep)?;
    }
    let waits = join.waits(&mut leftovers, &all.totals)?;
    join.finish((&mut leftovers, folder.keep), &waits, all)?;
    if folder.keep.rows {
        join.renamed
            .write_outcomes(folder.directory, folder.n_captures)?;
    }
    let (totals, losses) = join.tally.finish()?;
    all.totals.merge(totals);
    for rows in &all.totals.rows {
        join.renamed.write_rows(rows)?;
    }
    all.losses.merge(losses);
    all.totals.set_thresholds(&waits);
    leftovers.remove();
    Ok(join.found)
}

/// What leftovers of one packet ID are, by their odds.
enum Judged {
    /// Parts of one slow packet.
    One(Vec<Leftover>),
    /// It cannot be told which of them are of one packet; or one slow packet is likely, and not sure.
    Open(Vec<Leftover>, bool),
    /// Parts of one packet, in the order of its path, whose latency is not known: a clock was being set, or
    /// the route was shorter than at any time of which the usual latency is known.
    Untimed(Vec<Leftover>),
}

/// Leftovers on their way to being packets.
struct LateJoin<'a> {
    plan: &'a Arc<Plan>,
    at: Surveyed<'a>,
    odds: Odds,
    order: LateOrder,
    renamed: Renamed,
    /// Counts what is joined, as that of a partition does.
    tally: Tally,
    found: LatePairs,
    /// Of some leftovers it may be open which are of one packet.
    has_open: bool,
    /// How late these may be.
    may_be_late: WaitingTimes,
}

impl LateJoin<'_> {
    /// Finds what may be slow packets, and asks for what is to be known of them.
    fn ask(&mut self, leftovers: &mut Leftovers) -> Result<()> {
        let Self {
            at,
            odds,
            order,
            has_open,
            ..
        } = self;
        leftovers.runs.read(&mut |same| {
            for Relatives { occasions, untold } in relatives(at, same) {
                *has_open |= !untold.is_empty();
                for kinship in of_occasions(at, &occasions) {
                    odds.ask(&kinship);
                    *has_open |= matches!(kinship, Kinship::Slow(_) | Kinship::Several { .. });
                    if let Kinship::Slow(parts) = &kinship {
                        order.add(parts);
                    }
                }
                odds.note_left(&occasions, same.around);
            }
            Ok(())
        })?;
        odds.settle_asked();
        Ok(())
    }

    /// Looks up what was decided.
    fn look_up(&mut self, leftovers: &Leftovers) -> Result<()> {
        let Self { odds, order, .. } = self;
        order.sort();
        let [decided, untold] = &leftovers.logs;
        for log in decided {
            read_decided(log, &mut |one| {
                odds.note_decided(one);
                order.note(one);
            })?;
        }
        for log in untold {
            read_decided(log, &mut |one| {
                odds.note_untold(one);
                order.note(one);
            })?;
        }
        order.settle();
        odds.settle_others();
        Ok(())
    }

    /// Counts how often packet IDs come again.
    fn weigh(&mut self, leftovers: &mut Leftovers) -> Result<()> {
        let Self { at, odds, .. } = self;
        leftovers.runs.read(&mut |same| {
            for kinship in kinships(at, same) {
                odds.note(at.plan, &kinship);
            }
            Ok(())
        })?;
        odds.settle();
        Ok(())
    }

    /// Counts what is joined.
    fn count(&mut self, leftovers: &mut Leftovers, keep: Keep) -> Result<()> {
        leftovers.runs.read(&mut |same| {
            for kinship in kinships(&self.at, same) {
                match kinship {
                    Kinship::Slow(parts) => self.count_slow(&parts, keep),
                    Kinship::Reversed(parts) if !self.is_rather_fast(&parts) => {
                        self.found.n_false += self.odds.n_false(self.plan, &parts);
                    }
                    _ => {}
                }
            }
            Ok(())
        })
    }

    fn count_slow(&mut self, parts: &[Leftover], keep: Keep) {
        let Some(doubt) = self.odds.doubt(self.plan, parts) else {
            return self.wait_for(parts);
        };
        for (up, down) in joints(parts) {
            let direction = parts
                .first()
                .map_or(Direction::Forward, |one| one.direction);
            if is_too_late(self.plan, direction, (up, down)) {
                self.tally.count_too_late(up, down);
            }
        }
        for packet in in_time(self.plan, parts).filter(|packet| packet.len() > 1) {
            self.count_joints(packet, doubt);
            self.count_whole(packet);
            if keep.rows {
                self.renamed.add(packet);
            }
        }
    }

    /// Waits for what is a slow packet rather than two, and cannot be told: it is not lost.
    fn wait_for(&mut self, parts: &[Leftover]) {
        if let [first, .., last] = parts
            && self.is_rather_one(parts)
        {
            let ends = (&first.first, &last.last);
            joints(parts)
                .chain([ends])
                .for_each(|(up, down)| self.tally.wait_for(up, down));
        }
    }

    /// Counts a slow packet where its parts are joined.
    fn count_joints(&mut self, packet: &[Leftover], doubt: f64) {
        let [first, .., last] = packet else { return };
        let n_joints = packet.len() - 1;
        for (at, two) in packet.windows(2).enumerate() {
            let [above, below] = two else { continue };
            let (up, down) = (&above.last, &below.first);
            self.tally.count_late(&LatePair {
                up,
                down,
                first: &first.first,
                direction: first.direction,
                step: LateStep {
                    is_overtaken: self.order.is_overtaken(packet, (up, down)),
                    n_copies: copies_between(above.n_copies[1], below.n_copies[0]),
                },
                was_seen_before: at > 0 || !first.is_single(),
                is_seen_behind: at + 1 < n_joints || !last.is_single(),
                doubt,
            });
            self.found.n += 1;
        }
    }

    /// Counts a slow packet over the whole path.
    fn count_whole(&mut self, packet: &[Leftover]) {
        let [first, .., last] = packet else { return };
        if packet.len() > 2 || !first.is_single() || !last.is_single() {
            let step = LateStep {
                is_overtaken: joints(packet).any(|joint| self.order.is_overtaken(packet, joint)),
                n_copies: copies_between(first.n_copies[0], last.n_copies[1]),
            };
            let ends = (&first.first, &last.last);
            self.tally
                .count_late_path(ends, joints(packet), (first.direction, step));
        }
    }

    /// Books what is left, and says what became of frames of which that was open.
    fn finish(
        &mut self,
        (leftovers, keep): (&mut Leftovers, Keep),
        waits: &WaitingTimes,
        all: &mut PartitionResult,
    ) -> Result<()> {
        leftovers.runs.read(&mut |same| {
            let packets = self.all_packets(same, waits);
            for packet in &packets {
                for part in packet.iter().filter(|part| part.is_uncounted()) {
                    let status = status_of(part.first.frame, &packets);
                    all.counts.note(self.plan, &part.first, status);
                    if status != Status::Matched && keep.rows {
                        self.renamed.leave_alone(part, status);
                    }
                }
                if let Some(packet) = whole(packet) {
                    self.note_end(&mut all.losses, &packet, waits);
                }
            }
            Ok(())
        })
    }

    /// Books what was not seen of a packet farther on: either way, where its direction is open.
    fn note_end(&mut self, losses: &mut Losses, packet: &Leftover, waits: &WaitingTimes) {
        losses.note_part(&packet.first);
        let turned = packet
            .is_guessed(self.plan)
            .then(|| packet.turned(self.plan));
        for packet in [Some(*packet), turned].iter().flatten() {
            let end = losses.note_end((self.plan, &self.at.topology), packet, waits);
            self.tally.keep_end(end.as_ref(), packet);
        }
    }

    /// Leftovers of one packet ID as packets, each of one part or more. What came within the waiting
    /// time of another part, and may be one packet with it, is counted so.
    fn all_packets(
        &mut self,
        same: &SameKey<'_, N_VALUES>,
        waits: &WaitingTimes,
    ) -> Vec<Vec<Leftover>> {
        let mut found = Vec::new();
        for some in relatives(&self.at, same) {
            for judged in self.judged(&some) {
                let alone = match judged {
                    Judged::One(slow) => {
                        found.extend(in_time(self.plan, &slow).map(<[Leftover]>::to_vec));
                        continue;
                    }
                    Judged::Open(parts, is_likely) => {
                        self.pair_all_in_number(parts, waits, is_likely)
                    }
                    Judged::Untimed(one) => self.count_untimed(one),
                };
                let told = alone.into_iter().filter(|one| !one.is_untold());
                found.extend(told.map(|one| vec![one]));
            }
        }
        found
    }

    fn pair_all_in_number(
        &mut self,
        mut parts: Vec<Leftover>,
        waits: &WaitingTimes,
        is_likely: bool,
    ) -> Vec<Leftover> {
        for ends in pairs_in_number(&self.at, &parts, &self.may_be_late) {
            self.pair_in_number(&mut parts, ends, (waits, is_likely));
        }
        parts
    }

    /// Whether parts are one slow packet rather than two, or nothing else of their packet ID was near.
    fn is_rather_one(&self, parts: &[Leftover]) -> bool {
        is_alone(self.plan, parts) || self.odds.is_likely(self.plan, parts)
    }

    /// Whether parts are one packet that was faster than is known of any, rather than two.
    fn is_rather_fast(&self, parts: &[Leftover]) -> bool {
        self.at.can_be_one(parts) && self.odds.is_likely_fast(self.plan, parts)
    }

    /// What leftovers of one packet ID are. Those that cannot be told may be of one another's packets.
    fn judged(&self, some: &Relatives) -> Vec<Judged> {
        let (mut told, mut open) = (Vec::new(), Vec::new());
        for parts in &some.occasions {
            match self.judged_alone(parts) {
                Some(judged) => told.push(judged),
                None => open.extend_from_slice(parts),
            }
        }
        if !open.is_empty() {
            open.extend_from_slice(&some.untold);
            told.push(Judged::Open(open, false));
        }
        told
    }

    fn judged_alone(&self, parts: &[Leftover]) -> Option<Judged> {
        match Kinship::of(&self.at, parts)? {
            Kinship::Moved(parts) => Some(Judged::Untimed(parts)),
            Kinship::Reversed(parts) if self.is_rather_fast(&parts) => Some(Judged::Untimed(parts)),
            Kinship::Slow(slow) if self.odds.doubt(self.plan, &slow).is_some() => {
                Some(Judged::One(slow))
            }
            Kinship::Slow(slow) if self.is_rather_one(&slow) => Some(Judged::Open(slow, true)),
            _ => None,
        }
    }

    /// Counts a packet that is not lost, and whose latency is not known.
    fn count_untimed(&mut self, mut parts: Vec<Leftover>) -> Vec<Leftover> {
        for ends in joints(&parts) {
            self.tally.count_doubted(ends, false);
        }
        if let [first, .., last] = parts.as_slice() {
            self.tally
                .count_doubted_path((&first.first, &last.last), false);
        }
        let n_parts = parts.len();
        for (at, part) in parts.iter_mut().enumerate() {
            part.first.evidence.add(Evidence::SLOW_OR_TWO);
            part.lost = part.lost.filter(|_| at + 1 == n_parts);
        }
        parts
    }

    /// How long is waited for packets, with those counted elsewhere.
    fn waits(&mut self, leftovers: &mut Leftovers, others: &Totals) -> Result<WaitingTimes> {
        if self.has_open && self.plan.lost_after_ns.is_none() {
            self.wait_for_equal(leftovers, others)?;
        }
        let waits = WaitingTimes::found(self.plan, [others, self.tally.totals()]);
        self.may_be_late = waits.longest(&self.may_be_late);
        Ok(waits)
    }

    /// Waits for equal packets that were a little slower than all that were told, or so slow that chance does not
    /// explain it, and of which as many arrived.
    fn wait_for_equal(&mut self, leftovers: &mut Leftovers, others: &Totals) -> Result<()> {
        let mut delays = EqualDelays::of_links(self.plan.links.len());
        leftovers.runs.read(&mut |same| {
            for (parts, _) in self.open(same) {
                delays.note(&self.at, &parts, same.around);
            }
            Ok(())
        })?;
        let [are_late, may_be] = delays.waits();
        self.may_be_late = may_be;
        let twice = WaitingTimes::found_twice(self.plan, [others, self.tally.totals()]);
        let waits = twice.longest(&are_late);
        leftovers.runs.read(&mut |same| {
            for (parts, is_likely) in self.open(same) {
                for ends in pairs_in_number(&self.at, &parts, &waits) {
                    self.wait_for_pair(&parts, ends, is_likely);
                }
            }
            Ok(())
        })
    }

    /// Leftovers of which it cannot be told which are of one packet, and whether a slow one is likely.
    fn open(&self, same: &SameKey<'_, N_VALUES>) -> Vec<(Vec<Leftover>, bool)> {
        let all = relatives(&self.at, same);
        let judged = all.iter().flat_map(|some| self.judged(some));
        let open = judged.filter_map(|one| match one {
            Judged::Open(parts, is_likely) => Some((parts, is_likely)),
            _ => None,
        });
        open.collect()
    }

    fn wait_for_pair(
        &mut self,
        parts: &[Leftover],
        (end, beginning): (usize, usize),
        is_likely: bool,
    ) {
        if let (Some(up), Some(down)) = (parts.get(end), parts.get(beginning))
            && (is_likely || is_captured(self.plan, up, down))
        {
            self.tally.wait_for(&up.last, &down.first);
        }
    }

    /// Counts an end and a beginning that may be of one packet. Where captures miss next to none, as many of equal
    /// packets arrived as came within the waiting time, whichever they are: the end is no loss. Nor is it where a slow
    /// packet is likely.
    fn pair_in_number(
        &mut self,
        parts: &mut [Leftover],
        (end, beginning): (usize, usize),
        (waits, is_likely): (&WaitingTimes, bool),
    ) {
        let (Some(up), Some(down)) = (parts.get(end).copied(), parts.get(beginning)) else {
            return;
        };
        let is_captured = || is_captured(self.plan, &up, down);
        let is_no_loss = is_likely || is_captured() && is_within(&self.at, &up, down, waits);
        self.tally
            .count_doubted((&up.last, &down.first), !is_no_loss);
        if !(up.is_single() && down.is_single()) {
            self.tally
                .count_doubted_path((&up.first, &down.last), !is_no_loss);
        }
        for at in [end, beginning] {
            if let Some(part) = parts.get_mut(at).filter(|_| is_likely) {
                part.first.evidence.add(Evidence::SLOW_OR_TWO);
            }
        }
        if is_no_loss && let Some(part) = parts.get_mut(end) {
            part.lost = None;
        }
    }
}

/// Whether a point misses next to none of what it should have captured.
fn is_captured(plan: &Plan, up: &Leftover, down: &Leftover) -> bool {
    plan.phantom_frac(up.direction, down.first.point) <= NO_DOUBT
}

/// What the leftovers of one packet ID are.
fn kinships(at: &Surveyed<'_>, same: &SameKey<'_, N_VALUES>) -> Vec<Kinship> {
    let groups = relatives(at, same).into_iter();
    let of_group = |some: Relatives| of_occasions(at, &some.occasions);
    groups.flat_map(of_group).collect()
}

fn of_occasions(at: &Surveyed<'_>, occasions: &[Vec<Leftover>]) -> Vec<Kinship> {
    let parts = occasions.iter();
    let told = parts.filter_map(|parts| Kinship::of(at, parts));
    told.collect()
}

/// What became of a frame, by all packets of its packet ID: of a packet with several receivers it may be in the
/// parts of each.
fn status_of(frame: FrameId, packets: &[Vec<Leftover>]) -> Status {
    let of_frame = packets.iter().filter_map(|packet| {
        let mut parts = packet.iter();
        let part = parts.find(|part| part.first.frame == frame)?;
        Some(match packet.len() {
            1 if part.is_slow_or_two() => Status::Ambiguous,
            1 => Status::Unmatched,
            _ => Status::Matched,
        })
    });
    let telling = [Status::Unmatched, Status::Ambiguous, Status::Matched];
    let place = |status: &Status| telling.iter().position(|one| one == status);
    of_frame.max_by_key(place).unwrap_or(Status::Unmatched)
}

/// Copies that were made between two points.
fn copies_between(up: u8, down: u8) -> u64 {
    down.saturating_sub(up).into()
}

/// What of a slow packet arrived in time, and what did not.
fn in_time<'p>(plan: &Plan, parts: &'p [Leftover]) -> impl Iterator<Item = &'p [Leftover]> {
    parts.chunk_by(|up, down| !is_too_late(plan, up.direction, (&up.last, &down.first)))
}

/// A packet of several parts as one.
fn whole(parts: &[Leftover]) -> Option<Leftover> {
    let (first, last) = (parts.first()?, parts.last()?);
    let before = parts.len().checked_sub(2).and_then(|at| parts.get(at));
    Some(Leftover {
        first: first.first,
        from: last.from.or(before.map(|part| part.last.point)),
        entered_in_another: first.entered_in_another,
        ..*last
    })
}

/// Whether a packet came after the time that was asked to be waited for it.
fn is_too_late(
    plan: &Plan,
    direction: Direction,
    (up, down): (&Observation, &Observation),
) -> bool {
    let took_ns = || delay_ns(plan, direction, up, down);
    plan.lost_after_ns
        .is_some_and(|most_ns| took_ns() > most_ns)
}
