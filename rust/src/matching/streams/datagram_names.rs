//! Names of datagrams: fragments have an identification, whole ones may have none, and both begin
//! with the same bytes.

use crate::base::hash::{fold, two};
use crate::base::hashed::HashedMap;
use crate::matching::observation::Observation;
use crate::plan::{Direction, Plan};
use serde::{Deserialize, Serialize};

/// Two names of one datagram.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Alias {
    /// By its identification.
    identified: u64,
    /// By how it begins.
    name: u32,
    /// Reference time, were the packet to go forward, and were it to go in reverse.
    aligned_ns: [i64; 2],
}

impl Alias {
    #[cold]
    pub(crate) fn new(plan: &Plan, first: Observation, name: u32) -> Self {
        let aligned_ns = |way| plan.aligned_ns(way, first.point, first.t_ns);
        Self {
            identified: identified(&first).unwrap_or(0),
            name,
            aligned_ns: [Direction::Forward, Direction::Reverse].map(aligned_ns),
        }
    }
}

/// The datagram that a packet says it is of.
fn identified(one: &Observation) -> Option<u64> {
    let toward = two(one.range.datagram()?, one.toward.into());
    Some(fold(one.pair, toward))
}

/// A datagram that had an identification, and between which times, for either direction.
#[derive(Clone, Copy, Debug)]
struct SeenName {
    name: u32,
    times_ns: [(i64, i64); 2],
}

/// How a datagram is known to all points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Called {
    /// It is none.
    Nothing,
    /// By this name.
    Name(u32),
    /// By one that others have too.
    Contested,
}

/// The datagrams of one partition that have two names.
#[derive(Debug)]
pub(crate) struct Names {
    seen: HashedMap<Vec<SeenName>>,
    /// Look for old ones when there are so many.
    many_at: usize,
    /// Datagrams of one identification that are farther apart do not meet.
    apart_ns: i64,
}

/// Identifications that may be remembered without a look at their age.
const FEW_NAMES: usize = 1 << 12;
/// Datagrams with one identification that are told apart.
const MOST_SEEN: usize = 16;

impl Names {
    pub(crate) fn new(apart_ns: i64) -> Self {
        Self {
            seen: HashedMap::default(),
            many_at: FEW_NAMES,
            apart_ns,
        }
    }

    pub(crate) fn add(&mut self, alias: Alias) {
        let Alias {
            identified,
            name,
            aligned_ns,
        } = alias;
        let apart_ns = self.apart_ns;
        let seen = self.seen.entry(identified).or_default();
        let is_same = |one: &&mut SeenName| one.name == name && one.is_near(aligned_ns, apart_ns);
        if let Some(one) = seen.iter_mut().find(is_same) {
            for ((from_ns, until_ns), at_ns) in one.times_ns.iter_mut().zip(aligned_ns) {
                *from_ns = at_ns.min(*from_ns);
                *until_ns = at_ns.max(*until_ns);
            }
            return;
        }
        if seen.len() >= MOST_SEEN {
            seen.remove(0);
        }
        seen.push(SeenName {
            name,
            times_ns: aligned_ns.map(|at_ns| (at_ns, at_ns)),
        });
    }

    /// What all points call the datagram of these observations.
    pub(crate) fn called(&self, observations: &[Observation], direction: Direction) -> Called {
        let Some(own) = observations
            .first()
            .and_then(|first| first.range.datagram())
        else {
            return Called::Nothing;
        };
        let of_observation = |one: &Observation| {
            let seen = self.seen.get(&identified(one)?)?;
            let is_near = |two: &&SeenName| {
                let times_ns = two.times_ns.get(direction.index());
                times_ns.is_some_and(|times_ns| is_within(one.aligned_ns, *times_ns, self.apart_ns))
            };
            let mut names = seen.iter().filter(is_near).map(|one| one.name);
            let name = names.next()?;
            let is_only = names.all(|other| other == name);
            Some(if is_only {
                Called::Name(name)
            } else {
                Called::Contested
            })
        };
        let known = observations.iter().find_map(of_observation);
        known.unwrap_or(Called::Name(own))
    }

    /// Forgets, now and then, what is before a time.
    pub(crate) fn forget(&mut self, before_ns: i64) {
        if self.seen.len() <= self.many_at {
            return;
        }
        self.seen.retain(|_, seen| {
            seen.retain(|one| {
                one.times_ns
                    .iter()
                    .any(|(_, until_ns)| *until_ns >= before_ns)
            });
            !seen.is_empty()
        });
        self.many_at = FEW_NAMES.max(2 * self.seen.len());
    }
}

