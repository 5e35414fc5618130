//! What else was seen of the packet IDs of leftovers, and how long before or after.

use crate::matching::late::leftover::Leftover;

/// What was seen of a packet ID besides its leftovers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Others {
    #[default]
    Nothing,
    /// Packets that were decided.
    Decided,
    /// What cannot be told. A part that begins late may be of one of them.
    Untold,
}

/// The same, and when, of leftovers that are asked about: in one row, since there may be a million of them.
/// What is noted is known once it is settled.
#[derive(Clone, Debug, Default)]
pub(crate) struct Elsewhere {
    /// In order of packet ID, then of time.
    asked: Vec<Occurrence>,
    /// Where those of the last packet ID begin.
    last_begins: usize,
    /// Where those begin of each part of all packet IDs that there may be, and where the last of them end.
    begins: Vec<usize>,
}

/// What else was seen of the packet ID of one leftover.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Nearest {
    /// How far off the nearest of it is, leftovers of other occasions among it, if there is any.
    pub(crate) apart_ns: Option<u64>,
    /// What there is besides leftovers.
    pub(crate) others: Others,
}

/// A leftover that is asked about, and how far off the nearest of others are: [`NEVER`] if there is none.
#[derive(Clone, Copy, Debug)]
struct Occurrence {
    /// As leftovers are sorted by it.
    key: i64,
    aligned_ns: i64,
    /// Of leftovers of other occasions.
    left_ns: u64,
    /// Of what else was seen, before it and after it.
    before_ns: u64,
    after_ns: u64,
    others: Others,
}

const NEVER: u64 = u64::MAX;
/// How many of them are in one part of all packet IDs, on average.
const PER_PART: usize = 4;

impl Elsewhere {
    /// Asks about a leftover. Packet IDs are asked about in order, the leftovers of one of them in any.
    pub(crate) fn ask(&mut self, leftover: &Leftover) {
        let one = Occurrence::of(leftover);
        if self.asked.last().is_none_or(|last| last.key != one.key) {
            self.last_begins = self.asked.len();
        }
        if let Err(at) = self.in_last(&one) {
            self.asked.insert(at, one);
        }
    }

    /// Takes how far off leftovers of other occasions are from one of the last packet ID, if it was asked about.
    pub(crate) fn note_left(&mut self, leftover: &Leftover, left_ns: u64) {
        let asked = self.in_last(&Occurrence::of(leftover)).ok();
        if let Some(one) = asked.and_then(|at| self.asked.get_mut(at)) {
            one.left_ns = one.left_ns.min(left_ns);
        }
    }

    /// Whether leftovers of the last packet ID are of this one.
    pub(crate) fn is_last(&self, leftover: &Leftover) -> bool {
        let key = leftover.first.key.cast_signed();
        self.asked.last().is_some_and(|last| last.key == key)
    }

    /// Where a leftover is among those of the last packet ID, or would be.
    fn in_last(&self, one: &Occurrence) -> Result<usize, usize> {
        let of_last = self.asked.get(self.last_begins..).unwrap_or_default();
        let whole = |at: usize| self.last_begins + at;
        let found = of_last.binary_search_by_key(&one.place(), Occurrence::place);
        found.map(whole).map_err(whole)
    }

    /// Takes that all is asked: from now on, what else was seen is noted.
    pub(crate) fn settle_asked(&mut self) {
        debug_assert!(self.asked.is_sorted_by_key(Occurrence::place));
        let n_parts = self.asked.len() / PER_PART + 1;
        let mut n_begun = vec![0; n_parts + 1];
        for one in &self.asked {
            if let Some(n) = n_begun.get_mut(part_of_all(one.key, n_parts) + 1) {
                *n += 1;
            }
        }
        let mut n_before = 0;
        for n in &mut n_begun {
            n_before += *n;
            *n = n_before;
        }
        self.begins = n_begun;
    }

