//! E-TAG: the virtual ports of a bridge port extender.
//!
//! Spec: IEEE 802.1BR §7.5.
//!
//! ```text
//! |PCP|DEI| ingress id (12) |  00  |GRP|  id (12)  |  extensions (8, 8)  |  EtherType (16)  |
//! ```

use super::{Halt, Layer, Next, Packet, Parent, ProtocolFit, Walk, ethernet};

pub(super) static LAYER: Layer = Layer {
    name: "etag",
    spec: "IEEE 802.1BR §7.5",
    parents: &[Parent::EtherType(0x893F)],
    fit: |_| ProtocolFit::Possible,
    decode,
};

fn decode(walk: &mut Walk<'_>, _: &mut Packet) -> Result<Next, Halt> {
    let [.., high, low] = *walk.bytes.take::<8>()?;
    Ok(ethernet::data(walk, u16::from_be_bytes([high, low])))
}

#[cfg(test)]
mod tests {
    use super::super::StopReason;
    use super::super::vectors::{assert_stop, assert_udp, read};

    const OUTER: &str = "020000000002020000000001893f";

    #[test]
    fn is_passed() {
        let text = format!("{OUTER} b12324560708 0800 IU");
        assert_udp(&text, "ethernet/etag/ipv4/udp", -1);
    }

    #[test]
    fn half_a_tag_stops() {
        let packet = read(&format!("{OUTER} b1232456"));
        assert_stop(&packet, "ethernet/etag", StopReason::Truncated);
    }
}
