//! Decoding a frame.

use pcaplat_core::base::hash::Seed;
use pcaplat_core::file::{Frame, FrameDirection};
use pcaplat_core::identity::{WHOLE, identify};
use pcaplat_core::wire::{Decoder, LAYERS, Packet, Parent, Predictions, StopReason, layer_path};

/// Link type, bytes the snap length took, octets of check sequence.
const HEAD_BYTES: usize = 4;

/// The path of layers in a seed of this target.
pub fn layers(bytes: &[u8]) -> String {
    let mut packet = Packet::new();
    if let Some((head, frame)) = bytes.split_first_chunk::<HEAD_BYTES>() {
        decode(*head, frame, &mut packet);
    }
    layer_path(&packet)
}

/// Decodes a frame: link type and how much of it was not captured come first.
///
/// # Panics
/// A law is broken.
pub fn wire(bytes: &[u8]) {
    let Some((head, frame)) = bytes.split_first_chunk::<HEAD_BYTES>() else {
        return;
    };
    let mut packet = Packet::new();
    let n_wire = decode(*head, frame, &mut packet);
    assert_lawful(&packet, frame, n_wire);
    let identity = identify(&packet, frame, &WHOLE, Seed::PUBLIC, false);
    // what was decoded before leaves nothing behind
    let first = format!("{packet:?}");
    decode(*head, frame, &mut packet);
    assert_eq!(format!("{packet:?}"), first);
    assert_eq!(
        identify(&packet, frame, &WHOLE, Seed::PUBLIC, false),
        identity
    );
    assert_predicted(frame, &packet, *head);
    // a snap length may fall anywhere
    for n_captured in [frame.len() / 2, frame.len().saturating_sub(1)] {
        let cut = &frame[..n_captured];
        let n_wire = decode(*head, cut, &mut packet);
        assert_lawful(&packet, cut, n_wire);
    }
}

/// Gives the length on the wire.
fn decode(head: [u8; HEAD_BYTES], bytes: &[u8], packet: &mut Packet) -> usize {
    let frame = frame_of(head, bytes);
    decoder().decode_frame(&frame, packet);
    frame.wire_bytes as usize
}

/// Nothing leads to FOU or INT unless it is named.
fn decoder() -> Decoder {
    Decoder::new(&[(Parent::UdpDst(5555), "fou"), (Parent::UdpDst(5000), "int")]).unwrap()
}

fn frame_of([high, low, n_cut, fcs_bytes]: [u8; HEAD_BYTES], bytes: &[u8]) -> Frame<'_> {
    Frame {
        number: 1,
        t_ns: 0,
        stamp_ns: None,
        late_ns: 0,
        packet_id: 0,
        has_time: true,
        interface: 0,
        link: u16::from_be_bytes([high, low]),
        wire_bytes: u32::try_from(bytes.len() + usize::from(n_cut)).unwrap(),
        fcs_bytes: fcs_bytes % 9,
        direction: FrameDirection::Unknown,
        bytes,
    }
}

/// A frame read after one like it, or one that differs in an octet, is decoded all the same.
fn assert_predicted(bytes: &[u8], packet: &Packet, head: [u8; HEAD_BYTES]) {
    let decoder = decoder();
    let mut predictions = Predictions::default();
    let mut predicted = Packet::new();
    for at in 0..bytes.len().min(128) {
        let mut other = bytes.to_vec();
        other[at] ^= 1 << (at % 8);
        let mut plain = Packet::new();
        decoder.decode_frame(&frame_of(head, &other), &mut plain);
        decoder.decode_next(&frame_of(head, &other), &mut predictions, &mut predicted);
        assert_eq!(predicted, plain, "{other:02x?}");
        decoder.decode_next(&frame_of(head, bytes), &mut predictions, &mut predicted);
        assert_eq!(predicted, *packet, "{bytes:02x?}");
    }
}

pub(crate) fn assert_lawful(packet: &Packet, bytes: &[u8], n_wire: usize) {
    let told = || format!("{n_wire} on the wire: {bytes:02x?}: {packet:?}");
    assert!(packet.network_at <= packet.transport_at, "{}", told());
    assert!(packet.transport_at <= packet.end_at, "{}", told());
    assert!(packet.end_at <= bytes.len(), "{}", told());
    let is_within = packet.ethernet_at == usize::MAX || packet.ethernet_at <= packet.network_at;
    assert!(is_within, "{}", told());
    let path = layer_path(packet);
    let is_layer = |name: &str| LAYERS.iter().any(|layer| layer.name == name);
    assert!(
        path.is_empty() || path.split('/').all(is_layer),
        "{}",
        told()
    );
    assert!(packet.n_layers > 0 || packet.stop.is_some(), "{}", told());
    let n_there = packet.end_at - packet.transport_at;
    let is_on_wire = n_there <= packet.transport_wire_bytes as usize;
    assert!(is_on_wire || n_wire < bytes.len(), "{}", told());
    if let Some(stop) = packet.stop {
        assert!(stop.at_byte + stop.had <= bytes.len(), "{}", told());
        let is_cut = bytes.len() < n_wire;
        assert!(
            stop.reason != StopReason::SnapLength || is_cut,
            "{}",
            told()
        );
    }
}
