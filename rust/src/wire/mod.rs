//! The layers of a packet: one file per protocol, each naming its own parents.

/// What one frame carries, innermost. Reused from frame to frame; positions are into the frame.
#[derive(Clone, Debug)]
pub struct Packet {
    /// Layer ids, outermost first; names through [`layer_name`].
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
    /// Why decoding stopped early, if it did.
    pub stop: Option<Stop>,
}

/// Deepest nesting that is followed; deeper frames stop with `TooDeep`.
pub const MAX_LAYERS: usize = 32;

/// Why, and where, decoding of a frame stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stop {
    /// What kind of end it was.
    pub reason: Reason,
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
pub enum Reason {
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
