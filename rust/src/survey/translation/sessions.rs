//! All evidence, by flow: which sessions are there, and which of them are believed.

use super::moved_flow::{AlikeFlows, MovedFlow, n_not_followed};
use super::renumbered::Renumbered;
use super::session::{ENOUGH, MANY, Session, is_strong};
use super::translators::Translators;
use super::witness::Witness;
use crate::base::hash::fold;
use crate::base::hashed::{HashedMap, HashedSet};
use std::collections::BTreeMap;

/// Sessions of one flow that are looked through for the one that goes on.
const RECENT: usize = 8;

/// Flows whose packets are counted, for each session that is kept.
const FLOWS_A_SESSION: usize = 4;

/// Packets of a flow at a point.
#[derive(Clone, Copy, Debug)]
struct FlowSeen {
    /// From the greater address, and from the smaller one.
    n_of_way: [u64; 2],
    first_ns: i64,
    last_ns: i64,
}

impl FlowSeen {
    /// How many of a way were seen in a span of time, if they came evenly.
    #[expect(clippy::cast_precision_loss, reason = "a share needs few digits")]
    fn n_in(&self, way: usize, (from_ns, until_ns): (i64, i64)) -> f64 {
        let n = self.n_of_way.get(way).copied().unwrap_or(0) as f64;
        let lasts_ns = self.last_ns.saturating_sub(self.first_ns);
        let from_ns = from_ns.max(self.first_ns);
        let within_ns = until_ns.min(self.last_ns).saturating_sub(from_ns).max(0);
        if lasts_ns == 0 {
            return n;
        }
        n * within_ns as f64 / lasts_ns as f64
    }
}

/// Among so many sessions of few packets one may contradict another.
const RARELY: usize = 20;

/// Sessions of one flow among which one that contradicts is looked for.
const MOST_OF_FLOW: usize = 256;

/// What was seen of sessions beyond those that are kept.
#[derive(Clone, Copy, Debug)]
pub struct LeftOut {
    /// Packets that say so.
    pub n: u64,
    /// When the first was seen, by its capture's time.
    pub from_ns: i64,
}

impl LeftOut {
    /// One more of them.
    pub(super) fn note(all: &mut Option<Self>, t_ns: i64) {
        let first = Self {
            n: 0,
            from_ns: t_ns,
        };
        all.get_or_insert(first).n += 1;
    }
}

/// All evidence.
#[derive(Debug, Default)]
pub(super) struct Sessions {
    /// So many are kept.
    most: usize,
    /// Flows whose addresses stay.
    pub(super) renumbered: Renumbered,
    all: Vec<Session>,
    left_out: Option<LeftOut>,
    /// By both points and one side's flow.
    of_flow: HashedMap<Vec<u32>>,
    /// Flows whose numbers are shifted somewhere though their addresses stay.
    shifted: HashedSet,
    /// By point and flow, the packets that can be told from others of it.
    seen: HashedMap<FlowSeen>,
    /// By two points, and whether equality is no chance but for that: how often equal packets are of several sessions.
    alike: BTreeMap<([u16; 2], bool), usize>,
    alike_flows: AlikeFlows,
    /// Per point, when it saw the first and the last of all.
    covers: HashedMap<(i64, i64)>,
}

impl Sessions {
    pub(super) fn of_at_most(most: usize) -> Self {
        Self {
            most,
            renumbered: Renumbered::of_at_most(most.saturating_mul(FLOWS_A_SESSION)),
            ..Self::default()
        }
    }

    /// What was seen beyond those that are kept.
    #[must_use]
    pub(super) fn left_out(&self) -> Option<LeftOut> {
        match (self.left_out, self.renumbered.left_out) {
            (Some(one), Some(other)) => Some(LeftOut {
                n: one.n + other.n,
                from_ns: one.from_ns.min(other.from_ns),
            }),
            (one, other) => one.or(other),
        }
    }

    /// Whether it is worth knowing where this flow passes as it is: on one side of a firewall that
    /// shifts its numbers, addresses do not say which.
    #[must_use]
    pub(super) fn is_shifted(&self, flow: u64) -> bool {
        !self.shifted.is_empty() && self.shifted.contains(&flow)
    }

