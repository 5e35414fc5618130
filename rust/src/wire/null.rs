//! BSD loopback: an address family in front, in the byte order of the capturing host.
//!
//! Spec: `LINKTYPE_NULL`; `LINKTYPE_LOOP` is the same in network byte order.

use super::{Halt, Layer, Next, Packet, Parent, ProtocolFit, Walk, ethernet, ipv4, ipv6};

pub(super) static LAYER: Layer = Layer {
    name: "null",
    spec: "LINKTYPE_NULL",
    parents: &[Parent::Link(0), Parent::Link(108)],
    fit: |_| ProtocolFit::Possible,
    decode,
};

fn decode(walk: &mut Walk<'_>, _: &mut Packet) -> Result<Next, Halt> {
    let family = *walk.bytes.take::<4>()?;
    let family = u32::from_be_bytes(family).min(u32::from_le_bytes(family));
    Ok(match family {
        2 => ethernet::data(walk, ipv4::ETHER_TYPE),
        // NetBSD and OpenBSD, FreeBSD, Darwin.
        24 | 28 | 30 => ethernet::data(walk, ipv6::ETHER_TYPE),
        _ => {
            walk.data_at = Some(walk.bytes.at());
            Next::Payload
        }
    })
}

#[cfg(test)]
mod tests {
    use super::super::vectors::{assert_stop, assert_udp_link, read_link};
    use super::super::{StopReason, layer_path};

    #[test]
    fn in_either_byte_order() {
        for family in ["02000000 IU", "00000002 IU"] {
            assert_udp_link(0, family, "null/ipv4/udp");
        }
        for family in ["18000000 I6", "1c000000 I6", "1e000000 I6"] {
            assert_udp_link(0, family, "null/ipv6/udp");
        }
        assert_udp_link(108, "00000002 IU", "null/ipv4/udp");
        assert_udp_link(108, "0000001e I6", "null/ipv6/udp");
    }

    #[test]
    fn another_family_is_data() {
        let packet = read_link(0, "07000000 0102");
        assert_eq!(
            (layer_path(&packet).as_str(), packet.network_at),
            ("null", 4)
        );
        assert_eq!(
            (packet.ip_version, packet.end_at, packet.stop),
            (0, 6, None)
        );
    }

    #[test]
    fn half_a_family_stops() {
        assert_stop(&read_link(0, "0200"), "null", StopReason::Truncated);
    }
}
