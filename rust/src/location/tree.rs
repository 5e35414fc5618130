//! Which of its file's points a frame belongs to: a tree of questions about where it was seen.

use super::Location;
use crate::file::Frame;
use crate::wire::Packet;
use std::collections::HashMap;

/// What a file may be divided by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dimension {
    /// See [`Location::interface`].
    Interface,
    /// See [`Location::port`].
    Port,
    /// See [`Location::depth`].
    Depth,
    /// See [`Location::tunnel`].
    Tunnel,
    /// See [`Location::vlans`].
    Vlans,
    /// Either address of [`Location::outer_macs`].
    OuterMacs,
    /// Either address of [`Location::inner_macs`].
    InnerMacs,
    /// See [`Location::ttl`].
    Ttl,
    /// See [`Location::outer_ttl`].
    OuterTtl,
    /// See [`Location::direction`].
    Direction,
}

/// A value of a dimension; where it tells a place only together with the sender, the sender is the
/// second number, else 0.
pub type Value = (i64, i64);

impl Dimension {
    /// The dimension that Python calls so.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "interface" => Self::Interface,
            "port" => Self::Port,
            "depth" => Self::Depth,
            "tunnel" => Self::Tunnel,
            "vlans" => Self::Vlans,
            "outer_macs" => Self::OuterMacs,
            "inner_macs" => Self::InnerMacs,
            "ttl" => Self::Ttl,
            "outer_ttl" => Self::OuterTtl,
            "direction" => Self::Direction,
            _ => return None,
        })
    }

    /// What a frame may be looked up by, first choice first.
    fn values(self, at: &Location) -> [Value; 3] {
        let [one, other] = match self {
            Self::OuterMacs => at.outer_macs,
            Self::InnerMacs => at.inner_macs,
            Self::Interface => [at.interface.into(); 2],
            Self::Port => [at.port; 2],
            Self::Depth => [at.depth.into(); 2],
            Self::Tunnel => [at.tunnel; 2],
            Self::Vlans => [at.vlans; 2],
            Self::Ttl => [at.ttl.into(); 2],
            Self::OuterTtl => [at.outer_ttl.into(); 2],
            Self::Direction => [at.direction.into(); 2],
        };
        [(one, 0), (other, 0), (one, at.source)]
    }
}

/// Where a value leads: a later node, or one of the file's points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Branch {
    /// Index into [`PointTree::nodes`].
    Node(usize),
    /// A point of the file.
    Point(u32),
}

/// One question about a frame.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "python", derive(pyo3::FromPyObject))]
pub struct Node {
    /// What is asked.
    pub dimension: Dimension,
    /// Where each answer that the survey saw leads.
    pub branches: HashMap<Value, Branch>,
    /// Where any other answer leads.
    pub default: u32,
}

/// The points of one file: nodes, the first one first.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "python", derive(pyo3::FromPyObject))]
pub struct PointTree {
    /// Every answer leads to a later node or to a point.
    pub nodes: Vec<Node>,
}

impl PointTree {
    /// The point of the file that saw a frame.
    #[must_use]
    pub fn part(&self, at: &Location) -> u32 {
        let mut next = 0;
        for (index, node) in self.nodes.iter().enumerate() {
            if index != next {
                continue;
            }
            let values = node.dimension.values(at);
            let branch = values.iter().find_map(|value| node.branches.get(value));
            match branch {
                Some(Branch::Node(later)) => next = *later,
                Some(Branch::Point(part)) => return *part,
                None => return node.default,
            }
        }
        0
    }
}

/// The part of its file that saw a frame: its interface, unless the file is divided.
#[must_use]
#[inline]
pub fn part_of(tree: Option<&PointTree>, frame: &Frame<'_>, packet: &Packet) -> u32 {
    tree.map_or(frame.interface, |tree| {
        tree.part(&Location::of(frame, packet))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(dimension: Dimension, branches: &[(Value, Branch)]) -> Node {
        Node {
            dimension,
            branches: branches.iter().copied().collect(),
            default: 9,
        }
    }

    #[test]
    fn questions_are_asked_until_one_tells() {
        let tree = PointTree {
            nodes: vec![
                node(
                    Dimension::Depth,
                    &[((0, 0), Branch::Point(1)), ((1, 0), Branch::Node(2))],
                ),
                node(Dimension::Vlans, &[((7, 0), Branch::Point(5))]),
                node(
                    Dimension::Ttl,
                    &[((64, 3), Branch::Point(2)), ((63, 3), Branch::Point(3))],
                ),
            ],
        };
        let part = |depth, ttl, source| {
            tree.part(&Location {
                depth,
                ttl,
                source,
                vlans: 7,
                ..Location::default()
            })
        };
        assert_eq!([part(0, 64, 3), part(1, 64, 3), part(1, 63, 3)], [1, 2, 3]);
        assert_eq!([part(2, 64, 3), part(1, 64, 4), part(1, 65, 3)], [9, 9, 9]);
    }

    #[test]
    fn either_address_tells() {
        let tree = PointTree {
            nodes: vec![node(
                Dimension::OuterMacs,
                &[((17, 0), Branch::Point(0)), ((18, 0), Branch::Point(1))],
            )],
        };
        let part = |outer_macs| {
            tree.part(&Location {
                outer_macs,
                ..Location::default()
            })
        };
        assert_eq!([part([17, 99]), part([99, 18]), part([99, 98])], [0, 1, 9]);
    }

    #[test]
    fn a_question_never_leads_back() {
        let round = PointTree {
            nodes: vec![node(Dimension::Port, &[((0, 0), Branch::Node(0))])],
        };
        assert_eq!(round.part(&Location::default()), 0);
    }
}
