//! Ethernet II and IEEE 802.3 frames, without preamble.
//!
//! Spec: IEEE 802.3 §3.1, §3.2.6.
//!
//! ```text
//! |  destination (48)  |  source (48)  |  EtherType, or length up to 1500 (16)  |
//! ```

use super::prediction::{HeaderRole, Predictable};
use super::{Halt, Layer, Next, Packet, Parent, ProtocolFit, Walk, arp, ipv4, ipv6, vlan};
use crate::base::cursor::Cursor;

/// `EtherType` of a whole Ethernet frame (RFC 1701 §Current List of Protocol Types).
pub(super) const BRIDGED: u16 = 0x6558;

pub(super) static LAYER: Layer = Layer {
    name: "ethernet",
    spec: "IEEE 802.3 §3.1",
    parents: &[Parent::Link(1), Parent::EtherType(BRIDGED)],
    fit,
    decode,
};

pub(super) static PREDICTABLE: Predictable = Predictable {
    layer: &LAYER,
    role: HeaderRole::Link,
    decisive: &[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff],
    n_bytes: |_| Some(HEADER_BYTES),
    length: None,
    read: |_, _, _| (),
};

const HEADER_BYTES: usize = 14;
/// Greatest value that is a length (IEEE 802.3 §3.2.6).
const MAX_LENGTH: u16 = 1500;
/// Below it is no `EtherType` (IEEE 802.3 §3.2.6).
const MIN_ETHER_TYPE: u16 = 1536;
/// Shortest LLC header: a frame with less data is none.
const MIN_LLC_BYTES: usize = 3;

fn decode(walk: &mut Walk<'_>, _: &mut Packet) -> Result<Next, Halt> {
    let at = walk.bytes.at();
    let [.., high, low] = *walk.bytes.take::<HEADER_BYTES>()?;
    walk.ethernet_at = at;
    Ok(data(walk, u16::from_be_bytes([high, low])))
}

/// What follows an `EtherType` or length, at which the data of the link layer start.
#[inline]
pub(super) fn data(walk: &mut Walk<'_>, ether_type: u16) -> Next {
    walk.data_at = Some(walk.bytes.at());
    if ether_type > MAX_LENGTH {
        walk.ether_type = ether_type;
        return Next::EtherType(ether_type);
    }
    walk.ether_type = 0;
    walk.bytes.bound(ether_type.into());
    Next::Length
}

/// How well a frame whose first bytes are at the cursor fits; tags are passed.
pub(super) fn fit(bytes: Cursor<'_>) -> ProtocolFit {
    let Ok([.., high, low]) = bytes.peek::<HEADER_BYTES>() else {
        return if bytes.is_cut_within(HEADER_BYTES) {
            ProtocolFit::Possible
        } else {
            ProtocolFit::No
        };
    };
    let mut ether_type = u16::from_be_bytes([*high, *low]);
    let mut rest = bytes.ahead(HEADER_BYTES);
    while vlan::is_tag(ether_type)
        && let Ok([_, _, high, low]) = rest.take::<4>()
    {
        ether_type = u16::from_be_bytes([*high, *low]);
    }
    fit_data(ether_type, rest)
}

/// How well data of an `EtherType`, or length, fit.
#[inline]
pub(super) fn fit_data(ether_type: u16, rest: Cursor<'_>) -> ProtocolFit {
    match ether_type {
        ipv4::ETHER_TYPE => ipv4::fit(rest),
        ipv6::ETHER_TYPE => ipv6::fit(rest),
        arp::ETHER_TYPE => arp::fit(rest),
        MIN_ETHER_TYPE.. => ProtocolFit::Possible,
        length => {
            let n_data = usize::from(length);
            let is_possible = (MIN_LLC_BYTES..=rest.wire_left()).contains(&n_data);
            if is_possible {
                ProtocolFit::Possible
            } else {
                ProtocolFit::No
            }
        }
    }
}

/// What a carrier holds that does not say so: an IP packet, or else a whole frame.
pub(super) fn guess(bytes: Cursor<'_>) -> u16 {
    let [ip4, ip6, frame] = [ipv4::fit(bytes), ipv6::fit(bytes), fit(bytes)];
    if ip4 != ProtocolFit::No && ip4 >= frame {
        ipv4::ETHER_TYPE
    } else if ip6 != ProtocolFit::No && ip6 >= frame {
        ipv6::ETHER_TYPE
    } else {
        BRIDGED
    }
}

#[cfg(test)]
mod tests {
    use super::super::vectors::{assert_stop, assert_tcp, assert_udp, frame, read, read_cut};
    use super::super::{StopReason, layer_path};
    use super::*;

    #[test]
    fn carries_ip() {
        assert_udp("EU", "ethernet/ipv4/udp", -1);
        assert_tcp("ET", "ethernet/ipv4/tcp", -1);
        assert_udp("E6", "ethernet/ipv6/udp", -1);
    }

    #[test]
    fn padding_and_check_sequence_are_no_data() {
        assert_udp(
            "EU 00000000000000000000000000000000",
            "ethernet/ipv4/udp",
            -1,
        );
        assert_udp(
            "EU 00000000000000000000000000000000ad2557d3",
            "ethernet/ipv4/udp",
            -1,
        );
    }

    #[test]
    fn an_unknown_ether_type_is_data() {
        let packet = read("ffffffffffff02000000000188b5 0102030405");
        assert_eq!(layer_path(&packet), "ethernet");
        assert_eq!(
            (packet.ether_type, packet.ip_version, packet.protocol),
            (0x88b5, 0, -1)
        );
        assert_eq!(
            (packet.network_at, packet.transport_at, packet.end_at),
            (14, 14, 19)
        );
        assert_eq!((packet.transport_wire_bytes, packet.stop), (5, None));
    }

    #[test]
    fn a_frame_without_its_header_stops() {
        assert_stop(&read("ffffffffffff0200"), "ethernet", StopReason::Truncated);
        assert_stop(&read_cut("EU", 13), "ethernet", StopReason::SnapLength);
        let stop = read_cut("EU", 13).stop.unwrap();
        assert_eq!((stop.at_byte, stop.needed, stop.had), (0, 14, 13));
    }

    #[test]
    fn fits_what_it_carries() {
        let fit_of = |text| {
            let bytes = frame(text);
            fit(Cursor::new(&bytes, bytes.len()))
        };
        assert_eq!(fit_of("EU"), ProtocolFit::Sure);
        assert_eq!(
            fit_of("0200000000020200000000018100b0640800 IU"),
            ProtocolFit::Sure
        );
        assert_eq!(
            fit_of("02000000000202000000000188b5 00"),
            ProtocolFit::Possible
        );
        assert_eq!(fit_of("0200000000020200000000010800 I6"), ProtocolFit::No);
        assert_eq!(fit_of("020000000002020000000001"), ProtocolFit::No);
        assert_eq!(
            fit_of("0000000000000000000000000000 0000000000"),
            ProtocolFit::No
        );
    }
}
