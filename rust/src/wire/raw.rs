//! Raw IP: the version says which.
//!
//! Spec: `LINKTYPE_RAW` (101; 12 and 14 are the numbers some systems write for it).

use super::{Halt, Layer, Next, Packet, Parent, ProtocolFit, Walk, ipv4, ipv6};

pub(super) static LAYER: Layer = Layer {
    name: "raw",
    spec: "LINKTYPE_RAW",
    parents: &[Parent::Link(101), Parent::Link(12), Parent::Link(14)],
    fit: |_| ProtocolFit::Possible,
    decode,
};

fn decode(walk: &mut Walk<'_>, _: &mut Packet) -> Result<Next, Halt> {
    let [first] = *walk.bytes.peek()?;
    match first >> 4 {
        4 => Ok(Next::EtherType(ipv4::ETHER_TYPE)),
        6 => Ok(Next::EtherType(ipv6::ETHER_TYPE)),
        _ => Err(Halt::Unknown),
    }
}

#[cfg(test)]
mod tests {
    use super::super::StopReason;
    use super::super::vectors::{assert_stop, assert_udp_link, read_link};

    #[test]
    fn carries_either_version() {
        for link in [12, 14, 101] {
            assert_udp_link(link, "IU", "raw/ipv4/udp");
            assert_udp_link(link, "I6", "raw/ipv6/udp");
        }
        assert_eq!(read_link(101, "IU").ether_type, 0);
        assert_eq!(read_link(101, "IU").ethernet_at, usize::MAX);
    }

    #[test]
    fn nothing_and_other_versions_stop() {
        assert_stop(&read_link(101, ""), "raw", StopReason::Truncated);
        assert_stop(&read_link(101, "10"), "raw", StopReason::Unknown);
    }
}
