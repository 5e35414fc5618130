//! Which segments packets to a host cross, or from it, whoever they are exchanged with: of an address pair none of
//! whose packets was seen farther on, this says that they were to come there; of one none of whose packets a point saw,
//! that they passed it.

use crate::identity::address_pair::hosts_of;
use crate::matching::loss::missed::Leap;
use crate::matching::loss::pair_segments::{DirectedPair, PairSegments};
use crate::matching::loss::{End, Losses, onward_bits};
use crate::plan::{Direction, Topology};
use std::collections::{BTreeMap, HashMap, HashSet};

/// If more than one of so many is not seen behind a point, there is another way from there.
const RARELY: u64 = 4;
/// Packets of a pair, one way, that may all be lost. Of more one would have come.
const FEW: u64 = 2;

/// An address, and whether packets are sent to it.
type Host = (u32, bool);
/// A way, a point that saw packets of it, and the direction that they went in from there.
type Onward = (DirectedPair, u16, Direction);

/// The same segments in the opposite direction.
fn turned(crossed: u128) -> u128 {
    const FORWARD_MASK: u128 = u128::MAX / 3;
    (crossed & FORWARD_MASK) << 1 | crossed >> 1 & FORWARD_MASK
}

/// Sender and receiver.
fn hosts(way: DirectedPair) -> [Host; 2] {
    let [from, to] = hosts_of(way.pair, way.toward);
    [(from, false), (to, true)]
}

/// How many of some ways pass points.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Passing {
    Nothing,
    Some,
    NearlyAll,
}

/// What is known of the hosts of address pairs that ended before their path did.
#[derive(Debug, Default)]
pub(crate) struct HostSegments {
    /// By segment and direction, how many ways crossed it.
    crossed: HashMap<Host, BTreeMap<u32, u64>>,
    /// How many were not seen farther on.
    ended: HashMap<(Host, u16, Direction), u64>,
    /// Those that ended and go elsewhere from there.
    elsewhere: HashSet<Onward>,
    /// Packets of ways that jumped points, none of which saw any of them.
    unseen: HashMap<(DirectedPair, Leap), u64>,
    /// How many such ways a host has.
    n_unseen: HashMap<(Host, Leap), u64>,
}

impl HostSegments {
    /// When all is noted that crossed segments, and that ended.
    pub(super) fn of(topology: &Topology, losses: &Losses) -> Self {
        let mut found = Self::default();
        for ((way, point, direction), (n, is_answered)) in found.uncrossed(topology, losses) {
            for host in hosts(way) {
                *found.ended.entry((host, point, direction)).or_default() += 1;
                found.crossed.entry(host).or_default();
            }
            if n > FEW || is_answered {
                found.elsewhere.insert((way, point, direction));
            }
        }
        found.unseen = losses.misses.unseen(topology, &losses.crossed);
        for (way, leap) in found.unseen.keys() {
            for host in hosts(*way) {
                *found.n_unseen.entry((host, *leap)).or_default() += 1;
                found.crossed.entry(host).or_default();
            }
        }
        found.count_crossed(losses);
        found
    }

    /// How many packets ended of each way of which nothing crossed a segment from there, and whether packets of the
    /// opposite way were seen that do not come from there.
    fn uncrossed(&mut self, topology: &Topology, losses: &Losses) -> BTreeMap<Onward, (u64, bool)> {
        let mut found: BTreeMap<Onward, (u64, bool)> = BTreeMap::new();
        for (end, lost) in losses.ended.iter() {
            let key = (end.way, end.point, end.direction);
            let onward = onward_bits(topology, end.direction, end.point);
            let back = losses.crossed.of_way(end.way.back());
            if end.is_guessed && back & onward != 0 {
                // the opposite packets go there
                self.elsewhere.insert(key);
            } else if (back | losses.crossed.of_way(end.way)) & onward == 0 {
                let is_answered = losses.with_parts.contains(&end.way.back());
                let (n, is_elsewhere) = found.entry(key).or_default();
                *n += lost.packets;
                *is_elsewhere |= is_answered && turned(back) & onward == 0;
            }
        }
        found
    }

    /// Counts the ways of these hosts that crossed segments.
    fn count_crossed(&mut self, losses: &Losses) {
        for (way, crossed) in losses.crossed.all() {
            for host in hosts(way) {
                if let Some(n_of_bit) = self.crossed.get_mut(&host) {
                    for bit in (0..u128::BITS).filter(|bit| crossed >> bit & 1 == 1) {
                        *n_of_bit.entry(bit).or_default() += 1;
                    }
                }
            }
        }
    }

    /// The segments that nearly all others of one of their hosts crossed that were to go where these went; `back` are
    /// those that packets of the opposite way crossed.
    pub(super) fn crossed(&self, end: &End, onward: u128, back: u128) -> u128 {
        let [from, _] = hosts(end.way);
        let (received, is_answer) = (self.to_receiver(end), turned(back) & onward);
        // what one host sends may take any of several ways, but for answers to what came one of them
        let sent = self.crossed_by_many(from, end, (RARELY - 1) * self.n_ended(from, end));
        match (received & onward, sent & is_answer) {
            (1.., _) => received,
            (0, way) if way.is_power_of_two() => sent,
            _ => 0,
        }
    }

