//! Identity: the bytes of a packet that no element on the path may change, as one number.
//!
//! In it: directed flow, IP identification, fragment, layer-4 length as the IP header says, and the
//! layer-4 bytes up to the prefix that every capture point has. Never in it: outer headers, MACs,
//! VLANs, TTL, type of service, TCP flags, window and urgent pointer, any checksum (RFC 5474 §3.2
//! packet content, less what virtual paths rewrite; docs/method/match.md lists the reasons).

pub(crate) mod address_pair;
mod icmp_error;
pub mod message;
pub mod opener;
pub mod stream_bytes;
mod tcp_options;
#[cfg(test)]
mod tests;
pub mod traffic_kind;
mod unaddressed;

use crate::base::hash::{Seed, fold, fold_address, two, word};
use crate::wire::Packet;
use address_pair::pair_of;
use icmp_error::quoted;
use message::Message;
use stream_bytes::StreamBytes;
pub(crate) use unaddressed::halves;
pub use unaddressed::{TranslationKind, Unaddressed};

/// Classes of packets that share one common prefix: a class's short frames must not weaken another.
pub const N_CLASSES: usize = 9;

/// Layer-4 bytes that enter an identity, per class: the fewest that any cut frame has.
pub type Prefixes = [u32; N_CLASSES];

/// No frame was cut: identities take every byte.
pub const WHOLE: Prefixes = [u32::MAX; N_CLASSES];

/// IP protocol number.
pub(crate) const TCP: i16 = 6;
pub(crate) const UDP: i16 = 17;
pub(crate) const ICMP: i16 = 1;
pub(crate) const ICMPV6: i16 = 58;
const ARP: u16 = 0x0806;
/// RFC 826: Ethernet and IPv4 addresses make 28 bytes; what follows is padding.
const ARP_BYTES: usize = 28;
/// Payload of a frame of minimum size, which may be padding from here on (IEEE 802.3 §3.2.8).
const MINIMUM_PAYLOAD_BYTES: usize = 46;

/// What a packet is recognised by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The same number at every point.
    pub key: u64,
    /// The two addresses, direction ignored.
    pub pair: u64,
    /// Addresses, ports and protocol, direction ignored: the same packets on both sides of a
    /// translator. So an echo's identifier is in it, and ICMP errors are apart, by what they quote.
    pub flow: u64,
    /// The source is the smaller of the two addresses.
    pub toward: bool,
    /// Unicast: has a sender at one end and a receiver at the other.
    pub directed: bool,
    /// A TCP SYN without ACK: its sender opened the flow.
    pub opens: bool,
    /// The bytes that may be cut or joined on the way: payload of TCP, anything of a datagram.
    pub range: StreamBytes,
    /// What it asks or answers.
    pub message: Message,
    /// The same without addresses and ports.
    pub unaddressed: Unaddressed,
}

impl Identity {
    /// What it is recognised by but for its addresses; of what has none, all.
    #[must_use]
    pub fn unaddressed_or_key(&self) -> u64 {
        if self.unaddressed.kind == TranslationKind::Other {
            self.key
        } else {
            self.unaddressed.digest()
        }
    }

    /// The same packet of a tenant whose hosts have the addresses of others; with `in_content` not even
    /// its content is another tenant's.
    #[must_use]
    pub fn of_tenant(&self, tenant: u64, in_content: bool) -> Self {
        let own = |number: u64| fold(number, tenant);
        let mut unaddressed = self.unaddressed;
        unaddressed.tuple_hash = own(unaddressed.tuple_hash);
        if in_content {
            unaddressed.content = own(unaddressed.content);
        }
        Self {
            key: own(self.key),
            pair: address_pair::of_tenant(self.pair, tenant),
            flow: own(self.flow),
            unaddressed,
            ..*self
        }
    }
}

/// The class of a packet, an index into [`Prefixes`].
#[must_use]
#[inline]
pub fn class(packet: &Packet) -> usize {
    let family = match packet.ip_version {
        4 => 0,
        6 => 4,
        _ => return 8,
    };
    family
        + match packet.protocol {
            TCP => 0,
            UDP => 1,
            ICMP | ICMPV6 => 2,
            _ => 3,
        }
}

