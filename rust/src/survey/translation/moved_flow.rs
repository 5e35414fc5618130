//! A flow here that seems to be another flow there, and those of them that are not followed.

use super::session::{Addresses, OVERLAP_NS, Session};
use super::translators::Translators;
use super::witness::Witness;
use crate::base::hash::fold;
use crate::base::hashed::{HashedMap, HashedSet};
use std::collections::BTreeMap;

/// Equal packets among which one from the same sender, or to the same receiver, is looked for.
const LOOKED_THROUGH: usize = 64;

/// A flow at one point, and the one that it may be at another.
#[derive(Clone, Copy, Debug)]
pub(super) struct MovedFlow {
    pub(super) places: [u16; 2],
    /// Of a packet at each.
    pub(super) addresses: [Addresses; 2],
    flows: [u64; 2],
    /// Packets that say so, and when the first and the last were seen.
    n: u64,
    span_ns: (i64, i64),
}

impl MovedFlow {
    pub(super) fn of(session: &Session) -> Self {
        let [here, there] = &session.sides;
        Self {
            places: [here.place, there.place],
            addresses: [here.addresses, there.addresses],
            flows: [here.tuple_hash, there.tuple_hash],
            n: session.n,
            span_ns: (here.first_ns, here.last_ns),
        }
    }

    /// Of a packet here, and one that is equal there.
    fn of_equal(here: &Witness, there: &Witness) -> Self {
        Self {
            places: [here.place, there.place],
            addresses: [here.addresses, there.addresses],
            flows: [here, there].map(|one| one.unaddressed.tuple_hash),
            n: 1,
            span_ns: (here.aligned_ns, here.aligned_ns),
        }
    }

    fn key(&self) -> ([u16; 2], u64) {
        let [here, _] = self.flows;
        (self.places, here)
    }

    fn add(&mut self, here: &Witness) {
        let (first_ns, last_ns) = self.span_ns;
        self.n += 1;
        self.span_ns = (first_ns.min(here.aligned_ns), last_ns.max(here.aligned_ns));
    }
}

/// Flows of which a packet is equal to those of several flows elsewhere: which is which does not show.
#[derive(Debug, Default)]
pub(super) struct AlikeFlows(HashedMap<MovedFlow>);

impl AlikeFlows {
    /// Equal packets of several flows here, and of others there; `most` flows are kept.
    pub(super) fn note<'a>(
        &mut self,
        all: impl Iterator<Item = &'a Witness>,
        others: &[Witness],
        most: usize,
    ) {
        let Some(other) = others.first() else { return };
        for here in all {
            let places = u64::from(here.place) << 16 | u64::from(other.place);
            let key = fold(places, here.unaddressed.tuple_hash);
            if let Some(of_flow) = self.0.get_mut(&key) {
                of_flow.add(here);
            } else if self.0.len() < most {
                let mut some = others.iter().take(LOOKED_THROUGH);
                let there = some.find(|one| has_end_of(here, one)).unwrap_or(other);
                self.0.insert(key, MovedFlow::of_equal(here, there));
            }
        }
    }
}

/// Whether two packets are from one sender, or to one receiver.
fn has_end_of(one: &Witness, other: &Witness) -> bool {
    one.addresses.src == other.addresses.src || one.addresses.dst == other.addresses.dst
}

/// What is followed.
struct Followed {
    /// Flows here and there, between any points.
    flows: HashedSet,
    /// By flow here, when.
    spans_ns: HashedMap<Vec<(i64, i64)>>,
}

impl Followed {
    fn of(accepted: &[Session]) -> Self {
        let mut spans_ns: HashedMap<Vec<_>> = HashedMap::default();
        let mut flows = HashedSet::default();
        for one in accepted.iter().map(MovedFlow::of) {
            let [here, there] = one.flows;
            flows.insert(fold(here, there));
            spans_ns.entry(here).or_default().push(one.span_ns);
        }
        Self { flows, spans_ns }
    }

    /// Whether a flow is followed: to that one, at any time, or else to another at the same time.
    fn has(&self, one: &MovedFlow) -> bool {
        let [here, there] = one.flows;
        let (first_ns, last_ns) = one.span_ns;
        let is_beside = |(from_ns, until_ns): &(i64, i64)| {
            first_ns <= until_ns.saturating_add(OVERLAP_NS)
                && *from_ns <= last_ns.saturating_add(OVERLAP_NS)
        };
        let spans_ns = self.spans_ns.get(&here).into_iter().flatten();
        self.flows.contains(&fold(here, there)) || spans_ns.into_iter().any(is_beside)
    }
}

/// Packets that seem to have passed a translator, and of which it does not show which flow they are of there: too few of
/// a flow, or equal ones of several. Between two points, at most.
pub(super) fn n_not_followed(all: &[Session], alike: &AlikeFlows, accepted: &[Session]) -> u64 {
    let (translators, followed) = (Translators::of(accepted), Followed::of(accepted));
    let is_left = |one: &MovedFlow| !followed.has(one) && translators.explain(one, 1);
    let few = all.iter().filter(|one| !one.is_shifted());
    let few = few.map(|one| (MovedFlow::of(one), [one.n, 0]));
    let alike = alike.0.values().map(|one| (*one, [0, one.n]));
    // the same packets may say so twice
    let mut n_of_flow: BTreeMap<([u16; 2], u64), [u64; 2]> = BTreeMap::new();
    for (one, [few, alike]) in few.chain(alike).filter(|(one, _)| is_left(one)) {
        let [n_few, n_alike] = n_of_flow.entry(one.key()).or_default();
        (*n_few, *n_alike) = (*n_few + few, *n_alike + alike);
    }
    let mut n_of_places: BTreeMap<[u16; 2], u64> = BTreeMap::new();
    for ((places, _), [few, alike]) in n_of_flow {
        *n_of_places.entry(places).or_default() += few.max(alike);
    }
    n_of_places.into_values().max().unwrap_or(0)
}
