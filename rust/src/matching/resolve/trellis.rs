//! All matchings of a component, summed.
//!
//! Open trajectories come in turn, the last one sent first, each with every free frame of its band
//! or none. What matters to those that follow is only which frames are taken, so the ways to that are
//! summed: from the first turn on and from the last one back (forward-backward). That also tells who
//! was overtaken: whoever takes a frame behind one that is taken already. A run of any length is
//! decided where few frames lie in a band at once, or few are late.
//!
//! What weighs little beside the likeliest is forgotten, in time: a free frame counts at once for no
//! more than it can still become, taken by a later turn or left over. Else most of what is summed would
//! be ways that left frames behind which nothing later can take well.

use crate::matching::resolve::posterior::Candidate;
use std::cmp::Reverse;

/// More frames than this in one band are a heap, which abstains.
pub(crate) const MOST_FRAMES: usize = 24;
/// So are more ways than this to have come so far.
const MOST_STATES: usize = 128;
/// Ways that are less likely than this, beside the likeliest, are forgotten.
const NEGLIGIBLE: f64 = 1e-7;

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
    /// So many frames on is the base of the next turn.
    shift: usize,
    is_ordered: bool,
    /// The likeliest first.
    edges: Vec<Edge>,
}

struct Edge {
    frame: usize,
    place: usize,
    /// Among the frames from the turn's base on.
    bit: u32,
    /// Weight of taking the frame, beside leaving it free.
    weight: f64,
    /// The same if a frame before it is taken by what was sent later.
    late: f64,
    /// By how much less a state weighs, once this turn is over, if the frame is free.
    left: f64,
}

/// The open trajectories, from the last one sent on; `None` if it is a heap.
///
/// Places count from the last frame back.
pub(crate) fn turns(component: &[Candidate], frames: &[usize]) -> Option<Vec<TrellisColumn>> {
    let mut sorted: Vec<&Candidate> = component.iter().collect();
    sorted.sort_unstable_by_key(|one| (one.open, one.frame));
    let (mut turns, mut phantoms) = (Vec::new(), vec![1.0; frames.len()]);
    let mut index = FrameIndex::new(frames);
    for of_open in sorted.chunk_by(|a, b| a.open == b.open) {
        let mut edge = |candidate: &&Candidate| {
            let (frame, weight) = (candidate.frame, candidate.weight);
            let place = frames.len() - 1 - index.of(frame)?;
            *phantoms.get_mut(place)? = candidate.phantom;
            Some(Edge {
                frame,
                place,
                bit: 0,
                weight,
                late: weight * candidate.overtaken,
                left: 1.0,
            })
        };
        let edges: Vec<Edge> = of_open.iter().filter_map(&mut edge).collect();
        let one = **of_open.first()?;
        let turn = TrellisColumn {
            open: one.open,
            lost: one.lost,
            base: edges.last()?.place,
            shift: 0,
            is_ordered: one.is_ordered,
            edges,
        };
        turns.push((turn, one.sent_ns));
    }
    turns.sort_by_key(|(turn, sent_ns)| (Reverse(*sent_ns), Reverse(turn.open)));
    let mut turns: Vec<TrellisColumn> = turns.into_iter().map(|(turn, _)| turn).collect();
    set_bases(&mut turns, frames.len())?;
    set_prospects(&mut turns, phantoms);
    Some(turns)
}

/// Says from which frame on each turn and all later ones take theirs; `None` if one takes too many.
fn set_bases(turns: &mut [TrellisColumn], n_frames: usize) -> Option<()> {
    let mut base = n_frames;
    for turn in turns.iter_mut().rev() {
        let next_base = base;
        base = base.min(turn.base);
        (turn.base, turn.shift) = (base, next_base - base);
        if turn.edges.first()?.place - base >= MOST_FRAMES {
            return None;
        }
        for edge in &mut turn.edges {
            edge.bit = 1 << (edge.place - base);
        }
    }
    Some(())
}

/// Puts weights in proportion to what a free frame can become at best, from the last turn back: at first
/// what it weighs as a phantom, per place.
fn set_prospects(turns: &mut [TrellisColumn], mut prospects: Vec<f64>) {
    /// Nothing is impossible, so that quotients are numbers.
    const LEAST: f64 = 1e-150;
    for turn in turns.iter_mut().rev() {
        for edge in &mut turn.edges {
            let Some(prospect) = prospects.get_mut(edge.place) else {
                continue;
            };
            let after = prospect.max(LEAST);
            *prospect = after.max(edge.weight);
            edge.left = after / *prospect;
            edge.weight /= after;
            edge.late /= after;
        }
        turn.edges.sort_by(|a, b| b.weight.total_cmp(&a.weight));
    }
}

/// Where among the frames of a component, which are in order, each is; cheap near the one asked for last.
pub(crate) struct FrameIndex<'a> {
    frames: &'a [usize],
    at: usize,
}

impl<'a> FrameIndex<'a> {
    pub(crate) fn new(frames: &'a [usize]) -> Self {
        Self { frames, at: 0 }
    }

