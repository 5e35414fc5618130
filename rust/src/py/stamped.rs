//! What was found of stamps, as plain values that Python keeps between two passes.

use crate::stamp::{FileStamps, FoundStamp, Sought};

/// A counter's key: whether it is Arista's, ticks, UTC ns, the file's time, ns of a tick.
type KeyValues = (bool, u64, i64, i64, f64);

/// A stamp: name, usual difference from the file's time, key.
pub(super) type FoundValues = (String, i64, Option<KeyValues>);

/// What is said of each file's stamps: what they are called, and the rate of the link where they are
/// of the last bit.
pub(super) fn sought(names: &[Option<String>], rates_bps: &[Option<u64>]) -> Vec<Sought> {
    let sought = |file| Sought {
        name: names.get(file).cloned().flatten(),
        last_bit_bps: rates_bps.get(file).copied().flatten(),
    };
    (0..names.len().max(rates_bps.len())).map(sought).collect()
}

/// From the values; what no stamp is called is none.
pub(super) fn known(
    files: Vec<Vec<Option<FoundValues>>>,
    rates_bps: &[Option<u64>],
) -> Vec<FileStamps> {
    let found = |(name, base_ns, key): FoundValues| FoundStamp::from_values(&name, base_ns, key);
    let file = |(file, interfaces): (usize, Vec<Option<FoundValues>>)| FileStamps {
        interfaces: interfaces.into_iter().map(|one| found(one?)).collect(),
        last_bit_bps: rates_bps.get(file).copied().flatten(),
    };
    files.into_iter().enumerate().map(file).collect()
}

/// To the values.
pub(super) fn values(files: &[FileStamps]) -> Vec<Vec<Option<FoundValues>>> {
    let value = |found: &FoundStamp| (found.name().to_owned(), found.base_ns, found.key_values());
    let file = |stamps: &FileStamps| {
        let interfaces = stamps.interfaces.iter();
        interfaces.map(|one| one.as_ref().map(value)).collect()
    };
    files.iter().map(file).collect()
}