    /// A packet that can be told from others of its flow.
    pub(super) fn note_flow(&mut self, one: &Witness) {
        let at_ns = one.aligned_ns;
        let cover = self.covers.entry(u64::from(one.place));
        let cover = cover.or_insert((at_ns, at_ns));
        *cover = (cover.0.min(at_ns), cover.1.max(at_ns));
        let key = fold(u64::from(one.place), one.unaddressed.tuple_hash);
        let is_full = self.seen.len() >= self.most.saturating_mul(FLOWS_A_SESSION);
        if is_full && !self.seen.contains_key(&key) {
            return;
        }
        let seen = self.seen.entry(key).or_insert(FlowSeen {
            n_of_way: [0; 2],
            first_ns: at_ns,
            last_ns: at_ns,
        });
        seen.first_ns = seen.first_ns.min(at_ns);
        seen.last_ns = seen.last_ns.max(at_ns);
        if let Some(n) = seen.n_of_way.get_mut(usize::from(one.unaddressed.toward)) {
            *n += 1;
        }
    }

    /// Equal packets are of several flows here, and of others there.
    pub(super) fn note_alike(&mut self, here: &Witness, there: &Witness) {
        let key = ([here.place, there.place], is_strong(here, there));
        *self.alike.entry(key).or_default() += 1;
    }

