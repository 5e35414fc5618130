//! Equal frames without a direction of their own: which way each of them goes.
//!
//! Neither the addresses of an ARP request nor those of a frame to a group say which way it goes, and the
//! same bytes may come from both ends: a virtual router announces its address from wherever it is. Therefore
//! equal frames have no direction in common. Each is linked to those at other points that may be the same
//! packet, were packets to go forward, and were they to go in reverse. What is connected by links of one
//! direction goes that way. Where links of both directions meet, the direction is unknown.

use crate::matching::observation::Observation;
use crate::matching::resolve::components::{join, root};
use crate::plan::{Direction, Plan};

/// So many observations go one way, or nobody knows which way.
pub(crate) type Part = (Option<Direction>, usize);

/// Puts observations of one identity in the order of their directions; gives the number of each.
pub(crate) fn put_by_direction(plan: &Plan, observations: &mut [Observation]) -> Vec<Part> {
    let mut links = Links::of(observations.len());
    for direction in [Direction::Forward, Direction::Reverse] {
        links.add(plan, direction, observations);
    }
    let mut all: Vec<(Heading, Observation)> = links
        .headings()
        .into_iter()
        .zip(observations.iter().copied())
        .collect();
    all.sort_by_key(|(heading, one)| (*heading, one.aligned_ns, one.frame));
    for (place, (_, one)) in observations.iter_mut().zip(&all) {
        *place = *one;
    }
    let parts = all.chunk_by(|one, next| one.0 == next.0);
    parts.flat_map(parts_of).collect()
}

/// Which way an observation goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Heading {
    Forward,
    Reverse,
    /// It may be one packet with others either way.
    Either,
    /// It is linked to no other.
    Alone,
}

/// The parts of observations of one heading. Those that are alone may be of a packet that was slow, unless no
/// other point has such a one.
fn parts_of(all: &[(Heading, Observation)]) -> Vec<Part> {
    let Some((heading, first)) = all.first() else {
        return Vec::new();
    };
    match heading {
        Heading::Forward => vec![(Some(Direction::Forward), all.len())],
        Heading::Reverse => vec![(Some(Direction::Reverse), all.len())],
        Heading::Alone if all.iter().all(|(_, one)| one.point == first.point) => {
            vec![(Some(Direction::Forward), 1); all.len()]
        }
        Heading::Either | Heading::Alone => vec![(None, all.len())],
    }
}

/// Observations that may be of one packet are linked.
struct Links {
    parent: Vec<usize>,
    /// Observations at which a link begins, and its direction.
    begins: Vec<(usize, Direction)>,
}

/// How much later than an observation those are that may be the same packet.
#[derive(Clone, Copy, Debug)]
struct Reach {
    least_ns: i64,
    most_ns: i64,
    /// By the clock of both, none arrives before it was sent.
    has_one_clock: bool,
}

impl Reach {
    fn of((least_ns, most_ns): (i64, i64), has_one_clock: bool) -> Self {
        Self {
            least_ns,
            most_ns,
            has_one_clock,
        }
    }

    fn begins_behind(&self, up: &Aligned, down: &Aligned) -> bool {
        let is_before = self.has_one_clock && down.t_ns < up.t_ns;
        is_before || down.at_ns.saturating_sub(up.at_ns) < self.least_ns
    }

    fn ends_before(&self, up: &Aligned, down: &Aligned) -> bool {
        down.at_ns.saturating_sub(up.at_ns) > self.most_ns
    }
}

/// When an observation was, were it to go in a direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Aligned {
    place: i64,
    point: u16,
    at_ns: i64,
    t_ns: i64,
    index: usize,
}

impl Links {
    fn of(n: usize) -> Self {
        Self {
            parent: (0..n).collect(),
            begins: Vec::new(),
        }
    }