    /// Takes something that was seen, once all is asked.
    pub(crate) fn note(&mut self, key: u64, aligned_ns: i64, others: Others) {
        let place = (key.cast_signed(), aligned_ns);
        let n_until = self.n_until(place);
        let is_of_key = |one: &&mut Occurrence| one.key == place.0;
        let last = n_until.checked_sub(1).and_then(|at| self.asked.get_mut(at));
        if let Some(last) = last.filter(is_of_key) {
            last.after_ns = last.after_ns.min(last.aligned_ns.abs_diff(aligned_ns));
            last.others = last.others.max(others);
        }
        if let Some(next) = self.asked.get_mut(n_until).filter(is_of_key) {
            next.before_ns = next.before_ns.min(next.aligned_ns.abs_diff(aligned_ns));
            next.others = next.others.max(others);
        }
    }

    /// How many that were asked about are of smaller packet IDs, or of this one and until then.
    fn n_until(&self, place: (i64, i64)) -> usize {
        let n_parts = self.begins.len().saturating_sub(1);
        let part = part_of_all(place.0, n_parts);
        let Some([begin, end]) = self.begins.get(part..part + 2) else {
            return 0;
        };
        let in_part = self.asked.get(*begin..*end).unwrap_or_default();
        begin + in_part.partition_point(|one| one.place() <= place)
    }

    /// Finds what is nearest to each, once all is noted.
    pub(crate) fn settle(&mut self) {
        pass_on(self.asked.iter_mut(), |one| &mut one.before_ns);
        pass_on(self.asked.iter_mut().rev(), |one| &mut one.after_ns);
    }

    /// The nearest of all others; `None` of a leftover that was not asked about.
    pub(crate) fn nearest(&self, leftover: &Leftover) -> Option<Nearest> {
        let place = Occurrence::of(leftover).place();
        let asked = self.asked.get(self.n_until(place).checked_sub(1)?)?;
        (asked.place() == place).then(|| asked.nearest())
    }
}

/// Of so many equal parts of all packet IDs that there may be, the one that this is in.
fn part_of_all(key: i64, n_parts: usize) -> usize {
    let from_least = key.wrapping_sub(i64::MIN).cast_unsigned();
    let part = (u128::from(from_least) * n_parts as u128) >> u64::BITS;
    usize::try_from(part).unwrap_or(n_parts)
}

/// Passes on how far off the nearest is, to what follows of the same packet ID.
fn pass_on<'a>(
    asked: impl Iterator<Item = &'a mut Occurrence>,
    nearest_ns: fn(&mut Occurrence) -> &mut u64,
) {
    let mut last: Option<Occurrence> = None;
    for one in asked {
        if let Some(mut last) = last.filter(|last| last.key == one.key) {
            let gap_ns = last.aligned_ns.abs_diff(one.aligned_ns);
            let passed_ns = nearest_ns(&mut last).saturating_add(gap_ns);
            let own_ns = nearest_ns(one);
            *own_ns = passed_ns.min(*own_ns);
            one.others = last.others.max(one.others);
        }
        last = Some(*one);
    }
}

impl Occurrence {
    fn of(leftover: &Leftover) -> Self {
        Self {
            key: leftover.first.key.cast_signed(),
            aligned_ns: leftover.first.aligned_ns,
            left_ns: NEVER,
            before_ns: NEVER,
            after_ns: NEVER,
            others: Others::Nothing,
        }
    }

    fn place(&self) -> (i64, i64) {
        (self.key, self.aligned_ns)
    }

