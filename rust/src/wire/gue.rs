//! GUE: IP and what IP carries in UDP, with a header that says which.
//!
//! Spec: draft-ietf-intarea-gue §3, §4.
//!
//! ```text
//! 0 | 0 |C|   Hlen  |  Proto/ctype  |             Flags             |
//!   |                    Extensions (Hlen words)                    |
//! 1 | 0|1 and an IP packet, of which these are the first bits       |
//! ```

use super::{Halt, Layer, Next, Packet, Parent, ProtocolFit, Walk, fou};

pub(super) static LAYER: Layer = Layer {
    name: "gue",
    spec: "draft-ietf-intarea-gue §3",
    parents: &[Parent::UdpDst(6080)],
    fit: |_| ProtocolFit::Possible,
    decode,
};

const IS_CONTROL: u8 = 0x20;
const EXTENSION_WORDS: u8 = 0x1F;

fn decode(walk: &mut Walk<'_>, _: &mut Packet) -> Result<Next, Halt> {
    walk.tunnel_id = -1;
    let [first, protocol, _, _] = *walk.bytes.peek()?;
    match first >> 6 {
        0 if first & IS_CONTROL != 0 => Ok(Next::Payload),
        0 => {
            walk.bytes
                .skip(4 + 4 * usize::from(first & EXTENSION_WORDS))?;
            Ok(fou::protocol(walk, protocol))
        }
        1 => fou::bare_ip(walk).ok_or(Halt::Declined),
        _ => Err(Halt::Declined),
    }
}

#[cfg(test)]
mod tests {
    use super::super::vectors::{assert_stop, assert_udp, frame, read, read_cut};
    use super::super::{StopReason, layer_path};

    fn with(payload: &str) -> String {
        let n_udp = 8 + frame(payload).len();
        format!(
            "02000000000d02000000000c0800 4500{:04x} 12344000 40110000 c0000201c0000202 \
             c35017c0{n_udp:04x}0000 {payload}",
            20 + n_udp
        )
    }

    #[test]
    fn carries_packets_and_gre() {
        let path = "ethernet/ipv4/udp/gue";
        assert_udp(&with("00040000 IU"), &format!("{path}/ipv4/udp"), -1);
        assert_udp(
            &with("01290000 00000000 I6"),
            &format!("{path}/ipv6/udp"),
            -1,
        );
        assert_udp(
            &with("002f0000 00000800 IU"),
            &format!("{path}/gre/ipv4/udp"),
            -1,
        );
        assert_udp(&with("IU"), &format!("{path}/ipv4/udp"), -1);
        let bridged = format!("{path}/ethernet/ipv4/udp");
        assert_udp(&with("008f0000 EU"), &bridged, -1);
    }

    #[test]
    fn control_and_other_variants_are_the_carriers() {
        for (payload, path) in [
            ("20010000 00000000", "ethernet/ipv4/udp/gue"),
            ("80040000 00000000", "ethernet/ipv4/udp"),
            ("00040000 00000000", "ethernet/ipv4/udp"),
            ("00", "ethernet/ipv4/udp"),
        ] {
            let packet = read(&with(payload));
            assert_eq!(layer_path(&packet), path, "{payload}");
            assert_eq!((packet.dst_port, packet.stop), (6080, None));
        }
    }

    #[test]
    fn a_cut_header_stops() {
        let cut = read_cut(&with("01290000 00000000 I6"), 47);
        assert_stop(&cut, "ethernet/ipv4/udp/gue", StopReason::SnapLength);
    }
}
