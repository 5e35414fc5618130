//! Bytes of headers by the layers of a frame: what of it is IP packet, and what payload.

use crate::wire::{Packet, layer_name};

/// Lengths of headers that have one length; IPv4's without options.
const HEADER_BYTES: [(&str, u32); 14] = [
    ("ethernet", 14),
    ("vlan", 4),
    ("mpls", 4),
    ("pppoe", 6),
    ("ppp", 2),
    ("sll", 16),
    ("sll2", 20),
    ("null", 4),
    ("loop", 4),
    ("raw", 0),
    ("ipv4", 20),
    ("ipv6", 40),
    ("udp", 8),
    ("vxlan", 8),
];

/// What the layers of a frame say of its lengths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HeaderBytes {
    /// It was captured as Ethernet: preamble, gap and FCS are known.
    pub is_ethernet: bool,
    /// A layer is IP.
    pub carries_ip: bool,
    /// Bytes in front of the outermost IP packet; none where there is no IP, or a layer unknown.
    pub before_ip: Option<u32>,
    /// Bytes in front of the payload of an innermost UDP datagram; none for anything else.
    pub before_udp_payload: Option<u32>,
}

impl HeaderBytes {
    /// By the names of a packet's layers.
    #[must_use]
    pub fn of(packet: &Packet) -> Self {
        let ids = packet.layers.get(..packet.n_layers).unwrap_or(&[]);
        Self::named(&ids.iter().map(|id| layer_name(*id)).collect::<Vec<_>>())
    }

    fn named(names: &[&str]) -> Self {
        let network = names
            .iter()
            .position(|name| ["ipv4", "ipv6"].contains(name));
        let before_ip = network.and_then(|at| names.get(..at)).and_then(sum);
        let is_udp = names.last() == Some(&"udp");
        Self {
            is_ethernet: names.first() == Some(&"ethernet"),
            carries_ip: network.is_some(),
            before_ip,
            before_udp_payload: is_udp.then(|| sum(names)).flatten(),
        }
    }
}

fn sum(names: &[&str]) -> Option<u32> {
    let known = |name: &&str| HEADER_BYTES.iter().find(|(own, _)| own == name);
    names.iter().map(|name| known(name).map(|(_, n)| n)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(path: &str) -> HeaderBytes {
        HeaderBytes::named(&path.split('/').collect::<Vec<_>>())
    }

    #[test]
    fn lengths_are_those_of_the_layers_in_front() {
        let tunnel = headers("ethernet/vlan/ipv4/udp/vxlan/ethernet/ipv4/tcp");
        assert_eq!(tunnel.before_ip, Some(18));
        assert_eq!(tunnel.before_udp_payload, None);
        assert_eq!(headers("ethernet/ipv4/udp").before_udp_payload, Some(42));
        assert_eq!(headers("sll/ipv6/udp").before_udp_payload, Some(64));
        assert!(!headers("sll/ipv6/udp").is_ethernet);
    }

    #[test]
    fn where_a_layer_has_no_fixed_length_none_is_told() {
        assert_eq!(headers("ethernet/gre/ipv4/udp").before_ip, None);
        assert!(headers("ethernet/gre/ipv4/udp").carries_ip);
        assert!(!headers("ethernet/arp").carries_ip);
        assert_eq!(headers("ethernet/arp").before_ip, None);
        assert_eq!(headers(""), HeaderBytes::default());
    }
}