/// The captured layer-4 bytes of a packet that was cut by a snap length; `None` if it is whole.
#[must_use]
pub fn cut_bytes(packet: &Packet) -> Option<u32> {
    let captured = packet.end_at.saturating_sub(packet.transport_at);
    let captured = u32::try_from(captured).unwrap_or(u32::MAX);
    (captured < packet.transport_wire_bytes).then_some(captured)
}

/// The identity of a decoded packet, given the common prefixes of this set of captures.
#[must_use]
#[expect(
    clippy::inline_always,
    reason = "what it gives is long: it is built where it is read, and what nobody reads is not"
)]
#[inline(always)]
pub fn identify(
    packet: &Packet,
    bytes: &[u8],
    prefixes: &Prefixes,
    seed: Seed,
    tells_ends: bool,
) -> Identity {
    let range_and_message = true;
    by_kind(
        packet,
        bytes,
        prefixes,
        Wanted {
            seed,
            range_and_message,
            tells_ends,
        },
    )
}

/// What is asked of an identity.
#[derive(Clone, Copy)]
struct Wanted {
    seed: Seed,
    range_and_message: bool,
    /// Its key tells apart flows of one name, see [`ends_digest`].
    tells_ends: bool,
}

/// The same without its range and what it says, which the matching alone asks for.
#[must_use]
#[expect(
    clippy::inline_always,
    reason = "what it gives is long: it is built where it is read, and what nobody reads is not"
)]
#[inline(always)]
pub fn recognise(packet: &Packet, bytes: &[u8], prefixes: &Prefixes, seed: Seed) -> Identity {
    let (range_and_message, tells_ends) = (false, false);
    by_kind(
        packet,
        bytes,
        prefixes,
        Wanted {
            seed,
            range_and_message,
            tells_ends,
        },
    )
}

/// An identity, with all that matching asks for or without.
#[expect(
    clippy::match_same_arms,
    reason = "compiled for each of the kinds that most packets are of, and once more for any other"
)]
#[expect(clippy::inline_always, reason = "likewise")]
#[inline(always)]
fn by_kind(packet: &Packet, bytes: &[u8], prefixes: &Prefixes, asked: Wanted) -> Identity {
    match (packet.ip_version, packet.protocol, packet.fragment) {
        (4, TCP, 0) => of_kind(packet, bytes, prefixes, asked),
        (4, UDP, 0) => of_kind(packet, bytes, prefixes, asked),
        _ => of_other_kind(packet, bytes, prefixes, asked),
    }
}

#[inline(never)]
fn of_other_kind(packet: &Packet, bytes: &[u8], prefixes: &Prefixes, asked: Wanted) -> Identity {
    of_kind(packet, bytes, prefixes, asked)
}

#[expect(clippy::inline_always, reason = "likewise")]
#[inline(always)]
fn of_kind(packet: &Packet, bytes: &[u8], prefixes: &Prefixes, asked: Wanted) -> Identity {
    let prefix = prefix_of(packet, prefixes);
    let whole = packet.transport(bytes);
    let transport = whole.get(..prefix).unwrap_or(whole);
    if packet.ip_version == 0 {
        return of_ethernet(packet, bytes, transport, asked.seed);
    }
    let mut identity = of_ip(packet, (whole, transport), prefix >= PORT_BYTES, asked.seed);
    if asked.tells_ends {
        identity.key = fold(identity.key, ends_digest(packet, prefixes, asked.seed));
    }
    if asked.range_and_message {
        identity.range = StreamBytes::of(packet, whole);
        identity.message = Message::of(packet, whole);
    }
    identity
}

/// Ports are the first octets of what they are in.
const PORT_BYTES: usize = 4;

#[inline]
fn prefix_of(packet: &Packet, prefixes: &Prefixes) -> usize {
    prefixes.get(class(packet)).map_or(0, |n| *n as usize)
}

