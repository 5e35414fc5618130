//! Endace's record in another capture file.
//!
//! Spec: `LINKTYPE_ERF`; the layout is that of ERF files.

use super::{Halt, Layer, Next, Packet, Parent, ProtocolFit, Walk};
use crate::base::endace::{EndaceRecord, HEADER_BYTES};

pub(super) static LAYER: Layer = Layer {
    name: "erf",
    spec: "LINKTYPE_ERF",
    parents: &[Parent::Link(197)],
    fit: |_| ProtocolFit::Possible,
    decode,
};

fn decode(walk: &mut Walk<'_>, _: &mut Packet) -> Result<Next, Halt> {
    let record = EndaceRecord::read(walk.bytes.peek::<HEADER_BYTES>()?);
    if !record.is_plausible() {
        return Err(Halt::Malformed);
    }
    walk.bytes.bound(record.n_bytes);
    let content = record.content(walk.bytes.rest()).ok_or(Halt::Malformed)?;
    walk.bytes.skip(content.at)?;
    let n_wire = usize::from(record.wire_bytes);
    walk.bytes
        .bound(n_wire.saturating_sub(content.fcs_bytes.into()));
    content.link.map(Next::Link).ok_or(Halt::Unknown)
}

#[cfg(test)]
mod tests {
    use super::super::StopReason;
    use super::super::vectors::{assert_stop, assert_udp_link, read_link};

    const T: &str = "38dd9a1f00f15365";
    const PADDED: &str = "EU 00000000000000000000000000000000 ad2557d3 000000000000";

    #[test]
    fn carries_frames_and_packets() {
        let path = "erf/ethernet/ipv4/udp";
        assert_udp_link(197, &format!("{T} 0205005800000040 0000 {PADDED}"), path);
        assert_udp_link(197, &format!("{T} 0b05005812340040 0000 {PADDED}"), path);
        let extended = "8205006800000040 90070203cafe0001 1107aabbccddeeff 0000";
        assert_udp_link(197, &format!("{T} {extended} {PADDED}"), path);
        let fourth = format!("{T} 160500300000001e IU 0000");
        assert_udp_link(197, &fourth, "erf/ipv4/udp");
        let sixth = format!("{T} 1705004800000032 I6 000000000000");
        assert_udp_link(197, &sixth, "erf/ipv6/udp");
        let hdlc = format!("{T} 0105003800000022 0f000800 IU 000000000000");
        assert_udp_link(197, &hdlc, "erf/ppp/chdlc/ipv4/udp");
    }

    #[test]
    fn metadata_are_no_packet() {
        let packet = read_link(197, &format!("{T} 1b05001800000000 0102030405060708"));
        assert_stop(&packet, "erf", StopReason::Unknown);
    }

    #[test]
    fn bad_headers_stop() {
        let none = read_link(197, &format!("{T} 0005005800000040"));
        assert_stop(&none, "erf", StopReason::Malformed);
        let endless = read_link(197, &format!("{T} 8205005800000040 9007020300000001"));
        assert_stop(&endless, "erf", StopReason::Malformed);
        assert_stop(&read_link(197, T), "erf", StopReason::Truncated);
    }
}
