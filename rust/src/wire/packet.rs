//! The innermost packet of a frame, as far as it could be read.

use super::telemetry::{Inserted, Telemetry};
use super::{Walk, ipv4};
use crate::base::cursor::Cursor;
use crate::base::hash::{address_hash, fold};
use std::fmt;

/// What one frame carries, innermost. Reused from frame to frame; positions are into the frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Packet {
    /// Layer ids, outermost first; names through [`super::layer_name`].
    pub layers: [u8; MAX_LAYERS],
    /// How many of them.
    pub n_layers: usize,
    /// 4 or 6; 0 if the innermost packet is not IP.
    pub ip_version: u8,
    /// Innermost addresses; IPv4 in the low 32 bits.
    pub src: u128,
    /// See `src`.
    pub dst: u128,
    /// Innermost IP protocol (after IPv6 extension headers), -1 if there is none.
    pub protocol: i16,
    /// Innermost ports, -1 if there are none (fragments after the first, ICMP, cut too short).
    pub src_port: i32,
    /// See `src_port`.
    pub dst_port: i32,
    /// VNI, GRE key, TEID … of the innermost tunnel, -1 if there is none.
    pub tunnel_id: i64,
    /// Innermost IPv4 identification (or that of the IPv6 fragment header), else 0.
    pub ip_id: u32,
    /// Fragment offset in bytes with bit 0 set if more fragments follow; 0 if not a fragment.
    pub fragment: u32,
    /// Where the outermost IP header around the innermost packet starts that is a fragment's,
    /// or that has a segment of STT; `usize::MAX` if there is none.
    pub carrier_at: usize,
    /// Where that segment starts, with what looks like TCP's header.
    pub segment_at: usize,
    /// Innermost TTL or hop limit.
    pub ttl: u8,
    /// Innermost type of service or traffic class.
    pub tos: u8,
    /// IPv4 ids of all outer IPv4 headers, combined; 0 if there is no outer header or all are 0.
    pub outer_ip_id: u32,
    /// Where the innermost Ethernet header starts; `usize::MAX` if there is none.
    pub ethernet_at: usize,
    /// `EtherType` that led to the innermost network packet (0 if unknown, as for raw IP).
    pub ether_type: u16,
    /// Where the innermost network packet (IP, ARP, …) starts.
    pub network_at: usize,
    /// Where the innermost layer 4 starts; for non-IP equal to `network_at`.
    pub transport_at: usize,
    /// Where the captured bytes of the innermost packet end (padding, trailers and FCS cut off).
    pub end_at: usize,
    /// Layer-4 length as the IP header says (non-IP: what the wire length leaves), bytes.
    pub transport_wire_bytes: u32,
    /// How many tunnels surround the innermost packet.
    pub depth: u8,
    /// The outermost header that carries a time stamp, and where it starts.
    pub carrier: Option<(Carrier, u32)>,
    /// Where the frame starts and ends that a mirror header carries, the outermost.
    pub mirrored: Option<(u32, u32)>,
    /// The mirror session that carries the frame, the outermost that numbers its frames, and the
    /// frame's number.
    pub mirror: Option<(u64, u32)>,
    /// Telemetry of the nodes it passed, the outermost.
    pub telemetry: Option<Telemetry>,
    /// What telemetry put between its headers.
    pub inserted: Option<Inserted>,
    /// Why decoding stopped early, if it did.
    pub stop: Option<Stop>,
    /// Which prediction filled it: what that one repeats is here already.
    pub(crate) predicted_by: PredictedBy,
}

impl Packet {
    pub(super) const EMPTY: Self = Self {
        layers: [0; MAX_LAYERS],
        n_layers: 0,
        ip_version: 0,
        src: 0,
        dst: 0,
        protocol: -1,
        src_port: -1,
        dst_port: -1,
        tunnel_id: -1,
        ip_id: 0,
        fragment: 0,
        carrier_at: usize::MAX,
        segment_at: usize::MAX,
        ttl: 0,
        tos: 0,
        outer_ip_id: 0,
        ethernet_at: usize::MAX,
        ether_type: 0,
        network_at: 0,
        transport_at: 0,
        end_at: 0,
        transport_wire_bytes: 0,
        depth: 0,
        carrier: None,
        mirrored: None,
        mirror: None,
        telemetry: None,
        inserted: None,
        stop: None,
        predicted_by: PredictedBy(0),
    };

    /// A packet of which nothing is known.
    #[must_use]
    pub fn new() -> Self {
        Self::EMPTY
    }

