//! All evidence, by flow: which sessions are there, and which of them are believed.

use super::session::{ENOUGH, Session};
use super::witness::Witness;
use crate::base::hash::fold;
use crate::base::hashed::{HashedMap, HashedSet};

/// Sessions of one flow that are looked through for the one that goes on.
const RECENT: usize = 8;

/// What was seen of sessions beyond those that are kept.
#[derive(Clone, Copy, Debug)]
pub struct LeftOut {
    /// Packets that say so.
    pub n: u64,
    /// When the first was seen, by its capture's time.
    pub from_ns: i64,
}

/// All evidence.
#[derive(Debug, Default)]
pub(super) struct Sessions {
    /// So many are kept.
    most: usize,
    all: Vec<Session>,
    left_out: Option<LeftOut>,
    /// By both points and one side's flow.
    of_flow: HashedMap<Vec<u32>>,
    /// Flows whose numbers are shifted somewhere though their addresses stay.
    shifted: HashedSet,
}

impl Sessions {
    pub(super) fn of_at_most(most: usize) -> Self {
        Self {
            most,
            ..Self::default()
        }
    }

    /// What was seen beyond those that are kept.
    #[must_use]
    pub(super) fn left_out(&self) -> Option<LeftOut> {
        self.left_out
    }

    /// Whether it is worth knowing where this flow passes as it is: on one side of a firewall that
    /// shifts its numbers, addresses do not say which.
    #[must_use]
    pub(super) fn is_shifted(&self, flow: u64) -> bool {
        !self.shifted.is_empty() && self.shifted.contains(&flow)
    }

    /// One packet was this flow here and that flow there.
    pub(super) fn note(&mut self, here: &Witness, there: &Witness) {
        let places = u64::from(here.place) << 16 | u64::from(there.place);
        let near = fold(fold(places, 0), here.unaddressed.tuple_hash);
        let far = fold(fold(places, 1), there.unaddressed.tuple_hash);
        let found = self.going_on(near, here, there);
        let index = found.filter(|index| self.going_on(far, here, there) == Some(*index));
        let index = match index {
            Some(index) => index,
            None if self.all.len() >= self.most => return self.leave_out(here.t_ns),
            None => self.begin(near, far, here, there),
        };
        if let Some(session) = self.all.get_mut(index as usize) {
            session.add(here, there);
            if session.shifts_only() && session.n_keys >= ENOUGH {
                self.shifted.insert(here.unaddressed.tuple_hash);
            }
        }
    }

    fn leave_out(&mut self, t_ns: i64) {
        let first = LeftOut {
            n: 0,
            from_ns: t_ns,
        };
        self.left_out.get_or_insert(first).n += 1;
    }

    /// The session of these two flows, unless another one of this flow is evident since.
    fn going_on(&self, flow: u64, here: &Witness, there: &Witness) -> Option<u32> {
        let recent = self.of_flow.get(&flow)?.iter().rev().take(RECENT);
        for index in recent {
            let session = self.all.get(*index as usize)?;
            let [near, far] = &session.sides;
            let is_same = (near.tuple_hash, far.tuple_hash)
                == (here.unaddressed.tuple_hash, there.unaddressed.tuple_hash);
            if is_same && session.agrees(here, there) {
                return Some(*index);
            }
            if session.n_keys >= ENOUGH {
                return None;
            }
        }
        None
    }

    fn begin(&mut self, near: u64, far: u64, here: &Witness, there: &Witness) -> u32 {
        let index = u32::try_from(self.all.len()).unwrap_or(u32::MAX);
        self.all.push(Session::of(here, there));
        for flow in [near, far] {
            self.of_flow.entry(flow).or_default().push(index);
        }
        index
    }

    /// Those that are evident, and the best at their time for both of their flows.
    pub(super) fn accepted(self) -> Vec<Session> {
        let is_unbeaten = |session: &Session, side| self.is_beaten(session, side) == Some(false);
        let kept = self.all.iter().filter(|session| {
            session.is_evident() && is_unbeaten(session, 0) && is_unbeaten(session, 1)
        });
        kept.cloned().collect()
    }

    /// Whether another session has the flow of one of its sides at the same time, and as much of it.
    fn is_beaten(&self, own: &Session, flow_of: usize) -> Option<bool> {
        let side = own.sides.get(flow_of)?;
        let [a, b] = &own.sides;
        let places = u64::from(a.place) << 16 | u64::from(b.place);
        let key = fold(fold(places, flow_of as u64), side.tuple_hash);
        let others = self.of_flow.get(&key)?.iter();
        let mut others = others.filter_map(|other| self.all.get(*other as usize));
        Some(others.any(|other| {
            !std::ptr::eq(own, other)
                && own.overlaps(other, flow_of)
                && other.n.saturating_mul(10) > own.n
                && !own.is_same(other)
        }))
    }
}
