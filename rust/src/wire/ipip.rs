//! IP directly in IP: the tunnel has no header of its own, only a protocol number.
//!
//! Spec: RFC 2003 (4 in 4), RFC 4213 §3.1 (6 in 4), RFC 2473 §3 (either in 6).

use super::{Halt, Layer, Next, Packet, Parent, ProtocolFit, Walk, ipv4, ipv6};

pub(super) static LAYER: Layer = Layer {
    name: "ipip",
    spec: "RFC 2003",
    parents: &[Parent::IpProtocol(4), Parent::IpProtocol(41)],
    fit: |_| ProtocolFit::Possible,
    decode,
};

const IPV6: i16 = 41;

#[expect(clippy::unnecessary_wraps, reason = "the signature of every layer")]
fn decode(walk: &mut Walk<'_>, packet: &mut Packet) -> Result<Next, Halt> {
    walk.tunnel_id = -1;
    walk.ether_type = if packet.protocol == IPV6 {
        ipv6::ETHER_TYPE
    } else {
        ipv4::ETHER_TYPE
    };
    Ok(Next::Inside(walk.ether_type))
}

#[cfg(test)]
mod tests {
    use super::super::vectors::{assert_stop, assert_udp, read, read_cut};
    use super::super::{StopReason, layer_path};

    const IN_4: &str = "02000000000d02000000000c080045000032123440004004a490c0000201c0000202";
    const IN_6: &str = "20010db800010000000000000000000120010db8000100000000000000000002";

    #[test]
    fn in_ipv4() {
        assert_udp(&format!("{IN_4} IU"), "ethernet/ipv4/ipip/ipv4/udp", -1);
        let sixth = "02000000000d02000000000c080045000046123440004029a457c0000201c0000202 I6";
        assert_udp(sixth, "ethernet/ipv4/ipip/ipv6/udp", -1);
        assert_eq!((read(sixth).outer_ip_id, read(sixth).depth), (0x1234, 1));
    }

    #[test]
    fn in_ipv6() {
        let ethernet = "02000000000d02000000000c86dd";
        let path = "ethernet/ipv6/ipip";
        let fourth = format!("{ethernet} 60000000001e0440 {IN_6} IU");
        assert_udp(&fourth, &format!("{path}/ipv4/udp"), -1);
        let sixth = format!("{ethernet} 6000000000322940 {IN_6} I6");
        assert_udp(&sixth, &format!("{path}/ipv6/udp"), -1);
    }

    #[test]
    fn in_segment_routing() {
        let ethernet = "02000000000d02000000000c86dd";
        let routes = "20010db800010000000000000000000220010db8000900000000000000000001";
        let fourth = format!("{ethernet} 6000000000462b40 {IN_6} 0404040101000000 {routes} IU");
        assert_udp(&fourth, "ethernet/ipv6/ipip/ipv4/udp", -1);
    }

    #[test]
    fn something_else_inside_is_the_carriers_data() {
        let packet = read(&format!("{IN_4} I6"));
        assert_eq!(
            (layer_path(&packet).as_str(), packet.protocol),
            ("ethernet/ipv4/ipip", 4)
        );
        assert_eq!((packet.depth, packet.stop), (0, None));
    }

    #[test]
    fn a_cut_inner_header_stops() {
        let cut = read_cut(&format!("{IN_4} IU"), 40);
        assert_stop(&cut, "ethernet/ipv4/ipip/ipv4", StopReason::SnapLength);
    }
}
