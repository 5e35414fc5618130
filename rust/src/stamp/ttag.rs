//! Cisco Nexus 9000: a tag behind the MAC addresses, with a counter of 48 bits.
//!
//! Spec: Wireshark's packet-ttag.c.
//!
//! ```text
//! | 0x8988 (16) | ns (48) | EtherType |
//! ```

use super::{Mark, NS_PER_S, Stamp, StampEvidence, StampedFrame, Timescale};
use crate::base::cursor::be;
use crate::wire::Carrier;

pub(super) static STAMP: Stamp = Stamp {
    name: "ttag",
    spec: "Cisco Nexus 9000 NX-OS, timestamp tagging",
    evidence: StampEvidence::Named,
    read,
};

/// 78 hours.
const WRAP_NS: i64 = 1 << 48;

fn read(look: &StampedFrame<'_>) -> Option<Mark> {
    let at = look.carrier(Carrier::Ttag)?;
    let [high, low] = [be(look.octets::<2>(at)?), look.word(at + 2)?];
    let ns = i64::from(high) << 32 | i64::from(low);
    // a switch without a clock sends 0
    (ns != 0).then_some(Mark {
        ns,
        wrap_ns: WRAP_NS,
        within_ns: NS_PER_S,
        resolution_ns: 1.0,
        timescale: Timescale::Unknown,
        cut_at: look.frame.bytes.len(),
        is_sound: true,
    })
}

#[cfg(test)]
mod tests {
    use super::super::testing::mark;
    use super::*;

    const MACS: &str = "020000000002020000000001";

    #[test]
    fn counts_nanoseconds() {
        for tags in ["8988011f71fb04cb", "810000648988011f71fb04cb"] {
            let found = mark(&STAMP, &format!("{MACS} {tags} 0800 IU")).unwrap();
            assert_eq!((found.ns, found.wrap_ns), (1_234_567_890_123, 1 << 48));
            assert!(found.is_sound);
        }
    }

    #[test]
    fn no_time_is_none() {
        assert_eq!(
            mark(&STAMP, &format!("{MACS} 8988000000000000 0800 IU")),
            None
        );
    }
}
