//! Sessions that belong together become one flow, known by the addresses of one of its legs.

use super::session::{OVERLAP_NS, Session, Side};
use crate::base::hashed::{HashedMap, HashedSet};
use crate::reading::translations::Leg;
use std::collections::BTreeMap;

/// A flow at a point for a while.
struct FlowNode {
    side: Side,
    session: usize,
    is_shifted: bool,
    to: Vec<FlowEdge>,
}

/// The same flow under other addresses.
#[derive(Clone, Copy)]
struct FlowEdge {
    node: usize,
    is_turned: bool,
    /// See [`Leg::ahead`]: of the other end, by this one's directions.
    ahead: [u32; 2],
    /// By this one's directions.
    keeps_ip_id: [bool; 2],
}

/// How a node is to be read as the root.
#[derive(Clone, Copy)]
struct AsRoot {
    root: usize,
    is_turned: bool,
    ahead: [u32; 2],
}

/// The legs of all flows, and the sessions they rest on.
pub(super) fn join(
    sessions: Vec<Session>,
    unexplained: &HashedSet,
) -> (HashedMap<Vec<Leg>>, Vec<Session>) {
    let mut nodes = nodes_of(&sessions, unexplained);
    join_same_legs(&mut nodes);
    let mut readings: Vec<Option<AsRoot>> = vec![None; nodes.len()];
    let mut legs: HashedMap<Vec<Leg>> = HashedMap::default();
    let mut is_kept = vec![false; sessions.len()];
    for root in by_place(&nodes) {
        if readings.get(root).is_some_and(Option::is_none) {
            let flow = read_from(root, &nodes, &mut readings);
            if !is_contradictory(&flow.members, &nodes) {
                take(&flow, &nodes, &readings, &mut legs, &mut is_kept);
            }
        }
    }
    legs.values_mut().for_each(fill_time);
    let kept = sessions.into_iter().zip(is_kept);
    let kept = kept
        .filter_map(|(session, is_kept)| (is_kept && !session.is_untouched()).then_some(session));
    (legs, kept.collect())
}

/// The nodes in the order in which they become roots.
fn by_place(nodes: &[FlowNode]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..nodes.len()).collect();
    let place = |node: &FlowNode| (node.side.place, node.side.tuple_hash);
    order.sort_by_key(|node| nodes.get(*node).map(place));
    order
}

fn nodes_of(sessions: &[Session], unexplained: &HashedSet) -> Vec<FlowNode> {
    let mut nodes = Vec::with_capacity(2 * sessions.len());
    for (index, session) in sessions.iter().enumerate() {
        let [here, there] = session.sides;
        let ahead = session.ahead.map(|ahead| ahead.unwrap_or(0));
        let is_turned = session.is_turned();
        let edge = |node, ahead, keeps_ip_id| FlowEdge {
            node,
            is_turned,
            ahead,
            keeps_ip_id,
        };
        let at = nodes.len();
        let keeps = session.keeps_ip_id(unexplained);
        let to = edge(at + 1, ahead, keeps);
        let back = ahead.map(u32::wrapping_neg);
        let back = edge(at, turned(back, is_turned), turned(keeps, is_turned));
        for (side, edge) in [(here, to), (there, back)] {
            nodes.push(FlowNode {
                side,
                session: index,
                is_shifted: here.tuple_hash == there.tuple_hash,
                to: vec![edge],
            });
        }
    }
    nodes
}

/// Values of the two directions of a flow, by the directions of one that may be turned.
fn turned<T>([away, toward]: [T; 2], is_turned: bool) -> [T; 2] {
    if is_turned {
        [toward, away]
    } else {
        [away, toward]
    }
}

/// The same addresses at the same time are the same flow, at whatever point; but for a firewall that
/// shifts numbers and leaves addresses as they are.
fn join_same_legs(nodes: &mut [FlowNode]) {
    let mut of_tuple: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
    for (index, node) in nodes.iter().enumerate() {
        let alike = of_tuple.entry(node.side.tuple_hash).or_default();
        alike.push(index);
    }
    for alike in of_tuple.into_values() {
        for (before, after) in overlapping(nodes, alike) {
            link(nodes, before, after);
            link(nodes, after, before);
        }
    }
}

/// Of nodes with the same addresses those that follow one another without a break.
fn overlapping(nodes: &[FlowNode], mut alike: Vec<usize>) -> Vec<(usize, usize)> {
    let side_of = |index: &usize| nodes.get(*index).map(|node| node.side);
    let is_shifted = |index: &usize| nodes.get(*index).is_some_and(|node| node.is_shifted);
    let place_of = |index: &usize| side_of(index).map(|side| side.place);
    let by_place = alike.iter().any(is_shifted);
    alike.sort_by_key(|index| {
        let place = place_of(index).filter(|_| by_place);
        (place, side_of(index).map(|side| side.first_ns))
    });
    let mut found = Vec::new();
    for run in alike.chunk_by(|one, two| !by_place || place_of(one) == place_of(two)) {
        let mut until_ns = i64::MIN;
        for two in run.windows(2) {
            if let [before, after] = two
                && let (Some(before_side), Some(after_side)) = (side_of(before), side_of(after))
            {
                until_ns = until_ns.max(before_side.last_ns);
                if after_side.first_ns <= until_ns {
                    found.push((*before, *after));
                }
            }
        }
    }
    found
}

