//! `PPPoE`, once a session is there. Discovery (0x8863) carries no packets and is data.
//!
//! Spec: RFC 2516 §4.
//!
//! ```text
//! |Ver (4)|Type(4)|   Code (8)    |          Session ID           |
//! |            Length             |             PPP               |
//! ```

use super::{Halt, Layer, Next, Packet, Parent, ProtocolFit, Walk, ppp};

pub(super) static LAYER: Layer = Layer {
    name: "pppoe",
    spec: "RFC 2516 §4",
    parents: &[Parent::EtherType(0x8864), Parent::Link(51)],
    fit: |_| ProtocolFit::Possible,
    decode,
};

const VERSION_AND_TYPE: u8 = 0x11;
const SESSION_DATA: u8 = 0;

fn decode(walk: &mut Walk<'_>, _: &mut Packet) -> Result<Next, Halt> {
    let at = walk.bytes.at();
    let [version, code, _, _, high, low] = *walk.bytes.take()?;
    if version != VERSION_AND_TYPE {
        return Err(Halt::Unknown);
    }
    walk.data_at = Some(walk.data_at.unwrap_or(at));
    walk.bytes.bound(u16::from_be_bytes([high, low]).into());
    if code != SESSION_DATA {
        return Ok(Next::Payload);
    }
    Ok(Next::EtherType(ppp::ETHER_TYPE))
}

#[cfg(test)]
mod tests {
    use super::super::vectors::{assert_stop, assert_udp, assert_udp_link, read, read_cut};
    use super::super::{StopReason, layer_path};

    const OUTER: &str = "02000000000d02000000000c8864";

    #[test]
    fn carries_ip() {
        let path = "ethernet/pppoe/ppp";
        let fourth = format!("{OUTER} 1100123400200021 IU");
        assert_udp(&fourth, &format!("{path}/ipv4/udp"), -1);
        let sixth = format!("{OUTER} 1100123400340057 I6");
        assert_udp(&sixth, &format!("{path}/ipv6/udp"), -1);
        let short = format!("{OUTER} 11001234001f21 IU");
        assert_udp(&short, &format!("{path}/ipv4/udp"), -1);
    }

    #[test]
    fn is_a_link_type() {
        assert_udp_link(51, "1100000500200021 IU", "pppoe/ppp/ipv4/udp");
    }

    #[test]
    fn link_control_is_data_without_padding() {
        let packet = read(&format!("{OUTER} 110012340006c02109010004 0000000000"));
        assert_eq!(layer_path(&packet), "ethernet/pppoe/ppp");
        assert_eq!((packet.ether_type, packet.ip_version), (0x8864, 0));
        assert_eq!((packet.network_at, packet.end_at), (14, 26));
    }

    #[test]
    fn bad_versions_and_lengths_stop() {
        let path = "ethernet/pppoe";
        let other = read(&format!("{OUTER} 2100123400200021 IU"));
        assert_stop(&other, path, StopReason::Unknown);
        let cut = read_cut(&format!("{OUTER} 1100123400200021 IU"), 18);
        assert_stop(&cut, path, StopReason::SnapLength);
        let empty = read(&format!("{OUTER} 110012340000"));
        assert_stop(&empty, &format!("{path}/ppp"), StopReason::Truncated);
    }
}
