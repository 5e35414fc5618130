//! Connected components of the graph of candidates.

use crate::matching::resolve::posterior::Candidate;
use std::collections::{BTreeMap, HashMap};

/// Connected components, each in the order of its candidates.
pub(crate) fn components(candidates: &[Candidate]) -> Vec<Vec<Candidate>> {
    let mut parent: Vec<usize> = (0..candidates.len()).collect();
    let (mut of_open, mut of_frame) = (HashMap::new(), HashMap::new());
    for (index, candidate) in candidates.iter().enumerate() {
        for neighbour in [
            *of_open.entry(candidate.open).or_insert(index),
            *of_frame.entry(candidate.frame).or_insert(index),
        ] {
            let (one, other) = (root(&mut parent, index), root(&mut parent, neighbour));
            if let Some(link) = parent.get_mut(one.max(other)) {
                *link = one.min(other);
            }
        }
    }
    let mut found: BTreeMap<usize, Vec<Candidate>> = BTreeMap::new();
    for (index, candidate) in candidates.iter().enumerate() {
        found
            .entry(root(&mut parent, index))
            .or_default()
            .push(*candidate);
    }
    found.into_values().collect()
}

/// The representative of an index, with path halving.
fn root(parent: &mut [usize], mut index: usize) -> usize {
    while let Some(up) = parent.get(index).copied().filter(|up| *up != index) {
        let above = parent.get(up).copied().unwrap_or(up);
        if let Some(link) = parent.get_mut(index) {
            *link = above;
        }
        index = above;
    }
    index
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidate(open: usize, frame: usize) -> Candidate {
        Candidate {
            open,
            frame,
            weight: 1.0,
            lost: 0.0,
            phantom: 0.0,
            overtaken: 1.0,
            sent_ns: 0,
            is_ordered: true,
        }
    }

    #[test]
    fn components_are_those_of_the_graph() {
        let chain: Vec<_> = (0..1000)
            .flat_map(|i| [candidate(i, i), candidate(i, i + 1)])
            .collect();
        assert_eq!(components(&chain).len(), 1);
        let apart: Vec<_> = chain.iter().filter(|c| c.open % 10 != 0).copied().collect();
        assert_eq!(
            components(&apart).iter().map(Vec::len).collect::<Vec<_>>(),
            [18; 100]
        );
        assert!(components(&[]).is_empty());
    }
}
