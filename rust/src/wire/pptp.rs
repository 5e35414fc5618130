//! PPTP: PPP in GRE, of version 1 with lengths and acknowledgments, or plainly.
//!
//! Spec: RFC 2637 §4.1.
//!
//! ```text
//! |  payload length (16)  |  call id (16)  |  sequence (32, if S)  |  acknowledgment (32, if A)  |
//! ```

use super::{Halt, Layer, Next, Packet, Parent, ProtocolFit, Walk, gre, ppp};

pub(super) const PROTOCOL: u16 = ppp::ETHER_TYPE;

pub(super) static LAYER: Layer = Layer {
    name: "pptp",
    spec: "RFC 2637 §4.1",
    parents: &[Parent::GreProtocol(PROTOCOL)],
    fit: |_| ProtocolFit::Possible,
    decode,
};

const ACKNOWLEDGMENT: u16 = 0x0080;

fn decode(walk: &mut Walk<'_>, _: &mut Packet) -> Result<Next, Halt> {
    let flags = u16::from_be_bytes(*walk.bytes.back_at(walk.parent_at).peek()?);
    if flags & gre::VERSION == 0 {
        return Ok(Next::Inside(ppp::ETHER_TYPE));
    }
    let [high, low, call @ ..] = *walk.bytes.take::<4>()?;
    walk.tunnel_id = u16::from_be_bytes(call).into();
    if flags & gre::SEQUENCE == 0 {
        return Ok(Next::Payload);
    }
    walk.bytes.skip(4)?;
    if flags & ACKNOWLEDGMENT != 0 {
        walk.bytes.skip(4)?;
    }
    walk.bytes.bound(u16::from_be_bytes([high, low]).into());
    Ok(Next::Inside(ppp::ETHER_TYPE))
}

#[cfg(test)]
mod tests {
    use super::super::vectors::{assert_stop, assert_udp, read, read_cut};
    use super::super::{StopReason, layer_path};

    const OUTER: &str = "02000000000d02000000000c08004500004612344000402fa451c0000201c0000202";
    const PATH: &str = "ethernet/ipv4/gre/pptp";

    #[test]
    fn carries_ppp() {
        let path = format!("{PATH}/ppp/ipv4/udp");
        let both = format!("{OUTER} 3081880b002200550000000300000002ff030021 IU");
        assert_udp(&both, &path, 85);
        let sequence = format!("{OUTER} 3001880b0022005500000003ff030021 IU");
        assert_udp(&sequence, &path, 85);
        assert_udp(&format!("{OUTER} 0000880bff030021 IU"), &path, -1);
    }

    #[test]
    fn an_acknowledgment_alone_is_the_carriers() {
        let outer = OUTER.replace("45000046", "45000020");
        let packet = read(&format!("{outer} 2081880b0000005500000002"));
        assert_eq!(layer_path(&packet), PATH);
        assert_eq!(
            (packet.protocol, packet.tunnel_id, packet.stop),
            (47, -1, None)
        );
    }

    #[test]
    fn a_cut_header_stops() {
        let text = format!("{OUTER} 3081880b002200550000000300000002ff030021 IU");
        assert_stop(&read_cut(&text, 44), PATH, StopReason::SnapLength);
    }
}
