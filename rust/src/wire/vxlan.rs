//! VXLAN: Ethernet in UDP.
//!
//! Spec: RFC 7348 §5. 8472 is what Linux used before the assignment, and some still do.
//!
//! ```text
//! |R|R|R|R|I|R|R|R|            Reserved                           |
//! |                VXLAN Network Identifier (VNI) |   Reserved    |
//! ```

use super::prediction::{HeaderRole, Predictable};
use super::{Halt, Layer, Next, Packet, Parent, ProtocolFit, Walk, ethernet};
use crate::base::cursor::be;

pub(super) static LAYER: Layer = Layer {
    name: "vxlan",
    spec: "RFC 7348 §5",
    parents: &[Parent::UdpDst(4789), Parent::UdpDst(8472)],
    fit: |_| ProtocolFit::Possible,
    decode,
};

pub(super) static PREDICTABLE: Predictable = Predictable {
    layer: &LAYER,
    role: HeaderRole::Tunnel,
    decisive: &[VNI_IS_VALID],
    n_bytes: |header| (header.first()? & VNI_IS_VALID != 0).then_some(8),
    length: None,
    read,
};

const VNI_IS_VALID: u8 = 0x08;

// Reserved bits are never a condition: group policy uses them, and real senders set them all.
fn decode(walk: &mut Walk<'_>, _: &mut Packet) -> Result<Next, Halt> {
    let [flags, _, _, _, vni @ .., _] = *walk.bytes.take::<8>()?;
    let is_valid = flags & VNI_IS_VALID != 0;
    if !is_valid && ethernet::fit(walk.bytes) != ProtocolFit::Sure {
        return Err(Halt::Declined);
    }
    walk.tunnel_id = be(&vni).into();
    Ok(Next::Inside(ethernet::BRIDGED))
}

fn read(bytes: &[u8], at: usize, packet: &mut Packet) {
    if let Some([_, _, _, _, vni @ .., _]) = bytes.get(at..).and_then(<[u8]>::first_chunk::<8>) {
        packet.tunnel_id = be(vni).into();
    }
}

#[cfg(test)]
mod tests {
    use super::super::vectors::{assert_stop, assert_tcp, assert_udp, frame, read, read_cut};
    use super::super::{StopReason, layer_path};

    const OUTER: &str = "02000000000d02000000000c080045000050123440004011a465c0000201c0000202";
    const PATH: &str = "ethernet/ipv4/udp/vxlan/ethernet/ipv4/udp";
    const VNI: i64 = 0x12_3456;

    #[test]
    fn on_both_ports() {
        assert_udp(
            &format!("{OUTER} c35012b5003c0000 0800000012345600 EU"),
            PATH,
            VNI,
        );
        assert_udp(
            &format!("{OUTER} c3502118003c0000 0800000012345600 EU"),
            PATH,
            VNI,
        );
    }

    #[test]
    fn carries_tcp() {
        let text = concat!(
            "02000000000d02000000000c08004500005c123440004011a459c0000201c0000202",
            "c35012b500480000 0800000012345600 ET"
        );
        assert_tcp(text, "ethernet/ipv4/udp/vxlan/ethernet/ipv4/tcp", VNI);
        let packet = read(text);
        assert_eq!(
            (packet.depth, packet.outer_ip_id, packet.ip_id),
            (1, 0x1234, 0x1234)
        );
        assert_eq!(
            (packet.ethernet_at, packet.network_at, packet.transport_at),
            (50, 64, 84)
        );
    }

    #[test]
    fn over_ipv6() {
        let text = concat!(
            "02000000000d02000000000c86dd600000000050114020010db8000100000000000000000001",
            "20010db8000100000000000000000002c35012b50050618d0800000012345600 E6"
        );
        assert_udp(text, "ethernet/ipv6/udp/vxlan/ethernet/ipv6/udp", VNI);
        assert_eq!(read(text).outer_ip_id, 0);
    }

