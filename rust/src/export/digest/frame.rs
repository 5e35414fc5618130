//! One frame's digest: where its headers end, and what of the rest is told.

use super::DigestCounts;
use super::headers::{hide, hide_quoted_packet, keep_partial, unknown_from};
use super::key::DigestKey;
use super::pseudonyms::Pseudonyms;
use crate::base::hash::{address_hash, fold, two};
use crate::file::{BlockWriter, Content, ContentKind, DigestedFrame, Frame};
use crate::identity::{ICMP, ICMPV6, TCP, UDP, cut_bytes, unpadded};
use crate::wire::{Packet, is_opaque};

/// RFC 826, of Ethernet and IPv4.
const ARP: u16 = 0x0806;
const ARP_BYTES: usize = 28;
const UDP_BYTES: usize = 8;
const ICMP_BYTES: usize = 8;
const DNS: i32 = 53;
/// Identification and flags say what a message answers (RFC 1035 §4.1.1).
const DNS_BYTES: usize = 4;

/// Makes digests of frames.
pub(super) struct FrameDigester {
    key: DigestKey,
    names: Pseudonyms,
    header: Vec<u8>,
    marks: Vec<u8>,
    pub(super) counts: DigestCounts,
}

/// Where a frame's headers end, where its content does, and what that is.
struct Extent {
    header_bytes: usize,
    end: usize,
    /// Zeros behind it.
    n_padding: usize,
    kind: ContentKind,
    n_wire_bytes: usize,
}

impl Extent {
    /// Zeros at the end of a short frame without a length of its own may be padding.
    fn leave_padding(&mut self, packet: &Packet, bytes: &[u8]) {
        if packet.ip_version == 0 && packet.ether_type != ARP {
            let payload = bytes.get(packet.transport_at..self.end);
            let n_used = unpadded(packet, payload.unwrap_or_default()).len();
            let end = self.end.min(packet.transport_at + n_used);
            self.n_padding = self.end - end;
            self.end = end;
        }
    }

    /// As far as a digest keeps it, and how long the content was on the wire.
    fn within(self, packet: &Packet, n_captured: usize) -> Self {
        let header_bytes = self
            .header_bytes
            .min(BlockWriter::MAX_HEADER_BYTES)
            .min(n_captured);
        let end = self
            .end
            .clamp(header_bytes, header_bytes + BlockWriter::MAX_CONTENT_BYTES);
        let n_wire_bytes = match cut_bytes(packet) {
            Some(n_here) => {
                end - header_bytes + packet.transport_wire_bytes.saturating_sub(n_here) as usize
            }
            None => end - header_bytes,
        };
        Self {
            header_bytes,
            end,
            n_wire_bytes,
            ..self
        }
    }
}

impl FrameDigester {
    pub(super) fn new(key: DigestKey, names: Pseudonyms) -> Self {
        Self {
            key,
            names,
            header: Vec::new(),
            marks: Vec::new(),
            counts: DigestCounts::default(),
        }
    }

    /// Takes a frame, as it was decoded.
    pub(super) fn take(
        &mut self,
        frame: &Frame<'_>,
        packet: &Packet,
        starts: &[usize],
        to: &mut BlockWriter,
    ) {
        let extent = self.extent(frame, packet, starts);
        self.hide_header(extent.header_bytes, frame.bytes, packet, starts);
        let behind = frame
            .bytes
            .get(extent.header_bytes..extent.end)
            .unwrap_or_default();
        let content = Content {
            n_bytes: behind.len(),
            n_wire_bytes: extent.n_wire_bytes,
            n_padding: extent.n_padding,
            kind: extent.kind,
        };
        self.mark(behind, content);
        let digested = DigestedFrame {
            t_ns: frame.t_ns,
            has_time: frame.has_time,
            direction: frame.direction,
            interface: frame.interface,
            link: frame.link,
            wire_bytes: frame.wire_bytes,
            fcs_bytes: frame.fcs_bytes,
            content,
        };
        to.push(&digested, flow(frame, packet), &self.header, &self.marks);
        self.counts.n_frames += 1;
    }

    /// Keeps a frame's header, without addresses.
    fn hide_header(&mut self, n_bytes: usize, bytes: &[u8], packet: &Packet, starts: &[usize]) {
        self.header.clear();
        self.header.extend(bytes.get(..n_bytes).unwrap_or_default());
        hide(&mut self.header, packet, starts, &mut self.names);
        keep_partial(&mut self.header, packet, bytes);
        if is_icmp_error(packet, bytes) {
            self.hide_quoted(packet);
        }
    }

    fn extent(&mut self, frame: &Frame<'_>, packet: &Packet, starts: &[usize]) -> Extent {
        let n_captured = frame.bytes.len();
        let (header_end, kind) = header_end(packet, frame.bytes, starts);
        let mut extent = Extent {
            header_bytes: header_end.min(packet.end_at),
            end: packet.end_at.min(n_captured),
            n_padding: 0,
            kind,
            n_wire_bytes: 0,
        };
        extent.leave_padding(packet, frame.bytes);
        if let Some(stop) = packet.stop {
            (extent.header_bytes, extent.end, extent.n_padding) = (stop.at_byte, stop.at_byte, 0);
        }
        if let Some(at) = unknown_from(packet, starts) {
            self.counts.n_hidden += 1;
            extent.header_bytes = extent.header_bytes.min(at);
            extent.kind = ContentKind::Datagram;
        }
        extent.within(packet, n_captured)
    }

