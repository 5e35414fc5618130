//! Arista 7280R and 7500R: a header behind the MAC addresses, with a time of 48 or 64 bits.
//!
//! Spec: Wireshark's packet-avsp.c; tcpdump's print-arista.c.
//!
//! ```text
//! | 0xD28B (16) | 0x0001 (16) | timescale (8) | format (8) | seconds (32 or 16) | ns (32) | EtherType |
//! ```

use super::{Mark, NS_PER_S, Stamp, StampEvidence, StampedFrame, Timescale};
use crate::base::cursor::be;
use crate::wire::Carrier;

pub(super) static STAMP: Stamp = Stamp {
    name: "arista-7280",
    spec: "Arista EOS, timestamping on 7280R and 7500R",
    evidence: StampEvidence::Named,
    read,
};

/// The low 16 bits of the seconds begin anew.
const WRAP_NS: i64 = (1 << 16) * NS_PER_S;
const HAS_64_BITS: u8 = 1;
const HAS_48_BITS: u8 = 2;

/// `at` is behind the `EtherType`.
fn read(look: &StampedFrame<'_>) -> Option<Mark> {
    let at = look.carrier(Carrier::Arista)?;
    let [_, _, timescale, format] = *look.octets(at)?;
    let cut_at = look.frame.bytes.len();
    let mark = match format >> 4 {
        HAS_64_BITS => Mark::of_seconds(look.word(at + 4)?, look.word(at + 8)?, cut_at),
        HAS_48_BITS => Mark {
            wrap_ns: WRAP_NS,
            ..Mark::of_seconds(be(look.octets::<2>(at + 4)?), look.word(at + 6)?, cut_at)
        },
        _ => return None,
    };
    let timescale = match timescale {
        0 => Timescale::Tai,
        1 => Timescale::Utc,
        _ => Timescale::Unknown,
    };
    Some(Mark { timescale, ..mark })
}

#[cfg(test)]
mod tests {
    use super::super::testing::mark;
    use super::*;

    fn read_of(stamp: &str) -> Option<Mark> {
        mark(
            &STAMP,
            &format!("020000000002020000000001d28b {stamp} 0800 IU"),
        )
    }

    #[test]
    fn both_formats_of_both_timescales_and_hardwares() {
        for (version, timescale) in [("0010", Timescale::Tai), ("0111", Timescale::Utc)] {
            let found = read_of(&format!("0001{version}6553f100075bb290")).unwrap();
            assert_eq!((found.ns, found.wrap_ns), (1_700_000_000_123_450_000, 0));
            assert_eq!((found.timescale, found.is_sound), (timescale, true));
        }
        for version in ["0020", "0120", "0021", "0121"] {
            let found = read_of(&format!("0001{version}f100075bb290")).unwrap();
            assert_eq!(
                (found.ns, found.wrap_ns),
                (61_696_123_450_000, 65_536 * NS_PER_S)
            );
        }
    }

    #[test]
    fn more_nanoseconds_than_a_second_has_are_damage() {
        let found = read_of("000100106553f1003b9aca00").unwrap();
        assert!(!found.is_sound);
    }

    #[test]
    fn other_subtypes_and_formats_have_none() {
        assert_eq!(read_of("000300106553f100075bb290"), None);
        assert_eq!(read_of("000100306553f100075bb290"), None);
    }
}
