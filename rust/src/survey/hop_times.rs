//! The times that nodes of the path wrote into packets: which nodes there are, and what shows in which
//! unit each counts.

use crate::file::Frame;
use crate::wire::Packet;
use crate::wire::telemetry::{HopKey, TimeLayout, each_hop};
use serde::{Deserialize, Serialize};

/// Nodes are told apart up to so many: more are no path.
const MOST_NODES: usize = 128;

/// What one node's times look like.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct NodeTimes {
    /// How many there are.
    pub n: u64,
    /// The largest number in their low 32 bits.
    pub largest_fraction: u32,
    /// The first, second, fourth, eighth …: the file's time and the node's.
    pub pairs: Vec<(i64, u64)>,
    /// The last one.
    pub last: Option<(i64, u64)>,
}

/// By node and layout, in the order in which they were seen first.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct HopTimes {
    nodes: Vec<(HopKey, TimeLayout, NodeTimes)>,
    /// Times of further nodes.
    pub n_beyond: u64,
}

impl HopTimes {
    /// All of them.
    pub fn nodes(&self) -> impl Iterator<Item = (&HopKey, &TimeLayout, &NodeTimes)> {
        self.nodes
            .iter()
            .map(|(key, layout, node)| (key, layout, node))
    }

    /// Whether no node wrote anything.
    pub(super) fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Takes the interface's next frame.
    #[inline]
    pub(super) fn note(&mut self, frame: &Frame<'_>, packet: &Packet) {
        if let Some(telemetry) = packet.telemetry {
            each_hop(telemetry, frame.bytes, &mut |key, time| {
                if let Some(node) = self.node(key, time.layout) {
                    node.note(frame.t_ns, time.raw);
                }
            });
        }
    }

    #[cold]
    fn node(&mut self, key: HopKey, layout: TimeLayout) -> Option<&mut NodeTimes> {
        let known = self.nodes.iter();
        let found = known
            .enumerate()
            .find(|(_, (known, known_layout, _))| *known == key && *known_layout == layout);
        let index = found.map_or(self.nodes.len(), |(index, _)| index);
        if index == MOST_NODES {
            self.n_beyond += 1;
            return None;
        }
        if index == self.nodes.len() {
            self.nodes.push((key, layout, NodeTimes::default()));
        }
        self.nodes.get_mut(index).map(|(_, _, node)| node)
    }
}

impl NodeTimes {
    fn note(&mut self, t_ns: i64, raw: u64) {
        self.n += 1;
        let fraction = u32::try_from(raw & u64::from(u32::MAX)).unwrap_or(u32::MAX);
        self.largest_fraction = self.largest_fraction.max(fraction);
        if self.n.is_power_of_two() {
            self.pairs.push((t_ns, raw));
        }
        self.last = Some((t_ns, raw));
    }
}
