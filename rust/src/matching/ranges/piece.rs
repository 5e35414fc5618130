//! What whole-packet matching made of one packet of a stream, and what ranges add to it.

use super::super::copies::Folded;
use super::super::evidence::Evidence;
use super::super::{Sight, Status};
use super::spans::{Span, Spans};

/// How whole-packet matching left a packet's last sight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Ending {
    /// Nothing after it was found.
    Known,
    /// It may have gone on in one of several: it is not lost.
    Unfinished,
    /// It may belong to more than one packet, and stands in no match.
    Ambiguous,
}

/// A packet at one point or more, from the sender's side on, all of its bytes everywhere.
#[derive(Debug)]
pub(super) struct Piece {
    pub(super) sights: Vec<Sight>,
    pub(super) folded: Folded,
    pub(super) ending: Ending,
    /// Its bytes, by numbers that do not wrap.
    pub(super) bytes: Span,
    /// It was there when its stream was last decided in part.
    pub(super) is_old: bool,
    /// What became of it was said; it stays for what others are told by.
    pub(super) is_done: bool,
    pub(super) found: Found,
}

/// What was found of a piece at other points.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// Bytes of its first sight that were seen before.
    pub(super) before: Spans,
    /// Bytes of its last sight that were seen after.
    pub(super) after: Spans,
    /// It stands in a pair.
    pub(super) is_paired: bool,
    /// It may stand in one of several pairs.
    pub(super) is_doubtful: bool,
    /// Bytes of it entered the whole path at its beginning.
    pub(super) has_entered: bool,
}

/// Bytes of a packet that were not seen after its last sight.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in super::super) struct Lost {
    /// 1 if no byte of it was.
    pub(in super::super) packets: u64,
    /// Of one that was seen in part: 1 if its first byte was not, and its last.
    pub(in super::super) ends: [u64; 2],
    /// How many.
    pub(in super::super) bytes: u64,
}

impl Lost {
    /// The same without as many packets as may be left out, which are then fewer.
    pub(in super::super) fn without(self, spare: &mut u64) -> Self {
        let n = self.packets.min(*spare);
        let (left, all) = match self.packets {
            0 => (u64::from(*spare == 0), 1),
            packets => (packets - n, packets),
        };
        *spare -= n;
        let part = |of: u64| of * left / all;
        Self {
            packets: self.packets - n,
            ends: self.ends.map(part),
            bytes: part(self.bytes),
        }
    }

    pub(in super::super) fn add(&mut self, other: Self) {
        self.packets += other.packets;
        self.bytes += other.bytes;
        for (total, n) in self.ends.iter_mut().zip(other.ends) {
            *total += n;
        }
    }

    /// A packet that was seen nowhere after.
    pub(in super::super) fn whole(sight: &Sight) -> Self {
        Self {
            packets: 1,
            ends: [0; 2],
            bytes: sight.range.length().map_or(0, u64::from),
        }
    }
}

impl Piece {
    pub(super) fn new(sights: &[Sight], folded: &Folded, ending: Ending) -> Self {
        Self {
            sights: sights.to_vec(),
            folded: folded.of(sights),
            ending,
            bytes: (0, 0),
            is_old: false,
            is_done: false,
            found: Found::default(),
        }
    }

    /// Nobody knows whose bytes it carries: alone it is ambiguous, and it is not lost.
    pub(super) fn doubt(&mut self) {
        self.ending = match self.sights.as_mut_slice() {
            [alone] => {
                alone.evidence.add(Evidence::BYTES_TWICE);
                Ending::Ambiguous
            }
            _ => Ending::Unfinished,
        };
    }

    /// When it was first seen, reference time.
    pub(super) fn at_ns(&self) -> i64 {
        let times = self.sights.iter().map(|sight| sight.aligned_ns);
        times.min().unwrap_or(i64::MAX)
    }

    /// The start and length that one of its sights tells.
    pub(super) fn unwrapped(&self, near: i64) -> Option<Span> {
        let mut told = self.sights.iter().map(|sight| sight.range);
        told.find_map(|range| {
            let start = range.start_near(near);
            Some((start, start.saturating_add(range.length()?.into())))
        })
    }

    /// What became of its sights.
    pub(super) fn status(&self) -> Status {
        if self.sights.len() > 1 {
            Status::Matched
        } else if self.found.is_paired {
            Status::Coalesced
        } else if self.found.is_doubtful || self.ending == Ending::Ambiguous {
            Status::Ambiguous
        } else {
            Status::Unmatched
        }
    }

    /// What of it was lost after its last sight; `None` if that cannot be told.
    pub(super) fn lost(&self) -> Option<Lost> {
        let n_bytes = self.found.after.n_missing(self.bytes);
        if self.ending != Ending::Known || self.found.is_doubtful || n_bytes == 0 {
            return None;
        }
        let (lo, hi) = self.bytes;
        if n_bytes == hi.abs_diff(lo) {
            return self.sights.last().map(Lost::whole);
        }
        let ends = [(lo, lo.saturating_add(1)), (hi.saturating_sub(1), hi)];
        Some(Lost {
            packets: 0,
            ends: ends.map(|end| self.found.after.n_missing(end)),
            bytes: n_bytes,
        })
    }

    /// Cuts it in two after the sight of this index.
    pub(super) fn split_after(&mut self, index: usize) -> Option<Self> {
        let rest = self.sights.split_off((index + 1).min(self.sights.len()));
        if rest.is_empty() {
            return None;
        }
        let ending = std::mem::replace(&mut self.ending, Ending::Known);
        Some(Self {
            bytes: self.bytes,
            is_old: self.is_old,
            ..Self::new(&rest, &self.folded, ending)
        })
    }
}
