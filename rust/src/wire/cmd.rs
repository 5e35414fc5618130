//! Cisco metadata: the security group of a frame, or of a packet in GRE.
//!
//! Spec: Cisco `TrustSec`, as Wireshark's packet-cisco-metadata.c has it.
//!
//! ```text
//! |  version (8)  |  length (8)  |  option (16)  |  group tag (16)  |  EtherType (16)  |
//! ```
//!
//! In GRE the `EtherType` comes first.

use super::{Halt, Layer, Next, Packet, Parent, ProtocolFit, Walk, ethernet};

pub(super) static LAYER: Layer = Layer {
    name: "cmd",
    spec: "Cisco TrustSec",
    parents: &[Parent::EtherType(0x8909)],
    fit: |_| ProtocolFit::Possible,
    decode,
};

fn decode(walk: &mut Walk<'_>, _: &mut Packet) -> Result<Next, Halt> {
    let [first, second, .., high, low] = *walk.bytes.take::<8>()?;
    if walk.data_at.is_some() {
        return Ok(ethernet::data(walk, u16::from_be_bytes([high, low])));
    }
    walk.ether_type = u16::from_be_bytes([first, second]);
    Ok(Next::Inside(walk.ether_type))
}

#[cfg(test)]
mod tests {
    use super::super::StopReason;
    use super::super::vectors::{assert_stop, assert_udp, read};

    #[test]
    fn is_passed() {
        let tag = "0200000000020200000000018909 010100010064";
        assert_udp(&format!("{tag} 0800 IU"), "ethernet/cmd/ipv4/udp", -1);
        let tagged = format!("{tag} 8100 0064 86dd I6");
        assert_udp(&tagged, "ethernet/cmd/vlan/ipv6/udp", -1);
    }

    #[test]
    fn in_gre() {
        let outer = "02000000000d02000000000c08004500003e12344000402fa459c0000201c0000202";
        let text = format!("{outer} 00008909 0800 010100010064 IU");
        assert_udp(&text, "ethernet/ipv4/gre/cmd/ipv4/udp", -1);
    }

    #[test]
    fn half_a_tag_stops() {
        let packet = read("0200000000020200000000018909 01010001");
        assert_stop(&packet, "ethernet/cmd", StopReason::Truncated);
    }
}
