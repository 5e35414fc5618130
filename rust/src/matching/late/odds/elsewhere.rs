//! What else was seen of the packet ID of a leftover, and how long before or after.

use crate::matching::late::leftover::Leftover;
use std::iter::successors;

/// Leftovers of one packet ID that are asked about at most.
const MOST_OCCASIONS: usize = 128;

/// What was seen of a packet ID besides its leftovers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Others {
    #[default]
    Nothing,
    /// Leftovers of other occasions.
    Left,
    /// Packets that were decided.
    Decided,
    /// What cannot be told. A part that begins late may be of one of them.
    Untold,
}

/// The same, of a leftover that is asked about, and of further ones of its packet ID.
#[derive(Clone, Debug)]
pub(crate) struct Elsewhere {
    pub(crate) others: Others,
    /// When the leftover in question was seen, and how far from that the nearest of the others.
    aligned_ns: i64,
    pub(crate) nearest_ns: u64,
    /// The same of another leftover of this packet ID.
    next: Option<Box<Self>>,
}

impl Elsewhere {
    pub(crate) fn of(leftover: &Leftover) -> Self {
        Self {
            others: Others::Nothing,
            aligned_ns: leftover.first.aligned_ns,
            nearest_ns: u64::MAX,
            next: None,
        }
    }

    /// Asks about a further leftover.
    pub(crate) fn add(&mut self, leftover: &Leftover) {
        let mut at = self;
        for _ in 0..MOST_OCCASIONS {
            if at.aligned_ns == leftover.first.aligned_ns {
                return;
            }
            at = at.next.get_or_insert_with(|| Box::new(Self::of(leftover)));
        }
    }

    pub(crate) fn note(&mut self, aligned_ns: i64, others: Others) {
        let mut at = Some(self);
        while let Some(one) = at {
            one.others = others.max(one.others);
            let apart_ns = aligned_ns.abs_diff(one.aligned_ns);
            one.nearest_ns = apart_ns.min(one.nearest_ns);
            at = one.next.as_deref_mut();
        }
    }

    /// Takes leftovers of one occasion, which are others to those of all other occasions.
    pub(crate) fn note_left(&mut self, parts: &[Leftover]) {
        let seen_ns = || parts.iter().map(|part| part.first.aligned_ns);
        let mut at = Some(self);
        while let Some(one) = at {
            let apart_ns = seen_ns()
                .map(|seen_ns| seen_ns.abs_diff(one.aligned_ns))
                .min();
            if let Some(apart_ns) = apart_ns.filter(|apart_ns| *apart_ns > 0) {
                one.others = one.others.max(Others::Left);
                one.nearest_ns = apart_ns.min(one.nearest_ns);
            }
            at = one.next.as_deref_mut();
        }
    }

    /// What was asked about a leftover; of too many, about the first.
    pub(crate) fn of_leftover(&self, leftover: &Leftover) -> &Self {
        let all = successors(Some(self), |one| one.next.as_deref());
        let mut same = all.filter(|one| one.aligned_ns == leftover.first.aligned_ns);
        same.next().unwrap_or(self)
    }

    pub(crate) fn is_known(&self) -> bool {
        self.others != Others::Nothing
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matching::testing::observation;
    use crate::plan::Direction;

    fn leftover(aligned_ns: i64) -> Leftover {
        let one = observation(1, 0, aligned_ns);
        Leftover::of(&[one], Direction::Forward, None, false).unwrap()
    }

    #[test]
    fn each_leftover_of_a_packet_id_has_its_own_nearest() {
        let mut elsewhere = Elsewhere::of(&leftover(0));
        for aligned_ns in [100, 0, 100] {
            elsewhere.add(&leftover(aligned_ns));
        }
        assert!(!elsewhere.is_known());
        elsewhere.note(90, Others::Decided);
        elsewhere.note(-200, Others::Nothing);
        let nearest_ns = |aligned_ns| elsewhere.of_leftover(&leftover(aligned_ns)).nearest_ns;
        assert_eq!([0, 100].map(nearest_ns), [90, 10]);
        assert_eq!(nearest_ns(7), 90, "nobody asked");
        assert!(elsewhere.is_known());
    }

    #[test]
    fn leftovers_of_another_occasion_are_others() {
        let mut elsewhere = Elsewhere::of(&leftover(0));
        elsewhere.add(&leftover(100));
        elsewhere.note_left(&[leftover(0), leftover(10)]);
        let of = |aligned_ns| elsewhere.of_leftover(&leftover(aligned_ns));
        assert!(!of(0).is_known(), "they are its own");
        assert_eq!((of(100).others, of(100).nearest_ns), (Others::Left, 90));
    }

    #[test]
    fn of_leftovers_without_end_the_first_are_known() {
        let mut elsewhere = Elsewhere::of(&leftover(0));
        for aligned_ns in 0..1_000 {
            elsewhere.add(&leftover(aligned_ns));
        }
        let n = successors(Some(&elsewhere), |one| one.next.as_deref()).count();
        assert!((MOST_OCCASIONS..=MOST_OCCASIONS + 1).contains(&n));
    }
}
