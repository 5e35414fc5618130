//! `WireGuard`: encrypted, so the packet is the UDP that carries it. Receiver and counter, which tell
//! its packets apart, are among the layer-4 bytes that identities are made of.
//!
//! Spec: Donenfeld, `WireGuard` §5.4 (2020).
//!
//! ```text
//! |  type (8)  |  reserved (24)  |  receiver (32)  |  counter (64)  |     type 4: data
//! ```

use super::{Halt, Layer, Next, Packet, Parent, ProtocolFit, Walk};

pub(super) static LAYER: Layer = Layer {
    name: "wireguard",
    spec: "WireGuard §5.4",
    parents: &[Parent::UdpDst(51_820), Parent::UdpSrc(51_820)],
    fit: |_| ProtocolFit::Possible,
    decode,
};

fn decode(walk: &mut Walk<'_>, _: &mut Packet) -> Result<Next, Halt> {
    match *walk.bytes.take()? {
        // Two messages of the handshake, a cookie, data: §5.4.2, §5.4.3, §5.4.7, §5.4.6.
        [kind, 0, 0, 0] if has_length(kind, walk.bytes.wire_left() + 4) => Ok(Next::Payload),
        _ => Err(Halt::Declined),
    }
}

fn has_length(kind: u8, n_bytes: usize) -> bool {
    match kind {
        1 => n_bytes == 148,
        2 => n_bytes == 92,
        3 => n_bytes == 64,
        4 => n_bytes >= 32 && n_bytes.is_multiple_of(16),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::super::layer_path;
    use super::super::vectors::{read, read_cut};

    const OUTER: &str = "02000000000d02000000000c08004500004c123440004011a469c0000201c0000202 \
                         c350ca6c00380000";
    const DATA: &str = "04000000 efbeadde 2a00000000000000 \
                        0000000000000000000000000000000000000000000000000000000000000000";

    #[test]
    fn is_read_to_its_header() {
        let text = format!("{OUTER} {DATA}");
        assert_eq!(layer_path(&read(&text)), "ethernet/ipv4/udp/wireguard");
        assert_eq!(read(&text).stop, None);
    }

    #[test]
    fn a_cut_frame_is_still_known() {
        let cut = read_cut(&format!("{OUTER} {DATA}"), 60);
        assert_eq!(layer_path(&cut), "ethernet/ipv4/udp/wireguard");
    }

    #[test]
    fn another_protocol_on_its_port_is_plain_udp() {
        for data in [
            DATA.replace("04000000", "04000100"),
            DATA.replace("04000000", "05000000"),
            DATA.replace("04000000", "01000000"),
        ] {
            let packet = read(&format!("{OUTER} {data}"));
            assert_eq!(layer_path(&packet), "ethernet/ipv4/udp");
            assert_eq!((packet.dst_port, packet.stop), (51_820, None));
        }
    }
}
