//! PPP, with or without the framing of HDLC.
//!
//! Spec: RFC 1661 §2 for the protocol field and its compression; RFC 1662 §3.1 for the framing.
//!
//! ```text
//! |  FF  |  03  |  Protocol (8, 16)  |
//! ```

use super::{
    Halt, Layer, Next, Packet, Parent, ProtocolFit, Walk, chdlc, ethernet, ipv4, ipv6, mpls,
};
use crate::base::cursor::{Cursor, Short};

/// RFC 2516 puts it in no `EtherType`; this is the one of RFC 7042 §B.1.
pub(super) const ETHER_TYPE: u16 = 0x880B;

pub(super) static LAYER: Layer = Layer {
    name: "ppp",
    spec: "RFC 1661 §2",
    parents: &[
        Parent::EtherType(ETHER_TYPE),
        Parent::Link(9),
        Parent::Link(HDLC_LINK),
    ],
    fit,
    decode,
};

/// Frames of either HDLC: the first octet tells.
const HDLC_LINK: u16 = 50;
const ALL_STATIONS: u8 = 0xFF;
const UNNUMBERED: u8 = 0x03;
/// The low octet of every protocol is odd, the high one even (RFC 1661 §2).
const IS_LAST: u8 = 0x01;

fn decode(walk: &mut Walk<'_>, _: &mut Packet) -> Result<Next, Halt> {
    if chdlc::is_address(walk.bytes) {
        return Ok(Next::Link(chdlc::LINK));
    }
    let protocol = take_protocol(&mut walk.bytes)?;
    Ok(match protocol {
        0x0021 => ethernet::data(walk, ipv4::ETHER_TYPE),
        0x0057 => ethernet::data(walk, ipv6::ETHER_TYPE),
        0x0281 => ethernet::data(walk, mpls::ETHER_TYPE),
        _ => Next::Payload,
    })
}

fn take_protocol(bytes: &mut Cursor<'_>) -> Result<u16, Short> {
    match bytes.peek() {
        Ok([ALL_STATIONS, UNNUMBERED]) => bytes.skip(2)?,
        Err(short) if bytes.is_cut_within(2) => return Err(short),
        _ => {}
    }
    let [first] = *bytes.take()?;
    if first & IS_LAST != 0 {
        return Ok(first.into());
    }
    let [second] = *bytes.take()?;
    Ok(u16::from_be_bytes([first, second]))
}

fn fit(mut bytes: Cursor<'_>) -> ProtocolFit {
    match take_protocol(&mut bytes) {
        Ok(protocol) if protocol & u16::from(IS_LAST) == 0 => ProtocolFit::No,
        Ok(0x0021) => ipv4::fit(bytes),
        Ok(0x0057) => ipv6::fit(bytes),
        Ok(_) => ProtocolFit::Possible,
        Err(short) if bytes.is_cut_within(short.n_needed as usize) => ProtocolFit::Possible,
        Err(_) => ProtocolFit::No,
    }
}

#[cfg(test)]
mod tests {
    use super::super::vectors::{assert_stop, assert_udp_link, read_link};
    use super::super::{StopReason, layer_path};

    #[test]
    fn with_and_without_framing() {
        for link in [9, 50] {
            assert_udp_link(link, "ff030021 IU", "ppp/ipv4/udp");
            assert_udp_link(link, "0021 IU", "ppp/ipv4/udp");
            assert_udp_link(link, "21 IU", "ppp/ipv4/udp");
            assert_udp_link(link, "ff030057 I6", "ppp/ipv6/udp");
        }
        assert_udp_link(9, "ff030281 03e82740 IU", "ppp/mpls/ipv4/udp");
    }

    #[test]
    fn the_other_hdlc_on_its_link() {
        assert_udp_link(50, "0f000800 IU", "ppp/chdlc/ipv4/udp");
    }

    #[test]
    fn link_control_is_data() {
        let packet = read_link(9, "ff03c02101010004");
        assert_eq!(layer_path(&packet), "ppp");
        assert_eq!((packet.ip_version, packet.end_at), (0, 8));
        assert_eq!((packet.ether_type, packet.stop), (0, None));
    }

    #[test]
    fn half_a_protocol_stops() {
        assert_stop(&read_link(9, "ff0300"), "ppp", StopReason::Truncated);
    }
}
