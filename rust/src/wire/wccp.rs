//! WCCP: packets that a router redirects to a cache, in GRE.
//!
//! Spec: draft-wilson-wrec-wccp-v2 §4.1. Version 1 has no header of its own.
//!
//! ```text
//! |D|A|  flags (6)  |  service (8)  |  bucket (8)  |  primary bucket (8)  |
//! ```

use super::{Halt, Layer, Next, Packet, Parent, Walk, ipv4};

pub(super) static LAYER: Layer = Layer {
    name: "wccp",
    spec: "draft-wilson-wrec-wccp-v2 §4.1",
    parents: &[Parent::GreProtocol(0x883E)],
    fit: |bytes| ipv4::fit(bytes).max(ipv4::fit(bytes.ahead(HEADER_BYTES))),
    decode,
};

const HEADER_BYTES: usize = 4;

fn decode(walk: &mut Walk<'_>, _: &mut Packet) -> Result<Next, Halt> {
    if ipv4::fit(walk.bytes.ahead(HEADER_BYTES)) > ipv4::fit(walk.bytes) {
        walk.bytes.skip(HEADER_BYTES)?;
    }
    walk.ether_type = ipv4::ETHER_TYPE;
    Ok(Next::Inside(ipv4::ETHER_TYPE))
}

#[cfg(test)]
mod tests {
    use super::super::layer_path;
    use super::super::vectors::{assert_udp, read};

    const OUTER: &str = "02000000000d02000000000c0800 4500003a 12344000 402f0000 c0000201c0000202";

    #[test]
    fn of_either_version() {
        let path = "ethernet/ipv4/gre/wccp/ipv4/udp";
        assert_udp(&format!("{OUTER} 0000883e 00000102 IU"), path, -1);
        let first = OUTER.replace("4500003a", "45000036");
        assert_udp(&format!("{first} 0000883e IU"), path, -1);
    }

    #[test]
    fn what_is_no_packet_is_the_carriers() {
        let short = OUTER.replace("4500003a", "45000020");
        let packet = read(&format!("{short} 0000883e 00000102 deadbeef"));
        assert_eq!(layer_path(&packet), "ethernet/ipv4/gre");
        assert_eq!((packet.depth, packet.stop), (0, None));
    }
}
