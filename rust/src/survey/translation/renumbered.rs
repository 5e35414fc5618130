//! Flows that keep their addresses, and whose packets get other IP identifications on the way.

use super::session::{ENOUGH, MANY};
use super::sessions::LeftOut;
use super::witness::Witness;
use crate::base::hash::fold;
use crate::base::hashed::{HashedMap, HashedSet};
use std::collections::BTreeMap;

/// So many times as many packets must have another identification there as have the same.
const MOSTLY: u32 = 3;

/// Packets of one way of a flow between two points.
#[derive(Clone, Copy, Debug, Default)]
struct IdsSeen {
    tuple_hash: u64,
    way: usize,
    places: (u16, u16),
    n_new: u32,
    n_kept: u32,
}

impl IdsSeen {
    /// Between two points, and none yet.
    fn none(here: &Witness, there: &Witness) -> Self {
        Self {
            tuple_hash: here.unaddressed.tuple_hash,
            way: usize::from(here.unaddressed.toward),
            places: (here.place.min(there.place), here.place.max(there.place)),
            ..Self::default()
        }
    }

    fn places(&self) -> u64 {
        in_order(self.places.into())
    }

    /// Whether most have another identification there; or some, where repetitions do not explain them.
    fn is_new(&self, unexplained: &HashedSet) -> bool {
        match self.unsure() {
            None => self.n_new > 0,
            Some(unsure) => unexplained.contains(&unsure.key()),
        }
    }

    fn unsure(&self) -> Option<Unsure> {
        let is_mixed = self.n_new <= MOSTLY.saturating_mul(self.n_kept);
        let is_sure = self.n_new as usize >= ENOUGH && !is_mixed;
        (self.n_new > 0 && !is_sure).then_some(Unsure {
            places: self.places,
            is_mixed,
        })
    }
}

/// Two points between which some packets of a flow have another identification there: few, or fewer than keep theirs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unsure {
    pub(super) places: (u16, u16),
    pub(super) is_mixed: bool,
}

impl Unsure {
    pub(super) fn key(self) -> u64 {
        let (one, other) = self.places;
        in_order([one.min(other), one.max(other)]) << 1 | u64::from(self.is_mixed)
    }
}

/// All evidence, by flow, way and two points.
#[derive(Debug, Default)]
pub(super) struct Renumbered {
    most: usize,
    seen: HashedMap<IdsSeen>,
    /// By two points in order, how often the first saw both of two equal packets, and the second one of them.
    n_repeated: HashedMap<usize>,
    /// Packets with another identification there, of more flows than are kept.
    pub(super) left_out: Option<LeftOut>,
}

/// By flow, whether packets from the greater address, and from the smaller, keep theirs.
pub(super) type KeepsIpId = HashedMap<[bool; 2]>;

impl Renumbered {
    pub(super) fn of_at_most(most: usize) -> Self {
        Self {
            most,
            ..Self::default()
        }
    }

    /// One packet of a flow at two points, where the flow is the same.
    pub(super) fn note(&mut self, here: &Witness, there: &Witness) {
        let new = IdsSeen::none(here, there);
        let key = fold(new.tuple_hash ^ new.way as u64, new.places());
        let is_kept = here.unaddressed.ip_id == there.unaddressed.ip_id;
        if self.seen.len() >= self.most && !self.seen.contains_key(&key) {
            if !is_kept {
                LeftOut::note(&mut self.left_out, here.t_ns);
            }
            return;
        }
        let seen = self.seen.entry(key).or_insert(new);
        let n = if is_kept {
            &mut seen.n_kept
        } else {
            &mut seen.n_new
        };
        *n = n.saturating_add(1);
    }

    /// Two packets of equal content, of which one of two points saw both, or both points did.
    pub(super) fn note_repeated(&mut self, here: &Witness, there: &Witness, saw_both: [bool; 2]) {
        let places = match saw_both {
            [true, false] => [here.place, there.place],
            [false, true] => [there.place, here.place],
            _ => return,
        };
        *self.n_repeated.entry(in_order(places)).or_default() += 1;
    }

