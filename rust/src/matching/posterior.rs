//! Which pairs of a bipartite graph of candidates are certain enough.
//!
//! Each connected component is decided by itself. One to one is a pair. Of anything larger all
//! matchings are enumerated, crossing ones too, for reordering is real; the weight of a matching is
//! the product of its pairs' densities and of the loss and phantom probabilities of what it leaves
//! over. A pair is accepted if matchings with it have nearly all of the weight; the rest abstains.

/// A posterior below this is a guess.
const ACCEPTED: f64 = 0.9995;
/// Larger components abstain: 6 by 6 has 13,327 matchings.
const MOST: usize = 6;
/// Probabilities measured as 0 are not impossible.
const LEAST_LOST: f64 = 1e-4;
const LEAST_PHANTOM: f64 = 1e-5;

/// A frame that may continue an open trajectory.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    pub(super) open: usize,
    pub(super) frame: usize,
    /// Density of the residual relative to uniform, times the probability not to be lost.
    pub(super) weight: f64,
    pub(super) lost: f64,
    pub(super) phantom: f64,
}

/// What can be told.
#[derive(Debug, Default)]
pub(super) struct Verdict {
    pub(super) pairs: Vec<(usize, usize)>,
    pub(super) doubtful_open: Vec<usize>,
    pub(super) doubtful_frames: Vec<usize>,
}

/// Decides all components of the candidates' graph.
pub(super) fn likely_pairs(candidates: &[Candidate]) -> Verdict {
    let mut verdict = Verdict::default();
    for component in components(candidates) {
        decide(&component, &mut verdict);
    }
    verdict
}

fn components(candidates: &[Candidate]) -> Vec<Vec<Candidate>> {
    let mut found: Vec<Vec<Candidate>> = Vec::new();
    for candidate in candidates {
        let touches = |component: &Vec<Candidate>| {
            component.iter().any(|c| c.open == candidate.open || c.frame == candidate.frame)
        };
        let (joined, others): (Vec<_>, Vec<_>) = found.into_iter().partition(touches);
        found = others;
        let mut merged: Vec<Candidate> = joined.into_iter().flatten().collect();
        merged.push(*candidate);
        found.push(merged);
    }
    found
}

fn decide(component: &[Candidate], verdict: &mut Verdict) {
    if let [only] = component {
        verdict.pairs.push((only.open, only.frame));
        return;
    }
    let sides = |side: fn(&Candidate) -> usize| {
        let mut all: Vec<usize> = component.iter().map(side).collect();
        all.sort_unstable();
        all.dedup();
        all
    };
    let (opens, frames) = (sides(|c| c.open), sides(|c| c.frame));
    let mut share = vec![0.0; component.len()];
    let mut total = 0.0;
    if opens.len() <= MOST && frames.len() <= MOST {
        let mut walk = Walk { component, opens: &opens, frames: &frames, share: &mut share, total: &mut total };
        walk.from(0, 0, 1.0, &mut Vec::new());
    }
    let (mut paired_open, mut paired_frames) = (Vec::new(), Vec::new());
    for (candidate, share) in component.iter().zip(&share) {
        if total > 0.0 && share / total >= ACCEPTED {
            verdict.pairs.push((candidate.open, candidate.frame));
            paired_open.push(candidate.open);
            paired_frames.push(candidate.frame);
        }
    }
    verdict.doubtful_open.extend(opens.iter().filter(|one| !paired_open.contains(one)));
    verdict.doubtful_frames.extend(frames.iter().filter(|one| !paired_frames.contains(one)));
}

/// The enumeration: open trajectories one after the other, each with every free frame or none.
struct Walk<'a> {
    component: &'a [Candidate],
    opens: &'a [usize],
    frames: &'a [usize],
    share: &'a mut [f64],
    total: &'a mut f64,
}

impl Walk<'_> {
    fn from(&mut self, at: usize, taken: u32, weight: f64, pairs: &mut Vec<usize>) {
        let Some(open) = self.opens.get(at).copied() else {
            return self.close(taken, weight, pairs);
        };
        let lost = self.component.iter().find(|c| c.open == open).map_or(0.0, |c| c.lost);
        self.from(at + 1, taken, weight * lost.max(LEAST_LOST), pairs);
        for index in 0..self.component.len() {
            let Some(candidate) = self.component.get(index).filter(|c| c.open == open) else { continue };
            let Some(bit) = self.frames.iter().position(|f| *f == candidate.frame) else { continue };
            if taken & (1 << bit) == 0 {
                let weight = weight * candidate.weight;
                pairs.push(index);
                self.from(at + 1, taken | (1 << bit), weight, pairs);
                pairs.pop();
            }
        }
    }

    fn close(&mut self, taken: u32, weight: f64, pairs: &[usize]) {
        let phantom = self.component.first().map_or(0.0, |c| c.phantom).max(LEAST_PHANTOM);
        let n_left = self.frames.len() - taken.count_ones() as usize;
        let weight = (0..n_left).fold(weight, |weight, _| weight * phantom);
        *self.total += weight;
        for index in pairs {
            if let Some(share) = self.share.get_mut(*index) {
                *share += weight;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidate(open: usize, frame: usize, weight: f64) -> Candidate {
        Candidate { open, frame, weight, lost: 0.01, phantom: 0.0 }
    }

    #[test]
    fn one_to_one_is_a_pair() {
        let verdict = likely_pairs(&[candidate(0, 7, 0.2), candidate(1, 8, 0.2)]);
        assert_eq!(verdict.pairs, [(0, 7), (1, 8)]);
    }

    #[test]
    fn what_can_be_crossed_abstains() {
        let even = [candidate(0, 7, 1.0), candidate(0, 8, 1.0), candidate(1, 7, 1.0), candidate(1, 8, 1.0)];
        let verdict = likely_pairs(&even);
        assert!(verdict.pairs.is_empty());
        assert_eq!((verdict.doubtful_open.len(), verdict.doubtful_frames.len()), (2, 2));
    }

    #[test]
    fn a_density_can_decide() {
        let sharp = [candidate(0, 7, 8.0), candidate(0, 8, 1e-3), candidate(1, 7, 1e-3), candidate(1, 8, 8.0)];
        assert_eq!(likely_pairs(&sharp).pairs, [(0, 7), (1, 8)]);
    }

    #[test]
    fn heaps_abstain() {
        let heap: Vec<_> = (0..9).flat_map(|a| (0..9).map(move |b| candidate(a, b, 1.0))).collect();
        assert!(likely_pairs(&heap).pairs.is_empty());
    }
}
