//! The authentication header of `IPsec`: it hides nothing, so what it protects is the packet.
//!
//! Spec: RFC 4302 §2.
//!
//! ```text
//! |  Next Header  | Payload Len   |           RESERVED            |
//! |                 Security Parameters Index (SPI)               |
//! |                    Sequence Number Field                      |
//! |                Integrity Check Value-ICV (variable)           |
//! ```

use super::{Halt, Layer, Next, Packet, Parent, ProtocolFit, Walk};

pub(super) static LAYER: Layer = Layer {
    name: "ah",
    spec: "RFC 4302 §2",
    parents: &[Parent::IpProtocol(51)],
    fit: |_| ProtocolFit::Possible,
    decode,
};

/// The length counts words and leaves out two.
const UNCOUNTED_WORDS: usize = 2;
const MIN_BYTES: usize = 12;

fn decode(walk: &mut Walk<'_>, packet: &mut Packet) -> Result<Next, Halt> {
    let [next_header, n_words] = *walk.bytes.peek()?;
    let n_bytes = (usize::from(n_words) + UNCOUNTED_WORDS) * 4;
    if n_bytes < MIN_BYTES {
        return Err(Halt::Malformed);
    }
    walk.bytes.skip(n_bytes)?;
    packet.protocol = next_header.into();
    packet.transport_at = walk.bytes.at();
    let n_passed = u32::try_from(n_bytes).unwrap_or(u32::MAX);
    packet.transport_wire_bytes = packet.transport_wire_bytes.saturating_sub(n_passed);
    Ok(Next::IpProtocol(next_header))
}

#[cfg(test)]
mod tests {
    use super::super::vectors::{assert_stop, assert_udp, frame, read, read_cut};
    use super::super::{StopReason, layer_path};

    const HEADER: &str = "04000000001111 00000007 aaaaaaaaaaaaaaaaaaaaaaaa";

    #[test]
    fn in_transport_mode() {
        let text = concat!(
            "02000000000d02000000000c080045000036123440004033a45dc0000201c0000202",
            "110400000000111100000007aaaaaaaaaaaaaaaaaaaaaaaa 9c409c41000a0000dead"
        );
        let packet = read(text);
        assert_eq!(layer_path(&packet), "ethernet/ipv4/ah/udp");
        assert_eq!((packet.protocol, packet.src_port), (17, 40_000));
        assert_eq!((packet.transport_wire_bytes, packet.stop), (10, None));
        assert_eq!(packet.transport(&frame(text)).len(), 10);
    }

    #[test]
    fn in_tunnel_mode() {
        let fourth = format!(
            "02000000000d02000000000c08004500004a123440004033a449c0000201c0000202 04{HEADER} IU",
        );
        assert_udp(
            &fourth.replace("0404000000001111", "040400000000 1111"),
            PATH_4,
            -1,
        );
        let sixth = concat!(
            "02000000000d02000000000c86dd60000000004a334020010db8000100000000000000000001",
            "20010db8000100000000000000000002290400000000111100000007aaaaaaaaaaaaaaaaaaaaaaaa I6"
        );
        assert_udp(sixth, "ethernet/ipv6/ah/ipip/ipv6/udp", -1);
    }

    const PATH_4: &str = "ethernet/ipv4/ah/ipip/ipv4/udp";

    #[test]
    fn bad_lengths_stop() {
        let outer = "02000000000d02000000000c08004500003c123440004033a45dc0000201c0000202";
        let path = "ethernet/ipv4/ah";
        let none = read(&format!("{outer} 11000000 00001111 00000007"));
        assert_stop(&none, path, StopReason::Malformed);
        let long = read(&format!("{outer} 11ff0000 00001111 00000007"));
        assert_stop(&long, path, StopReason::Truncated);
        let cut = read_cut(
            &format!(
                "{outer} 1104000000001111 00000007aaaaaaaa{}",
                "00".repeat(24)
            ),
            40,
        );
        assert_stop(&cut, path, StopReason::SnapLength);
    }
}
