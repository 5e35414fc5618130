//! Exact Capture's files: nanosecond pcap whose records end in a footer that the wire did not have.
//!
//! Spec: exact-capture docs/src/expcap.md.
//!
//! ```text
//!  seconds  picoseconds  flags  device  port  dropped, reserved     all little-endian
//!  4        5            1      1       1     2 2
//! ```

use super::super::order::Order;
use super::super::{Findings, Frame, NO_LINK};
use super::header::Header;

const FOOTER_BYTES: usize = 16;
/// As many records have to end in a footer.
const N_RECORDS: usize = 8;
const RECORD_HEADER_BYTES: usize = 16;
const PICOSECONDS: u64 = 0xff_ffff_ffff;

/// Whether the records at the start of `window` end in footers, whose times are those of the records.
pub(super) fn ends_records(header: &Header, mut window: &[u8]) -> bool {
    let mut n_footers = 0;
    for _ in 0..N_RECORDS {
        let Some(record) = header.record(window) else {
            break;
        };
        let record_bytes = RECORD_HEADER_BYTES + record.captured as usize;
        let Some((whole, rest)) = window.split_at_checked(record_bytes) else {
            break;
        };
        window = rest;
        if record.wire == 0 {
            continue;
        }
        let is_longer = record.captured as usize >= record.wire as usize + FOOTER_BYTES;
        if !is_longer || time_of(whole) != Some((record.seconds, record.fraction)) {
            return false;
        }
        n_footers += 1;
    }
    header.fraction_ns == 1 && n_footers > 0
}

/// Seconds and nanoseconds of the footer at the end of `bytes`.
fn time_of(bytes: &[u8]) -> Option<(u32, u32)> {
    let footer = bytes.last_chunk::<FOOTER_BYTES>()?;
    let picoseconds = Order::Little.u64_at(footer, 4)? & PICOSECONDS;
    let nanoseconds = u32::try_from(picoseconds / 1000).ok()?;
    Some((Order::Little.u32_at(footer, 0)?, nanoseconds))
}

/// The frame as it was on the wire; records without one only fill a disk block.
pub(super) fn without_footer<'a>(frame: Frame<'a>, findings: &mut Findings) -> Frame<'a> {
    if frame.wire_bytes == 0 {
        return Frame {
            link: NO_LINK,
            has_time: false,
            bytes: &[],
            ..frame
        };
    }
    let Some((bytes, footer)) = frame.bytes.split_last_chunk::<FOOTER_BYTES>() else {
        return frame;
    };
    let n_dropped = Order::Little.u16_at(footer, 12).unwrap_or_default();
    let interface = findings.interfaces.get_mut(frame.interface as usize);
    if let Some(interface) = interface.filter(|_| n_dropped > 0) {
        let n_before = interface.n_dropped.unwrap_or_default();
        interface.n_dropped = Some(n_before.saturating_add(n_dropped.into()));
    }
    Frame { bytes, ..frame }
}
