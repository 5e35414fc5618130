//! Which pairs of a bipartite graph of candidates are certain enough.
//!
//! Each connected component is decided by itself: over all its matchings, crossing ones too, for
//! reordering is real, the weight of a matching is the product of its pairs' densities, of the loss
//! and phantom probabilities of what it leaves over, and, for each packet in it that was overtaken
//! (RFC 4737), of how much rarer that is than the densities alone would have it. A pair is accepted if matchings with it
//! have nearly all of the weight; the rest abstains.

use crate::matching::resolve::components::components;
use crate::matching::resolve::trellis::{FrameIndex, NextStates, Share, Sum, heap, turns};

/// A posterior below this is a guess.
const ACCEPTED: f64 = 0.9995;
/// Where others compete, one is: weights are no better known than the densities that the survey saw.
const ACCEPTED_AMONG: f64 = 0.9999;

/// What has at most this chance to go on, or to have come from somewhere, is not in doubt.
pub(crate) const NO_DOUBT: f64 = 1.0 - ACCEPTED;

/// Probabilities measured as 0 are not impossible.
pub(crate) const LEAST_LOST: f64 = 1e-4;
pub(crate) const LEAST_PHANTOM: f64 = 1e-5;

/// A frame that may continue an open trajectory. Frames are numbered in order of time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Candidate {
    pub(crate) open: usize,
    pub(crate) frame: usize,
    /// Density of the residual, times the probability not to be lost.
    pub(crate) weight: f64,
    /// Probability that the open trajectory goes on in none of the candidates.
    pub(crate) lost: f64,
    /// Density of such frames that continue no open trajectory.
    pub(crate) phantom: f64,
    /// How much less likely it is if what was sent later arrived before.
    pub(crate) overtaken: f64,
    /// When the open trajectory was seen, and whether where all others that are ordered were seen.
    pub(crate) sent_ns: i64,
    pub(crate) is_ordered: bool,
}

/// What can be told.
#[derive(Debug, Default)]
pub(crate) struct Verdict {
    pub(crate) pairs: Vec<(usize, usize)>,
    /// Frames of pairs, and how likely those are.
    pub(crate) likely: Vec<(usize, f64)>,
    /// With the probability that they go on in one of the candidates.
    pub(crate) doubtful_open: Vec<(usize, f64)>,
    /// With the probability that they continue one of the open trajectories.
    pub(crate) doubtful_frames: Vec<(usize, f64)>,
}

/// Decides all components of the candidates' graph.
pub(crate) fn likely_pairs(candidates: &[Candidate]) -> Verdict {
    let (mut verdict, mut step) = (Verdict::default(), NextStates::default());
    for component in components(candidates) {
        decide(&component, &mut step, &mut verdict);
    }
    verdict
}

fn decide(component: &[Candidate], step: &mut NextStates, verdict: &mut Verdict) {
    let frames = side(component, |c| c.frame);
    let mut shares = shares(component, &frames, step);
    shares.sort_unstable_by_key(|one| one.open);
    let enough = match component {
        [_] => ACCEPTED,
        _ => ACCEPTED_AMONG,
    };
    let mut left = vec![0.0; frames.len()];
    let mut index = FrameIndex::new(&frames);
    let mut add = |frame: usize, share: f64| {
        if let Some(sum) = index.of(frame).and_then(|at| left.get_mut(at)) {
            *sum += share;
        }
    };
    for of_open in &shares {
        let (frame, likely) = of_open.likeliest();
        if likely >= enough {
            verdict.pairs.push((of_open.open, frame));
            verdict.likely.push((frame, likely));
            add(frame, f64::NEG_INFINITY);
            continue;
        }
        let any = of_open.any();
        if any > NO_DOUBT {
            verdict.doubtful_open.push((of_open.open, any));
        }
        for (frame, share) in &of_open.of_frame {
            add(*frame, *share);
        }
    }
    let left = frames.iter().copied().zip(left);
    let doubtful = left.filter(|(_, sum)| *sum > NO_DOUBT);
    verdict.doubtful_frames.extend(doubtful);
}

fn side(component: &[Candidate], of: fn(&Candidate) -> usize) -> Vec<usize> {
    let mut all: Vec<usize> = component.iter().map(of).collect();
    all.sort_unstable();
    all.dedup();
    all
}

