//! Which pairs of a bipartite graph of candidates are certain enough.
//!
//! Each connected component is decided by itself. One to one is a pair. Of anything larger all
//! matchings are enumerated, crossing ones too, for reordering is real; the weight of a matching is
//! the product of its pairs' densities and of the loss and phantom probabilities of what it leaves
//! over. A pair is accepted if matchings with it have nearly all of the weight; the rest abstains.

use super::components::components;

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

/// Decides all components of the candidates' graph; what has no alternative is a pair.
pub(super) fn likely_pairs(candidates: &[Candidate]) -> Verdict {
    let mut verdict = Verdict::default();
    for component in components(candidates) {
        match component.as_slice() {
            [only] => verdict.pairs.push((only.open, only.frame)),
            several => decide(several, &mut verdict),
        }
    }
    verdict
}

/// The same, where loss and a packet from nowhere are an alternative to every pair.
pub(super) fn probable_pairs(candidates: &[Candidate]) -> Verdict {
    let mut verdict = Verdict::default();
    for component in components(candidates) {
        decide(&component, &mut verdict);
    }
    verdict
}

fn decide(component: &[Candidate], verdict: &mut Verdict) {
    let (mut opens, mut frames) = (side(component, |c| c.open), side(component, |c| c.frame));
    if opens.len() <= MOST && frames.len() <= MOST {
        for (open, frame) in accepted(component, &opens, &frames) {
            verdict.pairs.push((open, frame));
            opens.retain(|one| *one != open);
            frames.retain(|one| *one != frame);
        }
    }
    verdict.doubtful_open.append(&mut opens);
    verdict.doubtful_frames.append(&mut frames);
}