    /// The same packets here, each of them once, and those there.
    pub(super) fn note_alike_flows<'a>(
        &mut self,
        here: impl Iterator<Item = &'a Witness>,
        there: &[Witness],
    ) {
        self.alike_flows.note(here, there, self.most / RARELY);
    }

    /// One packet was this flow here and that flow there.
    pub(super) fn note(&mut self, here: &Witness, there: &Witness) {
        let places = u64::from(here.place) << 16 | u64::from(there.place);
        let near = fold(fold(places, 0), here.unaddressed.tuple_hash);
        let far = fold(fold(places, 1), there.unaddressed.tuple_hash);
        let found = self.going_on(near, here, there);
        let index = found.filter(|index| self.going_on(far, here, there) == Some(*index));
        let index = match index {
            Some(index) => index,
            None if self.all.len() >= self.most => {
                return LeftOut::note(&mut self.left_out, here.t_ns);
            }
            None => self.begin(near, far, here, there),
        };
        if let Some(session) = self.all.get_mut(index as usize) {
            session.add(here, there);
            let is_shifted = session.shifts_only() || session.shifts_little();
            if is_shifted && session.n_keys >= ENOUGH {
                self.shifted.insert(here.unaddressed.tuple_hash);
            }
        }
    }

    /// The session of these two flows, unless another one of this flow is evident since.
    fn going_on(&self, flow: u64, here: &Witness, there: &Witness) -> Option<u32> {
        let recent = self.of_flow.get(&flow)?.iter().rev().take(RECENT);
        for index in recent {
            let session = self.all.get(*index as usize)?;
            let [near, far] = &session.sides;
            let is_same = (near.tuple_hash, far.tuple_hash)
                == (here.unaddressed.tuple_hash, there.unaddressed.tuple_hash);
            if is_same && session.agrees(here, there) {
                return Some(*index);
            }
            if session.n_keys >= ENOUGH {
                return None;
            }
        }
        None
    }

    fn begin(&mut self, near: u64, far: u64, here: &Witness, there: &Witness) -> u32 {
        let index = u32::try_from(self.all.len()).unwrap_or(u32::MAX);
        self.all.push(Session::of(here, there));
        for flow in [near, far] {
            self.of_flow.entry(flow).or_default().push(index);
        }
        index
    }

    /// Those that are evident, and the best at their time for both of their flows; and those of fewer packets that
    /// are of translators of many.
    pub(super) fn accepted(&self) -> Vec<Session> {
        let evident = self.all.iter().filter(|session| {
            session.is_evident()
                && !self.is_passing(session)
                && (0..2).all(|side| !self.is_beaten(session, side))
                && (session.is_numbered() || (0..2).any(|side| self.is_most_of_flow(session, side)))
        });
        let mut accepted: Vec<Session> = evident.cloned().collect();
        accepted.extend(self.shifted_little(&accepted));
        let translators = Translators::of(&accepted);
        accepted.extend(self.of_translators(&translators));
        accepted
    }

    /// Sessions whose numbers are shifted by little, between points of which others of these show a device that
    /// draws shifts: some of them are little by chance.
    fn shifted_little(&self, evident: &[Session]) -> Vec<Session> {
        let places = |session: &Session| session.sides.map(|side| side.place);
        let mut n_shifted: BTreeMap<[u16; 2], usize> = BTreeMap::new();
        for session in evident.iter().filter(|session| session.shifts_only()) {
            *n_shifted.entry(places(session)).or_default() += 1;
        }
        let is_of_device = |session: &&Session| n_shifted.get(&places(session)) >= Some(&ENOUGH);
        let of_devices = self.all.iter().filter(is_of_device);
        let little = of_devices.filter(|session| {
            session.shifts_little()
                && session.is_enough()
                && self.as_sent(session).next().is_none()
                && (0..2).all(|side| {
                    !self.is_beaten(session, side) && self.is_most_of_flow(session, side)
                })
        });
        little.cloned().collect()
    }

    /// Sessions of too few packets to be evident, unless such ones contradict others: equal packets may be two.
    fn of_translators(&self, translators: &Translators) -> Vec<Session> {
        let few = self.all.iter().filter(|session| {
            !session.is_evident()
                && !session.is_shifted()
                && translators.explain(&MovedFlow::of(session), MANY)
        });
        let mut alike: BTreeMap<_, (Vec<&Session>, usize)> = BTreeMap::new();
        for session in few {
            let key = (session.sides.map(|side| side.place), session.is_strong());
            let n_alike = self.alike.get(&key).copied().unwrap_or(0);
            let (free, n_contradict) = alike.entry(key).or_insert((Vec::new(), n_alike));
            if (0..2).any(|side| self.is_beside_other(session, side)) {
                *n_contradict += 1;
            } else {
                free.push(session);
            }
        }
        let found = alike.into_values();
        let found = found.filter(|(free, n_contradict)| free.len() > n_contradict * RARELY);
        found.flat_map(|(free, _)| free).cloned().collect()
    }

    /// Packets of flows that seem translated, and are not accepted.
    pub(super) fn n_not_followed(&self, accepted: &[Session]) -> u64 {
        n_not_followed(&self.all, &self.alike_flows, accepted)
    }

    /// Whether another session has the flow of one of its sides at about the same time.
    fn is_beside_other(&self, own: &Session, flow_of: usize) -> bool {
        let mut others = self.of_side(own, flow_of);
        let mut few = others.by_ref().take(MOST_OF_FLOW);
        few.any(|other| own.is_beside(other, flow_of)) || others.next().is_some()
    }

    /// Whether most packets of the flow on one side, of one way, are of this session, or of others at
    /// another time: what arrives was sent, even if not all that is sent arrives. A few that were equal to packets of
    /// another flow by chance are no translation.
    #[expect(clippy::cast_precision_loss, reason = "a share needs few digits")]
    fn is_most_of_flow(&self, own: &Session, flow_of: usize) -> bool {
        let (Some(side), Some(other)) = (own.sides.get(flow_of), own.sides.get(1 - flow_of)) else {
            return false;
        };
        let key = fold(u64::from(side.place), side.tuple_hash);
        let cover = self.covers.get(&u64::from(other.place));
        let (Some(seen), Some(cover)) = (self.seen.get(&key), cover) else {
            return true;
        };
        let others = self.of_side(own, flow_of);
        let others = others.filter(|other| other.is_evident() && !own.overlaps(other, flow_of));
        let mut of_others = [0; 2];
        for n_of_way in others.map(|other| other.n_of_way(flow_of)) {
            for (sum, n) in of_others.iter_mut().zip(n_of_way) {
                *sum += n;
            }
        }
        let mut ways = own.n_of_way(flow_of).into_iter().zip(of_others).enumerate();
        ways.any(|(way, (n, n_of_others))| {
            n > 0 && 2.0 * n as f64 > seen.n_in(way, *cover) - n_of_others as f64
        })
    }

    /// The other sessions that have the flow of one of its sides, between the same points.
    fn of_side<'s>(
        &'s self,
        own: &'s Session,
        flow_of: usize,
    ) -> impl Iterator<Item = &'s Session> {
        let [a, b] = &own.sides;
        let places = u64::from(a.place) << 16 | u64::from(b.place);
        let flow = own.sides.get(flow_of).map_or(0, |side| side.tuple_hash);
        let key = fold(fold(places, flow_of as u64), flow);
        let all = self.of_flow.get(&key).into_iter().flatten();
        let all = all.filter_map(|other| self.all.get(*other as usize));
        all.filter(move |other| !std::ptr::eq(own, *other))
    }

    /// Whether numbers would be shifted for a while only: nothing shifts them back. Packets of a burst that lie equally
    /// far apart look like that where a translator's identifications come near those of a host.
    fn is_passing(&self, own: &Session) -> bool {
        let ends_ns = |session: &Session| {
            let [side, _] = &session.sides;
            (side.first_ns, side.last_ns)
        };
        let (first_ns, last_ns) = ends_ns(own);
        own.is_shifted()
            && self.as_sent(own).any(|other| ends_ns(other).0 < first_ns)
            && self.as_sent(own).any(|other| ends_ns(other).1 > last_ns)
    }

    /// Evident sessions of the same two flows whose numbers are as they were sent.
    fn as_sent<'s>(&'s self, own: &'s Session) -> impl Iterator<Item = &'s Session> {
        let others = self.of_side(own, 0);
        others.filter(|other| other.has_legs_of(own) && !other.is_shifted() && other.is_evident())
    }

    /// Whether another session has the flow of one of its sides at the same time, and as much of it.
    fn is_beaten(&self, own: &Session, flow_of: usize) -> bool {
        self.of_side(own, flow_of).any(|other| {
            own.overlaps(other, flow_of)
                && other.n.saturating_mul(10) > own.n
                && !own.is_same(other)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::identity::{TCP, TranslationKind, UDP, Unaddressed};
    use crate::survey::translation::session::Addresses;
    use std::net::{IpAddr, Ipv4Addr};
    use std::ops::Range;

    const MS_NS: i64 = 1_000_000;
    const CLIENT: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1));
    const PUBLIC: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1));
    const SERVER: (IpAddr, i32) = (IpAddr::V4(Ipv4Addr::new(203, 0, 113, 1)), 53);

    /// A packet of a client's port, or behind the translator of the public address's, without an IP identification.
    fn packet(place: u16, port: u16, content: u64, at_ms: i64) -> Witness {
        let client = if place == 0 { CLIENT } else { PUBLIC };
        let flow = fold(u64::from(place.min(1)), u64::from(port));
        Witness {
            unaddressed: Unaddressed {
                content,
                tuple_hash: flow,
                ..Unaddressed::default()
            },
            flow,
            pair: u64::from(place),
            addresses: Addresses {
                src: (client, port.into()),
                dst: SERVER,
                protocol: UDP,
            },
            place,
            source: (place.into(), 0),
            aligned_ns: at_ms * MS_NS,
            t_ns: at_ms * MS_NS,
            opens: false,
            has_time_stamp: false,
        }
    }

    /// The client's port and the public one are of one flow: by one packet.
    fn note(sessions: &mut Sessions, ports: [u16; 2], at_ms: i64) {
        let [here, there] = ports;
        sessions.note(&packet(0, here, 1, at_ms), &packet(1, there, 1, at_ms));
    }

    /// The same by a packet each way, so that it is evident.
    fn note_evident(sessions: &mut Sessions, places: [u16; 2], port: u16) {
        for is_answer in [false, true] {
            let [here, there] = places.map(|place| {
                let mut one = packet(place, port, is_answer.into(), 0);
                one.unaddressed.toward = is_answer;
                one
            });
            sessions.note(&here, &there);
        }
    }

    /// So many mappings that are evident, by a packet each way, and others of one packet.
    fn translated(n_evident: u16, n_few: u16) -> Sessions {
        let mut sessions = Sessions::of_at_most(10_000);
        for port in 1_000..1_000 + n_evident {
            note_evident(&mut sessions, [0, 1], port);
        }
        for port in 2_000..2_000 + n_few {
            note(&mut sessions, [port, port], 0);
        }
        sessions
    }

    /// How many are accepted, and how many packets are not followed.
    fn told(sessions: &Sessions) -> (usize, u64) {
        let accepted = sessions.accepted();
        (accepted.len(), sessions.n_not_followed(&accepted))
    }

    #[test]
    fn behind_a_translator_of_many_flows_one_packet_shows_another() {
        assert_eq!(told(&translated(20, 30)), (50, 0));
        assert_eq!(told(&translated(19, 30)), (19, 30));
        assert_eq!(told(&translated(0, 30)), (0, 0), "no translator");
    }

    #[test]
    fn not_where_such_flows_are_several_there_at_a_time() {
        for (n_few, apart_ms, found) in [(40, 1, (20, 42)), (41, 1, (61, 2)), (40, 3, (62, 0))] {
            let mut sessions = translated(20, n_few);
            note(&mut sessions, [5_000, 6_000], 0);
            note(&mut sessions, [5_000, 6_001], apart_ms);
            assert_eq!(told(&sessions), found, "{n_few} {apart_ms}");
        }
    }

    #[test]
    fn nor_where_equal_packets_are_of_several_flows() {
        for (n_few, found) in [(20, (20, 22)), (21, (41, 2))] {
            let mut sessions = translated(20, n_few);
            let [here, there] =
                [0, 1].map(|place| [5_000, 5_001].map(|port| packet(place, port, 9, 0)));
            sessions.note_alike(&here[0], &there[0]);
            sessions.note_alike_flows(here.iter(), &there);
            assert_eq!(told(&sessions), found);
        }
    }

    #[test]
    fn equal_packets_that_are_not_followed_are_counted_once() {
        let mut sessions = translated(1, 0);
        let [here, there] =
            [0, 1].map(|place| [5_000, 5_001].map(|port| packet(place, port, 9, 0)));
        sessions.note_alike_flows(here.iter(), &there);
        sessions.note_alike_flows(here.iter(), &there);
        note(&mut sessions, [5_000, 5_000], 0);
        assert_eq!(told(&sessions), (1, 4));
    }

    #[test]
    fn a_flow_is_followed_as_long_as_it_is_the_one_that_was_told() {
        let mut sessions = translated(1, 0);
        note(&mut sessions, [1_000, 6_000], 1);
        assert_eq!(told(&sessions), (1, 0), "equal by chance");
        note(&mut sessions, [1_000, 6_001], 1_000);
        assert_eq!(told(&sessions), (1, 1), "a new mapping");
        note_evident(&mut sessions, [0, 2], 1_001);
        sessions.note(&packet(0, 1_000, 1, 2_000), &packet(2, 1_000, 1, 2_000));
        assert_eq!(told(&sessions), (2, 1), "the same farther on");
        sessions.note(&packet(0, 1_000, 1, 3_000), &packet(2, 6_002, 1, 3_000));
        sessions.note(&packet(0, 1_000, 1, 4_000), &packet(2, 6_003, 1, 4_000));
        assert_eq!(told(&sessions), (2, 2), "the most of any two points");
    }

    #[test]
    fn of_a_port_that_is_used_again_and_again_few_are_compared() {
        let most = u16::try_from(MOST_OF_FLOW).unwrap();
        for (n, found) in [(most + 1, (277, 0)), (most + 2, (20, 258))] {
            let mut sessions = translated(20, 0);
            for turn in 0..n {
                note(&mut sessions, [5_000, 6_000 + turn], 10 * i64::from(turn));
            }
            assert_eq!(told(&sessions), found);
        }
    }

    /// Notes so many segments of a flow, of which the numbers behind are ahead by so much.
    fn note_shifted(sessions: &mut Sessions, flow: (u16, u16), ahead: u32, at_ms: Range<u32>) {
        for at in at_ms {
            let segment = |place: u16, port: u16, by: u32| {
                let mut one = packet(place, port, at.into(), at.into());
                (one.addresses.protocol, one.unaddressed.kind) = (TCP, TranslationKind::Tcp);
                if flow.0 == flow.1 {
                    one.unaddressed.tuple_hash = flow.0.into();
                }
                let sent = u64::from((100 * at).wrapping_add(by));
                (one.unaddressed.numbers, one.unaddressed.ip_id) = (sent << 32 | 7, at + 1);
                one
            };
            let (here, there) = (segment(0, flow.0, 0), segment(1, flow.1, ahead));
            sessions.note_flow(&here);
            sessions.note_flow(&there);
            sessions.note(&here, &there);
        }
    }

    /// How many sessions that are accepted have no shift, and how many have one.
    fn accepted(sessions: &Sessions) -> [usize; 2] {
        let all = sessions.accepted();
        [false, true].map(|is| all.iter().filter(|one| one.is_shifted() == is).count())
    }

    #[test]
    fn nothing_shifts_numbers_back() {
        let mut sessions = Sessions::of_at_most(1_000);
        note_shifted(&mut sessions, (5_000, 6_000), 0, 0..20);
        note_shifted(&mut sessions, (5_000, 6_000), 1_448, 30..40);
        assert_eq!(
            accepted(&sessions),
            [1, 1],
            "a gateway that rewrote what it carries"
        );
        note_shifted(&mut sessions, (5_000, 6_000), 0, 50..70);
        assert_eq!(accepted(&sessions), [2, 0]);
    }

    #[test]
    fn a_little_shift_counts_beside_large_ones_if_most_of_the_flow_has_it() {
        let large = |n: u16| {
            let mut sessions = Sessions::of_at_most(1_000);
            for flow in 0..n {
                note_shifted(&mut sessions, (flow, flow), 1 << 28, 0..9);
            }
            sessions
        };
        for (n_large, n_shifted) in [(2, 2), (3, 4)] {
            let mut sessions = large(n_large);
            note_shifted(&mut sessions, (5_000, 5_000), 999, 0..9);
            assert_eq!(accepted(&sessions), [0, n_shifted]);
        }
        let mut sessions = large(3);
        note_shifted(&mut sessions, (5_000, 5_000), 999, 0..4);
        note_shifted(&mut sessions, (5_000, 5_000), 0, 10..19);
        assert_eq!(
            accepted(&sessions)[1],
            3,
            "another segment with the same content"
        );
    }
}
