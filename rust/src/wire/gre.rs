//! GRE, with NVGRE.
//!
//! Spec: RFC 2784 §2, RFC 2890 §2; RFC 1701 for routing; RFC 7637 §3.2 for NVGRE.
//!
//! ```text
//! |C|R|K|S|s|Recur|  Flags  | Ver |         Protocol Type         |
//! |      Checksum (C or R)        |       Offset (C or R)         |
//! |                         Key (K)                               |
//! |                    Sequence Number (S)                        |
//! |                         Routing (R)                           |
//! ```

use super::{Halt, Layer, Next, Packet, Parent, ProtocolFit, Walk, eoip, ethernet, pptp};
use crate::base::cursor::{Cursor, be};

pub(super) static LAYER: Layer = Layer {
    name: "gre",
    spec: "RFC 2784 §2",
    parents: &[Parent::IpProtocol(47)],
    fit: |_| ProtocolFit::Possible,
    decode,
};

const CHECKSUM: u16 = 0x8000;
const ROUTING: u16 = 0x4000;
const KEY: u16 = 0x2000;
pub(super) const SEQUENCE: u16 = 0x1000;
pub(super) const VERSION: u16 = 0x0007;

fn decode(walk: &mut Walk<'_>, _: &mut Packet) -> Result<Next, Halt> {
    let [flags_high, flags_low, high, low] = *walk.bytes.take()?;
    let flags = u16::from_be_bytes([flags_high, flags_low]);
    let protocol = u16::from_be_bytes([high, low]);
    match (flags & VERSION, protocol) {
        (0, _) => {}
        // Version 1 (RFC 2637 §4.1) has other options: its two protocols read them themselves.
        (1, eoip::PROTOCOL | pptp::PROTOCOL) => return Ok(Next::InsideGre(protocol)),
        _ => return Ok(Next::Payload),
    }
    walk.tunnel_id = pass_options(&mut walk.bytes, flags, protocol)?;
    walk.ether_type = protocol;
    Ok(Next::InsideGre(protocol))
}

/// Pass the optional fields; the answer is the key.
fn pass_options(bytes: &mut Cursor<'_>, flags: u16, protocol: u16) -> Result<i64, Halt> {
    let mut tunnel_id = -1;
    if flags & (CHECKSUM | ROUTING) != 0 {
        bytes.skip(4)?;
    }
    if flags & KEY != 0 {
        // NVGRE has a key and no other option; its last octet is entropy (RFC 7637 §3.2).
        let is_nvgre = flags == KEY && protocol == ethernet::BRIDGED;
        let key = be(bytes.take::<4>()?);
        tunnel_id = i64::from(if is_nvgre { key >> 8 } else { key });
    }
    if flags & SEQUENCE != 0 {
        bytes.skip(4)?;
    }
    if flags & ROUTING != 0 {
        pass_routes(bytes)?;
    }
    Ok(tunnel_id)
}

/// The sequence number of the header at the cursor, if it has one.
pub(super) fn number_at(mut bytes: Cursor<'_>) -> Option<u32> {
    let [flags, ..] = *bytes.take::<4>().ok()?;
    let flags = u16::from(flags) << 8;
    let options = [CHECKSUM | ROUTING, KEY].into_iter();
    bytes
        .skip(4 * options.filter(|bits| flags & bits != 0).count())
        .ok()?;
    let number = (flags & SEQUENCE != 0).then(|| bytes.take::<4>().ok())??;
    Some(be(number))
}

/// Source route entries end with one of family 0 and length 0 (RFC 1701).
fn pass_routes(bytes: &mut Cursor<'_>) -> Result<(), Halt> {
    loop {
        let [family_high, family_low, _, n_octets] = *bytes.take()?;
        if [family_high, family_low, n_octets] == [0; 3] {
            return Ok(());
        }
        bytes.skip(n_octets.into())?;
    }
}

#[cfg(test)]
mod tests {
    use super::super::vectors::{assert_stop, assert_udp, frame, read, read_cut};
    use super::super::{StopReason, layer_path};

    fn with(payload: &str) -> String {
        format!(
            "02000000000d02000000000c0800 4500{:04x} 12344000 402f0000 c0000201c0000202 {payload}",
            20 + frame(payload).len()
        )
    }

    #[test]
    fn carries_packets_and_frames() {
        assert_udp(&with("00000800 IU"), "ethernet/ipv4/gre/ipv4/udp", -1);
        assert_udp(&with("000086dd I6"), "ethernet/ipv4/gre/ipv6/udp", -1);
        assert_udp(
            &with("00006558 EU"),
            "ethernet/ipv4/gre/ethernet/ipv4/udp",
            -1,
        );
        assert_udp(
            &with("00008847 03e82740 IU"),
            "ethernet/ipv4/gre/mpls/ipv4/udp",
            -1,
        );
        let over_ipv6 = concat!(
            "02000000000d02000000000c86dd6000000000302f4020010db8000100000000000000000001",
            "20010db800010000000000000000000200006558 EU"
        );
        assert_udp(over_ipv6, "ethernet/ipv6/gre/ethernet/ipv4/udp", -1);
    }

    #[test]
    fn with_every_option() {
        let all = with("b00065582475000000abcd770000002a EU");
        assert_udp(&all, "ethernet/ipv4/gre/ethernet/ipv4/udp", 0x00ab_cd77);
        let routing = with("7000080000000000000000050000000608000004c000020900000000 IU");
        assert_udp(&routing, "ethernet/ipv4/gre/ipv4/udp", 5);
    }

    #[test]
    fn nvgre_has_the_subnet_as_id() {
        let path = "ethernet/ipv4/gre/ethernet/ipv4/udp";
        assert_udp(&with("200065581234569a EU"), path, 0x12_3456);
    }

    #[test]
    fn what_is_not_looked_into_is_the_carriers() {
        for payload in [
            "00000000",
            "30810800002200550000000300000002ff030021 IU",
            "00000800 600000",
        ] {
            let packet = read(&with(payload));
            assert_eq!(layer_path(&packet), "ethernet/ipv4/gre", "{payload}");
            assert_eq!(
                (packet.protocol, packet.src, packet.depth),
                (47, 0xc000_0201, 0)
            );
            assert_eq!(
                (packet.ether_type, packet.tunnel_id, packet.stop),
                (0x0800, -1, None)
            );
        }
    }

    #[test]
    fn a_keepalive_carries_the_answer() {
        let text = with("00000800 4500001812344000402fa47fc0000202c0000201 00000000");
        let packet = read(&text);
        assert_eq!(layer_path(&packet), "ethernet/ipv4/gre/ipv4/gre");
        assert_eq!((packet.src, packet.depth), (0xc000_0202, 1));
    }

    #[test]
    fn bad_lengths_stop() {
        assert_stop(
            &read(&with("2000")),
            "ethernet/ipv4/gre",
            StopReason::Truncated,
        );
        assert_stop(
            &read(&with("20000800 0000")),
            "ethernet/ipv4/gre",
            StopReason::Truncated,
        );
        let cut = read_cut(&with("b00065582475000000abcd770000002a EU"), 44);
        assert_stop(&cut, "ethernet/ipv4/gre", StopReason::SnapLength);
    }
}
