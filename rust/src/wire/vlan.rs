//! VLAN tags, one or several (`QinQ`).
//!
//! Spec: IEEE 802.1Q §9.6; the older outer tags of 0x9100 and 0x9200 look the same.
//!
//! ```text
//! |  (tag protocol, passed already)  |  PCP (3)  | DEI (1) |  VID (12)  |  EtherType (16)  |
//! ```

use super::prediction::{HeaderRole, Predictable};
use super::{Halt, Layer, Next, Packet, Parent, ProtocolFit, Walk, ethernet};

pub(super) static LAYER: Layer = Layer {
    name: "vlan",
    spec: "IEEE 802.1Q §9.6",
    parents: &[
        Parent::EtherType(0x8100),
        Parent::EtherType(0x88A8),
        Parent::EtherType(0x9100),
        Parent::EtherType(0x9200),
    ],
    fit: |_| ProtocolFit::Possible,
    decode,
};

pub(super) static PREDICTABLE: Predictable = Predictable {
    layer: &LAYER,
    role: HeaderRole::Link,
    decisive: &[0, 0, 0xff, 0xff],
    n_bytes: |_| Some(4),
    length: None,
    read: |_, _, _| (),
};

pub(super) fn is_tag(ether_type: u16) -> bool {
    matches!(ether_type, 0x8100 | 0x88A8 | 0x9100 | 0x9200)
}

fn decode(walk: &mut Walk<'_>, _: &mut Packet) -> Result<Next, Halt> {
    let [_, _, high, low] = *walk.bytes.take::<4>()?;
    Ok(ethernet::data(walk, u16::from_be_bytes([high, low])))
}

#[cfg(test)]
mod tests {
    use super::super::StopReason;
    use super::super::vectors::{assert_stop, assert_udp, read, read_cut};
    use super::*;

    #[test]
    fn its_parents_are_its_tags() {
        for parent in LAYER.parents {
            assert!(
                matches!(parent, Parent::EtherType(tag) if is_tag(*tag)),
                "{parent:?}"
            );
        }
    }

    #[test]
    fn one_tag() {
        assert_udp(
            "0200000000020200000000018100b0640800 IU",
            "ethernet/vlan/ipv4/udp",
            -1,
        );
        assert_udp(
            "0200000000020200000000018100a0000800 IU",
            "ethernet/vlan/ipv4/udp",
            -1,
        );
    }

    #[test]
    fn two_tags_of_every_kind() {
        for tag in ["88a8", "8100", "9100", "9200"] {
            let text = format!("020000000002020000000001{tag}00c8810000640800 IU");
            assert_udp(&text, "ethernet/vlan/vlan/ipv4/udp", -1);
        }
    }

    #[test]
    fn data_start_after_the_last_tag() {
        let packet = read("02000000000202000000000181000064810000c888b5 0102");
        assert_eq!(
            (packet.ether_type, packet.network_at, packet.end_at),
            (0x88b5, 22, 24)
        );
    }

    #[test]
    fn half_a_tag_stops() {
        let text = "0200000000020200000000018100b064";
        assert_stop(&read(text), "ethernet/vlan", StopReason::Truncated);
        assert_stop(
            &read_cut(&format!("{text}0800 IU"), 16),
            "ethernet/vlan",
            StopReason::SnapLength,
        );
    }
}
