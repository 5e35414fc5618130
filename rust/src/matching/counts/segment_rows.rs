//! What breakdowns are made of: a row for every packet that crossed a segment, or the whole path; and
//! one for every packet that was not seen again, of which the list of lost packets is made too.

use crate::base::error::{Error, Result};
use crate::base::spill::Spill;
use crate::matching::counts::Keep;
use crate::matching::late::Leftover;
use crate::matching::loss::End;
use crate::matching::loss::lost_packets::ToldBy;
use crate::matching::loss::pair_segments::DirectedPair;
use crate::matching::observation::Observation;
use crate::plan::Direction;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

/// Values of one row.
pub(crate) const VALUES: usize = 7;

/// A packet at both ends of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SegmentRow {
    points: i64,
    frames: [i64; 2],
    up_ns: i64,
    raw_ns: i64,
    n_copies: u64,
}

/// What is known of it when those before it have arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Arrived {
    pub(crate) is_reordered: bool,
    /// Size of the difference from the packet before it; `None`: it has no neighbour.
    pub(crate) variation_ns: Option<i64>,
}

impl SegmentRow {
    pub(crate) fn new(
        up: &Observation,
        down: &Observation,
        direction: Direction,
        n_copies: u64,
    ) -> Self {
        Self {
            points: points(up.point, down.point, direction),
            frames: [up, down].map(|observation| observation.frame.packed()),
            up_ns: up.t_ns,
            raw_ns: down.t_ns.saturating_sub(up.t_ns),
            n_copies,
        }
    }

    fn row(&self, arrived: Arrived) -> [i64; VALUES] {
        let n_copies = i64::try_from(self.n_copies).unwrap_or(0);
        let told = n_copies << 1 | i64::from(arrived.is_reordered);
        let [up, down] = self.frames;
        let variation_ns = arrived.variation_ns.unwrap_or(-1);
        [
            self.points,
            up,
            down,
            self.up_ns,
            self.raw_ns,
            told,
            variation_ns,
        ]
    }
}

/// Upstream and downstream point, and the direction, as rows of `matches` have them.
pub(crate) fn points(up: u16, down: u16, direction: Direction) -> i64 {
    let is_reverse = i64::from(direction.is_reverse());
    i64::from(up) | i64::from(down) << 16 | is_reverse << 32
}

/// Crossings of one segment and direction that wait to be put in order of arrival.
#[derive(Debug, Default)]
pub(crate) struct Waiting {
    crossings: Vec<SegmentRow>,
    arrived: Vec<[i64; VALUES]>,
}

impl Waiting {
    /// Takes one, and gives its number, from 1.
    pub(crate) fn add(&mut self, crossing: SegmentRow) -> u32 {
        self.crossings.push(crossing);
        u32::try_from(self.crossings.len()).unwrap_or(0)
    }

    /// Hands over what has arrived.
    pub(crate) fn arrived(&mut self) -> Vec<[i64; VALUES]> {
        std::mem::take(&mut self.arrived)
    }

    fn at(&self, number: u32) -> Option<&SegmentRow> {
        let place = usize::try_from(number).ok()?.checked_sub(1)?;
        self.crossings.get(place)
    }

    /// Tells how one arrived.
    pub(crate) fn arrive(&mut self, number: u32, arrived: Arrived) {
        if let Some(row) = self.at(number).map(|one| one.row(arrived)) {
            self.arrived.push(row);
        }
    }

    /// Keeps only those of these numbers, which are counted anew.
    pub(crate) fn keep<'a>(&mut self, numbers: impl Iterator<Item = &'a mut u32>) {
        if self.crossings.is_empty() {
            return;
        }
        let mut left = Vec::new();
        for number in numbers {
            if let Some(one) = self.at(*number) {
                left.push(*one);
                *number = u32::try_from(left.len()).unwrap_or(0);
            }
        }
        self.crossings = left;
    }
}

/// The crossings and ends of a partition, where they are kept.
pub(crate) struct SegmentRows {
    crossed: Option<Spill>,
    ended: Option<Spill>,
}

