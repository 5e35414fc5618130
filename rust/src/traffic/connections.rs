//! The connections of one point: who opened each, its turns, its requests under way, its times.
//!
//! A flow of one frame is kept as that frame: of such there may be as many as there are frames. Where
//! connections are too many for the memory, the frames of further ones wait on disk.

use super::conversation::{Conversation, SentSide, Transmission};
use super::{N_BLOCKS, TCP, TrafficPlan, UDP};
use crate::base::error::{Error, Result};
use crate::base::hashed::Placing;
use crate::base::spill::Spill;
use crate::base::spill::numbers;
use crate::identity::opener::SenderRole;
use crate::wire::Packet;
use std::cmp::Reverse;
use std::collections::HashMap;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::path::{Path, PathBuf};

/// Connections of one point that are kept at one time: some 20 MB of them.
const MOST_KEPT: usize = 1 << 17;

/// Connections, of all points together, whose requests and responses are told: some 70 MB of them, and
/// several times that while they are summed up.
const MOST_ANSWERED: usize = 1 << 18;

/// The two ends of a connection, the lesser first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct ConnectionEnds {
    addresses: [[u64; 2]; 2],
    ports: [u16; 2],
    protocol: u8,
    version: u8,
}

impl ConnectionEnds {
    /// The ends, and whether the sender is the first of them; none where there are no ports.
    pub(super) fn of(packet: &Packet) -> Option<(Self, bool)> {
        let is_known = packet.stop.is_none() && packet.ip_version != 0;
        let protocol = u8::try_from(packet.protocol).ok().filter(|_| is_known)?;
        let src = (packet.src, u16::try_from(packet.src_port).ok()?);
        let dst = (packet.dst, u16::try_from(packet.dst_port).ok()?);
        let is_first = src <= dst;
        let [low, high] = if is_first { [src, dst] } else { [dst, src] };
        #[expect(clippy::cast_possible_truncation, reason = "halves of an address")]
        let halves = |address: u128| [(address >> 64) as u64, address as u64];
        let ends = Self {
            addresses: [halves(low.0), halves(high.0)],
            ports: [low.1, high.1],
            protocol,
            version: packet.ip_version,
        };
        Some((ends, is_first))
    }

    /// What the ports say of the sender of a frame.
    fn sender(&self, is_first: bool) -> SenderRole {
        let [one, other] = self.ports.map(i32::from);
        if is_first {
            SenderRole::of_ports(one, other)
        } else {
            SenderRole::of_ports(other, one)
        }
    }

    fn texts(&self) -> [String; 2] {
        self.addresses.map(|[high, low]| {
            let address = u128::from(high) << 64 | u128::from(low);
            if self.version == 4 {
                Ipv4Addr::from(u32::try_from(address).unwrap_or(0)).to_string()
            } else {
                Ipv6Addr::from(address).to_string()
            }
        })
    }
}

/// A connection of which one frame was seen, or more.
enum FlowState {
    One(Transmission),
    More(Box<Conversation>),
}

/// Requests and responses of one connection.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Answered {
    pub(super) protocol: i64,
    pub(super) client: String,
    pub(super) server: String,
    pub(super) server_port: i64,
    pub(super) n_requests: i64,
    pub(super) n_responses: i64,
    pub(super) request_bytes: i64,
    pub(super) response_bytes: i64,
    pub(super) n_turns: i64,
    pub(super) n_syn: i64,
    pub(super) first_request_ns: i64,
    pub(super) last_request_ns: i64,
    pub(super) busy_ns: i64,
    pub(super) idle_ns: i64,
    /// Where messages could be counted: the most requests at one time.
    pub(super) n_outstanding: Option<i64>,
    pub(super) first_ns: i64,
    pub(super) last_ns: i64,
    ends: ConnectionEnds,
    /// Of the ends, the client.
    client_at: usize,
    pub(super) knowledge: RoleKnowledge,
}

/// How the client is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum RoleKnowledge {
    Told,
    /// It spoke first, which tells nothing.
    SpokeFirst,
    /// It spoke second, likewise.
    SpokeSecond,
}