    pub(crate) fn of(&mut self, frame: usize) -> Option<usize> {
        let is_before = |at: usize| self.frames.get(at).is_some_and(|one| *one < frame);
        let (mut from, mut to, mut step) = (self.at, self.at, 1);
        while from > 0 && !is_before(from - 1) {
            from = from.saturating_sub(step);
            step *= 2;
        }
        while is_before(to) {
            to = (to + step).min(self.frames.len());
            step *= 2;
        }
        let between = self.frames.get(from..to)?;
        self.at = from + between.partition_point(|one| *one < frame);
        (self.frames.get(self.at) == Some(&frame)).then_some(self.at)
    }
}

/// Which frames from a place on are taken, and, above these bits, which of them by what is known to be sent
/// later.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct TakenSet(u64);

impl TakenSet {
    #[inline]
    fn new(taken: u32, later: u32) -> Self {
        Self(u64::from(later) << 32 | u64::from(taken))
    }

    #[inline]
    fn taken(self) -> u32 {
        low_bits(self.0)
    }

    #[inline]
    fn later(self) -> u32 {
        low_bits(self.0 >> 32)
    }
}

/// With the weight of all ways to that.
type State = (TakenSet, f64);

/// What led to a state after a turn.
#[derive(Clone, Copy)]
struct Way {
    /// Of the weight of all that led there.
    share: f32,
    /// The state before the turn, and the one after it.
    from: u16,
    to: u16,
    /// Which edge was taken, or one that is not there.
    edge: u16,
}

const NO_EDGE: u16 = u16::MAX;
const FORGOTTEN: u16 = u16::MAX;

/// Where in a list of states each of them is.
struct StateIndex {
    /// With the number of the list that it is of.
    slots: Vec<(u32, u16, TakenSet)>,
    list: u32,
}

impl StateIndex {
    const N_BITS: u32 = 10;

    fn new() -> Self {
        Self {
            slots: vec![(0, 0, TakenSet::default()); 1 << Self::N_BITS],
            list: 0,
        }
    }

    /// Begins another list.
    fn begin(&mut self) {
        self.list += 1;
    }

    /// The place of a state, which is `next` if it has none yet. There are fewer states than slots.
    #[inline]
    fn place_or(&mut self, taken: TakenSet, next: u16) -> u16 {
        const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;
        let last = (1 << Self::N_BITS) - 1;
        let mut at = low_bits(taken.0.wrapping_mul(SPREAD) >> (64 - Self::N_BITS)) as usize;
        while let Some(slot) = self.slots.get_mut(at) {
            if slot.0 != self.list {
                *slot = (self.list, next, taken);
            }
            if slot.2 == taken {
                return slot.1;
            }
            at = (at + 1) & last;
        }
        next
    }
}

/// The sum over all matchings, turn by turn.
pub(crate) struct Sum<'a> {
    turns: &'a [TrellisColumn],
    /// All ways, turn by turn, and where those of each turn end.
    ways: Vec<Way>,
    ends: Vec<usize>,
}

impl<'a> Sum<'a> {
    pub(crate) fn new(turns: &'a [TrellisColumn]) -> Self {
        Self {
            turns,
            ways: Vec::new(),
            ends: Vec::new(),
        }
    }

    /// Where each open trajectory goes on; `None` if there are too many ways to tell.
    pub(crate) fn shares(mut self, step: &mut NextStates) -> Option<Vec<Share>> {
        let mut states = vec![(TakenSet::default(), 1.0)];
        for turn in self.turns {
            step.take(turn, &states);
            step.keep_likely(&mut states, &mut self.ways)?;
            self.ends.push(self.ways.len());
        }
        Some(self.backward())
    }

    /// Where each open trajectory goes on, from the last on: what a state is worth came to it by its ways.
    fn backward(&self) -> Vec<Share> {
        let mut found = Vec::with_capacity(self.turns.len());
        // behind the last turn nothing is open, so that there is one state
        let (mut worth, mut before) = ([0.0; MOST_STATES], [0.0; MOST_STATES]);
        add(&mut worth, 0, 1.0);
        let end = |at: usize| self.ends.get(at).copied().unwrap_or(0);
        for (at, turn) in self.turns.iter().enumerate().rev() {
            let from = at.checked_sub(1).map_or(0, end);
            before.fill(0.0);
            let mut of_edge = vec![0.0; turn.edges.len()];
            for way in self.ways.get(from..end(at)).unwrap_or(&[]) {
                let of_state = worth.get(usize::from(way.to)).copied().unwrap_or(0.0);
                let likely = of_state * f64::from(way.share);
                add(&mut before, way.from, likely);
                add(&mut of_edge, way.edge, likely);
            }
            let frames = turn.edges.iter().map(|edge| edge.frame);
            found.push(Share {
                open: turn.open,
                of_frame: frames.zip(of_edge).collect(),
            });
            std::mem::swap(&mut worth, &mut before);
        }
        found
    }
}

#[inline]
fn add(sums: &mut [f64], at: u16, part: f64) {
    if let Some(sum) = sums.get_mut(usize::from(at)) {
        *sum += part;
    }
}

