//! Ixia and Keysight Vision: a trailer of fields behind the frame, with a checksum of its own.
//!
//! Spec: Wireshark's packet-ixiatrailer.c.

use super::{Mark, Stamp, StampEvidence, StampedFrame, broker};

pub(super) static STAMP: Stamp = Stamp {
    name: "ixia",
    spec: "Keysight Vision packet trailer",
    evidence: StampEvidence::Checked,
    read,
};

const MAGIC: [u8; 2] = [0xAF, 0x12];

fn read(look: &StampedFrame<'_>) -> Option<Mark> {
    broker::trailer(look, MAGIC)
}

#[cfg(test)]
mod tests {
    use super::super::testing::mark;
    use super::*;

    #[test]
    fn every_length_with_and_without_a_check_sequence() {
        for behind in [
            "06086553f100075bb290 0a af12 cd08",
            "03086553f100075bb290 0a af12 d008 01020304",
            "010205dc 06086553f100075bb290 0e af12 c22a",
        ] {
            let found = mark(&STAMP, &format!("EU {behind}")).unwrap();
            assert_eq!(
                (found.ns, found.cut_at),
                (1_700_000_000_123_450_000, 44),
                "{behind}"
            );
            assert!(found.is_sound, "{behind}");
        }
    }

    #[test]
    fn a_checksum_that_does_not_hold_is_damage() {
        let found = mark(&STAMP, "EU 06086553f100075bb291 0a af12 cd08");
        assert_eq!(found.map(|one| one.is_sound), Some(false));
    }
}
