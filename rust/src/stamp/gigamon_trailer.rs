//! Gigamon `GigaVUE`: a trailer behind the frame and its check sequence.
//!
//! Spec: Wireshark's packet-gmhdr.c (timestamp trailer).
//!
//! ```text
//! | old FCS (32) | port (16) | seconds (32) | ns (32) | [FCS] |
//! ```

use super::embedded::behind_old_fcs;
use super::{Mark, Stamp, StampEvidence, StampedFrame};

pub(super) static STAMP: Stamp = Stamp {
    name: "gigamon-trailer",
    spec: "Gigamon GigaVUE timestamp trailer",
    evidence: StampEvidence::Checked,
    read,
};

const BEHIND_OLD_FCS: usize = 10;

fn read(look: &StampedFrame<'_>) -> Option<Mark> {
    behind_old_fcs(look, BEHIND_OLD_FCS, |at, cut_at| mark(look, at, cut_at))
}

fn mark(look: &StampedFrame<'_>, at: usize, cut_at: usize) -> Option<Mark> {
    Some(Mark::of_seconds(
        look.word(at + 2)?,
        look.word(at + 6)?,
        cut_at,
    ))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{PADDED, mark, mark_cut};
    use super::*;

    #[test]
    fn with_and_without_a_new_check_sequence() {
        for end in ["", "1388070e"] {
            let found = mark(&STAMP, &format!("{PADDED} 12346553f100075bb290 {end}")).unwrap();
            assert_eq!((found.ns, found.cut_at), (1_700_000_000_123_450_000, 60));
            assert!(found.is_sound);
        }
    }

    #[test]
    fn a_frame_that_was_damaged_on_its_way_is_told() {
        let text = PADDED.replace("ad2557d3", "ad2557d4");
        let found = mark(&STAMP, &format!("{text} 12346553f100075bb290 1388070e"));
        assert_eq!(found.map(|one| one.is_sound), Some(false));
    }

    #[test]
    fn cut_frames_have_none() {
        for n_cut in 1..18 {
            let found = mark_cut(
                &STAMP,
                &format!("{PADDED} 12346553f100075bb290 1388070e"),
                n_cut,
            );
            assert_eq!(found, None, "{n_cut}");
        }
    }
}
