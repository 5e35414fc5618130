//! What a partition counts: latencies per segment and direction, loss, copies, reordering.

use super::resolve::Folded;
use super::window::HashedMap;
use super::{FrameId, Sight};
use crate::error::{Error, Result};
use crate::histogram::Histogram;
use crate::plan::{Direction, N_BINS, Plan};
use std::collections::HashMap;
use std::fs::File;
use std::io::{BufWriter, Write};
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
#[derive(Clone, Copy, Debug)]
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

/// The raw differences of one segment and direction between clocks, spilled.
pub struct Spill {
    /// Where.
    pub path: PathBuf,
    out: BufWriter<File>,
}

impl Spill {
    pub(super) fn create(path: PathBuf) -> Result<Self> {
        let file = File::create(&path).map_err(|source| Error::Io { path: path.clone(), source })?;
        Ok(Self { path, out: BufWriter::with_capacity(1 << 18, file) })
    }

    fn write<const N: usize>(&mut self, values: [i64; N]) -> std::io::Result<()> {
        values.iter().try_for_each(|value| self.out.write_all(&value.to_le_bytes()))
    }

    fn finish(&mut self) -> Result<()> {
        self.out.flush().map_err(|source| Error::Io { path: self.path.clone(), source })
    }
}

/// What an address pair did: the segments it crossed, and where its packets were last seen.
#[derive(Debug, Default)]
struct PairState {
    crossed: u128,
    last_seen: HashMap<(u16, usize), u64>,
    missed_whole: [u64; 2],
}

/// All counts of one partition.
pub struct Tally {
    plan: Arc<Plan>,
    /// Per link, forward and reverse.
    pub links: Vec<[LinkTally; 2]>,
    /// Per (upstream, downstream, direction) of different clocks: least latencies by time bin.
    pub least: HashMap<(u16, u16, usize), Vec<Option<Least>>>,
    /// Spilled raw differences per link and direction.
    pub spills: Vec<[Option<Spill>; 2]>,
    /// Every pair, if rows are kept.
    pub rows: Option<Spill>,
    pairs: HashedMap<PairState>,
    link_of: HashMap<(u16, u16), usize>,
    failure: Option<std::io::Error>,
}

/// Values of one spilled row.
pub const ROW_VALUES: usize = 6;

impl Tally {
    pub(super) fn new(plan: Arc<Plan>, directory: &Path, partition: usize, keep_rows: bool) -> Result<Self> {
        let mut spills = Vec::new();
        for (index, (near, far)) in plan.links.iter().enumerate() {
            let make = |direction: &str| -> Result<Option<Spill>> {
                let name = format!("raw-{index}-{direction}-{partition}");
                (!plan.same_clock(*near, *far)).then(|| Spill::create(directory.join(name))).transpose()
            };
            spills.push([make("forward")?, make("reverse")?]);
        }
        let rows = keep_rows.then(|| Spill::create(directory.join(format!("rows-{partition}"))));
        Ok(Self {
            links: plan.links.iter().map(|_| <[LinkTally; 2]>::default()).collect(),
            least: HashMap::new(),
            spills,
            rows: rows.transpose()?,
            pairs: HashedMap::default(),
            link_of: plan.links.iter().copied().enumerate().map(|(i, ends)| (ends, i)).collect(),
            failure: None,
            plan,
        })
    }

    /// Counts a decided packet.
    pub(super) fn count(&mut self, sights: &[Sight], direction: Direction, folded: &Folded, reordering: &mut super::partition::Reordering) {
        let id = sights.first().map(|first| first.frame);
        let mut crossed = 0;
        for two in sights.windows(2) {
            let [up, down] = two else { continue };
            crossed |= self.count_pair(up, down, direction, folded, reordering);
            self.keep_row(up, down, direction, id);
        }
        if let ([first, .., last], Some(whole)) = (sights, self.plan.whole)
            && self.link(first, last, direction) == Some(whole)
            && sights.len() > 2
        {
            crossed |= self.count_pair(first, last, direction, folded, reordering);
        }
        self.note_pair(sights, direction, crossed);
    }

    fn link(&self, up: &Sight, down: &Sight, direction: Direction) -> Option<usize> {
        let ends = match direction {
            Direction::Forward => (up.point, down.point),
            Direction::Reverse => (down.point, up.point),
        };
        self.link_of.get(&ends).copied()
    }

    /// Counts one pair of sights and returns the bit of the segment it crossed.
    fn count_pair(&mut self, up: &Sight, down: &Sight, direction: Direction, folded: &Folded, reordering: &mut super::partition::Reordering) -> u128 {
        let raw_ns = down.t_ns.saturating_sub(up.t_ns);
        let is_exact = self.plan.same_clock(up.point, down.point);
        if !is_exact {
            self.note_least(up, down, direction, raw_ns);
        }
        let Some(index) = self.link(up, down, direction) else { return 0 };
        let side = direction.index();
        if let Some(tally) = self.links.get_mut(index).and_then(|both| both.get_mut(side)) {
            tally.n += 1;
            if is_exact {
                tally.histogram.add(raw_ns);
            }
            if !folded.is_empty() {
                tally.n_duplicated += n_copies(folded, down).saturating_sub(n_copies(folded, up));
            }
        }
        if !is_exact && let Some(Some(spill)) = self.spills.get_mut(index).and_then(|both| both.get_mut(side)) {
            let written = spill.write([up.t_ns, raw_ns]);
            self.failure = self.failure.take().or(written.err());
        }
        reordering.push(index, side, up, down);
        link_bit(index, side)
    }

