//! Identity without addresses: what a translator leaves as it was.

use super::{FlowKey, ICMP, ICMPV6, TCP, UDP, tcp_options};
use crate::base::hash::{Seed, fold, two, word};
use crate::wire::Packet;

/// What is known of a packet but for its addresses and ports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unaddressed {
    /// What it is, as far as translators treat it in their own way.
    pub kind: TranslationKind,
    /// Protocol, lengths, options and payload.
    pub content: u64,
    /// TCP sequence and acknowledgment.
    pub numbers: u64,
    /// IP identification.
    pub ip_id: u32,
    /// Addresses, ports and protocol, direction ignored; of an ICMP error those of the packet it
    /// quotes; of an echo the identifier too.
    pub tuple_hash: u64,
    /// The source of that packet is the smaller address.
    pub toward: bool,
}

impl Unaddressed {
    #[expect(
        clippy::inline_always,
        reason = "what it gives is long: it is built where it is read, and what nobody reads is not"
    )]
    #[inline(always)]
    pub(crate) fn of(packet: &Packet, transport: &[u8], flow_key: &FlowKey, seed: Seed) -> Self {
        let stable = Stable::of(packet, transport, seed);
        let kind = TranslationKind::of(packet, transport);
        // an echo's identifier stands for its ports (RFC 5508 §3.1)
        let tuple_hash = match kind {
            TranslationKind::Echo(_) => fold(flow_key.flow, word(transport, 4, 6)),
            _ => flow_key.flow,
        };
        Self {
            kind,
            content: stable.content(packet, seed),
            numbers: stable.numbers,
            ip_id: packet.ip_id,
            tuple_hash,
            toward: flow_key.toward,
        }
    }

    /// A flow, or of errors about it a flow of their own: they are none of its packets.
    #[must_use]
    pub(crate) fn errors_of(&self, flow: u64) -> u64 {
        const ERROR: u64 = 1;
        match self.kind {
            TranslationKind::Error => fold(flow, ERROR),
            _ => flow,
        }
    }

    /// What a translator may change: addresses, ports, sequence numbers.
    #[must_use]
    pub fn tuple_and_seq(&self) -> u64 {
        fold(self.tuple_hash, self.numbers)
    }

    /// All that it leaves as one number.
    #[must_use]
    pub fn digest(&self) -> u64 {
        fold(self.content ^ u64::from(self.ip_id), self.numbers)
    }
}

/// Packets as translators tell them apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TranslationKind {
    /// Nothing that is translated.
    #[default]
    Other,
    /// Has sequence numbers, which a firewall may shift.
    Tcp,
    /// Any other IP packet.
    Datagram,
    /// ICMP echo: request (128) or reply (129), whichever IP version.
    Echo(u32),
    /// An ICMP error, known by the packet that it quotes.
    Error,
}

impl TranslationKind {
    /// A translator leaves the content of such a packet as it was, so it can be found again by it.
    pub(crate) fn keeps_content(self) -> bool {
        !matches!(self, Self::Other | Self::Error)
    }

    #[inline]
    pub(crate) fn of(packet: &Packet, transport: &[u8]) -> Self {
        const REQUEST: u32 = 128;
        const REPLY: u32 = 129;
        let kind = transport.first().copied();
        match (packet.protocol, kind) {
            _ if packet.fragment >> 1 != 0 => Self::Datagram,
            (TCP, _) => Self::Tcp,
            (ICMP, Some(8)) | (ICMPV6, Some(128)) => Self::Echo(REQUEST),
            (ICMP, Some(0)) | (ICMPV6, Some(129)) => Self::Echo(REPLY),
            _ => Self::Datagram,
        }
    }
}

/// What is stable of the layer-4 header, and what follows it. Ports are the flow's.
#[derive(Default)]
struct Stable<'a> {
    numbers: u64,
    /// Of an echo which of the two it is.
    code: u32,
    options: u64,
    /// Where options are added and taken away on the way, the header is no part of the length.
    n_header: u32,
    body: &'a [u8],
}

impl<'a> Stable<'a> {
    #[expect(
        clippy::inline_always,
        reason = "it is built where it is read, for a known protocol"
    )]
    #[inline(always)]
    fn of(packet: &Packet, transport: &'a [u8], seed: Seed) -> Self {
        let from = |at: usize| Self {
            body: transport.get(at..).unwrap_or(&[]),
            ..Self::default()
        };
        let is_headed = packet.fragment >> 1 == 0;
        match packet.protocol {
            TCP if is_headed => Self::of_tcp(transport, seed),
            // RFC 768: length is in the IP header already
            UDP if is_headed => from(8),
            ICMP | ICMPV6 if is_headed => Self::of_icmp(packet, transport),
            _ => from(0),
        }
    }

    #[expect(clippy::inline_always, reason = "one straight way for each frame")]
    #[inline(always)]
    fn content(&self, packet: &Packet, seed: Seed) -> u64 {
        // one number for both: ICMP becomes `ICMPv6` on its way through a translator (RFC 7915)
        let protocol = if packet.protocol == ICMP {
            ICMPV6
        } else {
            packet.protocol
        };
        let n_body = packet.transport_wire_bytes.saturating_sub(self.n_header);
        let lengths = two(n_body, self.code << 16 ^ packet.fragment);
        // no packet has so many bytes that they reach the upper bits
        let lengths = lengths ^ u64::from(protocol.cast_unsigned()) << 56;
        let body = seed.digest(self.body);
        let content = if self.options == 0 {
            body
        } else {
            fold(body, self.options)
        };
        fold(content, lengths)
    }

    /// RFC 792, RFC 4443: type and code, then all after the checksum, but for an echo's identifier.
    fn of_icmp(packet: &Packet, transport: &'a [u8]) -> Self {
        let from = |at: usize| Self {
            body: transport.get(at..).unwrap_or(&[]),
            ..Self::default()
        };
        match TranslationKind::of(packet, transport) {
            TranslationKind::Echo(code) => Self { code, ..from(6) },
            _ => Self {
                numbers: word(transport, 0, 2),
                ..from(4)
            },
        }
    }

    /// RFC 9293 §3.1: sequence, acknowledgment; data offset; options up to there.
    #[inline(always)]
    fn of_tcp(transport: &'a [u8], seed: Seed) -> Self {
        const HEADER_BYTES: usize = 20;
        /// Beyond numbers, options and identification so much tells segments apart for sure.
        const BODY_BYTES: usize = 64;
        let numbers = word(transport, 4, 12);
        let (_, acknowledged) = halves(numbers);
        let Some(offset) = transport.get(12).map(|octet| usize::from(octet >> 4) * 4) else {
            return Self {
                numbers,
                ..Self::default()
            };
        };
        let end = offset.min(transport.len());
        let options = transport.get(HEADER_BYTES..end).unwrap_or(&[]);
        let body = transport.get(offset..).unwrap_or(&[]);
        Self {
            numbers,
            code: 0,
            options: tcp_options::digest(options, acknowledged, |digest, word| {
                seed.fold(digest, word)
            }),
            n_header: u32::try_from(offset).unwrap_or(0),
            body: body.get(..BODY_BYTES).unwrap_or(body),
        }
    }
}

/// Sequence and acknowledgment.
#[expect(clippy::cast_possible_truncation, reason = "the halves of 64 bits")]
pub(crate) fn halves(numbers: u64) -> (u32, u32) {
    ((numbers >> 32) as u32, numbers as u32)
}
