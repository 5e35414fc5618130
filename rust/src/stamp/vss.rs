//! VSS Monitoring and APCON: a time, and perhaps a port, behind the frame.
//!
//! Spec: Wireshark's packet-vssmonitoring.c; `PF_RING`'s pcap reader for APCON, whose clock source is 0.
//!
//! ```text
//! | seconds (32) | clock (2) | ns (30) | port (0, 8 or 16) | [FCS] |
//! ```

use super::embedded::{end, has_fcs};
use super::{Mark, NS_PER_S, Stamp, StampEvidence, StampedFrame};

pub(super) static STAMP: Stamp = Stamp {
    name: "vss",
    spec: "VSS Monitoring trailer with time and port",
    evidence: StampEvidence::Timed,
    read,
};

const BEHIND: [usize; 3] = [8, 9, 10];
const FCS_BYTES: usize = 4;
const NS_BITS: u32 = 0x3FFF_FFFF;
/// Nothing says that a value is one but that it runs with the file's time: it has to be near.
const NEAR_NS: u64 = 3_600 * NS_PER_S.cast_unsigned();

/// Only behind what an IP packet says of its length: a packet may well carry a time of its own.
fn read(look: &StampedFrame<'_>) -> Option<Mark> {
    if !look.is_whole() || look.packet.ip_version == 0 || look.embedded().is_some() {
        return None;
    }
    let end = end(look.frame, look.packet);
    let fcs = if has_fcs(look.frame.bytes.get(..end)?) {
        FCS_BYTES
    } else {
        0
    };
    let mut places = BEHIND.into_iter().filter_map(|n| end.checked_sub(n + fcs));
    places.find_map(|at| mark(look, at))
}

fn mark(look: &StampedFrame<'_>, at: usize) -> Option<Mark> {
    let mark = Mark::of_seconds(look.word(at)?, look.word(at + 4)? & NS_BITS, at);
    let is_near = mark.ns.abs_diff(look.frame.t_ns) <= NEAR_NS;
    (is_near && look.is_behind_packet(at)).then_some(mark)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{PADDED, mark, mark_cut};
    use super::*;

    const PADDING: &str = "00000000000000000000000000000000";

    #[test]
    fn every_clock_and_port() {
        for behind in [
            "6553f100475bb290",
            "6553f100c75bb29007",
            "6553f100875bb2900107",
            "6553f100075bb290",
        ] {
            for padding in ["", PADDING] {
                let found = mark(&STAMP, &format!("EU {padding} {behind}")).unwrap();
                let n_padded = 44 + padding.len() / 2;
                assert_eq!(
                    (found.ns, found.cut_at),
                    (1_700_000_000_123_450_000, n_padded)
                );
                assert!(found.is_sound);
            }
        }
    }

    #[test]
    fn before_a_check_sequence_that_holds() {
        let text = format!("EU {PADDING} 6553f100075bb29007");
        let mut crc = flate2::Crc::new();
        crc.update(&crate::wire::vectors::frame(&text));
        let fcs = format!("{:08x}", crc.sum().swap_bytes());
        assert_eq!(
            mark(&STAMP, &format!("{text} {fcs}")).map(|one| one.cut_at),
            Some(60)
        );
        assert_eq!(mark(&STAMP, &format!("{text} 01020304")), None);
    }

    #[test]
    fn more_nanoseconds_than_a_second_has_are_damage() {
        let found = mark(&STAMP, "EU 6553f1003b9aca00").unwrap();
        assert!(!found.is_sound);
    }

    #[test]
    fn other_times_other_trailers_and_cut_frames_have_none() {
        assert_eq!(mark(&STAMP, "EU 0000f100075bb290"), None);
        assert_eq!(
            mark(&STAMP, &format!("{PADDED} 12346553f100075bb290")),
            None
        );
        assert_eq!(
            mark(&STAMP, "02000000000202000000000188b5 6553f100075bb290"),
            None
        );
        for n_cut in 1..8 {
            assert_eq!(
                mark_cut(&STAMP, "EU 6553f100475bb290", n_cut),
                None,
                "{n_cut}"
            );
        }
    }

    #[test]
    fn what_an_ip_packet_carries_is_no_stamp() {
        let ip = "4500002412344000401114930a0000010a0000029c409c410010d4a7";
        let text = format!("0200000000020200000000010800 {ip} 6553f100075bb290");
        assert_eq!(mark(&STAMP, &text), None);
    }
}
