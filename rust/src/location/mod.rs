//! Location: where within its file a frame was seen; one file may hold several capture points.
//!
//! A [`Location`] is what tells them apart: the interface that the file or the link layer names, the
//! direction, encapsulation, tags, addresses of the link and hops left. A [`PointTree`] is what the
//! survey made of it: the rule by which each frame of a file belongs to one of its points.

mod link;
mod tree;

use crate::base::hash::{address_hash, fold};
use crate::file::{Frame, FrameDirection};
use crate::wire::Packet;
use serde::{Deserialize, Serialize};
pub use tree::{Branch, Dimension, Node, PointTree, Value, part_of};

/// What is known of where a frame was seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Location {
    /// Interface of the file.
    pub interface: u32,
    /// Interface within it: the index that SLL2 and NFLOG give, or PKTAP's name as a number; -1 if
    /// there is none.
    pub port: i64,
    /// 1 received, 2 sent, 0 if nobody says.
    pub direction: u8,
    /// Tunnels around the innermost packet.
    pub depth: u8,
    /// Innermost tunnel, -1 if there is none.
    pub tunnel: i64,
    /// VLAN ids of the outermost and of the innermost Ethernet header, as one number.
    pub vlans: i64,
    /// Source and destination of the outermost Ethernet header, 0 where there is none.
    pub outer_macs: [i64; 2],
    /// And of the innermost one.
    pub inner_macs: [i64; 2],
    /// TTL or hop limit of the outermost packet, as far as it is directly behind the link layer.
    pub outer_ttl: u8,
    /// And of the innermost one.
    pub ttl: u8,
    /// The innermost source address, hashed.
    pub source: i64,
}

impl Location {
    /// The location of a decoded frame.
    #[must_use]
    pub fn of(frame: &Frame<'_>, packet: &Packet) -> Self {
        let link = link::read(frame);
        let inner = link::ethernet(frame.bytes, packet.ethernet_at);
        Self {
            interface: frame.interface,
            port: link.port,
            direction: direction_of(frame, &link),
            depth: packet.depth,
            tunnel: packet.tunnel_id,
            vlans: link.ethernet.vlans << 24 ^ inner.vlans,
            outer_macs: link.ethernet.macs,
            inner_macs: inner.macs,
            outer_ttl: link.ttl,
            ttl: packet.ttl,
            source: address_hash(packet.src).cast_signed(),
        }
    }
}

fn direction_of(frame: &Frame<'_>, link: &link::Link) -> u8 {
    match frame.direction {
        FrameDirection::In => 1,
        FrameDirection::Out => 2,
        FrameDirection::Unknown => link.direction,
    }
}

/// Where within its file a frame was seen, as far as its link layer tells, as one number.
pub(crate) fn place_of(frame: &Frame<'_>) -> u64 {
    let link = link::read(frame);
    let [source, target] = link.ethernet.macs;
    let numbers = [link.port, link.ethernet.vlans, source, target];
    let one = u64::from(frame.interface) << 8 | u64::from(link.direction);
    numbers
        .iter()
        .fold(one, |digest, number| fold(digest, number.cast_unsigned()))
}
