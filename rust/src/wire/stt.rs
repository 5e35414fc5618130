//! STT: frames in segments that look like TCP, but have no connection.
//!
//! Spec: draft-davie-stt §3. A large frame goes in several segments: its headers are in the first,
//! which therefore is read as the frame; `fragments` puts them together.
//!
//! ```text
//! |          Source Port          |       Destination Port        |
//! |          Frame Length         |        Fragment Offset        |
//! |                       Packet Identification                   |
//! |                 rest of what looks like TCP                   |
//!
//! |  Version  |  Flags  |  L4 Offset  |  Reserved  |  MSS (16)  |
//! |PCP|V| VID |          Context ID (64)           |  Padding   |
//! ```

use super::{Halt, Layer, Next, Packet, Parent, ProtocolFit, Walk, ethernet};

pub(super) static LAYER: Layer = Layer {
    name: "stt",
    spec: "draft-davie-stt §3",
    parents: &[Parent::TcpDst(7471)],
    fit: |_| ProtocolFit::Possible,
    decode,
};

/// Of the header that the first segment has, and the frame length counts.
const HEADER_BYTES: u16 = 18;
/// Header length of TCP without options.
const NO_OPTIONS: u8 = 0x50;

fn decode(walk: &mut Walk<'_>, packet: &mut Packet) -> Result<Next, Halt> {
    let at = walk.bytes.at();
    let [_, _, _, _, n_high, n_low, at_high, at_low, rest @ ..] = *walk.bytes.peek::<20>()?;
    let n_frame = u16::from_be_bytes([n_high, n_low]);
    let offset = u16::from_be_bytes([at_high, at_low]);
    let Some(n_inner) = n_frame.checked_sub(HEADER_BYTES) else {
        return Err(Halt::Declined);
    };
    if offset >= n_frame || rest[4] & 0xF0 != NO_OPTIONS {
        return Err(Halt::Declined);
    }
    walk.bytes.skip(20)?;
    if offset != 0 {
        packet.note_segment(at);
        return Ok(Next::Payload);
    }
    let is_segment = walk.bytes.wire_left() < n_frame.into();
    let [version, _, _, reserved, _, _, _, _, context @ .., _, _] = *walk.bytes.take::<18>()?;
    if version != 0 {
        return Err(Halt::Declined);
    }
    if is_segment && reserved == 0 {
        packet.note_segment(at);
    }
    walk.bytes.bound(n_inner.into());
    walk.tunnel_id = i64::from_be_bytes(context) & i64::MAX;
    Ok(Next::Inside(ethernet::BRIDGED))
}

#[cfg(test)]
mod tests {
    use super::super::vectors::{assert_stop, assert_tcp, assert_udp, read, read_cut};
    use super::super::{StopReason, layer_path};

    const OUTER: &str = "02000000000d02000000000c080045000066123440004006a45ac0000201c0000202";
    const PATH: &str = "ethernet/ipv4/tcp/stt/ethernet/ipv4/udp";
    const CONTEXT: i64 = 0x1122_3344_5566_7788;

    #[test]
    fn a_frame_in_one_segment() {
        let plain = "c7381d2f003e0000abcdef015010ffff00000000000000000000000011223344556677880000";
        assert_udp(&format!("{OUTER} {plain} EU"), PATH, CONTEXT);
        let tagged = "c7381d2f003e0000abcdef025010ffff00000000000000000000706411223344556677880000";
        assert_udp(&format!("{OUTER} {tagged} EU"), PATH, CONTEXT);
    }

    #[test]
    fn a_first_segment_shows_the_whole_frame() {
        let text = concat!(
            "02000000000d02000000000c08004500 0072 123440004006a470c0000201c0000202",
            "c7381d2f044a0000000007775010ffff00000000 0000220005780000 11223344556677880000",
            "02000000000202000000000108004500 0428 12344000400610900a0000010a000002",
            "9c409c411122334455667788501804006f430000dead"
        );
        let packet = read(text);
        assert_eq!(
            layer_path(&packet),
            "ethernet/ipv4/tcp/stt/ethernet/ipv4/tcp"
        );
        assert_eq!((packet.src, packet.src_port), (0x0a00_0001, 40_000));
        assert_eq!((packet.transport_wire_bytes, packet.stop), (1044, None));
    }

    #[test]
    fn a_first_segment_without_the_headers_is_the_packet() {
        let packet = read(concat!(
            "02000000000d02000000000c080045000050123440004006a470c0000201c0000202",
            "c7381d2f004a0000000007775010ffff00000000000e220005780000112233445566",
            "7788000002000000000202000000000108004500002a12344000"
        ));
        assert_eq!(layer_path(&packet), "ethernet/ipv4/tcp");
        assert_eq!(
            (packet.src, packet.depth, packet.stop),
            (0xc000_0201, 0, None)
        );
    }

    #[test]
    fn a_later_segment_is_a_packet_of_its_own() {
        let text = concat!(
            "02000000000d02000000000c08004500004a123440004006a476c0000201c0000202",
            "c7381d2f004a0028000007775010ffff00000000",
            "400614980a0000010a0000029c409c411122334455667788501804006f430000dead"
        );
        let packet = read(text);
        assert_eq!(layer_path(&packet), "ethernet/ipv4/tcp/stt");
        assert_eq!((packet.src_port, packet.dst_port), (51_000, 7471));
        assert_eq!((packet.transport_wire_bytes, packet.tunnel_id), (54, -1));
    }

    #[test]
    fn a_connection_on_its_port_is_plain_tcp() {
        for segment in [
            "c7381d2f1122334455667788801804006f4300000101080a0000000100000002",
            "c7381d2f0001000055667788501804006f430000",
            "c7381d2f003e0000abcdef015010ffff000000000100000000000000112233445566778800",
        ] {
            let n_ip = 20 + segment.len() / 2;
            let packet = read(&format!(
                "0200000000020200000000010800 4500{n_ip:04x} 12340000 40060000 0a0000010a000002 {segment}"
            ));
            assert_eq!(layer_path(&packet), "ethernet/ipv4/tcp", "{segment}");
            assert_eq!((packet.dst_port, packet.stop), (7471, None));
        }
        assert_tcp("ET", "ethernet/ipv4/tcp", -1);
    }

    #[test]
    fn a_cut_header_stops() {
        let text = format!(
            "{OUTER} c7381d2f003e0000abcdef015010ffff00000000000000000000000011223344556677880000 EU"
        );
        assert_stop(
            &read_cut(&text, 60),
            "ethernet/ipv4/tcp/stt",
            StopReason::SnapLength,
        );
    }
}
