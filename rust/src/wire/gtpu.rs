//! GTP-U: the packets of mobile users, in 5G also their frames.
//!
//! Spec: 3GPP TS 29.281 §5.1, §5.2.
//!
//! ```text
//! |Ver (3)|PT|*|E|S|PN| Message Type (8) |      Length (16)       |
//! |               Tunnel Endpoint Identifier (32)                 |
//! | Sequence Number (16) | N-PDU Number (8) | Next Extension (8)  |
//! ```

use super::{Halt, Layer, Next, Packet, Parent, ProtocolFit, Walk, ethernet};
use crate::base::cursor::{Cursor, be};

pub(super) static LAYER: Layer = Layer {
    name: "gtpu",
    spec: "3GPP TS 29.281 §5.1",
    parents: &[Parent::UdpDst(2152), Parent::UdpSrc(2152)],
    fit: |_| ProtocolFit::Possible,
    decode,
};

/// Version 1, and GTP rather than GTP'.
const VERSION_AND_TYPE: u8 = 0xF0;
const HAS_EXTENSION: u8 = 0x04;
const HAS_OPTIONS: u8 = 0x07;
/// Of a frame, up to where its IP header can be checked.
const FRAME_BYTES: usize = 34;
/// Message type of user data (TS 29.281 §6.1).
const G_PDU: u8 = 255;

fn decode(walk: &mut Walk<'_>, _: &mut Packet) -> Result<Next, Halt> {
    let [flags, message, high, low, tunnel_id @ ..] = *walk.bytes.take::<8>()?;
    if flags & VERSION_AND_TYPE != 0x30 {
        return Err(Halt::Declined);
    }
    if message != G_PDU {
        return Ok(Next::Payload);
    }
    walk.bytes.bound(u16::from_be_bytes([high, low]).into());
    if flags & HAS_OPTIONS != 0 {
        pass_options(&mut walk.bytes, flags)?;
    }
    walk.tunnel_id = be(&tunnel_id).into();
    // Nothing says what is inside, so something must be there to see.
    walk.bytes.peek::<1>()?;
    walk.ether_type = ethernet::guess(walk.bytes);
    let is_sure =
        walk.ether_type != ethernet::BRIDGED || ethernet::fit(walk.bytes) == ProtocolFit::Sure;
    if is_sure || walk.bytes.is_cut_within(FRAME_BYTES) {
        return Ok(Next::Inside(walk.ether_type));
    }
    Ok(Next::Payload)
}

fn pass_options(bytes: &mut Cursor<'_>, flags: u8) -> Result<(), Halt> {
    let [_, _, _, mut extension] = *bytes.take()?;
    while extension != 0 && flags & HAS_EXTENSION != 0 {
        let [n_words] = *bytes.peek()?;
        if n_words == 0 {
            return Err(Halt::Malformed);
        }
        bytes.skip(usize::from(n_words) * 4 - 1)?;
        [extension] = *bytes.take()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::vectors::{assert_stop, assert_udp, frame, read, read_cut};
    use super::super::{StopReason, layer_path};

    const PATH: &str = "ethernet/ipv4/udp/gtpu";
    const TUNNEL: i64 = 0x1122_3344;

    fn with(payload: &str) -> String {
        let n_udp = 8 + frame(payload).len();
        format!(
            "02000000000d02000000000c0800 4500{:04x} 12344000 40110000 c0000201c0000202 \
             08680868{n_udp:04x}0000 {payload}",
            20 + n_udp
        )
    }

    #[test]
    fn carries_packets() {
        let path = "ethernet/ipv4/udp/gtpu/ipv4/udp";
        assert_udp(&with("30ff001e11223344 IU"), path, TUNNEL);
        assert_udp(
            &with("30ff003211223344 I6"),
            "ethernet/ipv4/udp/gtpu/ipv6/udp",
            TUNNEL,
        );
        assert_udp(&with("32ff002211223344004d0000 IU"), path, TUNNEL);
    }

    #[test]
    fn with_extension_headers() {
        let path = "ethernet/ipv4/udp/gtpu/ipv4/udp";
        assert_udp(&with("34ff0026112233440000008501000900 IU"), path, TUNNEL);
        assert_udp(
            &with("34ff002a11223344000000c00112348501100900 IU"),
            path,
            TUNNEL,
        );
    }

    #[test]
    fn carries_frames() {
        assert_udp(
            &with("30ff002c11223344 EU"),
            "ethernet/ipv4/udp/gtpu/ethernet/ipv4/udp",
            TUNNEL,
        );
    }

    #[test]
    fn an_echo_request_is_the_packet() {
        let packet = read(&with("320100040000000000010000"));
        assert_eq!(
            (layer_path(&packet).as_str(), packet.dst_port),
            (PATH, 2152)
        );
        assert_eq!((packet.tunnel_id, packet.depth, packet.stop), (-1, 0, None));
    }

    #[test]
    fn another_protocol_on_its_port_is_plain_udp() {
        for payload in ["ffffffffffffffffffff", "50ff001e11223344 dead", "30ff"] {
            let packet = read(&with(payload));
            assert_eq!(layer_path(&packet), "ethernet/ipv4/udp", "{payload}");
            assert_eq!((packet.tunnel_id, packet.stop), (-1, None));
        }
    }

    #[test]
    fn unknown_user_data_are_the_carriers() {
        for data in [
            "30ff000211223344 dead",
            "30ff001011223344 020000000002020000000001 88b5 0102",
        ] {
            let packet = read(&with(data));
            assert_eq!(
                (layer_path(&packet).as_str(), packet.dst_port),
                (PATH, 2152),
                "{data}"
            );
            assert_eq!((packet.tunnel_id, packet.depth, packet.stop), (-1, 0, None));
        }
    }

    #[test]
    fn an_extension_without_length_stops() {
        let packet = read(&with("34ff0026112233440000008500000900 IU"));
        assert_stop(&packet, PATH, StopReason::Malformed);
    }

    #[test]
    fn a_cut_header_stops() {
        let cut = read_cut(&with("34ff0026112233440000008501000900 IU"), 55);
        assert_stop(&cut, PATH, StopReason::SnapLength);
    }
}
