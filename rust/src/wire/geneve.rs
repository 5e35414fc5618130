//! Geneve: frames or packets in UDP, behind options of variable length.
//!
//! Spec: RFC 8926 §3.4. Control packets (O bit) are read like others: what they carry, such as BFD
//! between tunnel endpoints, is a packet too.
//!
//! ```text
//! |Ver|  Opt Len  |O|C|    Rsvd.  |          Protocol Type        |
//! |        Virtual Network Identifier (VNI)       |    Reserved   |
//! |                    Variable-Length Options                    |
//! ```

use super::prediction::{HeaderRole, Predictable};
use super::{Halt, Layer, Next, Packet, Parent, ProtocolFit, Walk, telemetry};
use crate::base::cursor::be;

pub(super) static LAYER: Layer = Layer {
    name: "geneve",
    spec: "RFC 8926 §3.4",
    parents: &[Parent::UdpDst(6081)],
    fit: |_| ProtocolFit::Possible,
    decode,
};

pub(super) static PREDICTABLE: Predictable = Predictable {
    layer: &LAYER,
    role: HeaderRole::Tunnel,
    decisive: &[0xff, 0, 0xff, 0xff],
    n_bytes: |header| Some(8 + usize::from(header.first()? & OPTION_WORDS) * 4),
    length: None,
    read,
};

const OPTION_WORDS: u8 = 0x3F;

fn decode(walk: &mut Walk<'_>, packet: &mut Packet) -> Result<Next, Halt> {
    let (header, at) = (walk.bytes.rest(), walk.bytes.at());
    let [first, _, high, low, vni @ .., _] = *walk.bytes.take::<8>()?;
    if first >> 6 != 0 {
        return Err(Halt::Declined);
    }
    walk.bytes.skip(usize::from(first & OPTION_WORDS) * 4)?;
    packet.note_telemetry(telemetry::in_geneve(header, at));
    walk.tunnel_id = be(&vni).into();
    walk.ether_type = u16::from_be_bytes([high, low]);
    Ok(Next::Inside(walk.ether_type))
}

fn read(bytes: &[u8], at: usize, packet: &mut Packet) {
    if let Some([_, _, _, _, vni @ .., _]) = bytes.get(at..).and_then(<[u8]>::first_chunk::<8>) {
        packet.tunnel_id = be(vni).into();
        packet.telemetry = telemetry::in_geneve(bytes.get(at..).unwrap_or_default(), at);
    }
}

#[cfg(test)]
mod tests {
    use super::super::vectors::{assert_stop, assert_udp, read, read_cut};
    use super::super::{StopReason, layer_path};

    const PATH: &str = "ethernet/ipv4/udp/geneve/ethernet/ipv4/udp";
    const VNI: i64 = 0x12_3456;

    #[test]
    fn without_options() {
        for header in ["0000655812345600", "0080655812345600"] {
            let text = format!(
                "02000000000d02000000000c080045000050123440004011a465c0000201c0000202\
                 c35017c1003c0000 {header} EU"
            );
            assert_udp(&text, PATH, VNI);
        }
    }

    #[test]
    fn with_options() {
        let ovn = concat!(
            "02000000000d02000000000c080045000058123440004011a45dc0000201c0000202c35017c100440000",
            "02406558123456000102800100050009 EU"
        );
        assert_udp(ovn, PATH, VNI);
        let three = concat!(
            "02000000000d02000000000c080045000068123440004011a44dc0000201c0000202c35017c100540000",
            "06006558123456000102800100000001ffff0100010302020000000000000000 EU"
        );
        assert_udp(three, PATH, VNI);
        let overrun = concat!(
            "02000000000d02000000000c080045000058123440004011a45dc0000201c0000202c35017c100440000",
            "02006558123456000102800900000001 EU"
        );
        assert_udp(overrun, PATH, VNI);
    }

    #[test]
    fn carries_ip() {
        let aws = concat!(
            "02000000000d02000000000c080045000062123440004011a453c0000201c0000202c35017c1004e0000",
            "08000800000000000108010211223344556677880108020299aabbccddeeff0001080301cafebabe IU"
        );
        assert_udp(aws, "ethernet/ipv4/udp/geneve/ipv4/udp", 0);
        assert_eq!(read(aws).ether_type, 0x0800);
        let aws_6 = concat!(
            "02000000000d02000000000c080045000076123440004011a43fc0000201c0000202c35017c100620000",
            "080086dd00000000 0108010211223344556677880108020299aabbccddeeff0001080301cafebabe I6"
        );
        assert_udp(aws_6, "ethernet/ipv4/udp/geneve/ipv6/udp", 0);
        assert_eq!(read(aws_6).ether_type, 0x86dd);
        let google = concat!(
            "02000000000d02000000000c080045000076123440004011a43fc0000201c0000202c35017c100620000",
            "080086dd1234560001320101abcdef1101320202000000000000000701320302000000000000",
            "0008 I6"
        );
        assert_udp(google, "ethernet/ipv4/udp/geneve/ipv6/udp", VNI);
    }

    #[test]
    fn over_ipv6() {
        let text = concat!(
            "02000000000d02000000000c86dd600000000058114020010db8000100000000000000000001",
            "20010db8000100000000000000000002c35017c10058fc120200655812345600",
            "0104000100000001 E6"
        );
        assert_udp(text, "ethernet/ipv6/udp/geneve/ethernet/ipv6/udp", VNI);
    }

    #[test]
    fn another_protocol_on_its_port_is_plain_udp() {
        for header in ["4000655812345600", "0000123412345600"] {
            let packet = read(&format!(
                "02000000000d02000000000c080045000050123440004011a465c0000201c0000202\
                 c35017c1003c0000 {header} EU"
            ));
            assert_eq!(layer_path(&packet), "ethernet/ipv4/udp");
            assert_eq!(
                (packet.tunnel_id, packet.ether_type, packet.stop),
                (-1, 0x0800, None)
            );
        }
    }

    #[test]
    fn options_cut_by_the_capture_stop() {
        let text = concat!(
            "02000000000d02000000000c080045000058123440004011a45dc0000201c0000202c35017c100440000",
            "02406558123456000102800100050009 EU"
        );
        let cut = read_cut(text, 52);
        assert_stop(&cut, "ethernet/ipv4/udp/geneve", StopReason::SnapLength);
        let stop = cut.stop.unwrap();
        assert_eq!((stop.at_byte, stop.needed, stop.had), (42, 16, 10));
    }
}
