//! What the header of a pcap file does not say and only its first records tell: how long their
//! headers are, and whether nanoseconds stand where microseconds should.

use super::MAX_CAPTURED_BYTES;
use super::header::{self, Header, RecordHeader};

/// As much of a file is looked at.
pub(super) const LOOK_AHEAD_BYTES: usize = 64 << 10;

/// As many records have to make sense.
pub(super) const N_RECORDS: usize = 8;

const US_PER_S: u32 = 1_000_000;
const NS_PER_S: u32 = 1_000_000_000;
const DAY_S: u32 = 86_400;
const YEAR_S: u32 = 366 * DAY_S;
/// Captured by one program beyond what was on the wire.
const EXPCAP_BYTES: u32 = 16;

/// How long the record headers are: the first of the candidates under which `window` makes sense.
/// The first candidate is the rule, the others have to prove themselves with two records.
pub(super) fn record_header_bytes(header: &Header, window: &[u8]) -> usize {
    let (rule, others) = match header.record_header_bytes {
        [] => return 0,
        [rule, others @ ..] => (*rule, others),
    };
    if others.is_empty() || n_plausible(header, rule, window).is_some() {
        return rule;
    }
    let proven = |bytes: &&usize| n_plausible(header, **bytes, window).is_some_and(|n| n >= 2);
    others.iter().find(proven).map_or(rule, |bytes| *bytes)
}

/// How many of the first records make sense; none if one does not.
fn n_plausible(header: &Header, header_bytes: usize, window: &[u8]) -> Option<usize> {
    let mut n_records = 0;
    let mut first_seconds = None;
    for record in records(header, header_bytes, window).take(N_RECORDS) {
        let since_s = record
            .seconds
            .abs_diff(*first_seconds.get_or_insert(record.seconds));
        if record.captured > MAX_CAPTURED_BYTES || since_s > YEAR_S {
            return None;
        }
        n_records += 1;
    }
    Some(n_records)
}

/// Do records like those before go on at the start of `window`? Two have to start there, or one to
/// end the file.
pub(super) fn goes_on(
    header: &Header,
    header_bytes: usize,
    last_seconds: Option<u32>,
    window: &[u8],
) -> bool {
    is_chain(header, header_bytes, (last_seconds, 2), window)
}

/// Do records start at the start of `window`, near a second if it is known? Behind enough of them, there
/// may be something else.
pub(super) fn is_chain(
    header: &Header,
    header_bytes: usize,
    (last_seconds, n_enough): (Option<u32>, usize),
    window: &[u8],
) -> bool {
    let mut rest = window;
    let mut near_s = last_seconds;
    for n_before in 0..N_RECORDS {
        let Some(record) = rest
            .get(..header_bytes.max(16))
            .and_then(|raw| header.record(raw))
        else {
            let is_last = n_before == 1 && rest.is_empty() && last_seconds.is_some();
            return n_before > 1 || is_last;
        };
        let since_s = record.seconds.abs_diff(near_s.unwrap_or(record.seconds));
        let is_possible = (1..=MAX_CAPTURED_BYTES).contains(&record.captured)
            && record.captured <= record.wire.saturating_add(EXPCAP_BYTES)
            && record.fraction < header.fractions_per_s()
            && since_s < DAY_S;
        if !is_possible {
            return n_before >= n_enough;
        }
        near_s = Some(record.seconds);
        rest = match rest.get(header_bytes + record.captured as usize..) {
            Some(rest) => rest,
            None => return n_before > 0,
        };
    }
    true
}

/// The records at the start of `window` whose headers are whole, up to an appended file.
fn records(
    header: &Header,
    header_bytes: usize,
    mut window: &[u8],
) -> impl Iterator<Item = RecordHeader> {
    std::iter::from_fn(move || {
        let record = header.record(window.get(..header_bytes.max(16))?)?;
        if record.is_empty() && header::matches(window) {
            return None;
        }
        let next_at = header_bytes + record.captured as usize;
        window = window.get(next_at..).unwrap_or_default();
        Some(record)
    })
}

/// Whether a file of microseconds was written with nanoseconds (ntopng did): no fraction is a
/// second or more of them, and most are too large to be microseconds.
pub(super) fn holds_ns(header: &Header, header_bytes: usize, window: &[u8]) -> bool {
    let mut n_too_large = 0_usize;
    let mut n_records = 0_usize;
    for record in records(header, header_bytes, window) {
        n_records += 1;
        n_too_large += usize::from(record.fraction >= US_PER_S);
        if record.fraction >= NS_PER_S || record.captured > MAX_CAPTURED_BYTES {
            return false;
        }
    }
    header.fraction_ns == 1000 && n_too_large * 2 > n_records
}
