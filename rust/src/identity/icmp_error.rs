//! ICMP errors, known by the packet that they quote, which a translator translates too (RFC 5508 §4.2).

use super::{FlowKey, ICMP, ICMPV6, TCP, TranslationKind, Unaddressed};
use crate::base::hash::{Seed, fold, two, word};
use crate::wire::Packet;

/// Octets before the quoted packet (RFC 792, RFC 4443 §3).
const ERROR_BYTES: usize = 8;

/// An ICMP error as what it quotes.
#[cold]
pub(crate) fn quoted(packet: &Packet, transport: &[u8], seed: Seed) -> Option<Unaddressed> {
    let complaint = Complaint::of(packet.protocol, *transport.first()?, *transport.get(1)?)?;
    if packet.fragment != 0 {
        return None;
    }
    let quote = Quote::of(transport.get(ERROR_BYTES..)?)?;
    Some(quote.unaddressed(complaint as u64, seed))
}

/// What is the matter, in either version of ICMP, as far as translators between them keep it
/// (RFC 7915 §4.2, §5.2). The word behind it they change: sizes differ by that of a header.
#[derive(Clone, Copy)]
enum Complaint {
    Unreachable,
    Prohibited,
    NoPort,
    NoProtocol,
    TooBig,
    Quench,
    Redirect,
    TooOld,
    Malformed,
}

impl Complaint {
    /// RFC 792, RFC 4443.
    fn of(protocol: i16, kind: u8, code: u8) -> Option<Self> {
        Some(match (protocol, kind, code) {
            (ICMP, 3, 2) | (ICMPV6, 4, 1) => Self::NoProtocol,
            (ICMP, 3, 3) | (ICMPV6, 1, 4) => Self::NoPort,
            (ICMP, 3, 4) | (ICMPV6, 2, _) => Self::TooBig,
            (ICMP, 3, 9 | 10 | 13 | 15) | (ICMPV6, 1, 1) => Self::Prohibited,
            (ICMP, 3, _) | (ICMPV6, 1, _) => Self::Unreachable,
            (ICMP, 4, _) => Self::Quench,
            (ICMP, 5, _) => Self::Redirect,
            (ICMP, 11, _) | (ICMPV6, 3, _) => Self::TooOld,
            (ICMP, 12, _) | (ICMPV6, 4, _) => Self::Malformed,
            _ => return None,
        })
    }
}

/// The quoted packet: its header as numbers, its layer 4 as far as it was quoted.
struct Quote<'a> {
    src: u128,
    dst: u128,
    protocol: i16,
    /// Of what follows the header.
    length: u32,
    ip_id: u32,
    transport: &'a [u8],
}

fn address(bytes: &[u8], from: usize, to: usize) -> Option<u128> {
    let octets = bytes.get(from..to)?.iter();
    Some(octets.fold(0, |all, octet| all << 8 | u128::from(*octet)))
}

#[expect(clippy::cast_possible_truncation, reason = "words of two octets")]
impl<'a> Quote<'a> {
    fn of(bytes: &'a [u8]) -> Option<Self> {
        match bytes.first()? >> 4 {
            4 => Self::of_ipv4(bytes),
            6 => Self::of_ipv6(bytes),
            _ => None,
        }
    }

    /// RFC 791 §3.1.
    fn of_ipv4(bytes: &'a [u8]) -> Option<Self> {
        let n_header = bytes.first()? & 15;
        Some(Self {
            src: address(bytes, 12, 16)?,
            dst: address(bytes, 16, 20)?,
            protocol: i16::from(*bytes.get(9)?),
            length: (word(bytes, 2, 4) as u32).wrapping_sub(u32::from(n_header) * 4),
            ip_id: word(bytes, 4, 6) as u32,
            transport: bytes.get(usize::from(n_header) * 4..)?,
        })
    }

    /// RFC 8200 §3; behind extension headers nothing is looked for.
    fn of_ipv6(bytes: &'a [u8]) -> Option<Self> {
        Some(Self {
            src: address(bytes, 8, 24)?,
            dst: address(bytes, 24, 40)?,
            protocol: i16::from(*bytes.get(6)?),
            length: word(bytes, 4, 6) as u32,
            ip_id: 0,
            transport: bytes.get(40..)?,
        })
    }

    fn unaddressed(&self, error: u64, seed: Seed) -> Unaddressed {
        let bytes = self.transport;
        let rest = |at: usize| seed.digest(bytes.get(at..).unwrap_or(&[]));
        let port = |at| i32::from(word(bytes, at, at + 2) as u16);
        let (ports, numbers, digest) = match self.protocol {
            // without the checksum at 16
            TCP => (
                (port(0), port(2)),
                word(bytes, 4, 12),
                fold(rest(18), word(bytes, 12, 16)),
            ),
            ICMP | ICMPV6 => ((-1, -1), word(bytes, 4, 6), rest(6)),
            _ => ((port(0), port(2)), 0, fold(rest(8), word(bytes, 4, 6))),
        };
        let flow_key = FlowKey::of((self.src, ports.0), (self.dst, ports.1), self.protocol);
        let (tuple_hash, numbers) = match self.protocol {
            ICMP | ICMPV6 => (fold(flow_key.flow, numbers), 0),
            // of many only eight octets are quoted: the acknowledgment is not among them
            TCP if bytes.len() < 12 => (flow_key.flow, numbers << 32),
            _ => (flow_key.flow, numbers),
        };
        Unaddressed {
            kind: TranslationKind::Error,
            content: fold(fold(digest, error), two(self.length, 0)),
            numbers,
            ip_id: self.ip_id,
            tuple_hash,
            toward: flow_key.toward,
        }
    }
}