/// The connections of one point; when all of its frames are seen, what comes of them.
pub(super) struct Connections {
    of: HashMap<ConnectionEnds, FlowState, Placing>,
    /// When the point's captures began.
    begin_ns: i64,
    /// Connections that are kept at most.
    most: usize,
    /// Frames of those beyond.
    waiting: Option<Spill>,
    /// Where they wait.
    folder: PathBuf,
    /// Those of which requests were answered; none where they are more than `most_answered`.
    pub(super) answered: Vec<Answered>,
    most_answered: usize,
    /// How many they are.
    pub(super) n_answered: usize,
    /// Most connections that were open at one time, from the first message of each to its last.
    pub(super) n_at_once: i64,
    /// By block, those that have had their first message, and not yet their last.
    pub(super) n_open: Vec<i64>,
}

impl Connections {
    /// None yet of a point, the `at`-th of `n_points`; its folder, within this one, is made when it is
    /// needed.
    pub(super) fn new(folder: &Path, at: usize, n_points: usize) -> Self {
        Self {
            of: HashMap::default(),
            begin_ns: i64::MAX,
            most: MOST_KEPT,
            waiting: None,
            folder: folder.join(format!("connections-{at}")),
            answered: Vec::new(),
            most_answered: MOST_ANSWERED / n_points.max(1),
            n_answered: 0,
            n_at_once: 0,
            n_open: Vec::new(),
        }
    }

    /// A frame of the point was seen.
    pub(super) fn begin(&mut self, at_ns: i64) {
        self.begin_ns = self.begin_ns.min(at_ns);
    }

    pub(super) fn take(&mut self, ends: ConnectionEnds, message: Transmission) -> Result<()> {
        let (begin_ns, sender) = (self.begin_ns, ends.sender(message.is_first));
        let n_kept = self.of.len();
        match self.of.get_mut(&ends) {
            None if n_kept >= self.most => self.wait(ends, message)?,
            None => {
                self.of.insert(ends, FlowState::One(message));
            }
            Some(FlowState::More(conversation)) => conversation.take(&message, begin_ns, sender),
            Some(state) => {
                let mut conversation = state.conversation(&ends, begin_ns);
                conversation.take(&message, begin_ns, sender);
                *state = FlowState::More(Box::new(conversation));
            }
        }
        Ok(())
    }

    fn wait(&mut self, ends: ConnectionEnds, message: Transmission) -> Result<()> {
        if self.waiting.is_none() {
            let folder = &self.folder;
            std::fs::create_dir_all(folder).map_err(|source| Error::Io {
                path: folder.clone(),
                source,
            })?;
            self.waiting = Some(Spill::create(folder, "waiting")?);
        }
        if let Some(waiting) = &mut self.waiting {
            let [low, high] = ends.addresses;
            let [t_ns, numbers, flags] = message.values();
            let [one, other] = ends.ports.map(i64::from);
            let [protocol, version] = [ends.protocol, ends.version].map(i64::from);
            let about = flags << 48 | version << 40 | protocol << 32 | other << 16 | one;
            let [a, b, c, d] = [low[0], low[1], high[0], high[1]].map(u64::cast_signed);
            waiting.write([a, b, c, d, about, t_ns, numbers]);
        }
        Ok(())
    }

    /// Sums up, once no further frame is to come.
    pub(super) fn finish(&mut self, counting: &TrafficPlan) -> Result<()> {
        if !self.n_open.is_empty() {
            return Ok(());
        }
        let mut spans = Vec::new();
        loop {
            for (ends, state) in std::mem::take(&mut self.of) {
                let conversation = state.conversation(&ends, self.begin_ns);
                spans.extend(conversation.span());
                self.answer(&conversation.answered(&ends));
            }
            let Some(waiting) = self.waiting.take() else {
                break;
            };
            self.take_waiting(waiting)?;
        }
        // a map has an order of its own in every run
        self.answered.sort_unstable();
        self.n_open = open(&spans, counting);
        self.n_at_once = most_at_once(&spans);
        Ok(())
    }

    fn answer(&mut self, found: &[Answered]) {
        self.n_answered += usize::from(!found.is_empty());
        if self.is_left_out() {
            self.answered = Vec::new();
        } else {
            self.answered.extend_from_slice(found);
        }
    }

    /// Whether those of which requests were answered are too many to be told.
    pub(super) fn is_left_out(&self) -> bool {
        self.n_answered > self.most_answered
    }

