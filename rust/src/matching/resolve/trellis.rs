//! All matchings of a component, summed.
//!
//! Open trajectories come in turn, the last one sent first, each with every free frame of its band
//! or none. What matters to those that follow is only which frames are taken, so the ways to that are
//! summed: from the first turn on and from the last one back (forward-backward). That also tells who
//! was overtaken: whoever takes a frame behind one that is taken already. A run of any length is
//! decided where few frames lie in a band at once, or few are late.

use crate::matching::resolve::posterior::Candidate;
use std::cmp::Reverse;

/// More frames than this in one band are a heap, which abstains.
pub(crate) const MOST_FRAMES: usize = 24;
/// So are more ways than this to have come so far.
const MOST_STATES: usize = 128;
/// Ways that are less likely than this, beside the likeliest, are forgotten.
const NEGLIGIBLE: f64 = 1e-9;

/// Where an open trajectory goes on: frames, and how likely each is.
#[derive(Clone, Debug)]
pub(crate) struct Share {
    pub(crate) open: usize,
    pub(crate) of_frame: Vec<(usize, f64)>,
}

impl Share {
    /// The likeliest frame, and how likely it is.
    pub(crate) fn likeliest(&self) -> (usize, f64) {
        let most = self.of_frame.iter().max_by(|a, b| a.1.total_cmp(&b.1));
        most.copied().unwrap_or_default()
    }

    /// How likely it goes on at all.
    pub(crate) fn any(&self) -> f64 {
        self.of_frame.iter().map(|(_, share)| share).sum()
    }
}

/// An open trajectory and its candidates, as places among the component's frames.
pub(crate) struct TrellisColumn {
    open: usize,
    lost: f64,
    /// Place of the first frame that it, or a later turn, may take.
    base: usize,
    is_ordered: bool,
    edges: Vec<Edge>,
}

struct Edge {
    frame: usize,
    place: usize,
    weight: f64,
    /// Weight if a frame before it is taken by what was sent later.
    late: f64,
}

/// The open trajectories, from the last one sent on; `None` if it is a heap.
///
/// Places count from the last frame back.
pub(crate) fn turns(component: &[Candidate], frames: &[usize]) -> Option<Vec<TrellisColumn>> {
    let mut sorted: Vec<&Candidate> = component.iter().collect();
    sorted.sort_unstable_by_key(|one| (one.open, one.frame));
    let mut turns = Vec::new();
    for of_open in sorted.chunk_by(|a, b| a.open == b.open) {
        let edge = |candidate: &&Candidate| {
            let (frame, weight) = (candidate.frame, candidate.weight);
            Some(Edge {
                frame,
                place: place_of(frames, frame)?,
                weight,
                late: weight * candidate.overtaken,
            })
        };
        let edges: Vec<Edge> = of_open.iter().filter_map(edge).collect();
        let one = **of_open.first()?;
        let turn = TrellisColumn {
            open: one.open,
            lost: one.lost,
            base: edges.last()?.place,
            is_ordered: one.is_ordered,
            edges,
        };
        turns.push((turn, one.sent_ns));
    }
    turns.sort_by_key(|(turn, sent_ns)| (Reverse(*sent_ns), Reverse(turn.open)));
    let mut turns: Vec<TrellisColumn> = turns.into_iter().map(|(turn, _)| turn).collect();
    let mut base = frames.len();
    for turn in turns.iter_mut().rev() {
        base = base.min(turn.base);
        turn.base = base;
        if turn.edges.first()?.place - base >= MOST_FRAMES {
            return None;
        }
    }
    Some(turns)
}

fn place_of(frames: &[usize], frame: usize) -> Option<usize> {
    let place = frames.binary_search(&frame).ok()?;
    (frames.len() - 1).checked_sub(place)
}

fn phantoms(component: &[Candidate], frames: &[usize]) -> Vec<f64> {
    let mut found = vec![1.0; frames.len()];
    for one in component {
        if let Some(place) = place_of(frames, one.frame)
            && let Some(slot) = found.get_mut(place)
        {
            *slot = one.phantom;
        }
    }
    found
}

/// Which frames from a place on are taken, and which of them by what is known to be sent later.
type TakenSet = (u32, u32);
/// With the weight of all ways to that.
type State = (TakenSet, f64);

/// The sum over all matchings, turn by turn.
pub(crate) struct Sum<'a> {
    turns: &'a [TrellisColumn],
    phantom: Vec<f64>,
}

impl<'a> Sum<'a> {
    pub(crate) fn new(
        turns: &'a [TrellisColumn],
        component: &[Candidate],
        frames: &[usize],
    ) -> Self {
        let phantom = phantoms(component, frames);
        Self { turns, phantom }
    }

    /// Where each open trajectory goes on; `None` if there are too many ways to tell.
    pub(crate) fn shares(&self) -> Option<Vec<Share>> {
        Some(self.backward(&self.forward()?))
    }

    /// Place of the first frame that a turn, or a later one, may take.
    fn base(&self, turn: usize) -> usize {
        self.turns
            .get(turn)
            .map_or(self.phantom.len(), |turn| turn.base)
    }

    /// Leaves the frames before the next turn's: those that are free are phantoms.
    fn close(&self, turn: usize, (mask, later): TakenSet) -> State {
        let (from, to) = (self.base(turn), self.base(turn + 1));
        let rest = |mask: u32| mask.checked_shr(clipped(to - from)).unwrap_or(0);
        let left = self.phantom.get(from..to).unwrap_or(&[]).iter().enumerate();
        let free = left.filter(|(bit, _)| mask.checked_shr(clipped(*bit)).unwrap_or(0) & 1 == 0);
        let weight = free.map(|(_, phantom)| phantom).product();
        ((rest(mask), rest(later)), weight)
    }

