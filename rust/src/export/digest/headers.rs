//! The headers of a frame without the addresses in them, layer by layer.

use super::pseudonyms::Pseudonyms;
use crate::identity::{TCP, UDP};
use crate::survey::checksums::{partial_checksum, partial_length};
use crate::wire::{Packet, layer_name};

/// What a layer's header holds that is not shown as it is.
enum Redacted {
    /// MAC addresses at these places.
    Macs(&'static [usize]),
    /// IPv4's addresses and checksum.
    Ipv4,
    /// IPv6's addresses, and those of its routing header.
    Ipv6,
    /// ARP's addresses of both kinds.
    Arp,
    /// A checksum, over what is hidden, at this place.
    Checksum(usize),
    /// Nothing.
    Nothing,
    /// What it holds is not known here: it is content.
    Everything,
}

fn hidden_in(layer: &str) -> Redacted {
    match layer {
        "ethernet" => Redacted::Macs(&[0, 6]),
        "sll" => Redacted::Macs(&[6]),
        "sll2" => Redacted::Macs(&[12]),
        "ipv4" => Redacted::Ipv4,
        "ipv6" => Redacted::Ipv6,
        "arp" => Redacted::Arp,
        "tcp" | "stt" => Redacted::Checksum(16),
        "udp" => Redacted::Checksum(6),
        "icmp" | "icmpv6" => Redacted::Checksum(2),
        "vlan" | "vxlan" | "vxlan-gpe" | "geneve" | "gre" | "erspan" | "gtpu" | "mpls" | "null"
        | "raw" | "pppoe" | "ppp" | "ipip" | "srv6" | "l2tp" | "llc" | "nsh" | "esp" | "ah"
        | "gue" | "fou" | "teredo" | "etherip" | "eoip" | "pptp" | "cmd" | "etag" | "vntag"
        | "dsa" | "mpacket" | "chdlc" | "frelay" | "ttag" | "wireguard" => Redacted::Nothing,
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

/// RFC 8200 §3; routing headers as RFC 8200 §4.4 and RFC 8754 §2 have them.
pub(super) fn hide_ipv6(header: &mut [u8], names: &mut Pseudonyms) {
    const EXTENSIONS: [u8; 4] = [0, 43, 60, 135];
    const ROUTING: u8 = 43;
    names.ipv6(range(header, 8, 16));
    names.ipv6(range(header, 24, 16));
    let (mut next, mut at) = (header.get(6).copied().unwrap_or(59), 40);
    while EXTENSIONS.contains(&next) {
        let Some(&[after, n_words]) = header.get(at..at + 2).and_then(<[u8]>::first_chunk) else {
            return;
        };
        let end = at + 8 + usize::from(n_words) * 8;
        if next == ROUTING {
            for from in (at + 8..end.min(header.len())).step_by(16) {
                names.ipv6(range(header, from, 16.min(end - from)));
            }
        }
        (next, at) = (after, end);
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
