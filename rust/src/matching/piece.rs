//! What is decided of one identity, and who takes it.

use super::Sight;
use super::copies::Folded;
use crate::plan::Direction;

/// Takes what is decided.
pub(super) trait Sink {
    /// One packet, sender to receiver; a single sight was matched nowhere.
    fn trajectory(&mut self, sights: &[Sight], direction: Direction, folded: &Folded);
    /// The same, of a packet whose further way cannot be told: it is not lost.
    fn unfinished(&mut self, sights: &[Sight], direction: Direction, folded: &Folded);
    /// A sight that may belong to more than one packet and stands in no match.
    fn ambiguous(&mut self, sight: &Sight, direction: Direction, folded: &Folded);
    /// One of those whose way cannot be told was lost, and this one may stand for it.
    fn lost_untold(&mut self, _sights: &[Sight], _direction: Direction, _has_entered: bool) {}
}

/// A trajectory, or a part of one.
#[derive(Clone, Debug)]
pub(super) struct Piece {
    /// From the sender's side on.
    pub(super) sights: Vec<Sight>,
    /// Its first sight may continue more than one other piece.
    pub(super) has_doubtful_start: bool,
    /// Its last sight may be continued by more than one other.
    pub(super) has_doubtful_end: bool,
    /// Density of copies of an earlier sight where its first sight is.
    pub(super) copied: f64,
}

impl Piece {
    pub(super) fn new(sights: Vec<Sight>) -> Self {
        Self {
            sights,
            has_doubtful_start: false,
            has_doubtful_end: false,
            copied: 0.0,
        }
    }

    /// It lies where a copy of an earlier one would be, and nowhere else.
    pub(super) fn may_be_copy(&self) -> bool {
        self.copied > 0.0 && self.sights.len() == 1
    }

    /// Says what became of the packet.
    pub(super) fn hand_to(&self, sink: &mut dyn Sink, direction: Direction, folded: &Folded) {
        match self.sights.as_slice() {
            [alone] if self.has_doubtful_start || self.has_doubtful_end => {
                sink.ambiguous(alone, direction, folded);
            }
            sights if self.has_doubtful_end => sink.unfinished(sights, direction, folded),
            // a copy that was not told goes nowhere, and is lost nowhere
            sights if self.may_be_copy() => sink.unfinished(sights, direction, folded),
            sights => sink.trajectory(sights, direction, folded),
        }
    }
}
