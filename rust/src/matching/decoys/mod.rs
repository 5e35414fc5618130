//! How many pairs are false: equal packets are matched again after observations of some were taken out, as
//! points miss them. What then pairs is known to be two packets (docs/method/match.md, false matches).
//!
//! What is matched again is drawn by frame numbers, when all else is decided: whatever else a run does at
//! the same time, or with which seed, it is the same.

mod equal_packets;
pub(crate) mod seen_by;
pub mod triangle;

use crate::matching::decoys::equal_packets::{Draw, EqualPackets};
use crate::matching::decoys::seen_by::{Missing, SeenBy, SeenSample};
use crate::matching::decoys::triangle::{Closed, Three, Triangle};
use crate::matching::observation::{FrameId, Observation};
use crate::matching::resolve::Resolver;
use crate::matching::resolve::copies::Folded;
use crate::matching::resolve::density::points_are_distinct;
use crate::matching::resolve::piece::Sink;
use crate::plan::{Direction, Plan, Topology};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Times that the observations of an identity are matched again: all of them, or, of so many that they
/// tell as much at once, fewer, which count for more.
pub const N_ROUNDS: u64 = 8;
/// So many observations of one identity are matched again in all rounds.
const FEW: usize = 64;
/// One in so many packets is taken to be incomplete.
pub const ONE_IN: u64 = 2;
/// Observations that are matched again: of so many, and of one identity more.
const MOST: usize = 50_000;
/// Longer runs of one identity are left out.
const LONGEST: usize = 4096;

/// What is known of a packet of which a false pair took an observation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Completeness {
    /// It was incomplete by itself, or it is not known.
    Natural,
    /// Observations of it were taken out.
    Cut,
    /// All its observations were there.
    Whole,
}

/// False pairs of two points by what their packets were; no kind is that of two natural ones.
pub type FalsePairs = [u64; 5];

/// What was found out about false pairs.
#[derive(Debug, Default)]
pub struct DecoyCounts {
    /// Upstream and downstream point, direction → false pairs, see [`kind_of`].
    pub false_pairs: BTreeMap<(u16, u16, usize), FalsePairs>,
    /// Pairs in all.
    pub n_pairs: u64,
    /// Per direction: packets, and those that are incomplete.
    pub packets: [(u64, u64); 2],
    /// Observations of identities that were seen more than once, and those of them that were tried.
    pub n_eligible: u64,
    /// See `n_eligible`.
    pub n_tried: u64,
    /// Identities in which there was a false pair.
    pub n_hit: u64,
    /// Whether three points agree.
    pub closed: BTreeMap<Three, Closed>,
}

impl DecoyCounts {
    fn n_false(&self) -> u64 {
        self.false_pairs.values().flatten().sum()
    }
}

/// What is known of decoys before the end, of one partition or of several.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct DecoySample {
    n_pairs: u64,
    n_eligible: u64,
    sample: SeenSample,
    /// The identities that are drawn first, as many as are matched again.
    kept: BTreeMap<Draw, EqualPackets>,
    n_kept: usize,
}

/// The decoys of one partition in the making.
pub(crate) struct Decoys {
    plan: Arc<Plan>,
    topology: Topology,
    gathered: DecoySample,
    /// The identity that is decided at present, if it may be one of these.
    present: Option<(Draw, EqualPackets)>,
}

impl Decoys {
    pub(crate) fn new(plan: &Arc<Plan>) -> Self {
        Self {
            topology: Topology::new(plan),
            plan: Arc::clone(plan),
            gathered: DecoySample::default(),
            present: None,
        }
    }

    /// Before the observations of an identity are decided.
    pub(crate) fn begin(&mut self, observations: &[Observation]) {
        self.present = None;
        if points_are_distinct(observations) {
            return;
        }
        self.gathered.n_eligible += observations.len() as u64;
        let draw = Draw::of(observations);
        if observations.len() <= LONGEST && self.gathered.takes(draw) {
            self.present = Some((draw, EqualPackets::new()));
        }
    }

    /// What was decided, and whether it is told where the packet ended.
    pub(crate) fn note(
        &mut self,
        observations: &[Observation],
        direction: Direction,
        folded: &Folded,
        is_told: bool,
    ) {
        self.gathered.n_pairs += observations.len().saturating_sub(1) as u64;
        let Some(first) = observations.first() else {
            return;
        };
        let (plan, topology) = (&self.plan, &self.topology);
        let seen = || SeenBy::of(plan, topology, observations, direction);
        if is_told {
            self.gathered.sample.take(first, seen);
        }
        if let Some((_, present)) = &mut self.present {
            let seen = is_told.then(seen).flatten();
            present.note(observations, direction, folded, seen);
        }
    }

    /// After they are decided; with how often identities like theirs were known to come again before.
    pub(crate) fn finish(&mut self, observations: &[Observation], recurring: Option<f64>) {
        let Some((draw, mut present)) = self.present.take() else {
            return;
        };
        if !present.members.is_empty() {
            present.observations = observations.to_vec();
            present.recurring = recurring;
            self.gathered.keep(draw, present);
        }
    }

    /// What was gathered.
    pub(crate) fn into_sample(self) -> DecoySample {
        self.gathered
    }
}

