//! How many pairs are false: equal packets are matched again after observations of some were taken out, as
//! points miss them. What then pairs is known to be two packets (docs/stages/match.md, false matches).

pub(crate) mod seen_by;
pub mod triangle;

use crate::base::hash::mixed;
use crate::matching::decoys::seen_by::Missing;
use crate::matching::decoys::triangle::{Closed, Three, Triangle};
use crate::matching::observation::Observation;
use crate::matching::resolve::Resolver;
use crate::matching::resolve::copies::Folded;
use crate::matching::resolve::density::points_are_distinct;
use crate::matching::resolve::piece::Sink;
use crate::plan::{Direction, Plan};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Times that the observations of an identity are matched again.
pub const N_ROUNDS: u64 = 8;
/// One in so many packets is taken to be incomplete.
pub const ONE_IN: u64 = 2;
/// Decoys take at most one in so many of all observations,
const COST: u64 = 8;
/// but for so many, which cost nothing.
const FREE_SIGHTS: u64 = 200_000;
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
    pub(crate) fn merge(&mut self, other: Self) {
        for (ends, pairs) in other.false_pairs {
            let total = self.false_pairs.entry(ends).or_default();
            total.iter_mut().zip(pairs).for_each(|(n, more)| *n += more);
        }
        for (total, one) in self.packets.iter_mut().zip(other.packets) {
            (total.0, total.1) = (total.0 + one.0, total.1 + one.1);
        }
        self.n_pairs += other.n_pairs;
        self.n_eligible += other.n_eligible;
        self.n_tried += other.n_tried;
        self.n_hit += other.n_hit;
        for (three, closed) in other.closed {
            self.closed.entry(three).or_default().merge(closed);
        }
    }
}

/// A packet among equal ones.
#[derive(Debug)]
struct Member {
    is_complete: bool,
    /// Points that are taken out in this turn.
    without: u128,
}

/// The decoys of one partition.
pub(crate) struct Decoys {
    plan: Arc<Plan>,
    missing: Missing,
    found: DecoyCounts,
    n_all: u64,
    is_wanted: bool,
    direction: Direction,
    members: Vec<Member>,
    /// Frames of known packets, and which.
    of_frame: Vec<(i64, usize)>,
    closure: Triangle,
}

impl Decoys {
    pub(crate) fn new(plan: &Arc<Plan>) -> Self {
        Self {
            plan: Arc::clone(plan),
            missing: Missing::new(plan),
            found: DecoyCounts::default(),
            n_all: 0,
            is_wanted: false,
            direction: Direction::Forward,
            members: Vec::new(),
            of_frame: Vec::new(),
            closure: Triangle::default(),
        }
    }

    /// Before the observations of an identity are decided.
    pub(crate) fn begin(&mut self, observations: &[Observation]) {
        self.n_all += observations.len() as u64;
        self.is_wanted = false;
        if points_are_distinct(observations) {
            return;
        }
        self.found.n_eligible += observations.len() as u64;
        let n_matched_again = self.found.n_tried * N_ROUNDS;
        let may_cost = FREE_SIGHTS.max(self.n_all / COST);
        self.is_wanted = observations.len() <= LONGEST && n_matched_again < may_cost;
        self.members.clear();
        self.of_frame.clear();
        self.closure.begin();
    }

    /// What was decided, and whether it is told where the packet ended.
    pub(crate) fn note(
        &mut self,
        observations: &[Observation],
        direction: Direction,
        folded: &Folded,
        is_told: bool,
    ) {
        let is_complete = is_told
            && self
                .missing
                .note(&self.plan, observations, direction, self.is_wanted);
        self.found.n_pairs += observations.len().saturating_sub(1) as u64;
        if !self.is_wanted {
            return;
        }
        self.direction = direction;
        self.closure.note(observations, folded);
        for observation in observations {
            let frames = [observation.frame.packed()].into_iter();
            let copies = folded
                .copies_of(observation)
                .map(|copy| copy.frame.packed());
            let of_packet = frames
                .chain(copies)
                .map(|frame| (frame, self.members.len()));
            self.of_frame.extend(of_packet);
        }
        self.members.push(Member {
            is_complete,
            without: 0,
        });
    }

