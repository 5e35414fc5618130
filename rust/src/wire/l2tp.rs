//! L2TP: version 2 carries PPP over UDP, version 3 frames over UDP or IP.
//!
//! Spec: RFC 2661 §3.1; RFC 3931 §3.2, §4.1. The lengths of a cookie and of a sublayer are agreed
//! between the ends and not in the packet: the best fit wins, and of equals what Linux does (no
//! cookie, 4 bytes of sublayer). The user may say how long the cookie is, and what follows.
//!
//! ```text
//! 2 |T|L|x|x|S|x|O|P|x|x|x|x|Ver (4)|  Length (16, if L)  |
//!   |  Tunnel ID (16)  |  Session ID (16)  |  Ns, Nr (32, if S)  |  Offset (16, if O)  |
//! 3 |T|x (11)               |Ver (4)|  reserved (16)  |           over UDP only
//!   |  Session ID (32)  |  Cookie (0, 32, 64)  |  Sublayer (0, 32)  |
//! ```

use super::names::layer;
use super::{Halt, Layer, Next, Packet, Parent, ProtocolFit, Walk, ppp};
use crate::base::cursor::be;

pub(super) static LAYER: Layer = Layer {
    name: "l2tp",
    spec: "RFC 3931 §3.2",
    parents: &[
        Parent::IpProtocol(115),
        Parent::UdpDst(1701),
        Parent::UdpSrc(1701),
    ],
    fit: |_| ProtocolFit::Possible,
    decode,
};

const IP_PROTOCOL: i16 = 115;
const IS_CONTROL: u16 = 0x8000;
const HAS_LENGTH: u16 = 0x4000;
const HAS_SEQUENCE: u16 = 0x0800;
const HAS_OFFSET: u16 = 0x0200;
const VERSION: u16 = 0x000F;
/// What cookie and sublayer may measure together, the likeliest first.
const SUBLAYER_BYTES: [usize; 4] = [4, 0, 8, 12];

/// What the ends of sessions agreed on.
#[derive(Clone, Copy, Default)]
pub(super) struct L2tpSession {
    /// How long the cookie is, if the user says so.
    pub(super) cookie_bytes: Option<u8>,
    /// The id of the layer that follows.
    pub(super) layer: u8,
}

fn decode(walk: &mut Walk<'_>, packet: &mut Packet) -> Result<Next, Halt> {
    if packet.protocol == IP_PROTOCOL {
        return session(walk);
    }
    let flags = u16::from_be_bytes(*walk.bytes.take()?);
    match flags & VERSION {
        2 | 3 if flags & IS_CONTROL != 0 => Ok(Next::Payload),
        2 => version_2(walk, flags),
        3 => {
            walk.bytes.skip(2)?;
            session(walk)
        }
        _ => Err(Halt::Declined),
    }
}

fn version_2(walk: &mut Walk<'_>, flags: u16) -> Result<Next, Halt> {
    if flags & HAS_LENGTH != 0 {
        let n_bytes = u16::from_be_bytes(*walk.bytes.take()?);
        let Some(n_rest) = usize::from(n_bytes).checked_sub(4) else {
            return Err(Halt::Declined);
        };
        walk.bytes.bound(n_rest);
    }
    walk.tunnel_id = be(walk.bytes.take::<4>()?).into();
    if flags & HAS_SEQUENCE != 0 {
        walk.bytes.skip(4)?;
    }
    if flags & HAS_OFFSET != 0 {
        let n_bytes = u16::from_be_bytes(*walk.bytes.take()?);
        walk.bytes.skip(n_bytes.into())?;
    }
    walk.ether_type = ppp::ETHER_TYPE;
    Ok(Next::Inside(ppp::ETHER_TYPE))
}

fn session(walk: &mut Walk<'_>) -> Result<Next, Halt> {
    let session = be(walk.bytes.take::<4>()?);
    if session == 0 {
        return Ok(Next::Payload);
    }
    walk.tunnel_id = session.into();
    let n_bytes = match walk.session.cookie_bytes.map(usize::from) {
        Some(n_cookie) => best(walk, [n_cookie + 4, n_cookie]),
        None => best(walk, SUBLAYER_BYTES),
    };
    walk.bytes.skip(n_bytes)?;
    Ok(Next::Session)
}

