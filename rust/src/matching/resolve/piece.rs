//! What is decided of one identity, and who takes it.

use crate::matching::counts::undecided::UndecidedTally;
use crate::matching::observation::Observation;
use crate::matching::resolve::copies::Folded;
use crate::plan::{Direction, LinkCrossing};

/// Takes what is decided.
pub(crate) trait Sink {
    /// Before observations of one identity are decided that go one way, or nobody knows which.
    fn begin(&mut self, _observations: &[Observation]) {}
    /// After that, and how often identities like theirs were known to come again before.
    fn finish(&mut self, _observations: &[Observation], _recurring: Option<f64>) {}
    /// One packet, sender to receiver; a single observation was matched nowhere.
    fn trajectory(&mut self, observations: &[Observation], direction: Direction, folded: &Folded);
    /// The same, of a packet whose further way cannot be told: it is not lost.
    fn unfinished(&mut self, observations: &[Observation], direction: Direction, folded: &Folded);
    /// An observation that may belong to more than one packet and stands in no match.
    fn ambiguous(&mut self, observation: &Observation, direction: Direction, folded: &Folded);
    /// One of those whose way cannot be told was lost, and this one may stand for it; where that is not
    /// certain, one may be.
    fn lost_untold(
        &mut self,
        _observations: &[Observation],
        _direction: Direction,
        (_has_entered, _is_certain): (bool, bool),
    ) {
    }
    /// Pairs of a segment of which it is not told which they are; `one` of them, if they go that way surely.
    fn undecided(
        &mut self,
        _crossing: LinkCrossing,
        _tally: UndecidedTally,
        _one: Option<&Observation>,
    ) {
    }
}

/// A trajectory, or a part of one.
#[derive(Clone, Debug)]
pub(crate) struct Piece {
    /// From the sender's side on.
    pub(crate) observations: Vec<Observation>,
    /// Its first observation may continue more than one other piece.
    pub(crate) has_doubtful_start: bool,
    /// Its last observation may be continued by more than one other.
    pub(crate) has_doubtful_end: bool,
    /// Density of copies of an earlier observation where its first observation is.
    pub(crate) copied: f64,
}

impl Piece {
    pub(crate) fn new(observations: Vec<Observation>) -> Self {
        Self {
            observations,
            has_doubtful_start: false,
            has_doubtful_end: false,
            copied: 0.0,
        }
    }

    /// Whether it is open what became of it after its end.
    pub(crate) fn is_open(&self) -> bool {
        self.has_doubtful_end || self.observations.len() == 1 && self.has_doubtful_start
    }

    /// It begins where a copy of an earlier one would.
    pub(crate) fn may_begin_as_copy(&self) -> bool {
        self.copied > 0.0
    }

    /// It lies where a copy of an earlier one would be, and nowhere else.
    pub(crate) fn may_be_copy(&self) -> bool {
        self.may_begin_as_copy() && self.observations.len() == 1
    }

    /// Says what became of the packet.
    pub(crate) fn hand_to(&self, sink: &mut dyn Sink, direction: Direction, folded: &Folded) {
        match self.observations.as_slice() {
            [alone] if self.has_doubtful_start || self.has_doubtful_end => {
                sink.ambiguous(alone, direction, folded);
            }
            observations if self.has_doubtful_end => {
                sink.unfinished(observations, direction, folded);
            }
            // a copy that was not told goes nowhere, and is lost nowhere
            observations if self.may_be_copy() => sink.unfinished(observations, direction, folded),
            observations => sink.trajectory(observations, direction, folded),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matching::testing::observation;

    /// What a sink was told, by points.
    #[derive(Debug, PartialEq, Eq)]
    enum Told {
        Trajectory(Vec<u16>),
        Unfinished(Vec<u16>),
        Ambiguous(u16),
    }

    impl Sink for Vec<Told> {
        fn trajectory(&mut self, observations: &[Observation], _: Direction, _: &Folded) {
            self.push(Told::Trajectory(points(observations)));
        }

        fn unfinished(&mut self, observations: &[Observation], _: Direction, _: &Folded) {
            self.push(Told::Unfinished(points(observations)));
        }

        fn ambiguous(&mut self, observation: &Observation, _: Direction, _: &Folded) {
            self.push(Told::Ambiguous(observation.point));
        }
    }

    fn points(observations: &[Observation]) -> Vec<u16> {
        observations.iter().map(|one| one.point).collect()
    }

    fn told(piece: &Piece) -> Told {
        let mut all = Vec::new();
        piece.hand_to(&mut all, Direction::Forward, &Folded::default());
        assert_eq!(all.len(), 1, "a piece is told once");
        all.remove(0)
    }

    fn piece(n_observations: u16) -> Piece {
        Piece::new(
            (0..n_observations)
                .map(|point| observation(1, point, 0))
                .collect(),
        )
    }

    #[test]
    fn what_may_be_a_copy_is_lost_nowhere() {
        let copied = |n_observations| Piece {
            copied: 1e-6,
            ..piece(n_observations)
        };
        assert_eq!(told(&piece(1)), Told::Trajectory(vec![0]));
        assert_eq!(told(&copied(1)), Told::Unfinished(vec![0]));
        // what goes on is a packet, wherever it began
        assert_eq!(told(&copied(2)), Told::Trajectory(vec![0, 1]));
    }

    #[test]
    fn what_ends_in_doubt_is_lost_nowhere() {
        let in_doubt = |n_observations, has_doubtful_start| Piece {
            has_doubtful_start,
            has_doubtful_end: !has_doubtful_start,
            copied: 1e-6,
            ..piece(n_observations)
        };
        assert_eq!(told(&in_doubt(1, true)), Told::Ambiguous(0));
        assert_eq!(told(&in_doubt(1, false)), Told::Ambiguous(0));
        assert_eq!(told(&in_doubt(2, true)), Told::Trajectory(vec![0, 1]));
        assert_eq!(told(&in_doubt(2, false)), Told::Unfinished(vec![0, 1]));
    }
}