fn link(nodes: &mut [FlowNode], from: usize, to: usize) {
    if let Some(node) = nodes.get_mut(from) {
        node.to.push(FlowEdge {
            node: to,
            is_turned: false,
            ahead: [0; 2],
            keeps_ip_id: [true; 2],
        });
    }
}

struct JoinedFlow {
    members: Vec<usize>,
    keeps_ip_id: [bool; 2],
}

/// Everything that hangs together with a root, and how it is read as the root.
fn read_from(root: usize, nodes: &[FlowNode], readings: &mut [Option<AsRoot>]) -> JoinedFlow {
    let mut flow = JoinedFlow {
        members: Vec::new(),
        keeps_ip_id: [true; 2],
    };
    let mut open = vec![(root, AsRoot::itself(root))];
    while let Some((index, reading)) = open.pop() {
        let (Some(slot @ None), Some(node)) = (readings.get_mut(index), nodes.get(index)) else {
            continue;
        };
        *slot = Some(reading);
        flow.members.push(index);
        for edge in &node.to {
            let kept = turned(edge.keeps_ip_id, reading.is_turned);
            for (keeps, kept) in flow.keeps_ip_id.iter_mut().zip(kept) {
                *keeps &= kept;
            }
            open.push((edge.node, reading.across(edge)));
        }
    }
    flow
}

impl AsRoot {
    fn itself(root: usize) -> Self {
        Self {
            root,
            is_turned: false,
            ahead: [0; 2],
        }
    }

    fn across(self, edge: &FlowEdge) -> Self {
        // the edge's directions are this node's, the reading's are the root's
        let [away, toward] = turned(edge.ahead, self.is_turned);
        Self {
            root: self.root,
            is_turned: self.is_turned != edge.is_turned,
            ahead: [
                self.ahead[0].wrapping_add(away),
                self.ahead[1].wrapping_add(toward),
            ],
        }
    }
}

/// One flow cannot be two at one point at a time.
fn is_contradictory(members: &[usize], nodes: &[FlowNode]) -> bool {
    let mut sides: Vec<Side> = members
        .iter()
        .filter_map(|index| nodes.get(*index).map(|node| node.side))
        .collect();
    sides.sort_by_key(|side| (side.place, side.first_ns));
    sides.windows(2).any(|two| match two {
        [one, two] => {
            one.place == two.place
                && one.tuple_hash != two.tuple_hash
                && two.first_ns < one.last_ns.saturating_sub(OVERLAP_NS)
        }
        _ => false,
    })
}

fn take(
    flow: &JoinedFlow,
    nodes: &[FlowNode],
    readings: &[Option<AsRoot>],
    legs: &mut HashedMap<Vec<Leg>>,
    is_kept: &mut [bool],
) {
    for index in &flow.members {
        let (Some(node), Some(Some(reading))) = (nodes.get(*index), readings.get(*index)) else {
            continue;
        };
        let Some(root) = nodes.get(reading.root) else {
            continue;
        };
        if let Some(is_kept) = is_kept.get_mut(node.session) {
            *is_kept = true;
        }
        legs.entry(node.side.tuple_hash).or_default().push(Leg {
            place: node.side.place,
            from_ns: node.side.first_ns,
            until_ns: node.side.last_ns,
            opens: node.side.opens,
            flow: root.side.tuple_hash,
            pair: root.side.pair,
            is_turned: reading.is_turned,
            keeps_ip_id: flow.keeps_ip_id,
            ahead: reading.ahead,
        });
    }
}

/// Evidence is of some packets; those before, between and after belong to the same flows.
fn fill_time(legs: &mut Vec<Leg>) {
    legs.sort_by_key(|leg| (leg.place, leg.from_ns, leg.until_ns));
    legs.dedup_by(|next, leg| {
        let is_same = next.place == leg.place
            && next.flow == leg.flow
            && (next.is_turned, next.keeps_ip_id, next.ahead)
                == (leg.is_turned, leg.keeps_ip_id, leg.ahead);
        if is_same {
            leg.until_ns = leg.until_ns.max(next.until_ns);
        }
        is_same
    });
    for of_place in legs.chunk_by_mut(|one, two| one.place == two.place) {
        if let Some(first) = of_place.first_mut() {
            first.from_ns = i64::MIN;
        }
        for at in 1..of_place.len() {
            if let [before, after] = of_place.get_mut(at - 1..=at).unwrap_or(&mut []) {
                // a SYN begins a session; else nobody knows what is between two
                if !after.opens {
                    after.from_ns = before.until_ns.midpoint(after.from_ns);
                }
                before.until_ns = after.from_ns.saturating_sub(1);
            }
        }
        if let Some(last) = of_place.last_mut() {
            last.until_ns = i64::MAX;
        }
    }
}
