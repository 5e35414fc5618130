//! The headers of a frame without the addresses in them, layer by layer.

use super::pseudonyms::Pseudonyms;
use crate::identity::{TCP, UDP};
use crate::survey::checksums::{partial_checksum, partial_length};
use crate::wire::{Packet, layer_name};

/// What a layer's header holds that is not shown as it is.
enum Redacted {
    /// MAC addresses at these places.
    Macs(&'static [usize]),
    /// The address of a cooked capture, of as many bytes as one at the first place says, at the second.
    Cooked(usize, usize),
    /// IPv4's addresses and checksum.
    Ipv4,
    /// IPv6's addresses, and those of its routing header.
    Ipv6,
    /// ARP's addresses of both kinds.
    Arp,
    /// TCP's checksum, and options that are not for sequence numbers and times.
    Tcp,
    /// Options or extensions of a tunnel, which this empties.
    Options(fn(&mut [u8])),
    /// A checksum, over what is hidden, at this place.
    Checksum(usize),
    /// Nothing.
    Nothing,
    /// What it holds is not known here: it is content.
    Everything,
}

/// Layers whose headers hold no address.
const SHOWN: &[&str] = &[
    "vlan",
    "vxlan",
    "vxlan-gpe",
    "gre",
    "erspan",
    "gtpu",
    "mpls",
    "null",
    "raw",
    "pppoe",
    "ppp",
    "ipip",
    "srv6",
    "l2tp",
    "llc",
    "esp",
    "ah",
    "fou",
    "etherip",
    "eoip",
    "pptp",
    "cmd",
    "etag",
    "vntag",
    "dsa",
    "mpacket",
    "chdlc",
    "frelay",
    "ttag",
    "wireguard",
];

fn hidden_in(layer: &str) -> Redacted {
    match layer {
        "ethernet" => Redacted::Macs(&[0, 6]),
        "sll" => Redacted::Cooked(5, 6),
        "sll2" => Redacted::Cooked(11, 12),
        "ipv4" => Redacted::Ipv4,
        "ipv6" => Redacted::Ipv6,
        "arp" => Redacted::Arp,
        "tcp" => Redacted::Tcp,
        "stt" => Redacted::Checksum(16),
        "geneve" => Redacted::Options(hide_geneve),
        "gue" => Redacted::Options(hide_gue),
        "udp" => Redacted::Checksum(6),
        "icmp" | "icmpv6" => Redacted::Checksum(2),
        _ if SHOWN.contains(&layer) => Redacted::Nothing,
        _ => Redacted::Everything,
    }
}

/// Where the first layer starts whose header cannot be shown; `None` if all can.
pub(super) fn unknown_from(packet: &Packet, starts: &[usize]) -> Option<usize> {
    let mut layers = packet.layers.iter().zip(starts);
    let found = layers.find(|(id, _)| matches!(hidden_in(layer_name(**id)), Redacted::Everything));
    found.map(|(_, at)| *at)
}

/// Replaces the addresses in a frame's headers, and the checksums over them.
pub(super) fn hide(header: &mut [u8], packet: &Packet, starts: &[usize], names: &mut Pseudonyms) {
    for (id, start) in packet.layers.iter().zip(starts) {
        let Some(own) = header.get_mut(*start..) else {
            return;
        };
        match hidden_in(layer_name(*id)) {
            Redacted::Macs(places) => {
                for at in places {
                    names.mac(range(own, *at, 6));
                }
            }
            Redacted::Ipv4 => hide_ipv4(own, names),
            Redacted::Ipv6 => hide_ipv6(own, names),
            Redacted::Arp => hide_arp(own, names),
            Redacted::Cooked(length, at) => hide_cooked(own, length, at, names),
            Redacted::Tcp => hide_tcp(own, names),
            Redacted::Options(empty) => empty(own),
            Redacted::Checksum(at) => hide_checksum(own, at),
            Redacted::Nothing | Redacted::Everything => (),
        }
    }
}

/// As far as it is there.
fn range(bytes: &mut [u8], from: usize, n_bytes: usize) -> Option<&mut [u8]> {
    let end = bytes.len().min(from + n_bytes);
    bytes.get_mut(from..end).filter(|range| !range.is_empty())
}

/// RFC 791 §3.1; options that hold a route (RFC 791, types 7, 131 and 137) are made none.
pub(super) fn hide_ipv4(header: &mut [u8], names: &mut Pseudonyms) {
    const CHECKSUM_AT: usize = 10;
    let n_header = header
        .first()
        .map_or(0, |octet| usize::from(octet & 15) * 4);
    let was_right = header
        .get(..n_header)
        .is_some_and(|header| sum(header) == 0xffff);
    names.ipv4(range(header, 12, 4));
    names.ipv4(range(header, 16, 4));
    if let Some(options) = range(header, 20, n_header.saturating_sub(20)) {
        options.fill(1);
    }
    write_checksum(header, CHECKSUM_AT, 0);
    if was_right {
        let right = header.get(..n_header).map_or(0, |header| !sum(header));
        write_checksum(header, CHECKSUM_AT, right);
    }
}

fn write_checksum(header: &mut [u8], at: usize, checksum: u16) {
    if let Some(octets) = header.get_mut(at..at + 2) {
        octets.copy_from_slice(&checksum.to_be_bytes());
    }
}

/// RFC 1071.
fn sum(bytes: &[u8]) -> u16 {
    let words = bytes.chunks(2).map(|word| match word {
        [high, low] => u32::from(u16::from_be_bytes([*high, *low])),
        _ => 0,
    });
    let mut sum: u32 = words.sum();
    while sum >> 16 != 0 {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    u16::try_from(sum).unwrap_or(0)
}

/// RFC 8200 §3; routing headers as RFC 8200 §4.4 and RFC 8754 §2 have them. Other extension headers may
/// hold addresses (RFC 6275 §6.3): they are made padding.
pub(super) fn hide_ipv6(header: &mut [u8], names: &mut Pseudonyms) {
    const EXTENSIONS: [u8; 5] = [0, ROUTING, FRAGMENT, 60, 135];
    const ROUTING: u8 = 43;
    const FRAGMENT: u8 = 44;
    names.ipv6(range(header, 8, 16));
    names.ipv6(range(header, 24, 16));
    let (mut next, mut at) = (header.get(6).copied().unwrap_or(59), 40);
    while EXTENSIONS.contains(&next) {
        let Some(&[after, n_words]) = header.get(at..at + 2).and_then(<[u8]>::first_chunk) else {
            return;
        };
        let n_words = if next == FRAGMENT {
            0
        } else {
            usize::from(n_words)
        };
        let n_bytes = 8 + n_words * 8;
        if next == ROUTING {
            for from in (8..n_bytes).step_by(16) {
                names.ipv6(range(header, at + from, 16.min(n_bytes - from)));
            }
        } else if next != FRAGMENT
            && let Some(options) = range(header, at + 2, n_bytes - 2)
        {
            options.fill(0);
        }
        (next, at) = (after, at + n_bytes);
    }
}

/// A packet that an ICMP error quotes: its addresses, and a checksum that depends on its payload.
pub(super) fn hide_quoted_packet(header: &mut [u8], names: &mut Pseudonyms) {
    let octet = |header: &[u8], at: usize| header.get(at).copied().unwrap_or(0);
    let (n_header, protocol) = match octet(header, 0) >> 4 {
        4 => {
            hide_ipv4(header, names);
            (usize::from(octet(header, 0) & 15) * 4, octet(header, 9))
        }
        6 => {
            hide_ipv6(header, names);
            (40, octet(header, 6))
        }
        _ => return header.fill(0),
    };
    let checksum_at = match i16::from(protocol) {
        TCP => 16,
        UDP => 6,
        _ => 2,
    };
    if let Some(checksum) = range(header, n_header + checksum_at, 2) {
        checksum.fill(0);
    }
}

/// `LINKTYPE_LINUX_SLL`: of a device without MAC addresses, a tunnel, it may be one of IP.
fn hide_cooked(header: &mut [u8], length_at: usize, at: usize, names: &mut Pseudonyms) {
    const FIELD_BYTES: usize = 8;
    const MAC_BYTES: usize = 6;
    let n_bytes = header.get(length_at).copied().unwrap_or(0);
    if usize::from(n_bytes) == MAC_BYTES {
        names.mac(range(header, at, MAC_BYTES));
        if let Some(rest) = range(header, at + MAC_BYTES, FIELD_BYTES - MAC_BYTES) {
            rest.fill(0);
        }
    } else {
        names.opaque(range(header, at, FIELD_BYTES));
    }
}

/// RFC 9293 §3.2. Maximum segment size, window scale, selective acknowledgments and timestamps stay; others may
/// hold addresses (RFC 8684 §3.4.1) or secrets (RFC 7413 §4.1).
fn hide_tcp(header: &mut [u8], names: &mut Pseudonyms) {
    const FIXED_BYTES: usize = 20;
    const SHOWN: [u8; 5] = [2, 3, 4, 5, 8];
    hide_checksum(header, 16);
    let n_header = header
        .get(12)
        .map_or(0, |octet| usize::from(octet >> 4) * 4);
    let end = n_header.min(header.len());
    let mut at = FIXED_BYTES;
    while let Some(&kind) = header.get(at..end).and_then(<[u8]>::first) {
        let told = header.get(at + 1..end).and_then(<[u8]>::first).copied();
        let n_bytes = match (kind, told) {
            (1, _) => 1,
            // behind the end of the list, and where a length makes no sense, nothing is known
            (0, _) | (_, None | Some(0 | 1)) => {
                if let Some(rest) = header.get_mut(at + 1..end) {
                    rest.fill(0);
                }
                return;
            }
            (_, Some(n_bytes)) => usize::from(n_bytes),
        };
        if kind != 1 && !SHOWN.contains(&kind) {
            names.opaque(range(
                header,
                at + 2,
                n_bytes.min(end - at).saturating_sub(2),
            ));
        }
        at += n_bytes;
    }
}

/// RFC 8926 §3.5: options are of whoever defined their class.
fn hide_geneve(header: &mut [u8]) {
    const FIXED_BYTES: usize = 8;
    let n_bytes = header
        .first()
        .map_or(0, |octet| usize::from(octet & 0x3f) * 4);
    if let Some(options) = range(header, FIXED_BYTES, n_bytes) {
        // critical, type and length stay, so that they are read as options
        let mut rest = options;
        while let Some((option, behind)) = rest.split_at_mut_checked(4) {
            let n_data = option
                .last()
                .map_or(0, |octet| usize::from(octet & 0x1f) * 4);
            let (data, others) = behind.split_at_mut(n_data.min(behind.len()));
            data.fill(0);
            rest = others;
        }
    }
}

/// draft-ietf-intarea-gue §3: of variant 0 the extensions; variant 1 has no header of its own.
fn hide_gue(header: &mut [u8]) {
    const FIXED_BYTES: usize = 4;
    const EXTENSION_WORDS: u8 = 0x1f;
    let first = header.first().copied().unwrap_or_default();
    if first >> 6 == 0 {
        let n_bytes = usize::from(first & EXTENSION_WORDS) * 4;
        if let Some(extensions) = range(header, FIXED_BYTES, n_bytes) {
            extensions.fill(0);
        }
    }
}

/// RFC 826, of Ethernet and IPv4.
fn hide_arp(header: &mut [u8], names: &mut Pseudonyms) {
    names.mac(range(header, 8, 6));
    names.ipv4(range(header, 14, 4));
    names.mac(range(header, 18, 6));
    names.ipv4(range(header, 24, 4));
}

/// A checksum of layer 4 tells of the payload. That there is none stays.
fn hide_checksum(header: &mut [u8], at: usize) {
    if let Some(checksum) = range(header, at, 2)
        && checksum.iter().any(|octet| *octet != 0)
    {
        checksum.fill(0xff);
    }
}

/// A checksum that was left to the network card stays one: it is the sum of the pseudo-header alone.
pub(super) fn keep_partial(header: &mut [u8], packet: &Packet, captured: &[u8]) {
    let at = match packet.protocol {
        TCP => packet.transport_at + 16,
        UDP => packet.transport_at + 6,
        _ => return,
    };
    let stored = captured.get(at..).and_then(<[u8]>::first_chunk).copied();
    let stored = u16::from_be_bytes(stored.unwrap_or_default());
    let Some(n_bytes) = partial_length(packet, stored).filter(|_| packet.fragment == 0) else {
        return;
    };
    let places = if packet.ip_version == 4 {
        [12, 16, 20]
    } else {
        [8, 24, 40]
    };
    let [src, dst, end] = places.map(|place| packet.network_at + place);
    let address = |from, to| header.get(from..to).map(number).unwrap_or_default();
    let hidden = Packet {
        src: address(src, dst),
        dst: address(dst, end),
        ..*packet
    };
    write_checksum(header, at, partial_checksum(&hidden, n_bytes));
}

fn number(octets: &[u8]) -> u128 {
    octets
        .iter()
        .fold(0, |all, octet| all << 8 | u128::from(*octet))
}
