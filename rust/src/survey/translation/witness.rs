//! A packet that may have been translated, and what is read of it.

use super::session::Addresses;
use crate::base::hash::word;
use crate::identity::{TranslationKind, Unaddressed};
use crate::wire::Packet;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// A packet that may have been translated.
#[derive(Clone, Debug)]
pub(super) struct Witness {
    /// What it is without addresses.
    pub(super) unaddressed: Unaddressed,
    /// Its identity's flow.
    pub(super) flow: u64,
    /// And address pair.
    pub(super) pair: u64,
    /// Its addresses.
    pub(super) addresses: Addresses,
    /// The point.
    pub(super) place: u16,
    /// File and interface.
    pub(super) source: (usize, u32),
    /// Common time, coarsely.
    pub(super) aligned_ns: i64,
    /// The capture's.
    pub(super) t_ns: i64,
    /// A TCP SYN without ACK.
    pub(super) opens: bool,
    /// TCP with time stamps.
    pub(super) has_time_stamp: bool,
}

pub(super) fn addresses_of(
    packet: &Packet,
    unaddressed: &Unaddressed,
    transport: &[u8],
) -> Addresses {
    let (src_port, dst_port) = match unaddressed.kind {
        TranslationKind::Echo(_) => {
            let identifier = i32::try_from(word(transport, 4, 6)).unwrap_or(-1);
            (identifier, identifier)
        }
        _ => (packet.src_port, packet.dst_port),
    };
    Addresses {
        src: (address(packet, packet.src), src_port),
        dst: (address(packet, packet.dst), dst_port),
        protocol: packet.protocol,
    }
}

fn address(packet: &Packet, bits: u128) -> IpAddr {
    match packet.ip_version {
        4 => IpAddr::V4(Ipv4Addr::from_bits(u32::try_from(bits).unwrap_or(0))),
        _ => IpAddr::V6(Ipv6Addr::from_bits(bits)),
    }
}

/// RFC 7323 §3.2: an option of kind 8 and length 10.
pub(super) fn has_time_stamp(transport: &[u8]) -> bool {
    const FIXED_BYTES: usize = 20;
    let length = transport
        .get(12)
        .map_or(0, |octet| usize::from(octet >> 4) * 4);
    let mut options = transport
        .get(FIXED_BYTES..length.min(transport.len()))
        .unwrap_or(&[]);
    loop {
        options = match options {
            [8, 10, ..] => return true,
            [1, rest @ ..] => rest,
            [_, length, ..] if *length > 1 => options.get(usize::from(*length)..).unwrap_or(&[]),
            _ => return false,
        };
    }
}
