//! Timestamps inside frames, one file per trailer, tag or mirror header that carries one.
//!
//! [`find`] looks at the first frames of a file and says which stamp they carry, if any; a
//! [`Stamper`] then reads it from every frame, in the file's order. A stamp is taken only on positive
//! evidence: an embedded check sequence that holds, a type that names it, or many frames whose
//! values all run with the file's time. `docs/capture/timestamps.md` says which, and what is done in doubt.

mod broker;
mod embedded;
mod found;
mod frame;
mod hop;
mod key;
mod live;
mod search;
mod stamper;
#[cfg(test)]
mod testing;
mod track;

pub(crate) use found::FoundStamp;
pub use found::{FileStamps, Sought, Times};
pub use hop::{HopStamp, TimeUnit};
pub use live::LiveSearch;
pub use search::{check_name, find};
pub(crate) use stamper::StampCounts;
pub use stamper::{Stamped, Stamper};

use frame::StampedFrame;
use serde::{Deserialize, Serialize};

macro_rules! stamps {
    ($($name:ident),* $(,)?) => {
        $(mod $name;)*
        static ALL: &[&Stamp] = &[$(&$name::STAMP),*];
        /// Name and specification of every in-packet timestamp.
        pub static STAMPS: &[(&str, &str)] = &[$(($name::STAMP.name, $name::STAMP.spec)),*];
    };
}

stamps![
    arista_7150,
    arista_7280,
    erspan3,
    exablaze,
    exablaze_ticks,
    gigamon,
    gigamon_fields,
    gigamon_trailer,
    ixia,
    metamako,
    ttag,
    vss,
];

/// One kind of in-packet timestamp.
struct Stamp {
    name: &'static str,
    spec: &'static str,
    /// What says that a value is one.
    evidence: StampEvidence,
    read: fn(&StampedFrame<'_>) -> Option<Mark>,
}

/// What says that a value is a stamp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StampEvidence {
    /// A type in the header before it names it.
    Named,
    /// A check sequence holds.
    Checked,
    /// Key frames give its time, which runs with the file's.
    Keyed,
    /// It stands behind most packets, and runs with the file's time.
    Timed,
}

/// A value that stands where a stamp would.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Mark {
    /// Since 1970, or since the counter began.
    ns: i64,
    /// After so much the counter begins anew, 0 if it does not.
    wrap_ns: i64,
    /// Further from the usual difference to the file's time it is damaged.
    within_ns: i64,
    resolution_ns: f64,
    timescale: Timescale,
    /// Where the frame proper ends that the stamp was put behind; its length if nothing was.
    cut_at: usize,
    /// False if the frame itself says that it is damaged.
    is_sound: bool,
}

impl Mark {
    /// Seconds and nanoseconds in 32 bits each; more nanoseconds than a second has are damage.
    fn of_seconds(seconds: u32, ns: u32, cut_at: usize) -> Self {
        Self {
            ns: i64::from(seconds) * NS_PER_S + i64::from(ns),
            wrap_ns: 0,
            within_ns: NS_PER_S,
            resolution_ns: 1.0,
            timescale: Timescale::Unknown,
            cut_at,
            is_sound: i64::from(ns) < NS_PER_S,
        }
    }
}

const NS_PER_S: i64 = 1_000_000_000;

/// Which time a device says that it tells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
enum Timescale {
    Utc,
    Tai,
    #[default]
    Unknown,
}
