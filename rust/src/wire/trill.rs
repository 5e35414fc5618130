//! TRILL: frames between routing bridges.
//!
//! Spec: RFC 6325 §3.1.
//!
//! ```text
//! |V (2)|R (2)|M|Op-Length (5)|Hop Count (6)|  egress (16)  |  ingress (16)  |  options  |
//! ```

use super::{Halt, Layer, Next, Packet, Parent, ProtocolFit, Walk, ethernet};

pub(super) static LAYER: Layer = Layer {
    name: "trill",
    spec: "RFC 6325 §3.1",
    parents: &[Parent::EtherType(0x22F3)],
    fit: |_| ProtocolFit::Possible,
    decode,
};

fn decode(walk: &mut Walk<'_>, _: &mut Packet) -> Result<Next, Halt> {
    let [high, low, ..] = *walk.bytes.take::<6>()?;
    let fields = u16::from_be_bytes([high, low]);
    if fields >> 14 != 0 {
        return Err(Halt::Unknown);
    }
    let n_words = usize::from(fields >> 6 & 0x1F);
    walk.bytes.skip(n_words * 4)?;
    Ok(Next::Inside(ethernet::BRIDGED))
}

#[cfg(test)]
mod tests {
    use super::super::StopReason;
    use super::super::vectors::{assert_stop, assert_udp, read};

    const OUTER: &str = "02000000000d02000000000c22f3";

    #[test]
    fn carries_frames_behind_options() {
        let path = "ethernet/trill/ethernet/ipv4/udp";
        assert_udp(&format!("{OUTER} 086011112222 00000000 EU"), path, -1);
        assert_udp(&format!("{OUTER} 002011112222 EU"), path, -1);
    }

    #[test]
    fn bad_headers_stop() {
        let version = read(&format!("{OUTER} 402011112222 EU"));
        assert_stop(&version, "ethernet/trill", StopReason::Unknown);
        let cut = read(&format!("{OUTER} 07e011112222 EU"));
        assert_stop(&cut, "ethernet/trill", StopReason::Truncated);
    }
}
