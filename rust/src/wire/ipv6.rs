//! IPv6 with its extension headers.
//!
//! Spec: RFC 8200 §3, §4.
//!
//! ```text
//! |Version| Traffic Class |           Flow Label                  |
//! |         Payload Length        |  Next Header  |   Hop Limit   |
//! |                   Source Address (128)                        |
//! |                Destination Address (128)                      |
//!
//! |  Next Header  |  Hdr Ext Len  |  options, or a routing header |
//! |  Next Header  |   Reserved    |      Fragment Offset    |Res|M|
//! |                         Identification                        |
//! ```

use super::prediction::{HeaderRole, Predictable};
use super::{Halt, Layer, Next, Packet, Parent, ProtocolFit, Walk, telemetry};
use crate::base::cursor::{Cursor, be};

pub(super) const ETHER_TYPE: u16 = 0x86DD;

pub(super) static LAYER: Layer = Layer {
    name: "ipv6",
    spec: "RFC 8200 §3",
    parents: &[Parent::EtherType(ETHER_TYPE), Parent::Link(229)],
    fit,
    decode,
};

pub(super) static PREDICTABLE: Predictable = Predictable {
    layer: &LAYER,
    role: HeaderRole::Network,
    decisive: &[0xf0, 0, 0, 0, 0, 0, 0xff],
    n_bytes: |header| (!is_extension(*header.get(6)?)).then_some(HEADER_BYTES),
    length: Some((4, HEADER_BYTES)),
    read,
};

const HEADER_BYTES: usize = 40;
const HOP_BY_HOP: u8 = 0;
const ROUTING: u8 = 43;
const FRAGMENT: u8 = 44;
const NO_NEXT_HEADER: u8 = 59;
const DESTINATION_OPTIONS: u8 = 60;
/// Offset in bytes, and whether more fragments follow (RFC 8200 §4.5).
const OFFSET_AND_MORE: u16 = 0xFFF9;

fn decode(walk: &mut Walk<'_>, packet: &mut Packet) -> Result<Next, Halt> {
    let at = walk.bytes.at();
    let header = walk.bytes.take::<HEADER_BYTES>()?;
    if header[0] >> 4 != 6 {
        return Err(Halt::Unknown);
    }
    if let Some(n_payload) = payload_bytes(header) {
        walk.bytes.bound(n_payload);
    }
    packet.begin(walk, at);
    fill(packet, header);
    if payload_bytes(header).is_none() {
        packet.transport_wire_bytes = u32::try_from(walk.bytes.wire_left()).unwrap_or(u32::MAX);
    }
    pass_extensions(walk, packet, header[6])
}

/// None where the length is open: jumbograms (RFC 2675 §3), and segmentation offload.
#[inline]
fn payload_bytes(header: &[u8; HEADER_BYTES]) -> Option<usize> {
    match u16::from_be_bytes([header[4], header[5]]) {
        0 if header[6] != NO_NEXT_HEADER => None,
        n_payload => Some(n_payload.into()),
    }
}

#[inline]
fn fill(packet: &mut Packet, header: &[u8; HEADER_BYTES]) {
    let [
        high,
        low,
        _,
        _,
        length_high,
        length_low,
        next_header,
        hop_limit,
        addresses @ ..,
    ] = header;
    let (src, dst) = addresses.split_at(16);
    packet.ip_version = 6;
    packet.tos = high << 4 | low >> 4;
    (packet.ip_id, packet.fragment) = (0, 0);
    packet.ttl = *hop_limit;
    packet.protocol = (*next_header).into();
    packet.transport_wire_bytes = u16::from_be_bytes([*length_high, *length_low]).into();
    packet.src = src.try_into().map(u128::from_be_bytes).unwrap_or_default();
    packet.dst = dst.try_into().map(u128::from_be_bytes).unwrap_or_default();
}

/// Reads the header at a place.
fn read(bytes: &[u8], at: usize, packet: &mut Packet) {
    if let Some(header) = bytes.get(at..).and_then(<[u8]>::first_chunk) {
        fill(packet, header);
    }
}

#[inline]
fn pass_extensions(
    walk: &mut Walk<'_>,
    packet: &mut Packet,
    mut next_header: u8,
) -> Result<Next, Halt> {
    let start = walk.bytes.at();
    let n_payload = packet.transport_wire_bytes;
    while is_extension(next_header) {
        next_header = pass_extension(walk, packet, next_header)?;
        let n_passed = u32::try_from(walk.bytes.at() - start).unwrap_or(u32::MAX);
        packet.protocol = next_header.into();
        packet.transport_at = walk.bytes.at();
        packet.transport_wire_bytes = n_payload.saturating_sub(n_passed);
        if packet.fragment > 1 {
            return Ok(Next::Payload);
        }
    }
    Ok(Next::IpProtocol(next_header))
}

#[inline]
fn is_extension(kind: u8) -> bool {
    matches!(kind, HOP_BY_HOP | ROUTING | FRAGMENT | DESTINATION_OPTIONS)
}

