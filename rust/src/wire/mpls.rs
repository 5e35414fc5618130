//! MPLS: labels, after which nothing says what follows.
//!
//! Spec: RFC 3032 §2.1; RFC 4385 §3 and §5 for control words; RFC 7510 over UDP, RFC 4023 over IP.
//!
//! ```text
//! |                Label (20)             | TC (3)|S|   TTL (8)   |
//! ```

use super::{Halt, Layer, Next, Packet, Parent, ProtocolFit, Walk, ethernet, ipv4, ipv6};
use crate::base::cursor::Cursor;

pub(super) const ETHER_TYPE: u16 = 0x8847;

pub(super) static LAYER: Layer = Layer {
    name: "mpls",
    spec: "RFC 3032 §2.1",
    parents: &[
        Parent::EtherType(ETHER_TYPE),
        Parent::EtherType(0x8848),
        Parent::IpProtocol(137),
        Parent::UdpDst(6635),
        // before RFC 7510, and in Contrail still
        Parent::UdpDst(51_234),
    ],
    fit: |_| ProtocolFit::Possible,
    decode,
};

const IS_BOTTOM: u8 = 0x01;
const CONTROL_WORD_BYTES: usize = 4;
/// Types of an associated channel that carry a packet (IANA, MPLS Generalized Associated Channel).
const CHANNEL_IPV4: u16 = 0x0021;
const CHANNEL_IPV6: u16 = 0x0057;

fn decode(walk: &mut Walk<'_>, _: &mut Packet) -> Result<Next, Halt> {
    while walk.bytes.take::<4>()?[2] & IS_BOTTOM == 0 {}
    let [first] = match walk.bytes.peek() {
        Ok(first) => *first,
        Err(short) if walk.bytes.is_cut_within(1) => return Err(short.into()),
        Err(_) => return Ok(Next::Payload),
    };
    let ether_type = match first >> 4 {
        0 => pass_control_word(walk)?,
        1 => pass_channel(walk)?,
        _ => ethernet::guess(walk.bytes),
    };
    if follows(walk.bytes, ether_type) {
        walk.ether_type = ether_type;
    }
    Ok(Next::Inside(ether_type))
}

/// Labels over Ethernet whose contents are not known stay that: data of the `EtherType` of MPLS.
fn follows(bytes: Cursor<'_>, ether_type: u16) -> bool {
    match ether_type {
        ipv4::ETHER_TYPE => ipv4::fit(bytes) != ProtocolFit::No,
        ipv6::ETHER_TYPE => ipv6::fit(bytes) != ProtocolFit::No,
        _ => false,
    }
}

/// A first nibble of 0 is a control word, or the start of most MAC addresses: the better fit wins,
/// and of equals the word if it is empty.
fn pass_control_word(walk: &mut Walk<'_>) -> Result<u16, Halt> {
    let with = ethernet::fit(walk.bytes.ahead(CONTROL_WORD_BYTES));
    let without = ethernet::fit(walk.bytes);
    let is_empty = matches!(walk.bytes.peek(), Ok([0, 0, 0, 0]));
    if with > without || (with == without && is_empty) {
        walk.bytes.skip(CONTROL_WORD_BYTES)?;
    }
    Ok(ethernet::BRIDGED)
}

fn pass_channel(walk: &mut Walk<'_>) -> Result<u16, Halt> {
    let [_, _, high, low] = *walk.bytes.peek()?;
    let ether_type = match u16::from_be_bytes([high, low]) {
        CHANNEL_IPV4 => ipv4::ETHER_TYPE,
        CHANNEL_IPV6 => ipv6::ETHER_TYPE,
        _ => return Ok(ethernet::BRIDGED),
    };
    walk.bytes.skip(CONTROL_WORD_BYTES)?;
    Ok(ether_type)
}

#[cfg(test)]
mod tests {
    use super::super::vectors::{assert_stop, assert_udp, frame, read, read_cut};
    use super::super::{StopReason, layer_path};

    const OUTER: &str = "02000000000d02000000000c8847";
    const FRAME: &str = "ethernet/mpls/ethernet/ipv4/udp";

    #[test]
    fn carries_packets() {
        assert_udp(
            &format!("{OUTER} 03e8164003e82740 IU"),
            "ethernet/mpls/ipv4/udp",
            -1,
        );
        assert_udp(
            &format!("{OUTER} 03e82740 I6"),
            "ethernet/mpls/ipv6/udp",
            -1,
        );
        let upstream = "02000000000d02000000000c884803e82740 IU";
        assert_udp(upstream, "ethernet/mpls/ipv4/udp", -1);
        assert_eq!(read(upstream).depth, 0);
        assert_eq!(read(upstream).ether_type, 0x0800);
    }

    #[test]
    fn carries_frames_with_and_without_control_word() {
        for frame in ["EO", "EU"] {
            assert_udp(&format!("{OUTER} 03e8274000000007 {frame}"), FRAME, -1);
            assert_udp(&format!("{OUTER} 03e8274000000000 {frame}"), FRAME, -1);
            assert_udp(&format!("{OUTER} 03e82740 {frame}"), FRAME, -1);
        }
        assert_udp(
            &format!("{OUTER} 03e827404600000000020200000000010800 IU"),
            FRAME,
            -1,
        );
    }

    #[test]
    fn carries_an_associated_channel() {
        assert_udp(
            &format!("{OUTER} 03e8274010000021 IU"),
            "ethernet/mpls/ipv4/udp",
            -1,
        );
    }

    #[test]
    fn over_udp_and_ip() {
        let udp = concat!(
            "02000000000d02000000000c08004500003e123440004011a477c0000201c0000202",
            "c35019eb002a000003e82740 IU"
        );
        assert_udp(udp, "ethernet/ipv4/udp/mpls/ipv4/udp", -1);
        let contrail = udp.replace("19eb", "c822");
        assert_udp(&contrail, "ethernet/ipv4/udp/mpls/ipv4/udp", -1);
        assert_eq!((read(udp).depth, read(udp).outer_ip_id), (1, 0x1234));
        let ip = concat!(
            "02000000000d02000000000c080045000036123440004089a407c0000201c0000202",
            "03e82740 IU"
        );
        assert_udp(ip, "ethernet/ipv4/mpls/ipv4/udp", -1);
    }

    #[test]
    fn unknown_contents_are_data() {
        let packet = read(&format!("{OUTER} 03e82740 1000000701020304"));
        assert_eq!(layer_path(&packet), "ethernet/mpls");
        assert_eq!(
            (packet.ether_type, packet.network_at, packet.ip_version),
            (0x8847, 14, 0)
        );
        assert_eq!((packet.end_at, packet.stop), (26, None));
    }

    #[test]
    fn labels_without_an_end_stop() {
        assert_stop(
            &read(&format!("{OUTER} 03e8164003e816")),
            "ethernet/mpls",
            StopReason::Truncated,
        );
        let text = format!("{OUTER} 03e8164003e82740 IU");
        assert_stop(
            &read_cut(&text, 20),
            "ethernet/mpls",
            StopReason::SnapLength,
        );
        assert_eq!(frame(&text).len(), 52);
    }
}