    /// Flows of which one way is renumbered between any two points.
    pub(super) fn flows(&self) -> KeepsIpId {
        let unsure = self.seen.values().filter_map(IdsSeen::unsure);
        let new = self.between_groups(&self.unexplained(unsure));
        let many = places_of_many(&new);
        let mut found = KeepsIpId::default();
        for one in new {
            let is_enough = one.n_new as usize >= ENOUGH || many.contains(&one.places());
            let keeps = found.entry(one.tuple_hash).or_insert([true; 2]);
            if let (true, Some(keeps)) = (is_enough, keeps.get_mut(one.way)) {
                *keeps = false;
            }
        }
        found.retain(|_, keeps| *keeps != [true; 2]);
        found
    }

    /// Where packets seem to be renumbered. Parallel points, of which each sees other packets of one
    /// content, share none: the points before and behind them tell that both see what was sent.
    fn between_groups(&self, unexplained: &HashedSet) -> Vec<&IdsSeen> {
        let mut of_way: HashedMap<Vec<&IdsSeen>> = HashedMap::default();
        for one in self.seen.values() {
            let way = fold(one.tuple_hash, one.way as u64);
            of_way.entry(way).or_default().push(one);
        }
        let mut found = Vec::new();
        for all in of_way.values() {
            let (new, mut kept): (Vec<&IdsSeen>, Vec<&IdsSeen>) =
                all.iter().partition(|one| one.is_new(unexplained));
            kept.retain(|one| one.n_kept > 0);
            let group_of = places_of_equal_ids(&kept);
            let group = |place: u16| group_of.get(&place).copied().unwrap_or(place);
            let is_between = |one: &&IdsSeen| group(one.places.0) != group(one.places.1);
            found.extend(new.into_iter().filter(is_between));
        }
        found
    }

    /// Those of which there are more between two points than repetitions explain. Of two equal packets each
    /// point may have seen another one; but then one of them saw both of others, and more often. If each packet is
    /// sent twice, so did either.
    pub(super) fn unexplained(&self, unsure: impl Iterator<Item = Unsure>) -> HashedSet {
        let mut counted: HashedMap<(Unsure, usize)> = HashedMap::default();
        for one in unsure {
            counted.entry(one.key()).or_insert((one, 0)).1 += 1;
        }
        let more = counted.into_iter();
        let more = more.filter(|(_, (one, n))| *n > self.n_explained(*one));
        more.map(|(key, _)| key).collect()
    }

    fn n_explained(&self, unsure: Unsure) -> usize {
        let (one, other) = unsure.places;
        let places = [[one, other], [other, one]];
        let [n, n_other] =
            places.map(|two| self.n_repeated.get(&in_order(two)).copied().unwrap_or(0));
        if unsure.is_mixed {
            n + n_other
        } else {
            n.min(n_other)
        }
    }
}

/// For points that see packets of one way of a flow under equal identifications, each of them and others
/// through others, the first of them.
fn places_of_equal_ids(kept: &[&IdsSeen]) -> BTreeMap<u16, u16> {
    let mut group_of = BTreeMap::new();
    for one in kept {
        let (here, there) = one.places;
        let first = *group_of.entry(here).or_insert(here);
        let second = *group_of.entry(there).or_insert(there);
        let (least, most) = (first.min(second), first.max(second));
        let joined = group_of.values_mut().filter(|group| **group == most);
        joined.for_each(|group| *group = least);
    }
    group_of
}

fn in_order([one, other]: [u16; 2]) -> u64 {
    u64::from(one) << 16 | u64::from(other)
}

/// Every two points between which many flows seem to be renumbered.
fn places_of_many(new: &[&IdsSeen]) -> HashedSet {
    let mut n_of_places: HashedMap<usize> = HashedMap::default();
    for one in new {
        *n_of_places.entry(one.places()).or_default() += 1;
    }
    let many = n_of_places.iter().filter(|(_, n)| **n >= MANY);
    many.map(|(places, _)| *places).collect()
}
