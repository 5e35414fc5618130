//! What programs made of pcap.

use super::header::{self, Header};

const EXACT_CAPTURE: &str = "Exact Capture";
const AIX: &str = "AIX";

/// Magic, octets of a record header, and what the two are called.
static NAMES: [(u32, usize, &str); 8] = [
    (header::STANDARD, 16, "microseconds"),
    (header::STANDARD, 20, "Nokia"),
    (header::STANDARD, 24, "Red Hat 6.1"),
    (header::NANOSECONDS, 16, "nanoseconds"),
    (header::MODIFIED, 24, "Kuznetzov's modified"),
    (header::MODIFIED, 28, "SuSE 6.3"),
    (header::IXIA_HARDWARE, 16, "IXIA hardware"),
    (header::IXIA_SOFTWARE, 16, "IXIA software"),
];

/// All that are told apart.
pub(super) const ALL: &[&str] = &[
    "microseconds",
    "nanoseconds",
    "Kuznetzov's modified",
    "SuSE 6.3",
    "Red Hat 6.1",
    "Nokia",
    AIX,
    "IXIA hardware",
    "IXIA software",
    EXACT_CAPTURE,
];

/// Which of them a file is.
pub(super) fn name(header: &Header, record_header_bytes: usize, has_footers: bool) -> &'static str {
    if has_footers {
        return EXACT_CAPTURE;
    }
    if header.is_aix {
        return AIX;
    }
    let is_it = |(magic, n_bytes, _): &&(u32, usize, &str)| {
        (*magic, *n_bytes) == (header.magic, record_header_bytes)
    };
    NAMES.iter().find(is_it).map_or("", |(_, _, name)| name)
}
