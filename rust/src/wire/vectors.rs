//! What the tests of the layers share: the packets inside their frames, and what is expected of them.

use super::{Decoder, Packet, Parent, StopReason, layer_path};

/// UDP 10.0.0.1:40000 → 10.0.0.2:40001 and the same over IPv6 (`2001:db8::1` → `::2`), both with payload
/// `dead`, and TCP: bare, and (E…) with Ethernet.
const NAMES: [(&str, &str); 7] = [
    ("E6", "02000000000202000000000186dd I6"),
    ("EO", "0050560000020050560000010800 IU"),
    ("ET", "0200000000020200000000010800 IT"),
    ("EU", "0200000000020200000000010800 IU"),
    (
        "I6",
        "60000000000a114020010db800000000000000000000000120010db80000000000000000000000029c409c41000a8d35dead",
    ),
    (
        "IT",
        "4500002a12344000400614980a0000010a0000029c409c411122334455667788501804006f430000dead",
    ),
    (
        "IU",
        "4500001e12344000401114990a0000010a0000029c409c41000ad4a7dead",
    ),
];
const ETHERNET: u16 = 1;

/// The octets of hex digits, in which blanks mean nothing and names stand for packets.
pub(crate) fn frame(text: &str) -> Vec<u8> {
    let mut text = text.to_owned();
    for (name, hex) in NAMES {
        let parts: Vec<&str> = text
            .split(' ')
            .map(|part| if part == name { hex } else { part })
            .collect();
        text = parts.join(" ");
    }
    let digits: String = text.split_whitespace().collect();
    (0..digits.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap())
        .collect()
}

pub(crate) fn read(text: &str) -> Packet {
    read_link(ETHERNET, text)
}

pub(super) fn read_link(link: u16, text: &str) -> Packet {
    let bytes = frame(text);
    decode(&[], link, &bytes, bytes.len())
}

/// The frame of which only the first `n_captured` bytes were captured.
pub(super) fn read_cut(text: &str, n_captured: usize) -> Packet {
    let bytes = frame(text);
    decode(&[], ETHERNET, &bytes[..n_captured], bytes.len())
}

pub(super) fn read_with(extra: &[(Parent, &str)], bytes: &[u8]) -> Packet {
    decode(extra, ETHERNET, bytes, bytes.len())
}

fn decode(extra: &[(Parent, &str)], link: u16, bytes: &[u8], n_wire: usize) -> Packet {
    let mut packet = Packet::new();
    Decoder::new(extra).unwrap().decode(
        link,
        bytes,
        u32::try_from(n_wire).unwrap(),
        0,
        &mut packet,
    );
    packet
}

/// The innermost packet is one of `NAMES`, over UDP.
pub(super) fn assert_udp(text: &str, path: &str, tunnel_id: i64) {
    assert_inner(ETHERNET, text, path, tunnel_id, 17);
}

pub(super) fn assert_tcp(text: &str, path: &str, tunnel_id: i64) {
    assert_inner(ETHERNET, text, path, tunnel_id, 6);
}

pub(super) fn assert_udp_link(link: u16, text: &str, path: &str) {
    assert_inner(link, text, path, -1, 17);
}

fn assert_inner(link: u16, text: &str, path: &str, tunnel_id: i64, protocol: i16) {
    let packet = read_link(link, text);
    assert_eq!(layer_path(&packet), path, "{text}");
    assert_eq!(packet.stop, None, "{text}");
    assert_ends(&packet, text);
    assert_eq!(
        (packet.protocol, packet.tunnel_id),
        (protocol, tunnel_id),
        "{text}"
    );
    assert_transport(&packet, text);
}

fn assert_ends(packet: &Packet, text: &str) {
    let addresses = match packet.ip_version {
        4 => (0x0a00_0001, 0x0a00_0002),
        _ => (
            0x2001_0db8_0000_0000_0000_0000_0000_0001,
            0x2001_0db8_0000_0000_0000_0000_0000_0002,
        ),
    };
    assert_eq!((packet.src, packet.dst), addresses, "{text}");
    assert_eq!(
        (packet.src_port, packet.dst_port),
        (40_000, 40_001),
        "{text}"
    );
}

fn assert_transport(packet: &Packet, text: &str) {
    let n_transport = if packet.protocol == 6 { 22 } else { 10 };
    assert_eq!(packet.transport_wire_bytes, n_transport, "{text}");
    let bytes = frame(text);
    let transport = packet.transport(&bytes);
    assert_eq!(transport.len(), n_transport as usize, "{text}");
    assert!(transport.ends_with(&[0xde, 0xad]), "{text}");
}

pub(super) fn assert_stop(packet: &Packet, path: &str, reason: StopReason) {
    assert_eq!(layer_path(packet), path);
    assert_eq!(packet.stop.map(|stop| stop.reason), Some(reason));
}
