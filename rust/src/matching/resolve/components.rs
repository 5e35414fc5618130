//! Connected components of graphs, that of candidates among them.

use crate::matching::resolve::posterior::Candidate;

const NONE: usize = usize::MAX;

/// Connected components, each in the order of its candidates.
pub(crate) fn components(candidates: &[Candidate]) -> Vec<Vec<Candidate>> {
    let mut parent: Vec<usize> = (0..candidates.len()).collect();
    let mut of_open = firsts(candidates, |one| one.open);
    let mut of_frame = firsts(candidates, |one| one.frame);
    for (index, candidate) in candidates.iter().enumerate() {
        let of_open = first(&mut of_open, candidate.open, index);
        let of_frame = first(&mut of_frame, candidate.frame, index);
        join(&mut parent, of_open, of_frame);
        join(&mut parent, of_frame, index);
    }
    let mut place_of = vec![NONE; candidates.len()];
    let mut found: Vec<Vec<Candidate>> = Vec::new();
    for (index, candidate) in candidates.iter().enumerate() {
        // the first of a component is its root
        let place = first(&mut place_of, root(&mut parent, index), found.len());
        match found.get_mut(place) {
            Some(component) => component.push(*candidate),
            None => found.push(vec![*candidate]),
        }
    }
    found
}

/// Room for the first candidate of each.
fn firsts(candidates: &[Candidate], of: fn(&Candidate) -> usize) -> Vec<usize> {
    let most = candidates.iter().map(of).max();
    vec![NONE; most.map_or(0, |most| most + 1)]
}

/// What was put to a place first: this, if nothing was.
fn first(places: &mut [usize], at: usize, this: usize) -> usize {
    let Some(place) = places.get_mut(at) else {
        return this;
    };
    if *place == NONE {
        *place = this;
    }
    *place
}

/// Joins the components of two indices; the least of one represents it.
pub(crate) fn join(parent: &mut [usize], one: usize, other: usize) {
    let (one, other) = (root(parent, one), root(parent, other));
    if let Some(link) = parent.get_mut(one.max(other)) {
        *link = one.min(other);
    }
}

/// The representative of an index, with path halving.
pub(crate) fn root(parent: &mut [usize], mut index: usize) -> usize {
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