    /// The packet that an ICMP error quotes has addresses too, and a redirect the gateway's.
    fn hide_quoted(&mut self, packet: &Packet) {
        let at = packet.transport_at;
        if let Some(unused) = self.header.get_mut(at + 4..at + ICMP_BYTES) {
            unused.fill(0);
        }
        if let Some(quoted) = self.header.get_mut(at + ICMP_BYTES..) {
            hide_quoted_packet(quoted, &mut self.names);
        }
    }

    /// Each mark is of all content up to itself, and of nothing behind it.
    fn mark(&mut self, behind: &[u8], content: Content) {
        self.marks.clear();
        let mut hasher = self.key.content();
        let mut n_taken = 0;
        for place in content.places() {
            hasher.update(behind.get(n_taken..=place).unwrap_or_default());
            n_taken = place + 1;
            let digest = hasher.finalize();
            let [mark, ..] = digest.as_bytes();
            // zeros at the end of a short frame may be padding
            self.marks.push(*mark.max(&1));
        }
    }
}

/// Where headers end, and what follows them.
fn header_end(packet: &Packet, bytes: &[u8], starts: &[usize]) -> (usize, ContentKind) {
    let (n_header, kind) = match packet.protocol {
        _ if packet.ip_version == 0 => (arp_bytes(packet), ContentKind::Datagram),
        _ if packet.fragment >> 1 != 0 => (0, ContentKind::Part),
        TCP => (tcp_bytes(packet, bytes), ContentKind::Segment),
        UDP => (udp_bytes(packet), ContentKind::Datagram),
        ICMP | ICMPV6 => (icmp_bytes(packet, bytes), ContentKind::Datagram),
        _ => (0, ContentKind::Datagram),
    };
    let end = packet.transport_at + n_header;
    // of what is encrypted the layer's own header: index and number
    let last = packet
        .n_layers
        .checked_sub(1)
        .and_then(|at| packet.layers.get(at));
    let is_encrypted = last.is_some_and(|id| is_opaque(*id));
    let own_end = starts.last().map_or(0, |start| start + UDP_BYTES);
    (if is_encrypted { end.max(own_end) } else { end }, kind)
}

fn arp_bytes(packet: &Packet) -> usize {
    if packet.ether_type == ARP {
        ARP_BYTES
    } else {
        0
    }
}

fn udp_bytes(packet: &Packet) -> usize {
    let is_dns = [packet.src_port, packet.dst_port].contains(&DNS);
    UDP_BYTES + if is_dns { DNS_BYTES } else { 0 }
}

/// RFC 9293 §3.1, data offset.
fn tcp_bytes(packet: &Packet, bytes: &[u8]) -> usize {
    let n_words = packet
        .transport(bytes)
        .get(12)
        .map_or(5, |octet| octet >> 4);
    usize::from(n_words) * 4
}

/// Of an error those of the packet that it quotes too.
fn icmp_bytes(packet: &Packet, bytes: &[u8]) -> usize {
    if is_icmp_error(packet, bytes) {
        return ICMP_BYTES + quoted_bytes(packet, bytes);
    }
    let kind = packet.transport(bytes).first();
    let is_echo = matches!(
        (packet.protocol, kind),
        (ICMP, Some(0 | 8)) | (ICMPV6, Some(128 | 129))
    );
    // behind an echo's come identifier and sequence number (RFC 792)
    if is_echo { ICMP_BYTES } else { ICMP_BYTES / 2 }
}

fn is_icmp_error(packet: &Packet, bytes: &[u8]) -> bool {
    let kind = packet.transport(bytes).first().copied();
    let kind = kind.filter(|_| packet.fragment == 0);
    match packet.protocol {
        ICMP => matches!(kind, Some(3..=5 | 11 | 12)),
        ICMPV6 => matches!(kind, Some(1..=4)),
        _ => false,
    }
}

/// The quoted packet's headers: of TCP as much as tells its segment. Of a later fragment, and of what has no
/// ports, only the IP header.
fn quoted_bytes(packet: &Packet, bytes: &[u8]) -> usize {
    const TCP_BYTES: usize = 20;
    let quoted = packet
        .transport(bytes)
        .get(ICMP_BYTES..)
        .unwrap_or_default();
    let octet = |at: usize| quoted.get(at).copied().unwrap_or(0);
    let (n_header, protocol) = match octet(0) >> 4 {
        4 if octet(6) & 0x1f != 0 || octet(7) != 0 => return usize::from(octet(0) & 15) * 4,
        4 => (usize::from(octet(0) & 15) * 4, octet(9)),
        6 => (40, octet(6)),
        _ => return 0,
    };
    n_header
        + match i16::from(protocol) {
            TCP => TCP_BYTES,
            UDP | ICMP | ICMPV6 => UDP_BYTES,
            _ => 0,
        }
}

/// Frames of one flow have nearly the same headers.
fn flow(frame: &Frame<'_>, packet: &Packet) -> u64 {
    let ends = fold(address_hash(packet.src), address_hash(packet.dst));
    let ports = two(
        packet.src_port.cast_unsigned(),
        packet.dst_port.cast_unsigned(),
    );
    let place = two(frame.interface, u32::from(packet.protocol.cast_unsigned()));
    fold(fold(fold(ends, ports), place), packet.n_layers as u64)
}
