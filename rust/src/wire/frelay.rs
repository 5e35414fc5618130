//! Frame Relay.
//!
//! Spec: RFC 2427 §3, §4; ITU-T Q.922 §3.2 for the address, whose last octet is odd.
//!
//! ```text
//! |  address (16, 24, 32)  |  control 03  |  NLPID (8)  |
//! |                        |              |  80         |  OUI (24)  |  EtherType (16)  |
//! |  address (16)          |  EtherType (16)            |     without control: Cisco's way
//! ```

use super::{Halt, Layer, Next, Packet, Parent, ProtocolFit, Walk, ethernet, ipv4, ipv6};

pub(super) const LINK: u16 = 107;

pub(super) static LAYER: Layer = Layer {
    name: "frelay",
    spec: "RFC 2427 §3",
    parents: &[Parent::Link(LINK), Parent::GreProtocol(0x6559)],
    fit: |_| ProtocolFit::Possible,
    decode,
};

const IS_LAST: u8 = 0x01;
const MAX_ADDRESS_OCTETS: usize = 4;
const UNNUMBERED: u8 = 0x03;
const SNAP: u8 = 0x80;
const PADDING: u8 = 0x00;
/// Of an organisation code and what it numbers.
const ORGANISATION_ETHERNET: [u8; 3] = [0; 3];
const ORGANISATION_802_1: [u8; 3] = [0x00, 0x80, 0xC2];

fn decode(walk: &mut Walk<'_>, _: &mut Packet) -> Result<Next, Halt> {
    let mut n_octets = 1;
    while walk.bytes.take::<1>()?[0] & IS_LAST == 0 {
        n_octets += 1;
        if n_octets > MAX_ADDRESS_OCTETS {
            return Err(Halt::Malformed);
        }
    }
    let [first, second] = *walk.bytes.peek()?;
    if first != UNNUMBERED {
        walk.bytes.skip(2)?;
        return Ok(ethernet::data(walk, u16::from_be_bytes([first, second])));
    }
    walk.bytes.skip(if second == PADDING { 2 } else { 1 })?;
    Ok(match walk.bytes.take()? {
        [0xCC] => ethernet::data(walk, ipv4::ETHER_TYPE),
        [0x8E] => ethernet::data(walk, ipv6::ETHER_TYPE),
        [SNAP] => snap(walk)?,
        _ => Next::Payload,
    })
}

fn snap(walk: &mut Walk<'_>) -> Result<Next, Halt> {
    let [organisation @ .., high, low] = *walk.bytes.take::<5>()?;
    Ok(match (organisation, u16::from_be_bytes([high, low])) {
        (ORGANISATION_ETHERNET, ether_type) => ethernet::data(walk, ether_type),
        // Bridged Ethernet, with and without check sequence (RFC 2427 §4.2).
        (ORGANISATION_802_1, 0x0001 | 0x0007) => ethernet::data(walk, ethernet::BRIDGED),
        _ => Next::Payload,
    })
}

#[cfg(test)]
mod tests {
    use super::super::vectors::{assert_stop, assert_udp_link, read_link};
    use super::super::{StopReason, layer_path};

    #[test]
    fn carries_ip() {
        assert_udp_link(107, "184103cc IU", "frelay/ipv4/udp");
        assert_udp_link(107, "1841038e I6", "frelay/ipv6/udp");
        assert_udp_link(107, "1840024103cc IU", "frelay/ipv4/udp");
        assert_udp_link(107, "18410800 IU", "frelay/ipv4/udp");
        assert_udp_link(107, "18410300 80 000000 0800 IU", "frelay/ipv4/udp");
    }

    #[test]
    fn carries_frames() {
        let text = "18410300 80 0080c2 0007 EU";
        assert_udp_link(107, text, "frelay/ethernet/ipv4/udp");
    }

    #[test]
    fn other_protocols_are_data() {
        let packet = read_link(107, "184103 08 0102");
        assert_eq!(layer_path(&packet), "frelay");
        assert_eq!((packet.ip_version, packet.stop), (0, None));
    }

    #[test]
    fn bad_addresses_and_lengths_stop() {
        let endless = read_link(107, "1840020202020202");
        assert_stop(&endless, "frelay", StopReason::Malformed);
        assert_stop(&read_link(107, "1841 03"), "frelay", StopReason::Truncated);
    }
}