    /// Takes the frames that waited; those of connections that are too many again wait once more.
    fn take_waiting(&mut self, waiting: Spill) -> Result<()> {
        let path = waiting.finish()?;
        let again = path.with_extension("again");
        let renamed = std::fs::rename(&path, &again);
        renamed.map_err(|source| Error::Io { path, source })?;
        for row in numbers(&again)? {
            let (ends, message) = waited(row?);
            self.take(ends, message)?;
        }
        let removed = std::fs::remove_file(&again);
        removed.map_err(|source| Error::Io {
            path: again,
            source,
        })
    }
}

impl FlowState {
    fn conversation(&self, ends: &ConnectionEnds, begin_ns: i64) -> Conversation {
        match self {
            Self::One(message) => {
                let mut conversation = Conversation::new(i16::from(ends.protocol) == UDP);
                conversation.take(message, begin_ns, ends.sender(message.is_first));
                conversation
            }
            Self::More(conversation) => **conversation,
        }
    }
}

/// A frame that waited, of its numbers.
fn waited([a, b, c, d, about, t_ns, numbers]: [i64; 7]) -> (ConnectionEnds, Transmission) {
    let port = |shift: u32| u16::try_from(about >> shift & 0xffff).unwrap_or(0);
    let octet = |shift: u32| u8::try_from(about >> shift & 0xff).unwrap_or(0);
    let [a, b, c, d] = [a, b, c, d].map(i64::cast_unsigned);
    let ends = ConnectionEnds {
        addresses: [[a, b], [c, d]],
        ports: [port(0), port(16)],
        protocol: octet(32),
        version: octet(40),
    };
    (ends, Transmission::of_values([t_ns, numbers, about >> 48]))
}

/// The most spans that are open at one time; one that begins where another ends is open with it.
fn most_at_once(spans: &[(i64, i64)]) -> i64 {
    let starts = spans.iter().map(|span| (span.0, Reverse(1)));
    let ends = spans.iter().map(|span| (span.1, Reverse(-1)));
    let mut steps: Vec<(i64, Reverse<i64>)> = starts.chain(ends).collect();
    steps.sort_unstable();
    let open = steps.iter().scan(0, |n_open, (_, Reverse(step))| {
        *n_open += step;
        Some(*n_open)
    });
    open.max().unwrap_or(0)
}

/// By block, how many spans have begun, and did not end in one before it.
fn open(spans: &[(i64, i64)], counting: &TrafficPlan) -> Vec<i64> {
    let mut steps = vec![0; N_BLOCKS + 1];
    for (first_ns, last_ns) in spans {
        let (first, last) = (counting.block(*first_ns), counting.block(*last_ns));
        for (at, step) in [(first, 1), (last + 1, -1)] {
            if let Some(n) = steps.get_mut(at) {
                *n += step;
            }
        }
    }
    let sums = steps.iter().take(N_BLOCKS).scan(0, |n_open, step| {
        *n_open += step;
        Some(*n_open)
    });
    sums.collect()
}

/// Which of the ends is the client, of connections that any point knows it of.
pub(super) fn known_clients(points: &[Connections]) -> HashMap<ConnectionEnds, usize> {
    let all = points.iter().flat_map(|one| &one.answered);
    let told = all.filter(|one| one.knowledge == RoleKnowledge::Told);
    told.map(|one| (one.ends, one.client_at)).collect()
}

impl Answered {
    /// How much is known, given what other points know; none where it is of the end that is none, or
    /// one is enough.
    pub(super) fn is_told(&self, known: &HashMap<ConnectionEnds, usize>) -> Option<bool> {
        match (self.knowledge, known.get(&self.ends)) {
            (RoleKnowledge::Told, _) => Some(true),
            (_, Some(client_at)) => (*client_at == self.client_at).then_some(true),
            (RoleKnowledge::SpokeFirst, None) => Some(false),
            (RoleKnowledge::SpokeSecond, None) => None,
        }
    }
}

/// The requests of a client: messages where those can be counted, else turns.
struct Requests {
    n: i64,
    n_answered: i64,
    first_ns: i64,
    last_ns: i64,
    /// Sum of the time in which each was under way.
    busy_ns: i64,
}

