//! Conditions on rows of the packets table that can be told before there is a row.

use crate::file::Frame;
use crate::wire::Packet;
use std::collections::HashSet;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// What a row must fulfil. What is null fulfils nothing.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "python", derive(pyo3::FromPyObject))]
pub enum Condition {
    /// All of some conditions.
    All {
        /// These.
        all: Vec<Condition>,
    },
    /// At least one of some conditions.
    Any {
        /// These.
        any: Vec<Condition>,
    },
    /// A column of numbers is within bounds.
    Within {
        /// The column.
        number: String,
        /// The least that is let through.
        least: i64,
        /// The most.
        most: i64,
    },
    /// A column of numbers has one of some values.
    Among {
        /// The column.
        number: String,
        /// The values.
        among: HashSet<i64>,
    },
    /// An address is one of some, or none of them.
    Address {
        /// The column.
        address: String,
        /// As they are written.
        among: HashSet<IpAddr>,
        /// False: none of them.
        is_among: bool,
    },
}

impl Condition {
    /// Whether the row of a frame fulfils it.
    #[must_use]
    pub fn admits(&self, frame: &Frame<'_>, packet: &Packet) -> bool {
        match self {
            Self::All { all } => all.iter().all(|one| one.admits(frame, packet)),
            Self::Any { any } => any.iter().any(|one| one.admits(frame, packet)),
            Self::Within {
                number: name,
                least,
                most,
            } => number(name, frame, packet).is_some_and(|n| *least <= n && n <= *most),
            Self::Among {
                number: name,
                among,
            } => number(name, frame, packet).is_some_and(|n| among.contains(&n)),
            Self::Address {
                address: name,
                among,
                is_among,
            } => address(name, packet).is_some_and(|one| among.contains(&one) == *is_among),
        }
    }
}

/// What stands in a column of numbers.
#[inline]
pub(super) fn number(name: &str, frame: &Frame<'_>, packet: &Packet) -> Option<i64> {
    let of_ip = |n: i64| (is_ip(packet) && n >= 0).then_some(n);
    match name {
        "frame" => Some(i64::try_from(frame.number).unwrap_or(i64::MAX)),
        "t_ns" => Some(frame.t_ns),
        "stamp_ns" => frame.stamp_ns,
        "src_port" => of_ip(packet.src_port.into()),
        "dst_port" => of_ip(packet.dst_port.into()),
        "protocol" => of_ip(packet.protocol.into()),
        "tunnel_id" => (packet.tunnel_id >= 0).then_some(packet.tunnel_id),
        "wire_bytes" => Some(frame.wire_bytes.into()),
        "captured_bytes" => Some(i64::try_from(frame.bytes.len()).unwrap_or(i64::MAX)),
        _ => None,
    }
}

/// What stands in a column of addresses.
#[inline]
pub(super) fn address(name: &str, packet: &Packet) -> Option<IpAddr> {
    let bits = match name {
        "src" => packet.src,
        "dst" => packet.dst,
        _ => return None,
    };
    is_ip(packet).then(|| {
        if packet.ip_version == 4 {
            let bits = u32::try_from(bits & u128::from(u32::MAX)).unwrap_or(0);
            Ipv4Addr::from_bits(bits).into()
        } else {
            Ipv6Addr::from_bits(bits).into()
        }
    })
}

/// Whether the innermost packet is one of IP, and was read to its end.
#[inline]
fn is_ip(packet: &Packet) -> bool {
    packet.stop.is_none() && packet.ip_version != 0
}
