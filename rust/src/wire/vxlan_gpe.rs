//! VXLAN with a next protocol (generic protocol extension).
//!
//! Spec: draft-ietf-nvo3-vxlan-gpe §3.
//!
//! ```text
//! |R|R|Ver|I|P|B|O|       Reserved                |Next Protocol  |
//! |                VXLAN Network Identifier (VNI) |   Reserved    |
//! ```

use super::{
    Halt, Layer, Next, Packet, Parent, ProtocolFit, Walk, ethernet, int, ipv4, ipv6, mpls, nsh,
};
use crate::base::cursor::be;

pub(super) static LAYER: Layer = Layer {
    name: "vxlan-gpe",
    spec: "draft-ietf-nvo3-vxlan-gpe §3",
    parents: &[Parent::UdpDst(4790)],
    fit: |_| ProtocolFit::Possible,
    decode,
};

const VERSION: u8 = 0x30;
const HAS_NEXT_PROTOCOL: u8 = 0x04;
/// Of in-band network telemetry (P4.org INT 2.1 §5.7.3), assigned by nobody.
const INT: u8 = 0x82;

fn decode(walk: &mut Walk<'_>, packet: &mut Packet) -> Result<Next, Halt> {
    let [flags, _, _, next_protocol, vni @ .., _] = *walk.bytes.take::<8>()?;
    if flags & VERSION != 0 {
        return Err(Halt::Declined);
    }
    walk.tunnel_id = be(&vni).into();
    // without the P bit it is plain VXLAN
    if flags & HAS_NEXT_PROTOCOL == 0 {
        return Ok(Next::Inside(ethernet::BRIDGED));
    }
    Ok(match pass_int(walk, packet, next_protocol)? {
        1 => Next::Inside(ipv4::ETHER_TYPE),
        2 => Next::Inside(ipv6::ETHER_TYPE),
        3 => Next::Inside(ethernet::BRIDGED),
        4 => Next::Inside(nsh::ETHER_TYPE),
        5 => Next::Inside(mpls::ETHER_TYPE),
        _ => Next::Payload,
    })
}

/// The next protocol behind telemetry, of which there may be several headers.
fn pass_int(walk: &mut Walk<'_>, packet: &mut Packet, mut next_protocol: u8) -> Result<u8, Halt> {
    while next_protocol == INT {
        next_protocol = int::pass_in_vxlan(walk, packet)?;
    }
    Ok(next_protocol)
}

#[cfg(test)]
mod tests {
    use super::super::vectors::{assert_stop, assert_udp, read, read_cut};
    use super::super::{StopReason, layer_path};

    const VNI: i64 = 0x12_3456;

    fn with(n_inner: usize, header: &str, inner: &str) -> String {
        format!(
            "02000000000d02000000000c0800 4500{:04x} 12344000 40110000 c0000201c0000202 \
             c35012b6{:04x}0000 {header} {inner}",
            n_inner + 36,
            n_inner + 16
        )
    }

    #[test]
    fn carries_frames_and_packets() {
        let path = "ethernet/ipv4/udp/vxlan-gpe";
        let frame = format!("{path}/ethernet/ipv4/udp");
        assert_udp(&with(44, "0c00000312345600", "EU"), &frame, VNI);
        assert_udp(&with(44, "0800000012345600", "EU"), &frame, VNI);
        assert_udp(&with(44, "0d00000312345600", "EU"), &frame, VNI);
        assert_udp(
            &with(30, "0c00000112345600", "IU"),
            &format!("{path}/ipv4/udp"),
            VNI,
        );
        assert_udp(
            &with(50, "0c00000212345600", "I6"),
            &format!("{path}/ipv6/udp"),
            VNI,
        );
        let mpls = with(34, "0c00000512345600", "03e82740 IU");
        assert_udp(&mpls, &format!("{path}/mpls/ipv4/udp"), VNI);
        let chain = "0fc60103123456ff00000000000000000000000000000000 EU";
        let nsh = format!("{path}/nsh/ethernet/ipv4/udp");
        assert_udp(&with(68, "0c00000412345600", chain), &nsh, VNI);
    }

    #[test]
    fn an_unknown_next_protocol_is_the_carriers_data() {
        let packet = read(&with(4, "0c00006312345600", "01020304"));
        assert_eq!(layer_path(&packet), "ethernet/ipv4/udp/vxlan-gpe");
        assert_eq!(
            (packet.dst_port, packet.tunnel_id, packet.stop),
            (4790, -1, None)
        );
    }

    #[test]
    fn a_later_version_is_left_alone() {
        assert_eq!(
            layer_path(&read(&with(44, "1c00000312345600", "EU"))),
            "ethernet/ipv4/udp"
        );
    }

    #[test]
    fn a_cut_header_stops() {
        let cut = read_cut(&with(44, "0c00000312345600", "EU"), 45);
        assert_stop(&cut, "ethernet/ipv4/udp/vxlan-gpe", StopReason::SnapLength);
    }
}
