//! Zeros where records should be: space that was kept for them and never written.
//!
//! Wireshark lists as many of them as a record header has as a record without a time, a byte or a length, and so do we,
//! as frames are numbered alike; but not without end, for compressed files promise any number.

use super::header::RecordHeader;

/// 1 MiB of zeros; more are passed over as damage.
pub(super) const MAX_RECORDS: u32 = 65_536;

/// So many are space that was kept, not records.
pub(super) const MIN_RECORDS: u32 = 256;

/// What a record is, after those that were nothing but zeros.
pub(super) enum AfterZeros {
    Record,
    /// The last one that makes a hole of those before it.
    Begun,
    /// More of it than is listed.
    Endless,
    /// The first one behind it, which may be where it ends, or an octet beside it.
    Behind,
}

/// How many records of zeros there were in a row.
#[derive(Default)]
pub(super) struct Hole {
    n_records: u32,
}

impl Hole {
    /// Whether the last record was nothing but zeros.
    #[inline]
    pub(super) fn is_begun(&self) -> bool {
        self.n_records > 0
    }

    pub(super) fn place(&mut self, record: RecordHeader) -> AfterZeros {
        if record.is_empty() && (record.seconds, record.fraction) == (0, 0) {
            return self.another();
        }
        match std::mem::take(&mut self.n_records) {
            0..MIN_RECORDS => AfterZeros::Record,
            _ => AfterZeros::Behind,
        }
    }

    #[cold]
    fn another(&mut self) -> AfterZeros {
        if self.n_records == MAX_RECORDS {
            return AfterZeros::Endless;
        }
        self.n_records += 1;
        if self.n_records == MIN_RECORDS {
            AfterZeros::Begun
        } else {
            AfterZeros::Record
        }
    }
}
