//! ERSPAN: a switch's mirror in GRE. Three types share two GRE protocols: type I is 0x88BE without a
//! sequence number, and has no header; of the others the version tells.
//!
//! Spec: draft-foschiano-erspan §4.
//!
//! ```text
//! II  |Ver=1 (4)|   VLAN (12)  |COS (3)|En (2)|T|  Session ID (10) |
//!     |       Reserved (12)    |             Index (20)            |
//! III |Ver=2 (4)|   VLAN (12)  |COS (3)|BSO (2)|T| Session ID (10) |
//!     |                     Timestamp (32)                         |
//!     |   SGT (16)   |P| FT (5) |  Hw ID (6)  |D|Gra (2)|O|         |
//!     |          Platform Specific Subheader (64, if O)            |
//! ```

use super::{Carrier, Halt, Layer, Next, Packet, Parent, ProtocolFit, Walk, ethernet, gre};

pub(super) static LAYER: Layer = Layer {
    name: "erspan",
    spec: "draft-foschiano-erspan §4",
    parents: &[
        Parent::GreProtocol(TYPE_I_OR_II),
        Parent::GreProtocol(0x22EB),
    ],
    fit: |_| ProtocolFit::Possible,
    decode,
};

const TYPE_I_OR_II: u16 = 0x88BE;
const SESSION: u16 = 0x03FF;
const FRAME_TYPE: u16 = 0x7C00;
const FRAME: u16 = 0;
const PACKET: u16 = 2 << 10;
const HAS_SUBHEADER: u16 = 0x0001;
const SUBHEADER_BYTES: usize = 8;

fn decode(walk: &mut Walk<'_>, packet: &mut Packet) -> Result<Next, Halt> {
    if is_type_1(walk) {
        packet.note_mirrored(walk.bytes);
        return Ok(Next::Inside(ethernet::BRIDGED));
    }
    let [first, _, high, low] = *walk.bytes.peek()?;
    let session = u16::from_be_bytes([high, low]) & SESSION;
    walk.tunnel_id = session.into();
    if let Some(number) = gre::number_at(walk.bytes.back_at(walk.parent_at)) {
        packet.note_session(session, number);
    }
    match first >> 4 {
        1 => {
            walk.bytes.skip(8)?;
            packet.note_mirrored(walk.bytes);
            Ok(Next::Inside(ethernet::BRIDGED))
        }
        2 => type_3(walk, packet),
        _ => Err(Halt::Declined),
    }
}

fn is_type_1(walk: &Walk<'_>) -> bool {
    walk.bytes
        .back_at(walk.parent_at)
        .peek()
        .is_ok_and(|[high, low, protocol @ ..]: &[u8; 4]| {
            u16::from_be_bytes(*protocol) == TYPE_I_OR_II
                && u16::from_be_bytes([*high, *low]) & gre::SEQUENCE == 0
        })
}

fn type_3(walk: &mut Walk<'_>, packet: &mut Packet) -> Result<Next, Halt> {
    packet.note_carrier(Carrier::Erspan3, walk.bytes.at());
    let [.., high, low] = *walk.bytes.take::<12>()?;
    let flags = u16::from_be_bytes([high, low]);
    if flags & HAS_SUBHEADER != 0 {
        walk.bytes.skip(SUBHEADER_BYTES)?;
    }
    match flags & FRAME_TYPE {
        FRAME => {
            packet.note_mirrored(walk.bytes);
            Ok(Next::Inside(ethernet::BRIDGED))
        }
        PACKET => {
            walk.bytes.peek::<1>()?;
            walk.ether_type = ethernet::guess(walk.bytes);
            Ok(Next::Inside(walk.ether_type))
        }
        _ => Ok(Next::Payload),
    }
}

#[cfg(test)]
mod tests {
    use super::super::vectors::{assert_stop, assert_udp, frame, read, read_cut};
    use super::super::{StopReason, layer_path};

    const PATH: &str = "ethernet/ipv4/gre/erspan/ethernet/ipv4/udp";
    const TYPE_3: &str = "100022eb000000072064b00589abcdef1234809";

    fn with(payload: &str) -> String {
        format!(
            "02000000000d02000000000c0800 4500{:04x} 12344000 402f0000 c0000201c0000202 {payload}",
            20 + frame(payload).len()
        )
    }

    #[test]
    fn type_1_has_no_header() {
        assert_udp(&with("000088be EU"), PATH, -1);
    }

    #[test]
    fn type_2() {
        assert_udp(&with("100088be000000071064bc0500012345 EU"), PATH, 5);
        assert_eq!(read(&with("100088be000000071064bc0500012345 EU")).depth, 1);
    }

    #[test]
    fn type_3_of_every_granularity() {
        for granularity in ["8", "a", "c", "e"] {
            assert_udp(&with(&format!("{TYPE_3}{granularity} EU")), PATH, 5);
        }
        assert_udp(&with("000022eb2064b00589abcdef1234809a EU"), PATH, 5);
        assert_udp(
            &with("100088be000000072064b00589abcdef1234809a EU"),
            PATH,
            5,
        );
    }

    #[test]
    fn type_3_with_every_subheader() {
        for subheader in [
            "06bcd123deadbeef",
            "0eaf123400000005",
            "1000000100000002",
            "155512346553f100",
            "195512346553f100",
            "1d51234500000077",
            "0151234500000077",
        ] {
            assert_udp(&with(&format!("{TYPE_3}f{subheader} EU")), PATH, 5);
        }
    }

    #[test]
    fn type_3_with_a_packet_instead_of_a_frame() {
        let text = with("100022eb000000072064b00589abcdef1234889a IU");
        assert_udp(&text, "ethernet/ipv4/gre/erspan/ipv4/udp", 5);
    }

    #[test]
    fn an_unknown_frame_type_is_the_carriers_data() {
        let packet = read(&with("100022eb000000072064b00589abcdef12349c9a EU"));
        assert_eq!(layer_path(&packet), "ethernet/ipv4/gre/erspan");
        assert_eq!((packet.protocol, packet.depth, packet.stop), (47, 0, None));
    }

    #[test]
    fn mirrors_a_tunnel() {
        let text = with(&format!(
            "{TYPE_3}e 02000000000d02000000000c080045000050123440004011a465c0000201c0000202\
             c35012b5003c00000800000012345600 EU"
        ));
        let path = "ethernet/ipv4/gre/erspan/ethernet/ipv4/udp/vxlan/ethernet/ipv4/udp";
        assert_udp(&text, path, 0x12_3456);
        assert_eq!(read(&text).depth, 2);
    }

    #[test]
    fn an_unknown_version_is_the_carriers_data() {
        let packet = read(&with("100088be000000073064bc0500012345 EU"));
        assert_eq!(layer_path(&packet), "ethernet/ipv4/gre");
        assert_eq!(
            (packet.protocol, packet.tunnel_id, packet.depth),
            (47, -1, 0)
        );
    }

    #[test]
    fn bad_lengths_stop() {
        let path = "ethernet/ipv4/gre/erspan";
        assert_stop(
            &read(&with("100088be000000071064")),
            path,
            StopReason::Truncated,
        );
        assert_stop(
            &read(&with(&format!("{TYPE_3}f 0000"))),
            path,
            StopReason::Truncated,
        );
        let text = with(&format!("{TYPE_3}f 1000000100000002 EU"));
        assert_stop(&read_cut(&text, 60), path, StopReason::SnapLength);
    }
}
