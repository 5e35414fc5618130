//! ICMP of either version. A packet that an error message quotes is not looked at: it is another one.
//!
//! Spec: RFC 792; RFC 4443 §2.1 has the same.
//!
//! ```text
//! |     Type      |     Code      |          Checksum             |
//! |                             Body                              |
//! ```

use super::prediction::{HeaderRole, Predictable};
use super::{Halt, Layer, Next, Packet, Parent, ProtocolFit, Walk};

pub(super) static LAYER: Layer = Layer {
    name: "icmp",
    spec: "RFC 792",
    parents: &[Parent::IpProtocol(1)],
    fit: |_| ProtocolFit::Possible,
    decode,
};

pub(super) static PREDICTABLE: Predictable = Predictable {
    layer: &LAYER,
    role: HeaderRole::Transport,
    decisive: &[],
    n_bytes: |_| Some(HEADER_BYTES),
    length: None,
    read: |_, _, _| (),
};

pub(super) const HEADER_BYTES: usize = 4;

pub(super) fn decode(walk: &mut Walk<'_>, packet: &mut Packet) -> Result<Next, Halt> {
    match walk.bytes.peek::<HEADER_BYTES>() {
        Err(short) if !packet.may_end_within(walk.bytes, HEADER_BYTES) => Err(short.into()),
        _ => Ok(Next::Payload),
    }
}

#[cfg(test)]
mod tests {
    use super::super::vectors::{assert_stop, read, read_cut};
    use super::super::{StopReason, layer_path};

    const UNREACHABLE: &str = "0200000000020200000000010800 4500003a 12340000 40010000 \
                               0a0000090a000001 0303000000000000 IU";

    #[test]
    fn a_quoted_packet_is_not_the_packet() {
        let packet = read(UNREACHABLE);
        assert_eq!(layer_path(&packet), "ethernet/ipv4/icmp");
        assert_eq!(
            (packet.src, packet.protocol, packet.src_port),
            (0x0a00_0009, 1, -1)
        );
        assert_eq!(
            (packet.depth, packet.transport_wire_bytes, packet.stop),
            (0, 38, None)
        );
    }

    #[test]
    fn bad_lengths() {
        assert_eq!(read_cut(UNREACHABLE, 36).stop, None);
        let short = UNREACHABLE.replace("4500003a", "45000016");
        assert_stop(&read(&short), "ethernet/ipv4/icmp", StopReason::Truncated);
    }
}
