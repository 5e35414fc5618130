//! Apple's packet tap: which interface and process a frame belongs to, and of which link type it is.
//!
//! Spec: `LINKTYPE_PKTAP`; files from macOS have the private number 149.
//!
//! ```text
//! |  length (32, LE)  |  record type (32, LE)  |  link type (32, LE)  |  the rest  |
//! ```

use super::{Halt, Layer, Next, Packet, Parent, ProtocolFit, Walk};

pub(super) static LAYER: Layer = Layer {
    name: "pktap",
    spec: "LINKTYPE_PKTAP",
    parents: &[Parent::Link(258), Parent::Link(149)],
    fit: |_| ProtocolFit::Possible,
    decode,
};

const HEADER_BYTES: usize = 12;
/// With the fields that every version has.
const MIN_BYTES: usize = 108;
const IS_PACKET: u32 = 1;

fn decode(walk: &mut Walk<'_>, _: &mut Packet) -> Result<Next, Halt> {
    let header = walk.bytes.take::<HEADER_BYTES>()?;
    let mut numbers = header.chunks_exact(4).map(|octets| {
        let octets = octets.iter().rev();
        octets.fold(0, |value, octet| value << 8 | u32::from(*octet))
    });
    let (n_bytes, kind, link) = (numbers.next(), numbers.next(), numbers.next());
    let n_bytes = n_bytes.unwrap_or_default() as usize;
    if n_bytes < MIN_BYTES || kind != Some(IS_PACKET) {
        return Err(Halt::Unknown);
    }
    walk.bytes.skip(n_bytes - HEADER_BYTES)?;
    let link = link.and_then(|link| u16::try_from(link).ok());
    Ok(Next::Link(link.unwrap_or(u16::MAX)))
}

#[cfg(test)]
mod tests {
    use super::super::StopReason;
    use super::super::vectors::{assert_stop, assert_udp_link, read_link};

    fn with(start: &str, frame: &str) -> String {
        format!("{start}{} {frame}", "00".repeat(104))
    }

    #[test]
    fn carries_other_link_types() {
        for link in [258, 149] {
            let frame = with("740000000100000001000000", "EU");
            assert_udp_link(link, &frame, "pktap/ethernet/ipv4/udp");
            let loopback = with("740000000100000000000000", "02000000 IU");
            assert_udp_link(link, &loopback, "pktap/null/ipv4/udp");
        }
    }

    #[test]
    fn what_is_no_packet_stops() {
        let other = read_link(149, &with("740000000200000001000000", "EU"));
        assert_stop(&other, "pktap", StopReason::Unknown);
        let short = read_link(149, &with("0c0000000100000001000000", "EU"));
        assert_stop(&short, "pktap", StopReason::Unknown);
        let long = read_link(258, &with("ffffffff0100000001000000", "EU"));
        assert_stop(&long, "pktap", StopReason::Truncated);
    }
}
