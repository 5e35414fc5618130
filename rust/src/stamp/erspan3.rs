//! ERSPAN III: a 32-bit time in the mirror's header, and more of it in the platform subheader.
//!
//! Spec: draft-foschiano-erspan-03 §4.3; the platforms' subheaders as in Wireshark's packet-cisco-erspan.c.
//!
//! ```text
//! |Ver=2 (4)|   VLAN (12)  |COS (3)|BSO (2)|T| Session ID (10) |
//! |                     Timestamp (32)                         |
//! |   SGT (16)   |P| FT (5) |  Hw ID (6)  |D|Gra (2)|O|
//! |Platf (6)|     Platform Specific Info (26)                  |   if O
//! |   upper timestamp (3, 7, 0), seconds (5, 6), or else       |
//! ```

use super::{Mark, NS_PER_S, Stamp, StampEvidence, StampedFrame, Timescale};
use crate::wire::Carrier;

pub(super) static STAMP: Stamp = Stamp {
    name: "erspan3",
    spec: "draft-foschiano-erspan §4.3",
    evidence: StampEvidence::Named,
    read,
};

const HAS_SUBHEADER: u32 = 1;
/// What a step is, ns, by the granularity: 100 µs, 100 ns, IEEE 1588, the vendor's own (Nexus: 1 ns).
const STEP_NS: [u32; 4] = [100_000, 100, 1, 1];
/// Share of a counter's range that it may be off at most.
const SHARE_OF_WRAP: i64 = 8;
const IEEE_1588: u32 = 2;

fn read(look: &StampedFrame<'_>) -> Option<Mark> {
    let at = look.carrier(Carrier::Erspan3)?;
    let low = look.word(at + 4)?;
    let flags = look.word(at + 8)?;
    let granularity = flags >> 1 & 3;
    let step_ns = STEP_NS.get(granularity as usize).copied()?;
    let (platform, upper) = subheader(look, at, flags).unwrap_or((0x3F, 0));
    // switches that do not stamp send 0
    if low == 0 && upper == 0 {
        return None;
    }
    let cut_at = look.frame.bytes.len();
    let count = |steps, n_steps| count(steps, n_steps, step_ns, cut_at);
    Some(match (platform, granularity) {
        (5 | 6, 2 | 3) => Mark::of_seconds(upper, low, cut_at),
        (_, IEEE_1588) => Mark {
            is_sound: i64::from(low) < NS_PER_S,
            ..count(low.into(), NS_PER_S)
        },
        (0 | 3 | 7, _) => count(u64::from(upper) << 32 | u64::from(low), 0),
        _ => count(low.into(), 1 << 32),
    })
}

/// So many steps, of a counter that wraps after `n_steps` (0: never). More than a clock can have is damage.
fn count(steps: u64, n_steps: i64, step_ns: u32, cut_at: usize) -> Mark {
    let ns = steps.checked_mul(step_ns.into());
    let ns = ns.and_then(|ns| i64::try_from(ns).ok());
    let wrap_ns = n_steps * i64::from(step_ns);
    Mark {
        ns: ns.unwrap_or(0),
        wrap_ns,
        within_ns: if wrap_ns == 0 {
            NS_PER_S
        } else {
            NS_PER_S.min(wrap_ns / SHARE_OF_WRAP)
        },
        resolution_ns: f64::from(step_ns),
        timescale: Timescale::Unknown,
        cut_at,
        is_sound: ns.is_some(),
    }
}

/// The platform, and the second word of its subheader.
fn subheader(look: &StampedFrame<'_>, at: usize, flags: u32) -> Option<(u32, u32)> {
    if flags & HAS_SUBHEADER == 0 {
        return None;
    }
    Some((look.word(at + 12)? >> 26, look.word(at + 16)?))
}

#[cfg(test)]
mod tests {
    use super::super::testing::mark;
    use super::*;

    fn read_of(time: &str, rest: &str) -> Option<Mark> {
        let outer = "02000000000d02000000000c0800 4500005c12344000 402f0000 c0000201c0000202";
        mark(
            &STAMP,
            &format!("{outer} 100022eb00000007 2064b005 {time} {rest} EU"),
        )
    }

    #[test]
    fn every_granularity_has_its_step_and_wraps() {
        let (low, range) = (0x89ab_cdef_i64, 1_i64 << 32);
        for (flags, step, resolution_ns) in
            [("8098", 100_000, 1e5), ("809a", 100, 1e2), ("809e", 1, 1e0)]
        {
            let found = read_of("89abcdef", &format!("1234{flags}")).unwrap();
            assert_eq!((found.ns, found.wrap_ns), (low * step, range * step));
            assert!(found.is_sound && (found.resolution_ns - resolution_ns).abs() < 1e-9);
        }
    }

    #[test]
    fn ieee_1588_is_the_part_of_a_second() {
        let found = read_of("075bb290", "1234809c").unwrap();
        assert_eq!(
            (found.ns, found.wrap_ns, found.is_sound),
            (123_450_000, NS_PER_S, true)
        );
        assert!(!read_of("89abcdef", "1234809c").unwrap().is_sound);
    }

    #[test]
    fn subheaders_give_the_upper_bits_or_the_seconds() {
        for platform in ["0eaf1234", "1d512345", "01512345"] {
            let found = read_of("89abcdef", &format!("1234809f {platform} 00000005")).unwrap();
            assert_eq!((found.ns, found.wrap_ns), (5 << 32 | 0x89ab_cdef, 0));
        }
        for platform in ["15551234", "19551234"] {
            let rest = format!("1234809d {platform} 6553f100");
            let found = read_of("075bb290", &rest).unwrap();
            assert_eq!((found.ns, found.wrap_ns), (1_700_000_000_123_450_000, 0));
            assert!(!read_of("89abcdef", &rest).unwrap().is_sound);
        }
        let ports = read_of("89abcdef", "1234809f 06bcd123 deadbeef").unwrap();
        assert_eq!((ports.ns, ports.wrap_ns), (0x89ab_cdef, 1 << 32));
    }

    #[test]
    fn a_count_that_no_clock_has_is_damage() {
        assert!(
            !read_of("89abcdef", "12348099 0eaf1234 ffffffff")
                .unwrap()
                .is_sound
        );
    }

    #[test]
    fn no_time_is_none() {
        assert_eq!(read_of("00000000", "1234809e"), None);
    }
}
