//! IPv4.
//!
//! Spec: RFC 791 §3.1.
//!
//! ```text
//! |Version|  IHL  |Type of Service|          Total Length         |
//! |         Identification        |Flags|      Fragment Offset    |
//! |  Time to Live |    Protocol   |         Header Checksum       |
//! |                       Source Address                          |
//! |                    Destination Address                        |
//! |                    Options                    |    Padding    |
//! ```

use super::prediction::{HeaderRole, Predictable};
use super::{Halt, Layer, Next, Packet, Parent, ProtocolFit, Walk};
use crate::base::cursor::{Cursor, be};

pub(super) const ETHER_TYPE: u16 = 0x0800;

pub(super) static LAYER: Layer = Layer {
    name: "ipv4",
    spec: "RFC 791 §3.1",
    parents: &[Parent::EtherType(ETHER_TYPE), Parent::Link(228)],
    fit,
    decode,
};

pub(super) static PREDICTABLE: Predictable = Predictable {
    layer: &LAYER,
    role: HeaderRole::Network,
    decisive: &[0xff, 0, 0, 0, 0, 0, 0x3f, 0xff, 0, 0xff],
    n_bytes: |header| Some(usize::from(header.first()? & 15) * 4),
    length: Some((2, 0)),
    read,
};

const HEADER_BYTES: usize = 20;
const MORE_FRAGMENTS: u16 = 0x2000;
const OFFSET: u16 = 0x1FFF;

fn decode(walk: &mut Walk<'_>, packet: &mut Packet) -> Result<Next, Halt> {
    let at = walk.bytes.at();
    let header = walk.bytes.peek::<HEADER_BYTES>()?;
    let (n_header, n_total) = lengths(header)?;
    if n_total != 0 {
        walk.bytes.bound(n_total);
    }
    walk.bytes.skip(n_header)?;
    packet.begin(walk, at);
    fill(packet, header);
    if n_total == 0 {
        packet.transport_wire_bytes = u32::try_from(walk.bytes.wire_left()).unwrap_or(u32::MAX);
    }
    Ok(if packet.fragment > 1 {
        Next::Payload
    } else {
        Next::IpProtocol(header[9])
    })
}

/// Of the header and of the whole packet, which is 0 where segmentation offload left it open.
#[inline]
fn lengths(header: &[u8; HEADER_BYTES]) -> Result<(usize, usize), Halt> {
    let n_header = usize::from(header[0] & 15) * 4;
    let n_total = usize::from(u16::from_be_bytes([header[2], header[3]]));
    if header[0] >> 4 != 4 {
        return Err(Halt::Unknown);
    }
    if n_header < HEADER_BYTES || (1..n_header).contains(&n_total) {
        return Err(Halt::Malformed);
    }
    Ok((n_header, n_total))
}

#[inline]
fn fill(packet: &mut Packet, header: &[u8; HEADER_BYTES]) {
    let [
        first,
        tos,
        total_high,
        total_low,
        id_high,
        id_low,
        flags,
        offset,
        ttl,
        protocol,
        _,
        _,
        src @ ..,
        _,
        _,
        _,
        _,
    ] = *header;
    let fragment = u16::from_be_bytes([flags, offset]);
    packet.ip_version = 4;
    packet.tos = tos;
    packet.ip_id = u16::from_be_bytes([id_high, id_low]).into();
    packet.fragment =
        (u32::from(fragment & OFFSET) * 8) | u32::from(fragment & MORE_FRAGMENTS != 0);
    packet.ttl = ttl;
    packet.protocol = protocol.into();
    let n_total = u32::from(u16::from_be_bytes([total_high, total_low]));
    packet.transport_wire_bytes = n_total.saturating_sub(u32::from(first & 15) * 4);
    packet.src = u32::from_be_bytes(src).into();
    packet.dst = u32::from_be_bytes([header[16], header[17], header[18], header[19]]).into();
}

/// Reads the header at a place.
fn read(bytes: &[u8], at: usize, packet: &mut Packet) {
    if let Some(header) = bytes.get(at..).and_then(<[u8]>::first_chunk) {
        fill(packet, header);
    }
}

/// The identifications of headers around a packet, combined.
#[inline]
pub(super) fn outer_ip_id(bytes: &[u8], places: &[usize]) -> u32 {
    places.iter().fold(0, |all, at| {
        let id = bytes.get(at + 4..).and_then(<[u8]>::first_chunk);
        let id = id.copied().map_or(0, u16::from_be_bytes);
        with_outer_ip_id(all, id.into())
    })
}

#[inline]
pub(super) fn with_outer_ip_id(all: u32, id: u32) -> u32 {
    all.rotate_left(11) ^ id
}