/// Where they are now.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct SegmentRowFiles {
    /// A row for each packet and segment.
    pub crossed: Vec<PathBuf>,
    /// What was not seen again, as the partitions noted it.
    pub(crate) ended: Vec<PathBuf>,
    /// What of lost packets was allocated to which segment, as breakdowns need it.
    pub lost: Option<PathBuf>,
    /// The lost packets, see [`crate::matching::loss::lost_packets`].
    pub lost_packets: Option<PathBuf>,
}

impl SegmentRows {
    pub(crate) fn new(
        directory: &Path,
        partition: impl std::fmt::Display,
        keep: Keep,
    ) -> Result<Self> {
        let spill = |name: &str| Spill::create(directory, &format!("{name}-{partition}"));
        let crossed = keep.crossings.then(|| spill("crossed"));
        let ended = keep.ends().then(|| spill("ended"));
        Ok(Self {
            crossed: crossed.transpose()?,
            ended: ended.transpose()?,
        })
    }

    pub(crate) fn are_crossings_kept(&self) -> bool {
        self.crossed.is_some()
    }

    /// Writes what has arrived.
    pub(crate) fn take(&mut self, waiting: &mut Waiting) {
        if let Some(crossed) = &mut self.crossed {
            waiting
                .arrived()
                .into_iter()
                .for_each(|row| crossed.write(row));
        }
    }

    /// Writes a packet that has arrived, and has no neighbour.
    pub(crate) fn cross(&mut self, crossing: &SegmentRow, is_reordered: bool) {
        if let Some(crossed) = &mut self.crossed {
            crossed.write(crossing.row(Arrived {
                is_reordered,
                variation_ns: None,
            }));
        }
    }

    /// Writes a packet that was not seen again.
    pub(crate) fn end(&mut self, end: &End, left: &Leftover) {
        if let Some(ended) = &mut self.ended {
            ended.write(Ended::new(end, left).values());
        }
    }

    pub(crate) fn finish(self) -> Result<SegmentRowFiles> {
        let written = |spill: Option<Spill>| spill.map(Spill::finish).transpose();
        Ok(SegmentRowFiles {
            crossed: written(self.crossed)?.into_iter().collect(),
            ended: written(self.ended)?.into_iter().collect(),
            ..SegmentRowFiles::default()
        })
    }
}

impl SegmentRowFiles {
    pub(crate) fn merge(&mut self, other: Self) {
        self.crossed.extend(other.crossed);
        self.ended.extend(other.ended);
    }
}

/// A packet that was not seen again: its first and last frame, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ended {
    pub(crate) end: End,
    pub(crate) first_point: u16,
    pub(crate) first: (i64, i64),
    pub(crate) last: (i64, i64),
    pub(crate) told_by: ToldBy,
}

const ENDED_VALUES: usize = 11;
const NO_POINT: u16 = u16::MAX;
/// Above the first point and the moment: two traits, and the route.
const TOWARD_BIT: u32 = 45;
const GUESSED_BIT: u32 = 46;
const ROUTE_BIT: u32 = 47;
/// Above how the loss is told.
const CUT_BIT: u32 = 8;
/// Points that a branch may lead to, and one for none.
const BRANCH_MASK: i64 = (1 << 12) - 1;

impl Ended {
    fn new(end: &End, left: &Leftover) -> Self {
        let place = |observation: &Observation| (observation.frame.packed(), observation.t_ns);
        Self {
            end: *end,
            first_point: left.first.point,
            first: place(&left.first),
            last: place(&left.last),
            told_by: left.told_by,
        }
    }

