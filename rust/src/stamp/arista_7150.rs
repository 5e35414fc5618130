//! Arista 7150: 31 bits of a tick counter instead of the frame check sequence, or before it.
//!
//! Spec: Arista EOS, timestamping on the 7150 series. Key frames (see `key.rs`) tell the ticks' time.
//!
//! ```text
//! | ticks 30..7 (24) | 0 | ticks 6..0 (7) |
//! ```

use super::embedded::{end, has_fcs};
use super::key::TickCounter;
use super::{Mark, Stamp, StampEvidence, StampedFrame, Timescale};

pub(super) static STAMP: Stamp = Stamp {
    name: "arista-7150",
    spec: "Arista EOS, timestamping on the 7150 series",
    evidence: StampEvidence::Keyed,
    read,
};

const BITS: u32 = 31;

fn read(look: &StampedFrame<'_>) -> Option<Mark> {
    let key = look.key.filter(|key| key.counter == TickCounter::Arista)?;
    let (at, field) = field(look)?;
    let ticks = (field & 0xFFFF_FF00) >> 1 | field & 0x7F;
    let ns = key.time_ns(ticks, BITS, look.frame.t_ns)?;
    Some(Mark {
        is_sound: field & 0x80 == 0,
        ..mark(ns, key.ns_per_tick, at)
    })
}

/// The ticks at the end of a frame, and where they stand: before the frame check sequence if there is
/// one, else in its place. 0 means that the frame was not stamped.
pub(super) fn field(look: &StampedFrame<'_>) -> Option<(usize, u32)> {
    if !look.is_whole() {
        return None;
    }
    let end = end(look.frame, look.packet);
    let behind = if has_fcs(look.frame.bytes.get(..end)?) {
        8
    } else {
        4
    };
    let at = end.checked_sub(behind)?;
    let field = look.word(at)?;
    (field != 0 && at >= look.packet.network_at).then_some((at, field))
}

/// Ticks of a frame are this near to the file's time, about the usual difference; any ticks would be
/// within half their range.
const WITHIN_NS: i64 = 250_000_000;

pub(super) fn mark(ns: i64, ns_per_tick: f64, cut_at: usize) -> Mark {
    Mark {
        ns,
        wrap_ns: 0,
        within_ns: WITHIN_NS,
        resolution_ns: ns_per_tick,
        timescale: Timescale::Utc,
        cut_at,
        is_sound: true,
    }
}

#[cfg(test)]
mod tests {
    use super::super::NS_PER_S;
    use super::super::testing::{T_NS, key, marked};
    use super::*;
    use crate::wire::vectors::frame;

    const OUTER: &str = "02000000000d02000000000c0800 45000052 12344000 40fd0000 00000000ffffffff";
    /// 1700000000.0 at tick 0x712345678.
    const KEY: &str = "0000000712345678 17979cfe362a0000 0000000712345600 0000000000000001 \
        0000000000000001 0000000712345679 0000000000000000 0001 0002 01 00";

    fn read_of(behind: &str) -> Option<Mark> {
        let key = key(&format!("{OUTER} {KEY}")).unwrap();
        marked(&STAMP, &frame(&format!("EU {behind}")), Some(&key))
    }

    #[test]
    fn appended_replaced_and_not_stamped() {
        let appended = read_of("2468af56 d388622c").unwrap();
        assert_eq!(
            (appended.ns, appended.cut_at),
            (1_700_000_000 * NS_PER_S + 1000, 44)
        );
        let replaced = read_of("2468aa1a").unwrap();
        assert_eq!(
            (replaced.ns, replaced.cut_at),
            (1_700_000_000 * NS_PER_S - 1000, 44)
        );
        assert_eq!(read_of("00000000 c57e61ee"), None);
    }

    #[test]
    fn bit_7_is_put_in() {
        for (field, ticks) in [
            (0xff10_ab76_u32, 2_139_641_334),
            (0xfff0_630d, 2_146_972_045),
            (0x005b_3275, 2_988_405),
        ] {
            assert_eq!((field & 0xFFFF_FF00) >> 1 | field & 0x7F, ticks);
        }
        assert!(!read_of("2468aaff").unwrap().is_sound);
    }

    #[test]
    fn key_frames_of_both_lengths_and_orders() {
        let long = key(&format!("{OUTER} {KEY}")).unwrap();
        let short = OUTER.replace("45000052", "45000042");
        let text = "0000000712345678 17979cfe362a0000 0000000712345600 0000000712345679 \
            0000000000000000 0001 0002 01 00";
        assert_eq!(key(&format!("{short} {text}")), Some(long));
        assert_eq!(
            (long.ticks, long.utc_ns),
            (0x7_1234_5678, 1_700_000_000 * NS_PER_S)
        );
        let turned = "7856341207000000 00002a36fe9c9717 0056341207000000 0100000000000000 \
            0100000000000000 7956341207000000 0000000000000000 0100 0200 01 00";
        assert_eq!(key(&format!("{OUTER} {turned}")), Some(long));
        let of_no_time = KEY.replace("17979cfe362a0000", "0000000000000001");
        assert_eq!(key(&format!("{OUTER} {of_no_time}")), None);
    }

    #[test]
    fn ticks_unfold_across_every_wrap() {
        let key = key(&format!("{OUTER} {KEY}")).unwrap();
        for n_ticks in (-19_000_000_000_i64..19_000_000_000).step_by(123_456_789) {
            let ns = n_ticks * 20 / 7;
            let ticks = (0x7_1234_5678 + n_ticks) & 0x7FFF_FFFF;
            for jitter_ns in [-2_900_000_000, 0, 2_900_000_000] {
                let ticks = u32::try_from(ticks).unwrap();
                let found = key.time_ns(ticks, BITS, T_NS + ns + jitter_ns).unwrap();
                let wanted = 1_700_000_000 * NS_PER_S + ns;
                assert!((found - wanted).abs() <= 1, "{n_ticks} {jitter_ns}");
            }
        }
    }

    #[test]
    fn the_rate_is_measured() {
        let mut first = key(&format!("{OUTER} {KEY}")).unwrap();
        let later = super::super::key::Key {
            ticks: first.ticks + 350_070_000,
            utc_ns: first.utc_ns + NS_PER_S,
            t_ns: first.t_ns + NS_PER_S,
            ..first
        };
        assert!(first.agrees(&later));
        first.go_on(later);
        assert!((first.ns_per_tick - 1e9 / 350_070_000.0).abs() < 1e-9);
    }
}