/// A digest of who sent a packet to whom. Flows are named without a key, for translations are learned by
/// these names: addresses can be made whose names are equal. Where nothing is translated, this keeps them
/// apart.
#[inline]
pub(crate) fn ends_digest(packet: &Packet, prefixes: &Prefixes, seed: Seed) -> u64 {
    let has_ports = prefix_of(packet, prefixes) >= PORT_BYTES;
    let port = |port: i32| if has_ports { port.cast_unsigned() } else { 0 };
    let ports = two(port(packet.src_port), port(packet.dst_port));
    if let (Ok(src), Ok(dst)) = (u32::try_from(packet.src), u32::try_from(packet.dst)) {
        return seed.fold(two(src, dst), ports);
    }
    let mut octets = [0; 40];
    let (addresses, last) = octets.split_at_mut(32);
    let (src, dst) = addresses.split_at_mut(16);
    src.copy_from_slice(&packet.src.to_ne_bytes());
    dst.copy_from_slice(&packet.dst.to_ne_bytes());
    last.copy_from_slice(&ports.to_ne_bytes());
    seed.digest(&octets)
}

/// Who talks to whom, direction ignored; ports are -1 where they are not known.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FlowKey {
    pub(crate) pair: u64,
    pub(crate) flow: u64,
    pub(crate) toward: bool,
}

impl FlowKey {
    #[expect(clippy::inline_always, reason = "likewise")]
    #[inline(always)]
    pub(crate) fn of(src: (u128, i32), dst: (u128, i32), protocol: i16) -> Self {
        if let (Ok(from), Ok(to)) = (u32::try_from(src.0), u32::try_from(dst.0)) {
            // no port, -1, is less than any
            let port = |port: i32| port.wrapping_add(1).cast_unsigned();
            let (from, to) = (two(from, port(src.1)), two(to, port(dst.1)));
            let (near, far) = (from.min(to), from.max(to));
            let pair = pair_of(high(near), high(far));
            return Self::between((pair, pair), two_low(near, far), protocol, from <= to);
        }
        let toward = src <= dst;
        let (near, far) = if toward { (src, dst) } else { (dst, src) };
        let pair = pair_of(host(near.0), host(far.0));
        let both = fold_address(fold_address(0, near.0), far.0);
        let ports = two(near.1.cast_unsigned(), far.1.cast_unsigned());
        Self::between((pair, both), ports, protocol, toward)
    }

    /// Ports take 17 bits each.
    #[inline]
    fn between((pair, both): (u64, u64), ports: u64, protocol: i16, toward: bool) -> Self {
        let flow = fold(both, ports ^ u64::from(protocol.cast_unsigned()) << 17);
        Self { pair, flow, toward }
    }
}

/// An address of IPv6 in few bits.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "half of a hash")]
fn host(address: u128) -> u32 {
    fold_address(0, address) as u32
}

#[inline]
fn high(number: u64) -> u32 {
    (number >> 32) as u32
}

/// The low halves of two numbers as one.
#[inline]
fn two_low(high: u64, low: u64) -> u64 {
    high << 32 | low & u64::from(u32::MAX)
}

#[expect(
    clippy::inline_always,
    reason = "what it gives is long: it is built where it is read, and what nobody reads is not"
)]
#[inline(always)]
fn of_ip(
    packet: &Packet,
    (whole, transport): (&[u8], &[u8]),
    ports_everywhere: bool,
    seed: Seed,
) -> Identity {
    let (src_port, dst_port) = if ports_everywhere {
        (packet.src_port, packet.dst_port)
    } else {
        (-1, -1)
    };
    let flow_key = FlowKey::of(
        (packet.src, src_port),
        (packet.dst, dst_port),
        packet.protocol,
    );
    let unaddressed = Unaddressed::of(packet, transport, &flow_key, seed);
    let is_icmp = matches!(packet.protocol, ICMP | ICMPV6);
    let about = is_icmp.then(|| quoted(packet, transport, seed)).flatten();
    Identity {
        key: fold(
            unaddressed.digest(),
            unaddressed.tuple_hash ^ u64::from(flow_key.toward),
        ),
        pair: flow_key.pair,
        flow: about.map_or(unaddressed.tuple_hash, |about| {
            about.errors_of(about.tuple_hash)
        }),
        toward: flow_key.toward,
        directed: is_unicast(packet) && !is_neighbour_discovery(packet, transport),
        opens: opens_flow(packet, whole),
        range: StreamBytes::NONE,
        message: Message::NONE,
        unaddressed: about.unwrap_or(unaddressed),
    }
}

