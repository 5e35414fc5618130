//! Exablaze Fusion in its 32-bit modes: a counter instead of the frame check sequence, or before it.
//!
//! Spec: Cisco's n3550-timestamp-decoder. Key frames (see `key.rs`) tell the counter's time and rate.
//!
//! ```text
//! | counter (32) | [FCS (32)] |
//! ```

use super::arista_7150::{field, mark};
use super::key::Counter;
use super::{Evidence, Look, Mark, Stamp};

pub(super) static STAMP: Stamp = Stamp {
    name: "exablaze-ticks",
    spec: "CiscoDevNet/n3550-timestamp-decoder",
    evidence: Evidence::Keyed,
    read,
};

const BITS: u32 = 32;

fn read(look: &Look<'_>) -> Option<Mark> {
    let key = look.key.filter(|key| key.counter == Counter::Exablaze)?;
    let (at, ticks) = field(look)?;
    let ns = key.time_ns(ticks, BITS, look.frame.t_ns)?;
    Some(mark(ns, key.ns_per_tick, at))
}
