//! Ethernet with its preamble, as express and preemptable frames have it.
//!
//! Spec: IEEE 802.3br §99.3; `LINKTYPE_ETHERNET_MPACKET`. What continues a preempted frame is data.
//!
//! ```text
//! |  55 … (up to 7)  |  start delimiter (8)  |  frame  |  check sequence (32)  |
//! ```

use super::{Halt, Layer, Next, Packet, Parent, ProtocolFit, Walk};

pub(super) static LAYER: Layer = Layer {
    name: "mpacket",
    spec: "IEEE 802.3br §99.3",
    parents: &[Parent::Link(274)],
    fit: |_| ProtocolFit::Possible,
    decode,
};

const PREAMBLE: u8 = 0x55;
const MAX_PREAMBLE_BYTES: usize = 7;
const CHECK_BYTES: usize = 4;
const ETHERNET: u16 = 1;

fn decode(walk: &mut Walk<'_>, _: &mut Packet) -> Result<Next, Halt> {
    let mut n_preamble = 0;
    let delimiter = loop {
        match *walk.bytes.take()? {
            [PREAMBLE] if n_preamble < MAX_PREAMBLE_BYTES => n_preamble += 1,
            [delimiter] => break delimiter,
        }
    };
    let n_data = walk.bytes.wire_left().saturating_sub(CHECK_BYTES);
    walk.bytes.bound(n_data);
    match delimiter {
        0xD5 | 0xE6 | 0x4C | 0x7F | 0xB3 => Ok(Next::Link(ETHERNET)),
        0x61 | 0x52 | 0x9E | 0x2A => Ok(Next::Payload),
        _ => Err(Halt::Unknown),
    }
}

#[cfg(test)]
mod tests {
    use super::super::vectors::{assert_stop, assert_udp_link, read_link};
    use super::super::{StopReason, layer_path};

    #[test]
    fn carries_frames() {
        let path = "mpacket/ethernet/ipv4/udp";
        for start in ["55555555555555d5", "55555555555555e6", "5555554c", "b3"] {
            assert_udp_link(274, &format!("{start} EU 00000000 ad2557d3"), path);
        }
    }

    #[test]
    fn the_check_sequence_is_no_data() {
        let frame = "ffffffffffff02000000000188b5 0102 ad2557d3";
        let packet = read_link(274, &format!("55555555555555d5 {frame}"));
        assert_eq!((packet.network_at, packet.end_at), (22, 24));
    }

    #[test]
    fn continuations_are_data_and_others_stop() {
        let packet = read_link(274, "55555555555561e6 01020304 00000000");
        assert_eq!(
            (layer_path(&packet).as_str(), packet.stop),
            ("mpacket", None)
        );
        let path = "mpacket";
        assert_stop(
            &read_link(274, "5555555555555507 EU"),
            path,
            StopReason::Unknown,
        );
        assert_stop(&read_link(274, "55555555"), path, StopReason::Truncated);
    }
}