    /// What may come of a state in a turn: the state before the next turn, its weight, the edge.
    fn ways(
        &self,
        turn: usize,
        (mask, later): TakenSet,
    ) -> impl Iterator<Item = (TakenSet, f64, Option<&'a Edge>)> {
        let here = self.turns.get(turn);
        let lost = here.map(|here| ((mask, later), here.lost, None));
        let edges = here.map_or(&[][..], |here| here.edges.as_slice()).iter();
        let is_ordered = here.is_some_and(|here| here.is_ordered);
        let base = self.base(turn);
        let free = edges.filter_map(move |edge| {
            let bit = 1_u32.checked_shl(clipped(edge.place - base))?;
            let is_late = is_ordered && later > bit;
            let weight = if is_late { edge.late } else { edge.weight };
            let later = if is_ordered { later | bit } else { later };
            (mask & bit == 0).then_some(((mask | bit, later), weight, Some(edge)))
        });
        lost.into_iter()
            .chain(free)
            .map(move |(taken, weight, edge)| {
                let (taken, closing) = self.close(turn, taken);
                (taken, weight * closing, edge)
            })
    }

    /// Before each turn, and at the end, the states with their weights; `None` if they are too many.
    fn forward(&self) -> Option<Vec<Vec<State>>> {
        let mut all = vec![vec![((0, 0), 1.0)]];
        for turn in 0..self.turns.len() {
            let before = all.last()?;
            let mut next: Vec<State> = before
                .iter()
                .flat_map(|(mask, so_far)| {
                    self.ways(turn, *mask)
                        .map(move |(mask, weight, _)| (mask, so_far * weight))
                })
                .collect();
            next.sort_unstable_by_key(|(mask, _)| *mask);
            next.dedup_by(|later, kept| {
                let is_same = later.0 == kept.0;
                kept.1 += if is_same { later.1 } else { 0.0 };
                is_same
            });
            normalise(&mut next);
            if next.is_empty() || next.len() > MOST_STATES {
                return None;
            }
            all.push(next);
        }
        Some(all)
    }

    /// Where each open trajectory goes on, from the last on.
    fn backward(&self, states: &[Vec<State>]) -> Vec<Share> {
        let mut found = Vec::new();
        let mut after: Vec<State> = vec![((0, 0), 1.0)];
        for (turn, before) in states.iter().enumerate().take(self.turns.len()).rev() {
            let mut total = 0.0;
            let mut shares: Vec<(usize, f64)> = Vec::new();
            let mut onward: Vec<State> = Vec::with_capacity(before.len());
            for (mask, so_far) in before {
                let mut rest = 0.0;
                for (next, weight, edge) in self.ways(turn, *mask) {
                    let weight = weight * weight_of(&after, next);
                    rest += weight;
                    if let Some(edge) = edge {
                        shares.push((edge.frame, so_far * weight));
                    }
                }
                total += so_far * rest;
                onward.push((*mask, rest));
            }
            if let Some(open) = self.turns.get(turn).map(|turn| turn.open) {
                found.push(share_of(open, shares, total));
            }
            normalise(&mut onward);
            after = onward;
        }
        found
    }
}

/// The weights of frames as shares of the total, which holds those of no frame too.
fn share_of(open: usize, mut weights: Vec<(usize, f64)>, total: f64) -> Share {
    weights.sort_unstable_by_key(|(frame, _)| *frame);
    weights.dedup_by(|later, kept| {
        let is_same = later.0 == kept.0;
        kept.1 += if is_same { later.1 } else { 0.0 };
        is_same
    });
    for (_, weight) in &mut weights {
        *weight = if total > 0.0 { *weight / total } else { 0.0 };
    }
    Share {
        open,
        of_frame: weights,
    }
}

/// Of a heap nothing is known.
pub(crate) fn heap(component: &[Candidate]) -> Vec<Share> {
    let mut found: Vec<Share> = Vec::new();
    let mut sorted: Vec<_> = component.iter().map(|one| (one.open, one.frame)).collect();
    sorted.sort_unstable();
    for of_open in sorted.chunk_by(|a, b| a.0 == b.0) {
        let n = u32::try_from(of_open.len()).unwrap_or(u32::MAX);
        let even = 0.5 / f64::from(n);
        found.extend(of_open.first().map(|(open, _)| Share {
            open: *open,
            of_frame: of_open.iter().map(|(_, frame)| (*frame, even)).collect(),
        }));
    }
    found
}

/// Makes the greatest weight 1 and forgets the negligible ones.
fn normalise(states: &mut Vec<State>) {
    let most = states.iter().map(|(_, weight)| *weight).fold(0.0, f64::max);
    states.retain(|(_, weight)| *weight > NEGLIGIBLE * most);
    for (_, weight) in states {
        *weight /= most;
    }
}

fn weight_of(states: &[State], taken: TakenSet) -> f64 {
    let found = states
        .binary_search_by_key(&taken, |(taken, _)| *taken)
        .ok();
    found
        .and_then(|at| states.get(at))
        .map_or(0.0, |(_, weight)| *weight)
}

fn clipped(bits: usize) -> u32 {
    u32::try_from(bits).unwrap_or(u32::MAX)
}
