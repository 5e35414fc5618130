//! When packets of each flow ended. All but the moment is the same for most of them.

use crate::matching::loss::End;
use crate::matching::streams::Lost;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// What was lost in a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct LostThen {
    moment: u32,
    packets: u32,
    ends: [u32; 2],
    bytes: u64,
}

impl LostThen {
    fn new(moment: u32, lost: Lost) -> Self {
        let counted = |n: u64| u32::try_from(n).unwrap_or(u32::MAX);
        Self {
            moment,
            packets: counted(lost.packets),
            ends: lost.ends.map(counted),
            bytes: lost.bytes,
        }
    }

    fn lost(self) -> Lost {
        Lost {
            packets: self.packets.into(),
            ends: self.ends.map(u64::from),
            bytes: self.bytes,
        }
    }

    fn of(self, end: &End) -> (End, Lost) {
        let then = End {
            moment: self.moment,
            ..*end
        };
        (then, self.lost())
    }
}

/// When packets ended, by flow.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct EndTimes(HashMap<End, Vec<LostThen>>);

impl EndTimes {
    pub(crate) fn add(&mut self, end: End, lost: Lost) {
        let of_end = self.0.entry(End { moment: 0, ..end });
        let moments = of_end.or_insert_with(|| Vec::with_capacity(1));
        // so there are never many more of them than moments
        if moments.len() == moments.capacity() {
            put_together(moments);
            moments.reserve(moments.len());
        }
        moments.push(LostThen::new(end.moment, lost));
    }

    /// Adds what another partition noted.
    pub(crate) fn merge(&mut self, other: Self) {
        for (end, moments) in other.0 {
            self.0.entry(end).or_default().extend(moments);
        }
    }

    /// Puts together what was lost in the same moment.
    pub(crate) fn settle(&mut self) {
        self.0.values_mut().for_each(put_together);
    }

    /// All of them, in no order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (End, Lost)> {
        let each = |(end, moments)| std::iter::repeat(end).zip(moments);
        self.0.iter().flat_map(each).map(|(end, one)| one.of(end))
    }

    /// All of them, the earliest first.
    pub(crate) fn by_time(&self) -> impl Iterator<Item = (End, Lost)> {
        let each = |(end, moments)| std::iter::repeat(end).zip(moments);
        let mut all: Vec<(&End, &LostThen)> = self.0.iter().flat_map(each).collect();
        all.sort_unstable_by_key(|(end, one)| {
            let from = (end.point, end.from, end.direction);
            (one.moment, end.way, from, end.flow)
        });
        all.into_iter().map(|(end, one)| one.of(end))
    }
}

/// Adds up what was lost in the same moment, the earliest first.
fn put_together(moments: &mut Vec<LostThen>) {
    moments.sort_unstable_by_key(|one| one.moment);
    moments.dedup_by(|one, kept| {
        let is_same = one.moment == kept.moment;
        if is_same {
            let mut both = kept.lost();
            both.add(one.lost());
            *kept = LostThen::new(kept.moment, both);
        }
        is_same
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matching::loss::pair_segments::DirectedPair;
    use crate::plan::Direction;

    fn end(moment: u32) -> End {
        End {
            way: DirectedPair {
                pair: 1,
                toward: true,
            },
            is_guessed: false,
            flow: 7,
            from: None,
            point: 0,
            direction: Direction::Forward,
            had_entered: true,
            was_cut: false,
            is_untold: false,
            unmirrored: None,
            branch: None,
            moment,
            waited_for: 1,
        }
    }

    #[test]
    fn of_each_moment_there_is_one_entry_however_many_ended_then() {
        let lost = Lost {
            packets: 1,
            ends: [0, 1],
            bytes: 60,
        };
        let mut parts = [EndTimes::default(), EndTimes::default()];
        for number in 0..10_000 {
            parts[number % 2].add(end(u32::try_from(number / 3 % 5).unwrap()), lost);
        }
        let [mut all, other] = parts;
        assert!(all.iter().count() <= 20, "not one for each packet");
        all.merge(other);
        all.settle();
        let found: Vec<_> = all.by_time().collect();
        let moments: Vec<u32> = found.iter().map(|(end, _)| end.moment).collect();
        assert_eq!(moments, [0, 1, 2, 3, 4]);
        let sum = |of: fn(&Lost) -> u64| found.iter().map(|(_, lost)| of(lost)).sum::<u64>();
        assert_eq!(
            (sum(|lost| lost.packets), sum(|lost| lost.bytes)),
            (10_000, 600_000)
        );
        assert_eq!(
            (sum(|lost| lost.ends[0]), sum(|lost| lost.ends[1])),
            (0, 10_000)
        );
    }
}
