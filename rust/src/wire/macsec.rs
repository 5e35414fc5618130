//! `MACsec`: frames that are authenticated, and mostly encrypted.
//!
//! Spec: IEEE 802.1AE §9.3. What is encrypted stays data of the frame; its packet number, the first
//! of them that changes, tells frames apart.
//!
//! ```text
//! |V|ES|SC|SCB|E|C|AN|  short length (8)  |  packet number (32)  |  channel (64, if SC)  |
//! |  EtherType (16), and what follows it, if neither E nor C  |  check value (128)  |
//! ```

use super::{Halt, Layer, Next, Packet, Parent, ProtocolFit, Walk, ethernet};

pub(super) static LAYER: Layer = Layer {
    name: "macsec",
    spec: "IEEE 802.1AE §9.3",
    parents: &[Parent::EtherType(0x88E5)],
    fit: |_| ProtocolFit::Possible,
    decode,
};

const HAS_CHANNEL: u8 = 0x20;
const IS_CHANGED: u8 = 0x0C;
const CHECK_BYTES: usize = 16;

fn decode(walk: &mut Walk<'_>, _: &mut Packet) -> Result<Next, Halt> {
    let [flags, ..] = *walk.bytes.take::<6>()?;
    if flags & HAS_CHANNEL != 0 {
        walk.bytes.skip(8)?;
    }
    if flags & IS_CHANGED != 0 {
        return Ok(Next::Payload);
    }
    let n_data = walk.bytes.wire_left().saturating_sub(CHECK_BYTES);
    walk.bytes.bound(n_data);
    let ether_type = u16::from_be_bytes(*walk.bytes.take()?);
    Ok(ethernet::data(walk, ether_type))
}

#[cfg(test)]
mod tests {
    use super::super::vectors::{assert_stop, assert_udp, read};
    use super::super::{StopReason, layer_path};

    const CHECK: &str = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb";

    #[test]
    fn authenticated_is_passed() {
        let tag = "02000000000202000000000188e5 2000112233440200000000aa0001";
        let path = "ethernet/macsec/ipv4/udp";
        assert_udp(&format!("{tag} 0800 IU {CHECK}"), path, -1);
        let short = "02000000000202000000000188e5 000011223344";
        assert_udp(&format!("{short} 0800 IU {CHECK}"), path, -1);
    }

    #[test]
    fn encrypted_is_data_with_its_packet_number() {
        let packet = read("02000000000202000000000188e5 0c0011223344 aaaaaaaaaaaa");
        assert_eq!(layer_path(&packet), "ethernet/macsec");
        assert_eq!(
            (packet.ip_version, packet.network_at, packet.stop),
            (0, 14, None)
        );
    }

    #[test]
    fn half_a_tag_stops() {
        let packet = read("02000000000202000000000188e5 200011223344 0200");
        assert_stop(&packet, "ethernet/macsec", StopReason::Truncated);
    }
}