    fn values(&self) -> [i64; ENDED_VALUES] {
        let end = &self.end;
        let point = |point: Option<u16>| i64::from(point.unwrap_or(NO_POINT));
        let traits = [end.direction.is_reverse(), end.had_entered, end.is_untold];
        let traits = traits
            .iter()
            .rev()
            .fold(0, |all, is_so| all << 1 | i64::from(*is_so));
        let where_seen = i64::from(end.point)
            | point(end.from) << 16
            | point(end.unmirrored) << 32
            | traits << 48
            | end.branch.map_or(0, |branch| i64::from(branch) + 1) << 51;
        let (first, last) = (self.first, self.last);
        let moment = i64::from(end.moment) << 16
            | i64::from(self.first_point)
            | i64::from(end.way.toward) << TOWARD_BIT
            | i64::from(end.is_guessed) << GUESSED_BIT
            | i64::from(end.direction.route()) << ROUTE_BIT;
        let pair = end.way.pair.cast_signed();
        let flow = end.flow.cast_signed();
        let [low, high] = halves(end.waited_for);
        let told_by = self.told_by as i64 | i64::from(end.was_cut) << CUT_BIT;
        [
            pair, flow, where_seen, moment, first.0, first.1, last.0, last.1, low, high, told_by,
        ]
    }

    fn of(values: [i64; ENDED_VALUES]) -> Self {
        let [pair, flow, where_seen, moment, seen @ .., told_by] = values;
        let [first, first_ns, last, last_ns, low, high] = seen;
        let [low, high] = [low, high].map(|half| u128::from(half.cast_unsigned()));
        let point = |shift: u32| u16::try_from(where_seen >> shift & 0xffff).unwrap_or(NO_POINT);
        let known = |shift: u32| Some(point(shift)).filter(|point| *point != NO_POINT);
        let is_so = |bit: u32| where_seen >> (48 + bit) & 1 == 1;
        let end = End {
            way: DirectedPair {
                pair: pair.cast_unsigned(),
                toward: moment >> TOWARD_BIT & 1 == 1,
            },
            is_guessed: moment >> GUESSED_BIT & 1 == 1,
            flow: flow.cast_unsigned(),
            from: known(16),
            point: point(0),
            direction: Direction::on(u16::try_from(moment >> ROUTE_BIT).unwrap_or(0), !is_so(0)),
            had_entered: is_so(1),
            was_cut: told_by >> CUT_BIT & 1 == 1,
            is_untold: is_so(2),
            unmirrored: known(32),
            branch: u16::try_from((where_seen >> 51) & BRANCH_MASK)
                .ok()
                .and_then(|one| one.checked_sub(1)),
            moment: u32::try_from((moment & ((1 << TOWARD_BIT) - 1)) >> 16).unwrap_or(0),
            waited_for: high << 64 | low,
        };
        Self {
            end,
            first_point: u16::try_from(moment & 0xffff).unwrap_or(0),
            first: (first, first_ns),
            last: (last, last_ns),
            told_by: ToldBy::of(told_by & ((1 << CUT_BIT) - 1)),
        }
    }

    /// Hands over all that a file has.
    pub(crate) fn read(path: &Path, take: &mut dyn FnMut(&Self)) -> Result<()> {
        let failed = |source| Error::Io {
            path: path.to_owned(),
            source,
        };
        let mut from = BufReader::with_capacity(1 << 16, File::open(path).map_err(failed)?);
        let mut bytes = [0; 8 * ENDED_VALUES];
        loop {
            match from.read_exact(&mut bytes) {
                Ok(()) => take(&Self::of(numbers(&bytes))),
                Err(end) if end.kind() == std::io::ErrorKind::UnexpectedEof => return Ok(()),
                Err(source) => return Err(failed(source)),
            }
        }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the halves of 128 bits")]
fn halves(bits: u128) -> [i64; 2] {
    [bits as u64, (bits >> 64) as u64].map(u64::cast_signed)
}

fn numbers(bytes: &[u8; 8 * ENDED_VALUES]) -> [i64; ENDED_VALUES] {
    let (chunks, _) = bytes.as_chunks::<8>();
    let mut values = [0; ENDED_VALUES];
    for (value, chunk) in values.iter_mut().zip(chunks) {
        *value = i64::from_le_bytes(*chunk);
    }
    values
}

#[cfg(test)]
mod tests;
