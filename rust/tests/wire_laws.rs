//! Laws that hold for every frame, good or hostile.

#![expect(
    clippy::cast_possible_truncation,
    clippy::unwrap_used,
    reason = "a test that panics has failed"
)]

use std::time::{Duration, Instant};

use crate::frames::{IP4_UDP, WRAPPINGS, ethernet, good_frames, hex, inner_frames, ip4};
use pcaplat_core::file::{Frame, FrameDirection};
use pcaplat_core::wire::{Decoder, LAYERS, Packet, Predictions, StopReason, layer_path};

const ETHERNET: u16 = 1;
const LINKS: &[u16] = &[
    0, 1, 8, 9, 12, 14, 50, 51, 101, 104, 107, 108, 113, 149, 178, 179, 180, 181, 192, 197, 228,
    229, 239, 252, 258, 274, 276, 65535,
];
const SEED: u64 = 0x9e37_79b9_7f4a_7c15;

/// Marsaglia's xorshift64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() >> 33) as usize % n
    }

    fn bytes(&mut self, n: usize) -> Vec<u8> {
        (0..n).map(|_| (self.next() >> 40) as u8).collect()
    }
}

fn decode(link: u16, bytes: &[u8], n_wire: usize) -> Packet {
    thread_local!(static DECODER: Decoder = Decoder::new(&[]).unwrap());
    let mut packet = Packet::new();
    DECODER.with(|decoder| {
        decoder.decode(link, bytes, n_wire as u32, 0, &mut packet);
    });
    packet
}

fn whole(bytes: &[u8]) -> Packet {
    decode(ETHERNET, bytes, bytes.len())
}

#[test]
fn wrapping_changes_nothing_of_the_packet() {
    for inner in inner_frames() {
        let plain = whole(&inner);
        for (name, wrap, tunnel_id) in WRAPPINGS {
            let bytes = wrap(&inner);
            let wrapped = whole(&bytes);
            assert_eq!(
                essence(&wrapped, &bytes),
                essence(&plain, &inner),
                "{name}: {inner:02x?}"
            );
            assert_eq!(
                (wrapped.tunnel_id, wrapped.depth),
                (*tunnel_id, 1),
                "{name}"
            );
            assert!(
                layer_path(&wrapped).ends_with(&layer_path(&plain)),
                "{name}"
            );
            let twice = WRAPPINGS[0].1(&bytes);
            assert_eq!(
                essence(&whole(&twice), &twice),
                essence(&plain, &inner),
                "{name} in vxlan"
            );
            assert_eq!(whole(&twice).depth, 2);
        }
    }
}

type Essence<'a> = ([u128; 2], [i64; 8], &'a [u8]);

fn essence<'a>(packet: &Packet, bytes: &'a [u8]) -> Essence<'a> {
    assert_eq!(packet.stop, None, "{}", layer_path(packet));
    let numbers = [
        packet.ip_version.into(),
        packet.protocol.into(),
        packet.src_port.into(),
        packet.dst_port.into(),
        packet.ip_id.into(),
        packet.fragment.into(),
        packet.transport_wire_bytes.into(),
        packet.ether_type.into(),
    ];
    ([packet.src, packet.dst], numbers, packet.transport(bytes))
}

#[test]
fn padding_changes_nothing_of_an_ip_packet() {
    for inner in inner_frames()
        .into_iter()
        .filter(|frame| whole(frame).ip_version != 0)
    {
        let padded = [&inner[..], &[0xAA; 20]].concat();
        assert_eq!(
            essence(&whole(&padded), &padded),
            essence(&whole(&inner), &inner)
        );
    }
}

#[test]
fn the_outer_identifications_are_told_apart() {
    let inner = ethernet(0x0800, &hex(IP4_UDP));
    let plain = whole(&inner);
    assert_eq!(plain.outer_ip_id, 0);
    let mut bytes = ip4(47, &[&hex("00006558"), &inner[..]].concat());
    let first = whole(&bytes).outer_ip_id;
    bytes[18] ^= 1;
    assert_ne!(whole(&bytes).outer_ip_id, first);
    assert_eq!(first, 0x7777);
}