/// The states after a turn in the making.
pub(crate) struct NextStates {
    index: StateIndex,
    states: Vec<State>,
    /// With their weights; shares are not known yet.
    ways: Vec<(f64, Way)>,
    /// What beside the likeliest way is negligible.
    least: f64,
    /// Where states that are kept go, and what they weigh.
    places: Vec<(u16, f64)>,
}

impl Default for NextStates {
    fn default() -> Self {
        Self {
            index: StateIndex::new(),
            states: Vec::new(),
            ways: Vec::new(),
            least: 0.0,
            places: Vec::new(),
        }
    }
}

impl NextStates {
    /// Most states, before those that are not likely are forgotten.
    const MOST: usize = 4 * MOST_STATES;

    /// Takes all ways that are not negligible from the states before a turn.
    fn take(&mut self, turn: &TrellisColumn, before: &[State]) {
        self.index.begin();
        self.states.clear();
        self.ways.clear();
        self.least = 0.0;
        for (from, (state, so_far)) in (0..).zip(before) {
            let left = so_far * turn.left(*state);
            self.add(left * turn.lost, turn.leave(*state), (from, NO_EDGE));
            for (index, edge) in (0..).zip(&turn.edges) {
                if self.is_negligible(left * edge.weight) {
                    break;
                }
                if state.taken() & edge.bit == 0 {
                    let (taken, weight) = turn.taking(*state, edge);
                    self.add(left * weight, turn.leave(taken), (from, index));
                }
            }
        }
    }

    #[inline]
    fn is_negligible(&self, weight: f64) -> bool {
        weight <= self.least
    }

    /// Adds a way from a state by an edge.
    #[inline]
    fn add(&mut self, weight: f64, next: TakenSet, (from, edge): (u16, u16)) {
        if self.is_negligible(weight) || self.states.len() > Self::MOST {
            return;
        }
        self.least = self.least.max(NEGLIGIBLE * weight);
        let new = u16::try_from(self.states.len()).unwrap_or(FORGOTTEN);
        let to = self.index.place_or(next, new);
        match self.states.get_mut(usize::from(to)) {
            Some((_, sum)) => *sum += weight,
            None => self.states.push((next, weight)),
        }
        let share = 0.0;
        let way = Way {
            share,
            from,
            to,
            edge,
        };
        self.ways.push((weight, way));
    }

    /// Keeps the likely states, the likeliest of which has the weight 1, and the ways to them; `None` if
    /// there are too many.
    fn keep_likely(&mut self, kept: &mut Vec<State>, to: &mut Vec<Way>) -> Option<()> {
        let most = self.states.iter().map(|(_, weight)| *weight);
        let most = most.fold(0.0, f64::max);
        kept.clear();
        self.places.clear();
        for (taken, weight) in &self.states {
            let is_likely = *weight > NEGLIGIBLE * most;
            let place = u16::try_from(kept.len()).ok().filter(|_| is_likely);
            self.places.push((place.unwrap_or(FORGOTTEN), *weight));
            if is_likely {
                kept.push((*taken, weight / most));
            }
        }
        if kept.is_empty() || kept.len() > MOST_STATES {
            return None;
        }
        for (weight, way) in &self.ways {
            let Some((place, all)) = self.places.get(usize::from(way.to)) else {
                continue;
            };
            if *place != FORGOTTEN {
                let share = rounded(weight / all);
                to.push(Way {
                    share,
                    to: *place,
                    ..*way
                });
            }
        }
        Some(())
    }
}

impl TrellisColumn {
    /// By how much less a state weighs after this turn, if it takes no frame.
    #[inline]
    fn left(&self, state: TakenSet) -> f64 {
        let free = self
            .edges
            .iter()
            .filter(|edge| state.taken() & edge.bit == 0);
        free.map(|edge| edge.left).product()
    }

    /// A state with the frame of an edge taken too, and what that weighs.
    #[inline]
    fn taking(&self, state: TakenSet, edge: &Edge) -> (TakenSet, f64) {
        let (taken, later) = (state.taken() | edge.bit, state.later());
        if !self.is_ordered {
            return (TakenSet::new(taken, later), edge.weight);
        }
        let weight = if later > edge.bit {
            edge.late
        } else {
            edge.weight
        };
        (TakenSet::new(taken, later | edge.bit), weight)
    }

    /// Leaves the frames before the next turn's.
    #[inline]
    fn leave(&self, state: TakenSet) -> TakenSet {
        let behind = |bits: u32| match u32::try_from(self.shift) {
            Ok(shift) => bits.checked_shr(shift).unwrap_or(0),
            Err(_) => 0,
        };
        TakenSet::new(behind(state.taken()), behind(state.later()))
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

#[inline]
#[expect(
    clippy::cast_possible_truncation,
    reason = "the rest is another number"
)]
const fn low_bits(bits: u64) -> u32 {
    bits as u32
}

#[expect(clippy::cast_possible_truncation, reason = "a share needs few digits")]
const fn rounded(share: f64) -> f32 {
    share as f32
}