    /// After they are decided: matches them again.
    pub(crate) fn finish(&mut self, resolver: &mut Resolver, observations: &[Observation]) {
        if !self.is_wanted {
            return;
        }
        self.closure.finish(resolver, observations, self.direction);
        if !self.members.iter().any(|one| one.is_complete) {
            return;
        }
        self.found.n_tried += observations.len() as u64;
        self.of_frame.sort_unstable();
        let mut is_hit = false;
        let drawn = drawn(observations);
        for turn in 0..N_ROUNDS {
            self.take_out(drawn, turn);
            let mut left: Vec<Observation> = observations
                .iter()
                .filter(|one| !self.is_out(one))
                .copied()
                .collect();
            let direction = self.direction;
            let mut taken = Retaken {
                decoys: self,
                n_false: 0,
            };
            resolver.match_again(&mut left, direction, &mut taken);
            is_hit |= taken.n_false > 0;
        }
        self.found.n_hit += u64::from(is_hit);
    }

    pub(crate) fn harvest(mut self) -> DecoyCounts {
        self.found.packets = self.missing.n_packets();
        self.found.closed = self.closure.harvest();
        self.found
    }

    /// Takes observations out of some packets, as points miss them.
    fn take_out(&mut self, drawn: u64, turn: u64) {
        let Self {
            missing, members, ..
        } = self;
        for (index, member) in (0_u64..).zip(members.iter_mut()) {
            let chance = mixed(drawn ^ mixed(turn << 32 ^ index));
            member.without = 0;
            if member.is_complete && chance.is_multiple_of(ONE_IN) {
                member.without = missing.drawn(self.direction, mixed(chance));
            }
        }
    }

    fn member_of(&self, observation: &Observation) -> Option<usize> {
        let frame = observation.frame.packed();
        let at = self.of_frame.partition_point(|(one, _)| *one < frame);
        let found = self.of_frame.get(at).filter(|(one, _)| *one == frame);
        found.map(|(_, member)| *member)
    }

    fn is_out(&self, observation: &Observation) -> bool {
        let member = self
            .member_of(observation)
            .and_then(|at| self.members.get(at));
        member.is_some_and(|one| one.without >> (observation.point % 128) & 1 == 1)
    }

    fn part_of(&self, member: Option<usize>) -> Completeness {
        match member.and_then(|at| self.members.get(at)) {
            Some(one) if one.is_complete && one.without != 0 => Completeness::Cut,
            Some(one) if one.is_complete => Completeness::Whole,
            _ => Completeness::Natural,
        }
    }
}

/// A number that is drawn for an identity, by its first frame: its key is another in every run.
fn drawn(observations: &[Observation]) -> u64 {
    let first = observations.iter().map(|one| one.frame.packed()).min();
    mixed(first.unwrap_or(0).unsigned_abs())
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
    decoys: &'a mut Decoys,
    n_false: u64,
}

impl Sink for Retaken<'_> {
    fn trajectory(&mut self, observations: &[Observation], direction: Direction, _: &Folded) {
        for two in observations.windows(2) {
            let [up, down] = two else { continue };
            let members = [up, down].map(|one| self.decoys.member_of(one));
            if members[0] == members[1] {
                continue;
            }
            let [one, other] = members.map(|one| self.decoys.part_of(one));
            let Some(kind) = kind_of(one, other) else {
                continue;
            };
            let ends = (up.point, down.point, direction.index());
            let pairs = self.decoys.found.false_pairs.entry(ends).or_default();
            pairs.iter_mut().skip(kind).take(1).for_each(|n| *n += 1);
            self.n_false += 1;
        }
    }

    fn unfinished(&mut self, observations: &[Observation], direction: Direction, folded: &Folded) {
        self.trajectory(observations, direction, folded);
    }

    fn ambiguous(&mut self, _: &Observation, _: Direction, _: &Folded) {}
}
