//! What whole-packet matching made of one packet of a stream, and what ranges add to it.

use crate::matching::evidence::Evidence;
use crate::matching::observation::Observation;
use crate::matching::outcome::Status;
use crate::matching::resolve::copies::Folded;
use crate::matching::streams::byte_set::{Span, Spans};
use serde::{Deserialize, Serialize};

/// How whole-packet matching left a packet's last observation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// Nothing after it was found.
    Known,
    /// It may have gone on in one of several: it is not lost.
    Unfinished,
    /// It may belong to more than one packet, and stands in no match.
    Ambiguous,
}

/// A packet at one point or more, from the sender's side on, all of its bytes everywhere.
#[derive(Debug)]
pub(crate) struct StreamSegment {
    pub(crate) observations: Vec<Observation>,
    pub(crate) folded: Folded,
    pub(crate) ending: Ending,
    /// Its bytes, by numbers that do not wrap.
    pub(crate) bytes: Span,
    /// It was there when its stream was last decided in part.
    pub(crate) is_old: bool,
    /// What became of it was said; it stays for what others are told by.
    pub(crate) is_done: bool,
    pub(crate) found: Found,
}

/// Whether a piece stands in a pair, and with what.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Joined {
    #[default]
    Not,
    /// With pieces of the next point alone.
    Next,
    /// With one past points that saw none of their bytes.
    Leapt,
}

/// What was found of a piece at other points.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// Bytes of its first observation that were seen before.
    pub(crate) before: Spans,
    /// Bytes of its last observation that were seen after.
    pub(crate) after: Spans,
    pub(crate) joined: Joined,
    /// It may stand in one of several pairs.
    pub(crate) is_doubtful: bool,
    /// Bytes of it entered the whole path at its beginning.
    pub(crate) has_entered: bool,
}

/// Bytes of a packet that were not seen after its last observation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Lost {
    /// 1 if no byte of it was.
    pub(crate) packets: u64,
    /// Of one that was seen in part: 1 if its first byte was not, and its last.
    pub(crate) ends: [u64; 2],
    /// How many.
    pub(crate) bytes: u64,
}

impl Lost {
    /// The same without as many packets as may be left out, which are then fewer.
    pub(crate) fn without(self, spare: &mut u64) -> Self {
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

    pub(crate) fn add(&mut self, other: Self) {
        self.packets += other.packets;
        self.bytes += other.bytes;
        for (total, n) in self.ends.iter_mut().zip(other.ends) {
            *total += n;
        }
    }

    /// A packet that was seen nowhere after.
    pub(crate) fn whole(observation: &Observation) -> Self {
        Self {
            packets: 1,
            ends: [0; 2],
            bytes: observation.range.length().map_or(0, u64::from),
        }
    }

    /// A packet by its observations, the last of which may be cut before it tells how many bytes there are.
    pub(crate) fn of(observations: &[Observation]) -> Option<Self> {
        let whole = Self::whole(observations.last()?);
        let bytes = observations.iter().map(|one| Self::whole(one).bytes).max();
        Some(Self {
            bytes: bytes.filter(|_| whole.bytes == 0).unwrap_or(whole.bytes),
            ..whole
        })
    }
}

impl StreamSegment {
    pub(crate) fn new(observations: &[Observation], folded: &Folded, ending: Ending) -> Self {
        Self {
            observations: observations.to_vec(),
            folded: folded.of(observations),
            ending,
            bytes: (0, 0),
            is_old: false,
            is_done: false,
            found: Found::default(),
        }
    }

    /// Nobody knows whose bytes it carries: alone it is ambiguous, and it is not lost.
    pub(crate) fn doubt(&mut self) {
        self.ending = match self.observations.as_mut_slice() {
            [alone] => {
                alone.evidence.add(Evidence::BYTES_TWICE);
                Ending::Ambiguous
            }
            _ => Ending::Unfinished,
        };
    }

    /// When it was first seen, reference time.
    pub(crate) fn at_ns(&self) -> i64 {
        let times = self
            .observations
            .iter()
            .map(|observation| observation.aligned_ns);
        times.min().unwrap_or(i64::MAX)
    }

    /// The start and length that one of its observations tells.
    pub(crate) fn unwrapped(&self, near: i64) -> Option<Span> {
        let mut told = self
            .observations
            .iter()
            .map(|observation| observation.range);
        told.find_map(|range| {
            let start = range.start_near(near);
            Some((start, start.saturating_add(range.length()?.into())))
        })
    }

    /// What became of its observations.
    pub(crate) fn status(&self) -> Status {
        if self.observations.len() > 1 {
            Status::Matched
        } else if self.found.joined > Joined::Not {
            Status::Coalesced
        } else if self.found.is_doubtful || self.ending == Ending::Ambiguous {
            Status::Ambiguous
        } else {
            Status::Unmatched
        }
    }

    /// What of it was lost after its last observation; `None` if that cannot be told.
    pub(crate) fn lost(&self) -> Option<Lost> {
        let n_bytes = self.found.after.n_missing(self.bytes);
        if self.ending != Ending::Known || self.found.is_doubtful || n_bytes == 0 {
            return None;
        }
        let (lo, hi) = self.bytes;
        if n_bytes == hi.abs_diff(lo) {
            return Lost::of(&self.observations);
        }
        let ends = [(lo, lo.saturating_add(1)), (hi.saturating_sub(1), hi)];
        Some(Lost {
            packets: 0,
            ends: ends.map(|end| self.found.after.n_missing(end)),
            bytes: n_bytes,
        })
    }

    /// Bytes that were not found after its last observation, or stand in one of several pairs.
    pub(crate) fn untold_bytes(&self) -> u64 {
        let is_untold = self.found.is_doubtful && self.ending == Ending::Known;
        let n_bytes = || self.found.after.n_missing(self.bytes);
        if is_untold { n_bytes() } else { 0 }
    }

    /// Cuts it in two after the observation of this index.
    pub(crate) fn split_after(&mut self, index: usize) -> Option<Self> {
        let rest = self
            .observations
            .split_off((index + 1).min(self.observations.len()));
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
