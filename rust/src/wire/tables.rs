//! Which layer follows what: built once from the parents that every layer names.

use super::l2tp::L2tpSession;
use super::names::id_of;
use super::{LAYERS, Packet, Parent, ethernet};
use crate::base::error::Result;

/// The id of no layer.
pub(super) const NONE: u8 = 0;

const TCP: i16 = 6;
const UDP: i16 = 17;

/// A layer for every key.
pub(super) struct Table(Box<[u8]>);

impl Default for Table {
    fn default() -> Self {
        Self(vec![NONE; 1 << 16].into())
    }
}

impl Table {
    #[inline]
    pub(super) fn get(&self, key: u16) -> u8 {
        self.0.get(usize::from(key)).copied().unwrap_or(NONE)
    }

    fn set(&mut self, key: u16, id: u8) {
        if let Some(slot) = self.0.get_mut(usize::from(key)) {
            *slot = id;
        }
    }
}

/// All of them.
#[derive(Default)]
pub(super) struct Tables {
    pub(super) links: Table,
    pub(super) ether_types: Table,
    pub(super) gre_protocols: Table,
    pub(super) ip_protocols: Table,
    udp_ports: Table,
    /// So few that looking at each is faster than a table that is not in the cache.
    tcp_ports: Vec<(u16, u8)>,
    udp_sources: Vec<(u16, u8)>,
    pub(super) llc: u8,
    pub(super) session: L2tpSession,
}

impl Tables {
    /// From the built-in parents and then the user's.
    pub(super) fn new(extra: &[(Parent, &str)]) -> Result<Self> {
        let mut tables = Self::default();
        tables.claim_built_in(|_| true);
        // What is said of GRE alone goes before what is said of every `EtherType`.
        tables.claim_built_in(|parent| matches!(parent, Parent::GreProtocol(_)));
        tables.session.layer = tables.ether_types.get(ethernet::BRIDGED);
        for (parent, name) in extra {
            tables.claim(*parent, id_of(name)?);
        }
        Ok(tables)
    }

    fn claim_built_in(&mut self, is_wanted: impl Fn(&Parent) -> bool) {
        for (id, layer) in (1..).zip(LAYERS) {
            let parents = layer.parents.iter().filter(|parent| is_wanted(parent));
            parents.for_each(|parent| self.claim(*parent, id));
        }
    }

    fn claim(&mut self, parent: Parent, id: u8) {
        match parent {
            Parent::Link(link) => self.links.set(link, id),
            Parent::EtherType(ether_type) => {
                self.ether_types.set(ether_type, id);
                self.gre_protocols.set(ether_type, id);
            }
            Parent::GreProtocol(protocol) => self.gre_protocols.set(protocol, id),
            Parent::IpProtocol(protocol) => self.ip_protocols.set(u16::from(protocol), id),
            Parent::UdpDst(port) => self.udp_ports.set(port, id),
            Parent::UdpSrc(port) => self.udp_sources.insert(0, (port, id)),
            Parent::TcpDst(port) => self.tcp_ports.insert(0, (port, id)),
            Parent::Length => self.llc = id,
            Parent::L2tpCookie(n_bytes) => {
                self.session.cookie_bytes = Some(n_bytes);
                self.session.layer = id;
            }
        }
    }

    #[inline]
    pub(super) fn tcp_layer(&self, dst_port: u16) -> u8 {
        claimed(&self.tcp_ports, dst_port)
    }

    /// Whether a layer is found behind this destination port.
    pub(super) fn is_udp_port(&self, dst_port: u16) -> bool {
        self.udp_ports.get(dst_port) != NONE
    }

    /// Whether a layer is found behind the ports of a packet.
    #[inline]
    pub(super) fn ports_lead_on(&self, packet: &Packet) -> bool {
        let Ok(dst_port) = u16::try_from(packet.dst_port) else {
            return false;
        };
        let id = match packet.protocol {
            TCP => self.tcp_layer(dst_port),
            UDP => self.udp_layer(dst_port, packet.src_port),
            _ => NONE,
        };
        id != NONE
    }

    /// Whether a layer is found behind the IP protocol of a packet.
    pub(super) fn protocol_leads_on(&self, packet: &Packet) -> bool {
        let protocol = u16::try_from(packet.protocol);
        protocol.is_ok_and(|protocol| self.ip_protocols.get(protocol) != NONE)
    }

    /// By the destination port, or else the source port: answers come from where questions went.
    #[inline]
    pub(super) fn udp_layer(&self, dst_port: u16, src_port: i32) -> u8 {
        match self.udp_ports.get(dst_port) {
            NONE => u16::try_from(src_port).map_or(NONE, |port| claimed(&self.udp_sources, port)),
            id => id,
        }
    }
}

#[inline]
fn claimed(claims: &[(u16, u8)], port: u16) -> u8 {
    let mut ids = claims.iter().filter(|(claimed, _)| *claimed == port);
    ids.next().map_or(NONE, |(_, id)| *id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_layers_claim_the_same_parent() {
        let parents: Vec<Parent> = LAYERS
            .iter()
            .flat_map(|layer| layer.parents)
            .copied()
            .collect();
        for (n, parent) in parents.iter().enumerate() {
            assert!(
                !parents[..n].contains(parent),
                "{parent:?} is claimed twice"
            );
        }
    }
}
