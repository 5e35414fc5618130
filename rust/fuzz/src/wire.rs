//! Decoding a frame.

use pcaplat_core::identity::{WHOLE, identify};
use pcaplat_core::wire::{Decoder, LAYERS, Packet, Parent, StopReason, layer_path};

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
    let identity = identify(&packet, frame, &WHOLE);
    // what was decoded before leaves nothing behind
    let first = format!("{packet:?}");
    decode(*head, frame, &mut packet);
    assert_eq!(format!("{packet:?}"), first);
    assert_eq!(identify(&packet, frame, &WHOLE), identity);
    // a snap length may fall anywhere
    for n_captured in [frame.len() / 2, frame.len().saturating_sub(1)] {
        let cut = &frame[..n_captured];
        let n_wire = decode(*head, cut, &mut packet);
        assert_lawful(&packet, cut, n_wire);
    }
}

/// Gives the length on the wire.
fn decode(
    [high, low, n_cut, fcs_bytes]: [u8; HEAD_BYTES],
    frame: &[u8],
    packet: &mut Packet,
) -> usize {
    let n_wire = frame.len() + usize::from(n_cut);
    let link = u16::from_be_bytes([high, low]);
    // nothing leads to FOU unless it is named
    let decoder = Decoder::new(&[(Parent::UdpDst(5555), "fou")]).unwrap();
    let n_told = u32::try_from(n_wire).unwrap();
    decoder.decode(link, frame, n_told, fcs_bytes % 9, packet);
    n_wire
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
