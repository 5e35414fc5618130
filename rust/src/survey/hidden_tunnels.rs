//! Packets that hold others which were not looked for: tunnels on ports that nobody named, and
//! what is encrypted.

use crate::identity::UDP;
use crate::wire::{Packet, is_encrypted};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// As many ports are told apart.
const MAX_PORTS: usize = 4;
const UDP_BYTES: usize = 8;
/// IPv4, IPv6, ARP, a VLAN tag.
const INNER_TYPES: [[u8; 2]; 4] = [[8, 0], [0x86, 0xdd], [8, 6], [0x81, 0]];

/// What one interface saw of them.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Hidden {
    /// UDP port, the layer that its packets look like, how many of them.
    pub ports: Vec<(i32, Cow<'static, str>, u64)>,
    /// Packets whose inside is encrypted.
    pub n_encrypted: u64,
    /// Packets in a tunnel, and others.
    pub n_by_depth: [u64; 2],
}

impl Hidden {
    /// Takes the interface's next packet.
    #[expect(clippy::inline_always, reason = "one straight way for each frame")]
    #[inline(always)]
    pub(super) fn note(&mut self, packet: &Packet, bytes: &[u8]) {
        if let Some(n) = self.n_by_depth.get_mut(usize::from(packet.depth > 0)) {
            *n += 1;
        }
        let last = packet.layers.get(packet.n_layers.wrapping_sub(1));
        self.n_encrypted += u64::from(last.is_some_and(|id| is_encrypted(*id)));
        if packet.protocol != UDP || packet.fragment != 0 {
            return;
        }
        let payload = packet.transport(bytes).get(UDP_BYTES..);
        if let Some(kind) = payload.and_then(looks_like) {
            self.count(packet.dst_port, Cow::Borrowed(kind), 1);
        }
    }

    fn count(&mut self, port: i32, kind: Cow<'static, str>, n_more: u64) {
        let mut ports = self.ports.iter_mut();
        let known = ports.find(|one| one.0 == port && one.1 == kind);
        if let Some((_, _, n)) = known {
            *n += n_more;
        } else if !self.is_full() {
            self.ports.push((port, kind, n_more));
        }
    }

    /// Whether which ports are known depends on which came first.
    pub(super) fn is_full(&self) -> bool {
        self.ports.len() >= MAX_PORTS
    }

    /// Adds those of frames that come later.
    pub(super) fn join(&mut self, later: Self) {
        for (port, kind, n) in later.ports {
            self.count(port, kind, n);
        }
        self.n_encrypted += later.n_encrypted;
        for (n, more) in self.n_by_depth.iter_mut().zip(later.n_by_depth) {
            *n += more;
        }
    }
}

/// VXLAN's flags, reserved octets and an Ethernet frame behind them (RFC 7348 §5); Geneve's
/// version, Ethernet as its protocol and a frame behind its options (RFC 8926 §3.4).
fn looks_like(payload: &[u8]) -> Option<&'static str> {
    let has_frame = |at: usize| -> Option<bool> {
        let kind = payload.get(at + 12..)?.first_chunk()?;
        Some(INNER_TYPES.contains(kind))
    };
    match payload {
        [8, 0, 0, 0, _, _, _, 0, ..] if has_frame(8)? => Some("vxlan"),
        [first, _, 0x65, 0x58, ..]
            if first >> 6 == 0 && has_frame(8 + usize::from(first & 0x3f) * 4)? =>
        {
            Some("geneve")
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::looks_like;

    #[test]
    fn tunnels_are_known_by_their_headers_and_the_frame_behind() {
        let frame = [[2; 12].as_slice(), &[8, 0, 0x45]].concat();
        let vxlan = [&[8, 0, 0, 0, 0, 1, 2, 0], frame.as_slice()].concat();
        let geneve = [
            &[1, 0, 0x65, 0x58, 0, 1, 2, 0, 9, 9, 9, 9],
            frame.as_slice(),
        ]
        .concat();
        assert_eq!(looks_like(&vxlan), Some("vxlan"));
        assert_eq!(looks_like(&geneve), Some("geneve"));
        assert_eq!(looks_like(&geneve[..20]), None);
        assert_eq!(looks_like(&vxlan[1..]), None);
    }
}