fn side(component: &[Candidate], of: fn(&Candidate) -> usize) -> Vec<usize> {
    let mut all: Vec<usize> = component.iter().map(of).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// The pairs that are in matchings of nearly all of the weight.
fn accepted(component: &[Candidate], opens: &[usize], frames: &[usize]) -> Vec<(usize, usize)> {
    let mut share = vec![0.0; component.len()];
    let mut total = 0.0;
    let (share_of, total_of) = (&mut share, &mut total);
    let mut walk = Walk {
        component,
        opens,
        frames,
        share: share_of,
        total: total_of,
    };
    walk.from(0, 0, 1.0, &mut Vec::new());
    let is_certain = |share: f64| total > 0.0 && share / total >= ACCEPTED;
    let certain = component
        .iter()
        .zip(share)
        .filter(|(_, share)| is_certain(*share));
    certain
        .map(|(candidate, _)| (candidate.open, candidate.frame))
        .collect()
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
        let lost = self
            .component
            .iter()
            .find(|c| c.open == open)
            .map_or(0.0, |c| c.lost);
        self.from(at + 1, taken, weight * lost.max(LEAST_LOST), pairs);
        for index in 0..self.component.len() {
            let Some(candidate) = self.component.get(index).filter(|c| c.open == open) else {
                continue;
            };
            let Some(bit) = self.frames.iter().position(|f| *f == candidate.frame) else {
                continue;
            };
            if taken & (1 << bit) == 0 {
                let weight = weight * candidate.weight;
                pairs.push(index);
                self.from(at + 1, taken | (1 << bit), weight, pairs);
                pairs.pop();
            }
        }
    }

    fn close(&mut self, taken: u32, weight: f64, pairs: &[usize]) {
        let phantom = self
            .component
            .first()
            .map_or(0.0, |c| c.phantom)
            .max(LEAST_PHANTOM);
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
        Candidate {
            open,
            frame,
            weight,
            lost: 0.01,
            phantom: 0.0,
        }
    }

    #[test]
    fn one_to_one_is_a_pair() {
        let verdict = likely_pairs(&[candidate(0, 7, 0.2), candidate(1, 8, 0.2)]);
        assert_eq!(verdict.pairs, [(0, 7), (1, 8)]);
    }

    #[test]
    fn what_can_be_crossed_abstains() {
        let even = [
            candidate(0, 7, 1.0),
            candidate(0, 8, 1.0),
            candidate(1, 7, 1.0),
            candidate(1, 8, 1.0),
        ];
        let verdict = likely_pairs(&even);
        assert!(verdict.pairs.is_empty());
        assert_eq!(
            (verdict.doubtful_open.len(), verdict.doubtful_frames.len()),
            (2, 2)
        );
    }

    #[test]
    fn a_density_can_decide() {
        let sharp = [
            candidate(0, 7, 8.0),
            candidate(0, 8, 1e-3),
            candidate(1, 7, 1e-3),
            candidate(1, 8, 8.0),
        ];
        assert_eq!(likely_pairs(&sharp).pairs, [(0, 7), (1, 8)]);
    }

    #[test]
    fn heaps_abstain() {
        let heap: Vec<_> = (0..9)
            .flat_map(|a| (0..9).map(move |b| candidate(a, b, 1.0)))
            .collect();
        assert!(likely_pairs(&heap).pairs.is_empty());
    }

    /// Posteriors by brute force over all subsets of candidates.
    fn reference(component: &[Candidate]) -> Vec<f64> {
        let (opens, frames) = (side(component, |c| c.open), side(component, |c| c.frame));
        let (mut total, mut share) = (0.0, vec![0.0; component.len()]);
        for subset in 0_u32..1 << component.len() {
            let is_in = |index: usize| subset & (1 << index) != 0;
            let chosen: Vec<_> = (0..component.len()).filter(|index| is_in(*index)).collect();
            let picked: Vec<_> = chosen.iter().map(|index| component[*index]).collect();
            if side(&picked, |c| c.open).len() < picked.len()
                || side(&picked, |c| c.frame).len() < picked.len()
            {
                continue;
            }
            let n_lost = i32::try_from(opens.len() - picked.len()).unwrap();
            let n_left = i32::try_from(frames.len() - picked.len()).unwrap();
            let weight = picked.iter().map(|c| c.weight).product::<f64>()
                * component[0].lost.max(LEAST_LOST).powi(n_lost)
                * LEAST_PHANTOM.powi(n_left);
            total += weight;
            for index in chosen {
                share[index] += weight;
            }
        }
        share.iter().map(|share| share / total).collect()
    }

    #[test]
    fn posteriors_equal_brute_force() {
        let mut seed = 1_u64;
        let mut random = || {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            f64::from(u32::try_from(seed >> 40).unwrap()) / f64::from(1 << 24)
        };
        for _ in 0..60 {
            let sharp = random() < 0.5;
            let weight =
                |a: usize, b: usize, at: f64| if sharp && a != b { at * 1e-4 } else { at + 0.1 };
            let component: Vec<_> = (0..9)
                .map(|i| (i / 3, i % 3))
                .map(|(a, b)| candidate(a, b, weight(a, b, random())))
                .collect();
            let (opens, frames) = (side(&component, |c| c.open), side(&component, |c| c.frame));
            let expected: Vec<_> = component
                .iter()
                .zip(reference(&component))
                .filter(|(_, share)| *share >= ACCEPTED)
                .map(|(c, _)| (c.open, c.frame))
                .collect();
            assert_eq!(accepted(&component, &opens, &frames), expected);
            assert_eq!(expected.is_empty(), !sharp);
        }
    }

    #[test]
    fn one_lost_of_two_abstains_unless_bands_tell() {
        let one_frame = [candidate(0, 7, 1.0), candidate(1, 7, 1.0)];
        assert!(likely_pairs(&one_frame).pairs.is_empty());
        let told = [candidate(0, 7, 1e-3), candidate(1, 7, 8.0)];
        let verdict = likely_pairs(&told);
        assert_eq!(
            (verdict.pairs, verdict.doubtful_open),
            (vec![(1, 7)], vec![0])
        );
    }
}