    /// Links what may be one packet of a direction, and what may be copies at one point.
    fn add(&mut self, plan: &Plan, direction: Direction, observations: &[Observation]) {
        let aligned = |(index, one): (usize, &Observation)| Aligned {
            place: plan.place(direction, one.point),
            point: one.point,
            at_ns: plan.aligned_ns(direction, one.point, one.t_ns),
            t_ns: one.t_ns,
            index,
        };
        let mut along: Vec<Aligned> = observations.iter().enumerate().map(aligned).collect();
        along.sort_unstable();
        let points: Vec<&[Aligned]> = along.chunk_by(|a, b| a.point == b.point).collect();
        for (at, ups) in points.iter().enumerate() {
            let Some(up) = ups.first() else { continue };
            let copies = plan.copies_at(up.point);
            if copies.copied_frac > 0.0 {
                self.link(ups, ups, Reach::of((copies.lo_ns, copies.hi_ns), true));
            }
            let downs = points.iter().skip(at + 1).copied();
            for (down, downs) in downs.filter_map(|downs| Some((downs.first()?, downs))) {
                let band = plan.band(direction, up.point, down.point);
                if let Some(band) = band.filter(|_| down.place > up.place) {
                    let has_one_clock = plan.same_clock(up.point, down.point);
                    let linked = self.link(ups, downs, Reach::of(band.near_ns(), has_one_clock));
                    self.begins
                        .extend(linked.into_iter().map(|index| (index, direction)));
                }
            }
        }
    }

    /// Links each of some observations to those of others in its reach; both are in order of time. Gives those
    /// of the first that were linked.
    fn link(&mut self, ups: &[Aligned], downs: &[Aligned], reach: Reach) -> Vec<usize> {
        let (mut from, mut to) = (0, 0);
        let mut linked = Vec::new();
        for up in ups {
            let rest = |at: usize| downs.get(at..).unwrap_or_default().iter();
            from += rest(from)
                .take_while(|down| reach.begins_behind(up, down))
                .count();
            // those before are joined to each other already
            let new = to.max(from);
            to = new
                + rest(new)
                    .take_while(|down| !reach.ends_before(up, down))
                    .count();
            if let Some(first) = downs.get(from).filter(|_| from < to) {
                join(&mut self.parent, up.index, first.index);
                linked.push(up.index);
            }
            let chain = downs.get(new.saturating_sub(1).max(from)..to);
            for two in chain.unwrap_or_default().windows(2) {
                if let [one, next] = two {
                    join(&mut self.parent, one.index, next.index);
                }
            }
        }
        linked
    }

