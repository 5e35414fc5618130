//! Gigamon `GigaVUE`: a trailer of fields behind the frame, with a checksum of its own.
//!
//! Spec: Wireshark's packet-gmhdr.c.

use super::{Mark, Stamp, StampEvidence, StampedFrame, broker};

pub(super) static STAMP: Stamp = Stamp {
    name: "gigamon-fields",
    spec: "Gigamon GigaVUE trailer",
    evidence: StampEvidence::Checked,
    read,
};

const MAGIC: [u8; 2] = [0x22, 0xE5];

fn read(look: &StampedFrame<'_>) -> Option<Mark> {
    broker::trailer(look, MAGIC)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{mark, mark_cut};
    use super::*;

    const TRAILER: &str = "010205dc020308040506086553f100075bb290 13 22e5 7f0c";

    #[test]
    fn with_and_without_a_check_sequence() {
        for behind in ["", "01020304"] {
            let found = mark(&STAMP, &format!("EU {TRAILER} {behind}")).unwrap();
            assert_eq!((found.ns, found.cut_at), (1_700_000_000_123_450_000, 44));
            assert!(found.is_sound);
        }
    }

    #[test]
    fn a_checksum_that_does_not_hold_is_damage() {
        let found = mark(&STAMP, &format!("EU {}", TRAILER.replace("7f0c", "7f0d")));
        assert_eq!(found.map(|one| one.is_sound), Some(false));
    }

    #[test]
    fn what_an_ip_packet_carries_is_no_trailer() {
        let ip = "4500003d12344000401114790a0000010a0000029c409c410029d4a7";
        let macs = "0200000000020200000000010800";
        assert_eq!(
            mark(
                &STAMP,
                &format!("{macs} {ip} dead 00000000000000 {TRAILER}")
            ),
            None
        );
    }

    #[test]
    fn cut_frames_have_none() {
        for n_cut in 1..24 {
            assert_eq!(
                mark_cut(&STAMP, &format!("EU {TRAILER}"), n_cut),
                None,
                "{n_cut}"
            );
        }
    }
}
