//! NSH: the header of service function chaining.
//!
//! Spec: RFC 8300 §2.
//!
//! ```text
//! |Ver|O|U|    TTL    |   Length  |U|U|U|U|MD Type| Next Protocol |
//! |          Service Path Identifier (SPI)        | Service Index |
//! |                    Context, or metadata                       |
//! ```

use super::{Halt, Layer, Next, Packet, Parent, ProtocolFit, Walk, ethernet, ipv4, ipv6, mpls};
use crate::base::cursor::be;

pub(super) const ETHER_TYPE: u16 = 0x894F;

pub(super) static LAYER: Layer = Layer {
    name: "nsh",
    spec: "RFC 8300 §2",
    parents: &[Parent::EtherType(ETHER_TYPE)],
    fit: |_| ProtocolFit::Possible,
    decode,
};

/// Words of the whole header.
const LENGTH: u8 = 0x3F;
const FIXED_WORDS: usize = 2;

fn decode(walk: &mut Walk<'_>, _: &mut Packet) -> Result<Next, Halt> {
    let [first, second, _, next_protocol, path @ .., _] = *walk.bytes.take::<8>()?;
    if first >> 6 != 0 {
        return Err(Halt::Unknown);
    }
    let Some(n_words) = usize::from(second & LENGTH).checked_sub(FIXED_WORDS) else {
        return Err(Halt::Malformed);
    };
    walk.bytes.skip(n_words * 4)?;
    // The network that a service chain is part of is said by the tunnel that carries it.
    if walk.tunnel_id < 0 {
        walk.tunnel_id = be(&path).into();
    }
    Ok(match next_protocol {
        1 => Next::Inside(ipv4::ETHER_TYPE),
        2 => Next::Inside(ipv6::ETHER_TYPE),
        3 => Next::Inside(ethernet::BRIDGED),
        4 => Next::Inside(ETHER_TYPE),
        5 => Next::Inside(mpls::ETHER_TYPE),
        _ => Next::Payload,
    })
}

#[cfg(test)]
mod tests {
    use super::super::vectors::{assert_stop, assert_udp, read, read_cut};
    use super::super::{StopReason, layer_path};

    const OUTER: &str = "02000000000d02000000000c894f";
    const PATH: i64 = 0x12_3456;
    const TYPE_1: &str = "0fc60103123456ff00000000000000000000000000000000";

    #[test]
    fn carries_frames_and_packets() {
        let path = "ethernet/nsh";
        let frame = format!("{path}/ethernet/ipv4/udp");
        assert_udp(&format!("{OUTER} {TYPE_1} EU"), &frame, PATH);
        let type_2 = format!("{OUTER} 0fc40201123456ff1234050461626364 IU");
        assert_udp(&type_2, &format!("{path}/ipv4/udp"), PATH);
        let empty = format!("{OUTER} 0fc20202123456ff I6");
        assert_udp(&empty, &format!("{path}/ipv6/udp"), PATH);
        let labels = TYPE_1.replace("0103", "0105");
        let labels = format!("{OUTER} {labels} 03e82740 IU");
        assert_udp(&labels, &format!("{path}/mpls/ipv4/udp"), PATH);
    }

    #[test]
    fn in_itself() {
        let text = format!("{OUTER} 0fc20204000001ff 0fc20201000002ff IU");
        assert_udp(&text, "ethernet/nsh/nsh/ipv4/udp", 1);
    }

    #[test]
    fn what_it_does_not_know_is_data() {
        let packet = read(&format!("{OUTER} 0fc2020a123456ff 0102"));
        assert_eq!(layer_path(&packet), "ethernet/nsh");
        assert_eq!((packet.ether_type, packet.stop), (0x894f, None));
    }

    #[test]
    fn bad_lengths_and_versions_stop() {
        let path = "ethernet/nsh";
        let with = |header: &str| read(&format!("{OUTER} {header} IU"));
        assert_stop(&with("0fc10201123456ff"), path, StopReason::Malformed);
        assert_stop(&with("4fc20201123456ff"), path, StopReason::Unknown);
        assert_stop(&with("0fff0201123456ff"), path, StopReason::Truncated);
        let cut = read_cut(&format!("{OUTER} {TYPE_1} EU"), 30);
        assert_stop(&cut, path, StopReason::SnapLength);
    }
}
