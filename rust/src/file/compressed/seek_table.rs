//! Where reading may begin in the middle of a compressed file: at members that say how long they are.
//!
//! A table is what the file says of itself, and a file may lie. Who reads it sees where its members really
//! begin; a [`Watch`] compares, and a table that is wrong anywhere is not used.

use super::{Codec, bgzf, zstd_frames};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The beginning of a member: where in the file, and where in what it decompresses to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MemberPlace {
    pub(super) at_file_byte: u64,
    pub(super) at_byte: u64,
}

/// A longer member is not worth the search for its beginning.
pub(super) const MOST_MEMBER_BYTES: u64 = 64 << 20;
/// More are thinned out: 1 MiB.
const MOST_PLACES: usize = 1 << 16;

/// Beginnings of members, in order.
#[derive(Debug)]
pub(super) struct SeekTable {
    places: Vec<MemberPlace>,
    least_step_bytes: u64,
    next: MemberPlace,
}

impl SeekTable {
    pub(super) fn new() -> Self {
        let next = MemberPlace {
            at_file_byte: 0,
            at_byte: 0,
        };
        Self {
            places: vec![next],
            least_step_bytes: 1,
            next,
        }
    }

    /// Where the next member begins in the file.
    pub(super) fn at_file_byte(&self) -> u64 {
        self.next.at_file_byte
    }

    /// Adds a member: its length in the file, and decompressed. `None` where no file is as long.
    pub(super) fn add(&mut self, n_file_bytes: u64, n_bytes: u64) -> Option<()> {
        self.next.at_file_byte = self.next.at_file_byte.checked_add(n_file_bytes)?;
        self.next.at_byte = self.next.at_byte.checked_add(n_bytes)?;
        let last_byte = self.places.last().map_or(0, |place| place.at_byte);
        if self.next.at_byte - last_byte >= self.least_step_bytes {
            self.places.push(self.next);
        }
        if self.places.len() > MOST_PLACES {
            self.thin_out();
        }
        Some(())
    }

    fn thin_out(&mut self) {
        let n_places = self.places.len() as u64;
        self.least_step_bytes = (2 * self.next.at_byte / n_places).max(2 * self.least_step_bytes);
        let mut last_byte = None;
        let step_bytes = self.least_step_bytes;
        self.places.retain(|place| {
            let is_kept = last_byte.is_none_or(|byte| place.at_byte - byte >= step_bytes);
            if is_kept {
                last_byte = Some(place.at_byte);
            }
            is_kept
        });
    }

    /// How long the file is, decompressed.
    pub(super) fn n_bytes(&self) -> u64 {
        self.next.at_byte
    }

    /// The last known beginning at a byte of the decompressed file or before, and its number.
    pub(super) fn before(&self, at_byte: u64) -> (usize, MemberPlace) {
        let n_before = self
            .places
            .partition_point(|place| place.at_byte <= at_byte);
        let index = n_before.saturating_sub(1);
        let first = MemberPlace {
            at_file_byte: 0,
            at_byte: 0,
        };
        (index, self.places.get(index).copied().unwrap_or(first))
    }

    /// Of a file whose members all say how long they are, and none is too long; and how they are
    /// decompressed. What cannot be read has none.
    pub(super) fn of(path: &Path) -> Option<(Self, &'static Codec)> {
        // a pipe is read once
        if !path.is_file() {
            return None;
        }
        let mut file = File::open(path).ok()?;
        let n_file_bytes = file.metadata().ok()?.len();
        let head = bytes_at(&mut file, 0, super::MAGIC_BYTES)?;
        let codec = super::codec_of(&head)?;
        let table = match codec.name {
            "gzip" => bgzf::walk(&mut file, n_file_bytes),
            "zstd" => zstd_frames::walk(&mut file, n_file_bytes),
            _ => None,
        };
        Some((table?, codec))
    }
}

/// As many bytes from a place on, fewer where the file ends.
pub(super) fn bytes_at(file: &mut File, at_byte: u64, n_bytes: usize) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(n_bytes);
    file.seek(SeekFrom::Start(at_byte)).ok()?;
    file.take(n_bytes as u64).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// Where a table was found to be wrong: no later than at this byte of the decompressed file.
#[derive(Clone, Debug)]
pub(super) struct FirstLie(Arc<AtomicU64>);

impl FirstLie {
    pub(super) fn none() -> Self {
        Self(Arc::new(AtomicU64::new(u64::MAX)))
    }

    /// Whether there is one in what was read up to a byte. What a thread found that reads ahead does not count,
    /// for it depends on how far it got.
    pub(super) fn is_before(&self, at_byte: u64) -> bool {
        self.0.load(Ordering::Acquire) < at_byte
    }
}

/// Compares a table with what is read.
pub(super) struct Watch {
    table: Arc<SeekTable>,
    /// Number of the place that comes next.
    index: usize,
    at: MemberPlace,
    lie: FirstLie,
}

impl Watch {
    /// Of a reading that begins at the place of this number.
    pub(super) fn from(
        table: Arc<SeekTable>,
        (index, at): (usize, MemberPlace),
        lie: FirstLie,
    ) -> Self {
        Self {
            table,
            index: index + 1,
            at,
            lie,
        }
    }

    /// Takes note of bytes that were read and decompressed, and whether a member ends with them.
    pub(super) fn advance(&mut self, n_file_bytes: usize, n_bytes: usize, is_between: bool) {
        self.at.at_file_byte += n_file_bytes as u64;
        self.at.at_byte += n_bytes as u64;
        let Some(next) = self.table.places.get(self.index) else {
            return;
        };
        if is_between && self.at == *next {
            self.index += 1;
        } else if self.at.at_byte > next.at_byte || self.at.at_file_byte > next.at_file_byte {
            self.tell(self.at.at_byte.min(next.at_byte));
        }
    }

    /// Nothing comes any more.
    pub(super) fn end(&self) {
        if self.at != self.table.next {
            self.tell(self.at.at_byte.saturating_sub(1));
        }
    }

    fn tell(&self, at_byte: u64) {
        self.lie.0.fetch_min(at_byte, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_of_many_members_stay_few_and_true() {
        let mut table = SeekTable::new();
        for _ in 0..1_000_000 {
            table.add(10, 1_000).unwrap();
        }
        assert!(table.places.len() <= MOST_PLACES);
        assert!(table.places.len() > MOST_PLACES / 4);
        assert_eq!(table.n_bytes(), 1_000_000_000);
        for place in &table.places {
            assert_eq!(place.at_byte, place.at_file_byte * 100);
        }
        let (index, place) = table.before(500_000_000);
        assert_eq!(table.places.get(index), Some(&place));
        assert!(place.at_byte <= 500_000_000 && place.at_byte > 499_000_000);
    }

    #[test]
    fn no_file_is_longer_than_can_be_said() {
        let mut table = SeekTable::new();
        assert!(table.add(1, u64::MAX).is_some());
        assert!(table.add(1, 1).is_none());
    }
}