fn assert_lawful(link: u16, bytes: &[u8], n_wire: usize) {
    let packet = decode(link, bytes, n_wire);
    let told = || format!("link {link}, {n_wire} on the wire: {bytes:02x?}: {packet:?}");
    assert!(packet.network_at <= packet.transport_at, "{}", told());
    assert!(packet.transport_at <= packet.end_at, "{}", told());
    assert!(packet.end_at <= bytes.len(), "{}", told());
    assert!(
        packet.ethernet_at == usize::MAX || packet.ethernet_at <= packet.network_at,
        "{}",
        told()
    );
    assert!(
        layer_path(&packet)
            .split('/')
            .all(|name| name.is_empty() || is_layer(name))
    );
    assert!(packet.n_layers > 0 || packet.stop.is_some(), "{}", told());
    let n_there = packet.end_at - packet.transport_at;
    assert!(
        n_there <= packet.transport_wire_bytes as usize || n_wire < bytes.len(),
        "{}",
        told()
    );
    if let Some(stop) = packet.stop {
        assert!(stop.at_byte + stop.had <= bytes.len(), "{}", told());
        assert!(
            stop.reason != StopReason::SnapLength || bytes.len() < n_wire,
            "{}",
            told()
        );
    }
}

fn frame_of(link: u16, bytes: &[u8], n_wire: usize) -> Frame<'_> {
    Frame {
        number: 1,
        t_ns: 0,
        stamp_ns: None,
        late_ns: 0,
        packet_id: 0,
        has_time: true,
        interface: 0,
        link,
        wire_bytes: n_wire as u32,
        fcs_bytes: 0,
        direction: FrameDirection::Unknown,
        bytes,
    }
}

#[test]
fn what_was_read_before_changes_nothing() {
    let mut random = Random(SEED ^ 2);
    let frames = good_frames();
    let decoder = Decoder::new(&[]).unwrap();
    let (mut predictions, mut predicted) = (Predictions::default(), Packet::new());
    for n in 0..400_000 {
        if n % 1_000 == 0 {
            predictions = Predictions::default();
        }
        // few kinds for a while, so that there is something to predict
        let kind = n / 1_000 * 3 + random.below(3);
        let mut bytes = frames[kind % frames.len()].clone();
        let n_wire = bytes.len();
        for _ in 0..random.below(3) {
            let at = random.below(bytes.len().min(120));
            bytes[at] = match random.below(3) {
                0 => 0,
                1 => bytes[at] ^ 1 << random.below(8),
                _ => random.next() as u8,
            };
        }
        if random.below(4) == 0 {
            bytes.truncate(1 + random.below(n_wire));
        }
        let frame = frame_of(
            ETHERNET,
            &bytes,
            n_wire + random.below(2) * random.below(60),
        );
        decoder.decode_next(&frame, &mut predictions, &mut predicted);
        let plain = decode(ETHERNET, &bytes, frame.wire_bytes as usize);
        assert_eq!(predicted, plain, "{bytes:02x?}");
    }
}

fn is_layer(name: &str) -> bool {
    LAYERS.iter().any(|layer| layer.name == name)
}

#[test]
fn random_bytes_are_decoded_lawfully() {
    let mut random = Random(SEED);
    for n in 0..60_000 {
        let n_bytes = random.below(160);
        let bytes = random.bytes(n_bytes);
        let n_wire = bytes.len() + random.below(3) * random.below(100);
        assert_lawful(LINKS[n % LINKS.len()], &bytes, n_wire);
    }
}