/// Behind how many bytes, the likeliest first, the layer that follows fits best.
fn best<const N: usize>(walk: &Walk<'_>, likeliest: [usize; N]) -> usize {
    let Some(layer) = layer(walk.session.layer) else {
        return 0;
    };
    // The later of equals would win.
    let candidates = likeliest.into_iter().rev();
    let best = candidates.max_by_key(|n_bytes| (layer.fit)(walk.bytes.ahead(*n_bytes)));
    best.unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::super::vectors::{assert_stop, assert_udp, frame, read, read_cut, read_with};
    use super::super::{StopReason, layer_path, parse_decode};

    fn over_ip(payload: &str) -> String {
        format!(
            "02000000000d02000000000c0800 4500{:04x} 12344000 40730000 c0000201c0000202 {payload}",
            20 + frame(payload).len()
        )
    }

    fn over_udp(payload: &str) -> String {
        let n_udp = 8 + frame(payload).len();
        format!(
            "02000000000d02000000000c0800 4500{:04x} 12344000 40110000 c0000201c0000202 \
             06a506a5{n_udp:04x}0000 {payload}",
            20 + n_udp
        )
    }

    #[test]
    fn version_3_with_every_cookie_and_sublayer() {
        let path = "ethernet/ipv4/l2tp/ethernet/ipv4/udp";
        for rest in [
            "",
            "40000007",
            "cafebabe",
            "cafebabe40000007",
            "cafebabedeadbeef40000007",
        ] {
            assert_udp(&over_ip(&format!("00001234 {rest} EU")), path, 0x1234);
        }
        let path = "ethernet/ipv4/udp/l2tp/ethernet/ipv4/udp";
        assert_udp(&over_udp("00030000 00001234 EU"), path, 0x1234);
        assert_udp(&over_udp("00030000 00001234 00000000 EU"), path, 0x1234);
    }

    #[test]
    fn unknown_frames_are_behind_the_sublayer_of_linux() {
        let packet = read(&over_ip(
            "00001234 00000000 ffffffffffff02000000000188b5 01020304",
        ));
        assert_eq!(layer_path(&packet), "ethernet/ipv4/l2tp/ethernet");
        assert_eq!((packet.ether_type, packet.end_at), (0x88b5, 60));
    }

    #[test]
    fn the_user_says_how_long_cookies_are_and_what_follows() {
        let read = |decode: &str, rest: &str| {
            let decode = parse_decode(decode).unwrap();
            read_with(&[decode], &frame(&over_ip(&format!("00001234 {rest}"))))
        };
        let unknown = "ffffffffffff02000000000188b5 01020304";
        for (n_bytes, cookie) in [(0, ""), (4, "cafebabe"), (8, "cafebabedeadbeef")] {
            let decode = format!("l2tp.cookie={n_bytes}:ethernet");
            let packet = read(&decode, &format!("{cookie} 00000000 {unknown}"));
            assert_eq!(packet.ether_type, 0x88b5, "{n_bytes}");
            for sublayer in ["", "40000007"] {
                let packet = read(&decode, &format!("{cookie} {sublayer} EU"));
                assert_eq!(packet.src, 0x0a00_0001, "{n_bytes} {sublayer:?}");
            }
        }
        let packet = read("l2tp.cookie=4:ppp", "cafebabe ff030021 IU");
        assert_eq!(layer_path(&packet), "ethernet/ipv4/l2tp/ppp/ipv4/udp");
        assert_eq!((packet.src, packet.tunnel_id), (0x0a00_0001, 0x1234));
        // what is said goes before what would fit
        let another = read("l2tp.cookie=8:ethernet", "40000007 EU");
        assert_ne!(another.src, 0x0a00_0001);
    }

    #[test]
    fn version_2_carries_ppp() {
        let path = "ethernet/ipv4/udp/l2tp/ppp/ipv4/udp";
        let id = 0x0005_0006;
        assert_udp(&over_udp("4002002a00050006ff030021 IU"), path, id);
        assert_udp(&over_udp("0002 00050006 0021 IU"), path, id);
        let all = over_udp("4a02 0032 00050006 00010002 0002 abcd ff030021 IU");
        assert_udp(&all, path, id);
    }

    #[test]
    fn answers_come_from_its_port() {
        let answer = over_udp("4002002a00050006ff030021 IU").replace("06a506a5", "06a5bc5e");
        let path = "ethernet/ipv4/udp/l2tp/ppp/ipv4/udp";
        assert_udp(&answer, path, 0x0005_0006);
    }

    #[test]
    fn control_and_other_versions_are_the_carriers() {
        for (text, path) in [
            (over_ip("00000000 c8030014"), "ethernet/ipv4/l2tp"),
            (
                over_udp("c802000c0000000000000000"),
                "ethernet/ipv4/udp/l2tp",
            ),
            (over_udp("4007000c0000000000000000"), "ethernet/ipv4/udp"),
        ] {
            let packet = read(&text);
            assert_eq!(layer_path(&packet), path);
            assert_eq!((packet.src, packet.depth), (0xc000_0201, 0));
            assert_eq!((packet.tunnel_id, packet.stop), (-1, None));
        }
    }

    #[test]
    fn a_cut_header_stops() {
        let cut = read_cut(&over_ip("00001234 00000000 EU"), 36);
        assert_stop(&cut, "ethernet/ipv4/l2tp", StopReason::SnapLength);
    }
}