    fn keep_row(&mut self, up: &Sight, down: &Sight, direction: Direction, id: Option<FrameId>) {
        let Some(rows) = &mut self.rows else { return };
        let points = i64::from(up.point) | i64::from(down.point) << 16 | i64::from(u8::from(direction == Direction::Reverse)) << 32;
        let id = id.map_or(-1, FrameId::packed);
        let raw_ns = down.t_ns.saturating_sub(up.t_ns);
        let row: [i64; ROW_VALUES] = [points, up.frame.packed(), down.frame.packed(), up.t_ns, raw_ns, id];
        let written = rows.write(row);
        self.failure = self.failure.take().or(written.err());
    }

    fn note_least(&mut self, up: &Sight, down: &Sight, direction: Direction, raw_ns: i64) {
        // What is born on the way, and what was only guessed, bounds no clock (recipe: neighbour
        // discovery travels both ways at once).
        if !up.directed || !self.plan.toward_is_forward.contains_key(&up.pair) {
            return;
        }
        let (start_ns, width_ns) = self.plan.bins;
        let Ok(bin) = usize::try_from((up.aligned_ns - start_ns) / width_ns.max(1)) else { return };
        let bins = self.least.entry((up.point, down.point, direction.index())).or_insert_with(|| vec![None; N_BINS]);
        let Some(slot) = bins.get_mut(bin.min(N_BINS - 1)) else { return };
        let residual_ns = down.aligned_ns - up.aligned_ns;
        let n = slot.map_or(0, |least| least.n) + 1;
        match slot {
            Some(least) if (least.residual_ns, least.raw_ns, least.aligned_ns) <= (residual_ns, raw_ns, up.aligned_ns) => least.n = n,
            _ => *slot = Some(Least { residual_ns, aligned_ns: up.aligned_ns, raw_ns, n }),
        }
    }

    fn note_pair(&mut self, sights: &[Sight], direction: Direction, crossed: u128) {
        let (Some(first), Some(last)) = (sights.first(), sights.last()) else { return };
        if !last.directed {
            return;
        }
        let state = self.pairs.entry(last.pair).or_default();
        state.crossed |= crossed;
        let component = self.plan.component.get(usize::from(last.point)).copied().unwrap_or(0);
        let Some((start_ns, end_ns)) = self.plan.cover.get(usize::from(component)) else { return };
        if !(*start_ns..=*end_ns).contains(&last.aligned_ns) {
            return;
        }
        if let Some((near, far)) = self.plan.whole.and_then(|whole| self.plan.links.get(whole).copied()) {
            let (up, down) = if direction == Direction::Forward { (near, far) } else { (far, near) };
            if first.point == up && last.point != down {
                state.missed_whole[direction.index()] += 1;
            }
        }
        *state.last_seen.entry((last.point, direction.index())).or_default() += 1;
    }

    /// Turns last sights into losses and makes sure that all is written.
    pub(super) fn finish(&mut self) -> Result<()> {
        if let Some(source) = self.failure.take() {
            return Err(Error::Io { path: PathBuf::from("temporary files"), source });
        }
        self.count_losses();
        let spills = self.spills.iter_mut().flatten().flatten();
        spills.chain(self.rows.as_mut()).try_for_each(Spill::finish)
    }

    /// A packet is lost on a segment that its address pair crosses otherwise.
    fn count_losses(&mut self) {
        for state in self.pairs.values() {
            for ((point, side), n) in &state.last_seen {
                let leads = |(index, (near, far)): &(usize, &(u16, u16))| {
                    let up = if *side == 0 { near } else { far };
                    up == point && Some(*index) != self.plan.whole && state.crossed & link_bit(*index, *side) != 0
                };
                let segment = self.plan.links.iter().enumerate().find(leads);
                if let Some(tally) = segment.and_then(|(index, _)| self.links.get_mut(index)) {
                    tally[*side & 1].n_lost += n;
                }
            }
            let whole = self.plan.whole.and_then(|whole| Some((whole, self.links.get_mut(whole)?)));
            if let Some((whole, tally)) = whole {
                for (side, tally) in tally.iter_mut().enumerate() {
                    if state.crossed & link_bit(whole, side) != 0 {
                        tally.n_lost += state.missed_whole[side & 1];
                    }
                }
            }
        }
    }
}

/// One bit per segment and direction; paths with more than 64 segments share bits.
fn link_bit(index: usize, side: usize) -> u128 {
    1_u128 << ((2 * index + side) % 128)
}

fn n_copies(folded: &Folded, of: &Sight) -> u64 {
    folded.iter().map(|(_, original)| u64::from(*original == of.frame)).sum()
}
