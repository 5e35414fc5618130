//! What the path may change is no part of an identity; everything else is.
#![expect(
    clippy::cast_possible_truncation,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a test that panics has failed"
)]

use crate::frames::{
    ARP, IP4_TCP, IP4_UDP, IP6_UDP, WRAPPINGS, ethernet, good_frames, hex, inner_frames,
};
use pcaplat_core::base::hash::Seed;
use pcaplat_core::identity::{Identity, Prefixes, WHOLE, class, copy_tag, cut_bytes, identify};
use pcaplat_core::wire::{Decoder, Packet};

const ETHERNET: u16 = 1;
const IP_AT: usize = 14;
const L4_AT: usize = 34;

fn decode(bytes: &[u8], wire_bytes: usize) -> Packet {
    let mut packet = Packet::new();
    let decoder = Decoder::new(&[]).unwrap();
    decoder.decode(ETHERNET, bytes, wire_bytes as u32, 0, &mut packet);
    packet
}

fn identity_with(bytes: &[u8], wire_bytes: usize, prefixes: &Prefixes) -> Identity {
    let packet = decode(bytes, wire_bytes);
    identify(&packet, bytes, prefixes, Seed::PUBLIC, false)
}

fn identity(bytes: &[u8]) -> Identity {
    identity_with(bytes, bytes.len(), &WHOLE)
}

fn with(frame: &[u8], at: usize, mask: u8) -> Vec<u8> {
    let mut frame = frame.to_vec();
    frame[at] ^= mask;
    frame
}

/// The octets of a frame whose change changes the key, by trying each.
fn octets_in_the_key(frame: &[u8]) -> Vec<usize> {
    let key = identity(frame).key;
    let differs = |at: &usize| {
        let changed = with(frame, *at, 0x01);
        decode(&changed, frame.len()).stop.is_none() && identity(&changed).key != key
    };
    (0..frame.len()).filter(differs).collect()
}

fn tcp() -> Vec<u8> {
    // data offset 8: no-op, no-op, timestamps
    let segment = "450000361234400040061498 0a000001 0a000002 9c409c41 11223344 55667788 801804006f430000 \
                   0101080a 0000004d 00000037 dead";
    ethernet(0x0800, &hex(segment))
}

#[test]
fn of_tcp_the_stable_octets_are_the_key_and_no_others() {
    let expected: Vec<usize> = [18, 19] // identification
        .into_iter()
        .chain(26..34) // addresses
        .chain(L4_AT..L4_AT + 12) // ports, sequence, acknowledgment
        .chain(L4_AT + 20..L4_AT + 34) // options, data
        .collect();
    let frame = tcp();
    let found = octets_in_the_key(&frame);
    // types, lengths and versions do not decode when changed by one bit; they are tested on their own
    let optional = [12, 13, 16, 17, 20, 21, 23];
    let found: Vec<usize> = found
        .into_iter()
        .filter(|at| !optional.contains(at))
        .collect();
    assert_eq!(found, expected);
}

#[test]
fn what_virtual_paths_rewrite_is_not_in_the_key() {
    let frame = tcp();
    let key = identity(&frame).key;
    let rewritten = [
        ("MAC addresses", 0),
        ("MAC addresses", 11),
        ("type of service", IP_AT + 1),
        ("TTL", IP_AT + 8),
        ("IP checksum", IP_AT + 10),
        ("TCP flags", L4_AT + 13),
        ("TCP window", L4_AT + 14),
        ("TCP checksum", L4_AT + 16),
        ("TCP urgent pointer", L4_AT + 18),
    ];
    for (what, at) in rewritten {
        assert_eq!(identity(&with(&frame, at, 0x10)).key, key, "{what}");
    }
    let tagged = [&frame[..12], &hex("81000064"), &frame[12..]].concat();
    assert_eq!(identity(&tagged).key, key, "VLAN");
    let udp = ethernet(0x0800, &hex(IP4_UDP));
    assert_eq!(
        identity(&with(&udp, L4_AT + 6, 1)).key,
        identity(&udp).key,
        "UDP checksum"
    );
}

#[test]
fn data_offset_and_length_are_in_the_key() {
    let frame = tcp();
    let key = identity(&frame).key;
    assert_ne!(
        identity(&with(&frame, L4_AT + 12, 0x10)).key,
        key,
        "data offset"
    );
    let longer = [&with(&frame, IP_AT + 3, 0x01)[..], &[0]].concat();
    assert_ne!(identity(&longer).key, key, "length");
}

#[test]
fn tunnels_change_nothing() {
    for inner in inner_frames() {
        let plain = identity(&inner);
        for (name, wrap, _) in WRAPPINGS {
            assert_eq!(identity(&wrap(&inner)), plain, "{name}");
        }
    }
}