    #[test]
    fn whatever_the_reserved_bits() {
        assert_udp(
            &format!("{OUTER} c35012b5003c0000 8848123412345600 EU"),
            PATH,
            VNI,
        );
        assert_udp(
            &format!("{OUTER} c35012b5003c0000 ff01d1f200000b00 EU"),
            PATH,
            11,
        );
        assert_udp(
            &format!("{OUTER} c35012b5003c0000 0000000012345600 EU"),
            PATH,
            VNI,
        );
    }

    #[test]
    fn with_tags_inside_and_outside() {
        let inner = concat!(
            "02000000000d02000000000c080045000054123440004011a461c0000201c0000202",
            "c35012b5004000000800000012345600 020000000002020000000001810000640800 IU"
        );
        assert_udp(inner, "ethernet/ipv4/udp/vxlan/ethernet/vlan/ipv4/udp", VNI);
        let outer = concat!(
            "02000000000d02000000000c81000064080045000050123440004011a465c0000201c0000202",
            "c35012b5003c0000 0800000012345600 EU"
        );
        assert_udp(outer, "ethernet/vlan/ipv4/udp/vxlan/ethernet/ipv4/udp", VNI);
    }

    #[test]
    fn the_first_outer_fragment_shows_what_is_inside() {
        let outer = OUTER.replace("12344000", "12342000");
        let path = "ethernet/ipv4/udp/vxlan/ethernet/ipv4/udp";
        let text = format!("{outer} c35012b500c80000 0800000012345600 EU");
        assert_udp(&text, path, VNI);
        assert_eq!((read(&text).fragment, read(&text).outer_ip_id), (0, 0x1234));
    }

    #[test]
    fn an_outer_fragment_that_holds_no_inner_header_is_the_packet() {
        let first = read(concat!(
            "02000000000d02000000000c080045000044123420004011c471c0000201c0000202c35012b5003c0000",
            "080000001234560002000000000202000000000108004500001e12344000401114990a0000010a00"
        ));
        assert_eq!(
            (first.fragment, first.dst_port, first.tunnel_id),
            (1, 4789, -1)
        );
        assert_eq!(
            (layer_path(&first).as_str(), first.stop),
            ("ethernet/ipv4/udp", None)
        );
        let second = read(concat!(
            "02000000000d02000000000c080045000020123400064011e48fc0000201c0000202",
            "00029c409c41000ad4a7dead"
        ));
        assert_eq!(
            (second.fragment, second.src, second.src_port),
            (48, 0xc000_0201, -1)
        );
        assert_eq!(
            (layer_path(&second).as_str(), second.stop),
            ("ethernet/ipv4", None)
        );
    }

    #[test]
    fn another_protocol_on_its_port_is_plain_udp() {
        let not_ip = "0800000012345600 020000000002020000000001 0800 6500";
        let not_valid = "0000000012345600 020000000002020000000001 88b5 0102";
        for payload in ["0800000012345600 00", not_ip, not_valid, "deadbeef", ""] {
            let n_udp = 8 + frame(payload).len();
            let packet = read(&format!(
                "02000000000d02000000000c0800 4500{:04x} 1234 4000 40110000 c0000201c0000202 \
                 c35012b5{n_udp:04x}0000 {payload}",
                n_udp + 20
            ));
            assert_eq!(layer_path(&packet), "ethernet/ipv4/udp", "{payload}");
            let seen = (packet.dst_port, packet.tunnel_id, packet.depth);
            assert_eq!((seen, packet.stop), ((4789, -1, 0), None));
        }
    }

    #[test]
    fn a_cut_inside_stops_at_the_layer_that_is_cut() {
        let text = format!("{OUTER} c35012b5003c0000 0800000012345600 EU");
        let path = "ethernet/ipv4/udp/vxlan";
        assert_stop(&read_cut(&text, 49), path, StopReason::SnapLength);
        assert_stop(
            &read_cut(&text, 60),
            &format!("{path}/ethernet"),
            StopReason::SnapLength,
        );
        assert_stop(
            &read_cut(&text, 83),
            &format!("{path}/ethernet/ipv4"),
            StopReason::SnapLength,
        );
        let whole = read_cut(&text, 84);
        assert_eq!(
            (whole.stop, whole.src_port, whole.transport_wire_bytes),
            (None, -1, 10)
        );
    }
}
