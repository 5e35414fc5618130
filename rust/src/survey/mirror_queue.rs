//! Whether both directions of a link stand in one queue, as those of a mirror port do.
//!
//! On a full-duplex link a frame never waits for one that goes the other way. Where frames of
//! opposite directions follow each other by exactly the time that one of them takes on a wire, and
//! never sooner, they were sent by one port.

use crate::file::Frame;
use crate::identity::Identity;
use serde::{Deserialize, Serialize};

/// Rates of ports, Gbit/s.
pub const RATES: [u32; 7] = [1, 5, 10, 25, 40, 50, 100];

/// Octets of a frame on the wire besides its own: check, preamble, gap (IEEE 802.3).
const FRAMING_BYTES: u32 = 24;
/// Shorter and longer frames must both follow the rate.
const LONG_BYTES: u32 = 256;
/// Stamps of cards step by some nanoseconds.
const SLACK_NS: u64 = 8;

/// Frames behind one of the other direction, and how soon they came.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Queue {
    /// Short and long ones.
    pub n: [u64; 2],
    /// By rate: those that came after exactly the time the frame before, or they, take.
    pub n_at: [[u64; 2]; RATES.len()],
    /// By rate: those that came sooner.
    pub n_sooner: [[u64; 2]; RATES.len()],
    /// By rate: the longest time that frames of either direction followed each other so, ns; none
    /// of them waited longer.
    pub longest_busy_ns: [i64; RATES.len()],
    busy_ns: [i64; RATES.len()],
    /// At some rate, it may be.
    is_busy: bool,
    last: Option<Before>,
}

/// The packet before.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Before {
    pair: u64,
    toward: bool,
    t_ns: i64,
    n_bytes: u32,
}

impl Queue {
    /// Takes the interface's next packet, and when it was seen.
    #[expect(clippy::inline_always, reason = "one straight way for each frame")]
    #[inline(always)]
    pub(super) fn note(&mut self, frame: &Frame<'_>, t_ns: i64, identity: &Identity) {
        let n_bytes = frame.unchecked_bytes();
        let n_bytes = n_bytes.saturating_add(FRAMING_BYTES);
        if let Some(last) = self.last {
            let gap_ns = t_ns.saturating_sub(last.t_ns);
            self.follow(gap_ns, last.n_bytes);
            let is_opposite = last.pair == identity.pair && last.toward != identity.toward;
            if is_opposite && t_ns >= last.t_ns {
                // stamped at the first bit: the frame before has to be over
                self.compare(gap_ns, last.n_bytes);
            }
        }
        self.last = Some(Before {
            pair: identity.pair,
            toward: identity.toward,
            t_ns,
            n_bytes,
        });
    }

    /// What comes next follows nothing.
    pub(super) fn close(&mut self) {
        self.last = None;
        self.busy_ns = Default::default();
        self.is_busy = false;
    }

    /// Adds those of packets that come later; both are closed.
    pub(super) fn join(&mut self, later: &Self) {
        let of = |one: &Self| [one.n].into_iter().chain(one.n_at).chain(one.n_sooner);
        let ours = [&mut self.n].into_iter();
        let ours = ours.chain(&mut self.n_at).chain(&mut self.n_sooner);
        for (counts, more) in ours.zip(of(later).collect::<Vec<_>>()) {
            for (n, n_more) in counts.iter_mut().zip(more) {
                *n += n_more;
            }
        }
        let longest = self.longest_busy_ns.iter_mut().zip(later.longest_busy_ns);
        longest.for_each(|(ns, other_ns)| *ns = other_ns.max(*ns));
    }

    #[inline]
    fn follow(&mut self, gap_ns: i64, n_bytes: u32) {
        let [slowest_gbps, ..] = RATES;
        let longest_ns = takes_ns(n_bytes, slowest_gbps).unsigned_abs();
        if gap_ns.unsigned_abs() > longest_ns + slack_ns(n_bytes, slowest_gbps) {
            if self.is_busy {
                self.busy_ns = Default::default();
                self.is_busy = false;
            }
            return;
        }
        self.is_busy = true;
        let rows = self.busy_ns.iter_mut().zip(&mut self.longest_busy_ns);
        for (rate, (busy_ns, longest_ns)) in RATES.iter().zip(rows) {
            let is_behind = gap_ns.abs_diff(takes_ns(n_bytes, *rate)) <= slack_ns(n_bytes, *rate);
            *busy_ns = if is_behind {
                busy_ns.saturating_add(gap_ns)
            } else {
                0
            };
            *longest_ns = (*longest_ns).max(*busy_ns);
        }
    }

    fn compare(&mut self, gap_ns: i64, n_bytes: u32) {
        let long = usize::from(n_bytes >= LONG_BYTES);
        if let Some(n) = self.n.get_mut(long) {
            *n += 1;
        }
        let rows = self.n_at.iter_mut().zip(self.n_sooner.iter_mut());
        for (rate, (at, sooner)) in RATES.iter().zip(rows) {
            let takes_ns = takes_ns(n_bytes, *rate);
            let cell = if gap_ns.abs_diff(takes_ns) <= slack_ns(n_bytes, *rate) {
                at.get_mut(long)
            } else if gap_ns < takes_ns {
                sooner.get_mut(long)
            } else {
                None
            };
            if let Some(n) = cell {
                *n += 1;
            }
        }
    }
}

/// How long a port takes for a frame of so many octets on the wire.
#[inline]
fn takes_ns(n_bytes: u32, rate_gbps: u32) -> i64 {
    (u64::from(n_bytes) * 8 / u64::from(rate_gbps)).cast_signed()
}

#[inline]
fn slack_ns(n_bytes: u32, rate_gbps: u32) -> u64 {
    takes_ns(n_bytes, rate_gbps).unsigned_abs() / 32 + SLACK_NS
}

#[cfg(test)]
mod tests {
    use super::Queue;

    #[test]
    fn lengths_and_stamps_may_be_anything() {
        let mut queue = Queue::default();
        for gap_ns in [i64::MIN, i64::MAX, 0, -8] {
            queue.follow(gap_ns, u32::MAX);
            queue.compare(gap_ns, u32::MAX);
        }
        // what is said to have 2^29 octets takes four seconds, not the rest of that by 2^32
        queue.follow(4_294_967_296, 1 << 29);
        assert_eq!(queue.longest_busy_ns, [4_294_967_296, 0, 0, 0, 0, 0, 0]);
        assert_eq!(queue.n_at, [[0; 2]; 7]);
    }

    #[test]
    fn a_busy_time_ends_where_a_frame_did_not_wait() {
        let mut queue = Queue::default();
        for gap_ns in [1_200, 1_201, 1_199, 50_000, 1_200] {
            queue.follow(gap_ns, 1_500);
        }
        assert_eq!(queue.longest_busy_ns[2], 3_600);
        assert_eq!(queue.longest_busy_ns[0], 0);
    }

    #[test]
    fn a_gap_is_at_sooner_or_beyond_what_a_frame_takes() {
        let mut queue = Queue::default();
        for gap_ns in [12_000, 1_200, 1_199, 100, 50_000] {
            queue.compare(gap_ns, 1_500);
        }
        assert_eq!(queue.n, [0, 5]);
        let of = |rate: usize| (queue.n_at[rate][1], queue.n_sooner[rate][1]);
        assert_eq!((of(0), of(2)), ((1, 3), (2, 1)));
    }
}
