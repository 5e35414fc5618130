//! One observation of a packet at a point, as RFC 5475 has the word, and the frame that it was.

use crate::identity::message::Message;
use crate::identity::stream_bytes::StreamBytes;
use crate::matching::evidence::Evidence;
use serde::{Deserialize, Serialize};

/// One observation of a packet at a point.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Observation {
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
    /// See [`crate::file::Frame::packet_id`].
    pub packet_id: u64,
    /// The capture point.
    pub point: u16,
    /// Its source is the smaller address.
    pub toward: bool,
    /// See [`crate::identity::Identity::directed`].
    pub directed: bool,
    /// See [`crate::identity::Identity::range`]; of datagrams those that fragments are seen of.
    pub range: StreamBytes,
    /// How it was joined to the one before it, and what its captures left of it.
    pub(crate) evidence: Evidence,
    /// See [`crate::identity::Identity::message`].
    pub message: Message,
}

impl Observation {
    /// False where their file says that they are of different packets.
    pub(crate) fn may_be(&self, other: &Self) -> bool {
        let is_said = self.packet_id != 0 && other.packet_id != 0;
        let is_other = is_said && self.packet_id != other.packet_id;
        !is_other || self.frame.file() != other.frame.file()
    }
}

/// A file's index and a frame's number in it, as one number that sorts like the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct FrameId(pub(crate) i64);

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
