//! Who opens a connection, and is its client: one rule for requests and for connections.
//!
//! A SYN says so, and so does the SYN with ACK that accepts it. Else ports do, of which one is a
//! service's. Else whoever spoke first, if the capture was running for long enough before: what began
//! in the middle of a connection may as well begin with a response. Else nobody knows.

use serde::{Deserialize, Serialize};
use std::cmp::Ordering;

/// An answer comes within this: who speaks first after such a silence answers nothing.
const MOST_ANSWER_NS: i64 = 2_000_000_000;

/// A flow that takes turns, of which the longest silence is so many times shorter than the time before
/// it began, did not go on during that time.
const TIMES_LONGER: i64 = 8;

/// The end of a connection that a packet comes from, as far as its ports say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum SenderRole {
    /// Both are of one kind, or there are none.
    #[default]
    Untold,
    /// The other port is a service's.
    Client,
    /// This one is.
    Server,
}

impl SenderRole {
    /// RFC 6335 §6 has system ports, below 1024; ports that systems give to whoever opens a
    /// connection start at 32768 (Linux) or at 49152 (RFC 6335).
    #[must_use]
    #[inline]
    pub fn of_ports(src: i32, dst: i32) -> Self {
        if src < 0 || dst < 0 {
            return Self::Untold;
        }
        let kind = |port: i32| u8::from(port >= 1024) + u8::from(port >= 32_768);
        match kind(src).cmp(&kind(dst)) {
            Ordering::Equal => Self::Untold,
            Ordering::Greater => Self::Client,
            Ordering::Less => Self::Server,
        }
    }

    /// Which side is the client, given the side of the packet's sender.
    #[must_use]
    pub fn client(self, sender: bool) -> Option<bool> {
        match self {
            Self::Untold => None,
            Self::Client => Some(sender),
            Self::Server => Some(!sender),
        }
    }
}

/// What is known of who opened a connection. Its sides are `false` and `true`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Opener {
    by_syn: Option<bool>,
    by_ports: Option<bool>,
    /// When the first message was, who sent it, and how long its capture had run before.
    first: Option<(i64, bool, i64)>,
    /// When the last one was, and the longest time without any.
    last_ns: i64,
    silence_ns: i64,
}

impl Opener {
    /// This side sent a SYN, or is sent a SYN with ACK.
    pub fn open(&mut self, side: bool, at_ns: i64) {
        self.by_syn.get_or_insert(side);
        if self.first.is_none() {
            self.last_ns = at_ns;
        }
    }

    /// This side spoke, so long after its capture began as `quiet_ns` says: that is asked of the first
    /// message alone.
    pub fn speak(
        &mut self,
        side: bool,
        at_ns: i64,
        quiet_ns: impl FnOnce() -> i64,
        role: SenderRole,
    ) {
        self.by_ports = self.by_ports.or_else(|| role.client(side));
        match self.first {
            Some((first_ns, _, _)) if first_ns <= at_ns => {
                self.silence_ns = self.silence_ns.max(at_ns.saturating_sub(self.last_ns));
                self.last_ns = self.last_ns.max(at_ns);
            }
            Some((first_ns, _, _)) => {
                self.silence_ns = self.silence_ns.max(first_ns.saturating_sub(at_ns));
                self.first = Some((at_ns, side, quiet_ns()));
            }
            None => {
                self.first = Some((at_ns, side, quiet_ns()));
                self.last_ns = at_ns;
            }
        }
    }

    /// When anything was heard of it last.
    #[must_use]
    pub fn last_ns(&self) -> i64 {
        self.last_ns
    }

    /// The side that opened it; `None` where nothing tells.
    #[must_use]
    pub fn client(&self) -> Option<bool> {
        let spoke = || {
            let (_, side, quiet_ns) = self.first?;
            let silence_ns = self.silence_ns.saturating_mul(TIMES_LONGER);
            (quiet_ns > silence_ns.min(MOST_ANSWER_NS)).then_some(side)
        };
        self.by_syn.or(self.by_ports).or_else(spoke)
    }

    /// The side that spoke first, whatever that tells.
    #[must_use]
    pub fn first(&self) -> Option<bool> {
        self.first.map(|(_, side, _)| side)
    }

    /// The side that is taken for the client, and whether it is known to be.
    #[must_use]
    pub fn presumed(&self) -> Option<Presumed> {
        let client = self.client();
        Some(Presumed {
            side: client.or(self.first())?,
            is_told: client.is_some(),
        })
    }
}

/// The side that requests are taken to come from, and whether anything tells so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Presumed {
    /// Any end, as long as it is always the same, tells what the path adds there and back.
    pub side: bool,
    /// If not, nobody knows what is a server's time and what a client's.
    pub is_told: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    const US: i64 = 1_000;

    /// Turns of 62 and 147 µs, the first after so long; the first side spoke first.
    fn turns(quiet_ns: i64, role: SenderRole) -> Opener {
        let mut opener = Opener::default();
        let mut at_ns = quiet_ns;
        for n in 0..20_i64 {
            let is_odd = n % 2 == 1;
            opener.speak(
                is_odd,
                at_ns,
                || at_ns,
                if is_odd { SenderRole::Untold } else { role },
            );
            at_ns += if is_odd { 147 * US } else { 62 * US };
        }
        opener
    }

    #[test]
    fn a_port_of_a_service_tells() {
        let of = SenderRole::of_ports;
        assert_eq!(of(40_000, 7), SenderRole::Client);
        assert_eq!(of(7, 40_000), SenderRole::Server);
        assert_eq!(of(443, 5353), SenderRole::Server);
        assert_eq!(of(61_000, 8080), SenderRole::Client);
        for (src, dst) in [(123, 123), (68, 67), (40_000, 50_000), (-1, -1), (-1, 7)] {
            assert_eq!(of(src, dst), SenderRole::Untold, "{src} {dst}");
        }
    }

    #[test]
    fn who_spoke_first_tells_where_the_capture_ran_before() {
        let untold = SenderRole::Untold;
        assert_eq!(turns(0, untold).client(), None);
        assert_eq!(turns(8 * 147 * US, untold).client(), None);
        assert_eq!(turns(8 * 147 * US + 1, untold).client(), Some(false));
        assert_eq!(turns(0, SenderRole::Server).client(), Some(true));
        let mut opener = turns(2 * US, untold);
        opener.speak(false, 90_000_000 * US, || 0, untold);
        assert_eq!(opener.client(), None, "a long silence");
        opener.speak(true, 0, || 0, untold);
        assert_eq!((opener.client(), opener.first()), (None, Some(true)));
        let mut later = turns(2_000_000 * US + 1, untold);
        later.speak(true, 90_000_000 * US, || 0, untold);
        assert_eq!(
            later.client(),
            Some(false),
            "an answer would have come before"
        );
    }

    #[test]
    fn a_syn_tells_more_than_ports() {
        let mut opener = turns(0, SenderRole::Server);
        opener.open(false, 0);
        opener.open(true, 0);
        assert_eq!(opener.client(), Some(false));
    }
}
