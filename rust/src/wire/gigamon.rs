//! Gigamon's header of packet brokers, between the MAC addresses and the `EtherType`.
//!
//! Spec: Wireshark's packet-gmhdr.c. The length counts itself.
//!
//! ```text
//! |  length (8)  |  type (8), length (8), value; …  |  EtherType (16)  |
//! ```

use super::{Carrier, Halt, Layer, Next, Packet, Parent, ProtocolFit, Walk, ethernet};
use crate::base::tlv::Fields;

pub(super) static LAYER: Layer = Layer {
    name: "gigamon",
    spec: "Gigamon GigaVUE header",
    parents: &[Parent::EtherType(0x22E5)],
    fit: |_| ProtocolFit::Possible,
    decode,
};

fn decode(walk: &mut Walk<'_>, packet: &mut Packet) -> Result<Next, Halt> {
    let at = walk.bytes.at();
    let [n_bytes] = *walk.bytes.take()?;
    let n_fields = usize::from(n_bytes).checked_sub(1).ok_or(Halt::Declined)?;
    let start = walk.bytes.rest();
    walk.bytes.skip(n_fields)?;
    let fields = start.get(..n_fields).unwrap_or_default();
    if !Fields::are_whole(fields) {
        return Err(Halt::Declined);
    }
    let [high, low] = *walk.bytes.take()?;
    packet.note_carrier(Carrier::Gigamon, at);
    Ok(ethernet::data(walk, u16::from_be_bytes([high, low])))
}

#[cfg(test)]
mod tests {
    use super::super::vectors::{assert_stop, assert_udp, read};
    use super::super::{StopReason, layer_path};

    const MACS: &str = "020000000002020000000001 22e5";
    const PATH: &str = "ethernet/gigamon/ipv4/udp";

    #[test]
    fn is_passed() {
        let all = "14 010205dc 0203080405 06086553f100075bb290";
        assert_udp(&format!("{MACS} {all} 0800 IU"), PATH, -1);
        let others = "17 04086553f100075bb290 070401020304 080411223344";
        assert_udp(&format!("{MACS} {others} 0800 IU"), PATH, -1);
        let tagged = format!("{MACS} 01 8100 0064 86dd I6");
        assert_udp(&tagged, "ethernet/gigamon/vlan/ipv6/udp", -1);
    }

    #[test]
    fn fields_that_do_not_fill_the_length_are_left_alone() {
        for fields in ["00", "14 010205dc 0203080405 06076553f100075bb290", "02 01"] {
            let packet = read(&format!("{MACS} {fields} 0800 IU"));
            assert_eq!(layer_path(&packet), "ethernet", "{fields}");
            assert_eq!((packet.carrier, packet.stop), (None, None), "{fields}");
        }
    }

    #[test]
    fn half_a_header_stops() {
        let packet = read(&format!("{MACS} 14 010205dc 0203"));
        assert_stop(&packet, "ethernet/gigamon", StopReason::Truncated);
    }
}
