//! Exablaze Fusion HPT and Cisco Nexus 3550-T HPT: a trailer behind the frame and its check sequence.
//!
//! Spec: Cisco Nexus 3550 HPT guide; Wireshark's packet-exablaze.c.
//!
//! ```text
//! | old FCS (32) | device (8) | port (8) | seconds (32) | fraction, 2^-40 s (40) | flags (8) | [FCS] |
//! ```

use super::embedded::behind_old_fcs;
use super::{Mark, NS_PER_S, Stamp, StampEvidence, StampedFrame};

pub(super) static STAMP: Stamp = Stamp {
    name: "exablaze",
    spec: "Cisco Nexus 3550-T HPT configuration guide",
    evidence: StampEvidence::Checked,
    read,
};

const BEHIND_OLD_FCS: usize = 12;
/// 2^-40 s.
const RESOLUTION_NS: f64 = 0.001;

fn read(look: &StampedFrame<'_>) -> Option<Mark> {
    behind_old_fcs(look, BEHIND_OLD_FCS, |at, cut_at| mark(look, at, cut_at))
}

fn mark(look: &StampedFrame<'_>, at: usize, cut_at: usize) -> Option<Mark> {
    let octets = look.octets::<5>(at + 6)?;
    let fraction = octets
        .iter()
        .fold(0_u64, |all, one| all << 8 | u64::from(*one));
    let ns = (u128::from(fraction) * u128::from(NS_PER_S.cast_unsigned())) >> 40;
    Some(Mark {
        resolution_ns: RESOLUTION_NS,
        ..Mark::of_seconds(look.word(at + 2)?, u32::try_from(ns).ok()?, cut_at)
    })
}

#[cfg(test)]
mod tests {
    use super::super::testing::{PADDED, mark};
    use super::*;

    #[test]
    fn with_and_without_a_new_check_sequence() {
        for end in ["", "2616828f"] {
            let text = format!("{PADDED} 002f6553f1002b9fa023f400 {end}");
            let found = mark(&STAMP, &text).unwrap();
            assert_eq!((found.ns, found.cut_at), (1_700_000_000_170_404_442, 60));
            assert!(found.is_sound);
        }
    }

    #[test]
    fn a_frame_that_was_damaged_on_its_way_is_told() {
        let text = PADDED.replace("ad2557d3", "ad2557d4");
        let found = mark(&STAMP, &format!("{text} 002f6553f1002b9fa023f400 2616828f"));
        assert_eq!(found.map(|one| one.is_sound), Some(false));
    }
}
