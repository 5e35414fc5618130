//! What a partition counts: latencies per segment and direction, loss, copies, reordering.

use super::copies::Folded;
use super::losses::{Losses, link_bit};
use super::reordering::Reordering;
use super::spill::Spill;
use super::{FrameId, Sight};
use crate::error::Result;
use crate::histogram::Histogram;
use crate::plan::{Direction, N_BINS, Plan};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Counts of one segment and direction.
#[derive(Debug, Default)]
pub struct LinkTally {
    /// Pairs.
    pub n: u64,
    /// Their latencies, between points that share a clock.
    pub histogram: Histogram,
    /// Copies made on the way.
    pub n_duplicated: u64,
    /// Packets that arrived after a later one of their flow (RFC 4737).
    pub n_reordered: u64,
    /// Packets that entered and were never seen again.
    pub n_lost: u64,
}

/// The least latency residual of a time bin: the pair that bounds the clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Least {
    /// Residual about the survey's centre, ns.
    pub residual_ns: i64,
    /// Reference time of the upstream sight.
    pub aligned_ns: i64,
    /// Raw difference, downstream minus upstream.
    pub raw_ns: i64,
    /// Pairs in the bin.
    pub n: u64,
}

/// Least residuals by time bin.
pub type Bins = Vec<Option<Least>>;

/// Values of one spilled row.
pub const ROW_VALUES: usize = 6;

/// What was counted of all packets.
#[derive(Debug, Default)]
pub struct Totals {
    /// Per link, forward and reverse.
    pub links: Vec<[LinkTally; 2]>,
    /// Per (upstream, downstream, direction) of different clocks: least residuals.
    pub least: BTreeMap<(u16, u16, usize), Bins>,
    /// Files of raw differences per link and direction.
    pub spills: Vec<[Vec<PathBuf>; 2]>,
    /// Files of all pairs, if rows are kept.
    pub rows: Vec<PathBuf>,
}

/// The counts of one partition in the making.
pub(super) struct Tally {
    plan: Arc<Plan>,
    totals: Totals,
    losses: Losses,
    reordering: Vec<[Reordering; 2]>,
    spills: Vec<[Option<Spill>; 2]>,
    rows: Option<Spill>,
    /// Per near × n + far.
    link_of: Vec<Option<usize>>,
}

impl Tally {
    pub(super) fn new(
        plan: Arc<Plan>,
        directory: &Path,
        partition: usize,
        keep_rows: bool,
    ) -> Result<Self> {
        let n = plan.n_points();
        let mut link_of = vec![None; n * n];
        let mut spills = Vec::new();
        for (index, (near, far)) in plan.links.iter().enumerate() {
            if let Some(slot) = link_of.get_mut(usize::from(*near) * n + usize::from(*far)) {
                *slot = Some(index);
            }
            let spill = |direction: &str| {
                let name = format!("raw-{index}-{direction}-{partition}");
                let is_apart = !plan.same_clock(*near, *far);
                is_apart
                    .then(|| Spill::create(directory, &name))
                    .transpose()
            };
            spills.push([spill("forward")?, spill("reverse")?]);
        }
        let rows = keep_rows.then(|| Spill::create(directory, &format!("rows-{partition}")));
        Ok(Self {
            totals: Totals::of_links(plan.links.len()),
            losses: Losses::default(),
            reordering: plan.links.iter().map(|_| Default::default()).collect(),
            spills,
            rows: rows.transpose()?,
            link_of,
            plan,
        })
    }

    /// Counts a decided packet.
    pub(super) fn count(&mut self, sights: &[Sight], direction: Direction, folded: &Folded) {
        let mut crossed = 0;
        for two in sights.windows(2) {
            let [up, down] = two else { continue };
            crossed |= self.count_pair(up, down, direction, folded);
            if let Some(first) = sights.first() {
                self.keep_row(up, down, direction, first.frame);
            }
        }
        if let [first, _, .., last] = sights
            && sights.len() > 2
            && self
                .link(first, last, direction)
                .is_some_and(|link| Some(link) == self.plan.whole)
        {
            crossed |= self.count_pair(first, last, direction, folded);
        }
        self.losses.note_crossed(sights, crossed);
    }

    /// Counts where a packet ended, which may be a loss.
    pub(super) fn count_end(&mut self, sights: &[Sight], direction: Direction) {
        self.losses.note_end(&self.plan, sights, direction);
    }

    fn link(&self, up: &Sight, down: &Sight, direction: Direction) -> Option<usize> {
        let (near, far) = match direction {
            Direction::Forward => (up.point, down.point),
            Direction::Reverse => (down.point, up.point),
        };
        let index = usize::from(near) * self.plan.n_points() + usize::from(far);
        self.link_of.get(index).copied().flatten()
    }