#[test]
fn padding_and_trailers_change_nothing() {
    for frame in [IP4_UDP, IP4_TCP, IP6_UDP].map(hex) {
        let ether_type = if frame[0] >> 4 == 4 { 0x0800 } else { 0x86dd };
        let frame = ethernet(ether_type, &frame);
        let padded = [&frame[..], &[0xa5; 20]].concat();
        assert_eq!(identity(&padded).key, identity(&frame).key);
    }
    let arp = ethernet(0x0806, &hex(ARP));
    let padded = [&arp[..], &[0xa5; 18]].concat();
    assert_eq!(identity(&padded), identity(&arp));
    let other = ethernet(0x88b5, &hex("0001020304"));
    assert_eq!(identity(&[&other[..], &[0; 41]].concat()), identity(&other));
    assert_ne!(identity(&with(&other, 18, 1)).key, identity(&other).key);
}

#[test]
fn requests_meet_their_responses() {
    let reply = |request: &str| {
        let arp = hex(request);
        let (sender, target) = (&arp[8..18], &arp[18..28]);
        ethernet(0x0806, &[&hex("0001080006040002"), target, sender].concat())
    };
    let udp = ethernet(0x0800, &hex(IP4_UDP));
    let back = [
        &udp[..26],
        &udp[30..34],
        &udp[26..30],
        &udp[36..38],
        &udp[34..36],
        &udp[38..],
    ]
    .concat();
    let arp = ethernet(0x0806, &hex(ARP));
    for (one, other) in [(udp, back), (arp, reply(ARP))] {
        let (one, other) = (identity(&one), identity(&other));
        assert_eq!((one.pair, one.flow), (other.pair, other.flow));
        assert_ne!((one.key, one.toward), (other.key, other.toward));
    }
}

#[test]
fn what_is_born_on_the_way_has_no_direction() {
    let to = |address: &str| {
        let mut frame = ethernet(0x0800, &hex(IP4_UDP));
        frame[30..34].copy_from_slice(&hex(address));
        identity(&frame).directed
    };
    assert!(to("0a000002") && to("c0a80001"));
    assert!(!to("e0000001") && !to("ffffffff") && !to("00000000"));
    assert!(!identity(&ethernet(0x0806, &hex(ARP))).directed);
    for (kind, is_directed) in [
        (128, true),
        (129, true),
        (133, false),
        (135, false),
        (136, false),
    ] {
        let mut frame = ethernet(0x86dd, &hex(IP6_UDP));
        (frame[20], frame[54]) = (58, kind);
        assert_eq!(identity(&frame).directed, is_directed, "type {kind}");
    }
}

#[test]
fn only_a_syn_opens() {
    for (flags, opens) in [
        (0x02, true),
        (0xc2, true),
        (0x12, false),
        (0x10, false),
        (0x04, false),
    ] {
        let mut frame = tcp();
        frame[L4_AT + 13] = flags;
        assert_eq!(identity(&frame).opens, opens, "{flags:02x}");
    }
    assert!(!identity(&ethernet(0x0800, &hex(IP4_UDP))).opens);
}

#[test]
fn unnumbered_frames_have_no_copy_tag() {
    let tag = |frame: &[u8]| copy_tag(&decode(frame, frame.len()), frame);
    let numbered = tcp();
    assert_ne!(tag(&numbered), 0);
    assert_ne!(tag(&with(&numbered, IP_AT + 8, 1)), tag(&numbered));
    let mut unnumbered = numbered;
    unnumbered[18..20].fill(0);
    assert_eq!(tag(&unnumbered), 0);
    let wrapped = WRAPPINGS[0].1(&unnumbered);
    assert_ne!(tag(&wrapped), 0, "the outer header is numbered");
    let other = WRAPPINGS[0].1(&ethernet(0x0806, &hex(ARP)));
    assert_eq!(tag(&other), 0, "no IP packet has headers that say so");
}

#[test]
fn a_cut_frame_equals_the_whole_one_up_to_the_prefix() {
    for frame in good_frames() {
        let packet = decode(&frame, frame.len());
        let shortest = packet.transport_at + 12;
        for n in shortest..frame.len() {
            let cut = decode(&frame[..n], frame.len());
            if cut.stop.is_some() || cut_bytes(&cut).is_none() {
                continue;
            }
            let mut prefixes = WHOLE;
            prefixes[class(&cut)] = cut_bytes(&cut).unwrap();
            let whole = identity_with(&frame, frame.len(), &prefixes);
            let cut = identity_with(&frame[..n], frame.len(), &prefixes);
            assert_eq!(
                (cut.key, cut.pair, cut.flow),
                (whole.key, whole.pair, whole.flow),
                "{n} of {frame:02x?}"
            );
        }
        assert_eq!(cut_bytes(&packet), None);
    }
}
