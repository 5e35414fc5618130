//! Teredo: IPv6 in UDP, through address translation.
//!
//! Spec: RFC 4380 §5.1.1.
//!
//! ```text
//! |  0001  |  id length (8)  |  value length (8)  |  id, value  |  nonce (64)  |  confirmation (8)
//! |  0000  |  port (16)  |  address (32)  |                        either, or both in this order
//! ```

use super::{Halt, Layer, Next, Packet, Parent, ProtocolFit, Walk, ipv6};

pub(super) static LAYER: Layer = Layer {
    name: "teredo",
    spec: "RFC 4380 §5.1.1",
    parents: &[Parent::UdpDst(PORT), Parent::UdpSrc(PORT)],
    fit: |_| ProtocolFit::Possible,
    decode,
};

const PORT: u16 = 3544;
const NONCE_AND_CONFIRMATION_BYTES: usize = 9;
const ORIGIN_BYTES: usize = 8;

fn decode(walk: &mut Walk<'_>, _: &mut Packet) -> Result<Next, Halt> {
    if let Ok([0, 1, n_id, n_value]) = walk.bytes.peek() {
        let n_bytes = usize::from(*n_id) + usize::from(*n_value) + NONCE_AND_CONFIRMATION_BYTES;
        walk.bytes.skip(4 + n_bytes)?;
    }
    if let Ok([0, 0]) = walk.bytes.peek() {
        walk.bytes.skip(ORIGIN_BYTES)?;
    }
    walk.bytes.peek::<1>()?;
    walk.tunnel_id = -1;
    walk.ether_type = ipv6::ETHER_TYPE;
    Ok(Next::Inside(ipv6::ETHER_TYPE))
}

#[cfg(test)]
mod tests {
    use super::super::vectors::{assert_stop, assert_udp, frame, read, read_cut};
    use super::super::{StopReason, layer_path};

    fn with(ports: &str, payload: &str) -> String {
        let n_udp = 8 + frame(payload).len();
        format!(
            "02000000000d02000000000c0800 4500{:04x} 12344000 40110000 c0000201c0000202 \
             {ports}{n_udp:04x}0000 {payload}",
            20 + n_udp
        )
    }

    #[test]
    fn carries_ipv6_to_and_from_its_port() {
        let path = "ethernet/ipv4/udp/teredo/ipv6/udp";
        for ports in ["c3500dd8", "0dd8c350"] {
            assert_udp(&with(ports, "I6"), path, -1);
            assert_udp(&with(ports, "000063bf3ffffdf6 I6"), path, -1);
            assert_udp(&with(ports, "00010000000000000000000000 I6"), path, -1);
            let both = "00010201 010203 000000000000000000 000063bf3ffffdf6 I6";
            assert_udp(&with(ports, both), path, -1);
        }
    }

    #[test]
    fn another_protocol_on_its_port_is_plain_udp() {
        for payload in ["IU", "00", "00010000", "ffffffff"] {
            let packet = read(&with("c3500dd8", payload));
            assert_eq!(layer_path(&packet), "ethernet/ipv4/udp", "{payload}");
            assert_eq!(packet.stop, None);
        }
    }

    #[test]
    fn a_cut_header_stops() {
        let cut = read_cut(&with("c3500dd8", "00010000000000000000000000 I6"), 50);
        assert_stop(&cut, "ethernet/ipv4/udp/teredo", StopReason::SnapLength);
    }
}
