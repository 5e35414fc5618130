//! LISP: packets between locators, in UDP.
//!
//! Spec: RFC 9300 §5.3; RFC 9305 §3 for the next protocol.
//!
//! ```text
//! |N|L|E|V|I|P|K K|  nonce or map version (24); if P: (16), next protocol (8)  |
//! |  instance (24), locator status (8); without I: locator status (32)         |
//! ```

use super::{Halt, Layer, Next, Packet, Parent, ProtocolFit, Walk, ethernet, ipv4, ipv6, nsh};
use crate::base::cursor::be;

pub(super) static LAYER: Layer = Layer {
    name: "lisp",
    spec: "RFC 9300 §5.3",
    parents: &[Parent::UdpDst(4341)],
    fit: |_| ProtocolFit::Possible,
    decode,
};

const HAS_INSTANCE: u8 = 0x08;
const HAS_PROTOCOL: u8 = 0x04;

fn decode(walk: &mut Walk<'_>, _: &mut Packet) -> Result<Next, Halt> {
    let [flags, _, _, protocol, instance @ .., _] = *walk.bytes.take::<8>()?;
    let ether_type = if flags & HAS_PROTOCOL == 0 {
        ethernet::guess(walk.bytes)
    } else {
        match protocol {
            1 => ipv4::ETHER_TYPE,
            2 => ipv6::ETHER_TYPE,
            3 => ethernet::BRIDGED,
            4 => nsh::ETHER_TYPE,
            _ => return Err(Halt::Declined),
        }
    };
    walk.tunnel_id = if flags & HAS_INSTANCE == 0 {
        -1
    } else {
        be(&instance).into()
    };
    walk.ether_type = ether_type;
    Ok(Next::Inside(ether_type))
}

#[cfg(test)]
mod tests {
    use super::super::vectors::{assert_stop, assert_udp, frame, read, read_cut};
    use super::super::{StopReason, layer_path};

    fn lisp(payload: &str) -> String {
        let n_udp = 8 + frame(payload).len();
        format!(
            "02000000000d02000000000c0800 4500{:04x} 12344000 40110000 c0000201c0000202 \
             c35010f5{n_udp:04x}0000 {payload}",
            20 + n_udp
        )
    }

    #[test]
    fn carries_packets() {
        let path = "ethernet/ipv4/udp/lisp/ipv4/udp";
        assert_udp(&lisp("80abcdef00000000 IU"), path, -1);
        assert_udp(&lisp("1000100200000000 IU"), path, -1);
        let path = "ethernet/ipv4/udp/lisp/ipv6/udp";
        assert_udp(&lisp("88abcdef12345601 I6"), path, 0x12_3456);
    }

    #[test]
    fn carries_what_the_next_protocol_says() {
        let path = "ethernet/ipv4/udp/lisp/ethernet/ipv4/udp";
        assert_udp(&lisp("0c00000312345600 EU"), path, 0x12_3456);
        let path = "ethernet/ipv4/udp/lisp/ipv4/udp";
        assert_udp(&lisp("0c00000112345600 IU"), path, 0x12_3456);
    }

    #[test]
    fn another_protocol_on_its_port_is_plain_udp() {
        for payload in ["0c00000912345600 EU", "80abcdef00000000 00", "80"] {
            let packet = read(&lisp(payload));
            assert_eq!(layer_path(&packet), "ethernet/ipv4/udp", "{payload}");
            assert_eq!(packet.stop, None);
        }
    }

    #[test]
    fn a_cut_header_stops() {
        let cut = read_cut(&lisp("80abcdef00000000 IU"), 46);
        assert_stop(&cut, "ethernet/ipv4/udp/lisp", StopReason::SnapLength);
    }
}