impl Requests {
    fn of(asking: &SentSide, answering: &SentSide, is_even: bool) -> Option<Self> {
        let (first_ns, last_turn_ns) = (asking.first_ns?, asking.last_turn_ns?);
        Some(if is_even {
            Self {
                n: asking.begun,
                n_answered: asking.begun - asking.out,
                first_ns,
                last_ns: asking.asked_ns,
                busy_ns: asking.until_ns,
            }
        } else {
            Self {
                n: asking.n_turns,
                n_answered: answering.n_turns,
                first_ns,
                last_ns: last_turn_ns,
                busy_ns: last_turn_ns - first_ns - asking.gap_ns,
            }
        })
    }
}

impl Conversation {
    /// From the first message, or SYN, to the last message; none without a message.
    fn span(&self) -> Option<(i64, i64)> {
        let [first, second] = &self.sides;
        let last_ns = first.last_ns.max(second.last_ns)?;
        let starts = [self.syn_ns, first.first_ns, second.first_ns];
        let first_ns = starts.into_iter().flatten().min()?;
        Some((first_ns, last_ns))
    }

    /// What the client asked and the server answered; of both ends, were each the client, where nobody
    /// knows which is. None where nothing was.
    fn answered(&self, ends: &ConnectionEnds) -> Vec<Answered> {
        use RoleKnowledge::{SpokeFirst, SpokeSecond, Told};
        // the first of the ends is the side that is true
        let place = |side: bool| usize::from(!side);
        let found = match (self.opener.client(), self.opener.first()) {
            (Some(client), _) => vec![self.answered_by(ends, place(client), Told)],
            (None, Some(first)) => vec![
                self.answered_by(ends, place(first), SpokeFirst),
                self.answered_by(ends, place(!first), SpokeSecond),
            ],
            (None, None) => vec![],
        };
        found.into_iter().flatten().collect()
    }

    fn answered_by(
        &self,
        ends: &ConnectionEnds,
        client: usize,
        knowledge: RoleKnowledge,
    ) -> Option<Answered> {
        let server = 1 - client;
        let texts = ends.texts();
        let [asking, answering] = [client, server].map(|at| self.side(at));
        let is_even = self.is_even(i16::from(ends.protocol), &asking);
        let (first_ns, last_ns) = self.span()?;
        let requests = Requests::of(&asking, &answering, is_even)?;
        let text = |at: usize| texts.get(at).cloned().unwrap_or_default();
        let is_answered = requests.n.min(requests.n_answered) > 0;
        is_answered.then(|| Answered {
            protocol: i64::from(ends.protocol),
            client: text(client),
            server: text(server),
            server_port: ends.ports.get(server).map_or(0, |port| i64::from(*port)),
            n_requests: requests.n,
            n_responses: requests.n_answered,
            request_bytes: asking.n_bytes,
            response_bytes: answering.n_bytes,
            n_turns: asking.n_turns,
            n_syn: asking.n_syn,
            first_request_ns: requests.first_ns,
            last_request_ns: requests.last_ns,
            busy_ns: requests.busy_ns,
            idle_ns: asking.gap_ns,
            n_outstanding: is_even.then_some(asking.most),
            first_ns,
            last_ns,
            ends: *ends,
            client_at: client,
            knowledge,
        })
    }

    fn side(&self, at: usize) -> SentSide {
        self.sides.get(at).copied().unwrap_or_default()
    }

