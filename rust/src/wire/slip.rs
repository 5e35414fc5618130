//! SLIP: IP behind what the driver of a serial line noted.
//!
//! Spec: `LINKTYPE_SLIP`.
//!
//! ```text
//! |  direction (8)  |  compressed TCP/IP header, or its start (120)  |  IP  |
//! ```

use super::{Halt, Layer, Next, Packet, Parent, ProtocolFit, Walk, ethernet};

pub(super) static LAYER: Layer = Layer {
    name: "slip",
    spec: "LINKTYPE_SLIP",
    parents: &[Parent::Link(8)],
    fit: |_| ProtocolFit::Possible,
    decode,
};

const HEADER_BYTES: usize = 16;

fn decode(walk: &mut Walk<'_>, _: &mut Packet) -> Result<Next, Halt> {
    walk.bytes.take::<HEADER_BYTES>()?;
    let ether_type = ethernet::guess(walk.bytes);
    if ether_type == ethernet::BRIDGED {
        walk.data_at = Some(walk.bytes.at());
        return Ok(Next::Payload);
    }
    Ok(ethernet::data(walk, ether_type))
}

#[cfg(test)]
mod tests {
    use super::super::vectors::{assert_stop, assert_udp_link, read_link};
    use super::super::{StopReason, layer_path};

    const HEADER: &str = "0040 0000000000000000000000000000";

    #[test]
    fn carries_ip() {
        assert_udp_link(8, &format!("{HEADER} IU"), "slip/ipv4/udp");
        assert_udp_link(8, &format!("{HEADER} I6"), "slip/ipv6/udp");
    }

    #[test]
    fn what_is_no_ip_is_data() {
        let packet = read_link(8, &format!("{HEADER} c0dbdc"));
        assert_eq!(layer_path(&packet), "slip");
        assert_eq!((packet.network_at, packet.end_at), (16, 19));
    }

    #[test]
    fn half_a_header_stops() {
        assert_stop(&read_link(8, "0040"), "slip", StopReason::Truncated);
    }
}