/// Options, or a routing header.
fn pass_options(
    walk: &mut Walk<'_>,
    packet: &mut Packet,
    kind: u8,
    n_bytes: usize,
) -> Result<(), Halt> {
    let (options, at) = (walk.bytes.rest(), walk.bytes.at());
    walk.bytes.skip(n_bytes)?;
    if kind != ROUTING {
        let options = options.get(..n_bytes).unwrap_or(options);
        packet.note_telemetry(telemetry::in_options(options, at));
    }
    Ok(())
}

fn pass_extension(walk: &mut Walk<'_>, packet: &mut Packet, kind: u8) -> Result<u8, Halt> {
    let [next_header, n_words, high, low, id @ ..] = *walk.bytes.peek::<8>()?;
    if kind == FRAGMENT {
        packet.fragment = (u16::from_be_bytes([high, low]) & OFFSET_AND_MORE).into();
        packet.ip_id = be(&id);
        walk.bytes.skip(8)?;
    } else {
        pass_options(walk, packet, kind, 8 + 8 * usize::from(n_words))?;
    }
    Ok(next_header)
}

/// Sure if the length is right.
#[inline]
pub(super) fn fit(bytes: Cursor<'_>) -> ProtocolFit {
    let Ok(header) = bytes.peek::<HEADER_BYTES>() else {
        let is_open = bytes.is_cut_within(HEADER_BYTES)
            && bytes.peek().map_or(true, |[first]| first >> 4 == 6);
        return if is_open {
            ProtocolFit::Possible
        } else {
            ProtocolFit::No
        };
    };
    match payload_bytes(header) {
        _ if header[0] >> 4 != 6 => ProtocolFit::No,
        Some(n_payload) if n_payload + HEADER_BYTES == bytes.wire_left() => ProtocolFit::Sure,
        _ => ProtocolFit::Possible,
    }
}

#[cfg(test)]
mod tests {
    use super::super::vectors::{assert_stop, assert_udp, read, read_cut, read_link};
    use super::super::{Packet, StopReason, layer_path};

    const ADDRESSES: &str = "20010db800000000000000000000000120010db8000000000000000000000002";

    fn with(start: &str, rest: &str) -> Packet {
        read(&format!(
            "02000000000202000000000186dd {start} {ADDRESSES} {rest}"
        ))
    }

    #[test]
    fn says_what_the_header_says() {
        let packet = with("6b800000000a1140", "9c409c41000a8d35dead 0000");
        assert_eq!((packet.ip_version, packet.ttl, packet.tos), (6, 64, 0xb8));
        assert_eq!((packet.protocol, packet.ip_id, packet.fragment), (17, 0, 0));
        assert_eq!(
            (
                packet.transport_at,
                packet.end_at,
                packet.transport_wire_bytes
            ),
            (54, 64, 10)
        );
    }

    #[test]
    fn extension_headers_are_passed() {
        let packet = with(
            "6000000000220040",
            "2b00010400000000 3c00000000000000 1100010400000000 9c409c41000a8d35dead",
        );
        assert_eq!(layer_path(&packet), "ethernet/ipv6/udp");
        assert_eq!(
            (packet.protocol, packet.src_port, packet.transport_at),
            (17, 40_000, 78)
        );
        assert_eq!((packet.transport_wire_bytes, packet.end_at), (10, 88));
    }

    #[test]
    fn fragments() {
        let first = with("6000000000122c40", "1100000100abcdef 9c409c41000a8d35dead");
        assert_eq!(
            (first.fragment, first.ip_id, first.src_port),
            (1, 0xab_cdef, 40_000)
        );
        let later = with("6000000000122c40", "1100000800abcdef 9c409c41000a8d35dead");
        assert_eq!(
            (later.fragment, later.protocol, later.src_port),
            (8, 17, -1)
        );
        assert_eq!((later.transport_at, later.transport_wire_bytes), (62, 10));
        let atomic = with("6000000000122c40", "1100000000abcdef 9c409c41000a8d35dead");
        assert_eq!((atomic.fragment, atomic.src_port), (0, 40_000));
    }

    #[test]
    fn a_payload_length_of_0_means_all_the_wire_had() {
        let packet = with("6000000000001140", "9c409c41000a8d35dead");
        assert_eq!((packet.transport_wire_bytes, packet.dst_port), (10, 40_001));
        let none = with("6000000000003b40", "0000");
        assert_eq!(
            (none.transport_wire_bytes, none.protocol, none.end_at),
            (0, 59, 54)
        );
    }

    #[test]
    fn is_a_link_type() {
        let packet = read_link(229, "I6");
        assert_eq!(
            (layer_path(&packet).as_str(), packet.dst_port),
            ("ipv6/udp", 40_001)
        );
        assert_udp("02000000000202000000000186dd I6", "ethernet/ipv6/udp", -1);
    }

    #[test]
    fn bad_lengths_and_versions_stop() {
        assert_stop(
            &with("4000000000001140", ""),
            "ethernet/ipv6",
            StopReason::Unknown,
        );
        assert_stop(
            &with("6000000000020040", "1100"),
            "ethernet/ipv6",
            StopReason::Truncated,
        );
        assert_stop(
            &with("6000000000080040", "1109000000000000"),
            "ethernet/ipv6",
            StopReason::Truncated,
        );
        assert_stop(&read_cut("E6", 53), "ethernet/ipv6", StopReason::SnapLength);
    }
}