fn shares(component: &[Candidate], frames: &[usize], step: &mut NextStates) -> Vec<Share> {
    if let [only] = component {
        let likely = only.weight / (only.weight + only.lost * only.phantom);
        return vec![Share {
            open: only.open,
            of_frame: vec![(only.frame, likely)],
        }];
    }
    let turns = turns(component, frames);
    let found = turns.and_then(|turns| Sum::new(&turns).shares(step));
    found.unwrap_or_else(|| heap(component))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOST: f64 = 0.01;
    const PHANTOM: f64 = 1e-5;

    fn candidate(open: usize, frame: usize, weight: f64) -> Candidate {
        Candidate {
            open,
            frame,
            weight,
            lost: LOST,
            phantom: PHANTOM,
            overtaken: 1.0,
            sent_ns: i64::try_from(open).unwrap(),
            is_ordered: true,
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
    fn where_order_is_kept_it_decides() {
        let in_order = |overtaken| {
            let even = [(0, 7), (0, 8), (1, 7), (1, 8)].map(|(a, b)| Candidate {
                overtaken,
                ..candidate(a, b, 1.0)
            });
            likely_pairs(&even).pairs
        };
        assert!(in_order(0.1).is_empty());
        assert_eq!(in_order(1e-5), [(0, 7), (1, 8)]);
    }

    #[test]
    fn a_train_of_many_is_in_order_and_one_lost_of_it_leaves_the_rest_unknown() {
        let train = |n_arrived: usize| {
            let all = (0..12).flat_map(|a| (0..n_arrived).map(move |b| (a, b)));
            let near = all.filter(|(a, b): &(usize, usize)| a.abs_diff(*b) < 4);
            let late = |(a, b)| Candidate {
                overtaken: 1e-9,
                ..candidate(a, b, 1.0)
            };
            likely_pairs(&near.map(late).collect::<Vec<_>>()).pairs
        };
        assert_eq!(train(12), (0..12).map(|a| (a, a)).collect::<Vec<_>>());
        assert!(train(11).is_empty());
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
        let heap: Vec<_> = (0..20)
            .flat_map(|a| (0..20).map(move |b| candidate(a, b, 1.0)))
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
            let is_late = |c: &&Candidate| {
                let mut others = picked.iter();
                others.any(|other| other.open > c.open && other.frame < c.frame)
            };
            let late = picked.iter().filter(is_late).map(|c| c.overtaken);
            let weight = picked.iter().map(|c| c.weight).product::<f64>()
                * late.product::<f64>()
                * LOST.powi(n_lost)
                * PHANTOM.powi(n_left);
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
        for round in 0..90 {
            let overtaken = [1.0, 0.3, 1e-6][round % 3];
            let sharp = random() < 0.5;
            let weight =
                |a: usize, b: usize, at: f64| if sharp && a != b { at * 1e-4 } else { at + 0.1 };
            let component: Vec<_> = (0..9)
                .map(|i| (i / 3, i % 3))
                .map(|(a, b)| Candidate {
                    overtaken,
                    ..candidate(a, b, weight(a, b, random()))
                })
                .collect();
            let frames = side(&component, |c| c.frame);
            let expected: Vec<_> = component
                .iter()
                .zip(reference(&component))
                .filter(|(_, share)| *share >= ACCEPTED_AMONG)
                .map(|(c, _)| (c.open, c.frame))
                .collect();
            let mut found: Vec<_> = shares(&component, &frames, &mut NextStates::default())
                .iter()
                .filter(|one| one.likeliest().1 >= ACCEPTED_AMONG)
                .map(|one| (one.open, one.likeliest().0))
                .collect();
            found.sort_unstable();
            assert_eq!(found, expected);
            assert_eq!(expected.is_empty(), !sharp && overtaken > 1e-3);
        }
    }

    #[test]
    fn one_lost_of_two_abstains_unless_bands_tell() {
        let one_frame = [candidate(0, 7, 1.0), candidate(1, 7, 1.0)];
        assert!(likely_pairs(&one_frame).pairs.is_empty());
        let told = [candidate(0, 7, 1e-4), candidate(1, 7, 8.0)];
        let verdict = likely_pairs(&told);
        assert_eq!(verdict.pairs, [(1, 7)]);
        assert!(verdict.doubtful_open.is_empty(), "the other is surely lost");
    }
}
