//! Cisco's HDLC: an address, and an `EtherType`.
//!
//! Spec: RFC 1547 §4.3.1; `LINKTYPE_C_HDLC`.
//!
//! ```text
//! |  address (8): 0F unicast, 8F broadcast  |  control (8)  |  EtherType (16)  |
//! ```

use super::{Halt, Layer, Next, Packet, Parent, ProtocolFit, Walk, ethernet};
use crate::base::cursor::Cursor;

pub(super) const LINK: u16 = 104;

pub(super) static LAYER: Layer = Layer {
    name: "chdlc",
    spec: "RFC 1547 §4.3.1",
    parents: &[Parent::Link(LINK)],
    fit: |_| ProtocolFit::Possible,
    decode,
};

pub(super) fn is_address(bytes: Cursor<'_>) -> bool {
    matches!(bytes.peek(), Ok([0x0F | 0x8F]))
}

fn decode(walk: &mut Walk<'_>, _: &mut Packet) -> Result<Next, Halt> {
    let [_, _, high, low] = *walk.bytes.take()?;
    Ok(ethernet::data(walk, u16::from_be_bytes([high, low])))
}

#[cfg(test)]
mod tests {
    use super::super::vectors::{assert_stop, assert_udp_link, read_link};
    use super::super::{StopReason, layer_path};

    #[test]
    fn carries_ip() {
        assert_udp_link(104, "0f000800 IU", "chdlc/ipv4/udp");
        assert_udp_link(104, "8f0086dd I6", "chdlc/ipv6/udp");
    }

    #[test]
    fn keepalives_are_data() {
        let packet = read_link(104, "8f008035 00000002 00000001 00000000 ffff");
        assert_eq!(layer_path(&packet), "chdlc");
        assert_eq!((packet.ether_type, packet.network_at), (0x8035, 4));
    }

    #[test]
    fn half_a_header_stops() {
        assert_stop(&read_link(104, "0f00"), "chdlc", StopReason::Truncated);
    }
}
