//! Packets that Wireshark exported without the layers below, with a tag that names the protocol.
//!
//! Spec: `LINKTYPE_WIRESHARK_UPPER_PDU`.
//!
//! ```text
//! |  tag (16)  |  length (16)  |  value  |     as often as there are tags, the last with both 0
//! ```

use super::{Halt, Layer, Next, Packet, Parent, ProtocolFit, Walk, ethernet, ipv4, ipv6};

pub(super) static LAYER: Layer = Layer {
    name: "upper-pdu",
    spec: "LINKTYPE_WIRESHARK_UPPER_PDU",
    parents: &[Parent::Link(252)],
    fit: |_| ProtocolFit::Possible,
    decode,
};

const END: u16 = 0;
const PROTOCOL_NAME: u16 = 12;
const ETHERNET: u16 = 1;

fn decode(walk: &mut Walk<'_>, _: &mut Packet) -> Result<Next, Halt> {
    let mut next = Next::Payload;
    loop {
        let [tag_high, tag_low, high, low] = *walk.bytes.take()?;
        let value = walk.bytes;
        walk.bytes.skip(u16::from_be_bytes([high, low]).into())?;
        match u16::from_be_bytes([tag_high, tag_low]) {
            END => break,
            PROTOCOL_NAME => {
                let mut value = value;
                value.bound(u16::from_be_bytes([high, low]).into());
                next = named(value.rest());
            }
            _ => {}
        }
    }
    walk.data_at = Some(walk.bytes.at());
    Ok(match next {
        Next::EtherType(ether_type) => ethernet::data(walk, ether_type),
        next => next,
    })
}

/// What Wireshark's name for a protocol stands for; values are padded with zeros.
fn named(name: &[u8]) -> Next {
    match name.trim_ascii_end().split(|octet| *octet == 0).next() {
        Some(b"ip") => Next::EtherType(ipv4::ETHER_TYPE),
        Some(b"ipv6") => Next::EtherType(ipv6::ETHER_TYPE),
        Some(b"eth" | b"eth_withoutfcs" | b"eth_maybefcs") => Next::Link(ETHERNET),
        _ => Next::Payload,
    }
}

#[cfg(test)]
mod tests {
    use super::super::vectors::{assert_stop, assert_udp_link, read_link};
    use super::super::{StopReason, layer_path};

    #[test]
    fn carries_what_its_tag_names() {
        let path = "upper-pdu/ipv4/udp";
        assert_udp_link(252, "000c00046970000000000000 IU", path);
        assert_udp_link(252, "000c0002697000000000 IU", path);
        let others = "000c0004697076360014000401020304 00000000 I6";
        assert_udp_link(252, others, "upper-pdu/ipv6/udp");
        let frame = "000c000465746800 00000000 EU";
        assert_udp_link(252, frame, "upper-pdu/ethernet/ipv4/udp");
    }

    #[test]
    fn other_protocols_are_data() {
        let packet = read_link(252, "000c000473697000 00000000 01020304");
        assert_eq!(layer_path(&packet), "upper-pdu");
        assert_eq!((packet.network_at, packet.end_at), (12, 16));
    }

    #[test]
    fn tags_without_an_end_stop() {
        let packet = read_link(252, "000c00046970000000");
        assert_stop(&packet, "upper-pdu", StopReason::Truncated);
    }
}
