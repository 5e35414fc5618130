//! TZSP: frames that a sniffer sends on, as `MikroTik`'s mirrors do.
//!
//! Spec: Wireshark's packet-tzsp.c. Tags up to one of type 1 precede the frame.
//!
//! ```text
//! |  version (8)  |  type (8)  |  what the frame is (16)  |
//! |  tag (8)  |  length (8), but for tags 0 and 1  |  value  |
//! ```

use super::{Halt, Layer, Next, Packet, Parent, ProtocolFit, Walk, ethernet};

pub(super) static LAYER: Layer = Layer {
    name: "tzsp",
    spec: "TaZmen Sniffer Protocol",
    parents: &[Parent::UdpDst(37_008)],
    fit: |_| ProtocolFit::Possible,
    decode,
};

const PADDING: u8 = 0;
const END: u8 = 1;

fn decode(walk: &mut Walk<'_>, _: &mut Packet) -> Result<Next, Halt> {
    let [version, kind, what @ ..] = *walk.bytes.take::<4>()?;
    if version != 1 {
        return Err(Halt::Declined);
    }
    // 0 a frame received, 1 one to be sent; others keep ports open
    if kind > 1 {
        return Ok(Next::Payload);
    }
    loop {
        match *walk.bytes.take()? {
            [END] => break,
            [PADDING] => {}
            _ => {
                let [n_bytes] = *walk.bytes.take()?;
                walk.bytes.skip(n_bytes.into())?;
            }
        }
    }
    // 18 and 119 would be IEEE 802.11, which is not read
    if what != [0, 1] {
        return Ok(Next::Payload);
    }
    walk.tunnel_id = -1;
    Ok(Next::Inside(ethernet::BRIDGED))
}

#[cfg(test)]
mod tests {
    use super::super::vectors::{assert_stop, assert_udp, frame, read, read_cut};
    use super::super::{StopReason, layer_path};

    fn tzsp(payload: &str) -> String {
        let n_udp = 8 + frame(payload).len();
        format!(
            "02000000000d02000000000c0800 4500{:04x} 12344000 40110000 c0000201c0000202 \
             c3509090{n_udp:04x}0000 {payload}",
            20 + n_udp
        )
    }

    #[test]
    fn carries_frames_behind_tags() {
        let path = "ethernet/ipv4/udp/tzsp/ethernet/ipv4/udp";
        let tags = "290205dc 00 0d0400010203 3c06020000000009 01";
        assert_udp(&tzsp(&format!("01000001 {tags} EU")), path, -1);
        assert_udp(&tzsp("01010001 01 EU"), path, -1);
    }

    #[test]
    fn others_are_the_carriers() {
        for (payload, path) in [
            ("01040000", "ethernet/ipv4/udp/tzsp"),
            ("01000012 01 0801", "ethernet/ipv4/udp/tzsp"),
            ("02000001 01 EU", "ethernet/ipv4/udp"),
            ("01000001 01 00", "ethernet/ipv4/udp"),
        ] {
            let packet = read(&tzsp(payload));
            assert_eq!(layer_path(&packet), path, "{payload}");
            assert_eq!((packet.depth, packet.stop), (0, None));
        }
    }

    #[test]
    fn cut_tags_stop() {
        let cut = read_cut(&tzsp("01000001 290205dc 01 EU"), 48);
        assert_stop(&cut, "ethernet/ipv4/udp/tzsp", StopReason::SnapLength);
    }
}
