//! What was found of stamps, as plain values that Python keeps between two passes.

use crate::stamp::{FileStamps, FoundStamp, HopStamp, Sought, TimeUnit};
use crate::wire::telemetry::{HopKey, HopSide, HopTime, TelemetryKind, TimeLayout};

/// A counter's key: whether it is Arista's, ticks, UTC ns, the file's time, ns of a tick.
type KeyValues = (bool, u64, i64, i64, f64);

/// A stamp: name, usual difference from the file's time, key.
pub(super) type FoundValues = (String, i64, Option<KeyValues>);

/// A node's number, whether it gave it, its format, which of its times.
pub(super) type HopKeyValues = (u64, bool, &'static str, &'static str);

/// A node of the path whose times a file is read by: what [`HopKeyValues`] has, the layout and the unit
/// of its times, one of them by the file and as its bits.
pub(super) type HopValues = (u64, bool, String, String, String, String, i64, u64);

const KINDS: [(&str, TelemetryKind); 2] =
    [("int", TelemetryKind::Int), ("ioam", TelemetryKind::Ioam)];
const SIDES: [(&str, HopSide); 2] = [("in", HopSide::Ingress), ("out", HopSide::Egress)];
const LAYOUTS: [(&str, TimeLayout); 4] = [
    ("counter64", TimeLayout::Counter64),
    ("counter32", TimeLayout::Counter32),
    ("seconds", TimeLayout::SecondsAndFraction),
    ("fraction", TimeLayout::Fraction),
];
const UNITS: [(&str, TimeUnit); 3] = [
    ("ns", TimeUnit::Nanosecond),
    ("us", TimeUnit::Microsecond),
    ("ntp", TimeUnit::Ntp),
];

fn named<T: Copy>(names: &[(&str, T)], name: &str) -> Option<T> {
    let found = names.iter().find(|(known, _)| *known == name);
    found.map(|(_, value)| *value)
}

fn name_of<T: PartialEq>(names: &[(&'static str, T)], value: &T) -> &'static str {
    let found = names.iter().find(|(_, known)| known == value);
    found.map_or("", |(name, _)| name)
}

/// A node's key as plain values.
pub(super) fn hop_values(key: &HopKey) -> HopKeyValues {
    let (kind, side) = (name_of(&KINDS, &key.kind), name_of(&SIDES, &key.side));
    (key.node, key.is_named, kind, side)
}

/// What a layout of times is called.
pub(super) fn layout_name(layout: TimeLayout) -> &'static str {
    name_of(&LAYOUTS, &layout)
}

fn hop_of(hops: &[Option<HopValues>], file: usize) -> Option<HopStamp> {
    let (node, is_named, kind, side, layout, unit, t_ns, raw) = hops.get(file)?.as_ref()?;
    let key = HopKey {
        kind: named(&KINDS, kind)?,
        node: *node,
        is_named: *is_named,
        side: named(&SIDES, side)?,
    };
    let layout = named(&LAYOUTS, layout)?;
    let time = HopTime { layout, raw: *raw };
    Some(HopStamp::new(key, time, named(&UNITS, unit)?, *t_ns))
}

/// What is said of each file's stamps: what they are called, and the rate of the link where they are
/// of the last bit.
pub(super) fn sought(
    names: &[Option<String>],
    rates_bps: &[Option<u64>],
    hops: &[Option<HopValues>],
) -> Vec<Sought> {
    let sought = |file| Sought {
        name: names.get(file).cloned().flatten(),
        last_bit_bps: rates_bps.get(file).copied().flatten(),
        hop: hop_of(hops, file),
    };
    (0..names.len().max(rates_bps.len()).max(hops.len()))
        .map(sought)
        .collect()
}

/// From the values; what no stamp is called is none.
pub(super) fn known(
    files: Vec<Vec<Option<FoundValues>>>,
    rates_bps: &[Option<u64>],
    hops: &[Option<HopValues>],
) -> Vec<FileStamps> {
    let found = |(name, base_ns, key): FoundValues| FoundStamp::from_values(&name, base_ns, key);
    let file = |(file, interfaces): (usize, Vec<Option<FoundValues>>)| FileStamps {
        interfaces: interfaces.into_iter().map(|one| found(one?)).collect(),
        last_bit_bps: rates_bps.get(file).copied().flatten(),
        hop: hop_of(hops, file),
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
