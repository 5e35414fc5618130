//! FOU: IP, or GRE, directly in UDP. The port is agreed between the ends and has to be named.
//!
//! Spec: Linux's Foo-over-UDP (`ip fou`), the variant 1 of draft-ietf-intarea-gue §4 for IP.

use super::{Halt, Layer, Next, Packet, ProtocolFit, Walk, ethernet, ipv4, ipv6};

pub(super) static LAYER: Layer = Layer {
    name: "fou",
    spec: "Linux ip-fou(8)",
    parents: &[],
    fit: |_| ProtocolFit::Possible,
    decode,
};

const GRE: u8 = 47;

fn decode(walk: &mut Walk<'_>, _: &mut Packet) -> Result<Next, Halt> {
    walk.tunnel_id = -1;
    walk.bytes.peek::<1>()?;
    Ok(bare_ip(walk).unwrap_or(Next::IpProtocol(GRE)))
}

/// The IP packet at the cursor, if there is one.
pub(super) fn bare_ip(walk: &mut Walk<'_>) -> Option<Next> {
    let ether_type = if ipv4::fit(walk.bytes) != ProtocolFit::No {
        ipv4::ETHER_TYPE
    } else if ipv6::fit(walk.bytes) != ProtocolFit::No {
        ipv6::ETHER_TYPE
    } else {
        return None;
    };
    walk.ether_type = ether_type;
    Some(Next::Inside(ether_type))
}

/// What an IP protocol number stands for where no IP header precedes it.
pub(super) fn protocol(walk: &mut Walk<'_>, protocol: u8) -> Next {
    match protocol {
        4 => {
            walk.ether_type = ipv4::ETHER_TYPE;
            Next::Inside(ipv4::ETHER_TYPE)
        }
        41 => {
            walk.ether_type = ipv6::ETHER_TYPE;
            Next::Inside(ipv6::ETHER_TYPE)
        }
        143 => Next::Inside(ethernet::BRIDGED),
        GRE => Next::IpProtocol(GRE),
        _ => Next::Payload,
    }
}

#[cfg(test)]
mod tests {
    use super::super::vectors::{frame, read_with};
    use super::super::{Parent, layer_path};

    const OUTER: &str = "02000000000d02000000000c08004500003a123440004011a47bc0000201c0000202";

    fn path(text: &str) -> String {
        let packet = read_with(&[(Parent::UdpDst(5555), "fou")], &frame(text));
        assert_eq!(
            (packet.src, packet.src_port),
            (0x0a00_0001, 40_000),
            "{text}"
        );
        assert_eq!((packet.tunnel_id, packet.stop), (-1, None), "{text}");
        layer_path(&packet)
    }

    #[test]
    fn carries_ip_and_gre_on_a_port_that_is_named() {
        let ip = format!("{OUTER} c35015b300260000 IU");
        assert_eq!(path(&ip), "ethernet/ipv4/udp/fou/ipv4/udp");
        let outer = OUTER.replace("4500003a", "4500003e");
        let gre = format!("{outer} c35015b3002a0000 00000800 IU");
        assert_eq!(path(&gre), "ethernet/ipv4/udp/fou/gre/ipv4/udp");
    }

    #[test]
    fn no_port_is_its_own() {
        let packet = read_with(&[], &frame(&format!("{OUTER} c35015b300260000 IU")));
        assert_eq!(layer_path(&packet), "ethernet/ipv4/udp");
    }
}
