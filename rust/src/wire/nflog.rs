//! Netfilter's log: attributes, of which one is the packet.
//!
//! Spec: `LINKTYPE_NFLOG`. The attributes are in the byte order of the machine that captured, which
//! the frame does not say: it is the one in which their lengths lead to a packet.
//!
//! ```text
//! |  family (8)  |  version (8)  |  resource id (16)  |
//! |  length (16)  |  type (16)  |  value, padded to 4  |     as often as there are attributes
//! ```

use super::{Halt, Layer, Next, Packet, Parent, ProtocolFit, Walk, ethernet, ipv4, ipv6};
use crate::base::cursor::{Cursor, Short};

pub(super) static LAYER: Layer = Layer {
    name: "nflog",
    spec: "LINKTYPE_NFLOG",
    parents: &[Parent::Link(239)],
    fit: |_| ProtocolFit::Possible,
    decode,
};

const ATTRIBUTE_BYTES: usize = 4;
const PACKET_HEADER: u16 = 1;
const PAYLOAD: u16 = 9;
/// Families of Linux: those of IP, else the attribute with the packet's header has the `EtherType`.
const INET: u8 = 2;
const INET6: u8 = 10;

/// Where the packet is, and what.
struct NflogPayload {
    at: usize,
    n_bytes: usize,
    ether_type: u16,
}

fn decode(walk: &mut Walk<'_>, _: &mut Packet) -> Result<Next, Halt> {
    let [family, _, _, _] = *walk.bytes.take()?;
    let found = match find(walk.bytes, u16::from_le_bytes) {
        Ok(found) => found,
        Err(_) => find(walk.bytes, u16::from_be_bytes)?,
    };
    let Some(found) = found else {
        return Ok(Next::Payload);
    };
    walk.bytes.skip(found.at - walk.bytes.at())?;
    walk.bytes.bound(found.n_bytes);
    Ok(match family {
        INET => ethernet::data(walk, ipv4::ETHER_TYPE),
        INET6 => ethernet::data(walk, ipv6::ETHER_TYPE),
        _ => ethernet::data(walk, found.ether_type),
    })
}

fn find(mut bytes: Cursor<'_>, number: fn([u8; 2]) -> u16) -> Result<Option<NflogPayload>, Short> {
    let mut ether_type = 0;
    while bytes.wire_left() >= ATTRIBUTE_BYTES {
        let start = bytes;
        let [n_low, n_high, kind_low, kind_high] = *bytes.take()?;
        let n_bytes = usize::from(number([n_low, n_high]));
        match number([kind_low, kind_high]) {
            PAYLOAD => {
                let n_bytes = n_bytes.saturating_sub(ATTRIBUTE_BYTES);
                let at = bytes.at();
                return Ok(Some(NflogPayload {
                    at,
                    n_bytes,
                    ether_type,
                }));
            }
            PACKET_HEADER => ether_type = u16::from_be_bytes(*bytes.peek()?),
            _ => {}
        }
        bytes = start;
        bytes.skip(n_bytes.max(ATTRIBUTE_BYTES).next_multiple_of(4))?;
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::super::vectors::{assert_stop, assert_udp_link, read_link};
    use super::super::{StopReason, layer_path};

    #[test]
    fn in_either_byte_order() {
        let little = concat!(
            "02000005 08000100 08000300 08000400 00000002",
            "14000300 000000006553f100 000000000001e240 12001000 02000000000d02000000000c08000000",
            "08000a00 70667800 22000900 IU 0000"
        );
        assert_udp_link(239, little, "nflog/ipv4/udp");
        let big = "0a000005 00080001 86dd0300 00360009 I6 0000";
        assert_udp_link(239, big, "nflog/ipv6/udp");
        let bridged = "07000000 00080001 08000000 00220009 IU 0000";
        assert_udp_link(239, bridged, "nflog/ipv4/udp");
    }

    #[test]
    fn without_a_packet_it_is_data() {
        let packet = read_link(239, "02000005 08000100 08000300");
        assert_eq!(layer_path(&packet), "nflog");
        assert_eq!((packet.end_at, packet.stop), (12, None));
    }

    #[test]
    fn attributes_that_lead_nowhere_stop() {
        let packet = read_link(239, "02000005 ffffff00 08000300");
        assert_stop(&packet, "nflog", StopReason::Truncated);
        assert_stop(&read_link(239, "0200"), "nflog", StopReason::Truncated);
    }
}
