//! Matching: frames that carry the same packet are joined.
//!
//! Threads decode the files; each sends what it sees to the partitions, by flow. A partition takes
//! blocks in time order into a [`window`] that gathers the sights of one identity, [`resolve`] makes
//! trajectories of them, [`tally`] counts latencies. Memory is the window's, not the capture's.

mod assign;
mod booking;
pub mod checks;
pub mod closure;
mod components;
mod copies;
mod crossed;
pub mod crossings;
mod crowd;
mod datagrams;
pub mod decoys;
mod direction;
mod ends;
mod evidence;
mod flow;
mod half;
pub mod late;
mod least;
mod leftovers;
mod link_loss;
mod losses;
mod lost;
mod matchings;
pub mod misses;
mod missing;
pub mod outcome;
mod partition;
mod piece;
mod posterior;
mod ranges;
pub mod reasons;
mod recurrence;
mod reordering;
mod resent;
mod resolve;
pub(crate) mod rows;
pub mod shares;
mod shift;
pub(crate) mod spill;
mod stage;
mod steps;
mod surplus;
mod tally;
#[cfg(test)]
mod testing;
mod timestamps;
pub mod totals;
mod trips;
mod turns;
mod unmirrored;
mod window;

use crate::identity::message::Message;
use crate::identity::stream_bytes::StreamBytes;
use crate::plan::Plan;
use evidence::Evidence;
pub use evidence::{IDENTITIES, MATCHED_BY};
pub use flow::{Matched, Options, match_files};
pub use ranges::PAIR_KINDS;
use reasons::Reasons;
pub use tally::Keep;

/// One sight of a packet at a point.
#[derive(Clone, Copy, Debug)]
pub struct Sight {
    /// What it is recognised by.
    pub key: u64,
    /// Addresses, ports and protocol.
    pub flow: u64,
    /// The two addresses.
    pub pair: u64,
    /// Reference time, were the packet to go forward; once its direction is known, for that.
    pub aligned_ns: i64,
    /// The capture's time.
    pub t_ns: i64,
    /// File and frame.
    pub frame: FrameId,
    /// See [`crate::identity::copy_tag`].
    pub copy_tag: u32,
    /// The capture point.
    pub point: u16,
    /// Its source is the smaller address.
    pub toward: bool,
    /// See [`crate::identity::Identity::directed`].
    pub directed: bool,
    /// See [`crate::identity::Identity::range`]; of datagrams those that fragments are seen of.
    pub range: StreamBytes,
    /// How it was joined to the one before it, and what its captures left of it.
    evidence: Evidence,
    /// See [`crate::identity::Identity::message`].
    pub message: Message,
}

/// A file's index and a frame's number in it, as one number that sorts like the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FrameId(i64);

impl FrameId {
    const NUMBER_BITS: u32 = 44;

    /// Packs a file's index (below 2^19) and a frame's number (below 2^44).
    #[must_use]
    pub fn new(file: usize, number: u64) -> Self {
        let file = i64::try_from(file).unwrap_or(i64::MAX >> Self::NUMBER_BITS);
        Self((file << Self::NUMBER_BITS) | i64::try_from(number).unwrap_or(0))
    }

    /// The file's index.
    #[must_use]
    pub fn file(self) -> usize {
        usize::try_from(self.0 >> Self::NUMBER_BITS).unwrap_or(0)
    }

    /// The frame's number.
    #[must_use]
    pub fn number(self) -> i64 {
        self.0 & ((1 << Self::NUMBER_BITS) - 1)
    }

    /// See [`Self::packed`].
    #[must_use]
    pub fn from_packed(packed: i64) -> Self {
        Self(packed)
    }

    /// Both in one; a trajectory's id is that of its first frame.
    #[must_use]
    pub fn packed(self) -> i64 {
        self.0
    }
}

/// What became of a frame; the discriminants are those of the spilled outcomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Status {
    /// Seen at another point too.
    Matched = 0,
    /// In pieces, or joined with others.
    Coalesced = 1,
    /// A later copy at the same point.
    Duplicate = 2,
    /// More than one packet it may be.
    Ambiguous = 3,
    /// Seen nowhere else.
    Unmatched = 4,
    /// Not decoded to its innermost packet.
    Undecoded = 5,
    /// Not asked for.
    Excluded = 6,
}

/// Names of the statuses, by discriminant.
pub const STATUSES: [&str; 7] = [
    "matched",
    "coalesced",
    "duplicate",
    "ambiguous",
    "unmatched",
    "undecoded",
    "excluded",
];

/// Frames by status.
type ByStatus = [u64; STATUSES.len()];

/// Frames per point and status.
#[derive(Debug)]
struct Counts {
    of_point: Vec<ByStatus>,
    /// Frames of divided files that no point saw.
    elsewhere: ByStatus,
    /// Per file: frames by part, and how many of them were not decoded.
    parts: Vec<(usize, Vec<[u64; 2]>)>,
    reasons: Reasons,
}

impl Counts {
    fn of_points(n: usize) -> Self {
        Self {
            of_point: vec![[0; STATUSES.len()]; n],
            elsewhere: [0; STATUSES.len()],
            parts: Vec::new(),
            reasons: Reasons::of_points(n),
        }
    }

    #[inline]
    fn add(&mut self, point: u16, status: Status) {
        let of_point = self.of_point.get_mut(usize::from(point));
        if let Some(count) = of_point.and_then(|of| of.get_mut(status as usize)) {
            *count += 1;
        }
    }

    /// Counts a frame that was decided, with the reason.
    fn note(&mut self, plan: &Plan, sight: &Sight, status: Status) {
        self.add(sight.point, status);
        self.reasons.note(plan, sight, status);
    }

    fn add_elsewhere(&mut self, status: Status) {
        if let Some(count) = self.elsewhere.get_mut(status as usize) {
            *count += 1;
        }
    }

    fn merge(&mut self, other: Self) {
        let theirs = other.of_point.iter().chain([&other.elsewhere]);
        let ours = self.of_point.iter_mut().chain([&mut self.elsewhere]);
        for (total, n) in ours.flatten().zip(theirs.flatten()) {
            *total += n;
        }
        self.parts.extend(other.parts);
        self.reasons.merge(other.reasons);
    }
}
