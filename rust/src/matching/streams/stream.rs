//! One stream, one way: the pieces that are not decided yet, and those that others are told by.

use crate::matching::evidence::Evidence;
use crate::matching::streams::decide::Batch;
use crate::matching::streams::segment::StreamSegment;
use crate::matching::streams::{Fate, Said};
use crate::plan::{Along, Direction, Plan};

/// A pair is told by pairs that are so many times as far away as its own pieces may be.
const CONTEXT: i64 = 3;
/// Of a stream without a pause, so much is decided at once.
const PART: i64 = 4;
/// When the last word is said about a piece, in times of how far pieces of a pair may be apart.
pub(crate) const MOST_LAG: i64 = CONTEXT + PART + 3;

#[derive(Debug)]
pub(crate) struct Stream {
    pub(crate) direction: Direction,
    pieces: Vec<StreamSegment>,
    first_ns: i64,
    last_ns: i64,
    /// Everything before this is decided.
    done_ns: i64,
}

impl Stream {
    pub(crate) fn new(direction: Direction) -> Self {
        Self {
            direction,
            pieces: Vec::new(),
            first_ns: i64::MAX,
            last_ns: i64::MIN,
            done_ns: i64::MIN,
        }
    }

    pub(crate) fn hold(&mut self, piece: StreamSegment) {
        let at_ns = piece.at_ns();
        let last_ns = piece
            .observations
            .iter()
            .map(|observation| observation.aligned_ns)
            .max();
        self.first_ns = self.first_ns.min(at_ns);
        self.last_ns = self.last_ns.max(last_ns.unwrap_or(at_ns));
        self.pieces.push(piece);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    #[cfg(test)]
    pub(crate) fn n_held(&self) -> usize {
        self.pieces.len()
    }

    /// Decides what can be, if that is all, or enough of a stream without a pause.
    pub(crate) fn decide(
        &mut self,
        plan: &Plan,
        along: &Along,
        within_ns: i64,
        until_ns: i64,
        to: &mut dyn Said,
    ) {
        let is_over = until_ns == i64::MAX || self.last_ns < until_ns.saturating_sub(within_ns);
        let cut_ns = if is_over {
            i64::MAX
        } else {
            until_ns.saturating_sub(CONTEXT.saturating_mul(within_ns))
        };
        let part_ns = PART.saturating_mul(within_ns);
        if !is_over && self.first_ns > cut_ns.saturating_sub(part_ns) {
            return;
        }
        let mut batch = Batch {
            plan,
            along,
            direction: self.direction,
            within_ns,
            pieces: &mut self.pieces,
            told_ns: (cut_ns, self.done_ns),
        };
        batch.decide(to);
        self.tell(cut_ns, to);
        self.forget(cut_ns, within_ns);
    }

    /// Says what became of the pieces before the cut.
    fn tell(&mut self, cut_ns: i64, to: &mut dyn Said) {
        let decided = self.pieces.iter_mut();
        for piece in
            decided.filter(|one| !one.is_done && (cut_ns == i64::MAX || one.at_ns() < cut_ns))
        {
            let fate = Fate {
                status: piece.status(),
                lost: piece.lost(),
                untold_bytes: piece.untold_bytes(),
                has_entered: piece.found.has_entered,
            };
            if piece.found.is_doubtful {
                for observation in &mut piece.observations {
                    observation.evidence.add(Evidence::BYTES_TWICE);
                }
            }
            to.packet(&piece.observations, self.direction, &piece.folded, fate);
            piece.is_done = true;
        }
    }

    /// Keeps what is not decided, and what the rest is told by.
    fn forget(&mut self, cut_ns: i64, within_ns: i64) {
        if cut_ns == i64::MAX {
            self.pieces = Vec::new();
            return;
        }
        let context_ns = cut_ns.saturating_sub(CONTEXT.saturating_mul(within_ns));
        self.pieces
            .retain(|one| !one.is_done || one.at_ns() >= context_ns);
        self.done_ns = cut_ns;
        self.first_ns = i64::MAX;
        for piece in &mut self.pieces {
            piece.is_old = true;
            if !piece.is_done {
                self.first_ns = self.first_ns.min(piece.at_ns());
            }
        }
    }
}
