//! CAPWAP data: frames between access points and their controller.
//!
//! Spec: RFC 5415 §4.3. Frames of IEEE 802.11, encrypted ones and fragments stay packets of the
//! carrier.
//!
//! ```text
//! |  preamble (8)  |HLEN (5)|RID (5)|WBID (5)|T|F|L|W|M|K|  flags (3)  |
//! |  Fragment ID (16)  |  Fragment Offset (13)  |  reserved (3)  |  …   |
//! ```

use super::{Halt, Layer, Next, Packet, Parent, ProtocolFit, Walk, ethernet};
use crate::base::cursor::be;

pub(super) static LAYER: Layer = Layer {
    name: "capwap",
    spec: "RFC 5415 §4.3",
    parents: &[Parent::UdpDst(PORT), Parent::UdpSrc(PORT)],
    fit: |_| ProtocolFit::Possible,
    decode,
};

const PORT: u16 = 5247;
const IS_RADIO: u32 = 0x100;
const IS_FRAGMENT: u32 = 0x080;
const MIN_WORDS: usize = 2;

fn decode(walk: &mut Walk<'_>, _: &mut Packet) -> Result<Next, Halt> {
    let [preamble, rest @ ..] = *walk.bytes.peek::<4>()?;
    let fields = be(&rest);
    let n_words = (fields >> 19) as usize;
    match preamble {
        0 if n_words < MIN_WORDS => return Err(Halt::Declined),
        0 if fields & (IS_RADIO | IS_FRAGMENT) == 0 => {}
        0 | 1 => return Ok(Next::Payload),
        _ => return Err(Halt::Declined),
    }
    walk.bytes.skip(n_words * 4)?;
    walk.tunnel_id = -1;
    Ok(Next::Inside(ethernet::BRIDGED))
}

#[cfg(test)]
mod tests {
    use super::super::vectors::{assert_stop, assert_udp, frame, read, read_cut};
    use super::super::{StopReason, layer_path};

    fn capwap(payload: &str) -> String {
        let n_udp = 8 + frame(payload).len();
        format!(
            "02000000000d02000000000c0800 4500{:04x} 12344000 40110000 c0000201c0000202 \
             c350147f{n_udp:04x}0000 {payload}",
            20 + n_udp
        )
    }

    #[test]
    fn carries_frames() {
        let path = "ethernet/ipv4/udp/capwap/ethernet/ipv4/udp";
        assert_udp(&capwap("0010020000000000 EU"), path, -1);
        assert_udp(&capwap("0018020000000000 00112233 EU"), path, -1);
        let back = capwap("0010020000000000 EU").replace("c350147f", "147fc350");
        assert_udp(&back, path, -1);
    }

    #[test]
    fn others_are_the_carriers() {
        let radio = "0010030000000000 08010000 020000000099 020000000001 020000000002 1000";
        for (payload, path) in [
            (radio, "ethernet/ipv4/udp/capwap"),
            ("0010028000010000 EU", "ethernet/ipv4/udp/capwap"),
            ("01000000 16fefd", "ethernet/ipv4/udp/capwap"),
            ("0200000000000000", "ethernet/ipv4/udp"),
            ("0000000000000000", "ethernet/ipv4/udp"),
        ] {
            let packet = read(&capwap(payload));
            assert_eq!(layer_path(&packet), path, "{payload}");
            assert_eq!((packet.depth, packet.stop), (0, None));
        }
    }

    #[test]
    fn a_cut_header_stops() {
        let cut = read_cut(&capwap("0010020000000000 EU"), 48);
        assert_stop(&cut, "ethernet/ipv4/udp/capwap", StopReason::SnapLength);
    }
}
