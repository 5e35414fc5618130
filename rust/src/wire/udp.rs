//! UDP.
//!
//! Spec: RFC 768.
//!
//! ```text
//! |          Source Port          |       Destination Port        |
//! |            Length             |           Checksum            |
//! ```

use super::prediction::{HeaderRole, Predictable};
use super::{Halt, Layer, Next, Packet, Parent, ProtocolFit, Walk};

pub(super) static LAYER: Layer = Layer {
    name: "udp",
    spec: "RFC 768",
    parents: &[Parent::IpProtocol(17)],
    fit: |_| ProtocolFit::Possible,
    decode,
};

pub(super) static PREDICTABLE: Predictable = Predictable {
    layer: &LAYER,
    role: HeaderRole::Transport,
    decisive: &[],
    n_bytes: |_| Some(HEADER_BYTES),
    length: Some((4, 0)),
    read: Packet::read_ports,
};

const HEADER_BYTES: usize = 8;
pub(super) const DST_PORT_AT: usize = 2;

fn decode(walk: &mut Walk<'_>, packet: &mut Packet) -> Result<Next, Halt> {
    packet.take_ports(walk.bytes);
    let [_, _, dst_high, dst_low, high, low, _, _] = match walk.bytes.take::<HEADER_BYTES>() {
        Ok(header) => *header,
        Err(short) if !packet.may_end_within(walk.bytes, HEADER_BYTES) => return Err(short.into()),
        Err(_) => return after_a_cut(walk),
    };
    match usize::from(u16::from_be_bytes([high, low])) {
        // A jumbogram (RFC 2675 §4), or left open by segmentation offload.
        0 => {}
        1..HEADER_BYTES => return Err(Halt::Malformed),
        n_udp => walk.bytes.bound(n_udp - HEADER_BYTES),
    }
    Ok(Next::UdpDst(u16::from_be_bytes([dst_high, dst_low])))
}

/// The port may still tell that a tunnel was cut off.
#[cold]
fn after_a_cut(walk: &mut Walk<'_>) -> Result<Next, Halt> {
    let Ok([_, _, high, low]) = walk.bytes.peek() else {
        return Ok(Next::Payload);
    };
    let dst_port = u16::from_be_bytes([*high, *low]);
    walk.bytes.skip(walk.bytes.left())?;
    Ok(Next::UdpDst(dst_port))
}

#[cfg(test)]
mod tests {
    use super::super::vectors::{assert_stop, assert_udp, read, read_cut};
    use super::super::{StopReason, layer_path};

    const PATH: &str = "ethernet/ipv4/udp";
    const IP: &str = "0200000000020200000000010800 4500001c 12340000 40110000 0a0000010a000002";

    #[test]
    fn has_ports() {
        assert_udp("EU", PATH, -1);
    }

    #[test]
    fn ports_survive_a_cut_as_far_as_they_are_there() {
        for (n_captured, dst_port) in [(41, 40_001), (38, 40_001), (37, -1), (34, -1)] {
            let packet = read_cut("EU", n_captured);
            assert_eq!(
                (packet.dst_port, packet.stop),
                (dst_port, None),
                "{n_captured}"
            );
            assert_eq!(layer_path(&packet), PATH);
        }
    }

    #[test]
    fn bytes_behind_its_length_still_belong_to_the_ip_packet() {
        let packet = read(
            "0200000000020200000000010800 45000020 12340000 40110000 0a0000010a000002 \
                           9c409c4100080000 01020304",
        );
        assert_eq!(
            (packet.transport_wire_bytes, packet.end_at, packet.stop),
            (12, 46, None)
        );
    }

    #[test]
    fn bad_lengths_stop() {
        assert_stop(
            &read(&format!("{IP} 9c409c4100070000")),
            PATH,
            StopReason::Malformed,
        );
        let short = IP.replace("4500001c", "45000018");
        assert_stop(
            &read(&format!("{short} 9c409c41")),
            PATH,
            StopReason::Truncated,
        );
        assert_eq!(read(&format!("{IP} 9c409c4100000000")).stop, None);
    }
}