    fn nearest(&self) -> Nearest {
        let apart_ns = self.left_ns.min(self.before_ns).min(self.after_ns);
        Nearest {
            apart_ns: (apart_ns != NEVER).then_some(apart_ns),
            others: self.others,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::hash::mixed;
    use crate::matching::testing::observation;
    use crate::plan::Direction;

    const KEY: u64 = 1;

    fn leftover_of(key: u64, aligned_ns: i64) -> Leftover {
        let one = observation(key, 0, aligned_ns);
        Leftover::of(&[one], Direction::Forward, None, false).unwrap()
    }

    fn leftover(aligned_ns: i64) -> Leftover {
        leftover_of(KEY, aligned_ns)
    }

    fn asked(times_ns: &[i64]) -> Elsewhere {
        let mut elsewhere = Elsewhere::default();
        for ns in times_ns {
            elsewhere.ask(&leftover(*ns));
        }
        elsewhere.settle_asked();
        elsewhere
    }

    fn apart_ns(of: &Elsewhere, times_ns: &[i64]) -> Vec<Option<u64>> {
        let mut of = of.clone();
        of.settle();
        let nearest = |ns: &i64| of.nearest(&leftover(*ns)).unwrap().apart_ns;
        times_ns.iter().map(nearest).collect()
    }

    #[test]
    fn each_leftover_of_a_packet_id_has_its_own_nearest() {
        let mut elsewhere = asked(&[100, 0, 100]);
        assert_eq!(apart_ns(&elsewhere, &[0, 100]), [None, None]);
        elsewhere.note(KEY, 90, Others::Decided);
        assert_eq!(apart_ns(&elsewhere, &[0, 100]), [Some(90), Some(10)]);
        let others = |of: &Elsewhere| {
            let mut of = of.clone();
            of.settle();
            [0, 100].map(|ns| of.nearest(&leftover(ns)).unwrap().others)
        };
        assert_eq!(others(&elsewhere), [Others::Decided; 2]);
        elsewhere.note(KEY, -20, Others::Untold);
        assert_eq!(apart_ns(&elsewhere, &[0, 100]), [Some(20), Some(10)]);
        assert_eq!(others(&elsewhere), [Others::Untold; 2]);
        assert_eq!(elsewhere.nearest(&leftover(7)), None, "nobody asked");
    }

    #[test]
    fn the_nearest_is_the_nearest_of_all_whatever_the_order() {
        let times_ns: Vec<i64> = (0..40).map(|i| i * 7_919 % 1_009).collect();
        let others_ns = [2_000, 800, 304, 301, 300, -5];
        let mut elsewhere = asked(&times_ns);
        for ns in others_ns {
            elsewhere.note(KEY, ns, Others::Decided);
        }
        let nearest_ns = |ns: &i64| others_ns.iter().map(|other| other.abs_diff(*ns)).min();
        let expected: Vec<_> = times_ns.iter().map(nearest_ns).collect();
        assert_eq!(apart_ns(&elsewhere, &times_ns), expected);
    }

    #[test]
    fn leftovers_of_another_occasion_are_others() {
        let mut elsewhere = Elsewhere::default();
        for ns in [0, 100] {
            elsewhere.ask(&leftover(ns));
        }
        elsewhere.note_left(&leftover(0), 90);
        elsewhere.note_left(&leftover(50), 1);
        elsewhere.settle_asked();
        elsewhere.note(KEY, 200, Others::Decided);
        assert_eq!(apart_ns(&elsewhere, &[0, 100]), [Some(90), Some(100)]);
    }

    #[test]
    fn of_many_packet_ids_each_is_found_and_none_that_was_not_asked_about() {
        let mut keys: Vec<u64> = (0..10_000)
            .map(mixed)
            .chain([0, u64::MAX, 1 << 63])
            .collect();
        keys.sort_by_key(|key| key.cast_signed());
        let mut elsewhere = Elsewhere::default();
        for key in &keys {
            elsewhere.ask(&leftover_of(*key, 0));
        }
        elsewhere.settle_asked();
        for key in keys.iter().step_by(2) {
            elsewhere.note(*key, 7, Others::Decided);
        }
        (10_000..20_000).for_each(|n| elsewhere.note(mixed(n), 1, Others::Untold));
        elsewhere.settle();
        for (at, key) in keys.iter().enumerate() {
            let nearest = elsewhere.nearest(&leftover_of(*key, 0)).unwrap();
            let expected = (at % 2 == 0).then_some(7);
            assert_eq!(nearest.apart_ns, expected);
        }
        assert_eq!(elsewhere.nearest(&leftover_of(mixed(10_000), 0)), None);
    }

    #[test]
    fn a_million_that_are_asked_about_take_fifty_megabytes() {
        assert!(size_of::<Occurrence>() + size_of::<usize>() / PER_PART <= 50);
    }
}
