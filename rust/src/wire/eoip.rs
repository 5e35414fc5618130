//! `MikroTik`'s Ethernet over IP: GRE of version 1 with a key of its own.
//!
//! Spec: `MikroTik`'s protocol, as the implementations of Nat-Lab and bbonev have it.
//!
//! ```text
//! |1|  0 (12)  |Ver=1|  0x6400  |  length (16)  |  tunnel id (16, little-endian)  |
//! ```

use super::{Halt, Layer, Next, Packet, Parent, ProtocolFit, Walk, ethernet};

pub(super) const PROTOCOL: u16 = 0x6400;

pub(super) static LAYER: Layer = Layer {
    name: "eoip",
    spec: "MikroTik EoIP",
    parents: &[Parent::GreProtocol(PROTOCOL)],
    fit: |_| ProtocolFit::Possible,
    decode,
};

/// The flags and version it has, and GRE of version 0 has not.
const FLAGS: [u8; 2] = [0x20, 0x01];

fn decode(walk: &mut Walk<'_>, _: &mut Packet) -> Result<Next, Halt> {
    if walk.bytes.back_at(walk.parent_at).peek() != Ok(&FLAGS) {
        return Err(Halt::Declined);
    }
    let [high, low, tunnel_id @ ..] = *walk.bytes.take::<4>()?;
    walk.bytes.bound(u16::from_be_bytes([high, low]).into());
    walk.tunnel_id = u16::from_le_bytes(tunnel_id).into();
    Ok(Next::Inside(ethernet::BRIDGED))
}

#[cfg(test)]
mod tests {
    use super::super::layer_path;
    use super::super::vectors::{assert_udp, read};

    const OUTER: &str = "02000000000d02000000000c08004500004812344000402fa44fc0000201c0000202";

    #[test]
    fn carries_frames() {
        let path = "ethernet/ipv4/gre/eoip/ethernet/ipv4/udp";
        assert_udp(&format!("{OUTER} 20016400 002c4d00 EU"), path, 77);
    }

    #[test]
    fn a_keepalive_is_the_carriers() {
        let outer = OUTER.replace("45000048", "4500001c");
        let packet = read(&format!("{outer} 20016400 00004d00"));
        assert_eq!(layer_path(&packet), "ethernet/ipv4/gre/eoip");
        assert_eq!((packet.tunnel_id, packet.stop), (-1, None));
    }

    #[test]
    fn another_version_is_left_alone() {
        let packet = read(&format!("{OUTER} 20006400 002c4d00 EU"));
        assert_eq!(layer_path(&packet), "ethernet/ipv4/gre");
    }
}