    /// Whether messages can be counted: all of one size, each response after its request.
    ///
    /// Nothing came before, and a TCP connection was seen from its SYN on. Of UDP, where a lost
    /// message looks like one more request under way, either there is never a second one, or all were
    /// answered in the end.
    fn is_even(&self, protocol: i16, client: &SentSide) -> bool {
        let done = client.begun - client.out;
        let is_answered = done > 0 && 2 * done >= client.begun && client.least >= 0;
        let is_begun = protocol == TCP && client.n_syn > 0;
        let is_whole = protocol == UDP && (client.out == 0 || client.most == 1);
        let n_odd: i64 = self.sides.iter().map(|side| side.n_odd).sum();
        n_odd == 0 && self.n_early == 0 && is_answered && (is_begun || is_whole)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Segment;
    use super::*;

    fn plan() -> TrafficPlan {
        TrafficPlan {
            names: vec![],
            centres: vec![],
            links: vec![],
            pairs: vec![],
            folder: "".into(),
            start_ns: 0,
            end_ns: 256_000,
            block_ns: 1000,
        }
    }

    #[test]
    fn spans_that_touch_are_open_together() {
        assert_eq!(most_at_once(&[(0, 10), (5, 15), (20, 30)]), 2);
        assert_eq!(most_at_once(&[(0, 10), (10, 20)]), 2);
        assert_eq!(most_at_once(&[]), 0);
    }

    #[test]
    fn connections_of_a_block_are_those_that_are_open_in_it() {
        let counting = plan();
        let spans = [(0, 999), (2550, 2559), (990, 1000), (5000, 99_999)];
        let n_open = open(&spans, &counting);
        assert_eq!(n_open.get(..8), Some(&[2, 1, 1, 0, 0, 1, 1, 1][..]));
        assert_eq!(n_open.get(98..101), Some(&[1, 1, 0][..]));
    }

    #[test]
    fn connections_that_wait_are_summed_up_like_others() {
        let counting = plan();
        let found = [2, 1000].map(|most| {
            let name = format!("connections-{}-{most}", std::process::id());
            let folder = std::env::temp_dir().join(name);
            let mut connections = Connections::new(&folder, 0, 1);
            connections.most = most;
            for n in 0..700_i64 {
                let (ends, message) = frame(n * 7 % 90, n);
                connections.take(ends, message).unwrap();
            }
            connections.finish(&counting).unwrap();
            let _ = std::fs::remove_dir(&connections.folder);
            let _ = std::fs::remove_dir(&folder);
            assert!(!folder.exists());
            let Connections {
                answered,
                n_at_once,
                n_open,
                ..
            } = connections;
            (answered, n_at_once, n_open)
        });
        assert_eq!(found[0], found[1]);
        assert_eq!(found[0].0.len(), 90);
    }

    #[test]
    fn connections_that_are_too_many_are_counted_and_not_told() {
        let found = [89, 90].map(|most_answered| {
            let mut connections = Connections::new(Path::new(""), 0, 1);
            connections.most_answered = most_answered;
            for n in 0..700_i64 {
                let (ends, message) = frame(n * 7 % 90, n);
                connections.take(ends, message).unwrap();
            }
            connections.finish(&plan()).unwrap();
            (
                connections.n_answered,
                connections.answered.len(),
                connections.is_left_out(),
            )
        });
        assert_eq!(found, [(90, 0, true), (90, 90, false)]);
    }

    /// The n-th frame, of one of the flows; of each the ends speak in turns.
    fn frame(flow: i64, n: i64) -> (ConnectionEnds, Transmission) {
        let ends = ConnectionEnds {
            addresses: [[0, 5], [u64::MAX, 6]],
            ports: [u16::try_from(flow).unwrap(), u16::MAX],
            protocol: if flow % 2 == 0 { 6 } else { 17 },
            version: 6,
        };
        let segment = Segment {
            seq: (flow % 2 == 0).then(|| (u32::MAX - 300).wrapping_add(u32::try_from(n).unwrap())),
            ack: Some(1),
            flags: Some(8),
            payload_bytes: Some(10),
        };
        let is_first = n / 90 % 2 == 0;
        let message = Transmission::of(&segment, Some(10), n * 300, is_first, n < 10);
        (ends, message.unwrap())
    }

    #[test]
    fn ends_are_the_same_both_ways() {
        let mut packet = Packet::new();
        packet.ip_version = 4;
        packet.protocol = TCP;
        (packet.src, packet.dst) = (0x0a00_0009, 0x0a00_000a);
        (packet.src_port, packet.dst_port) = (80, 40_000);
        let (ends, is_first) = ConnectionEnds::of(&packet).unwrap();
        assert_eq!(ends.texts(), ["10.0.0.9", "10.0.0.10"]);
        std::mem::swap(&mut packet.src, &mut packet.dst);
        std::mem::swap(&mut packet.src_port, &mut packet.dst_port);
        assert_eq!(ConnectionEnds::of(&packet), Some((ends, !is_first)));
        packet.src_port = -1;
        assert_eq!(ConnectionEnds::of(&packet), None);
    }
}
