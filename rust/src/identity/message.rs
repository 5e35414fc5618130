//! What a packet asks or answers, as far as its own header says it: what pairs requests with
//! responses, wherever both were seen.

use super::opener::SenderRole;
use super::{ICMP, ICMPV6, TCP, UDP};
use crate::base::hash::word;
use crate::wire::Packet;
use serde::{Deserialize, Serialize};

/// What a packet is to the packets that it answers or that answer it, and the number that pairs them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// Request, response or neither.
    pub kind: MessageKind,
    /// Of TCP the acknowledged number, of an echo identifier and sequence number, of DNS its id.
    pub number: u32,
    /// What its ports say of its sender.
    pub sender: SenderRole,
    /// The low octets of TCP's timestamp and of the one it echoes; 0: none. What is paired lies so
    /// near together that the high ones are the same.
    stamps: [[u8; 3]; 2],
}

/// What a packet asks or answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[repr(u8)]
pub enum MessageKind {
    /// Neither, as far as its header shows.
    #[default]
    None,
    /// TCP's SYN.
    Syn,
    /// TCP's SYN and ACK.
    SynAck,
    /// Any other TCP segment that acknowledges.
    Ack,
    /// ICMP echo request.
    EchoRequest,
    /// ICMP echo reply.
    EchoReply,
    /// A question to a DNS server.
    Query,
    /// What it says.
    Response,
    /// Any other UDP datagram.
    Datagram,
}

impl Message {
    /// Neither asks nor answers.
    pub const NONE: Self = Self {
        kind: MessageKind::None,
        number: 0,
        sender: SenderRole::Untold,
        stamps: [[0; 3]; 2],
    };

    /// A kind and its number.
    #[must_use]
    pub fn new(kind: MessageKind, number: u32) -> Self {
        Self {
            kind,
            number,
            ..Self::NONE
        }
    }

    /// The same with TCP's timestamp, and the one it echoes.
    #[must_use]
    pub fn stamped(self, value: u32, echo: u32) -> Self {
        let [_, value @ ..] = value.to_be_bytes();
        let [_, echo @ ..] = echo.to_be_bytes();
        Self {
            stamps: [value, echo],
            ..self
        }
    }

    /// Its own timestamp; 0: none.
    #[must_use]
    pub fn tsval(self) -> u32 {
        Self::joined(self.stamps[0])
    }

    /// The timestamp it echoes; 0: none.
    #[must_use]
    pub fn tsecr(self) -> u32 {
        Self::joined(self.stamps[1])
    }

    fn joined([a, b, c]: [u8; 3]) -> u32 {
        u32::from_be_bytes([0, a, b, c])
    }

