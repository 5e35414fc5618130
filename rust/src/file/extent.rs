//! Extents: stretches of a capture file, each read by itself, from one record to another.
//!
//! A record says where the next one begins, and nothing else does. Who begins in the middle without knowing a
//! place takes the first one at which some records seem to follow each other. That is proven by who reads
//! the extent before, whose records go back to the file's header one by one: they end at that place, or it
//! was none (RAPCAP, 2017, begins likewise).

use serde::{Deserialize, Serialize};

/// A place between two records of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordPlace {
    /// Where.
    pub at_byte: u64,
    /// Frames before it.
    pub n_before: u64,
}

/// Where the reading of an extent begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExtentStart {
    /// With the file.
    File,
    /// At a place that is known.
    Place(RecordPlace),
    /// At the first place from this byte on that looks like one; its frames are numbered from 1.
    Sought(u64),
}

/// A stretch of a file: the records that begin in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileExtent {
    /// Where it begins.
    pub start: ExtentStart,
    /// No record is read that begins here or later.
    pub until_byte: u64,
}

impl FileExtent {
    /// The whole file.
    pub const ALL: Self = Self {
        start: ExtentStart::File,
        until_byte: u64::MAX,
    };

    /// Frames before it, as far as they are known.
    #[must_use]
    pub fn n_before(&self) -> u64 {
        match self.start {
            ExtentStart::Place(place) => place.n_before,
            ExtentStart::File | ExtentStart::Sought(_) => 0,
        }
    }
}
