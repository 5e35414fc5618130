//! What was found of stamps, as plain values that Python keeps between two passes.

use crate::stamp::{FileStamps, Found};

/// A counter's key: whether it is Arista's, ticks, UTC ns, the file's time, ns of a tick.
type KeyValues = (bool, u64, i64, i64, f64);

/// A stamp: name, usual difference from the file's time, key.
pub(super) type FoundValues = (String, i64, Option<KeyValues>);

/// From the values; what no stamp is called is none.
pub(super) fn known(files: Vec<Vec<Option<FoundValues>>>) -> Vec<FileStamps> {
    let found = |(name, base_ns, key): FoundValues| Found::from_values(&name, base_ns, key);
    let file = |interfaces: Vec<Option<FoundValues>>| FileStamps {
        interfaces: interfaces.into_iter().map(|one| found(one?)).collect(),
    };
    files.into_iter().map(file).collect()
}

/// To the values.
pub(super) fn values(files: &[FileStamps]) -> Vec<Vec<Option<FoundValues>>> {
    let value = |found: &Found| (found.name().to_owned(), found.base_ns, found.key_values());
    let file = |stamps: &FileStamps| {
        let interfaces = stamps.interfaces.iter();
        interfaces.map(|one| one.as_ref().map(value)).collect()
    };
    files.iter().map(file).collect()
}