    /// What a packet says, given its captured layer-4 bytes.
    #[must_use]
    #[expect(
        clippy::inline_always,
        reason = "it is built where it is read, for a known protocol"
    )]
    #[inline(always)]
    pub fn of(packet: &Packet, transport: &[u8]) -> Self {
        if packet.fragment != 0 {
            return Self::NONE;
        }
        match packet.protocol {
            TCP => Self::of_tcp(transport).with_ports(packet),
            UDP => Self::of_udp(packet, transport).with_ports(packet),
            ICMP => Self::of_echo(transport, 8, 0),
            ICMPV6 => Self::of_echo(transport, 128, 129),
            _ => Self::NONE,
        }
    }

    #[inline]
    fn with_ports(self, packet: &Packet) -> Self {
        Self {
            sender: SenderRole::of_ports(packet.src_port, packet.dst_port),
            ..self
        }
    }

    /// The same of a stream whose acknowledged numbers are `ahead` of those everywhere else. An
    /// echo's identifier is translated with its flow (RFC 5508 §3.1).
    #[must_use]
    pub fn behind(self, ahead: u32) -> Self {
        let number = match self.kind {
            MessageKind::SynAck | MessageKind::Ack => self.number.wrapping_sub(ahead),
            MessageKind::EchoRequest | MessageKind::EchoReply => self.number & 0xffff,
            _ => self.number,
        };
        Self { number, ..self }
    }

    /// RFC 9293 §3.1.
    #[inline(always)]
    fn of_tcp(transport: &[u8]) -> Self {
        const FIN: u8 = 1;
        const SYN: u8 = 2;
        const RST: u8 = 4;
        const ACK: u8 = 16;
        let Some(flags) = transport.get(13) else {
            return Self::NONE;
        };
        let kind = match flags & (FIN | SYN | RST | ACK) {
            SYN => MessageKind::Syn,
            ACK => MessageKind::Ack,
            // what ends a stream takes a number of its own: it asks nothing, but answers
            of if of == ACK | FIN => MessageKind::Ack,
            of if of == ACK | SYN => MessageKind::SynAck,
            _ => MessageKind::None,
        };
        let (value, echo) = timestamps(transport).unwrap_or_default();
        Self::new(kind, number(transport, 8, 12)).stamped(value, echo)
    }

    /// RFC 1035 §4.1.1: id, then a bit that tells responses from queries.
    fn of_udp(packet: &Packet, transport: &[u8]) -> Self {
        const DNS: i32 = 53;
        const HEADER_BYTES: u32 = 8;
        let is_response = transport.get(10).map(|octet| octet >> 7 == 1);
        let kind = match is_response {
            Some(false) if packet.dst_port == DNS => MessageKind::Query,
            Some(true) if packet.src_port == DNS => MessageKind::Response,
            _ if packet.transport_wire_bytes > HEADER_BYTES => MessageKind::Datagram,
            _ => MessageKind::None,
        };
        Self::new(kind, number(transport, 8, 10))
    }

    /// RFC 792, RFC 4443 §4.1: type, code, checksum, identifier, sequence number.
    fn of_echo(transport: &[u8], request: u8, reply: u8) -> Self {
        let kind = match transport.first() {
            Some(kind) if transport.len() >= 8 && *kind == request => MessageKind::EchoRequest,
            Some(kind) if transport.len() >= 8 && *kind == reply => MessageKind::EchoReply,
            _ => MessageKind::None,
        };
        Self::new(kind, number(transport, 4, 8))
    }
}

/// TCP's timestamp and the one it echoes (RFC 7323 §3.2), among the options (RFC 9293 §3.1).
#[inline]
fn timestamps(transport: &[u8]) -> Option<(u32, u32)> {
    const HEADER_BYTES: usize = 20;
    const END: u8 = 0;
    const NO_OPERATION: u8 = 1;
    const TIMESTAMPS: [u8; 2] = [8, 10];
    let end = usize::from(transport.get(12)? >> 4) * 4;
    let mut options = transport.get(HEADER_BYTES..end)?;
    // as most segments have them (RFC 7323 appendix A)
    if let [1, 1, 8, 10, a, b, c, d, e, f, g, h] = options {
        let value = u32::from_be_bytes([*a, *b, *c, *d]);
        return Some((value, u32::from_be_bytes([*e, *f, *g, *h])));
    }
    loop {
        options = match options {
            [NO_OPERATION, rest @ ..] => rest,
            [END, ..] | [_] | [] => return None,
            [kind, length, rest @ ..] if [*kind, *length] == TIMESTAMPS => {
                return (rest.len() >= 8).then(|| (number(rest, 0, 4), number(rest, 4, 8)));
            }
            [_, length, ..] if *length >= 2 => options.get(usize::from(*length)..)?,
            _ => return None,
        };
    }
}