    /// The captured bytes of layer 4 in the frame that this packet was decoded from.
    #[must_use]
    pub fn transport<'a>(&self, bytes: &'a [u8]) -> &'a [u8] {
        bytes
            .get(self.transport_at..self.end_at)
            .unwrap_or_default()
    }

    /// A network packet starts at `at`; the cursor stands behind its header, bounded by its length.
    #[inline]
    pub(super) fn begin(&mut self, walk: &mut Walk<'_>, at: usize) {
        if walk.n_networks > 0 {
            self.go_inside(walk.n_networks);
        }
        walk.n_networks = walk.n_networks.saturating_add(1);
        walk.data_at = None;
        self.ethernet_at = walk.ethernet_at;
        self.ether_type = walk.ether_type;
        self.tunnel_id = walk.tunnel_id;
        self.src_port = -1;
        self.dst_port = -1;
        self.network_at = at;
        self.transport_at = walk.bytes.at();
        self.end_at = walk.bytes.end();
    }

    /// What is written down is not the innermost packet: it carries another.
    #[inline]
    fn go_inside(&mut self, depth: u8) {
        self.depth = depth;
        if self.fragment != 0 {
            self.carrier_at = self.carrier_at.min(self.network_at);
        }
        if self.ip_version == 4 {
            self.outer_ip_id = ipv4::with_outer_ip_id(self.outer_ip_id, self.ip_id);
        }
    }

    /// Data that no network layer claimed are the packet, unless a broken header follows them.
    #[inline]
    pub(super) fn finish(&mut self, walk: &Walk<'_>) {
        if walk.n_networks == 0 {
            self.begin_data(walk, walk.data_at.unwrap_or(0));
        } else if let (None, Some(at)) = (self.stop, walk.data_at) {
            self.begin_data(walk, at);
        }
    }

    fn begin_data(&mut self, walk: &Walk<'_>, at: usize) {
        let mut walk = Walk {
            bytes: walk.bytes.back_at(at),
            ..*walk
        };
        self.begin(&mut walk, at);
        self.ip_version = 0;
        (self.src, self.dst, self.protocol) = (0, 0, -1);
        (self.ip_id, self.fragment, self.ttl, self.tos) = (0, 0, 0, 0);
        self.transport_wire_bytes = u32::try_from(walk.bytes.wire_left()).unwrap_or(u32::MAX);
    }

    /// Both ports, where they were captured.
    #[inline]
    pub(super) fn take_ports(&mut self, bytes: Cursor<'_>) {
        if let Ok([src_high, src_low, dst_high, dst_low]) = bytes.peek() {
            self.src_port = u16::from_be_bytes([*src_high, *src_low]).into();
            self.dst_port = u16::from_be_bytes([*dst_high, *dst_low]).into();
        }
    }

    /// Both ports of the header at a place.
    #[inline]
    pub(super) fn read_ports(bytes: &[u8], at: usize, packet: &mut Self) {
        packet.take_ports(Cursor::new(bytes, bytes.len()).ahead(at));
    }

    /// True if a layer-4 header of `n` bytes may be incomplete: cut by the capture, or fragmented.
    pub(super) fn may_end_within(&self, bytes: Cursor<'_>, n: usize) -> bool {
        self.fragment != 0 || bytes.is_cut_within(n)
    }

    /// A header that carries a stamp starts at `at`; of several the outermost counts.
    pub(super) fn note_carrier(&mut self, carrier: Carrier, at: usize) {
        if let (None, Ok(at)) = (self.carrier, u32::try_from(at)) {
            self.carrier = Some((carrier, at));
        }
    }

    /// Of several the outermost counts.
    pub(super) fn note_telemetry(&mut self, found: Option<Telemetry>) {
        self.telemetry = self.telemetry.or(found);
    }

    /// What is at the cursor is a whole frame that was mirrored.
    pub(super) fn note_mirrored(&mut self, bytes: Cursor<'_>) {
        if let (None, Ok(at), Ok(end)) = (
            self.mirrored,
            u32::try_from(bytes.at()),
            u32::try_from(bytes.end()),
        ) {
            self.mirrored = Some((at, end));
        }
    }

    /// A mirror session between the present addresses numbers its frames.
    pub(super) fn note_session(&mut self, session: u16, number: u32) {
        let ends = fold(address_hash(self.src), address_hash(self.dst));
        let key = ends << 10 | u64::from(session);
        self.mirror = self.mirror.or(Some((key, number)));
    }

    /// A fragment, or a packet that travels in fragments or segments.
    #[inline]
    pub(crate) fn is_in_parts(&self) -> bool {
        self.fragment != 0 || self.carrier_at != usize::MAX
    }

    /// What starts at `at`, in the present network packet, is only a part of what it carries.
    pub(super) fn note_segment(&mut self, at: usize) {
        self.carrier_at = self.carrier_at.min(self.network_at);
        self.segment_at = self.segment_at.min(at);
    }

    pub(super) fn drop_layer(&mut self) {
        self.n_layers = self.n_layers.saturating_sub(1);
        if let Some(slot) = self.layers.get_mut(self.n_layers) {
            *slot = 0;
        }
    }
}

/// The number of a prediction, 0 for none; of the packet it says nothing.
#[derive(Clone, Copy)]
pub(crate) struct PredictedBy(pub(super) u64);

impl PartialEq for PredictedBy {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl fmt::Debug for PredictedBy {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("_")
    }
}

impl Default for Packet {
    fn default() -> Self {
        Self::EMPTY
    }
}

/// A header that carries a time stamp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carrier {
    /// ERSPAN type III.
    Erspan3,
    /// Arista's of 7280R and 7500R.
    Arista,
    /// Cisco's time tag.
    Ttag,
    /// Gigamon's header.
    Gigamon,
}

/// Deepest nesting that is followed; deeper frames stop with `TooDeep`.
pub const MAX_LAYERS: usize = 32;

/// Why, and where, decoding of a frame stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stop {
    /// What kind of end it was.
    pub reason: StopReason,
    /// Id of the layer that could not be decoded.
    pub layer: u8,
    /// Where in the frame that layer starts.
    pub at_byte: usize,
    /// Bytes needed.
    pub needed: usize,
    /// Bytes there.
    pub had: usize,
}

/// The kinds of early end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// The capture's snap length cut the frame.
    SnapLength,
    /// The frame itself is too short for what its headers claim.
    Truncated,
    /// A field has a value that its specification forbids.
    Malformed,
    /// The link type or version is not known here.
    Unknown,
    /// More than [`MAX_LAYERS`] layers.
    TooDeep,
}
