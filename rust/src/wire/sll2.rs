//! Linux cooked capture, version 2: with the interface, without the VLAN tag.
//!
//! Spec: `LINKTYPE_LINUX_SLL2`.
//!
//! ```text
//! |  protocol (16)  |  reserved (16)     |  interface index (32)                          |
//! |  ARPHRD (16)    |  packet type (8)   |  address length (8)   |  address (64)          |
//! ```

use super::{Halt, Layer, Next, Packet, Parent, ProtocolFit, Walk, sll};

pub(super) static LAYER: Layer = Layer {
    name: "sll2",
    spec: "LINKTYPE_LINUX_SLL2",
    parents: &[Parent::Link(276)],
    fit: |_| ProtocolFit::Possible,
    decode,
};

fn decode(walk: &mut Walk<'_>, _: &mut Packet) -> Result<Next, Halt> {
    let [high, low, ..] = *walk.bytes.take::<20>()?;
    Ok(sll::data(walk, u16::from_be_bytes([high, low])))
}

#[cfg(test)]
mod tests {
    use super::super::StopReason;
    use super::super::vectors::{assert_stop, assert_udp_link, read_link};

    #[test]
    fn carries_packets() {
        assert_udp_link(
            276,
            "0800000000000007000104060200000000010000 IU",
            "sll2/ipv4/udp",
        );
        assert_udp_link(
            276,
            "86dd000000000001030400060000000000000000 I6",
            "sll2/ipv6/udp",
        );
    }

    #[test]
    fn half_a_header_stops() {
        assert_stop(
            &read_link(276, "08000000000000070001"),
            "sll2",
            StopReason::Truncated,
        );
    }
}
