//! `EtherIP`: frames in IP, and `MikroTik`'s way of it over IPv6, which has a tunnel id.
//!
//! Spec: RFC 3378 §3; `MikroTik`'s `EoIPv6` swaps the halves of the first octet and fills the rest.
//!
//! ```text
//! |Version = 3 (4)|      reserved (12)      |
//! |id, high (4)   |   3 (4)   |id, low (8)  |     EoIPv6
//! ```

use super::{Halt, Layer, Next, Packet, Parent, ProtocolFit, Walk, ethernet};

pub(super) static LAYER: Layer = Layer {
    name: "etherip",
    spec: "RFC 3378 §3",
    parents: &[Parent::IpProtocol(97)],
    fit: |_| ProtocolFit::Possible,
    decode,
};

fn decode(walk: &mut Walk<'_>, _: &mut Packet) -> Result<Next, Halt> {
    let [first, second] = *walk.bytes.take()?;
    walk.tunnel_id = match (first >> 4, first & 0x0F) {
        (3, 0) => -1,
        (high, 3) => i64::from(high) << 8 | i64::from(second),
        _ => return Err(Halt::Unknown),
    };
    Ok(Next::Inside(ethernet::BRIDGED))
}

#[cfg(test)]
mod tests {
    use super::super::StopReason;
    use super::super::vectors::{assert_stop, assert_udp, read};

    const OUTER: &str = "02000000000d02000000000c080045000042123440004061a423c0000201c0000202";

    #[test]
    fn carries_frames() {
        let path = "ethernet/ipv4/etherip/ethernet/ipv4/udp";
        assert_udp(&format!("{OUTER} 3000 EU"), path, -1);
    }

    #[test]
    fn with_a_tunnel_id() {
        let text = concat!(
            "02000000000d02000000000c86dd60000000002e614020010db8000100000000000000000001",
            "20010db8000100000000000000000002 034d EU"
        );
        assert_udp(text, "ethernet/ipv6/etherip/ethernet/ipv4/udp", 77);
    }

    #[test]
    fn another_version_stops() {
        let packet = read(&format!("{OUTER} 4000 EU"));
        assert_stop(&packet, "ethernet/ipv4/etherip", StopReason::Unknown);
    }
}
