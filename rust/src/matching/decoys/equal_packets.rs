//! All observations of one identity that came more than once, and the packets that were made of them.

use crate::base::hash::mixed;
use crate::matching::decoys::ONE_IN;
use crate::matching::decoys::seen_by::{Missing, SeenBy};
use crate::matching::observation::{FrameId, Observation};
use crate::matching::resolve::copies::Folded;
use crate::plan::Direction;
use serde::{Deserialize, Serialize};

/// Draws identities that are the same in every run: by their first frames, whose order their keys, which
/// are others in every run, do not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Draw(pub(crate) u64);

impl Draw {
    pub(crate) fn of(observations: &[Observation]) -> Self {
        let first = observations.iter().map(|one| one.frame.packed()).min();
        Self(mixed(first.unwrap_or(0).unsigned_abs()))
    }
}

/// A packet among equal ones.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Member {
    /// The points that saw it, if it is told where it ended.
    seen: Option<SeenBy>,
    /// Point and frame of each observation, sender to receiver.
    pub(crate) way: Vec<(u16, FrameId)>,
    /// Its frames, and copies of these, with their places on its way.
    pub(crate) frames: Vec<(FrameId, usize)>,
    pub(crate) is_complete: bool,
    /// Points that are taken out in this turn.
    pub(crate) without: u128,
}

/// See above.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct EqualPackets {
    pub(crate) observations: Vec<Observation>,
    pub(crate) direction: Direction,
    /// How often identities like this one were known to come again before it.
    pub(crate) recurring: Option<f64>,
    pub(crate) members: Vec<Member>,
}

impl EqualPackets {
    pub(crate) fn new() -> Self {
        Self {
            observations: Vec::new(),
            direction: Direction::Forward,
            recurring: None,
            members: Vec::new(),
        }
    }

    /// Takes a packet that was made of some of them.
    pub(crate) fn note(
        &mut self,
        observations: &[Observation],
        direction: Direction,
        folded: &Folded,
        seen: Option<SeenBy>,
    ) {
        self.direction = direction;
        let mut frames = Vec::new();
        for (at, observation) in observations.iter().enumerate() {
            let copies = folded.copies_of(observation).map(|copy| copy.frame);
            let all = std::iter::once(observation.frame).chain(copies);
            frames.extend(all.map(|frame| (frame, at)));
        }
        let way = observations.iter().map(|one| (one.point, one.frame));
        self.members.push(Member {
            seen,
            way: way.collect(),
            frames,
            is_complete: false,
            without: 0,
        });
    }

    pub(crate) fn seen(&self) -> impl Iterator<Item = &SeenBy> {
        self.members.iter().filter_map(|one| one.seen.as_ref())
    }

    /// Says which packets are complete; false if none is.
    pub(crate) fn has_complete(&mut self, missing: &Missing) -> bool {
        for member in &mut self.members {
            let seen = member.seen.as_ref();
            member.is_complete = seen.is_some_and(|seen| missing.is_complete(seen));
        }
        self.members.iter().any(|one| one.is_complete)
    }

    /// Takes observations out of some packets, as points miss them.
    pub(crate) fn take_out(&mut self, draw: Draw, missing: &Missing, turn: u64) {
        for (index, member) in (0_u64..).zip(&mut self.members) {
            let chance = mixed(draw.0 ^ mixed(turn << 32 ^ index));
            member.without = 0;
            if member.is_complete && chance.is_multiple_of(ONE_IN) {
                member.without = missing.drawn(self.direction, mixed(chance));
            }
        }
    }

    /// Which packet each frame is of, by frame.
    pub(crate) fn of_frames(&self) -> Vec<(FrameId, usize, usize)> {
        let of = |(index, member): (usize, &Member)| {
            let places = member.frames.iter();
            let places = places.map(move |(frame, at)| (*frame, index, *at));
            places.collect::<Vec<_>>()
        };
        let mut all: Vec<_> = self.members.iter().enumerate().flat_map(of).collect();
        all.sort_unstable();
        all
    }
}