impl SeenName {
    fn is_near(&self, aligned_ns: [i64; 2], apart_ns: i64) -> bool {
        let mut both = self.times_ns.iter().zip(aligned_ns);
        both.any(|(times_ns, at_ns)| is_within(at_ns, *times_ns, apart_ns))
    }
}

fn is_within(at_ns: i64, (from_ns, until_ns): (i64, i64), apart_ns: i64) -> bool {
    (from_ns.saturating_sub(apart_ns)..=until_ns.saturating_add(apart_ns)).contains(&at_ns)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::identity::stream_bytes::StreamBytes;
    use crate::matching::testing::{observation, path};

    const APART_NS: i64 = 1_000;

    fn fragment(id: u32, at_ns: i64) -> Observation {
        Observation {
            range: StreamBytes::of_datagram(id, 1480, 1480),
            ..observation(1, 0, at_ns)
        }
    }

    /// Names after first fragments of (identification, how it begins, time).
    fn after(firsts: &[(u32, u32, i64)]) -> Names {
        let mut names = Names::new(APART_NS);
        for (id, content, at_ns) in firsts {
            names.add(Alias::new(&path(2), fragment(*id, *at_ns), *content));
        }
        names
    }

    fn called(names: &Names, id: u32, at_ns: i64) -> Called {
        names.called(&[fragment(id, at_ns)], Direction::Forward)
    }

    #[test]
    fn fragments_are_called_as_the_first_of_them_is() {
        let names = after(&[(1, 71, 0), (2, 72, 0), (1, 71, 900)]);
        assert_eq!(called(&names, 1, 1_800), Called::Name(71));
        assert_eq!(called(&names, 1, -1_000), Called::Name(71));
        assert_eq!(called(&names, 2, 0), Called::Name(72));
        // another datagram of that identification, or one of which no first fragment was seen
        assert_eq!(called(&names, 1, 1_901), Called::Name(1));
        assert_eq!(called(&names, 3, 0), Called::Name(3));
        // at another point it has another one, which is known
        let both = [fragment(3, 0), fragment(2, 0)];
        assert_eq!(names.called(&both, Direction::Forward), Called::Name(72));
        let back = Observation {
            toward: false,
            ..fragment(2, 0)
        };
        assert_eq!(names.called(&[back], Direction::Forward), Called::Name(2));
        let none = names.called(&[observation(1, 0, 0)], Direction::Forward);
        assert_eq!(none, Called::Nothing);
    }

    #[test]
    fn an_identification_that_two_have_at_once_tells_nothing() {
        let names = after(&[(1, 71, 0), (1, 72, 1_500), (1, 72, 9_000)]);
        assert_eq!(called(&names, 1, -1), Called::Name(71));
        assert_eq!(called(&names, 1, 700), Called::Contested);
        assert_eq!(called(&names, 1, 1_001), Called::Name(72));
        assert_eq!(called(&names, 1, 8_500), Called::Name(72));
        // the same name again is another datagram in between
        assert_eq!(called(&names, 1, 5_000), Called::Name(1));
    }

    #[test]
    fn the_other_direction_has_a_time_of_its_own() {
        let plan = path(3);
        let first = Observation {
            point: 2,
            ..fragment(1, 0)
        };
        let mut names = Names::new(APART_NS);
        names.add(Alias::new(&plan, first, 71));
        let seen = |direction| {
            let aligned_ns = plan.aligned_ns(direction, 2, first.t_ns);
            let one = Observation {
                aligned_ns,
                ..first
            };
            names.called(&[one], direction)
        };
        assert_eq!(seen(Direction::Forward), Called::Name(71));
        assert_eq!(seen(Direction::Reverse), Called::Name(71));
    }

    #[test]
    fn memory_is_that_of_the_last_moments() {
        let mut names = Names::new(APART_NS);
        for number in 0..500_000_u32 {
            let at_ns = i64::from(number);
            names.add(Alias::new(&path(2), fragment(number, at_ns), 7));
            names.forget(at_ns - 2 * APART_NS);
            assert!(names.seen.len() <= 2 * FEW_NAMES);
        }
        // one identification for all
        for number in 0..10_000_u32 {
            names.add(Alias::new(&path(2), fragment(1, 0), number));
        }
        assert!(names.seen.values().all(|seen| seen.len() <= MOST_SEEN));
        assert_eq!(called(&names, 1, 0), Called::Contested);
    }
}
