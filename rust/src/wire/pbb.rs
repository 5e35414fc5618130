//! Provider backbone bridging: the customer's frame behind a service tag.
//!
//! Spec: IEEE 802.1Q §9.7 (I-TAG).
//!
//! ```text
//! |  PCP (3)  | DEI (1) | UCA (1) |  reserved (3)  |  service id (24)  |  frame  |
//! ```

use super::{Halt, Layer, Next, Packet, Parent, ProtocolFit, Walk, ethernet};
use crate::base::cursor::be;

pub(super) static LAYER: Layer = Layer {
    name: "pbb",
    spec: "IEEE 802.1Q §9.7",
    parents: &[Parent::EtherType(0x88E7)],
    fit: |_| ProtocolFit::Possible,
    decode,
};

fn decode(walk: &mut Walk<'_>, _: &mut Packet) -> Result<Next, Halt> {
    let [_, service @ ..] = *walk.bytes.take::<4>()?;
    walk.tunnel_id = be(&service).into();
    Ok(Next::Inside(ethernet::BRIDGED))
}

#[cfg(test)]
mod tests {
    use super::super::StopReason;
    use super::super::vectors::{assert_stop, assert_udp, read};

    const OUTER: &str = "02000000000d02000000000c";

    #[test]
    fn carries_frames() {
        let path = "ethernet/pbb/ethernet/ipv4/udp";
        assert_udp(&format!("{OUTER} 88e700123456 EU"), path, 0x12_3456);
        let tagged = format!("{OUTER} 88a80064 88e778123456 EU");
        let path = "ethernet/vlan/pbb/ethernet/ipv4/udp";
        assert_udp(&tagged, path, 0x12_3456);
    }

    #[test]
    fn half_a_tag_stops() {
        let packet = read(&format!("{OUTER} 88e70012"));
        assert_stop(&packet, "ethernet/pbb", StopReason::Truncated);
    }
}
