//! ESP: encrypted, so the packet is the one that carries it. Index and sequence number, which tell
//! its packets apart, are the first of the layer-4 bytes that identities are made of.
//!
//! Spec: RFC 4303 §2; RFC 3948 §2 over UDP, where an index of 0 marks key exchange.
//!
//! ```text
//! |               Security Parameters Index (SPI)                 |
//! |                      Sequence Number                          |
//! ```

use super::{Halt, Layer, Next, Packet, Parent, ProtocolFit, Walk};

pub(super) static LAYER: Layer = Layer {
    name: "esp",
    spec: "RFC 4303 §2",
    parents: &[
        Parent::IpProtocol(50),
        Parent::UdpDst(4500),
        Parent::UdpSrc(4500),
    ],
    fit: |_| ProtocolFit::Possible,
    decode,
};

fn decode(walk: &mut Walk<'_>, _: &mut Packet) -> Result<Next, Halt> {
    match walk.bytes.take::<8>()? {
        [0, 0, 0, 0, ..] => Err(Halt::Declined),
        _ => Ok(Next::Payload),
    }
}

#[cfg(test)]
mod tests {
    use super::super::vectors::{assert_stop, read, read_cut};
    use super::super::{StopReason, layer_path};

    const PLAIN: &str = "02000000000d02000000000c080045000034123440004032a460c0000201c0000202";
    const IN_UDP: &str = "02000000000d02000000000c08004500003c123440004011a479c0000201c0000202 \
                          1194119400280000";
    const ZEROS: &str = "00000000000000000000000000000000 00000000";

    #[test]
    fn is_read_over_ip_and_udp() {
        for (outer, path) in [
            (PLAIN, "ethernet/ipv4/esp"),
            (IN_UDP, "ethernet/ipv4/udp/esp"),
        ] {
            let text = format!("{outer} 0000abcd00000009 {ZEROS}{ZEROS}");
            assert_eq!(layer_path(&read(&text)), path);
            assert_eq!(read(&text).stop, None);
        }
    }

    #[test]
    fn key_exchange_and_keepalives_are_plain_udp() {
        for payload in ["00000000 0000000000000001", "ff"] {
            let packet = read(&format!("{IN_UDP} {payload}"));
            assert_eq!(layer_path(&packet), "ethernet/ipv4/udp");
            assert_eq!((packet.dst_port, packet.stop), (4500, None));
        }
    }

    #[test]
    fn a_cut_header_stops() {
        let text = format!("{PLAIN} 0000abcd00000009 {ZEROS}");
        assert_stop(
            &read_cut(&text, 40),
            "ethernet/ipv4/esp",
            StopReason::SnapLength,
        );
    }
}
