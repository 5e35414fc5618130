//! What passes on one connection: turns, messages, requests under way.
//!
//! A turn is a run of payload in one direction. A message is as long as the first one of its sender.
//! In TCP the stream is counted, by its sequence numbers, so that what is sent again, or was not
//! captured, changes no count; in UDP a datagram is a message. The first one ends where it is pushed
//! (RFC 9293 §3.9.1), or where the other end speaks.

use super::Segment;
use crate::identity::opener::{Opener, SenderRole};

const SYN: u8 = 2;
const PSH: u8 = 8;
/// Sequence numbers farther apart are of two connections that have the same ports.
const FAR_BYTES: i64 = 1 << 24;

/// What a frame is to its connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// It opens it: there is neither acknowledgment nor payload.
    Opening,
    /// It has payload, and came before the time that is counted.
    Early,
    /// It has payload.
    Payload,
    /// It accepts a connection: SYN with ACK.
    Accepting,
}

/// A frame with payload, or a SYN without.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Transmission {
    pub(super) t_ns: i64,
    seq: Option<u32>,
    n_bytes: u32,
    /// Its sender is the first of the connection's ends.
    pub(super) is_first: bool,
    is_pushed: bool,
    role: Role,
}

impl Transmission {
    /// None where a frame carries nothing.
    pub(super) fn of(
        segment: &Segment,
        payload_bytes: Option<u32>,
        t_ns: i64,
        is_first: bool,
        is_early: bool,
    ) -> Option<Self> {
        let n_bytes = payload_bytes?;
        let flags = segment.flags.unwrap_or(0);
        let role = match (n_bytes, segment.ack, is_early) {
            (0, Some(0), _) => Role::Opening,
            (0, _, _) if flags & SYN != 0 => Role::Accepting,
            (0, _, _) => return None,
            (_, _, true) => Role::Early,
            (_, _, false) => Role::Payload,
        };
        Some(Self {
            t_ns,
            seq: segment.seq,
            n_bytes,
            is_first,
            is_pushed: flags & PSH != 0,
            role,
        })
    }
}

impl Transmission {
    /// The same as numbers: time, sequence number and length, and 16 bits of the rest.
    pub(super) fn values(&self) -> [i64; 3] {
        let seq = i64::from(self.seq.unwrap_or(0));
        let bits = [self.seq.is_some(), self.is_first, self.is_pushed];
        let [has_seq, is_first, is_pushed] = bits.map(i64::from);
        let flags = (self.role as i64) << 3 | is_pushed << 2 | is_first << 1 | has_seq;
        [self.t_ns, seq << 32 | i64::from(self.n_bytes), flags]
    }

    /// Of these numbers.
    pub(super) fn of_values([t_ns, numbers, flags]: [i64; 3]) -> Self {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "two numbers of 32 bits in one"
        )]
        let (seq, n_bytes) = ((numbers >> 32) as u32, numbers as u32);
        Self {
            t_ns,
            seq: (flags & 1 != 0).then_some(seq),
            n_bytes,
            is_first: flags & 2 != 0,
            is_pushed: flags & 4 != 0,
            role: match flags >> 3 {
                0 => Role::Opening,
                1 => Role::Early,
                2 => Role::Payload,
                _ => Role::Accepting,
            },
        }
    }
}

/// What one end sent; and, were it the client, its requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct SentSide {
    /// The end of its last segment, by its number and by its place in the stream.
    end: Option<u32>,
    at: i64,
    /// The highest place.
    high: i64,
    /// Length of a message.
    size: Option<i64>,
    /// How often there was another.
    pub(super) n_odd: i64,
    pub(super) n_syn: i64,
    pub(super) n_turns: i64,
    pub(super) n_bytes: i64,
    /// Before its turns, since the other end's last frame.
    pub(super) gap_ns: i64,
    pub(super) first_ns: Option<i64>,
    pub(super) last_ns: Option<i64>,
    pub(super) last_turn_ns: Option<i64>,
    /// Messages begun.
    pub(super) begun: i64,
    /// Requests under way, the most and the least of them.
    pub(super) out: i64,
    pub(super) most: i64,
    pub(super) least: i64,
    /// Their sum over time, and that when the last began, and when that was.
    waited_ns: i64,
    pub(super) until_ns: i64,
    pub(super) asked_ns: i64,
}

/// A connection as far as its frames have come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Conversation {
    pub(super) sides: [SentSide; 2],
    pub(super) syn_ns: Option<i64>,
    /// Messages before the time that is counted.
    pub(super) n_early: i64,
    /// Who opened it, of all messages, counted or not.
    pub(super) opener: Opener,
    is_of_datagrams: bool,
    /// Who sent the last frame that brought something new, and when.
    was: Option<(bool, i64)>,
}

impl Conversation {
    pub(super) fn new(is_of_datagrams: bool) -> Self {
        Self {
            is_of_datagrams,
            ..Self::default()
        }
    }

