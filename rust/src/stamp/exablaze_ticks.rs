//! Exablaze Fusion in its 32-bit modes: a counter instead of the frame check sequence, or before it.
//!
//! Spec: Cisco's n3550-timestamp-decoder. Key frames (see `key.rs`) tell the counter's time and rate.
//!
//! ```text
//! | counter (32) | [FCS (32)] |
//! ```

use super::arista_7150::{field, mark};
use super::key::TickCounter;
use super::{Mark, Stamp, StampEvidence, StampedFrame};

pub(super) static STAMP: Stamp = Stamp {
    name: "exablaze-ticks",
    spec: "CiscoDevNet/n3550-timestamp-decoder",
    evidence: StampEvidence::Keyed,
    read,
};

const BITS: u32 = 32;

fn read(look: &StampedFrame<'_>) -> Option<Mark> {
    let key = look
        .key
        .filter(|key| key.counter == TickCounter::Exablaze)?;
    let (at, ticks) = field(look)?;
    let ns = key.time_ns(ticks, BITS, look.frame.t_ns)?;
    Some(mark(ns, key.ns_per_tick, at))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{key, marked};
    use super::super::{NS_PER_S, arista_7150};
    use super::*;
    use crate::wire::vectors::frame;

    #[test]
    fn exablaze_counts_in_32_bits_at_the_rate_its_key_frames_tell() {
        let key = key(
            "ffffffffffff02000000000c 88b5 45584b4601000000 17979cfe362a0000 \
            00000002dfdc1c35 0000000014dc9380 17979cfe185c9b00",
        )
        .unwrap();
        assert_eq!(
            (key.ticks, key.utc_ns),
            (12_345_678_901, 1_700_000_000 * NS_PER_S)
        );
        let stamped = frame("EU dfdc1d93");
        let found = marked(&STAMP, &stamped, Some(&key)).unwrap();
        assert_eq!(found.ns, 1_700_000_000 * NS_PER_S + 1000);
        assert_eq!(
            marked(&arista_7150::STAMP, &stamped, Some(&key)),
            None,
            "another's key"
        );
    }
}
