//! `FabricPath`: a switch's header in front of the frame, and its check sequence in place of the frame's.
//!
//! Spec: Cisco `FabricPath`, as Wireshark's packet-cfp.c has it.
//!
//! ```text
//! |  two switch addresses and 0x8903, read as Ethernet  |  FTAG (10)  |  TTL (6)  |  frame  |
//! ```

use super::{Halt, Layer, Next, Packet, Parent, ProtocolFit, Walk, ethernet};

pub(super) static LAYER: Layer = Layer {
    name: "fabricpath",
    spec: "Cisco FabricPath",
    parents: &[Parent::EtherType(0x8903)],
    fit: |_| ProtocolFit::Possible,
    decode,
};

const CHECK_BYTES: usize = 4;

fn decode(walk: &mut Walk<'_>, _: &mut Packet) -> Result<Next, Halt> {
    walk.bytes.skip(2)?;
    let n_frame = walk.bytes.wire_left().saturating_sub(CHECK_BYTES);
    walk.bytes.bound(n_frame);
    Ok(Next::Inside(ethernet::BRIDGED))
}

#[cfg(test)]
mod tests {
    use super::super::vectors::{assert_stop, assert_udp, read};
    use super::super::{StopReason, layer_path};

    const OUTER: &str = "02aabb11223302ccdd445566";
    const PATH: &str = "ethernet/fabricpath/ethernet/ipv4/udp";

    #[test]
    fn carries_frames() {
        assert_udp(&format!("{OUTER} 89035560 EU 01020304"), PATH, -1);
        let tagged = format!("{OUTER} 81000064 89035560 EU 01020304");
        let path = PATH.replace("ethernet/fab", "ethernet/vlan/fab");
        assert_udp(&tagged, &path, -1);
    }

    #[test]
    fn its_check_sequence_is_no_data() {
        let frame = "ffffffffffff02000000000188b5 0102";
        let packet = read(&format!("{OUTER} 89035560 {frame} 01020304"));
        assert_eq!((packet.network_at, packet.end_at), (30, 32));
    }

    #[test]
    fn what_is_no_frame_is_data() {
        let packet = read(&format!("{OUTER} 89035560 0102030405060708"));
        assert_eq!(layer_path(&packet), "ethernet/fabricpath");
        let short = read(&format!("{OUTER} 890355"));
        assert_stop(&short, "ethernet/fabricpath", StopReason::Truncated);
    }
}