    /// Where each observation goes.
    fn headings(mut self) -> Vec<Heading> {
        let mut goes = vec![(false, false); self.parent.len()];
        for (index, direction) in std::mem::take(&mut self.begins) {
            if let Some((forward, reverse)) = goes.get_mut(root(&mut self.parent, index)) {
                *forward |= !direction.is_reverse();
                *reverse |= direction.is_reverse();
            }
        }
        let heading = |index| match goes.get(root(&mut self.parent, index)) {
            Some((true, true)) => Heading::Either,
            Some((true, false)) => Heading::Forward,
            Some((false, true)) => Heading::Reverse,
            _ => Heading::Alone,
        };
        (0..goes.len()).map(heading).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matching::testing::{BAND_NS, SEGMENT_NS, observation, path};
    use crate::plan::Copies;

    /// A frame that was sent at a time from the first of three points, or the last, and where it was seen.
    fn sent(at_ns: i64, direction: Direction, seen: &[u16]) -> Vec<Observation> {
        let n_passed = |point: u16| {
            if direction.is_reverse() {
                2 - point
            } else {
                point
            }
        };
        let plan = path(3);
        let of = |point: &u16| {
            let t_ns = at_ns + i64::from(n_passed(*point)) * SEGMENT_NS;
            let aligned_ns = plan.aligned_ns(Direction::Forward, *point, t_ns);
            Observation {
                t_ns,
                directed: false,
                ..observation(1, *point, aligned_ns)
            }
        };
        seen.iter().map(of).collect()
    }

    fn without_copies() -> Plan {
        Plan {
            copies: vec![Copies::default(); 3],
            ..path(3)
        }
    }

    fn parts_in(plan: &Plan, frames: &[Vec<Observation>]) -> Vec<Part> {
        put_by_direction(plan, &mut frames.concat())
    }

    fn parts(frames: &[Vec<Observation>]) -> Vec<Part> {
        parts_in(&without_copies(), frames)
    }

    const ALL: [u16; 3] = [0, 1, 2];
    const FORWARD: Option<Direction> = Some(Direction::Forward);
    const REVERSE: Option<Direction> = Some(Direction::Reverse);

    #[test]
    fn each_frame_goes_where_its_times_say() {
        let (one, other) = (
            sent(0, Direction::Forward, &ALL),
            sent(5_000, Direction::Reverse, &ALL),
        );
        let again = sent(50_000, Direction::Reverse, &ALL);
        let all = [one, other.clone(), again];
        assert_eq!(parts(&all), [(FORWARD, 3), (REVERSE, 6)]);
        let mut observations = all.concat();
        put_by_direction(&without_copies(), &mut observations);
        let reverse: Vec<i64> = observations[3..].iter().map(|one| one.t_ns).collect();
        assert!(other.iter().all(|one| reverse.contains(&one.t_ns)));
    }

    #[test]
    fn where_links_of_both_directions_meet_nothing_is_known() {
        // the one from the end is at the second point when the one from the beginning would come back there
        let one = sent(0, Direction::Forward, &ALL);
        let other = sent(2 * SEGMENT_NS, Direction::Forward, &ALL);
        assert_eq!(parts(&[one.clone(), other]), [(None, 6)]);
        let far = sent(5 * SEGMENT_NS, Direction::Forward, &ALL);
        assert_eq!(parts(&[one, far]), [(FORWARD, 6)]);
    }

    #[test]
    fn by_one_clock_nothing_arrives_before_it_was_sent() {
        let mut plan = without_copies();
        for band in plan.bands.iter_mut().flatten() {
            (band.lo_ns, band.hi_ns) = (-3 * SEGMENT_NS, 3 * SEGMENT_NS);
        }
        let one = [sent(0, Direction::Reverse, &ALL)];
        assert_eq!(parts_in(&plan, &one), [(REVERSE, 3)]);
        plan.domain = vec![0, 1, 2];
        assert_eq!(parts_in(&plan, &one), [(None, 3)]);
    }

    #[test]
    fn what_is_alone_may_be_slow_where_several_points_have_such() {
        let at = |point, at_ns| sent(at_ns, Direction::Forward, &[point]);
        assert_eq!(parts(&[at(0, 0), at(0, 100)]), [(FORWARD, 1), (FORWARD, 1)]);
        let late_ns = 10 * BAND_NS;
        assert_eq!(
            parts(&[at(0, 0), at(1, late_ns), at(1, 4 * late_ns)]),
            [(None, 3)]
        );
    }

    #[test]
    fn copies_share_the_direction_of_their_originals() {
        let mut plan = path(3);
        plan.copies[1].hi_ns = 2_000;
        let mut frames = sent(0, Direction::Reverse, &ALL);
        let copy = Observation {
            t_ns: frames[1].t_ns + 1_000,
            ..frames[1]
        };
        frames.push(copy);
        assert_eq!(parts_in(&plan, &[frames]), [(REVERSE, 4)]);
    }

    #[test]
    fn many_at_once_are_linked_quickly() {
        let many = |n: i64| {
            let frames = (0..n).map(|at| sent(at, Direction::Forward, &ALL));
            frames.collect::<Vec<_>>()
        };
        assert_eq!(parts(&many(15_000)), [(FORWARD, 45_000)]);
    }
}
