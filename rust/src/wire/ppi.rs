//! Per-packet information: fields that say how a frame was captured, and of which link type it is.
//!
//! Spec: `LINKTYPE_PPI`.
//!
//! ```text
//! |  version (8)  |  flags (8)  |  length (16, LE)  |  link type (32, LE)  |  fields  |
//! ```

use super::{Halt, Layer, Next, Packet, Parent, ProtocolFit, Walk};

pub(super) static LAYER: Layer = Layer {
    name: "ppi",
    spec: "LINKTYPE_PPI",
    parents: &[Parent::Link(192)],
    fit: |_| ProtocolFit::Possible,
    decode,
};

const HEADER_BYTES: usize = 8;

fn decode(walk: &mut Walk<'_>, _: &mut Packet) -> Result<Next, Halt> {
    let [version, _, n_low, n_high, link @ ..] = *walk.bytes.take::<HEADER_BYTES>()?;
    if version != 0 {
        return Err(Halt::Unknown);
    }
    let n_bytes = usize::from(u16::from_le_bytes([n_low, n_high]));
    let n_fields = n_bytes.checked_sub(HEADER_BYTES).ok_or(Halt::Malformed)?;
    walk.bytes.skip(n_fields)?;
    let link = u32::from_le_bytes(link);
    Ok(Next::Link(u16::try_from(link).unwrap_or(u16::MAX)))
}

#[cfg(test)]
mod tests {
    use super::super::StopReason;
    use super::super::vectors::{assert_stop, assert_udp_link, read_link};

    #[test]
    fn carries_other_link_types() {
        assert_udp_link(192, "0000080001000000 EU", "ppi/ethernet/ipv4/udp");
        let field = "0000100065000000 0200040001020304 IU";
        assert_udp_link(192, field, "ppi/raw/ipv4/udp");
    }

    #[test]
    fn radio_and_bad_lengths_stop() {
        let radio = read_link(192, "0000080069000000 08010000");
        assert_stop(&radio, "ppi", StopReason::Unknown);
        let short = read_link(192, "0000070001000000 EU");
        assert_stop(&short, "ppi", StopReason::Malformed);
        let long = read_link(192, "0000ff0001000000 EU");
        assert_stop(&long, "ppi", StopReason::Truncated);
        let version = read_link(192, "0100080001000000 EU");
        assert_stop(&version, "ppi", StopReason::Unknown);
    }
}