    /// The same by what is sent to their receiver alone. Another way that few packets take would look the same.
    pub(super) fn to_receiver(&self, end: &End) -> u128 {
        let [_, to] = hosts(end.way);
        self.crossed_by_many(to, end, (RARELY - 1) * self.n_ended(to, end))
    }

    /// Those that they may have been to cross: packets to one address mostly have one way, those from it often have not.
    pub(super) fn maybe_crossed(&self, end: &End) -> u128 {
        let [from, to] = hosts(end.way);
        let sent = self.crossed_by_many(from, end, self.n_ended(from, end));
        sent | self.crossed_by_many(to, end, 1)
    }

    /// How many ways of a host were not seen behind the point where these ended.
    fn n_ended(&self, host: Host, end: &End) -> u64 {
        let key = (host, end.point, end.direction);
        self.ended.get(&key).copied().unwrap_or(0)
    }

    /// Segments that so many ways of a host crossed, if these do not go elsewhere.
    fn crossed_by_many(&self, host: Host, end: &End, least: u64) -> u128 {
        let key = (end.way, end.point, end.direction);
        if self.elsewhere.contains(&key) {
            return 0;
        }
        let crossed = self.crossed.get(&host).into_iter().flatten();
        let crossed = crossed.filter(|(_, n)| **n >= least.max(1));
        crossed.fold(0, |all, (bit, _)| all | 1 << bit)
    }

    /// Of a way of few packets that jumped points, none of which saw any of them: whether others that are sent to
    /// their receiver from the point before come over those, nearly all of them or some. Of answers, those of their
    /// sender say it, if queries come over these points.
    pub(super) fn pass_between(
        &self,
        topology: &Topology,
        crossed: &PairSegments,
        (way, leap): (DirectedPair, Leap),
    ) -> Passing {
        if self.unseen.get(&(way, leap)).is_none_or(|n| *n > FEW) {
            return Passing::Nothing;
        }
        let ([from, to], back) = (hosts(way), leap.back());
        let received = self.of_host_between(topology, to, leap);
        let asked = self.of_host_between(topology, (from.0, true), back);
        let is_asked = crossed.of_way(way.back()) & back.bits_between(topology) != 0;
        if received == Passing::Nothing && (is_asked || asked != Passing::Nothing) {
            self.of_host_between(topology, from, leap)
        } else {
            received
        }
    }