#[test]
fn damaged_frames_are_decoded_lawfully() {
    let mut random = Random(SEED ^ 1);
    let frames = good_frames();
    for n in 0..200_000 {
        let mut bytes = frames[n % frames.len()].clone();
        for _ in 0..=random.below(4) {
            let at = random.below(bytes.len());
            bytes[at] = random.next() as u8;
        }
        let n_wire = bytes.len();
        bytes.truncate(1 + random.below(n_wire * 2));
        assert_lawful(ETHERNET, &bytes, n_wire);
        for link in LINKS {
            assert_lawful(
                *link,
                bytes.get(14..).unwrap_or_default(),
                n_wire.saturating_sub(14),
            );
        }
    }
}

#[test]
fn a_shorter_snap_length_sees_the_same_layers_as_far_as_it_goes() {
    for frame in good_frames() {
        let all = whole(&frame);
        for n_captured in 0..frame.len() {
            let cut = decode(ETHERNET, &frame[..n_captured], frame.len());
            let (path, full) = (layer_path(&cut), layer_path(&all));
            assert!(full.starts_with(&path), "{path} of {full} at {n_captured}");
            match cut.stop {
                Some(stop) => assert_eq!(
                    stop.reason,
                    StopReason::SnapLength,
                    "{full} at {n_captured}"
                ),
                // Without its ports, nothing tells that UDP or TCP carries a tunnel.
                None if cut.src_port == -1 && is_transport(&path) => {}
                None => assert_same_network(&cut, &all),
            }
        }
    }
}

fn is_transport(path: &str) -> bool {
    path.ends_with("/udp") || path.ends_with("/tcp")
}

fn assert_same_network(cut: &Packet, all: &Packet) {
    assert_eq!(
        (cut.src, cut.dst, cut.protocol),
        (all.src, all.dst, all.protocol)
    );
    assert_eq!(
        (cut.ip_id, cut.fragment, cut.depth),
        (all.ip_id, all.fragment, all.depth)
    );
    assert_eq!(cut.transport_wire_bytes, all.transport_wire_bytes);
    assert_eq!(
        (cut.network_at, cut.transport_at),
        (all.network_at, all.transport_at)
    );
    assert!(cut.src_port == all.src_port || cut.src_port == -1);
}

#[test]
fn every_good_frame_is_decoded_to_its_end() {
    for frame in good_frames() {
        let packet = whole(&frame);
        assert_eq!(packet.stop, None, "{}", layer_path(&packet));
        assert_eq!(packet.end_at, frame.len(), "{}", layer_path(&packet));
    }
}

#[test]
fn a_thousand_tunnels_end_soon() {
    let mut packet = hex(IP4_UDP);
    for _ in 0..1_000 {
        packet = ip4(4, &packet).split_off(14);
    }
    let frame = ethernet(0x0800, &packet);
    let start = Instant::now();
    let decoded = whole(&frame);
    assert!(start.elapsed() < Duration::from_millis(50));
    assert_eq!(
        decoded.stop.map(|stop| stop.reason),
        Some(StopReason::TooDeep)
    );
    assert_eq!(decoded.n_layers, decoded.layers.len());
}

#[test]
fn the_check_sequence_is_no_data() {
    let frame = [
        &ethernet(0x88B5, &[1, 2, 3, 4])[..],
        &[0xAD, 0x25, 0x57, 0xD3],
    ]
    .concat();
    let mut packet = Packet::new();
    let decoder = Decoder::new(&[]).unwrap();
    decoder.decode(
        ETHERNET,
        &frame,
        u32::try_from(frame.len()).unwrap(),
        4,
        &mut packet,
    );
    assert_eq!(
        (packet.transport(&frame), packet.transport_wire_bytes),
        (&[1, 2, 3, 4][..], 4)
    );
    let cut = &frame[..20];
    decoder.decode(
        ETHERNET,
        cut,
        u32::try_from(frame.len()).unwrap(),
        4,
        &mut packet,
    );
    assert_eq!(
        (packet.transport(cut), packet.transport_wire_bytes),
        (&cut[14..18], 4)
    );
}
