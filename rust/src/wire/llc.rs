//! Logical link control: frames with a length instead of an `EtherType`, and SNAP.
//!
//! Spec: IEEE 802.2 §3.2; RFC 1042 for SNAP, after which an `EtherType` follows.
//!
//! ```text
//! |  DSAP (8)  |  SSAP (8)  |  control (8, 16)  |
//! |     AA     |     AA     |        03         |  OUI (24)  |  EtherType (16)  |
//! ```

use super::{Halt, Layer, Next, Packet, Parent, ProtocolFit, Walk, ethernet};

pub(super) static LAYER: Layer = Layer {
    name: "llc",
    spec: "IEEE 802.2 §3.2",
    parents: &[Parent::Length],
    fit: |_| ProtocolFit::Possible,
    decode,
};

/// Smallest `EtherType` (IEEE 802.3 §3.2.6).
const MIN_ETHER_TYPE: u16 = 1536;
/// IPX without LLC starts with a checksum that is none.
const NOVELL: [u8; 2] = [0xFF, 0xFF];
const SNAP: [u8; 3] = [0xAA, 0xAA, 0x03];

fn decode(walk: &mut Walk<'_>, _: &mut Packet) -> Result<Next, Halt> {
    walk.data_at = Some(walk.bytes.at());
    if walk.bytes.peek() == Ok(&NOVELL) {
        return Err(Halt::Declined);
    }
    if *walk.bytes.peek()? != SNAP {
        return Ok(Next::Payload);
    }
    // Other organisations (Cisco's CDP and PVST) number their protocols themselves.
    let [_, _, _, 0, 0, 0 | 0xF8, high, low] = *walk.bytes.peek::<8>()? else {
        return Ok(Next::Payload);
    };
    let ether_type = u16::from_be_bytes([high, low]);
    if ether_type < MIN_ETHER_TYPE {
        return Ok(Next::Payload);
    }
    walk.bytes.skip(8)?;
    Ok(ethernet::data(walk, ether_type))
}

#[cfg(test)]
mod tests {
    use super::super::vectors::{assert_stop, assert_udp, read};
    use super::super::{StopReason, layer_path};

    #[test]
    fn ipx_has_a_length_but_no_llc() {
        let packet = read("ffffffffffff020000000001 0022 ffff00220002");
        assert_eq!(layer_path(&packet), "ethernet");
        assert_eq!(
            (packet.network_at, packet.end_at, packet.stop),
            (14, 20, None)
        );
    }

    #[test]
    fn spanning_tree_is_data_without_padding() {
        let packet = read("0180c2000000020000000001 0007 42420300000000 00000000");
        assert_eq!(layer_path(&packet), "ethernet/llc");
        assert_eq!(
            (packet.ether_type, packet.ip_version, packet.stop),
            (0, 0, None)
        );
        assert_eq!(
            (
                packet.network_at,
                packet.end_at,
                packet.transport_wire_bytes
            ),
            (14, 21, 7)
        );
    }

    #[test]
    fn snap_carries_ip() {
        assert_udp(
            "020000000002020000000001 0026 aaaa030000000800 IU",
            "ethernet/llc/ipv4/udp",
            -1,
        );
    }

    #[test]
    fn a_vendors_snap_is_data() {
        let packet = read("01000ccccccc020000000001 000a aaaa0300000c2000 0102");
        assert_eq!(
            (layer_path(&packet).as_str(), packet.network_at),
            ("ethernet/llc", 14)
        );
    }

    #[test]
    fn a_length_below_the_header_stops() {
        let packet = read("0180c2000000020000000001 0002 42420300000000");
        assert_stop(&packet, "ethernet/llc", StopReason::Truncated);
    }
}
