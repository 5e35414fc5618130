//! VN-Tag: the virtual interfaces of a fabric extender.
//!
//! Spec: Cisco's VN-Tag, as Wireshark's packet-vntag.c has it.
//!
//! ```text
//! |D|P|    destination (14)    |L|R|Ver|    source (12)    |  EtherType (16)  |
//! ```

use super::{Halt, Layer, Next, Packet, Parent, ProtocolFit, Walk, ethernet};

pub(super) static LAYER: Layer = Layer {
    name: "vntag",
    spec: "Cisco VN-Tag",
    parents: &[Parent::EtherType(0x8926)],
    fit: |_| ProtocolFit::Possible,
    decode,
};

fn decode(walk: &mut Walk<'_>, _: &mut Packet) -> Result<Next, Halt> {
    let [.., high, low] = *walk.bytes.take::<6>()?;
    Ok(ethernet::data(walk, u16::from_be_bytes([high, low])))
}

#[cfg(test)]
mod tests {
    use super::super::StopReason;
    use super::super::vectors::{assert_stop, assert_udp, read};

    #[test]
    fn is_passed() {
        let tag = "020000000002020000000001892692349abc";
        assert_udp(&format!("{tag} 0800 IU"), "ethernet/vntag/ipv4/udp", -1);
        let tagged = format!("{tag} 8100 0064 86dd I6");
        assert_udp(&tagged, "ethernet/vntag/vlan/ipv6/udp", -1);
    }

    #[test]
    fn half_a_tag_stops() {
        let packet = read("0200000000020200000000018926 92349abc");
        assert_stop(&packet, "ethernet/vntag", StopReason::Truncated);
    }
}
