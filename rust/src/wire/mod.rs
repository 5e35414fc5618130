//! The wire: layers of a packet, one file per protocol, each naming its own parents.
//!
//! A [`Decoder`] leads a [`Packet`] through the layers of one frame. Each layer reads its own header,
//! writes down what it says, and names what follows ([`Next`]); it knows nothing of the others. A
//! layer that carries a whole packet of its own says [`Next::Inside`]: it is followed only if what is
//! there looks like it ([`Layer::fit`]), else the carrier is the packet.
//!
//! A network packet (IP, or the data of a non-IP frame) is written down when its header has been
//! read, over the one that carries it; so a `Packet` is always one of them as a whole.

mod decoder;
mod links;
mod names;
mod packet;
mod parent;
mod prediction;
mod tables;
pub mod telemetry;
#[cfg(test)]
pub(crate) mod vectors;

use crate::base::cursor::{Cursor, Short};
pub use decoder::Decoder;
pub use links::why_unread;
pub use names::{is_encrypted, is_opaque, layer_name, layer_path};
pub use packet::{Carrier, MAX_LAYERS, Packet, Stop, StopReason};
pub use parent::{Parent, parse_decode};
pub use prediction::Predictions;

macro_rules! layers {
    ($($name:ident),* $(,)?) => {
        $(mod $name;)*
        /// Every layer.
        pub static LAYERS: &[&Layer] = &[$(&$name::LAYER),*];
    };
}

layers![
    ah, arp, avsp, capwap, chdlc, cmd, dsa, eoip, erf, erspan, esp, etag, etherip, ethernet,
    fabricpath, fou, frelay, geneve, gigamon, gre, gtpu, gue, icmp, icmpv6, int, ipip, ipv4, ipv6,
    juniper, l2tp, lisp, llc, macsec, mpacket, mpls, nflog, nsh, null, pbb, pktap, ppi, ppp, pppoe,
    pptp, raw, slip, sll, sll2, srv6, stt, tcp, teredo, trill, ttag, tzsp, udp, upper_pdu, vlan,
    vntag, vxlan, vxlan_gpe, wccp, wireguard,
];

/// One protocol.
pub struct Layer {
    /// What paths and users call it.
    pub name: &'static str,
    /// Where it is specified.
    pub spec: &'static str,
    /// What it is found behind.
    pub parents: &'static [Parent],
    /// Does what stands at the cursor look like this protocol? Asked where a guess led here.
    fit: fn(Cursor<'_>) -> ProtocolFit,
    /// Pass the header.
    decode: fn(&mut Walk<'_>, &mut Packet) -> Result<Next, Halt>,
}

/// What follows a header.
#[derive(Clone, Copy)]
enum Next {
    EtherType(u16),
    IpProtocol(u8),
    TcpDst(u16),
    UdpDst(u16),
    Length,
    /// What another link type would start with.
    Link(u16),
    /// A packet of its own, of this `EtherType`.
    Inside(u16),
    InsideGre(u16),
    /// What sessions of `L2TPv3` carry.
    Session,
    /// Nothing that is looked at.
    Payload,
}

/// Why a layer could not go on.
#[derive(Clone, Copy)]
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
enum ProtocolFit {
    No,
    Possible,
    Sure,
}

/// What has been seen on the way to the next network packet.
struct Walk<'a> {
    bytes: Cursor<'a>,
    /// The link type of the frame.
    link: u16,
    session: l2tp::L2tpSession,
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
    fn new(bytes: Cursor<'a>, link: u16, session: l2tp::L2tpSession) -> Self {
        let ethernet_at = usize::MAX;
        Self {
            bytes,
            link,
            session,
            parent_at: 0,
            data_at: None,
            ethernet_at,
            ether_type: 0,
            tunnel_id: -1,
            n_networks: 0,
        }
    }
}
