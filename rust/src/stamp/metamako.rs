//! Metamako and Arista 7130 `MetaWatch`: a trailer behind the frame and its check sequence.
//!
//! Spec: `MetamakoTrailer.txt` (Metamako, 2018); Wireshark's packet-metamako.c.
//!
//! ```text
//! | old FCS (32) | extensions | seconds (32) | ns (32) | flags (8) | device (16) | port (8) | [FCS] |
//! ```
//! Samples have a word between old FCS and seconds that no flag tells of.

use super::embedded::end;
use super::{Mark, Stamp, StampEvidence, StampedFrame, Timescale};

pub(super) static STAMP: Stamp = Stamp {
    name: "metamako",
    spec: "MetamakoTrailer.txt (Metamako, 2018)",
    evidence: StampEvidence::Checked,
    read,
};

const TRAILER_BYTES: usize = 12;
const FCS_BYTES: usize = 4;
const OLD_FCS_IS_VALID: u8 = 0x01;
const HAS_EXTENSIONS: u8 = 0x02;
const RESERVED: u8 = 0xC8;

fn read(look: &StampedFrame<'_>) -> Option<Mark> {
    let end = end(look.frame, look.packet);
    let Some(old) = look.embedded() else {
        return damaged(look, end);
    };
    let ends = if old.has_new {
        [end.checked_sub(FCS_BYTES)?, 0]
    } else {
        [end, end.checked_sub(FCS_BYTES)?]
    };
    ends.into_iter().find_map(|end| trailer(look, end, old.at))
}

/// A trailer that ends at `end`, of a frame that ends at `cut_at`.
fn trailer(look: &StampedFrame<'_>, end: usize, cut_at: usize) -> Option<Mark> {
    let at = end.checked_sub(TRAILER_BYTES)?;
    let between = at.checked_sub(cut_at + FCS_BYTES)?;
    let [flags] = *look.octets(at + 8)?;
    let is_flagged = flags & HAS_EXTENSIONS != 0;
    let is_known = flags & RESERVED == 0 && flags & OLD_FCS_IS_VALID != 0;
    let may_be = between.is_multiple_of(4) && (is_flagged && between > 0 || between <= 4);
    if !is_known || !may_be {
        return None;
    }
    mark(look, at, cut_at)
}

fn mark(look: &StampedFrame<'_>, at: usize, cut_at: usize) -> Option<Mark> {
    Some(Mark {
        timescale: Timescale::Utc,
        ..Mark::of_seconds(look.word(at)?, look.word(at + 4)?, cut_at)
    })
}

/// A frame whose old check sequence does not hold, but at whose end something like a trailer is.
fn damaged(look: &StampedFrame<'_>, end: usize) -> Option<Mark> {
    if !look.is_whole() {
        return None;
    }
    let at = end.checked_sub(TRAILER_BYTES + FCS_BYTES)?;
    let cut_at = at.checked_sub(FCS_BYTES)?;
    Some(Mark {
        is_sound: false,
        ..mark(look, at, cut_at)?
    })
}

#[cfg(test)]
mod tests {
    use super::super::testing::{PADDED, mark, mark_cut};
    use super::*;

    const TIME: &str = "6553f100075bb290";
    const NS: i64 = 1_700_000_000_123_450_000;

    fn assert_mark(behind: &str) {
        let found = mark(&STAMP, &format!("{PADDED} {behind}")).unwrap();
        assert_eq!((found.ns, found.cut_at, found.is_sound), (NS, 60, true));
        assert_eq!(found.timescale, Timescale::Utc);
    }

    #[test]
    fn with_and_without_a_new_check_sequence() {
        assert_mark(&format!("{TIME}01eaa00db2dff423"));
        assert_mark(&format!("{TIME}01eaa00d"));
    }

    #[test]
    fn extensions_are_passed() {
        assert_mark(&format!("00beef20{TIME}03eaa00d361184ef"));
        assert_mark(&format!("8000002100beef00{TIME}03eaa00dfbb21a32"));
        assert_mark(&format!("504341504c4154300000007f{TIME}03eaa00ddf9e19ea"));
    }

    #[test]
    fn a_word_that_no_flag_tells_of_is_passed() {
        assert_mark(&format!("00261b94{TIME}01eaa00e665af20e"));
    }

    #[test]
    fn a_real_trailer() {
        let found = trailer_of("9054481a5837e459331edef701eaa00d46d39915");
        assert_eq!(found, Some(1_480_057_945_857_661_175));
    }

    /// The time in a trailer of a frame that is not there.
    fn trailer_of(text: &str) -> Option<i64> {
        let bytes = crate::wire::vectors::frame(&format!("{PADDED} {text}"));
        let frame = super::super::testing::frame_of(&bytes);
        let packet = crate::wire::Packet::new();
        let look = StampedFrame::new(&frame, &packet, None);
        trailer(&look, bytes.len() - 4, bytes.len() - 20).map(|mark| mark.ns)
    }

    #[test]
    fn damage_is_told() {
        let changed = format!("ff{} {TIME}01eaa00db2dff423", &PADDED[2..]);
        assert_eq!(
            mark(&STAMP, &changed.replace("ff ", "EU ")).map(|one| one.is_sound),
            Some(true)
        );
        let bad_fcs = PADDED.replace("ad2557d3", "ad2557d4");
        let found = mark(&STAMP, &format!("{bad_fcs} {TIME}01eaa00db2dff423"));
        assert_eq!(found.map(|one| one.is_sound), Some(false));
        let bad_ns = mark(&STAMP, &format!("{PADDED} 6553f1003b9aca0001eaa00d"));
        assert_eq!(bad_ns.map(|one| one.is_sound), Some(false));
    }

    #[test]
    fn what_is_no_trailer_or_cut_has_none() {
        assert!(mark(&STAMP, PADDED).is_none_or(|one| !one.is_sound));
        assert!(
            mark(&STAMP, &format!("{PADDED} {TIME}00eaa00d")).is_none(),
            "not flagged"
        );
        let whole = format!("{PADDED} {TIME}01eaa00db2dff423");
        for n_cut in 1..20 {
            assert!(mark_cut(&STAMP, &whole, n_cut).is_none(), "{n_cut}");
        }
    }

    #[test]
    fn inside_a_mirror_and_behind_a_tag() {
        let outer = "02000000000d02000000000c0800 4500006c12344000 402f0000 c0000201c0000202";
        let inner = format!("{PADDED} {TIME}01eaa00db2dff423");
        let mirrored = mark(&STAMP, &format!("{outer} 000088be {inner}")).unwrap();
        assert_eq!((mirrored.ns, mirrored.cut_at), (NS, 38 + 60));
        let macs = "020000000002020000000001";
        let tagged = inner.replace("EU", &format!("{macs} 81000064 0800 IU"));
        let found = mark(&STAMP, &tagged).unwrap();
        assert_eq!((found.ns, found.cut_at), (NS, 64));
    }
}