impl DecoySample {
    fn takes(&self, draw: Draw) -> bool {
        let last = self.kept.last_key_value().filter(|_| self.n_kept >= MOST);
        last.is_none_or(|(last, _)| draw < *last)
    }

    fn keep(&mut self, draw: Draw, one: EqualPackets) {
        self.n_kept += one.observations.len();
        self.kept.insert(draw, one);
        while let Some(last) = self.kept.last_entry()
            && self.n_kept - last.get().observations.len() >= MOST
        {
            self.n_kept -= last.remove().observations.len();
        }
    }

    /// Adds those of another partition.
    pub(crate) fn join(&mut self, other: Self) {
        self.n_pairs += other.n_pairs;
        self.n_eligible += other.n_eligible;
        self.sample.join(other.sample);
        for (draw, one) in other.kept {
            self.keep(draw, one);
        }
    }

    /// Matches them again, and says what was found.
    pub(crate) fn settle(mut self, plan: &Plan, resolver: &mut Resolver) -> DecoyCounts {
        self.sample.put_in_order();
        let seen = self.kept.values().flat_map(EqualPackets::seen);
        let missing = Missing::of(plan, &self.sample, seen);
        let mut found = DecoyCounts {
            n_pairs: self.n_pairs,
            n_eligible: self.n_eligible,
            packets: missing.n_packets(),
            ..DecoyCounts::default()
        };
        for (draw, mut one) in self.kept {
            Triangle::of(&one).check(resolver, draw, &one, &mut found.closed);
            if one.has_complete(&missing) {
                found.n_tried += one.observations.len() as u64;
                let is_hit = match_again(resolver, draw, &mut one, &missing, &mut found);
                found.n_hit += u64::from(is_hit);
            }
        }
        found
    }
}

/// Matches equal packets again in all rounds; true if there was a false pair.
fn match_again(
    resolver: &mut Resolver,
    draw: Draw,
    one: &mut EqualPackets,
    missing: &Missing,
    found: &mut DecoyCounts,
) -> bool {
    let of_frames = one.of_frames();
    let n_before: u64 = found.n_false();
    let n_counted = (one.observations.len().div_ceil(FEW) as u64).next_power_of_two();
    let n_counted = n_counted.min(N_ROUNDS);
    for turn in 0..N_ROUNDS / n_counted {
        one.take_out(draw, missing, turn);
        let mut taken = Retaken {
            packets: one,
            of_frames: &of_frames,
            n_counted,
            found,
        };
        let left = one.observations.iter().filter(|seen| !taken.is_out(seen));
        let mut left: Vec<Observation> = left.copied().collect();
        resolver.match_again(&mut left, (one.direction, one.recurring), &mut taken);
    }
    found.n_false() > n_before
}

/// The place of a kind of false pair in [`FalsePairs`].
fn kind_of(one: Completeness, other: Completeness) -> Option<usize> {
    match (one.min(other), one.max(other)) {
        (Completeness::Natural, Completeness::Natural) => None,
        (Completeness::Natural, Completeness::Cut) => Some(0),
        (Completeness::Cut, Completeness::Cut) => Some(1),
        (Completeness::Natural, _) => Some(2),
        (Completeness::Cut, _) => Some(3),
        (Completeness::Whole, _) => Some(4),
    }
}

/// Counts the false pairs of one turn.
struct Retaken<'a> {
    packets: &'a EqualPackets,
    of_frames: &'a [(FrameId, usize, usize)],
    /// For so many rounds this one counts.
    n_counted: u64,
    found: &'a mut DecoyCounts,
}

impl Retaken<'_> {
    fn member_of(&self, observation: &Observation) -> Option<usize> {
        let frame = observation.frame;
        let at = self.of_frames.partition_point(|(one, ..)| *one < frame);
        let found = self.of_frames.get(at).filter(|(one, ..)| *one == frame);
        found.map(|(_, member, _)| *member)
    }

    fn is_out(&self, observation: &Observation) -> bool {
        let member = self.member_of(observation);
        let member = member.and_then(|at| self.packets.members.get(at));
        member.is_some_and(|one| one.without >> (observation.point % 128) & 1 == 1)
    }

    fn part_of(&self, member: Option<usize>) -> Completeness {
        match member.and_then(|at| self.packets.members.get(at)) {
            Some(one) if one.is_complete && one.without != 0 => Completeness::Cut,
            Some(one) if one.is_complete => Completeness::Whole,
            _ => Completeness::Natural,
        }
    }
}

impl Sink for Retaken<'_> {
    fn trajectory(&mut self, observations: &[Observation], direction: Direction, _: &Folded) {
        for two in observations.windows(2) {
            let [up, down] = two else { continue };
            let members = [up, down].map(|one| self.member_of(one));
            if members[0] == members[1] {
                continue;
            }
            let [one, other] = members.map(|one| self.part_of(one));
            let Some(kind) = kind_of(one, other) else {
                continue;
            };
            let ends = (up.point, down.point, direction.index());
            let pairs = self.found.false_pairs.entry(ends).or_default();
            let pairs = pairs.iter_mut().skip(kind).take(1);
            pairs.for_each(|n| *n += self.n_counted);
        }
    }

    fn unfinished(&mut self, observations: &[Observation], direction: Direction, folded: &Folded) {
        self.trajectory(observations, direction, folded);
    }

    fn ambiguous(&mut self, _: &Observation, _: Direction, _: &Folded) {}
}
