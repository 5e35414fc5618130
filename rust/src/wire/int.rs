//! In-band network telemetry behind UDP: a shim, and what nodes wrote.
//!
//! Spec: P4.org INT 2.1 §5.7.2. No port is assigned; the user names the one in use.
//!
//! ```text
//! | Type  |NPT|R|R|     Length    |  UDP port or IP protocol      |
//! ```

use super::telemetry::{BeforeInsertion, Inserted, Telemetry, TelemetryKind};
use super::{Halt, Layer, Next, Packet, ProtocolFit, Walk};

pub(super) static LAYER: Layer = Layer {
    name: "int",
    spec: "P4.org INT 2.1 §5.7",
    parents: &[],
    fit: |_| ProtocolFit::Possible,
    decode,
};

const SHIM_BYTES: usize = 4;
const METADATA: u8 = 1;
const LAST_TYPE: u8 = 3;

fn decode(walk: &mut Walk<'_>, packet: &mut Packet) -> Result<Next, Halt> {
    let [kind, n_words, high, low] = *walk.bytes.take::<SHIM_BYTES>()?;
    let before = match kind >> 2 & 3 {
        1 => BeforeInsertion::UdpPort(u16::from_be_bytes([high, low])),
        2 => BeforeInsertion::IpProtocol(low),
        _ => return Err(Halt::Declined),
    };
    pass(walk, packet, kind >> 4, 4 * usize::from(n_words))?;
    if let (Ok(udp_at), Ok(end)) = (
        u32::try_from(walk.parent_at),
        u32::try_from(walk.bytes.at()),
    ) {
        packet.inserted = Some(Inserted {
            udp_at,
            end,
            before,
        });
    }
    Ok(Next::Payload)
}

/// Passes the shim behind a VXLAN-GPE header that says so, and gives the next protocol. Version 1 counts
/// the shim into its length.
pub(super) fn pass_in_vxlan(walk: &mut Walk<'_>, packet: &mut Packet) -> Result<u8, Halt> {
    let [kind, n_words, _, next_protocol, first, ..] = *walk.bytes.peek::<8>()?;
    walk.bytes.skip(SHIM_BYTES)?;
    let is_version_1 = first >> 4 == 1;
    let kind = if is_version_1 { kind } else { kind >> 4 };
    let n_words = n_words.saturating_sub(is_version_1.into());
    pass(walk, packet, kind, 4 * usize::from(n_words))?;
    Ok(next_protocol)
}

fn pass(walk: &mut Walk<'_>, packet: &mut Packet, kind: u8, n_bytes: usize) -> Result<(), Halt> {
    if !(METADATA..=LAST_TYPE).contains(&kind) {
        return Err(Halt::Declined);
    }
    let at = walk.bytes.at();
    walk.bytes.skip(n_bytes)?;
    if kind == METADATA {
        packet.note_telemetry(Telemetry::new(TelemetryKind::Int, at, at + n_bytes));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::vectors::{frame, read_with};
    use super::super::{Parent, layer_path};
    use super::*;

    /// UDP to port 5000 with a shim, one node's data of four words, and eight bytes behind.
    fn carried(shim: &str) -> Packet {
        let bytes = frame(&format!(
            "020000000002020000000001 0800 4500003c 12340000 40110000 0a0000010a000002 \
             9c40138800280000 {shim} 20000404 8c000000 00000000 \
             00000007 0000000000000001"
        ));
        read_with(&[(Parent::UdpDst(5000), "int")], &bytes)
    }

    #[test]
    fn the_shim_says_what_was_there_before() {
        let packet = carried("14062328");
        assert_eq!(layer_path(&packet), "ethernet/ipv4/udp/int");
        assert_eq!(packet.stop, None);
        let telemetry = packet.telemetry.map(|one| (one.at, one.end));
        assert_eq!(telemetry, Some((46, 70)));
        let inserted = packet.inserted.unwrap();
        assert_eq!((inserted.udp_at, inserted.end), (34, 70));
        assert_eq!(inserted.before, BeforeInsertion::UdpPort(0x2328));
        let before = carried("18060006").inserted.map(|one| one.before);
        assert_eq!(before, Some(BeforeInsertion::IpProtocol(6)));
    }

    #[test]
    fn what_is_no_shim_is_plain_udp() {
        for shim in ["10062328", "f4062328", "00000000"] {
            let packet = carried(shim);
            assert_eq!((packet.telemetry, packet.inserted), (None, None), "{shim}");
            assert_eq!(layer_path(&packet), "ethernet/ipv4/udp", "{shim}");
        }
    }
}