    /// Counts a frame, of a capture that began at `begin_ns` and of which ports say this; of those before
    /// the time that is counted only openings.
    pub(super) fn take(&mut self, message: &Transmission, begin_ns: i64, sender: SenderRole) {
        let (side, t_ns) = (message.is_first, message.t_ns);
        match message.role {
            Role::Opening => self.opener.open(side, t_ns),
            Role::Accepting => self.opener.open(!side, t_ns),
            Role::Early | Role::Payload => {
                let quiet_ns = || t_ns.saturating_sub(begin_ns);
                self.opener.speak(side, t_ns, quiet_ns, sender);
            }
        }
        let [first, second] = &mut self.sides;
        let own = if message.is_first { first } else { second };
        match message.role {
            Role::Opening => {
                own.n_syn += 1;
                self.syn_ns = Some(least(self.syn_ns, message.t_ns));
            }
            Role::Early => self.n_early += 1,
            Role::Payload if own.advance(message) => {
                own.add(message, self.was);
                self.count(message);
                self.was = Some((message.is_first, message.t_ns));
            }
            // it says who opened; or it was sent again, or is not in order
            Role::Accepting | Role::Payload => {}
        }
    }

    /// Counts messages under way.
    fn count(&mut self, message: &Transmission) {
        let done = [true, false].map(|is_first| {
            let is_own = message.is_first == is_first;
            let is_over = !is_own && self.was.is_some_and(|(who, _)| who == is_first);
            let is_of_datagrams = self.is_of_datagrams;
            let [first, second] = &mut self.sides;
            let side = if is_first { first } else { second };
            side.messages(message, is_own, is_over, is_of_datagrams)
        });
        let passed_ns = self.was.map_or(0, |(_, was_ns)| message.t_ns - was_ns);
        let [first, second] = &mut self.sides;
        for (side, begun, answered) in [
            (first, done[0].0, done[1].1),
            (second, done[1].0, done[0].1),
        ] {
            side.wait(begun, answered, passed_ns, message.t_ns);
        }
    }
}

impl SentSide {
    /// How far the stream has come; true if that is farther than before.
    fn advance(&mut self, message: &Transmission) -> bool {
        let n_bytes = i64::from(message.n_bytes);
        let end = message.seq.map(|seq| seq.wrapping_add(message.n_bytes));
        let step = end.zip(self.end).map(|(end, before)| {
            let step = end.wrapping_sub(before).cast_signed();
            i64::from(step)
        });
        self.at += step
            .filter(|step| step.abs() <= FAR_BYTES)
            .unwrap_or(n_bytes);
        self.end = end;
        let is_new = self.at > self.high;
        self.high = self.high.max(self.at);
        is_new
    }

    fn add(&mut self, message: &Transmission, was: Option<(bool, i64)>) {
        self.n_bytes += i64::from(message.n_bytes);
        self.first_ns = Some(least(self.first_ns, message.t_ns));
        self.last_ns = self.last_ns.max(Some(message.t_ns));
        if was.is_none_or(|(who, _)| who != message.is_first) {
            // what stands before its first turn answers nothing that was counted
            let gap_ns = was.map_or(0, |(_, was_ns)| message.t_ns - was_ns);
            self.gap_ns += if self.n_turns > 0 { gap_ns } else { 0 };
            self.n_turns += 1;
            self.last_turn_ns = self.last_turn_ns.max(Some(message.t_ns));
        }
    }

    /// How many messages had begun, and ended, with a frame, its own or the other end's.
    fn messages(
        &mut self,
        message: &Transmission,
        is_own: bool,
        is_over: bool,
        is_of_datagrams: bool,
    ) -> (i64, i64) {
        let is_end = message.is_pushed || is_of_datagrams;
        let is_told = if is_own { is_end } else { self.high > 0 };
        if self.size.is_none() && is_told {
            self.size = Some(self.high);
        }
        let each = self.size.unwrap_or(i64::MAX).max(1);
        // a message is over where the other end speaks; so is a datagram
        let is_cut = is_over && self.high % each != 0;
        let is_other = is_own && is_of_datagrams && i64::from(message.n_bytes) != each;
        self.n_odd += i64::from(is_cut || is_other);
        let done = self.high / each;
        (done + i64::from(self.high % each != 0), done)
    }

    /// Counts what is under way, were this side the client.
    fn wait(&mut self, begun: i64, answered: i64, passed_ns: i64, t_ns: i64) {
        self.waited_ns += self.out * passed_ns;
        self.out = begun - answered;
        self.most = self.most.max(self.out);
        self.least = self.least.min(self.out);
        if begun > self.begun {
            self.until_ns = self.waited_ns;
            self.asked_ns = t_ns;
        }
        self.begun = begun;
    }
}

fn least(known: Option<i64>, t_ns: i64) -> i64 {
    known.map_or(t_ns, |known| known.min(t_ns))
}
