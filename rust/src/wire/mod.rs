//! The layers of a packet: one file per protocol, each naming its own parents.
//!
//! A [`Decoder`] leads a [`Packet`] through the layers of one frame. Each layer reads its own header,
//! writes down what it says, and names what follows ([`Next`]); it knows nothing of the others. A
//! layer that carries a whole packet of its own says [`Next::Inside`]: it is followed only if what is
//! there looks like it ([`Layer::fit`]), else the carrier is the packet.
//!
//! A network packet (IP, or the data of a non-IP frame) is written down when its header has been
//! read, over the one that carries it; so a `Packet` is always one of them as a whole.

mod decoder;
#[cfg(test)]
mod vectors;

use crate::cursor::{Cursor, Short};
pub use decoder::{Decoder, layer_name, layer_path};

macro_rules! layers {
    ($($name:ident),* $(,)?) => {
        $(mod $name;)*
        static ALL: &[&Layer] = &[$(&$name::LAYER),*];
        /// Name and specification of every layer.
        pub static LAYERS: &[(&str, &str)] = &[$(($name::LAYER.name, $name::LAYER.spec)),*];
    };
}

layers![
    arp, erspan, ethernet, geneve, gre, gtpu, icmp, icmpv6, ipip, ipv4, ipv6, llc, mpls, null, raw,
    sll, sll2, tcp, udp, vlan, vxlan, vxlan_gpe,
];

/// One protocol.
struct Layer {
    name: &'static str,
    spec: &'static str,
    parents: &'static [Parent],
    /// Does what stands at the cursor look like this protocol? Asked where a guess led here.
    fit: fn(Cursor<'_>) -> Fit,
    /// Pass the header.
    decode: fn(&mut Walk<'_>, &mut Packet) -> Result<Next, Halt>,
}

/// How a layer is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parent {
    /// A capture file's link type.
    Link(u16),
    /// An `EtherType`, wherever one stands.
    EtherType(u16),
    /// A protocol of GRE that is no `EtherType`.
    GreProtocol(u16),
    /// A protocol of IPv4, or the last next header of IPv6.
    IpProtocol(u8),
    /// A UDP destination port.
    UdpDst(u16),
    /// A length where an `EtherType` could stand (IEEE 802.3 §3.2.6).
    Length,
}

/// What follows a header.
enum Next {
    EtherType(u16),
    IpProtocol(u8),
    UdpDst(u16),
    Length,
    /// A packet of its own, of this `EtherType`.
    Inside(u16),
    InsideGre(u16),
    /// Nothing that is looked at.
    Payload,
}

/// Why a layer could not go on.
enum Halt {
    Short(Short),
    Malformed,
    Unknown,
    /// It is not this protocol after all.
    Declined,
}

impl From<Short> for Halt {
    fn from(short: Short) -> Self {
        Self::Short(short)
    }
}

/// How well bytes fit a protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Fit {
    No,
    Possible,
    Sure,
}

/// What has been seen on the way to the next network packet.
struct Walk<'a> {
    bytes: Cursor<'a>,
    /// Where the layer before the present one starts.
    parent_at: usize,
    /// Where the data of a link layer start that no network packet has claimed yet.
    data_at: Option<usize>,
    ethernet_at: usize,
    ether_type: u16,
    tunnel_id: i64,
    n_networks: u8,
}

impl<'a> Walk<'a> {
    fn new(bytes: Cursor<'a>) -> Self {
        let ethernet_at = usize::MAX;
        Self {
            bytes,
            parent_at: 0,
            data_at: None,
            ethernet_at,
            ether_type: 0,
            tunnel_id: -1,
            n_networks: 0,
        }
    }
}

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

impl Packet {
    const EMPTY: Self = Self {
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
        stop: None,
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
    fn begin(&mut self, walk: &mut Walk<'_>, at: usize) {
        if walk.n_networks > 0 {
            self.depth = walk.n_networks;
            if self.ip_version == 4 {
                self.outer_ip_id = self.outer_ip_id.rotate_left(11) ^ self.ip_id;
            }
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

    /// Data that no network layer claimed are the packet, unless a broken header follows them.
    #[inline]
    fn finish(&mut self, walk: &Walk<'_>) {
        if let Some(at) = walk
            .data_at
            .filter(|_| self.stop.is_none() || walk.n_networks == 0)
        {
            self.begin_data(walk, at);
        } else if walk.n_networks == 0 {
            self.end_at = walk.bytes.end();
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
    fn take_ports(&mut self, bytes: Cursor<'_>) {
        if let Ok([src_high, src_low, dst_high, dst_low]) = bytes.peek() {
            self.src_port = u16::from_be_bytes([*src_high, *src_low]).into();
            self.dst_port = u16::from_be_bytes([*dst_high, *dst_low]).into();
        }
    }

    /// True if a layer-4 header of `n` bytes may be incomplete: cut by the capture, or fragmented.
    fn may_end_within(&self, bytes: Cursor<'_>, n: usize) -> bool {
        self.fragment != 0 || bytes.is_cut_within(n)
    }

    fn drop_layer(&mut self) {
        self.n_layers = self.n_layers.saturating_sub(1);
        if let Some(slot) = self.layers.get_mut(self.n_layers) {
            *slot = 0;
        }
    }
}

impl Default for Packet {
    fn default() -> Self {
        Self::EMPTY
    }
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
