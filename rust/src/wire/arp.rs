//! ARP: a packet of its own, without IP addresses as far as matching is concerned.
//!
//! Spec: RFC 826.
//!
//! ```text
//! |  hardware (16)  |  protocol (16)  |  sizes (8, 8)  |  operation (16)  |  addresses  |
//! ```

use super::{Halt, Layer, Next, Packet, Parent, ProtocolFit, Walk};
use crate::base::cursor::Cursor;

pub(super) const ETHER_TYPE: u16 = 0x0806;

pub(super) static LAYER: Layer = Layer {
    name: "arp",
    spec: "RFC 826",
    parents: &[Parent::EtherType(ETHER_TYPE)],
    fit,
    decode,
};

fn decode(walk: &mut Walk<'_>, _: &mut Packet) -> Result<Next, Halt> {
    if walk.data_at.is_none() {
        walk.data_at = Some(walk.bytes.at());
        walk.ether_type = ETHER_TYPE;
    }
    walk.bytes.peek::<8>()?;
    Ok(Next::Payload)
}

pub(super) fn fit(bytes: Cursor<'_>) -> ProtocolFit {
    match bytes.peek::<8>() {
        // Ethernet and IPv4, with addresses of 6 and 4 octets.
        Ok([0, 1, 8, 0, 6, 4, ..]) => ProtocolFit::Sure,
        Err(short) if !bytes.is_cut_within(short.n_needed as usize) => ProtocolFit::No,
        _ => ProtocolFit::Possible,
    }
}

#[cfg(test)]
mod tests {
    use super::super::vectors::{assert_stop, read};
    use super::super::{StopReason, layer_path};

    const REQUEST: &str = "0001080006040001 020000000001 0a000001 000000000000 0a000002";

    #[test]
    fn is_a_packet_without_ip() {
        let packet = read(&format!("ffffffffffff0200000000010806 {REQUEST}"));
        assert_eq!(layer_path(&packet), "ethernet/arp");
        assert_eq!(
            (packet.ether_type, packet.ip_version, packet.src, packet.dst),
            (0x0806, 0, 0, 0)
        );
        assert_eq!(
            (packet.network_at, packet.transport_at, packet.end_at),
            (14, 14, 42)
        );
        assert_eq!(
            (packet.protocol, packet.src_port, packet.stop),
            (-1, -1, None)
        );
    }

    #[test]
    fn takes_the_place_of_the_tunnel_that_carries_it() {
        let packet = read(&format!(
            concat!(
                "02000000000d02000000000c08004500004e123440004011a467c0000201c0000202",
                "c35012b5003a0000 0800000012345600 ffffffffffff0200000000010806 {}"
            ),
            REQUEST
        ));
        assert_eq!(layer_path(&packet), "ethernet/ipv4/udp/vxlan/ethernet/arp");
        assert_eq!(
            (
                packet.ip_version,
                packet.src,
                packet.protocol,
                packet.src_port
            ),
            (0, 0, -1, -1)
        );
        assert_eq!(
            (packet.tunnel_id, packet.depth, packet.outer_ip_id),
            (0x12_3456, 1, 0x1234)
        );
        assert_eq!((packet.ip_id, packet.ttl, packet.ethernet_at), (0, 0, 50));
    }

    #[test]
    fn goes_through_gre() {
        let packet = read(&format!(
            "02000000000d02000000000c08004500003412344000402fa463c0000201c0000202 00000806 {REQUEST}"
        ));
        assert_eq!(layer_path(&packet), "ethernet/ipv4/gre/arp");
        assert_eq!(
            (packet.ether_type, packet.network_at, packet.depth),
            (0x0806, 38, 1)
        );
    }

    #[test]
    fn half_a_header_stops() {
        assert_stop(
            &read("ffffffffffff0200000000010806 00010800"),
            "ethernet/arp",
            StopReason::Truncated,
        );
    }
}
