//! Arista's time stamp header of 7280R and 7500R switches, between the MAC addresses and the `EtherType`.
//!
//! Spec: Wireshark's packet-avsp.c; tcpdump's print-arista.c. Other subtypes are left alone.
//!
//! ```text
//! | subtype 1 (16) | timescale (8) | format (8) | seconds (32 or 16) | ns (32) | EtherType (16) |
//! ```

use super::{Carrier, Halt, Layer, Next, Packet, Parent, ProtocolFit, Walk, ethernet};

pub(super) static LAYER: Layer = Layer {
    name: "avsp",
    spec: "Arista EOS, timestamping on 7280R and 7500R",
    parents: &[Parent::EtherType(0xD28B)],
    fit: |_| ProtocolFit::Possible,
    decode,
};

const TIME_STAMP: [u8; 2] = [0, 1];
const SUBTYPE_AND_VERSION_BYTES: usize = 4;

fn decode(walk: &mut Walk<'_>, packet: &mut Packet) -> Result<Next, Halt> {
    let at = walk.bytes.at();
    let [high, low, _, format] = *walk.bytes.peek()?;
    let n_bytes = match ([high, low], format >> 4) {
        (TIME_STAMP, 1) => 8,
        (TIME_STAMP, 2) => 6,
        _ => return Err(Halt::Declined),
    };
    walk.bytes.skip(SUBTYPE_AND_VERSION_BYTES + n_bytes)?;
    let [high, low] = *walk.bytes.take()?;
    packet.note_carrier(Carrier::Arista, at);
    Ok(ethernet::data(walk, u16::from_be_bytes([high, low])))
}

#[cfg(test)]
mod tests {
    use super::super::vectors::{assert_stop, assert_udp, read};
    use super::super::{StopReason, layer_path};

    const MACS: &str = "020000000002020000000001d28b";

    #[test]
    fn every_format_is_passed() {
        for stamp in [
            "000100106553f100075bb290",
            "000101116553f100075bb290",
            "00010020f100075bb290",
            "00010121f100075bb290",
        ] {
            assert_udp(
                &format!("{MACS}{stamp}0800 IU"),
                "ethernet/avsp/ipv4/udp",
                -1,
            );
            let tagged = format!("{MACS}{stamp}810000640800 IU");
            assert_udp(&tagged, "ethernet/avsp/vlan/ipv4/udp", -1);
        }
    }

    #[test]
    fn other_subtypes_are_left_alone() {
        let packet = read(&format!("{MACS}000300106553f100075bb2900800 IU"));
        assert_eq!(layer_path(&packet), "ethernet");
        assert_eq!((packet.carrier, packet.stop), (None, None));
    }

    #[test]
    fn half_a_header_stops() {
        let packet = read(&format!("{MACS}000100106553f100"));
        assert_stop(&packet, "ethernet/avsp", StopReason::Truncated);
    }
}