#[expect(clippy::cast_possible_truncation, reason = "of four octets at most")]
#[inline]
fn number(bytes: &[u8], from: usize, to: usize) -> u32 {
    word(bytes, from, to) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(protocol: i16, ports: (i32, i32), transport: &[u8]) -> Message {
        let packet = Packet {
            protocol,
            src_port: ports.0,
            dst_port: ports.1,
            ip_version: 4,
            end_at: transport.len(),
            transport_wire_bytes: u32::try_from(transport.len()).unwrap(),
            ..Packet::new()
        };
        Message::of(&packet, transport)
    }

    fn tcp(flags: u8) -> Message {
        let mut header = [0; 20];
        header[8..12].copy_from_slice(&0xfffe_fdfc_u32.to_be_bytes());
        header[13] = flags;
        message(TCP, (1, 2), &header)
    }

    #[test]
    fn segments_say_what_they_acknowledge() {
        use MessageKind::{Ack, None, Syn, SynAck};
        let parts = [0x02, 0x12, 0x10, 0x18, 0x11, 0xc2, 0x00, 0x14, 0x06];
        let parts = parts.map(|flags| tcp(flags).kind);
        let expected = [Syn, SynAck, Ack, Ack, Ack, Syn, None, None, None];
        assert_eq!(parts, expected);
        assert_eq!(tcp(0x10).number, 0xfffe_fdfc);
        assert_eq!(tcp(0x10).behind(0xffff_ffff).number, 0xfffe_fdfd);
        assert_eq!(message(TCP, (1, 2), &[0; 13]), Message::NONE, "cut");
    }

    #[test]
    fn timestamps_are_found_among_the_options() {
        let with = |options: &[u8]| {
            let mut segment = vec![0; 20];
            segment[13] = 0x10;
            segment[12] = u8::try_from((20 + options.len()) / 4).unwrap() << 4;
            segment.extend(options);
            let told = message(TCP, (1, 2), &segment);
            (told.tsval(), told.tsecr())
        };
        let stamp = [8, 10, 0xff, 1, 2, 3, 0xfe, 4, 5, 6];
        let known = (0x0001_0203, 0x0004_0506);
        assert_eq!(with(&[&[1, 1][..], &stamp].concat()), known, "Linux");
        let opening = [&[2, 4, 5, 180, 4, 2][..], &stamp].concat();
        assert_eq!(with(&opening), known, "behind others");
        assert_eq!(
            with(&[&[0, 0][..], &stamp].concat()),
            (0, 0),
            "behind the end"
        );
        assert_eq!(with(&[1, 1, 8, 10, 0, 0, 0, 9]), (0, 0), "cut");
        assert_eq!(with(&[3, 0, 8, 10]), (0, 0), "an option of no length");
        assert_eq!(with(&[3, 1, 8, 10]), (0, 0), "likewise");
        assert_eq!(with(&[]), (0, 0));
        let next = Message::new(MessageKind::Ack, 7).stamped(0x1234_5678, 0);
        assert_eq!((next.tsval(), next.tsecr()), (0x0034_5678, 0));
        assert_eq!(next.behind(2).tsval(), 0x0034_5678);
    }

    #[test]
    fn echoes_and_dns_say_their_ids() {
        let echo = message(ICMP, (-1, -1), &[8, 0, 0, 0, 0xab, 0xcd, 0x12, 0x34]);
        assert_eq!(
            (echo.kind, echo.number),
            (MessageKind::EchoRequest, 0xabcd_1234)
        );
        assert_eq!(
            echo.behind(9).number,
            0x1234,
            "the identifier is translated"
        );
        let reply = message(ICMPV6, (-1, -1), &[129, 0, 0, 0, 0, 1, 0, 2]);
        assert_eq!(
            (reply.kind, reply.number),
            (MessageKind::EchoReply, 0x1_0002)
        );
        assert_eq!(message(ICMP, (-1, -1), &[3; 8]).kind, MessageKind::None);
        let dns = |ports, octet| message(UDP, ports, &[0, 0, 0, 0, 0, 0, 0, 0, 0x77, 1, octet, 0]);
        assert_eq!(dns((4000, 53), 0x01).kind, MessageKind::Query);
        let response = dns((53, 4000), 0x81);
        assert_eq!(
            (response.kind, response.number, response.sender),
            (MessageKind::Response, 0x7701, SenderRole::Server)
        );
        assert_eq!(dns((53, 4000), 0x01).kind, MessageKind::Datagram);
        assert_eq!(
            message(UDP, (1, 2), &[0; 8]).kind,
            MessageKind::None,
            "it carries nothing"
        );
    }
}
