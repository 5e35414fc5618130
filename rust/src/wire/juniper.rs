//! Juniper's header in front of what an interface carries.
//!
//! Spec: `LINKTYPE_JUNIPER_ETHER` and its kin, as tcpdump's print-juniper.c has them; the kinds whose
//! cookies nobody described are not read, nor what old releases wrote without the magic.
//!
//! ```text
//! |  magic 4D4743 (24)  |  flags (8)  |  length (16), extensions     if flags & 80
//! |  protocol (32, little-endian)     |                              if flags & 02
//! ```

use super::{
    Halt, Layer, Next, Packet, Parent, ProtocolFit, Walk, chdlc, ethernet, frelay, ipv4, ipv6, mpls,
};

pub(super) static LAYER: Layer = Layer {
    name: "juniper",
    spec: "LINKTYPE_JUNIPER_ETHER",
    parents: &[
        Parent::Link(178),
        Parent::Link(PPP),
        Parent::Link(FRAME_RELAY),
        Parent::Link(CISCO_HDLC),
    ],
    fit: |_| ProtocolFit::Possible,
    decode,
};

const PPP: u16 = 179;
const FRAME_RELAY: u16 = 180;
const CISCO_HDLC: u16 = 181;
const MAGIC: [u8; 3] = *b"MGC";
const HAS_NO_LINK_LAYER: u8 = 0x02;
const HAS_EXTENSIONS: u8 = 0x80;

fn decode(walk: &mut Walk<'_>, _: &mut Packet) -> Result<Next, Halt> {
    let [magic @ .., flags] = *walk.bytes.take::<4>()?;
    if magic != MAGIC {
        return Err(Halt::Unknown);
    }
    if flags & HAS_EXTENSIONS != 0 {
        let n_bytes = u16::from_be_bytes(*walk.bytes.take()?);
        walk.bytes.skip(n_bytes.into())?;
    }
    if flags & HAS_NO_LINK_LAYER != 0 {
        return Ok(match u32::from_le_bytes(*walk.bytes.take()?) {
            2 => ethernet::data(walk, ipv4::ETHER_TYPE),
            3 => ethernet::data(walk, mpls::ETHER_TYPE),
            6 => ethernet::data(walk, ipv6::ETHER_TYPE),
            _ => Next::Payload,
        });
    }
    Ok(Next::Link(match walk.link {
        PPP => 9,
        FRAME_RELAY => frelay::LINK,
        CISCO_HDLC => chdlc::LINK,
        _ => 1,
    }))
}

#[cfg(test)]
mod tests {
    use super::super::vectors::{assert_stop, assert_udp_link, read_link};
    use super::super::{StopReason, layer_path};

    #[test]
    fn carries_what_its_link_type_says() {
        assert_udp_link(178, "4d474301 EU", "juniper/ethernet/ipv4/udp");
        let extended = "4d474381000606010e030102 EU";
        assert_udp_link(178, extended, "juniper/ethernet/ipv4/udp");
        assert_udp_link(179, "4d474300 ff030021 IU", "juniper/ppp/ipv4/udp");
        assert_udp_link(180, "4d474300 184103cc IU", "juniper/frelay/ipv4/udp");
        assert_udp_link(181, "4d474300 0f000800 IU", "juniper/chdlc/ipv4/udp");
    }

    #[test]
    fn carries_packets_without_a_link_layer() {
        assert_udp_link(178, "4d47430302000000 IU", "juniper/ipv4/udp");
        assert_udp_link(179, "4d47430206000000 I6", "juniper/ipv6/udp");
        assert_udp_link(178, "4d47430203000000 03e82740 IU", "juniper/mpls/ipv4/udp");
        let packet = read_link(178, "4d47430263000000 IU");
        assert_eq!(
            (layer_path(&packet).as_str(), packet.stop),
            ("juniper", None)
        );
    }

    #[test]
    fn without_its_magic_it_is_not_known() {
        assert_stop(
            &read_link(178, "00000001 EU"),
            "juniper",
            StopReason::Unknown,
        );
        assert_stop(&read_link(178, "4d4743"), "juniper", StopReason::Truncated);
    }
}