fn of_ethernet(packet: &Packet, bytes: &[u8], payload: &[u8], seed: Seed) -> Identity {
    let payload = unpadded(packet, payload);
    let (from, to) = stations(packet, bytes, payload);
    let kind = u64::from(packet.ether_type);
    let station = |address: u64| high(fold(kind, address));
    let pair = pair_of(station(from.min(to)), station(from.max(to)));
    Identity {
        key: fold(seed.digest(payload), kind),
        pair,
        flow: pair,
        toward: from <= to,
        directed: packet.ether_type != ARP && is_between_stations(from, to),
        opens: false,
        range: StreamBytes::NONE,
        message: Message::NONE,
        unaddressed: Unaddressed::default(),
    }
}

/// Sender and receiver: of ARP the IPv4 addresses, of anything else those of the header.
fn stations(packet: &Packet, bytes: &[u8], payload: &[u8]) -> (u64, u64) {
    if packet.ether_type == ARP {
        return (word(payload, 14, 18), word(payload, 24, 28));
    }
    let header = bytes.get(packet.ethernet_at..).unwrap_or(&[]);
    (word(header, 6, 12), word(header, 0, 6))
}

/// From one MAC address to another. What goes to a group (spanning tree, LLDP) is born and ends at any
/// bridge, and so does ARP, which bridges and tunnel endpoints answer for others.
fn is_between_stations(from: u64, to: u64) -> bool {
    const GROUP_MASK: u64 = 1 << 40;
    from != to && from != 0 && to != 0 && (from | to) & GROUP_MASK == 0
}

/// A frame without a length of its own may end in padding, which the path adds and removes.
pub(crate) fn unpadded<'a>(packet: &Packet, payload: &'a [u8]) -> &'a [u8] {
    if packet.ether_type == ARP {
        return payload.get(..ARP_BYTES).unwrap_or(payload);
    }
    if payload.len() > MINIMUM_PAYLOAD_BYTES + 4 {
        return payload;
    }
    let used = payload
        .iter()
        .rposition(|byte| *byte != 0)
        .map_or(0, |last| last + 1);
    payload.get(..used).unwrap_or(payload)
}

#[inline]
fn is_unicast(packet: &Packet) -> bool {
    if packet.ip_version == 4 {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "those of IPv4 have 32 bits"
        )]
        let low = |address: u128| address as u32;
        // what is reserved (240.0.0.0/4) is some networks' own, and a digest's pseudonyms are of it too
        let is_one =
            |address: u32| address.wrapping_sub(1) < u32::MAX - 1 && address >> 28 != 0b1110;
        return is_one(low(packet.dst)) && is_one(low(packet.src));
    }
    let is_one = |address: u128| address != 0 && address >> 120 != 0xff;
    is_one(packet.dst) && is_one(packet.src)
}

/// RFC 4861, RFC 3810: types 130–137 and 143 are born and answered anywhere on the path.
#[inline]
fn is_neighbour_discovery(packet: &Packet, transport: &[u8]) -> bool {
    packet.protocol == ICMPV6
        && transport
            .first()
            .is_some_and(|kind| matches!(kind, 130..=137 | 143))
}

#[inline]
fn opens_flow(packet: &Packet, transport: &[u8]) -> bool {
    const SYN_ACK_MASK: u8 = 0x12;
    const SYN: u8 = 0x02;
    packet.protocol == TCP
        && packet.fragment == 0
        && transport
            .get(13)
            .is_some_and(|flags| flags & SYN_ACK_MASK == SYN)
}

/// Equal and not 0: byte for byte the same frame, headers with an IP identification included.
#[must_use]
pub fn copy_tag(packet: &Packet, bytes: &[u8]) -> u32 {
    let is_numbered = packet.ip_id != 0 || packet.outer_ip_id != 0;
    if packet.ip_version == 0 || !is_numbered {
        return 0;
    }
    let headers = bytes
        .get(..packet.transport_at.min(bytes.len()))
        .unwrap_or(&[]);
    let tag = u32::try_from(Seed::PUBLIC.digest(headers) >> 32).unwrap_or(1);
    tag.max(1)
}
