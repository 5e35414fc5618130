//! What was found of the stamps of a file: one decision per interface, for all passes over it.

use super::key::Key;
use super::{HopStamp, NS_PER_S, Stamp, Timescale};
use serde::{Deserialize, Serialize};

/// The stamp of one interface's frames.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct FoundStamp {
    /// Place in the index of stamps.
    pub(super) kind: usize,
    /// What stamps usually differ from the file's time.
    pub(crate) base_ns: i64,
    /// What is known of the counter before the first key frame.
    pub(super) key: Option<Key>,
    pub(super) wrap_ns: i64,
    pub(crate) resolution_ns: f64,
    pub(super) label: Timescale,
    /// The user said that it is there.
    pub(super) is_named: bool,
}

/// Whose time the frames of a pass have.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Times {
    /// Stamps are looked for.
    Search(Vec<Sought>),
    /// By file: what was found.
    Known(Vec<FileStamps>),
}

impl Default for Times {
    fn default() -> Self {
        Self::Search(Vec::new())
    }
}

/// What is said of one file's stamps.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Sought {
    /// The only one that may be there.
    pub name: Option<String>,
    /// See [`FileStamps::last_bit_bps`].
    pub last_bit_bps: Option<u64>,
    /// See [`FileStamps::hop`].
    pub hop: Option<HopStamp>,
}

/// What was found in one file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FileStamps {
    /// By interface; those beyond have none.
    pub(crate) interfaces: Vec<Option<FoundStamp>>,
    /// Bits a second of the link, where frames are stamped at their last one.
    pub(crate) last_bit_bps: Option<u64>,
    /// The node whose times frames have; those that it wrote nothing into are no frames of its capture.
    pub(crate) hop: Option<HopStamp>,
}

/// How far a clock that is right may be off, when TAI and UTC are told apart.
const NEAR_NS: i64 = 10 * NS_PER_S;
/// TAI − UTC since 2017 (IERS Bulletin C 52).
const TAI_NS: i64 = 37 * NS_PER_S;

#[cfg(feature = "python")]
impl FoundStamp {
    /// From what a former pass found.
    pub(crate) fn from_values(
        name: &str,
        base_ns: i64,
        key: Option<(bool, u64, i64, i64, f64)>,
    ) -> Option<Self> {
        let kind = super::ALL.iter().position(|stamp| stamp.name == name)?;
        Some(Self {
            kind,
            base_ns,
            key: key.map(Key::from_values),
            wrap_ns: 0,
            resolution_ns: 1.0,
            label: Timescale::Unknown,
            is_named: true,
        })
    }

    /// What is known of the counter, as plain values.
    pub(crate) fn key_values(&self) -> Option<(bool, u64, i64, i64, f64)> {
        self.key.as_ref().map(Key::values)
    }
}

impl FoundStamp {
    pub(super) fn stamp(&self) -> Option<&'static Stamp> {
        super::ALL.get(self.kind).copied()
    }

    /// What the stamp is called.
    pub(crate) fn name(&self) -> &'static str {
        self.stamp().map_or("", |stamp| stamp.name)
    }

    /// The timescale, by the distance from the file's time: what a device says of it is but a label.
    pub(crate) fn timescale(&self) -> &'static str {
        let says_when = self.wrap_ns == 0 || self.wrap_ns > 2 * (TAI_NS + NEAR_NS);
        let is_near = |ns: i64| says_when && self.base_ns.saturating_sub(ns).abs() <= NEAR_NS;
        if is_near(0) {
            return "utc";
        }
        if is_near(TAI_NS) {
            return "tai";
        }
        match self.label {
            Timescale::Utc => "utc",
            Timescale::Tai => "tai",
            Timescale::Unknown => "unknown",
        }
    }
}

impl FileStamps {
    /// No interface has stamps in its frames.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.interfaces.iter().all(Option::is_none)
    }

    /// What the stamps of an interface are called.
    #[must_use]
    pub fn name(&self, interface: usize) -> Option<&'static str> {
        self.of(interface).map(FoundStamp::name)
    }

    pub(crate) fn of(&self, interface: usize) -> Option<&FoundStamp> {
        self.interfaces.get(interface)?.as_ref()
    }

    /// Uses the file's time for an interface after all, unless its stamp was named; true if so.
    pub(crate) fn forget(&mut self, interface: usize) -> bool {
        let found = self.interfaces.get_mut(interface);
        found.is_some_and(|found| found.take_if(|found| !found.is_named).is_some())
    }
}