/// Sure if the length is right, or at least the checksum.
#[inline]
pub(super) fn fit(bytes: Cursor<'_>) -> ProtocolFit {
    let Ok(header) = bytes.peek::<HEADER_BYTES>() else {
        let is_open = bytes.is_cut_within(HEADER_BYTES)
            && bytes.peek().map_or(true, |[first]| first >> 4 == 4);
        return if is_open {
            ProtocolFit::Possible
        } else {
            ProtocolFit::No
        };
    };
    match lengths(header) {
        Ok((_, n_total)) if n_total == bytes.wire_left() => ProtocolFit::Sure,
        Ok((HEADER_BYTES, _)) if is_sum_right(header) => ProtocolFit::Sure,
        Ok(_) => ProtocolFit::Possible,
        Err(_) => ProtocolFit::No,
    }
}

/// The ones' complement sum over a header with its checksum is all ones (RFC 1071 §1).
fn is_sum_right(header: &[u8; HEADER_BYTES]) -> bool {
    let sum: u32 = header.chunks(2).map(be).sum();
    (sum & 0xFFFF) + (sum >> 16) == 0xFFFF
}

#[cfg(test)]
mod tests {
    use super::super::StopReason;
    use super::super::vectors::{assert_stop, assert_tcp, assert_udp, read, read_cut, read_link};

    #[test]
    fn says_what_the_header_says() {
        let packet = read("EU 0000");
        assert_eq!((packet.ip_version, packet.ttl, packet.tos), (4, 64, 0));
        assert_eq!(
            (packet.ip_id, packet.fragment, packet.ether_type),
            (0x1234, 0, 0x0800)
        );
        assert_eq!(
            (packet.network_at, packet.transport_at, packet.end_at),
            (14, 34, 44)
        );
        assert_eq!(packet.transport_wire_bytes, 10);
    }

    #[test]
    fn a_total_length_of_0_means_all_the_wire_had() {
        let text = concat!(
            "02000000000202000000000108004500000012344000400614c20a0000010a000002",
            "9c409c41000000010000000250100400809d0000dead"
        );
        assert_tcp(text, "ethernet/ipv4/tcp", -1);
        let cut = read_cut(text, 50);
        assert_eq!(
            (cut.end_at, cut.transport_wire_bytes, cut.stop),
            (50, 22, None)
        );
    }

    #[test]
    fn options_are_passed() {
        let text = "020000000002020000000001 0800 46000022 12344000 40110000 0a0000010a000002 94040000 \
                    9c409c41000ad4a7dead";
        assert_udp(text, "ethernet/ipv4/udp", -1);
        assert_stop(&read_cut(text, 36), "ethernet/ipv4", StopReason::SnapLength);
    }

    #[test]
    fn a_later_fragment_has_no_ports() {
        let packet = read(
            "0200000000020200000000010800 4500001c 12342002 40110000 0a0000010a000002 9c409c41000ad4a7",
        );
        assert_eq!((packet.fragment, packet.protocol), (17, 17));
        assert_eq!(
            (packet.src_port, packet.n_layers, packet.stop),
            (-1, 2, None)
        );
    }

    #[test]
    fn a_first_fragment_has_ports() {
        let packet = read(
            "0200000000020200000000010800 4500001c 12342000 40110000 0a0000010a000002 9c409c41000ad4a7",
        );
        assert_eq!(
            (packet.fragment, packet.src_port, packet.dst_port),
            (1, 40_000, 40_001)
        );
    }

    #[test]
    fn is_a_link_type() {
        assert_udp_link(228, "ipv4/udp");
    }

    fn assert_udp_link(link: u16, path: &str) {
        let packet = read_link(link, "IU");
        assert_eq!(super::super::layer_path(&packet), path);
        assert_eq!(
            (packet.network_at, packet.ether_type, packet.src_port),
            (0, 0, 40_000)
        );
    }

    #[test]
    fn bad_lengths_and_versions_stop() {
        let with = |start: &str| {
            read(&format!(
                "0200000000020200000000010800 {start} 12344000 40110000 0a0000010a000002 00"
            ))
        };
        assert_stop(&with("4400001e"), "ethernet/ipv4", StopReason::Malformed);
        assert_stop(&with("45000013"), "ethernet/ipv4", StopReason::Malformed);
        assert_stop(&with("6500001e"), "ethernet/ipv4", StopReason::Unknown);
        assert_stop(&with("4f00003c"), "ethernet/ipv4", StopReason::Truncated);
        assert_stop(
            &read("0200000000020200000000010800 4500"),
            "ethernet/ipv4",
            StopReason::Truncated,
        );
    }
}
