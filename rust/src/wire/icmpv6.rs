//! `ICMPv6`: its header is that of ICMP.
//!
//! Spec: RFC 4443 §2.1.

use super::prediction::{HeaderRole, Predictable};
use super::{Layer, Parent, ProtocolFit, icmp};

pub(super) static LAYER: Layer = Layer {
    name: "icmpv6",
    spec: "RFC 4443 §2.1",
    parents: &[Parent::IpProtocol(58)],
    fit: |_| ProtocolFit::Possible,
    decode: icmp::decode,
};

pub(super) static PREDICTABLE: Predictable = Predictable {
    layer: &LAYER,
    role: HeaderRole::Transport,
    decisive: &[],
    n_bytes: |_| Some(icmp::HEADER_BYTES),
    length: None,
    read: |_, _, _| (),
};

#[cfg(test)]
mod tests {
    use super::super::vectors::{assert_stop, read, read_cut};
    use super::super::{StopReason, layer_path};

    const TOO_BIG: &str = "02000000000202000000000186dd 60000000003a3a40 \
                           20010db800000000000000000000000920010db8000000000000000000000001 \
                           02000000000005dc I6";

    #[test]
    fn a_quoted_packet_is_not_the_packet() {
        let packet = read(TOO_BIG);
        assert_eq!(layer_path(&packet), "ethernet/ipv6/icmpv6");
        assert_eq!(
            (packet.src & 0xFFFF, packet.protocol, packet.src_port),
            (9, 58, -1)
        );
        assert_eq!(
            (packet.depth, packet.transport_wire_bytes, packet.stop),
            (0, 58, None)
        );
    }

    #[test]
    fn bad_lengths() {
        assert_eq!(read_cut(TOO_BIG, 56).stop, None);
        let short = TOO_BIG.replace("60000000003a3a40", "6000000000033a40");
        assert_stop(&read(&short), "ethernet/ipv6/icmpv6", StopReason::Truncated);
    }
}
