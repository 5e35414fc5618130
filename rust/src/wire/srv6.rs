//! Frames in IPv6, as segment routing carries them: the tunnel has no header of its own. The routing
//! header before it is passed with IPv6's other extension headers; packets in it are IP in IP.
//!
//! Spec: RFC 8986 §9 (protocol 143); RFC 8754 §2 for the routing header.

use super::{Halt, Layer, Next, Packet, Parent, ProtocolFit, Walk, ethernet};

pub(super) static LAYER: Layer = Layer {
    name: "srv6",
    spec: "RFC 8986 §9",
    parents: &[Parent::IpProtocol(143)],
    fit: |_| ProtocolFit::Possible,
    decode,
};

#[expect(clippy::unnecessary_wraps, reason = "the signature of every layer")]
fn decode(walk: &mut Walk<'_>, _: &mut Packet) -> Result<Next, Halt> {
    walk.tunnel_id = -1;
    Ok(Next::Inside(ethernet::BRIDGED))
}

#[cfg(test)]
mod tests {
    use super::super::layer_path;
    use super::super::vectors::{assert_udp, read};

    const MACS: &str = "02000000000d02000000000c86dd";
    const ADDRESSES: &str = "20010db800010000000000000000000120010db8000100000000000000000002";
    const SEGMENTS: &str = "20010db800010000000000000000000220010db8000900000000000000000001";

    fn with(n_payload: &str, routing: &str, inner: &str) -> String {
        format!("{MACS} 60000000{n_payload}2b40 {ADDRESSES} {routing} {SEGMENTS} {inner}")
    }

    #[test]
    fn carries_frames_and_packets() {
        let frame = with("0054", "8f04040001000000", "EU");
        assert_udp(&frame, "ethernet/ipv6/srv6/ethernet/ipv4/udp", -1);
        let fourth = with("0046", "0404040101000000", "IU");
        assert_udp(&fourth, "ethernet/ipv6/ipip/ipv4/udp", -1);
        let sixth = with("005a", "2904040001000000", "I6");
        assert_udp(&sixth, "ethernet/ipv6/ipip/ipv6/udp", -1);
    }

    #[test]
    fn what_is_no_frame_is_the_carriers() {
        let packet = read(&with("002c", "8f04040001000000", "01020304"));
        assert_eq!(layer_path(&packet), "ethernet/ipv6/srv6");
        assert_eq!((packet.protocol, packet.depth, packet.stop), (143, 0, None));
    }
}
