//! Linux cooked capture, version 1.
//!
//! Spec: `LINKTYPE_LINUX_SLL`.
//!
//! ```text
//! |  packet type (16)  |  ARPHRD type (16)  |  address length (16)  |
//! |  address (64)      |  protocol (16)     |
//! ```

use super::{Halt, Layer, Next, Packet, Parent, ProtocolFit, Walk, ethernet};

pub(super) static LAYER: Layer = Layer {
    name: "sll",
    spec: "LINKTYPE_LINUX_SLL",
    parents: &[Parent::Link(113)],
    fit: |_| ProtocolFit::Possible,
    decode,
};

/// Protocol of LLC frames; what else is below an `EtherType` has no header that is known here.
const LLC: u16 = 0x0004;
const MIN_ETHER_TYPE: u16 = 1536;

fn decode(walk: &mut Walk<'_>, _: &mut Packet) -> Result<Next, Halt> {
    let [.., high, low] = *walk.bytes.take::<16>()?;
    Ok(data(walk, u16::from_be_bytes([high, low])))
}

/// What follows the header, by its protocol field.
pub(super) fn data(walk: &mut Walk<'_>, protocol: u16) -> Next {
    if protocol >= MIN_ETHER_TYPE {
        return ethernet::data(walk, protocol);
    }
    walk.data_at = Some(walk.bytes.at());
    if protocol == LLC {
        Next::Length
    } else {
        Next::Payload
    }
}

#[cfg(test)]
mod tests {
    use super::super::vectors::{assert_stop, assert_udp_link, read_link};
    use super::super::{StopReason, layer_path};

    #[test]
    fn carries_packets_and_tags() {
        assert_udp_link(113, "00000001000602000000000100000800 IU", "sll/ipv4/udp");
        let tagged = "0004000100060200000000010000810000640800 IU";
        assert_udp_link(113, tagged, "sll/vlan/ipv4/udp");
        assert_eq!(read_link(113, tagged).ethernet_at, usize::MAX);
    }

    #[test]
    fn carries_llc() {
        let packet = read_link(113, "00010001000602000000000100000004 42420300");
        assert_eq!(
            (layer_path(&packet).as_str(), packet.network_at),
            ("sll/llc", 16)
        );
    }

    #[test]
    fn other_protocols_are_data() {
        let packet = read_link(113, "00040338000000000000000000000010 01020304");
        assert_eq!(
            (layer_path(&packet).as_str(), packet.network_at),
            ("sll", 16)
        );
        assert_eq!(
            (packet.ether_type, packet.end_at, packet.stop),
            (0, 20, None)
        );
    }

    #[test]
    fn half_a_header_stops() {
        assert_stop(
            &read_link(113, "0000000100060200"),
            "sll",
            StopReason::Truncated,
        );
    }
}
