//! TCP.
//!
//! Spec: RFC 9293 §3.1.
//!
//! ```text
//! |          Source Port          |       Destination Port        |
//! |                        Sequence Number                        |
//! |                    Acknowledgment Number                      |
//! | Offset| Rsrvd |     Flags     |            Window             |
//! |           Checksum            |         Urgent Pointer        |
//! ```

use super::prediction::{HeaderRole, Predictable};
use super::{Halt, Layer, Next, Packet, Parent, ProtocolFit, Walk};

pub(super) static LAYER: Layer = Layer {
    name: "tcp",
    spec: "RFC 9293 §3.1",
    parents: &[Parent::IpProtocol(6)],
    fit: |_| ProtocolFit::Possible,
    decode,
};

pub(super) static PREDICTABLE: Predictable = Predictable {
    layer: &LAYER,
    role: HeaderRole::Transport,
    decisive: &[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xf0],
    n_bytes: |_| Some(HEADER_BYTES),
    length: None,
    read: Packet::read_ports,
};

const HEADER_BYTES: usize = 20;
const MIN_OFFSET_WORDS: u8 = 5;

fn decode(walk: &mut Walk<'_>, packet: &mut Packet) -> Result<Next, Halt> {
    packet.take_ports(walk.bytes);
    match walk.bytes.peek::<HEADER_BYTES>() {
        Ok(header) if header[12] >> 4 < MIN_OFFSET_WORDS => Err(Halt::Malformed),
        Err(short) if !packet.may_end_within(walk.bytes, HEADER_BYTES) => Err(short.into()),
        _ => Ok(u16::try_from(packet.dst_port).map_or(Next::Payload, Next::TcpDst)),
    }
}

#[cfg(test)]
mod tests {
    use super::super::vectors::{assert_stop, assert_tcp, read, read_cut};
    use super::super::{StopReason, layer_path};

    const PATH: &str = "ethernet/ipv4/tcp";

    #[test]
    fn has_ports() {
        assert_tcp("ET", PATH, -1);
    }

    #[test]
    fn ports_survive_a_cut_as_far_as_they_are_there() {
        for (n_captured, src_port) in [(53, 40_000), (38, 40_000), (37, -1), (34, -1)] {
            let packet = read_cut("ET", n_captured);
            assert_eq!(
                (packet.src_port, packet.stop),
                (src_port, None),
                "{n_captured}"
            );
            assert_eq!(
                (packet.transport_wire_bytes, packet.end_at),
                (22, n_captured)
            );
            assert_eq!(layer_path(&packet), PATH);
        }
    }

    #[test]
    fn a_header_that_its_packet_cannot_hold_stops() {
        let ip = "0200000000020200000000010800 45000020 12340000 40060000 0a0000010a000002";
        assert_stop(
            &read(&format!("{ip} 9c409c411122334455667788")),
            PATH,
            StopReason::Truncated,
        );
        let fragment = "0200000000020200000000010800 45000020 12342000 40060000 0a0000010a000002";
        assert_eq!(
            read(&format!("{fragment} 9c409c411122334455667788")).stop,
            None
        );
    }

    #[test]
    fn an_offset_inside_the_header_stops() {
        let text = "0200000000020200000000010800 45000028 12340000 40060000 0a0000010a000002 \
                    9c409c411122334455667788401804006f430000";
        let packet = read(text);
        assert_stop(&packet, PATH, StopReason::Malformed);
        assert_eq!((packet.src, packet.src_port), (0x0a00_0001, 40_000));
    }
}