    /// Counts one pair of sights and returns the bit of the segment it crossed.
    fn count_pair(
        &mut self,
        up: &Sight,
        down: &Sight,
        direction: Direction,
        folded: &Folded,
    ) -> u128 {
        let raw_ns = down.t_ns.saturating_sub(up.t_ns);
        let is_exact = self.plan.same_clock(up.point, down.point);
        if !is_exact {
            self.note_least(up, down, direction, raw_ns);
        }
        let Some(index) = self.link(up, down, direction) else {
            return 0;
        };
        let side = direction.index();
        if let Some(tally) = at(&mut self.totals.links, index, side) {
            tally.n += 1;
            if is_exact {
                tally.histogram.add(raw_ns);
            }
            if !folded.is_empty() {
                let n_after = folded.copies_of(down).count() as u64;
                tally.n_duplicated += n_after.saturating_sub(folded.copies_of(up).count() as u64);
            }
        }
        if !is_exact && let Some(Some(spill)) = at(&mut self.spills, index, side) {
            spill.write([up.t_ns, raw_ns]);
        }
        if let Some(reordering) = at(&mut self.reordering, index, side) {
            reordering.push(up, down);
        }
        link_bit(index, side)
    }

    fn keep_row(&mut self, up: &Sight, down: &Sight, direction: Direction, id: FrameId) {
        let Some(rows) = &mut self.rows else { return };
        let is_reverse = i64::from(direction == Direction::Reverse);
        let points = i64::from(up.point) | i64::from(down.point) << 16 | is_reverse << 32;
        let raw_ns = down.t_ns.saturating_sub(up.t_ns);
        let frames = [up, down].map(|sight| sight.frame.packed());
        let row: [i64; ROW_VALUES] = [points, frames[0], frames[1], up.t_ns, raw_ns, id.packed()];
        rows.write(row);
    }

    fn note_least(&mut self, up: &Sight, down: &Sight, direction: Direction, raw_ns: i64) {
        // What is born on the way, and what was only guessed, bounds no clock: neighbour discovery
        // travels both ways at once.
        if !up.directed || !self.plan.toward_is_forward.contains_key(&up.pair) {
            return;
        }
        let (start_ns, width_ns) = self.plan.bins;
        let bin = up.aligned_ns.saturating_sub(start_ns) / width_ns.max(1);
        let Ok(bin) = usize::try_from(bin) else {
            return;
        };
        let key = (up.point, down.point, direction.index());
        let bins = self
            .totals
            .least
            .entry(key)
            .or_insert_with(|| vec![None; N_BINS]);
        if let Some(slot) = bins.get_mut(bin.min(N_BINS - 1)) {
            let residual_ns = down.aligned_ns.saturating_sub(up.aligned_ns);
            Least {
                residual_ns,
                aligned_ns: up.aligned_ns,
                raw_ns,
                n: 1,
            }
            .join(slot);
        }
    }

    /// Puts in order what arrived before `until_ns`.
    pub(super) fn settle(&mut self, until_ns: i64) {
        self.reordering
            .iter_mut()
            .flatten()
            .for_each(|one| one.settle(until_ns));
    }

    /// The counts but for the losses, which need those of all partitions.
    pub(super) fn finish(mut self) -> Result<(Totals, Losses)> {
        let tallies = self.totals.links.iter_mut().flatten();
        for (tally, reordering) in tallies.zip(self.reordering.iter_mut().flatten()) {
            tally.n_reordered = reordering.finish();
        }
        for (paths, spills) in self
            .totals
            .spills
            .iter_mut()
            .flatten()
            .zip(self.spills.into_iter().flatten())
        {
            paths.extend(spills.map(Spill::finish).transpose()?);
        }
        self.totals
            .rows
            .extend(self.rows.map(Spill::finish).transpose()?);
        Ok((self.totals, self.losses))
    }
}

fn at<T>(links: &mut [[T; 2]], index: usize, side: usize) -> Option<&mut T> {
    links.get_mut(index).and_then(|both| both.get_mut(side))
}

impl Least {
    /// Keeps the lesser of two in the slot, which counts both.
    fn join(self, slot: &mut Option<Self>) {
        let order = |one: &Self| (one.residual_ns, one.raw_ns, one.aligned_ns);
        let n = self.n + slot.map_or(0, |least| least.n);
        let least = slot
            .filter(|least| order(least) <= order(&self))
            .unwrap_or(self);
        *slot = Some(Self { n, ..least });
    }
}

impl Totals {
    pub(super) fn of_links(n: usize) -> Self {
        Self {
            links: (0..n).map(|_| Default::default()).collect(),
            spills: vec![Default::default(); n],
            ..Self::default()
        }
    }

    /// Adds what another partition counted.
    pub(super) fn merge(&mut self, other: Self) {
        for (total, one) in self
            .links
            .iter_mut()
            .flatten()
            .zip(other.links.into_iter().flatten())
        {
            total.n += one.n;
            total.histogram.merge(&one.histogram);
            total.n_duplicated += one.n_duplicated;
            total.n_reordered += one.n_reordered;
            total.n_lost += one.n_lost;
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
    }

    /// Adds the losses of all partitions.
    pub(super) fn add_losses(&mut self, n_lost: &[[u64; 2]]) {
        for (total, n) in self.links.iter_mut().flatten().zip(n_lost.iter().flatten()) {
            total.n_lost += n;
        }
    }
}
