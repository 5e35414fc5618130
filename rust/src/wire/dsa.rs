//! Tags by which a switch chip tells its processor the port: before an Ethernet frame, or in it.
//!
//! Spec: `LINKTYPE_DSA_TAG_BRCM`, `…_BRCM_PREPEND`, `…_DSA`, `…_EDSA` (tcpdump.org/linktypes.html).
//!
//! ```text
//! 281, 284  |  destination (48)  |  source (48)  |  tag (32)  |  EtherType (16)  |
//! 282       |  tag (32)  |  Ethernet  |
//! 285       |  destination (48)  |  source (48)  |  DADA (16)  |  0 (16)  |  tag (32)  |  EtherType  |
//! ```

use super::{Halt, Layer, Next, Packet, Parent, ProtocolFit, Walk, ethernet};

pub(super) static LAYER: Layer = Layer {
    name: "dsa",
    spec: "LINKTYPE_DSA_TAG_BRCM and others",
    parents: &[
        Parent::Link(281),
        Parent::Link(PREPENDED),
        Parent::Link(284),
        Parent::Link(WITH_ETHER_TYPE),
    ],
    fit: |_| ProtocolFit::Possible,
    decode,
};

const PREPENDED: u16 = 282;
const WITH_ETHER_TYPE: u16 = 285;
const ETHERNET: u16 = 1;

fn decode(walk: &mut Walk<'_>, _: &mut Packet) -> Result<Next, Halt> {
    if walk.link == PREPENDED {
        walk.bytes.skip(4)?;
        return Ok(Next::Link(ETHERNET));
    }
    let at = walk.bytes.at();
    let n_tag = if walk.link == WITH_ETHER_TYPE { 8 } else { 4 };
    walk.bytes.skip(12 + n_tag)?;
    let ether_type = u16::from_be_bytes(*walk.bytes.take()?);
    walk.ethernet_at = at;
    Ok(ethernet::data(walk, ether_type))
}

#[cfg(test)]
mod tests {
    use super::super::StopReason;
    use super::super::vectors::{assert_stop, assert_udp_link, read_link};

    #[test]
    fn the_tag_is_passed_wherever_it_is() {
        let macs = "020000000002020000000001";
        assert_udp_link(281, &format!("{macs} 20000003 0800 IU"), "dsa/ipv4/udp");
        assert_udp_link(282, "20000003 EU", "dsa/ethernet/ipv4/udp");
        assert_udp_link(
            284,
            &format!("{macs} 40000064 8100 0064 0800 IU"),
            "dsa/vlan/ipv4/udp",
        );
        assert_udp_link(
            285,
            &format!("{macs} dada0000 40000064 0800 IU"),
            "dsa/ipv4/udp",
        );
    }

    #[test]
    fn half_a_tag_stops() {
        assert_stop(&read_link(282, "2000"), "dsa", StopReason::Truncated);
        assert_stop(
            &read_link(285, "020000000002020000000001 dada"),
            "dsa",
            StopReason::Truncated,
        );
    }
}
