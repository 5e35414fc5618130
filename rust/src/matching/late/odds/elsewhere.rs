//! What else was seen of the packet ID of a leftover, and how long before or after.

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

/// The same, and when, of leftovers of one packet ID that are asked about. What is noted is known once it is settled.
#[derive(Clone, Debug, Default)]
pub(crate) struct Elsewhere {
    others: Others,
    /// The last that was seen before all of them.
    before_ns: Option<i64>,
    /// In order of time.
    asked: Vec<Occurrence>,
}

/// What else was seen of the packet ID of one leftover.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Nearest {
    /// How far off the nearest of it is, leftovers of other occasions among it, if there is any.
    pub(crate) apart_ns: Option<u64>,
    /// What there is besides leftovers.
    pub(crate) others: Others,
}

/// A leftover that is asked about.
#[derive(Clone, Copy, Debug)]
struct Occurrence {
    aligned_ns: i64,
    /// How far off the nearest of all others is.
    apart_ns: Option<u64>,
    /// The first and the last of the others that were seen from then until the next one that is asked about.
    until_next: Option<[i64; 2]>,
}

impl Elsewhere {
    /// Asks about a leftover.
    pub(crate) fn ask(&mut self, leftover: &Leftover) {
        if let Err(place) = self.place(leftover) {
            let one = Occurrence {
                aligned_ns: leftover.first.aligned_ns,
                apart_ns: None,
                until_next: None,
            };
            if self.asked.is_empty() {
                // there are many packet IDs, and few that have a second one
                self.asked.reserve_exact(1);
            }
            self.asked.insert(place, one);
        }
    }

    fn place(&self, leftover: &Leftover) -> Result<usize, usize> {
        let aligned_ns = leftover.first.aligned_ns;
        self.asked
            .binary_search_by_key(&aligned_ns, |one| one.aligned_ns)
    }

    /// Takes something that was seen, once all is asked.
    pub(crate) fn note(&mut self, aligned_ns: i64, others: Others) {
        self.others = others.max(self.others);
        let n_before = self
            .asked
            .partition_point(|one| one.aligned_ns <= aligned_ns);
        let last_before = n_before
            .checked_sub(1)
            .and_then(|at| self.asked.get_mut(at));
        if let Some(one) = last_before {
            let [first, last] = one.until_next.unwrap_or([aligned_ns; 2]);
            one.until_next = Some([first.min(aligned_ns), last.max(aligned_ns)]);
        } else {
            self.before_ns = self.before_ns.max(Some(aligned_ns));
        }
    }

    /// Takes how far off leftovers of other occasions are from one that may be asked about.
    pub(crate) fn note_left(&mut self, leftover: &Leftover, left_ns: u64) {
        let asked = self.place(leftover).ok();
        if let Some(one) = asked.and_then(|at| self.asked.get_mut(at)) {
            one.take(left_ns);
        }
    }

    /// Finds what is nearest to each, once all is noted.
    pub(crate) fn settle(&mut self) {
        let mut last_ns = self.before_ns;
        for one in &mut self.asked {
            one.near(last_ns);
            last_ns = one.until_next.map(|[_, last_ns]| last_ns).or(last_ns);
        }
        let mut first_ns = None;
        for one in self.asked.iter_mut().rev() {
            first_ns = one.until_next.map(|[first_ns, _]| first_ns).or(first_ns);
            one.near(first_ns);
        }
    }

    /// The nearest of all others; `None` of a leftover that was not asked about.
    pub(crate) fn nearest(&self, leftover: &Leftover) -> Option<Nearest> {
        let asked = self.asked.get(self.place(leftover).ok()?)?;
        Some(Nearest {
            apart_ns: asked.apart_ns,
            others: self.others,
        })
    }
}

impl Occurrence {
    fn near(&mut self, seen_ns: Option<i64>) {
        if let Some(seen_ns) = seen_ns {
            self.take(seen_ns.abs_diff(self.aligned_ns));
        }
    }

    fn take(&mut self, apart_ns: u64) {
        let nearer_ns = self.apart_ns.map_or(apart_ns, |ns| ns.min(apart_ns));
        self.apart_ns = Some(nearer_ns);
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

    fn asked(times_ns: &[i64]) -> Elsewhere {
        let mut elsewhere = Elsewhere::default();
        for ns in times_ns {
            elsewhere.ask(&leftover(*ns));
        }
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
        elsewhere.note(90, Others::Decided);
        assert_eq!(apart_ns(&elsewhere, &[0, 100]), [Some(90), Some(10)]);
        let others = |of: &Elsewhere| of.nearest(&leftover(0)).unwrap().others;
        assert_eq!(others(&elsewhere), Others::Decided);
        elsewhere.note(-20, Others::Untold);
        assert_eq!(apart_ns(&elsewhere, &[0, 100]), [Some(20), Some(10)]);
        assert_eq!(others(&elsewhere), Others::Untold);
        assert_eq!(elsewhere.nearest(&leftover(7)), None, "nobody asked");
    }

    #[test]
    fn the_nearest_is_the_nearest_of_all_whatever_the_order() {
        let times_ns: Vec<i64> = (0..40).map(|i| i * 7_919 % 1_009).collect();
        let others_ns = [2_000, 800, 304, 301, 300, -5];
        let mut elsewhere = asked(&times_ns);
        for ns in others_ns {
            elsewhere.note(ns, Others::Decided);
        }
        let nearest_ns = |ns: &i64| others_ns.iter().map(|other| other.abs_diff(*ns)).min();
        let expected: Vec<_> = times_ns.iter().map(nearest_ns).collect();
        assert_eq!(apart_ns(&elsewhere, &times_ns), expected);
    }

    #[test]
    fn leftovers_of_another_occasion_are_others() {
        let mut elsewhere = asked(&[0, 100]);
        elsewhere.note(200, Others::Decided);
        elsewhere.note_left(&leftover(0), 90);
        elsewhere.note_left(&leftover(50), 1);
        assert_eq!(apart_ns(&elsewhere, &[0, 100]), [Some(90), Some(100)]);
    }
}
