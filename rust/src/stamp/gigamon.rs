//! Gigamon `GigaVUE`: a header behind the MAC addresses, with the time as one of its fields.
//!
//! Spec: Wireshark's packet-gmhdr.c.
//!
//! ```text
//! | 0x22E5 (16) | length (8), with itself | fields: type (8), length (8), value | EtherType |
//! ```

use super::{Mark, Stamp, StampEvidence, StampedFrame, broker};
use crate::wire::Carrier;

pub(super) static STAMP: Stamp = Stamp {
    name: "gigamon",
    spec: "Gigamon GigaVUE header",
    evidence: StampEvidence::Named,
    read,
};

fn read(look: &StampedFrame<'_>) -> Option<Mark> {
    let at = look.carrier(Carrier::Gigamon)?;
    let [n_bytes] = *look.octets(at)?;
    let fields = look.frame.bytes.get(at + 1..at + usize::from(n_bytes))?;
    broker::time(fields, look.frame.bytes.len())
}

#[cfg(test)]
mod tests {
    use super::super::testing::mark;
    use super::*;

    fn read_of(fields: &str) -> Option<Mark> {
        mark(
            &STAMP,
            &format!("020000000002020000000001 22e5 {fields} 0800 IU"),
        )
    }

    #[test]
    fn the_time_of_every_clock() {
        for fields in [
            "14 010205dc 0203080405 06086553f100075bb290",
            "17 04086553f100075bb290 070401020304 080411223344",
            "0b 03086553f100075bb290",
            "0b 05086553f100075bb290",
        ] {
            let found = read_of(fields).unwrap();
            assert_eq!(
                (found.ns, found.is_sound),
                (1_700_000_000_123_450_000, true),
                "{fields}"
            );
        }
    }

    #[test]
    fn no_time_and_more_nanoseconds_than_a_second_has() {
        assert_eq!(read_of("0a 010205dc 0203080405"), None);
        assert_eq!(read_of("0a 06076553f100075bb2"), None);
        assert!(!read_of("0b 06086553f1003b9aca00").unwrap().is_sound);
    }
}