    fn of_host_between(&self, topology: &Topology, host: Host, leap: Leap) -> Passing {
        let n_unseen = self.n_unseen.get(&(host, leap)).copied().unwrap_or(0);
        let entries = leap.entries(topology);
        let crossed = self.crossed.get(&host).into_iter().flatten();
        let crossed = crossed.filter(|(bit, _)| entries >> **bit & 1 == 1);
        match crossed.map(|(_, n)| n).sum() {
            0 => Passing::Nothing,
            n if n >= (RARELY - 1) * n_unseen && leap.is_line(topology) => Passing::NearlyAll,
            _ => Passing::Some,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::identity::address_pair::pair_of;
    use crate::matching::loss::allocate::{Allocated, Uncertain, allocate};
    use crate::matching::loss::testing::Noted;
    use crate::matching::testing::{fork, observation, path};
    use crate::plan::Plan;

    const SERVER: u32 = 9;

    /// Pairs of so many clients with a server, of which packets were seen at these points.
    fn note(noted: &mut Noted, clients: std::ops::Range<u32>, points: &[u16], n: u64) {
        for client in clients {
            noted.note(pair_of(100 + client, SERVER), points, n);
        }
    }

    fn allocated(noted: &mut Noted) -> Allocated {
        let n_pairs = vec![[1; 2]; noted.plan.links.len()];
        noted.losses.learn(&noted.plan);
        allocate(&noted.plan, &noted.losses, &n_pairs)
    }

    /// Lost, and maybe lost, per link: of pairs of which so many go on, and so many end at the first point.
    fn told(plan: Plan, n_going_on: u32, ended: u32, n: u64) -> Vec<(u64, u64)> {
        let mut noted = Noted::new(plan, Direction::Forward);
        note(&mut noted, 0..n_going_on, &[0, 1, 2], 1);
        note(&mut noted, 50..50 + ended, &[0], n);
        let found = allocated(&mut noted);
        let links = found.links.iter().zip(&found.uncertain);
        links
            .map(|([to, _], [uncertain, _])| (to.lost.packets, uncertain.more))
            .collect()
    }

    #[test]
    fn a_pair_none_of_whose_packets_went_on_lost_them_where_those_of_its_host_go_on() {
        let none = vec![(0, 0); 3];
        assert_eq!(told(path(3), 6, 2, 1), [(2, 0), (0, 0), (2, 0)]);
        assert_eq!(told(path(3), 6, 2, 2), [(4, 0), (0, 0), (4, 0)]);
        assert_eq!(
            told(path(3), 6, 2, 3),
            none,
            "of three packets one would come"
        );
        assert_eq!(
            told(path(3), 5, 2, 1),
            [(0, 2), (0, 0), (0, 2)],
            "two ways, or losses"
        );
        assert_eq!(told(path(3), 0, 2, 1), none, "nothing goes there");
    }

    #[test]
    fn what_is_answered_goes_elsewhere() {
        let mut noted = Noted::new(path(3), Direction::Forward);
        note(&mut noted, 0..9, &[0, 1, 2], 1);
        note(&mut noted, 50..51, &[0], 1);
        let one = observation(1, 0, 0);
        noted
            .losses
            .note_part(&crate::matching::observation::Observation {
                pair: pair_of(150, SERVER),
                toward: !one.toward,
                ..one
            });
        let found = allocated(&mut noted);
        assert_eq!(found.links[0][0].lost.packets, 0);
        assert_eq!(found.uncertain[0], [Uncertain::default(); 2]);
    }

    #[test]
    fn a_direction_that_is_guessed_is_that_of_others() {
        for (turned, found) in [(false, 1), (true, 0)] {
            let mut noted = Noted::new(path(3), Direction::Forward);
            note(&mut noted, 0..9, &[0, 1, 2], 1);
            note(&mut noted, 50..51, &[1], 1);
            let ended = std::mem::take(&mut noted.losses.ended);
            for (end, lost) in ended.iter() {
                let direction = if turned {
                    Direction::Reverse
                } else {
                    end.direction
                };
                let end = End {
                    is_guessed: true,
                    direction,
                    waited_for: u128::MAX,
                    ..end
                };
                noted.losses.ended.add(end, lost);
            }
            let lost = allocated(&mut noted).links;
            assert_eq!(lost[1][0].lost.packets, found);
            assert_eq!(lost[0][1].lost.packets, 0);
        }
    }

    #[test]
    fn before_a_fork_the_receiver_says_that_it_was_lost_and_the_sender_only_that_it_may_be() {
        for (is_receiver, lost, maybe) in [(true, 1, 1), (false, 0, 2)] {
            let mut noted = Noted::new(fork(), Direction::Forward);
            let pair = |client: u32| {
                if is_receiver {
                    pair_of(client, SERVER)
                } else {
                    pair_of(SERVER, client)
                }
            };
            for client in 10..14 {
                noted.note(pair(client), &[0, 1, 3], 1);
                noted.note(pair(client + 10), &[0, 2, 3], 1);
            }
            noted.note(pair(50), &[0], 1);
            let found = allocated(&mut noted);
            let segments = found.links.iter().take(2);
            let n_lost: u64 = segments.map(|[to, _]| to.lost.packets).sum();
            assert_eq!(n_lost, lost);
            let maybe_lost = [0, 1].map(|link: usize| found.uncertain[link][0].more);
            assert_eq!(maybe_lost.iter().sum::<u64>(), maybe);
            let maybe_not: u64 = found.uncertain.iter().take(2).map(|[to, _]| to.fewer).sum();
            assert_eq!(maybe_not > 0, is_receiver);
        }
    }

    /// Missed, and maybe missed, per point.
    fn missed(noted: &mut Noted) -> Vec<(f64, f64)> {
        let found = allocated(noted).points.into_iter();
        found
            .map(|[to, _]| (to.n_missed, to.n_maybe_missed))
            .collect()
    }

    #[test]
    fn a_point_missed_what_others_to_the_same_host_passed() {
        for (n_others, [sure, maybe]) in [(6, [2.0, 0.0]), (5, [0.0, 2.0]), (0, [0.0; 2])] {
            let mut noted = Noted::new(path(3), Direction::Forward);
            note(&mut noted, 0..n_others, &[0, 1, 2], 1);
            note(&mut noted, 50..52, &[0, 2], 1);
            assert_eq!(missed(&mut noted)[1], (sure, maybe), "{n_others}");
        }
        let mut noted = Noted::new(path(3), Direction::Forward);
        note(&mut noted, 0..20, &[0, 1, 2], 1);
        note(&mut noted, 50..51, &[0, 2], 3);
        assert_eq!(
            missed(&mut noted)[1],
            (0.0, 0.0),
            "of three packets it would see one"
        );
    }

    #[test]
    fn ways_that_come_from_elsewhere_say_nothing_of_a_point() {
        let mut noted = Noted::new(path(3), Direction::Forward);
        note(&mut noted, 0..20, &[1, 2], 1);
        note(&mut noted, 50..52, &[0, 2], 1);
        assert_eq!(missed(&mut noted)[1], (0.0, 0.0));
    }

    #[test]
    fn of_parallel_points_nobody_knows_which_missed_it() {
        let mut noted = Noted::new(fork(), Direction::Forward);
        note(&mut noted, 0..30, &[0, 1, 3], 1);
        note(&mut noted, 30..40, &[0, 2, 3], 1);
        note(&mut noted, 50..54, &[0, 3], 1);
        assert_eq!(missed(&mut noted)[1..3], [(0.0, 3.0), (0.0, 1.0)]);
    }
}
