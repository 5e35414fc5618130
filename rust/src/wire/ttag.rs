//! Cisco's time tag of Nexus 9000 switches, between the MAC addresses and the `EtherType`.
//!
//! Spec: Cisco Nexus 9000 NX-OS, timestamp tagging; Wireshark's packet-ttag.c.
//!
//! ```text
//! |  ns (48)  |  EtherType (16)  |
//! ```
//!
//! Others use the `EtherType` 0x8988 too: what does not go on like a frame is left alone.

use super::{Carrier, Halt, Layer, Next, Packet, Parent, ProtocolFit, Walk, ethernet};

pub(super) static LAYER: Layer = Layer {
    name: "ttag",
    spec: "Cisco Nexus 9000 NX-OS, timestamp tagging",
    parents: &[Parent::EtherType(0x8988)],
    fit: |_| ProtocolFit::Possible,
    decode,
};

fn decode(walk: &mut Walk<'_>, packet: &mut Packet) -> Result<Next, Halt> {
    let at = walk.bytes.at();
    let [.., high, low] = *walk.bytes.take::<8>()?;
    let ether_type = u16::from_be_bytes([high, low]);
    if ethernet::fit_data(ether_type, walk.bytes) == ProtocolFit::No {
        return Err(Halt::Declined);
    }
    packet.note_carrier(Carrier::Ttag, at);
    Ok(ethernet::data(walk, ether_type))
}

#[cfg(test)]
mod tests {
    use super::super::vectors::{assert_stop, assert_udp, read};
    use super::super::{StopReason, layer_path};

    const TAG: &str = "0200000000020200000000018988 011f71fb04cb";

    #[test]
    fn is_passed() {
        assert_udp(&format!("{TAG} 0800 IU"), "ethernet/ttag/ipv4/udp", -1);
        let tagged = format!("{TAG} 8100 0064 86dd I6");
        assert_udp(&tagged, "ethernet/ttag/vlan/ipv6/udp", -1);
    }

    #[test]
    fn what_does_not_go_on_like_a_frame_is_left_alone() {
        let packet = read(&format!("{TAG} 0800 00000000000000000000000000000000"));
        assert_eq!(layer_path(&packet), "ethernet");
        assert_eq!((packet.carrier, packet.stop), (None, None));
        assert_eq!((packet.ether_type, packet.network_at), (0x8988, 14));
    }

    #[test]
    fn half_a_tag_stops() {
        let packet = read("0200000000020200000000018988 011f71fb");
        assert_stop(&packet, "ethernet/ttag", StopReason::Truncated);
    }
}
